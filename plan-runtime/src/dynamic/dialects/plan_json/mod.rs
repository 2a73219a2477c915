//! Plan JSON: the serde format of [`Plan`], which can express every plan.
//!
//! ```json
//! {"name": "reply", "inputs": [{"name": "text", "type": "String"}], "steps": [
//!     {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {
//!         "body": {"reference": {"input": "text", "pointer": ""}}
//!     }}}
//! ], "output": {"value": {"reference": {"step": "sent", "pointer": ""}}}}
//! ```
//!
//! A reference is an object, so every string is literal.

mod deserialize;
mod read;
mod rules;

pub(super) use rules::RULES;
