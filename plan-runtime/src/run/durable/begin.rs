//! Claims a run, and compares it with what was begun.

use super::super::timer::Timer;
use super::{Durable, changes};
use crate::error::Cause;
use crate::journal::{Claimed, Journal, RunInfo};
use crate::plan::Plan;
use crate::print::MessageName;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The journal of a run, and the run's id in it.
pub(in crate::run) struct Target {
    pub(in crate::run) journal: Arc<dyn Journal>,
    pub(in crate::run) id: String,
}

/// A run that was begun, maybe again.
pub(in crate::run) enum Begun {
    Runs(Arc<Durable>),
    /// It has ended with this output, as JSON.
    Ended(String, Arc<Durable>),
}

/// Begins a run of a plan with these inputs, or goes on with it.
pub(in crate::run) fn begin(
    target: Target,
    plan: &Plan,
    inputs: &[Value],
    timer: Arc<dyn Timer>,
) -> Result<Begun, Cause> {
    let Target { journal, id } = target;
    let names = plan.inputs.iter().map(|input| input.name.clone());
    let inputs: Map<String, Value> = names.zip(inputs.iter().cloned()).collect();
    let info = RunInfo {
        plan: plan.name.clone(),
        document: text(plan)?,
        inputs: text(&inputs)?,
    };
    let journaled = |error| Cause::Journal(Arc::new(error));
    let claimed = journal.claim(&id).map_err(journaled)?;
    // From here on it is given back when this is dropped.
    let durable = |before, is_live| {
        let (journal, claim) = (Arc::clone(&journal), claimed.claim.clone());
        Arc::new(Durable::new(
            journal,
            claim,
            Arc::clone(&timer),
            before,
            is_live,
        ))
    };
    let Claimed {
        run, began, end, ..
    } = &claimed;
    let Some(known) = run else {
        let durable = durable(Duration::ZERO, true);
        let described = journal.describe(&durable.claim, &info);
        described.map_err(journaled)?;
        return Ok(Begun::Runs(durable));
    };
    // A clock that was set back does not make the run older than it is.
    let before = SystemTime::now().duration_since(*began).unwrap_or_default();
    let durable = durable(before, false);
    let named = MessageName(&id);
    let damaged = |what: &str, error: serde_json::Error| {
        refused(format!(
            "the {what} of run `{named}` cannot be read from the journal: {error}"
        ))
    };
    let old: Map<String, Value> =
        serde_json::from_str(&known.inputs).map_err(|error| damaged("inputs", error))?;
    if let Some(difference) = changes::of_inputs(&old, &inputs) {
        return Err(refused(format!(
            "run `{named}` was begun with other inputs: {difference}; give this run another id"
        )));
    }
    if known.document != info.document {
        let (old, new): (Value, Value) = (
            serde_json::from_str(&known.document).map_err(|error| damaged("plan", error))?,
            serde_json::from_str(&info.document).map_err(|error| damaged("plan", error))?,
        );
        let next_key = |from: &str| journal.next_key(&durable.claim, from).map_err(journaled);
        let refusals = changes::of_plans(&old, &new, &next_key)?;
        if !refusals.is_empty() {
            let refusals = refusals.join("; ");
            return Err(refused(format!(
                "run `{named}` was begun with another plan: {refusals}; finish it with the plan that it was begun with, or give this run another id"
            )));
        }
    }
    if let Some(end) = end.as_ref().filter(|end| !end.failed) {
        return Ok(Begun::Ended(end.body.clone(), durable));
    }
    if known.document != info.document {
        journal.describe(&durable.claim, &info).map_err(journaled)?;
    }
    Ok(Begun::Runs(durable))
}

fn refused(why: String) -> Cause {
    Cause::Unfit(vec![why])
}

fn text(value: &impl Serialize) -> Result<String, Cause> {
    serde_json::to_string(value).map_err(|error| refused(error.to_string()))
}
