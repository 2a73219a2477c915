//! Templates: JSON with references in it.

use super::operator::Binding;
use super::{Comparison, Computed, FormatSpec, LocalValue, Question, Reference, Source};
use crate::shape::Tagging;

/// A JSON value with references in it: the arguments of a tool, a condition, a list, a fallback, the output of a plan.
///
/// ```
/// use plan_runtime::plan::{Key, Template};
/// use plan_runtime::Plan;
///
/// let plan: Plan = serde_json::from_str(r#"{"name": "p", "inputs": [{"name": "to", "type": "String"}], "steps": [
///     {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {
///         "to": {"reference": {"input": "to", "pointer": ""}},
///         "text": "Hello!"
///     }}}
/// ]}"#)?;
/// let Template::Object(members) = &plan.steps[0].action().unwrap().args else { panic!() };
/// assert_eq!(members[1].key, Key::Name("text".into()));
/// assert!(matches!(&members[1].value, Template::String(text) if text == "Hello!"));
///
/// // Without looking at each part: the references in it, with their places.
/// let uses = plan.steps[0].references();
/// assert_eq!((uses.len(), uses[0].place.as_str()), (1, "to"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Template {
    /// `null`, which is also `None`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    List(Vec<Template>),
    /// An object: a struct literal or a `json!` object.
    Object(Vec<Entry>),
    /// A value of a nested type, which is marked with its variant if the type is an enum. A unit
    /// variant has no content. In plan JSON it is the object or the string that serde writes for such a variant.
    Tagged(Tag, Option<Box<Template>>),
    /// A reference: a value in an output, an input or a local value.
    Reference(Reference),
    /// A string with values in it: `format!`.
    Text(Vec<Part>),
    /// A test of values: `size > 5 && !done`.
    Test(Box<Test>),
    /// A Rust expression over outputs and inputs.
    Computed(Computed),
}

/// A test of values: the data of `&&`, `||`, `!`, comparisons, and methods such as `.is_some()`.
///
/// Every run evaluates a test equally, whether the plan is from `plan!` or from JSON. [References](Template::Reference)
/// lead to the values, and an absent reference is null.
///
/// - Operators stop at the first operand that decides. Each operand of [`All`](Self::All), [`Any`](Self::Any) and
///   [`Not`](Self::Not) has to be `true` or `false`.
/// - Numbers compare exactly, so `1` equals `1.0`. Strings compare by their bytes. Objects compare independently of the order of their members.
/// - Values of two kinds, such as a number and a string, are not equal. Only two numbers, two strings, or two of
///   `false` and `true` have an order: any other comparison by order fails the step.
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
    /// `a && b`: `true` if all operands are true. A run evaluates them in order, up to the first false one.
    All(Vec<Template>),
    /// `a || b`: `true` if an operand is true. A run evaluates them in order, up to the first true one.
    Any(Vec<Template>),
    /// `!a`
    Not(Template),
    /// `a < b`: `true` if the comparison of the two operands holds.
    Compare([Template; 2], Comparison),
    /// `a.is_some()`, `a.len()`: a property of a value.
    Ask(Question, Template),
}

/// A number of a template, with its exact value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer that is not negative.
    Unsigned(u64),
    /// A negative integer.
    Signed(i64),
    /// A finite number with a fraction or an exponent.
    Float(f64),
}

impl Number {
    /// Returns the number as JSON; null for a number that is not finite.
    pub(crate) fn value(self) -> serde_json::Value {
        match self {
            Self::Unsigned(value) => value.into(),
            Self::Signed(value) => value.into(),
            Self::Float(value) => value.into(),
        }
    }
}

/// A member of a [`Template::Object`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The position of the value in the object.
    pub key: Key,
    /// The value.
    pub value: Template,
}

/// The position of an entry's value in the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Under this name.
    Name(String),
    /// The value is an object, whose members are members of this one.
    Flattened,
    /// The value is the whole object (`#[serde(transparent)]`).
    Inner,
}

/// The representation of an enum's variant in a nested literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The type is not an enum.
    None,
    /// The type is an enum, and this is the variant's name in JSON.
    Variant(Tagging, &'static str),
}

/// A part of a [`Template::Text`].
#[derive(Clone, Debug)]
pub enum Part {
    /// A literal part of the string.
    Literal(String),
    /// A value, written as Rust's `format!` writes it.
    Value {
        /// The value.
        value: Template,
        /// The format after the colon in `{:>8}`; empty for `{}`.
        spec: FormatSpec,
    },
}

impl Template {
    /// Creates an object with these members.
    pub fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        let entry = |(name, value): (K, Self)| Entry::new(Key::Name(name.into()), value);
        Self::Object(members.into_iter().map(entry).collect())
    }

    /// Returns the source if the template is a reference to a whole source.
    pub(crate) fn whole(&self) -> Option<Source> {
        match self {
            Self::Reference(reference) if reference.is_whole() => Some(reference.source),
            _ => None,
        }
    }

    /// Returns the precedence of a test, or `None` for other templates.
    pub(crate) fn binding(&self) -> Option<Binding> {
        match self {
            Self::Test(test) => Some(test.binding()),
            _ => None,
        }
    }

    /// Returns `true` if the template needs parentheses as an operand of an operator with this precedence.
    pub(crate) fn is_bracketed_in(&self, around: Binding) -> bool {
        match self.binding() {
            // The operators in a computed value are not those of a test.
            None => matches!(self, Self::Computed(_)),
            Some(Binding::Method) => false,
            // `a == b == c` is not Rust, and `a && (b && c)` is another test than `a && b && c`.
            Some(inner) => match around {
                Binding::Not => inner < Binding::Not,
                around => inner <= around,
            },
        }
    }

    /// Returns the local value for this pattern.
    pub(crate) fn bound_by<'p>(&self, pattern: &'p str) -> LocalValue<'p> {
        let is_computed = matches!(self, Self::Computed(_));
        LocalValue {
            pattern,
            is_computed,
        }
    }
}

impl Test {
    /// Returns the operands, from left to right.
    pub fn operands(&self) -> &[Template] {
        match self {
            Self::All(operands) | Self::Any(operands) => operands,
            Self::Compare(operands, _) => operands,
            Self::Not(operand) | Self::Ask(_, operand) => std::slice::from_ref(operand),
        }
    }

    /// Returns this test with other operands.
    pub(crate) fn map(&self, f: impl Fn(&Template) -> Template) -> Self {
        match self {
            Self::All(operands) => Self::All(operands.iter().map(f).collect()),
            Self::Any(operands) => Self::Any(operands.iter().map(f).collect()),
            Self::Compare(operands, how) => Self::Compare(operands.each_ref().map(f), *how),
            Self::Not(operand) => Self::Not(f(operand)),
            Self::Ask(question, operand) => Self::Ask(*question, f(operand)),
        }
    }

    /// Returns `true` if the result is `true` or `false`, and `false` if it is a number.
    pub(crate) fn is_bool(&self) -> bool {
        !matches!(self, Self::Ask(Question::Len, _))
    }

    /// Returns the precedence of the test's operator in Rust. An operand with a weaker operator is in parentheses.
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
