//! The admission of a plan: its limits and permissions, and a check that its waits can end.

use super::super::super::context::{Allowance, CallContext, Permissions};
use super::super::super::limits::Limits;
use super::super::super::options::Options;
use super::super::super::shared::SharedRun;
use super::super::super::signals::awaited_in;
use crate::error::Cause;
use crate::plan::{Graph, Plan};
use crate::print::some_of;
use std::sync::Arc;
use std::time::Duration;

/// Returns the allowance of the plan of a run: the allowance of the plan around it, unless the options of the run have another.
pub(in super::super) fn allowance(
    options: &mut Options<'_>,
    by_default: Limits,
    outer: Option<&CallContext>,
) -> Arc<Allowance> {
    let around = outer
        .and_then(CallContext::allowance)
        .or(options.among.as_ref());
    let inherited = around.filter(|around| !around.is_of_many());
    let permissions = std::mem::take(&mut options.permissions);
    let Permissions {
        gate,
        only,
        throttles,
    } = &permissions;
    if let (Some(around), None, None, None, [], Limits::DEFAULT) = (
        inherited,
        options.limits,
        gate,
        only,
        &throttles[..],
        by_default,
    ) {
        return Arc::clone(around);
    }
    let around = around.cloned();
    let limits = options.limits.unwrap_or(by_default);
    let time = Some(limits.time).filter(|time| *time < Duration::MAX);
    options.stop.deadline = options.stop.deadline.into_iter().chain(time).min();
    let depth = outer.map_or(0, CallContext::depth_inside);
    Allowance::new(limits, permissions, around, depth)
}

/// Returns an error if a plan must not run in the run, inside this call if there is one.
pub(in super::super) fn may_run(
    (plan, graph): (&Plan, &Graph),
    has_secrets: bool,
    (run, allowance): (&SharedRun, &Allowance),
    call: Option<&CallContext>,
) -> Result<(), Cause> {
    if let Some(cause) = allowance.refuses(plan) {
        return Err(cause);
    }
    if call.is_some() && has_secrets {
        run.may_have_secrets()?;
    }
    can_receive(plan, graph, run, call, allowance.limits())
}

/// Returns an error if a plan waits for values that no handle can send. The limits apply to these values.
fn can_receive(
    plan: &Plan,
    graph: &Graph,
    run: &SharedRun,
    outer: Option<&CallContext>,
    limits: Limits,
) -> Result<(), Cause> {
    let steps = match (&run.inbox, outer) {
        (Some(inbox), None) => {
            inbox.limit(limits);
            return Ok(());
        }
        (None, None) => awaited_in(graph, plan),
        // A wait in an undo step or an always step fails when it starts.
        (None, Some(outer)) if !outer.is_last() => awaited_in(graph, plan),
        (_, Some(_)) => return Ok(()),
    };
    // The path of a step in a list contains `[..]`. The message shows only the names.
    let steps: Vec<String> = steps.iter().map(|path| path.replace("[..]", "")).collect();
    let waits = match &steps[..] {
        [] => return Ok(()),
        [_] => format!(
            "step {} waits for a value, and nobody can send it",
            some_of(&steps)
        ),
        _ => format!(
            "steps {} wait for values, and nobody can send them",
            some_of(&steps)
        ),
    };
    Err(Cause::NoSignals(format!(
        "{waits}: call `Run::signals` before the run starts"
    )))
}
