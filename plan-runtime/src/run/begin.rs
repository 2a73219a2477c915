//! The start of a run: its journal or its engine, and its inputs.

use super::Cause;
use super::durable::{self, Begun, Inputs};
use super::engine::{Engine, secrets_on_engine};
use super::options::Options;
use super::signals::Receiver;
use super::timer::ThreadTimer;
use crate::plan::Executable;
use crate::resolve::StoredValue;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The start of a run.
pub(super) enum Start<'a> {
    Runs(Result<Vec<StoredValue>, Cause>),
    /// The run waits for its journal.
    Claims(Pin<Box<dyn Future<Output = Result<Begun, Cause>> + Send + 'a>>),
}

/// Begins a run, in its journal if the options name a journal.
pub(super) fn begin<'a>(
    executable: &Executable<'a>,
    inputs: Result<Vec<StoredValue>, Cause>,
    options: &mut Options<'_>,
) -> Result<Start<'a>, Cause> {
    if let Some(engine) = options.engine.clone() {
        return begin_on(engine, executable, inputs, options).map(Start::Runs);
    }
    let Some(mut target) = options.target.take() else {
        return Ok(Start::Runs(inputs));
    };
    if options.outer.is_some() {
        return Err(Cause::Unfit(vec![
            "the journal records a run inside a call with the enclosing run; make only the enclosing run durable".to_owned(),
        ]));
    }
    target.wants_report = options.keeps.report;
    // The keys of calls begin with the id.
    options.id = Some(target.id.clone());
    let inputs = recordable(executable, inputs, options.secrecy.is_some())?;
    let timer = options.timer.get_or_insert_with(|| Arc::new(ThreadTimer));
    let begun = durable::begin(target, executable.plan, inputs, Arc::clone(timer));
    Ok(Start::Claims(Box::pin(begun)))
}

/// Takes a run from its journal. Returns the inputs of the run.
pub(super) fn taken(
    executable: &Executable<'_>,
    begun: Begun,
    options: &mut Options<'_>,
) -> Vec<StoredValue> {
    options.durable = Some(begun.durable);
    receive(executable, options);
    let inputs = begun.inputs.values.into_iter();
    inputs.map(StoredValue::json).collect()
}

/// Begins a run whose calls an engine makes. Returns the inputs.
fn begin_on(
    engine: Arc<dyn Engine>,
    executable: &Executable<'_>,
    inputs: Result<Vec<StoredValue>, Cause>,
    options: &mut Options<'_>,
) -> Result<Result<Vec<StoredValue>, Cause>, Cause> {
    let conflicts = [
        (
            options.target.is_some(),
            "it is durable, but the engine already stores its state",
        ),
        (
            options.outer.is_some(),
            "a run inside a call cannot have an engine, because the engine does not see the call",
        ),
        (
            options.permissions.gate.is_some(),
            "it has a gate, whose answers the engine does not keep; ask in a step, with `await`",
        ),
        (
            !options.permissions.throttles.is_empty(),
            "it has a throttle, which counts only the calls of one process; limit the concurrency of the run, or give the workers a throttle",
        ),
    ];
    let conflicts = conflicts.into_iter().filter(|(is_so, _)| *is_so);
    let conflicts: Vec<String> = conflicts.map(|(_, what)| what.to_owned()).collect();
    if !conflicts.is_empty() {
        return Err(Cause::Unfit(conflicts));
    }
    let inputs = recordable(executable, inputs, options.secrecy.is_some())?;
    if inputs.has_secrets {
        return Err(secrets_on_engine());
    }
    options.seed = Some(engine.seed());
    options.timer = Some(engine);
    receive(executable, options);
    let inputs = inputs.values.into_iter().map(StoredValue::json);
    Ok(Ok(inputs.collect()))
}

/// Prepares the run for values from outside.
fn receive(executable: &Executable<'_>, options: &Options<'_>) {
    let graph = executable.graph.as_ref().ok();
    let plan = graph.map(|graph| graph.shared(executable.plan));
    options.signals.get_or_init(|| Receiver::new(plan));
}

/// Converts the inputs of a run to JSON for its record.
pub(super) fn recordable(
    executable: &Executable<'_>,
    inputs: Result<Vec<StoredValue>, Cause>,
    is_secret: bool,
) -> Result<Inputs, Cause> {
    let graph = executable
        .graph
        .as_ref()
        .map_err(|error| Cause::Plan(Arc::clone(error)))?;
    let has_secrets = graph.secrecy.is_some() || is_secret;
    // A resumed run reads the inputs as JSON.
    let values = inputs.and_then(|inputs| {
        let values = inputs.into_iter().map(StoredValue::into_json);
        values
            .collect::<Result<Vec<Value>, _>>()
            .map_err(Cause::Inputs)
    });
    Ok(Inputs {
        values: hushed_inputs(values, has_secrets)?,
        has_secrets,
    })
}

/// Returns the inputs of a plan, or an error without the values in it if the plan has secrets.
pub(super) fn hushed_inputs<T>(
    inputs: Result<Vec<T>, Cause>,
    has_secrets: bool,
) -> Result<Vec<T>, Cause> {
    inputs.map_err(|cause| match cause {
        Cause::Inputs(error) if has_secrets => Cause::Inputs(error.without_values()),
        cause => cause,
    })
}
