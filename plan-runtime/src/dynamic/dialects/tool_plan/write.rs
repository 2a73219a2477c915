//! A plan as a tool plan.

use crate::Plan;
use crate::dynamic::dialects::references::To;
use crate::dynamic::dialects::writing::Writer;
use crate::dynamic::dialects::writing::json::{Json, Members};
use crate::dynamic::{Dialect, Lacking};
use crate::plan::{Reference, Source};

pub(super) fn write(plan: &Plan) -> Result<String, Lacking> {
    let mut writer = Writer::new(Dialect::ToolPlan, plan, target);
    let json = document(&mut writer);
    writer.finish(&json)
}

fn document<'p>(writer: &mut Writer<'p>) -> Json<'p> {
    writer.check();
    writer.no_inputs();
    let plan = writer.plan;
    let mut top = Members::default();
    if plan.name != "plan" {
        top.text("name", &plan.name);
    }
    top.text("description", &plan.description);
    let steps = writer.steps();
    top.add("steps", steps);
    match writer.output_steps() {
        Some(ids) if ids.len() < plan.steps.len() => {
            let ids = ids.into_iter().map(Json::from);
            top.add("output_steps", Json::List(ids.collect()));
        }
        _ => writer.output(&mut top),
    }
    Json::Object(top)
}

/// A step by its id.
fn target<'w>(writer: &'w Writer<'_>, reference: &Reference) -> Result<To<'w>, Option<String>> {
    match reference.source {
        Source::Step(step) => Ok(To::Step(step, writer.id_of(step, reference)?)),
        Source::Input(_) | Source::Local(_) => Err(None),
    }
}
