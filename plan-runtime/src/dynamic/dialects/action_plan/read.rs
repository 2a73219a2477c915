//! `[{"id", "intent", "tool", "arguments"}]`, and `{"plan": […]}` for a plan with further members.

use crate::dynamic::dialects::reading::PlanBuilder;
use crate::dynamic::dialects::reading::steps::{self, Layout};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonNode;
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

const BODY: &[&str] = &[
    "tool",
    "arguments",
    "tool_description",
    "value",
    "if",
    "for",
    "block",
];

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
    body: BODY,
    policy: &[],
    id: None,
    by_place: false,
    arguments: steps::arguments,
    order: |_, _, _, _| {},
    output: |_, _, steps| steps::all_outputs(steps),
};

/// Reads the list of inputs; references declare inputs as well.
fn inputs(builder: &mut PlanBuilder, list: JsonNode<'_>) {
    for node in builder.items(list, "`inputs`").unwrap_or_default() {
        if builder.is_over() {
            break;
        }
        let Some(members) = builder.members(node, "an input") else {
            continue;
        };
        builder.only_known(&members, "an input", INPUT);
        let name = builder.optional_text(&members, "name", "the name of an input");
        let place = node.place();
        if name.trim().is_empty() {
            builder.note(Note::error(Code::EmptyName, place, "the input has no name"));
            continue;
        }
        if !builder.name_fits(&name, "the name of an input", place.clone()) {
            continue;
        }
        if let Some(Some(_)) = builder.input_names.get(name.as_str()) {
            builder.note(Note::error(
                Code::DuplicateId,
                place,
                format!("two inputs have the name `{}`", short(&name)),
            ));
            continue;
        }
        builder.no_step(&name, place.clone());
        builder.count_input(builder.inputs.len(), place);
        let type_name = builder.optional_text(&members, "type", "the type of an input");
        let description =
            builder.optional_text(&members, "description", "the description of an input");
        if type_name.is_empty() {
            builder.spans.untyped.push(builder.inputs.len());
        }
        builder.name_fits(&type_name, "the type of an input", node.place());
        builder
            .input_names
            .insert(name.as_str().into(), Some(builder.inputs.len()));
        builder.inputs.push(crate::plan::Input {
            name,
            type_name: type_name.into(),
            description: description.into(),
            secrets: crate::shape::Secrets::default(),
            is_guessed: false,
        });
    }
}
