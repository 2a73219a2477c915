//! Tool plans, of agentle4j: strings that are references begin with `$ref:`.
//!
//! ```json
//! {"steps": [
//!     {"id": "mail", "tool": "fetch", "arguments": {"from": "Sarah"}},
//!     {"id": "sent", "tool": "send", "arguments": "{\"to\": \"$ref:mail.0.from\"}"}
//! ], "output_steps": ["sent"]}
//! ```
//!
//! The arguments of a step are an object, or a string that contains the JSON of an object. A tool plan has no inputs,
//! and no references inside a longer string.

mod read;
mod scan;
#[cfg(feature = "dynamic")]
mod schema;

#[cfg(feature = "dynamic")]
pub(in crate::dynamic) use schema::schema;

use super::recognize::Sign;
use super::references::{Places, end_where_missing};
use super::{Compat, Recognition, Rules, step_by_id};
use crate::dynamic::json_node::JsonType;
use std::collections::HashSet;

/// The guide to tool plans for models.
pub(in crate::dynamic) const GUIDE: &str = include_str!("guide.txt");

pub(super) static RULES: Rules = Rules {
    name: "tool plan",
    document: "a tool plan (`$ref:`)",

    recognition: Recognition {
        sign: |outline| outline.has(&["output_steps"]).then_some(Sign::Certain),
        has_step: |_, _| false,
        may_lack_calls: |_| false,
        usual: Some(JsonType::Object),
    },

    syntax: &read::LAYOUT,

    places: Places::Whole,
    mark: Some(scan::MARK),
    scan: scan::scan,
    target: |_, _| None,
    wrappers: &[],
    inputs_in: |_, _| HashSet::new(),
    compat: Compat {
        unknown_step_may_be_text: false,
        allow_absence: |reference, _| end_where_missing(&mut reference.path),
    },

    step: step_by_id,
    style: scan::style,
    object: None,
};
