//! A plan as a step blueprint.

use crate::Plan;
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::dialects::writing::json::{OutputJson, OutputMembers};
use crate::dynamic::dialects::writing::{StepForm, Writer};
use crate::dynamic::{Dialect, Unsupported};
use crate::plan::{Amount, Number, Optional, Policy, Reference, Source};
use std::time::Duration;

pub(super) fn write(plan: &Plan) -> Result<String, Unsupported> {
    let form = StepForm {
        layout: &super::read::LAYOUT,
        known,
        order,
    };
    let mut writer = Writer::new(Dialect::Blueprint, plan, target, form);
    let json = document(&mut writer);
    writer.finish(&json)
}

fn document<'p>(writer: &mut Writer<'p>) -> OutputJson<'p> {
    writer.check();
    writer.no_inputs();
    let plan = writer.plan();
    let mut top = OutputMembers::default();
    top.add("requestId", plan.name.as_str().into());
    top.text("description", &plan.description);
    let steps = writer.steps();
    top.add("steps", steps);
    writer.output(&mut top);
    OutputJson::Object(top)
}

/// Returns the part of a policy that a blueprint can express.
fn known(policy: &Policy) -> Policy {
    Policy {
        attempts: match policy.gives(Amount::Attempts) {
            Some(_) => Policy::DEFAULT.attempts,
            None => policy.attempts.max(1),
        },
        timeout: policy.timeout.filter(|limit| {
            policy.gives(Amount::Timeout).is_none() && milliseconds(*limit).is_some()
        }),
        optional: match policy.optional {
            Optional::Whole => Optional::Whole,
            Optional::No | Optional::Each => Optional::No,
        },
        ..Policy::DEFAULT
    }
}

/// Returns a time limit in milliseconds, if it is a whole number of milliseconds above 0.
fn milliseconds(limit: Duration) -> Option<u64> {
    let milliseconds = u64::try_from(limit.as_millis()).ok()?;
    (milliseconds > 0 && Duration::from_millis(milliseconds) == limit).then_some(milliseconds)
}

/// Returns the members for a step's dependencies and its policy.
fn order<'p>(writer: &mut Writer<'p>, index: usize, known: &Policy) -> OutputMembers<'p> {
    let (plan, mut members) = (writer.scope.plan, OutputMembers::default());
    let after = plan.steps[index].only_after();
    for after in after.iter().filter(|after| **after >= index) {
        let name = plan.steps.get(*after).map_or("", |step| &step.id);
        let construct = format!("that it waits for `{name}`, which does not come earlier");
        writer.cannot_express(writer.here(), construct);
    }
    if !after.is_empty() {
        let after = after.into_iter().map(OutputJson::from);
        members.add("dependsOn", OutputJson::List(after.collect()));
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
    members
}

/// Returns a step as a target by index, since a blueprint numbers its steps.
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
