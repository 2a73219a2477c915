//! What a record says of an attempt.

use super::failures::FailedPlan;
use crate::Error;
use crate::error::{LeftWork, RunError, StepError};
use crate::failure::Failure;
use crate::resolve::{MOST_CAUSES, Raised, ResolveError};
use crate::run::lasting::Undone;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How an attempt ended.
pub(in crate::run) struct Recorded {
    /// Since the run began.
    pub(in crate::run) started: Duration,
    pub(in crate::run) ended: Duration,
    pub(in crate::run) result: Result<Value, StepError>,
    /// The counts of undone steps in plans that the tool had run inside the call.
    pub(in crate::run) undone: Undone,
}

/// The same as JSON. Times are microseconds since the run began.
#[derive(Serialize)]
struct Body<'b> {
    at: (u64, u64),
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failed>,
    /// Null where it failed.
    value: &'b Value,
    #[serde(skip_serializing_if = "Undone::is_empty")]
    undone: &'b Undone,
}

/// The same as it is read. The value is one by itself: inside another one, it could be too deep.
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

/// How an attempt failed. The record keeps the text and the meaning of an error, and the type only of a plan's error.
#[derive(Serialize, Deserialize)]
pub(super) struct Failed {
    kind: Kind,
    /// What it says; of a tool's error, also what its causes say.
    texts: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    permanent: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// In milliseconds: after how long to try again, or the limit that was exceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// Whether something is left that a plan inside the call did not undo.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left: bool,
    /// Set if the text shows no value, since one of them is secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hushed: bool,
    /// The failure that a tool returned, or which it needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    /// The error of a `?`. Records of earlier versions contain only its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raised: Option<Raised>,
    /// The failures of a plan that the tool ran inside its call, if the plan around the call names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<FailedPlan>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Tool,
    Panic,
    Timeout,
    Deadline,
    Arguments,
    Fallback,
    Value,
    Output,
    Failed,
    Refused,
    NoSignals,
    Unknown,
}

/// The body of a record.
pub(in crate::run) fn encode(
    times: (Duration, Duration),
    result: Result<&Value, &StepError>,
) -> Result<String, serde_json::Error> {
    encode_call(times, result, &Undone::new())
}

/// The body of the record of a call.
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

/// The inputs of a run, by their names.
pub(crate) fn read_inputs(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    let inputs: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    let inputs = inputs
        .into_iter()
        .map(|(name, input)| Ok((name, read(input)?)));
    inputs.collect()
}

/// The same of a plan that is called, in their order.
pub(in crate::run) fn read_values(text: &str) -> Result<Vec<Value>, serde_json::Error> {
    let values: Vec<&RawValue> = serde_json::from_str(text)?;
    values.into_iter().map(read).collect()
}

/// What a record says.
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

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The same back. A negative number, or one that is too large, gives no time at all.
fn of_millis(time: f64) -> Duration {
    Duration::try_from_secs_f64(time / 1000.0).unwrap_or_default()
}

/// Returns the failures of a plan that a tool ran inside its call, if the plan around the call names them.
fn plan_of(error: &StepError) -> Option<FailedPlan> {
    let run = error.as_named()?;
    let depth = error
        .as_tool()?
        .chain()
        .position(|cause| cause.is::<RunError>());
    Some(FailedPlan::of(run, depth?))
}

impl Failed {
    pub(super) fn of(error: &StepError) -> Self {
        let (kind, time) = match error {
            StepError::Tool(error) => (Kind::Tool, error.retry_delay()),
            StepError::Panic(_) => (Kind::Panic, None),
            StepError::Timeout(limit) => (Kind::Timeout, Some(*limit)),
            StepError::Deadline(limit) => (Kind::Deadline, Some(*limit)),
            StepError::Arguments(_) if error.code() == "VALUE" => (Kind::Value, None),
            StepError::Output(_) => (Kind::Output, None),
            StepError::Failed(_) => (Kind::Failed, None),
            StepError::Refused(_) => (Kind::Refused, None),
            StepError::NoSignals => (Kind::NoSignals, None),
            StepError::Unknown => (Kind::Unknown, None),
            StepError::Fallback(_) => (Kind::Fallback, None),
            StepError::Arguments(_)
            | StepError::Limit(_)
            | StepError::Block(_)
            | StepError::TooManyRounds(_) => (Kind::Arguments, None),
        };
        let texts = match error {
            StepError::Tool(error) => {
                let causes = error.chain().take(MOST_CAUSES);
                causes.map(ToString::to_string).collect()
            }
            StepError::Panic(text) | StepError::Refused(text) => vec![text.to_string()],
            StepError::Arguments(error) | StepError::Output(error) | StepError::Fallback(error) => {
                vec![error.to_string()]
            }
            other => vec![other.to_string()],
        };
        let code = match error {
            StepError::Tool(error) => error.code().map(str::to_owned),
            _ => None,
        };
        let hushed = match error {
            StepError::Arguments(error) | StepError::Output(error) | StepError::Fallback(error) => {
                error.is_hushed()
            }
            _ => false,
        };
        Self {
            hushed,
            kind,
            texts,
            permanent: !error.is_transient(),
            code,
            plan: plan_of(error),
            time: time.map(millis),
            left: error.leaves_work(),
            failure: error.failure().cloned(),
            raised: match error {
                StepError::Arguments(error) => error.as_raised(),
                _ => None,
            },
        }
    }

    pub(super) fn into_error(self) -> StepError {
        let Self {
            kind,
            mut texts,
            permanent,
            code,
            time,
            left,
            hushed,
            failure,
            raised,
            plan,
        } = self;
        let time = of_millis(time.unwrap_or_default());
        let text = texts.first().cloned().unwrap_or_default();
        let plain = |text| Arc::new(ResolveError::new(text).hushed(hushed));
        match (kind, failure) {
            (Kind::Tool, failure) => {
                let mut error = match (plan, failure) {
                    (Some(plan), _) => {
                        texts.truncate(plan.depth);
                        Error::new(plan.into_error())
                    }
                    (None, Some(failure)) => Error::new(failure),
                    (None, None) if left => Error::new(LeftWork(texts.pop().unwrap_or_default())),
                    (None, None) => Error::msg(texts.pop().unwrap_or_default()),
                };
                // What was around the innermost.
                while let Some(text) = texts.pop() {
                    error = error.context(text);
                }
                if let Some(code) = code {
                    error = error.with_code(code);
                }
                if permanent {
                    error = error.into_permanent();
                }
                if time > Duration::ZERO {
                    error = error.retry_after(time);
                }
                StepError::tool(error)
            }
            (Kind::Failed, Some(failure)) => StepError::Failed(failure.into()),
            (Kind::Panic, _) => StepError::Panic(text.into()),
            (Kind::Timeout, _) => StepError::Timeout(time),
            (Kind::Deadline, _) => StepError::Deadline(time),
            (Kind::Value, _) => {
                let error = match raised {
                    Some(raised) => ResolveError::of_raised(raised),
                    None => ResolveError::raised(text.clone(), text.into()),
                };
                StepError::Arguments(Arc::new(error.hushed(hushed)))
            }
            (Kind::Fallback, _) => StepError::Fallback(plain(text)),
            (Kind::Output, _) => StepError::Output(plain(text)),
            (Kind::Refused, _) => StepError::Refused(text.into()),
            (Kind::NoSignals, _) => StepError::NoSignals,
            (Kind::Unknown, _) => StepError::Unknown,
            (Kind::Arguments | Kind::Failed, _) => StepError::Arguments(plain(text)),
        }
    }
}
