//! The plans that the explanation of each dialect shows, as one story about some mails.
//!
//! They are written in one dialect here, read as plans, and written in the dialect of the explanation. So all dialects have equal
//! examples.

use super::reading::PlanBuilder;
use super::recognize::steps_of;
use super::{Dialect, Profile};
use crate::dynamic::DocumentLimits;
use crate::dynamic::json_node::{JsonNode, Source, one_line};
use crate::plan::{Body, Plan, Step};

/// The tools of the story.
pub(super) const TOOLS: &str = "\
find_mails(sender: string) -> {cc?: string, from: string, id: string, subject: string}[]
next_page(cursor?: string) -> {mails: string[], next?: string}
send(to: string, text: string) -> {id: string}
unsend(id: string) -> any";

/// The first steps of each plan.
const FIRST: &str = r#"{"id": "mails", "tool": "find_mails", "arguments": {"sender": "sarah"}}"#;

/// The steps of an example after the first one, as a tool plan, with a description.
pub(super) struct Example {
    steps: &'static str,
    pub(super) says: &'static str,
}

/// A reference to a part of another output.
pub(super) const SENT: Example = Example {
    steps: r#"{"id": "sent", "tool": "send", "arguments": {"to": "$ref:mails.0.from", "text": "$ref:mails.0.subject"}}"#,
    says: "",
};

/// The members that a step can have instead of a call.
pub(super) const BODIES: [Example; 5] = [
    Example {
        steps: r#"{"id": "told", "if": [
            {"condition": {"compare": [{"len": "$ref:mails"}, ">", 3]}, "then": {"tool": "send", "arguments": {"to": "boss", "text": "Many mails."}}},
            {"then": {"tool": "send", "arguments": {"to": "boss", "text": "Few mails."}}}]}"#,
        says: "the first branch whose condition is true. The last branch, without a condition, is for all other cases.",
    },
    Example {
        steps: r#"{"id": "copied", "if": [{"pattern": "Some(x)", "value": "$ref:mails.0.cc", "then": {"tool": "send", "arguments": {"to": "$ref:x", "text": "Thank you."}}}]}"#,
        says: "a call if a value is present. Inside, `x` is the value.",
    },
    Example {
        steps: r#"{"id": "answers", "for": {"pattern": "x", "list": "$ref:mails", "body": {"tool": "send", "arguments": {"to": "$ref:x.from", "text": "Thank you."}}}}"#,
        says: "a call for each element of a list. Inside, `x` is the element. The output is the list of all outputs.",
    },
    Example {
        steps: r#"{"id": "earlier", "for": {"pattern": "x", "list": "$ref:mails", "body": {"block": {
            "steps": [{"id": "found", "tool": "find_mails", "arguments": {"sender": "$ref:x.from"}}],
            "tail": {"tool": "send", "arguments": {"to": "$ref:x.from", "text": "$ref:found.0.subject"}}}}}}"#,
        says: "several steps, here for each element. The value of a block is its `tail`.",
    },
    Example {
        steps: r#"{"id": "pages", "loop": {"last": "before", "steps": [{"id": "page", "tool": "next_page", "arguments": {"cursor": "$ref:before.next"}}],
            "value": "$ref:page", "while": {"is_some": "$ref:page.next"}}, "policy": {"at_most": 10, "collect": true}}"#,
        says: "repeats the steps while the condition is true, at most `at_most` times. `before` is the value of the previous round, and null in the first round. The output is the value of the last round, or with `collect` the list of the values of all rounds.",
    },
];

/// Examples of order, failures and time.
pub(super) const POLICIES: [Example; 7] = [
    Example {
        steps: r#"{"id": "later", "tool": "send", "arguments": {"to": "boss", "text": "Done."}, "after": ["mails"]}"#,
        says: "starts after another step, without using its output.",
    },
    Example {
        steps: r#"{"id": "sure", "tool": "send", "arguments": {"to": "boss", "text": "Done."}, "policy": {"attempts": 3, "timeout": "10s"}}"#,
        says: "makes up to three attempts if the call fails, each of at most ten seconds.",
    },
    Example {
        steps: r#"{"id": "safe", "tool": "send", "arguments": {"to": "boss", "text": "Done."}, "policy": {"fallback": {"id": "none"}}}"#,
        says: "has the `fallback`, which can be any value, as its output if the call fails.",
    },
    Example {
        steps: r#"{"id": "maybe", "tool": "send", "arguments": {"to": "boss", "text": "Done."}, "policy": {"optional": "whole"}}"#,
        says: "has no output if the call fails, and the plan continues.",
    },
    Example {
        steps: r#"{"id": "tried", "tool": "send", "arguments": {"to": "boss", "text": "Done."}, "policy": {"catch": true}},
            {"id": "failed", "if": [{"condition": {"is_err": "$ref:tried"}, "then": {"tool": "send", "arguments": {"to": "me", "text": "Not sent."}}}]}"#,
        says: "with `catch`, the output is `{\"Ok\": output}` or `{\"Err\": failure}`. `is_ok` and `is_err` are conditions on this output.",
    },
    Example {
        steps: r#"{"id": "draft", "tool": "send", "arguments": {"to": "boss", "text": "Done."}},
            {"id": "undone", "undo": "draft", "tool": "unsend", "arguments": {"id": "$ref:draft.id"}}"#,
        says: "the second step undoes the first step, only if the first step has completed and the plan fails later.",
    },
    Example {
        steps: r#"{"id": "end", "always": true, "tool": "send", "arguments": {"to": "me", "text": "The plan has ended."}}"#,
        says: "runs at the end, after success and failure.",
    },
];

/// A step with one condition of each kind.
const CONDITIONS: &str = r#"{"id": "told", "if": [
    {"condition": {"compare": ["$ref:mails.0.subject", "==", "Lunch?"]}, "then": {"value": 1}},
    {"condition": {"compare": [{"len": "$ref:mails"}, ">=", 1]}, "then": {"value": 1}},
    {"condition": {"is_empty": "$ref:mails"}, "then": {"value": 1}},
    {"condition": {"is_some": "$ref:mails.0.cc"}, "then": {"value": 1}},
    {"condition": {"is_none": "$ref:mails.0.cc"}, "then": {"value": 1}},
    {"condition": {"not": {"is_empty": "$ref:mails"}}, "then": {"value": 1}},
    {"condition": {"all": [{"is_empty": "$ref:mails"}, true]}, "then": {"value": 1}},
    {"condition": {"any": [{"is_empty": "$ref:mails"}, false]}, "then": {"value": 1}}]}"#;

impl Example {
    /// Writes the steps in a dialect, each on one line.
    pub(super) fn written(&self, dialect: Dialect) -> String {
        let steps = steps(dialect, self.steps).into_iter();
        steps.skip(1).collect::<Vec<_>>().join(", ")
    }
}

/// Writes the first step of each example plan.
pub(super) fn first(dialect: Dialect) -> String {
    let mut steps = steps(dialect, SENT.steps).into_iter();
    steps.next().unwrap_or_default()
}

/// Writes one condition of each kind in a dialect.
pub(super) fn conditions(dialect: Dialect) -> Vec<String> {
    let step = steps(dialect, CONDITIONS).pop().unwrap_or_default();
    let source = Source::document(&step);
    let member = |node: JsonNode<'_>, name: &str| {
        let mut members = node.members();
        let found = members.find(|(key, _)| key.text().is_ok_and(|key| key.value == name));
        found.map(|(_, value)| value.slice().to_owned())
    };
    let branches = JsonNode::of(&step, &source).ok();
    let branches = branches
        .and_then(|step| member(step, "if"))
        .unwrap_or_default();
    let source = Source::document(&branches);
    let Ok(list) = JsonNode::of(&branches, &source) else {
        return Vec::new();
    };
    let branches = list.items().into_iter();
    branches
        .filter_map(|branch| member(branch, "condition"))
        .collect()
}

/// Writes the first step and other steps in a dialect, each on one line.
fn steps(dialect: Dialect, others: &str) -> Vec<String> {
    let text = format!(r#"{{"steps": [{FIRST}, {others}]}}"#);
    let written = in_dialect(dialect, &text).unwrap_or_default();
    let source = Source::document(&written);
    let steps = JsonNode::of(&written, &source).map(steps_of);
    let steps = steps.unwrap_or_default().into_iter();
    steps.map(|step| one_line(step.slice())).collect()
}

/// Converts a tool plan to another dialect. A test checks that each dialect can express it.
fn in_dialect(dialect: Dialect, text: &str) -> Option<String> {
    let source = Source::document(text);
    let node = JsonNode::of(text, &source).ok()?;
    let own = Dialect::ToolPlan;
    let mut builder = PlanBuilder::new(own, Profile::Strict, DocumentLimits::DEFAULT);
    builder.allow_values(text.len());
    let mut plan = (own.rules().read)(&mut builder, node)?;
    plan.name = "plan".to_owned();
    if !dialect.rules().guide.by_id {
        number(&mut plan, None);
    }
    dialect.write(&plan).ok()
}

/// Assigns an ID to each step: the ID of a step that has none in its document.
fn number(plan: &mut Plan, around: Option<&str>) {
    for (index, step) in plan.steps.iter_mut().enumerate() {
        if step.id != crate::plan::Block::TAIL {
            step.id = match around {
                None => format!("step{index}"),
                Some(around) => format!("{around}_{index}"),
            };
        }
        let Step { id, body, .. } = step;
        number_in(body, id);
    }
}

fn number_in(body: &mut Body, id: &str) {
    match body {
        Body::Action(_) | Body::Await(_) => {}
        Body::If(branches) => {
            for branch in branches {
                number_in(&mut branch.body, id);
            }
        }
        Body::For(each) => number_in(&mut each.body, id),
        Body::Block(block) => number(&mut block.plan, Some(id)),
        Body::Loop(repeat) => number(&mut repeat.round.plan, Some(id)),
    }
}
