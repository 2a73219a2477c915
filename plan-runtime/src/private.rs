//! What generated code uses. Nothing here is for users, and any of it may change at any time.
pub use serde;
pub use serde_json;

pub use crate::shape::probe::{NotProbed, Probe};
pub use crate::shape::{Field, Omitted, Place, Tagging, TypeShape, Variant};
pub use crate::tool::{Outcome, finish};
