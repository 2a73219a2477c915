//! The rules of plan JSON: detection, and the notation of references in messages.

use super::read::PlanJson;
use crate::dynamic::dialects::reading::Members;
use crate::dynamic::dialects::recognize::{Outline, Sign};
use crate::dynamic::dialects::references::{Places, ReferenceTarget, Scan, Style, quote};
use crate::dynamic::dialects::{Compat, Recognition, Rules, step_by_id};
use crate::dynamic::json_node::{JsonNode, JsonType, one_line};
use crate::plan::Segment;
use crate::plan::json::names::{self, reference, source, template};
use std::collections::HashSet;

pub(in crate::dynamic::dialects) static RULES: Rules = Rules {
    name: "plan JSON",
    document: "plan JSON",

    recognition: Recognition {
        sign,
        has_step,
        may_lack_calls: |outline| outline.top.is_some(),
        usual: None,
    },

    syntax: &PlanJson,

    places: Places::Nowhere,
    mark: None,
    scan: |text, _| Scan::of_text(text),
    target: |_, _| None,
    wrappers: &[],
    inputs_in: |_, _| HashSet::new(),
    compat: Compat {
        unknown_step_may_be_text: false,
        allow_absence: |_, _| {},
    },

    step: step_by_id,
    style: |to, _| {
        let (ReferenceTarget::Step(_, name)
        | ReferenceTarget::Input(name)
        | ReferenceTarget::Value(name)
        | ReferenceTarget::Local(_, name)) = to;
        Some(Style::rust(name))
    },
    object: Some(form),
};

fn sign(outline: &Outline<'_>) -> Option<Sign> {
    // Only this dialect has plans without steps.
    let is_empty = outline.steps.is_empty();
    let has_output = outline.has(&[names::plan::OUTPUT]);
    if is_empty && has_output && outline.has(&[names::plan::NAME]) {
        return Some(Sign::Certain);
    }
    let is_likely = outline.has(&[names::plan::INPUTS]) || (is_empty && has_output);
    is_likely.then_some(Sign::Likely)
}

/// Returns `true` if the step calls a tool in the notation of only this dialect.
fn has_step(outline: &Outline<'_>, step: &Members<'_>) -> bool {
    let tool = step.get(names::step::TOOL).map(JsonNode::kind);
    outline.top.is_some() && tool == Some(JsonType::Object)
}

/// Writes a reference as a template.
fn form(to: ReferenceTarget<'_>, path: &[Segment]) -> String {
    let source = match to {
        ReferenceTarget::Step(_, id) => member(source::STEP, &quote(id)),
        // A block reads a local value around it as an input.
        ReferenceTarget::Input(name) | ReferenceTarget::Value(name) => {
            member(source::INPUT, &quote(name))
        }
        ReferenceTarget::Local(number, _) => member(source::LOCAL, &number.to_string()),
    };
    let reads = format!("{{{source}, {}}}", way(path));
    format!("{{{}}}", member(template::REFERENCE, &reads))
}

/// Writes the path as a member of a reference.
fn way(path: &[Segment]) -> String {
    if path.iter().all(Segment::is_plain) {
        let pointer = jsonptr::PointerBuf::from_tokens(path.iter().filter_map(Segment::token));
        return member(reference::POINTER, &quote(pointer.as_str()));
    }
    let path = serde_json::to_string(path).unwrap_or_default();
    member(reference::PATH, &one_line(&path))
}

fn member(name: &str, value: &str) -> String {
    format!("{}: {value}", quote(name))
}
