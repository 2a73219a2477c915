//! Strings of a plan that are Rust code, and their origin.

use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::Deref;

/// A type, a pattern, an expression or a doc comment: a part of a plan's Rust source, with a flag for strings of the program itself.
///
/// The crate `plan-rust` writes code of the program unchanged. It refuses code from elsewhere, and does not interpret
/// a description from elsewhere as Markdown. Only the strings of a `plan!` are of the program. Copies of them, and parts that are moved
/// into other plans, keep the flag.
///
/// A `RustText` dereferences to a `str`. Two are equal if their strings are equal, regardless of their origin.
///
/// ```
/// use plan_runtime::plan::Input;
///
/// let input = Input::new("to", "Vec<String>");
/// assert_eq!(input.type_name, "Vec<String>");
/// ```
#[derive(Clone, Default)]
pub struct RustText(
    /// `None` for the empty string of most steps, which is not of the program.
    Option<Box<Text>>,
);

#[derive(Clone)]
enum Text {
    OfProgram(&'static str),
    Other(Box<str>),
}

impl RustText {
    /// Creates a string of the program itself, from a literal. A caller who passes data here lets that data write code.
    #[doc(hidden)]
    #[must_use]
    pub fn of_program(text: &'static str) -> Self {
        Self(Some(Box::new(Text::OfProgram(text))))
    }

    /// Returns `true` for a string of the program.
    #[doc(hidden)]
    pub fn is_of_program(&self) -> bool {
        matches!(self.0.as_deref(), Some(Text::OfProgram(_)))
    }
}

impl From<String> for RustText {
    fn from(text: String) -> Self {
        let text = (!text.is_empty()).then(|| Box::new(Text::Other(text.into())));
        Self(text)
    }
}

impl From<&str> for RustText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Deref for RustText {
    type Target = str;

    fn deref(&self) -> &str {
        match self.0.as_deref() {
            Some(Text::OfProgram(text)) => text,
            Some(Text::Other(text)) => text,
            None => "",
        }
    }
}

impl fmt::Display for RustText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for RustText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for RustText {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for RustText {}

impl PartialEq<str> for RustText {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for RustText {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl Serialize for RustText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}
