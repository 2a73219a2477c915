//! The operators and methods of tests.

use std::cmp::Ordering;

/// How two values of a [`Test`](super::Test) compare.
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

/// What a [`Test`](super::Test) asks about one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Question {
    /// Whether it is there, and not null.
    IsSome,
    /// Whether it is absent, or null.
    IsNone,
    /// Whether it is an `Ok` of a `Result`: an object whose only member is `Ok`.
    IsOk,
    /// Whether it is an `Err` of a `Result`: an object whose only member is `Err`.
    IsErr,
    /// Whether a string, a list or an object has nothing in it.
    IsEmpty,
    /// How many bytes a string has, elements a list, or members an object: a number.
    Len,
}

impl Comparison {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::AtMost,
        Self::Greater,
        Self::AtLeast,
    ];

    /// The sign in Rust and in plan JSON: `==`.
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

    /// The comparison with this sign.
    pub(crate) fn of_sign(sign: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.sign() == sign)
    }

    /// Whether it holds for values in this order.
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

    /// Whether it asks for the order of both, not only whether they are equal.
    pub(crate) const fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

impl Question {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::IsSome,
        Self::IsNone,
        Self::IsOk,
        Self::IsErr,
        Self::IsEmpty,
        Self::Len,
    ];

    /// The name of the method in Rust, and of the member in plan JSON: `is_some`.
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

/// How tightly operators bind, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    Or,
    And,
    Compare,
    Not,
    Method,
}
