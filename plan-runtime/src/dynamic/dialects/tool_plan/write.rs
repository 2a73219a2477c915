//! A plan as a tool plan.

use crate::Plan;
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::dialects::writing::Writer;
use crate::dynamic::dialects::writing::json::{OutputJson, OutputMembers};
use crate::dynamic::{Dialect, Unsupported};
use crate::plan::{Reference, Source};

pub(super) fn write(plan: &Plan) -> Result<String, Unsupported> {
    let mut writer = Writer::new(Dialect::ToolPlan, plan, target);
    let json = document(&mut writer);
    writer.finish(&json)
}

fn document<'p>(writer: &mut Writer<'p>) -> OutputJson<'p> {
    writer.check();
    writer.no_inputs();
    let plan = writer.plan;
    let mut top = OutputMembers::default();
    if plan.name != "plan" {
        top.text("name", &plan.name);
    }
    top.text("description", &plan.description);
    let steps = writer.plain_steps();
    top.add("steps", steps);
    match writer.output_steps() {
        Some(ids) if ids.len() < plan.steps.len() => {
            let ids = ids.into_iter().map(OutputJson::from);
            top.add("output_steps", OutputJson::List(ids.collect()));
        }
        _ => writer.output(&mut top),
    }
    OutputJson::Object(top)
}

/// A step by its id.
fn target<'w>(
    writer: &'w Writer<'_>,
    reference: &Reference,
) -> Result<ReferenceTarget<'w>, Option<String>> {
    match reference.source {
        Source::Step(step) => Ok(ReferenceTarget::Step(step, writer.id_of(step, reference)?)),
        Source::Input(_) | Source::Local(_) => Err(None),
    }
}
