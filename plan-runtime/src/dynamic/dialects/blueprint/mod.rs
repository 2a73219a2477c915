//! Step blueprints: steps without ids, whose strings contain `${step[0]…}`.
//!
//! ```json
//! {"requestId": "reply", "steps": [
//!     {"tool": "fetch", "params": {"from": "Sarah"}, "retryCount": 2},
//!     {"tool": "send", "params": {"to": "${step[0].data[0].from}"}, "dependsOn": [0], "timeout": 500}
//! ]}
//! ```
//!
//! Planners also write only the list of steps. A step refers to steps before it by their indices, and a blueprint has no
//! inputs.

mod read;
mod scan;
mod strings;
#[cfg(feature = "dynamic")]
mod write;

use super::recognize::Sign;
use super::references::Places;
use super::{Compat, Recognition, Rules};
use std::collections::HashSet;

pub(super) static RULES: Rules = Rules {
    name: "blueprint",
    document: "a blueprint (`${step[0]…}`)",

    recognition: Recognition {
        sign: |outline| outline.has(&["requestId"]).then_some(Sign::Certain),
        // Other planners also write `dependsOn`, in steps with `arguments`.
        has_step: |_, step| {
            let has_own = step.has(&["dependsOn", "parallel", "retryCount"]);
            step.has(&["params"]) || (has_own && !step.has(&["arguments"]))
        },
        may_lack_calls: |_| false,
        usual: None,
    },

    syntax: &read::LAYOUT,

    places: Places::Anywhere,
    mark: Some(scan::MARK),
    scan: scan::scan,
    target: scan::step,
    wrappers: scan::WRAPPERS,
    inputs_in: |_, _| HashSet::new(),
    compat: Compat {
        unknown_step_may_be_text: false,
        allow_absence: |_, _| {},
    },

    step: |index, _| format!("step[{index}]"),
    style: scan::style,
    object: None,
};
