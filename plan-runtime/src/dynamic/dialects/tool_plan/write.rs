//! A plan as a tool plan.

use crate::Plan;
use crate::dynamic::dialects::recognize;
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::dialects::writing::json::{OutputJson, OutputMembers};
use crate::dynamic::dialects::writing::{StepForm, Writer};
use crate::dynamic::json_node::{JsonNode, Source};
use crate::dynamic::{Dialect, Unsupported};
use crate::plan::{Policy, Reference, Source as From, Step};

pub(super) fn write(plan: &Plan) -> Result<String, Unsupported> {
    let text = document(plan, false)?;
    // Without a call, it could be plan JSON.
    let calls = |step: &Step| step.action().is_some_and(|action| action.tool.is_some());
    if plan.steps.iter().all(calls) || is_recognized(&text) {
        return Ok(text);
    }
    document(plan, true)
}

fn is_recognized(text: &str) -> bool {
    let source = Source::document(text);
    let node = JsonNode::of(text, &source);
    node.is_ok_and(|node| recognize(node) == Some(Dialect::ToolPlan))
}

/// Writes the plan, with a sign of the dialect if necessary.
fn document(plan: &Plan, says_dialect: bool) -> Result<String, Unsupported> {
    let form = StepForm {
        layout: &super::read::LAYOUT,
        known: |_| Policy::DEFAULT,
        order: |writer, index, _| writer.after(index),
    };
    let mut writer = Writer::new(Dialect::ToolPlan, plan, target, form);
    writer.check();
    writer.no_inputs();
    let mut top = OutputMembers::default();
    if plan.name != "plan" {
        top.text("name", &plan.name);
    }
    top.text("description", &plan.description);
    let steps = writer.steps();
    top.add("steps", steps);
    match writer.output_steps() {
        Some(ids) if ids.len() < plan.steps.len() => {
            let ids = ids.into_iter().map(OutputJson::from);
            top.add("output_steps", OutputJson::List(ids.collect()));
        }
        _ => {
            writer.output(&mut top);
            if says_dialect {
                top.add("output_steps", OutputJson::List(Vec::new()));
            }
        }
    }
    writer.finish(&OutputJson::Object(top))
}

/// Writes a step by its ID.
fn target<'w>(
    writer: &'w Writer<'_>,
    reference: &Reference,
) -> Result<ReferenceTarget<'w>, Option<String>> {
    match reference.source {
        From::Step(step) => Ok(ReferenceTarget::Step(step, writer.id_of(step, reference)?)),
        From::Input(_) | From::Local(_) => Err(None),
    }
}
