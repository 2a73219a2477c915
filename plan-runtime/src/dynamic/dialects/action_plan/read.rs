//! `[{"id", "intent", "tool", "arguments"}]`, and `{"plan": […]}` where more is to be said of it.

use crate::Plan;
use crate::dynamic::dialects::reading::Draft;
use crate::dynamic::dialects::reading::steps::{self, Head};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::{Kind, Node, Source};
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

pub(super) fn read(draft: &mut Draft, source: &Source<'_>, node: Node<'_>) -> Option<Plan> {
    let (top, list, nodes) = match node.kind() {
        Kind::List => (None, node, node.items()),
        _ => {
            let top = draft.members(source, node, "an action plan")?;
            draft.only(source, &top, "an action plan", TOP);
            let Some(list) = top.get("plan").or_else(|| top.get("steps")) else {
                let note = Note::error(
                    Code::MissingMember,
                    source.place(node.slice()),
                    "the plan has no steps",
                );
                return draft.error(note.help("an action plan is a list of steps, or an object with that list as its `plan`".to_owned()));
            };
            let nodes = draft.items(source, list, "`plan`")?;
            (Some(top), list, nodes)
        }
    };
    let (mut name, mut description) = (String::new(), String::new());
    if let Some(top) = &top {
        name = steps::optional_string(draft, source, top, "name", "the name of a plan");
        description = steps::optional_string(
            draft,
            source,
            top,
            "description",
            "the description of a plan",
        );
    }
    let heads = steps::heads(draft, source, list, nodes, None);
    if let Some(list) = top.as_ref().and_then(|top| top.given("inputs")) {
        inputs(draft, source, list);
    }
    let read = steps::read(draft, source, heads, step);
    let output = top
        .as_ref()
        .and_then(|top| steps::output(draft, source, top));
    let output = output.unwrap_or_else(|| steps::outputs(&read, 0..read.len()));
    Some(steps::plan(draft, name, description, read, output))
}

fn step(draft: &mut Draft, source: &Source<'_>, index: usize, head: Head<'_>) -> Step {
    steps::plain(
        draft,
        source,
        index,
        head,
        STEP,
        |draft, source, index, members| {
            steps::arguments(draft, source, index, members, "arguments")
        },
    )
}

/// Reads the list of inputs; references declare inputs as well.
fn inputs(draft: &mut Draft, source: &Source<'_>, list: Node<'_>) {
    for node in draft.items(source, list, "`inputs`").unwrap_or_default() {
        if draft.is_over() {
            break;
        }
        let Some(members) = draft.members(source, node, "an input") else {
            continue;
        };
        draft.only(source, &members, "an input", INPUT);
        let name = steps::optional_string(draft, source, &members, "name", "the name of an input");
        let place = source.place(node.slice());
        if name.trim().is_empty() {
            draft.note(Note::error(Code::EmptyName, place, "the input has no name"));
            continue;
        }
        if !draft.name_fits(&name, "the name of an input", place.clone()) {
            continue;
        }
        if draft.input_names.contains_key(name.as_str()) {
            draft.note(Note::error(
                Code::DuplicateId,
                place,
                format!("two inputs have the name `{}`", short(&name)),
            ));
            continue;
        }
        draft.no_step(&name, place);
        let input = draft.inputs.len();
        draft.input_names.insert(name.as_str().into(), input);
        let type_name =
            steps::optional_string(draft, source, &members, "type", "the type of an input");
        let description = steps::optional_string(
            draft,
            source,
            &members,
            "description",
            "the description of an input",
        );
        if type_name.is_empty() {
            draft.spans.untyped.push(draft.inputs.len());
        }
        draft.name_fits(
            &type_name,
            "the type of an input",
            source.place(node.slice()),
        );
        draft
            .input_names
            .insert(name.as_str().into(), draft.inputs.len());
        draft.inputs.push(crate::plan::Input {
            name: name.into(),
            type_name: type_name.into(),
            description: description.into(),
        });
    }
}
