//! Conversion of a step's error to a failure, which is a value.

use super::path::Elements;
use super::run::{self, RunError, StepError};
use crate::failure::Failure;
use crate::print::{Cut, Line, MOST, some_shown};
use crate::resolve::Raised;

impl Failure {
    /// Creates the failure of the step at this path.
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
            None => {
                let raised = match error {
                    StepError::Arguments(error) | StepError::Fallback(error) => Raised::of(error),
                    _ => None,
                };
                let (message, expression) = match raised {
                    Some(it) => (Cut(Line(it.message), MOST).to_string(), it.expression),
                    None => (error.to_string(), None),
                };
                Self {
                    step,
                    code: error.code().to_owned(),
                    message,
                    transient: error.is_transient(),
                    attempts,
                    expression,
                }
            }
        }
    }
}

impl Failure {
    /// Adds the steps that were not undone. The failure becomes permanent, since the remaining state is unknown.
    fn left_by(mut self, run: &RunError) -> Self {
        let not_undone = &run.undoing_of().not_undone;
        if !not_undone.is_empty() {
            self.message = format!("{}; not undone: {}", self.message, some_shown(not_undone));
            self.transient = false;
        }
        self
    }
}

/// Converts a failed step to a value.
impl From<&run::FailedStep> for Failure {
    fn from(failure: &run::FailedStep) -> Self {
        let step = format!("{}{}", failure.step(), Elements(&failure.element));
        Self::of_step(step, &failure.error, failure.attempts)
    }
}

impl From<run::FailedStep> for Failure {
    fn from(failure: run::FailedStep) -> Self {
        Self::from(&failure)
    }
}
