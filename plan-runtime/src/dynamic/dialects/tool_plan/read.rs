//! `{"steps": [{"id", "tool", "arguments"}], "output_steps"}`

use crate::Plan;
use crate::dynamic::dialects::reading::steps::{self, Head};
use crate::dynamic::dialects::reading::{Draft, Members};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::{Kind, Node, Source};
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

pub(super) fn read(draft: &mut Draft, source: &Source<'_>, node: Node<'_>) -> Option<Plan> {
    let top = draft.members(source, node, "a tool plan")?;
    draft.only(source, &top, "a tool plan", TOP);
    let Some(list) = top.get("steps") else {
        let message = "the plan has no `steps`";
        return draft.error(Note::error(
            Code::MissingMember,
            source.place(node.slice()),
            message,
        ));
    };
    let nodes = draft.items(source, list, "`steps`")?;
    let name = steps::optional_string(draft, source, &top, "name", "the name of a plan");
    let description = steps::optional_string(
        draft,
        source,
        &top,
        "description",
        "the description of a plan",
    );
    let heads = steps::heads(draft, source, list, nodes, None);
    let read = steps::read(draft, source, heads, step);
    let output = match steps::output(draft, source, &top) {
        Some(output) => output,
        None => output_steps(draft, source, &top, &read),
    };
    Some(steps::plan(draft, name, description, read, output))
}

fn step(draft: &mut Draft, source: &Source<'_>, index: usize, head: Head<'_>) -> Step {
    steps::plain(draft, source, index, head, STEP, arguments)
}

/// An object, or JSON text of one.
fn arguments(
    draft: &mut Draft,
    source: &Source<'_>,
    index: usize,
    members: &Members<'_>,
) -> Template {
    let node = match members.given("arguments") {
        Some(node) if node.kind() == Kind::String => node,
        _ => return steps::arguments(draft, source, index, members, "arguments"),
    };
    draft.spans.begin_templates(index);
    let Some(text) = draft.text(source, node, "the arguments of a step") else {
        let at = draft.place(source.place(node.slice()), None);
        return draft.broken(at);
    };
    // A reference to what gives all arguments need not be JSON text of a string.
    if text.value.starts_with("$ref:") {
        return steps::whole(draft, source, node);
    }
    let inner = source.inside(&text);
    match Node::of(inner.text()) {
        Ok(node) if node.kind() == Kind::Object => draft.template(&inner, node, None, 0),
        Ok(node) => steps::whole(draft, &inner, node),
        Err(invalid) => {
            let help = "the arguments are an object, or a string with the JSON text of one";
            draft.note(invalid.note(&inner, inner.text(), Some(help)));
            let at = draft.place(source.place(node.slice()), None);
            draft.broken(at)
        }
    }
}

/// The outputs that the plan asks for; all where it asks for none.
fn output_steps(
    draft: &mut Draft,
    source: &Source<'_>,
    top: &Members<'_>,
    steps: &[Step],
) -> Output {
    let all = || steps::outputs(steps, 0..steps.len());
    let Some(node) = top.given("output_steps") else {
        return all();
    };
    let Some(items) = draft
        .items(source, node, "`output_steps`")
        .filter(|items| !items.is_empty())
    else {
        return all();
    };
    draft.spans.output = Some(draft.spans.templates.len());
    let at = draft.place(source.place(node.slice()), None);
    let mut chosen = Vec::new();
    // Those that are listed again, with the place of the last.
    let mut seen = BTreeMap::new();
    for item in &items {
        let place = source.place(item.slice());
        draft.count(1, place.clone());
        if draft.is_over() {
            break;
        }
        let Some(text) = draft.text(source, *item, "an output step") else {
            continue;
        };
        if let Some(index) = draft.known_step(&text.value, place.clone()) {
            match seen.entry(index) {
                Entry::Vacant(new) => {
                    new.insert(None);
                    chosen.push(index);
                    draft.place(place, None);
                }
                Entry::Occupied(mut again) => {
                    again.insert(Some(place));
                }
            }
        }
    }
    draft.spans.templates.close(at);
    for (index, place) in seen {
        if let Some(place) = place {
            let id = steps.get(index).map_or("", |step| &step.id);
            let message = format!("`{}` is listed twice", short(id));
            draft.note(
                Note::warning(Code::DuplicateMember, place, message)
                    .help("its output is given once".to_owned()),
            );
        }
    }
    steps::outputs(steps, chosen)
}
