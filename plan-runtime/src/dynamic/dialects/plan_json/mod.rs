//! Plan JSON: what [`Plan`] serializes to, which has all that a plan can be.
//!
//! ```json
//! {"name": "reply", "inputs": [{"name": "text", "type": "String"}], "steps": [
//!     {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {
//!         "body": {"reference": {"input": "text", "pointer": ""}}
//!     }}}
//! ], "output": {"value": {"reference": {"step": "sent", "pointer": ""}}}}
//! ```
//!
//! A reference is an object, so a string is text, whatever it contains.

mod deserialize;
mod read;
#[cfg(feature = "dynamic")]
mod rules;
#[cfg(feature = "dynamic")]
mod schema;

#[cfg(feature = "dynamic")]
pub(super) use rules::RULES;
