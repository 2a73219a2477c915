//! Errors of attempts in records, and the failures of a plan that a tool ran inside its call.
//!
//! After a crash, the error of the enclosing plan contains these failures as before.

use crate::Error;
use crate::error::{Cause, FailedStep, LeftWork, RunError, StepError, StepPath, Undoing};
use crate::failure;
use crate::plan::{Role, ToolInfo};
use crate::resolve::{MOST_CAUSES, Raised, ResolveError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The failure of an attempt. The record keeps the message and the meaning of an error. Only a plan's error keeps its type.
#[derive(Serialize, Deserialize)]
pub(super) struct Failed {
    kind: Kind,
    /// The message of the error. A tool's error has the messages of its causes as well.
    texts: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    permanent: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The time until a retry, or the exceeded time limit, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// Set if a plan inside the call left work that was not undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left: bool,
    /// Set if the message shows no value, since a value is secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hushed: bool,
    /// The failure that the tool returned, or the failure of the step whose value this step needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<failure::Failure>,
    /// The error of a `?`. Records of earlier versions contain only its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raised: Option<Raised>,
    /// The failures of a plan that the tool ran inside its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<FailedPlan>,
    /// The most rounds that a loop may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rounds: Option<u32>,
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
    Rounds,
    Unknown,
}

/// The error of a plan whose steps failed.
#[derive(Serialize, Deserialize)]
pub(super) struct FailedPlan {
    plan: String,
    failures: Vec<RecordedFailure>,
    undoing: Undoing,
    /// The number of errors around the error of the plan.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) depth: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
struct RecordedFailure {
    step: StepPath,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    element: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    error: Failed,
    attempts: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocked: Vec<StepPath>,
    #[serde(default = "work", with = "RecordedRole")]
    role: Role,
}

/// The form of a role in a record.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Role", rename_all = "snake_case")]
enum RecordedRole {
    Work,
    Undo(usize),
    Always,
}

fn work() -> Role {
    Role::Work
}

impl FailedPlan {
    pub(super) fn of(run: &RunError, depth: usize) -> Self {
        let failures = run.failures().iter().map(|failure| RecordedFailure {
            step: failure.step.clone(),
            element: failure.element.clone(),
            tool: failure.tool().map(str::to_owned),
            error: Failed::of(&failure.error),
            attempts: failure.attempts,
            blocked: failure.blocked.clone(),
            role: failure.role,
        });
        Self {
            plan: run.plan().to_owned(),
            failures: failures.collect(),
            undoing: run.undoing_of().clone(),
            depth,
        }
    }

    pub(super) fn into_error(self) -> RunError {
        let failures = self.failures.into_iter().map(|failed| FailedStep {
            step: failed.step,
            element: failed.element,
            tool: failed.tool.map(|tool| Arc::new(ToolInfo::new(tool))),
            error: failed.error.into_error(),
            attempts: failed.attempts,
            blocked: failed.blocked,
            role: failed.role,
        });
        RunError::of(self.plan, Cause::Steps, failures.collect()).undoing(self.undoing)
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Converts milliseconds to a duration. A negative or too large number becomes zero.
fn of_millis(time: f64) -> Duration {
    Duration::try_from_secs_f64(time / 1000.0).unwrap_or_default()
}

/// Returns the failures of a plan that a tool ran inside its call. The error of the enclosing plan lists these failures, and a caught failure has the
/// code of the first of them.
fn plan_of(error: &StepError) -> Option<FailedPlan> {
    let error = error.as_tool()?;
    let run = error.downcast_ref::<RunError>();
    let run = run.filter(|run| matches!(run.cause(), Cause::Steps))?;
    let depth = error.chain().position(|cause| cause.is::<RunError>());
    Some(FailedPlan::of(run, depth?))
}

impl Failed {
    pub(super) fn of(error: &StepError) -> Self {
        let kind = match error {
            StepError::Tool(_) => Kind::Tool,
            StepError::Panic(_) => Kind::Panic,
            StepError::Timeout(_) => Kind::Timeout,
            StepError::Deadline(_) => Kind::Deadline,
            StepError::Arguments(_) if error.code() == "VALUE" => Kind::Value,
            StepError::Output(_) => Kind::Output,
            StepError::Failed(_) => Kind::Failed,
            StepError::Refused(_) => Kind::Refused,
            StepError::NoSignals => Kind::NoSignals,
            StepError::Unknown => Kind::Unknown,
            StepError::Fallback(_) => Kind::Fallback,
            StepError::Arguments(_) | StepError::Limit(_) | StepError::Block(_) => Kind::Arguments,
            StepError::TooManyRounds(_) => Kind::Rounds,
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
        let mut failed = Self {
            kind,
            texts,
            permanent: !error.is_transient(),
            code: None,
            time: None,
            left: error.leaves_work(),
            hushed: false,
            failure: error.failure().cloned(),
            raised: None,
            plan: plan_of(error),
            rounds: None,
        };
        match error {
            StepError::Tool(error) => {
                failed.code = error.code().map(str::to_owned);
                failed.time = error.retry_delay().map(millis);
            }
            StepError::Timeout(limit) | StepError::Deadline(limit) => {
                failed.time = Some(millis(*limit));
            }
            StepError::Arguments(error) => {
                failed.hushed = error.is_hushed();
                failed.raised = Raised::of(error);
            }
            StepError::Output(error) | StepError::Fallback(error) => {
                failed.hushed = error.is_hushed();
            }
            StepError::TooManyRounds(most) => failed.rounds = Some(*most),
            _ => {}
        }
        failed
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
            rounds,
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
                    (None, Some(failure)) => {
                        texts.pop();
                        Error::new(failure)
                    }
                    (None, None) if left => Error::new(LeftWork(texts.pop().unwrap_or_default())),
                    (None, None) => Error::msg(texts.pop().unwrap_or_default()),
                };
                // The contexts around the innermost error.
                while let Some(text) = texts.pop() {
                    error = error.context(text);
                }
                if let Some(code) = code {
                    error = error.with_code(code);
                }
                // The error around a failure or around the error of a plan may have another meaning.
                let wait = Some(time).filter(|time| !time.is_zero());
                StepError::tool(error.meaning(permanent, wait))
            }
            (Kind::Failed, Some(failure)) => StepError::Failed(failure.into()),
            (Kind::Panic, _) => StepError::Panic(text.into()),
            (Kind::Timeout, _) => StepError::Timeout(time),
            (Kind::Deadline, _) => StepError::Deadline(time),
            (Kind::Value, _) => {
                let error = match raised {
                    Some(raised) => raised.into_error(),
                    None => ResolveError::raised(text.clone(), text.into()),
                };
                StepError::Arguments(Arc::new(error.hushed(hushed)))
            }
            (Kind::Fallback, _) => StepError::Fallback(plain(text)),
            (Kind::Output, _) => StepError::Output(plain(text)),
            (Kind::Refused, _) => StepError::Refused(text.into()),
            (Kind::NoSignals, _) => StepError::NoSignals,
            (Kind::Rounds, _) => StepError::TooManyRounds(rounds.unwrap_or_default()),
            (Kind::Unknown, _) => StepError::Unknown,
            (Kind::Arguments | Kind::Failed, _) => StepError::Arguments(plain(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failed, StepError, StepPath};

    #[test]
    fn an_error_of_rounds_keeps_its_code() {
        let recorded = serde_json::to_string(&Failed::of(&StepError::TooManyRounds(3))).unwrap();
        let read: Failed = serde_json::from_str(&recorded).unwrap();
        let error = read.into_error();
        assert_eq!(error.code(), "TOO_MANY_ROUNDS");
        assert_eq!(error.to_string(), StepError::TooManyRounds(3).to_string());
    }

    #[test]
    fn a_forged_path_writes_no_escapes() {
        let forged = r#"{"path": "a", "written": "a\u001b[2J\nok: all is well"}"#;
        let read: StepPath = serde_json::from_str(forged).unwrap();
        let text = read.to_string();
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}
