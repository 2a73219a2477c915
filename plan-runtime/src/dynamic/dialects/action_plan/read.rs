//! `[{"id", "intent", "tool", "arguments"}]`, and `{"plan": […]}` where more is to be said of it.

use crate::Plan;
use crate::dynamic::dialects::reading::PlanBuilder;
use crate::dynamic::dialects::reading::steps::{self, StepHeader};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::{JsonNode, JsonType, Source};
use crate::plan::Step;
use crate::resolve::describe::short;

const TOP: &[&str] = &[
    "plan",
    "name",
    "description",
    "inputs",
    "output",
    "output_type",
];
const STEP: &[&str] = &["id", "intent", "tool", "arguments", "tool_description"];
const INPUT: &[&str] = &["name", "type", "description"];

pub(super) fn read(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    node: JsonNode<'_>,
) -> Option<Plan> {
    let (top, list, nodes) = match node.kind() {
        JsonType::List => (None, node, node.items()),
        _ => {
            let top = builder.members(source, node, "an action plan")?;
            builder.only(source, &top, "an action plan", TOP);
            let Some(list) = top.get("plan").or_else(|| top.get("steps")) else {
                let note = Note::error(
                    Code::MissingMember,
                    source.place(node.slice()),
                    "the plan has no steps",
                );
                return builder.error(note.help("an action plan is a list of steps, or an object with that list as its `plan`".to_owned()));
            };
            let nodes = builder.items(source, list, "`plan`")?;
            (Some(top), list, nodes)
        }
    };
    let (mut name, mut description) = (String::new(), String::new());
    if let Some(top) = &top {
        name = steps::optional_string(builder, source, top, "name", "the name of a plan");
        description = steps::optional_string(
            builder,
            source,
            top,
            "description",
            "the description of a plan",
        );
    }
    let heads = steps::heads(builder, source, list, nodes, None);
    if let Some(list) = top.as_ref().and_then(|top| top.given("inputs")) {
        inputs(builder, source, list);
    }
    let read = steps::read(builder, source, heads, step);
    let output = top
        .as_ref()
        .and_then(|top| steps::output(builder, source, top));
    let output = output.unwrap_or_else(|| steps::outputs(&read, 0..read.len()));
    Some(steps::plan(builder, name, description, read, output))
}

fn step(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    index: usize,
    head: StepHeader<'_>,
) -> Step {
    steps::plain(
        builder,
        source,
        index,
        head,
        STEP,
        |builder, source, index, members| {
            steps::arguments(builder, source, index, members, "arguments")
        },
    )
}

/// Reads the list of inputs; references declare inputs as well.
fn inputs(builder: &mut PlanBuilder, source: &Source<'_>, list: JsonNode<'_>) {
    for node in builder.items(source, list, "`inputs`").unwrap_or_default() {
        if builder.is_over() {
            break;
        }
        let Some(members) = builder.members(source, node, "an input") else {
            continue;
        };
        builder.only(source, &members, "an input", INPUT);
        let name =
            steps::optional_string(builder, source, &members, "name", "the name of an input");
        let place = source.place(node.slice());
        if name.trim().is_empty() {
            builder.note(Note::error(Code::EmptyName, place, "the input has no name"));
            continue;
        }
        if !builder.name_fits(&name, "the name of an input", place.clone()) {
            continue;
        }
        if builder.input_names.contains_key(name.as_str()) {
            builder.note(Note::error(
                Code::DuplicateId,
                place,
                format!("two inputs have the name `{}`", short(&name)),
            ));
            continue;
        }
        builder.no_step(&name, place);
        let input = builder.inputs.len();
        builder.input_names.insert(name.as_str().into(), input);
        let type_name =
            steps::optional_string(builder, source, &members, "type", "the type of an input");
        let description = steps::optional_string(
            builder,
            source,
            &members,
            "description",
            "the description of an input",
        );
        if type_name.is_empty() {
            builder.spans.untyped.push(builder.inputs.len());
        }
        builder.name_fits(
            &type_name,
            "the type of an input",
            source.place(node.slice()),
        );
        builder
            .input_names
            .insert(name.as_str().into(), builder.inputs.len());
        builder.inputs.push(crate::plan::Input {
            name,
            type_name: type_name.into(),
            description: description.into(),
        });
    }
}
