//! `{"steps": [{"id", "tool", "arguments"}], "output_steps"}`

use crate::dynamic::dialects::reading::layout::{self, Layout};
use crate::dynamic::dialects::reading::listing;
use crate::dynamic::dialects::reading::names;
use crate::dynamic::dialects::reading::{Members, PlanReader};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::invalid;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::step;
use crate::plan::{Output, Step, Template};
use crate::print::short;
use std::collections::HashSet;

const TOP: &[&str] = &[
    "steps",
    "output_steps",
    "name",
    "description",
    "output",
    "output_type",
];

pub(super) static LAYOUT: Layout = Layout {
    document: "a tool plan",
    may_be_list: false,
    top: TOP,
    steps: &["steps"],
    no_steps: ("the plan has no `steps`", None),
    name: ("name", "the name of a plan"),
    inputs: |_, _| {},
    step: &["id", "tool", "arguments", "intent", "tool_description"],
    body: &layout::body("arguments"),
    policy: &[],
    id: None,
    arguments,
    after: (step::AFTER, JsonType::String),
    own_policy: |_, _, _| {},
    outputs: "output_steps",
    output,
};

/// Reads arguments from an object, or from a string that contains the JSON of an object.
fn arguments(reader: &mut PlanReader, members: &Members<'_>) -> Template {
    let node = match members.given("arguments") {
        Some(node) if node.kind() == JsonType::String => node,
        _ => return listing::arguments(reader, members),
    };
    let Some(text) = reader.text(node, "the arguments of a step") else {
        let at = reader.place(node.place(), None);
        return reader.broken(at);
    };
    // A reference to all arguments may also be a plain string, in addition to the JSON of a string.
    if text.value.starts_with("$ref:") {
        return listing::whole(reader, node);
    }
    let inner = text.inside();
    match JsonNode::of(inner.text(), &inner) {
        Ok(node) if node.kind() == JsonType::Object => reader.template(node, None, 0),
        Ok(node) => listing::whole(reader, node),
        Err(error) => {
            let help =
                "write the arguments as an object, or as a string with the JSON of an object";
            reader.note(invalid::note(inner.text(), &inner, &error, Some(help)));
            let at = reader.place(node.place(), None);
            reader.broken(at)
        }
    }
}

/// Reads the outputs that the plan selects, or all outputs if it selects none.
fn output(reader: &mut PlanReader, top: &Members<'_>, steps: &[Step]) -> Output {
    let reader = &mut *reader;
    let all = || listing::all_outputs(steps);
    let Some(node) = top.given("output_steps") else {
        return all();
    };
    let Some(items) = reader
        .scalars(node, "`output_steps`", JsonType::String)
        .filter(|items| !items.is_empty())
    else {
        return all();
    };
    reader.here.spans.output = Some(reader.here.spans.templates.len());
    let at = reader.place(node.place(), None);
    let mut chosen = Vec::new();
    let mut seen = HashSet::new();
    for item in &items {
        let place = item.place();
        if !reader.count(1, place.clone()) {
            break;
        }
        let Some(text) = reader.text(*item, "an output step") else {
            continue;
        };
        if let Some(index) = names::known_step(reader, &text.value, place.clone()) {
            if seen.insert(index) {
                chosen.push(index);
                reader.place(place, None);
            } else {
                let message = format!("`{}` is listed twice", short(&text.value));
                let twice = Note::warning(Code::DuplicateMember, place, message);
                reader.note(twice.help("remove the second entry"));
            }
        }
    }
    reader.here.spans.templates.close(at);
    listing::outputs(steps, chosen)
}
