//! From the error of a step to a failure as a value.

use super::run::{self, Elements, RunError, StepError};
use crate::failure::Failure;
use crate::print::some_of;
use crate::resolve::ErrorKind;

impl Failure {
    /// What became of a step at this path.
    pub(crate) fn of_step(step: String, error: &StepError, attempts: u32) -> Self {
        if let Some(inner) = error.failure() {
            return inner.clone();
        }
        let run = match error {
            StepError::Tool(error) => error.downcast_ref::<RunError>(),
            _ => None,
        };
        let inner = run.and_then(RunError::first);
        match inner.map(Self::from) {
            Some(inner) => {
                let mut failure = Self {
                    step: format!("{step}.{}", inner.step),
                    ..inner
                };
                let not_undone = run.map_or_else(Vec::new, |run| run.not_undone().collect());
                if !not_undone.is_empty() {
                    let steps = some_of(&not_undone);
                    failure.message = format!("{}; not undone: {steps}", failure.message);
                    failure.transient = false;
                }
                failure
            }
            None => Self {
                step,
                code: code_of(error).to_owned(),
                message: error.to_string(),
                transient: error.is_transient(),
                attempts,
            },
        }
    }
}

/// The tool's own code, or that of the kind of error.
fn code_of(error: &StepError) -> &str {
    match error {
        StepError::Tool(error) => error.code().unwrap_or("FAILED"),
        StepError::Failed(failure) => &failure.code,
        StepError::Panic(_) => "PANIC",
        StepError::Arguments(error) | StepError::Fallback(error)
            if error.kind() == ErrorKind::Value =>
        {
            "VALUE"
        }
        StepError::Arguments(_) | StepError::Fallback(_) => "ARGUMENTS",
        StepError::Output(_) => "OUTPUT",
        StepError::Timeout(_) => "TIMEOUT",
        StepError::Deadline(_) => "DEADLINE",
        StepError::Refused(_) => "REFUSED",
        StepError::Limit(_) => "LIMIT",
        StepError::Unknown => "UNKNOWN",
    }
}

/// The same as a value.
impl From<&run::Failure> for Failure {
    fn from(failure: &run::Failure) -> Self {
        let step = format!("{}{}", failure.step, Elements(&failure.element));
        Self::of_step(step, &failure.error, failure.attempts)
    }
}

impl From<run::Failure> for Failure {
    fn from(failure: run::Failure) -> Self {
        Self::from(&failure)
    }
}
