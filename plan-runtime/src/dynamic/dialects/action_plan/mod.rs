//! Action plans: a list of steps whose strings contain `{{…}}`. The format comes from the Action/Step/Orchestrator's page about
//! the resolution of dependencies. `tests/seeds/mod.rs` lists the items of the page, with a test for each item.
//!
//! ```json
//! [{"id": "mail", "intent": "Find the mail.", "tool": "fetch", "arguments": {"from": "{{PLACEHOLDER_sender}}"}},
//!  {"id": "sent", "tool": "send", "arguments": {"subject": "Re: {{mail.result[0].subject}}"}}]
//! ```
//!
//! `{{PLACEHOLDER_sender}}` is an input. Without other members, the document is the list itself. Otherwise, the document is an object, and its member
//! `plan` is the list.

mod read;
mod scan;

use super::recognize::Sign;
use super::references::{Places, ScannedReference, Target, end_where_missing};
use super::{Compat, Recognition, Rules, step_by_id};
use crate::dynamic::json_node::JsonType;
use crate::plan::Reference;
use serde_json::Value;

pub(super) static RULES: Rules = Rules {
    name: "action plan",
    document: "an action plan (`{{…}}`)",

    recognition: Recognition {
        sign: |outline| {
            let list = outline.top.as_ref()?.get("plan")?;
            (list.kind() == JsonType::List).then_some(Sign::Certain)
        },
        has_step: |_, _| false,
        may_lack_calls: |_| false,
        usual: Some(JsonType::List),
    },

    syntax: &read::LAYOUT,

    places: Places::Anywhere,
    mark: Some(scan::MARK),
    scan: scan::scan,
    target: scan::input,
    wrappers: &["result"],
    inputs_in: scan::inputs,
    compat: Compat {
        unknown_step_may_be_text: true,
        allow_absence,
    },

    step: step_by_id,
    style: |to, _| Some(scan::style(to)),
    object: None,
};

/// Leaves a reference to a missing value in its string, as plain characters.
fn allow_absence(reference: &mut Reference, written: &ScannedReference<'_>) {
    end_where_missing(&mut reference.path);
    reference.optional |= matches!(written.target, Target::Input(_));
    if reference.can_end() {
        reference.otherwise = Some(Box::new(Value::from(written.text)));
    }
}
