//! `{"steps": [{"id", "tool", "arguments"}], "output_steps"}`

use crate::Plan;
use crate::dynamic::dialects::reading::steps::{self, StepHeader};
use crate::dynamic::dialects::reading::{Members, PlanBuilder};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, Source};
use crate::plan::{Output, Step, Template};
use crate::resolve::describe::short;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

const TOP: &[&str] = &[
    "steps",
    "output_steps",
    "name",
    "description",
    "output",
    "output_type",
];
const STEP: &[&str] = &["id", "tool", "arguments", "intent", "tool_description"];

pub(super) fn read(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    node: JsonNode<'_>,
) -> Option<Plan> {
    let top = builder.members(source, node, "a tool plan")?;
    builder.only(source, &top, "a tool plan", TOP);
    let Some(list) = top.get("steps") else {
        let message = "the plan has no `steps`";
        return builder.error(Note::error(
            Code::MissingMember,
            source.place(node.slice()),
            message,
        ));
    };
    let nodes = builder.items(source, list, "`steps`")?;
    let name = steps::optional_string(builder, source, &top, "name", "the name of a plan");
    let description = steps::optional_string(
        builder,
        source,
        &top,
        "description",
        "the description of a plan",
    );
    let heads = steps::heads(builder, source, list, nodes, None);
    let read = steps::read(builder, source, heads, step);
    let output = match steps::output(builder, source, &top) {
        Some(output) => output,
        None => output_steps(builder, source, &top, &read),
    };
    Some(steps::plan(builder, name, description, read, output))
}

fn step(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    index: usize,
    head: StepHeader<'_>,
) -> Step {
    steps::plain(builder, source, index, head, STEP, arguments)
}

/// An object, or JSON text of one.
fn arguments(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    index: usize,
    members: &Members<'_>,
) -> Template {
    let node = match members.given("arguments") {
        Some(node) if node.kind() == JsonType::String => node,
        _ => return steps::arguments(builder, source, index, members, "arguments"),
    };
    builder.spans.begin_templates(index);
    let Some(text) = builder.text(source, node, "the arguments of a step") else {
        let at = builder.place(source.place(node.slice()), None);
        return builder.broken(at);
    };
    // A reference to what gives all arguments need not be JSON text of a string.
    if text.value.starts_with("$ref:") {
        return steps::whole(builder, source, node);
    }
    let inner = source.inside(&text);
    match JsonNode::of(inner.text()) {
        Ok(node) if node.kind() == JsonType::Object => builder.template(&inner, node, None, 0),
        Ok(node) => steps::whole(builder, &inner, node),
        Err(invalid) => {
            let help = "the arguments are an object, or a string with the JSON text of one";
            builder.note(invalid.note(&inner, inner.text(), Some(help)));
            let at = builder.place(source.place(node.slice()), None);
            builder.broken(at)
        }
    }
}

/// The outputs that the plan asks for; all where it asks for none.
fn output_steps(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    top: &Members<'_>,
    steps: &[Step],
) -> Output {
    let all = || steps::outputs(steps, 0..steps.len());
    let Some(node) = top.given("output_steps") else {
        return all();
    };
    let Some(items) = builder
        .items(source, node, "`output_steps`")
        .filter(|items| !items.is_empty())
    else {
        return all();
    };
    builder.spans.output = Some(builder.spans.templates.len());
    let at = builder.place(source.place(node.slice()), None);
    let mut chosen = Vec::new();
    // Those that are listed again, with the place of the last.
    let mut seen = BTreeMap::new();
    for item in &items {
        let place = source.place(item.slice());
        builder.count(1, place.clone());
        if builder.is_over() {
            break;
        }
        let Some(text) = builder.text(source, *item, "an output step") else {
            continue;
        };
        if let Some(index) = builder.known_step(&text.value, place.clone()) {
            match seen.entry(index) {
                Entry::Vacant(new) => {
                    new.insert(None);
                    chosen.push(index);
                    builder.place(place, None);
                }
                Entry::Occupied(mut again) => {
                    again.insert(Some(place));
                }
            }
        }
    }
    builder.spans.templates.close(at);
    for (index, place) in seen {
        if let Some(place) = place {
            let id = steps.get(index).map_or("", |step| &step.id);
            let message = format!("`{}` is listed twice", short(id));
            builder.note(
                Note::warning(Code::DuplicateMember, place, message)
                    .help("its output is given once".to_owned()),
            );
        }
    }
    steps::outputs(steps, chosen)
}
