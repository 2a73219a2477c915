//! The rules of plan JSON: detection, and the notation of references in messages.

use super::read::PlanJson;
use crate::dynamic::dialects::reading::Members;
use crate::dynamic::dialects::recognize::{Outline, Sign};
use crate::dynamic::dialects::references::{Places, ReferenceTarget, Scan, Style, quote};
use crate::dynamic::dialects::rules::{Compat, Recognition, Rules};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::{
    self, absent, default, element, reference, segment, source, template,
};
use crate::plan::{Absent, Segment};
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
    inputs_in: |_, _| HashSet::new(),
    compat: Compat {
        unknown_step_may_be_text: false,
        allow_absence: |_, _| {},
    },

    style: |to, _| {
        let (ReferenceTarget::Step(_, name)
        | ReferenceTarget::Input(name)
        | ReferenceTarget::Value(name)
        | ReferenceTarget::Local(_, name)) = to;
        Some(Style::rust(name))
    },
    object: Some(form),
    literal: str::to_owned,
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
    let is_more =
        |part: &Segment| part.is_each() || part.optional || !matches!(part.absent, Absent::Error);
    if !path.iter().any(is_more) {
        let pointer = jsonptr::PointerBuf::from_tokens(path.iter().filter_map(Segment::token));
        return member(reference::POINTER, &quote(pointer.as_str()));
    }
    let parts = path.iter().map(|part| {
        let optional = part.optional.then(|| member(segment::OPTIONAL, "true"));
        let (token, absent) = match part.token() {
            Some(token) => (quote(&token.decoded()), absent(&part.absent)),
            None => {
                let each = member(segment::EACH, &quote(element::ELEMENT));
                let more: Vec<String> = std::iter::once(each).chain(optional).collect();
                return format!("{{{}}}", more.join(", "));
            }
        };
        let absent = absent.map(|it| member(segment::ABSENT, &it));
        let more: Vec<String> = absent.into_iter().chain(optional).collect();
        if more.is_empty() {
            return token;
        }
        format!(
            "{{{}, {}}}",
            member(segment::TOKEN, &token),
            more.join(", ")
        )
    });
    let parts: Vec<String> = parts.collect();
    member(reference::PATH, &format!("[{}]", parts.join(", ")))
}

/// Writes the effect of a missing part.
fn absent(absent: &Absent) -> Option<String> {
    Some(match absent {
        Absent::Error => return None,
        Absent::Default(null) if null.is_null() => quote(absent::NULL),
        Absent::Default(value) => format!("{{{}}}", member(default::DEFAULT, &value.to_string())),
        Absent::End => quote(absent::END),
        Absent::Failure => quote(absent::FAILURE),
    })
}

fn member(name: &str, value: &str) -> String {
    format!("{}: {value}", quote(name))
}
