//! Arguments from outputs: serde deserializes a step's arguments directly from its template and the outputs.
//!
//! At a reference, the deserializer follows the reference's pointer ([RFC 6901](https://datatracker.ietf.org/doc/html/rfc6901))
//! into the output, and continues with the value found. So a tool's argument struct is built from earlier outputs without intermediate JSON
//! or [`Value`](serde_json::Value)s. Strings in an output are never interpreted.
//!
//! [`ResolveError`] contains the argument that could not be resolved, its reference, the last position that its pointer reached, and the value at this position.

mod access;
mod arguments;
mod code;
pub(crate) mod describe;
mod encode;
mod error;
mod items;
mod json;
mod members;
mod meter;
mod node;
mod read;
mod scope;
mod settle;
mod stored;
mod test;
mod text;
mod token;
mod variant;
mod walk;

#[doc(hidden)]
pub use arguments::Arguments;
pub(crate) use arguments::{Handed, share, take};
#[doc(hidden)]
pub(crate) use code::PlacedPanic;
pub use code::{Compute, Show};
#[doc(hidden)]
pub use encode::encode;
pub(crate) use encode::{check_within, encode_within};
pub use error::{ErrorKind, ResolveError};
pub(crate) use error::{Limit, MOST_CAUSES, Raised};
pub(crate) use meter::{MemoryBudget, Meter, bytes_of};
#[doc(hidden)]
pub use scope::Scope;
pub(crate) use settle::settle;
#[doc(hidden)]
pub use stored::StoredValue;
pub(crate) use stored::drop_quietly;
#[doc(hidden)]
pub use stored::{CloneFn, HandOver};

pub(crate) use walk::{EachTarget, Target, walk};

use crate::plan::{Segment, Template};
use node::{Node, Slot};
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// Reads a value out of a template and the values that the template refers to.
///
/// # Errors
///
/// Returns a [`ResolveError`] if a pointer leads to no value, or to a value of another type.
#[doc(hidden)]
pub fn resolve<T: DeserializeOwned>(
    template: &Template,
    scope: &Scope<'_>,
) -> Result<T, ResolveError> {
    T::deserialize(Node::template(template, scope))
}

/// Returns the JSON of a template.
///
/// # Errors
///
/// Returns the errors of [`resolve`].
pub(crate) fn resolve_json(
    template: &Template,
    scope: &Scope<'_>,
) -> Result<serde_json::Value, ResolveError> {
    Node::template(template, scope).json()
}

/// Returns the value of a template, borrowed from an output if possible. An absent value is null.
pub(crate) fn look<'a>(
    template: &'a Template,
    scope: &'a Scope<'a>,
) -> Result<Cow<'a, serde_json::Value>, ResolveError> {
    let slot = Slot::default();
    Node::template(template, scope).settle(&slot)?.look()
}

/// Looks for the value of a template whose existence is in question. Returns null if a reference leads to a missing
/// value.
pub(crate) fn look_if_there<'a>(
    template: &'a Template,
    scope: &'a Scope<'a>,
) -> Result<Cow<'a, serde_json::Value>, ResolveError> {
    or_null(template, look(template, scope))
}

/// Returns the result of a search, or null for a missing value. The elements of a list need no separate question.
fn or_null<'a>(
    template: &Template,
    found: Result<Cow<'a, serde_json::Value>, ResolveError>,
) -> Result<Cow<'a, serde_json::Value>, ResolveError> {
    match (found, template) {
        (Err(error), Template::Reference(reference))
            if error.is_missing() && !reference.path.iter().any(Segment::is_each) =>
        {
            Ok(Cow::Owned(serde_json::Value::Null))
        }
        (found, _) => found,
    }
}

/// Reads a whole value.
pub(crate) fn read<T: DeserializeOwned>(value: &serde_json::Value) -> Result<T, ResolveError> {
    T::deserialize(Node::of_value(value, None)).map_err(ResolveError::bare)
}

/// Reads a whole value like an argument, with errors like those of serde_json. serde_json's own deserializer would compile more code for each type of
/// an argument or an output.
pub(crate) fn from_json<T: DeserializeOwned>(
    value: &serde_json::Value,
) -> Result<T, serde_json::Error> {
    T::deserialize(Node::of_value(value, None)).map_err(ResolveError::into_json_error)
}

/// Converts a value from outside to the JSON that its type writes.
pub(crate) fn receive<T: serde::Serialize + DeserializeOwned>(
    value: &serde_json::Value,
) -> Result<serde_json::Value, ResolveError> {
    let read = T::deserialize(Node::of_value(value, None));
    encode(&read.map_err(ResolveError::in_value)?)
}

/// Returns `true` for a private type of serde_json, identified by its name: a number of arbitrary precision, or raw
/// JSON.
#[inline]
fn is_of_serde_json(name: &str) -> bool {
    name.starts_with("$serde_json::private::")
}
