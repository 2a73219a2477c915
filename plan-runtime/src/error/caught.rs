//! From the error of a step to a failure as a value.

use super::run::{self, Elements, RunError, StepError};
use crate::failure::Failure;
use crate::print::some_shown;
use crate::resolve::ErrorKind;

impl Failure {
    /// What became of a step at this path.
    pub(crate) fn of_step(step: String, error: &StepError, attempts: u32) -> Self {
        if let Some(inner) = error.failure() {
            return inner.clone();
        }
        if let StepError::Block(run) = error
            && let Some(first) = run.first()
        {
            return Self::from(first).left_by(run);
        }
        let run = match error {
            StepError::Tool(error) => error.downcast_ref::<RunError>(),
            _ => None,
        };
        let inner = run.and_then(RunError::first);
        match inner.map(Self::from) {
            Some(inner) => {
                let failure = Self {
                    step: format!("{step}.{}", inner.step),
                    ..inner
                };
                match run {
                    Some(run) => failure.left_by(run),
                    None => failure,
                }
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

impl Failure {
    /// The same with the steps that were not undone: nobody knows what state is left.
    fn left_by(mut self, run: &RunError) -> Self {
        let not_undone = &run.undoing_of().not_undone;
        if !not_undone.is_empty() {
            self.message = format!("{}; not undone: {}", self.message, some_shown(not_undone));
            self.transient = false;
        }
        self
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
        StepError::Block(_) => "FAILED",
        StepError::TooManyRounds(_) => "TOO_MANY_ROUNDS",
        StepError::NoSignals => "NO_SIGNALS",
        StepError::Unknown => "UNKNOWN",
    }
}

/// The same as a value.
impl From<&run::Failure> for Failure {
    fn from(failure: &run::Failure) -> Self {
        let step = format!("{}{}", failure.step(), Elements(&failure.element));
        Self::of_step(step, &failure.error, failure.attempts)
    }
}

impl From<run::Failure> for Failure {
    fn from(failure: run::Failure) -> Self {
        Self::from(&failure)
    }
}
