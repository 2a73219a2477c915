//! The record of an attempt.

use super::failures::Failed;
use crate::error::StepError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The counts of undone steps, by the lasting paths of the steps.
pub(crate) type Undone = BTreeMap<String, u32>;

/// The path of the run itself in [`Undone`], whose count is the number of retries of the run.
pub(crate) const RUN: &str = "";

/// A key in [`Undone`] that no path equals, whose count is the age of the run at its last retry, in milliseconds.
pub(crate) const RETRIED: &str = "@";

/// The end of an attempt.
pub(in crate::run) struct Recorded {
    /// Since the run began.
    pub(in crate::run) started: Duration,
    pub(in crate::run) ended: Duration,
    pub(in crate::run) result: Result<Value, StepError>,
    /// The counts of undone steps in plans that the tool had run inside the call.
    pub(in crate::run) undone: Undone,
}

/// A record to be written as JSON. Times are microseconds since the start of the run.
#[derive(Serialize)]
struct Body<'b> {
    at: (u64, u64),
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failed>,
    /// Null for a failure.
    value: &'b Value,
    #[serde(skip_serializing_if = "Undone::is_empty")]
    undone: &'b Undone,
}

/// A record from the journal. The value is a separate JSON text, since its nesting could be too deep inside another
/// value.
#[derive(Deserialize)]
struct ReadBody<'b> {
    at: (u64, u64),
    #[serde(default)]
    error: Option<Failed>,
    #[serde(borrow, default)]
    value: Option<&'b RawValue>,
    #[serde(default)]
    undone: Undone,
}

/// Writes the body of a record.
pub(in crate::run) fn encode(
    times: (Duration, Duration),
    result: Result<&Value, &StepError>,
) -> Result<String, serde_json::Error> {
    encode_call(times, result, &Undone::new())
}

/// Writes the body of the record of a call.
pub(in crate::run) fn encode_call(
    (started, ended): (Duration, Duration),
    result: Result<&Value, &StepError>,
    undone: &Undone,
) -> Result<String, serde_json::Error> {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let at = (micros(started), micros(ended));
    serde_json::to_string(&match result {
        Ok(value) => Body {
            at,
            error: None,
            value,
            undone,
        },
        Err(error) => Body {
            at,
            error: Some(Failed::of(error)),
            value: &Value::Null,
            undone,
        },
    })
}

fn read(value: &RawValue) -> Result<Value, serde_json::Error> {
    serde_json::from_str(value.get())
}

/// Reads the inputs of a run, by their names.
pub(crate) fn read_inputs(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    let inputs: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    let inputs = inputs
        .into_iter()
        .map(|(name, input)| Ok((name, read(input)?)));
    inputs.collect()
}

/// Reads the values of a called plan, in order.
pub(super) fn read_values(text: &str) -> Result<Vec<Value>, serde_json::Error> {
    let values: Vec<&RawValue> = serde_json::from_str(text)?;
    values.into_iter().map(read).collect()
}

/// Reads the record of an attempt.
pub(in crate::run) fn decode(body: &str) -> Result<Recorded, serde_json::Error> {
    let body: ReadBody<'_> = serde_json::from_str(body)?;
    let (started, ended) = body.at;
    Ok(Recorded {
        started: Duration::from_micros(started),
        ended: Duration::from_micros(ended),
        result: match body.error {
            None => Ok(body.value.map_or(Ok(Value::Null), read)?),
            Some(failed) => Err(failed.into_error()),
        },
        undone: body.undone,
    })
}
