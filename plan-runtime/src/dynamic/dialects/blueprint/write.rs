//! A plan as a step blueprint.

use crate::Plan;
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::dialects::writing::Writer;
use crate::dynamic::dialects::writing::json::{OutputJson, OutputMembers};
use crate::dynamic::{Dialect, Unsupported};
use crate::plan::{Number, Optional, Policy, Reference, Source, Step};
use std::time::Duration;

pub(super) fn write(plan: &Plan) -> Result<String, Unsupported> {
    let mut writer = Writer::new(Dialect::Blueprint, plan, target);
    let json = document(&mut writer);
    writer.finish(&json)
}

fn document<'p>(writer: &mut Writer<'p>) -> OutputJson<'p> {
    writer.check();
    writer.no_inputs();
    let plan = writer.plan;
    let mut top = OutputMembers::default();
    top.add("requestId", plan.name.as_str().into());
    top.text("description", &plan.description);
    let mut steps = Vec::with_capacity(plan.steps.len());
    for (index, step) in plan.steps.iter().enumerate() {
        let action = writer.action(index);
        let known = known(&step.policy);
        writer.policy(&step.policy, &known);
        let after = after(writer, index, step);
        let Some(action) = action else { continue };
        let mut members = OutputMembers::default();
        if step.id != format!("step{index}") {
            members.add("id", step.id.as_str().into());
        }
        members.text("intent", &step.intent);
        if let Some(tool) = &action.tool {
            members.add("tool", tool.name.as_str().into());
            members.text("tool_description", &tool.description);
        }
        members.add("params", writer.arguments(&action.args));
        if !after.is_empty() {
            members.add("dependsOn", OutputJson::List(after));
        }
        if known.optional == Optional::Whole {
            members.add("optional", OutputJson::Bool(true));
        }
        if let Some(retries @ 1..) = known.attempts.checked_sub(1) {
            let retries = Number::Unsigned(retries.into());
            members.add("retryCount", OutputJson::Number(retries));
        }
        if let Some(timeout) = known.timeout.and_then(milliseconds) {
            members.add("timeout", OutputJson::Number(Number::Unsigned(timeout)));
        }
        steps.push(OutputJson::Object(members));
    }
    top.add("steps", OutputJson::List(steps));
    writer.output(&mut top);
    OutputJson::Object(top)
}

/// The part of a policy that a blueprint has.
fn known(policy: &Policy) -> Policy {
    Policy {
        attempts: policy.attempts.max(1),
        timeout: policy
            .timeout
            .filter(|limit| milliseconds(*limit).is_some()),
        optional: match policy.optional {
            Optional::Whole => Optional::Whole,
            Optional::No | Optional::Each => Optional::No,
        },
        ..Policy::DEFAULT
    }
}

/// A time limit, if it is a whole number of milliseconds above 0.
fn milliseconds(limit: Duration) -> Option<u64> {
    let milliseconds = u64::try_from(limit.as_millis()).ok()?;
    (milliseconds > 0 && Duration::from_millis(milliseconds) == limit).then_some(milliseconds)
}

fn after<'p>(writer: &mut Writer<'p>, index: usize, step: &Step) -> Vec<OutputJson<'p>> {
    let mut written = Vec::new();
    for after in step.only_after() {
        if after >= index {
            let name = writer.plan.steps.get(after).map_or("", |step| &step.id);
            let place = writer.here();
            writer.cannot_express(
                place,
                format!("that it waits for `{name}`, which does not come earlier"),
            );
        }
        written.push(after.into());
    }
    written
}

/// A step by its place: a blueprint counts them.
fn target<'w>(
    writer: &'w Writer<'_>,
    reference: &Reference,
) -> Result<ReferenceTarget<'w>, Option<String>> {
    match reference.source {
        Source::Step(step) if writer.is_later(step) => {
            let id = writer.id_of(step, reference)?;
            Err(Some(format!(
                "a reference to `{id}`, which does not come earlier"
            )))
        }
        Source::Step(step) => Ok(ReferenceTarget::Step(step, "")),
        Source::Input(_) | Source::Local(_) => Err(None),
    }
}
