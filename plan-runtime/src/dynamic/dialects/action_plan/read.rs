//! `[{"id", "intent", "tool", "arguments"}]`, and `{"plan": […]}` for a plan with further members.

use crate::dynamic::dialects::reading::inputs;
use crate::dynamic::dialects::reading::layout::{self, Layout};
use crate::dynamic::dialects::reading::listing;
use crate::dynamic::json_node::JsonType;
use crate::plan::json::names::{plan, step};

const TOP: &[&str] = &[
    "plan",
    "name",
    "description",
    "inputs",
    "output",
    "output_type",
];
const INPUT: &[&str] = &["name", "type", "description"];

pub(super) static LAYOUT: Layout = Layout {
    document: "an action plan",
    may_be_list: true,
    top: TOP,
    steps: &["plan", "steps"],
    no_steps: (
        "the plan has no steps",
        Some("an action plan is a list of steps, or an object with that list as its `plan`"),
    ),
    name: ("name", "the name of a plan"),
    inputs: |reader, list| {
        let nodes = reader.items(list, "`inputs`").unwrap_or_default();
        inputs::declared(reader, nodes, INPUT);
    },
    step: &["id", "intent", "tool", "arguments", "tool_description"],
    body: &layout::body("arguments"),
    policy: &[],
    id: None,
    arguments: listing::arguments,
    after: (step::AFTER, JsonType::String),
    own_policy: |_, _, _| {},
    outputs: plan::OUTPUT,
    output: |_, _, steps| listing::all_outputs(steps),
};
