//! Texts of a plan that are Rust, and whose they are.

use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::Deref;

/// A type, a pattern, an expression or a doc comment: a text of a plan that is a part of its Rust source. It knows whether the program says it.
///
/// [`Plan::to_rust`](super::Plan::to_rust) writes code of the program as it is. Code from elsewhere is an error, and a description from
/// elsewhere is not Markdown. All texts are from elsewhere, except those of a `plan!`. Copies and
/// parts that are moved into other plans stay what they are.
///
/// A text dereferences to a `str`. Two are equal if they say the same, whoever says it.
///
/// ```
/// use plan_runtime::plan::Input;
///
/// let input = Input::new("to", "Vec<String>");
/// assert_eq!(input.type_name, "Vec<String>");
/// ```
#[derive(Clone, Default)]
pub struct RustText {
    text: Box<str>,
    is_of_program: bool,
}

impl RustText {
    /// A text that the program itself says. It is for literals: whoever calls this with a text that was made of data, lets that data
    /// write code.
    #[doc(hidden)]
    #[must_use]
    pub fn of_program(text: &'static str) -> Self {
        Self {
            text: text.into(),
            is_of_program: true,
        }
    }

    /// Whether the program says it.
    #[doc(hidden)]
    pub fn is_of_program(&self) -> bool {
        self.is_of_program
    }
}

impl From<String> for RustText {
    fn from(text: String) -> Self {
        Self {
            text: text.into(),
            is_of_program: false,
        }
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
        &self.text
    }
}

impl fmt::Display for RustText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl fmt::Debug for RustText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl PartialEq for RustText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RustText {}

impl PartialEq<str> for RustText {
    fn eq(&self, other: &str) -> bool {
        *self.text == *other
    }
}

impl PartialEq<&str> for RustText {
    fn eq(&self, other: &&str) -> bool {
        *self.text == **other
    }
}

impl Serialize for RustText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}
