//! What generated code uses. Nothing here is for users, and any of it may change at any time.
mod run;

pub use run::*;
pub use serde;
pub use serde_json;
