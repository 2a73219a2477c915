//! Requests to an engine: to make a call, and to record a decision of Rust code.

use super::StepError;
use super::catch::catch;
use super::context::{CallContext, LastingPaths};
use super::deciding::Keeper;
use super::engine::{Engine, EngineCall, EngineFuture};
use crate::resolve::{MemoryBudget, StoredValue};
use serde_json::Value;
use serde_json::value::to_raw_value;
use std::time::Instant;

/// Returns a call's arguments, which include the decisions of Rust code in them.
pub(super) fn arguments_on(
    engine: &dyn Engine,
    has_code: bool,
    context: &CallContext,
    make: &mut dyn FnMut() -> Result<Value, StepError>,
) -> Result<Value, StepError> {
    if !has_code {
        return make();
    }
    decided_on(engine, context.key() + "?arguments", make)
}

/// Returns a decision of Rust code, which the engine records so that it never changes.
pub(super) fn decided_on(
    engine: &dyn Engine,
    key: String,
    decide: &mut dyn FnMut() -> Result<Value, StepError>,
) -> Result<Value, StepError> {
    let keeper = Keeper::Engine(engine);
    let decided = keeper.decided(key, (false, false), || catch(decide).flatten());
    decided.unwrap_or_else(|misfit| {
        let misfit = misfit.map_or_else(String::new, |error| error.to_string());
        Err(StepError::arguments(serde::de::Error::custom(misfit)))
    })
}

/// Makes a call through an engine.
pub(super) fn call_on(
    engine: &dyn Engine,
    (tool, arguments): (&str, &Value),
    context: &CallContext,
    fits: fn(&Value) -> Result<(), serde_json::Error>,
    room: MemoryBudget,
) -> Result<EngineFuture<Result<StoredValue, StepError>>, StepError> {
    let arguments = to_raw_value(arguments)
        .map_err(|error| StepError::arguments(serde::de::Error::custom(error)))?;
    let now = engine.now();
    let time_left = |deadline: Instant| {
        let left = deadline.saturating_duration_since(now).as_millis();
        u64::try_from(left).unwrap_or(u64::MAX)
    };
    let LastingPaths { all, this } = context.lasting_paths();
    let outcome = engine.call(EngineCall {
        tool: tool.to_owned(),
        arguments,
        run: context.run_id().to_owned(),
        plan: context.plan().to_owned(),
        step: context.step().to_owned(),
        element: context.element().to_vec(),
        path: context.to_string(),
        lasting_attempt: (this != all).then_some(this),
        lasting: all,
        undone: context.undone_inside(),
        attempt: context.attempt(),
        time: context.deadline().map(time_left),
    });
    let run = context.run().cloned();
    Ok(Box::pin(async move {
        let outcome = outcome.await.read();
        let outcome =
            outcome.map_err(|error| StepError::output(serde::de::Error::custom(error)))?;
        if let Some(run) = run {
            run.take_undone(outcome.undone);
        }
        let output = outcome.result?;
        fits(&output).map_err(|error| StepError::output(serde::de::Error::custom(error)))?;
        StoredValue::made(output, room).map_err(StepError::output)
    }))
}
