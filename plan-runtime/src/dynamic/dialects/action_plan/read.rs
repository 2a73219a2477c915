//! `[{"id", "intent", "tool", "arguments"}]`, and `{"plan": […]}` for a plan with further members.

use crate::dynamic::dialects::reading::PlanReader;
use crate::dynamic::dialects::reading::layout::{self, Layout};
use crate::dynamic::dialects::reading::listing;
use crate::dynamic::dialects::reading::{counts, inputs, unknown};
use crate::dynamic::finding::Code;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::step;
use crate::print::short;

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
    inputs,
    step: &["id", "intent", "tool", "arguments", "tool_description"],
    body: &layout::body("arguments"),
    policy: &[],
    id: None,
    arguments: listing::arguments,
    after: (step::AFTER, JsonType::String),
    own_policy: |_, _, _| {},
    output: |_, _, steps| listing::all_outputs(steps),
};

/// Reads the list of inputs; references declare inputs as well.
fn inputs(reader: &mut PlanReader, list: JsonNode<'_>) {
    for node in reader.items(list, "`inputs`").unwrap_or_default() {
        if reader.is_over() {
            break;
        }
        let Some(members) = reader.members(node, "an input") else {
            continue;
        };
        unknown::only_known(reader, &members, "an input", INPUT);
        let name = reader.optional_text(&members, "name", "the name of an input");
        let place = node.place();
        if name.trim().is_empty() {
            reader.report(Code::EmptyName, place, "the input has no name", ());
            continue;
        }
        if !reader.name_fits(&name, "the name of an input", place.clone()) {
            continue;
        }
        if let Some(Some(_)) = reader.input_names.get(name.as_str()) {
            reader.report(
                Code::DuplicateId,
                place,
                format!("two inputs have the name `{}`", short(&name)),
                (),
            );
            continue;
        }
        inputs::no_step(reader, &name, place.clone());
        counts::count_input(reader, reader.inputs.len(), place);
        let index = reader.inputs.len();
        reader.input_names.insert(name.as_str().into(), Some(index));
        let input = reader.input(&members, name);
        if input.type_name.is_empty() {
            reader.here.spans.untyped.push(index);
        }
        reader.inputs.push(input);
    }
}
