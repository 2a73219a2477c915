//! Templates: JSON with references in it.

use super::{Computed, FormatSpec, LocalValue, Reference, Test};
use crate::shape::Tagging;

/// A JSON value with references in it: the arguments of a tool, a condition, a list, a fallback, the output of a plan.
///
/// ```
/// use plan_runtime::plan::{Key, Plan, Template};
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

/// A member of a [`Template::Object`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Where the value is.
    pub key: Key,
    /// The value.
    pub value: Template,
}

/// Where the value of an entry is in the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Under this name.
    Name(String),
    /// The value is an object, whose members are members of this one.
    Flattened,
    /// The value is the whole object (`#[serde(transparent)]`).
    Inner,
}

/// How a nested literal says which variant of an enum it is.
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
    /// Text as it is.
    Literal(String),
    /// A value, written as Rust's `format!` writes it.
    Value {
        /// The value.
        value: Template,
        /// What is written after the colon in `{:>8}`; empty for `{}`.
        spec: FormatSpec,
    },
}

impl Template {
    /// The local value that this pattern makes of it.
    pub(crate) fn bound_by<'p>(&self, pattern: &'p str) -> LocalValue<'p> {
        let is_computed = matches!(self, Self::Computed(_));
        LocalValue {
            pattern,
            is_computed,
        }
    }
}
