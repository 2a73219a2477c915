//! From outputs to arguments: a step's arguments are deserialised straight from its template and the outputs.

mod error;
mod scope;

pub use error::ResolveError;
pub use scope::{Held, Scope};

/// Stand-in.
pub fn encode<T: serde::Serialize>(value: &T) -> Result<serde_json::Value, ResolveError> {
    serde_json::to_value(value).map_err(|e| ResolveError::new(e.to_string()))
}
