//! What generated code uses. Nothing here is for users, and any of it may change at any time.
pub use serde;
pub use serde_json;
