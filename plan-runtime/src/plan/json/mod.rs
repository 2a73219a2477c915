//! Plan JSON: a plan as JSON, which refers to steps and inputs by their names.
//!
//! | | |
//! |---|---|
//! | `names.rs` | the names of the members, for writers and readers; `policy.rs` beside this folder has the names of policies |
//! | `view.rs` | the JSON of templates and paths, independent of their form in Rust |
//! | `write/` | the serializers |
//! | `text.rs` | the JSON text behind a deserializer |
//! | `no_effect.rs` | policies that change nothing |
//! | `equal.rs` | equality of plan JSON |
//!
//! The reader is in `dynamic/dialects/plan_json/`, which exists even without the feature `dynamic`.

mod equal;
#[macro_use]
pub(crate) mod names;
mod no_effect;
#[cfg(test)]
mod tests;
mod text;
mod view;
mod write;

pub(crate) use no_effect::meaningless;
pub(crate) use text::Json;
pub(in crate::plan) use view::View;
pub(crate) use write::InPlan;

use super::Number;
use super::depth::DEEPEST_BODY;

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonType {
    Null,
    Bool,
    Number,
    String,
    List,
    Object,
}

impl JsonType {
    /// Returns the kind of a value, from its JSON text.
    pub(crate) fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::List,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number,
        }
    }
}

/// The largest number of parts in the path of a reference. No JSON is nested so deep.
pub(crate) const MOST_PARTS: usize = 256;

/// The message for an `else` that would be printed, but never used.
pub(crate) const NOTHING_ENDS: &str =
    "`else` has no effect, because the reference cannot stop early";

/// Returns the message for more local values than the limit.
pub(crate) fn many_locals() -> String {
    format!("more than {DEEPEST_BODY} enclosing patterns define local values")
}

/// The message for an empty list of conditions.
pub(crate) const NO_CONDITIONS: &str = "`all` has no conditions";

/// Reads a number exactly, or a decimal as the closest floating-point number.
pub(crate) fn number(written: &str) -> Option<Number> {
    if let Ok(value) = written.parse() {
        return Some(Number::Unsigned(value));
    }
    match written.parse::<i64>() {
        Ok(0) | Err(_) => {}
        Ok(value) => return Some(Number::Signed(value)),
    }
    let value: f64 = written.parse().ok()?;
    let is_integer = !written.contains(['.', 'e', 'E']);
    let is_exact = !is_integer || format!("{value:.0}") == written;
    (value.is_finite() && is_exact).then_some(Number::Float(value))
}
