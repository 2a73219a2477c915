//! From outputs to arguments: a step's arguments are deserialised straight from its template and the outputs.

mod error;
mod scope;

pub use error::ResolveError;
pub use scope::{Held, Scope};
