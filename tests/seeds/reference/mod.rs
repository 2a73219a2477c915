//! The resolvers of the three documents, as plain Rust.
//!
//! Each follows its document to the letter, including results that the project refuses: `random` counts those.

pub(crate) mod placeholder_resolver;
pub(crate) mod plan_reference_resolver;
pub(crate) mod step_reference_resolver;
