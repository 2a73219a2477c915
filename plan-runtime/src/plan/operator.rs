//! The operators and methods of tests.

use std::cmp::Ordering;

/// A comparison of two values in a [`Test`](super::Test).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "these are the comparisons of Rust")]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// A property of one value in a [`Test`](super::Test).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Question {
    /// `true` for a value that exists and is not null.
    IsSome,
    /// `true` for a missing value and for null.
    IsNone,
    /// `true` for an `Ok` of a `Result`: an object whose only member is `Ok`.
    IsOk,
    /// `true` for an `Err` of a `Result`: an object whose only member is `Err`.
    IsErr,
    /// `true` for an empty string, an empty list, and an object without members.
    IsEmpty,
    /// The length as a number: of a string in bytes, of a list in elements, of an object in members.
    Len,
}

impl Comparison {
    /// All questions.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::AtMost,
        Self::Greater,
        Self::AtLeast,
    ];

    /// Returns the sign in Rust and in plan JSON, such as `==`.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Returns the comparison with this sign.
    pub(crate) fn of_sign(sign: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.sign() == sign)
    }

    /// Returns `true` if the comparison holds for two values with this order.
    pub(crate) const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }

    /// Returns `true` if the comparison depends on the order of the values, instead of only their equality.
    pub(crate) const fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

impl Question {
    /// All comparisons.
    pub const ALL: [Self; 6] = [
        Self::IsSome,
        Self::IsNone,
        Self::IsOk,
        Self::IsErr,
        Self::IsEmpty,
        Self::Len,
    ];

    /// Returns the name of the method in Rust and of the member in plan JSON, such as `is_some`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IsSome => "is_some",
            Self::IsNone => "is_none",
            Self::IsOk => "is_ok",
            Self::IsErr => "is_err",
            Self::IsEmpty => "is_empty",
            Self::Len => "len",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|question| question.name() == name)
    }
}

/// The precedence of operators, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    Or,
    And,
    Compare,
    Not,
    Method,
}
