//! Tests: conditions as data.

use super::Template;

/// A test of values: what `&&`, `||`, `!`, comparisons, and methods such as `.is_some()` are as data.
///
/// Every run evaluates it in the same way, whether the plan is from `plan!` or from JSON. Values are those that
/// [references](Template::Reference) lead to; where a reference is absent, it is null.
///
/// - Operators stop at the first operand that decides. Each operand of [`All`](Self::All), [`Any`](Self::Any) and
///   [`Not`](Self::Not) has to be `true` or `false`.
/// - Numbers compare exactly, whether they are integers or not; strings by their bytes; objects whatever the order of their members.
/// - Values of two kinds, a number and a string, say, are not equal. They have no order: to ask for it fails the step.
///   So does asking for the order of anything but numbers, strings, and `false` and `true`.
///
/// ```
/// use plan_runtime::plan::{Comparison, Reference, Source, Template, Test};
///
/// let size: Template = Reference::new(Source::Input(0)).key("size").into();
/// let is_small = Test::Compare([size, 5.into()], Comparison::AtMost);
/// let test = Template::from(Test::Not(is_small.into()));
/// assert_eq!(test.to_string(), "!(input0.size <= 5)");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Test {
    /// `a && b`: whether all are true. They are evaluated in order, up to the first that is not.
    All(Vec<Template>),
    /// `a || b`: whether one is true. They are evaluated in order, up to the first that is.
    Any(Vec<Template>),
    /// `!a`
    Not(Template),
    /// `a < b`: whether the first compares with the second in this way.
    Compare([Template; 2], Comparison),
    /// `a.is_some()`, `a.len()`: what this asks about a value.
    Ask(Question, Template),
}

/// How two values of a [`Test`] compare.
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

/// What a [`Test`] asks about one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Question {
    /// Whether it is there, and not null.
    IsSome,
    /// Whether it is absent, or null.
    IsNone,
    /// Whether it is an `Ok` of a `Result`: an object with a member `Ok`.
    IsOk,
    /// Whether it is an `Err` of a `Result`: an object with a member `Err`.
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

    /// As it is written in Rust, and in plan JSON: `==`.
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

    /// Whether it asks for the order of both, not only whether they are equal.
    #[must_use]
    pub const fn is_order(self) -> bool {
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

impl Test {
    /// What it is about, from left to right.
    pub fn operands(&self) -> &[Template] {
        match self {
            Self::All(operands) | Self::Any(operands) => operands,
            Self::Compare(operands, _) => operands,
            Self::Not(operand) | Self::Ask(_, operand) => std::slice::from_ref(operand),
        }
    }

    /// The same test about others.
    #[cfg(feature = "dynamic")]
    pub(crate) fn map(&self, f: impl Fn(&Template) -> Template) -> Self {
        match self {
            Self::All(operands) => Self::All(operands.iter().map(f).collect()),
            Self::Any(operands) => Self::Any(operands.iter().map(f).collect()),
            Self::Compare(operands, how) => Self::Compare(operands.each_ref().map(f), *how),
            Self::Not(operand) => Self::Not(f(operand)),
            Self::Ask(question, operand) => Self::Ask(*question, f(operand)),
        }
    }

    /// Whether the other is the same test, operands aside.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All(_), Self::All(_))
            | (Self::Any(_), Self::Any(_))
            | (Self::Not(_), Self::Not(_)) => true,
            (Self::Compare(_, how), Self::Compare(_, other)) => how == other,
            (Self::Ask(question, _), Self::Ask(other, _)) => question == other,
            _ => false,
        }
    }

    /// Whether it is `true` or `false`; if not, it is a number.
    #[cfg(feature = "dynamic")]
    pub(crate) fn is_bool(&self) -> bool {
        !matches!(self, Self::Ask(Question::Len, _))
    }

    /// How tightly it binds its operands in Rust. One that binds less than the operator around it is in parentheses.
    pub(crate) fn binding(&self) -> Binding {
        match self {
            Self::Any(operands) if operands.len() > 1 => Binding::Or,
            Self::All(operands) if operands.len() > 1 => Binding::And,
            Self::Compare(..) => Binding::Compare,
            Self::Not(_) => Binding::Not,
            Self::All(_) | Self::Any(_) | Self::Ask(..) => Binding::Method,
        }
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

impl Template {
    /// How tightly it binds as an operand, if it is a test.
    pub(crate) fn binding(&self) -> Option<Binding> {
        match self {
            Self::Test(test) => Some(test.binding()),
            _ => None,
        }
    }

    /// Whether it is in parentheses where it is an operand of what binds as tightly as this.
    pub(crate) fn is_bracketed_in(&self, around: Binding) -> bool {
        match self.binding() {
            // Its operators are its own.
            None => matches!(self, Self::Computed(_)),
            Some(Binding::Method) => false,
            // `a == b == c` is not Rust, and `a && (b && c)` is another test than `a && b && c`.
            Some(inner) => match around {
                Binding::Not => inner < Binding::Not,
                around => inner <= around,
            },
        }
    }
}
