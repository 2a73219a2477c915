//! The errors of blocks, and of called plans: the enclosing plan names the steps that failed inside.

use super::Error;
use super::left::LeftWork;
use super::path::Elements;
use super::path::StepPath;
use super::run::{Cause, FailedStep, Interrupt, RunError, StepError, Undoing};
use crate::plan::Role;
use crate::print::MessageName;
use std::sync::Arc;

/// The position of a block in the enclosing plan: the step, the element, and the number of the attempt.
#[derive(Clone)]
pub(crate) struct BlockPlace {
    pub(crate) step: String,
    pub(crate) element: Vec<usize>,
    pub(crate) attempt: u32,
}

impl BlockPlace {
    /// Returns the path in the enclosing plan for a path in the block.
    fn path(&self, inner: &StepPath) -> StepPath {
        let (step, element) = (MessageName(&self.step), Elements(&self.element));
        StepPath {
            path: format!("{}{element}.{}", self.step, inner.path),
            written: Some(format!("{step}{element}.{inner}")),
        }
    }

    fn paths(&self, inner: &[StepPath]) -> Vec<StepPath> {
        inner.iter().map(|path| self.path(path)).collect()
    }

    /// Returns the failures with their paths in the enclosing plan.
    pub(crate) fn failures(&self, inner: &[FailedStep]) -> impl Iterator<Item = FailedStep> {
        inner.iter().map(|failure| FailedStep {
            step: self.path(&failure.step),
            blocked: self.paths(&failure.blocked),
            ..failure.clone()
        })
    }

    pub(crate) fn undoing(&self, inner: &Undoing) -> Undoing {
        Undoing {
            undone: self.paths(&inner.undone),
            not_undone: self.paths(&inner.not_undone),
        }
    }

    /// Returns the undoing of a step that was not undone itself. The error does not name the steps inside.
    fn not_undone(&self) -> Undoing {
        let (step, element) = (MessageName(&self.step), Elements(&self.element));
        let step = StepPath {
            path: format!("{}{element}", self.step),
            written: Some(format!("{step}{element}")),
        };
        Undoing {
            undone: Vec::new(),
            not_undone: vec![step],
        }
    }

    /// Returns a failure of the block itself.
    fn failure(&self, error: StepError) -> FailedStep {
        FailedStep {
            step: StepPath::name(&self.step),
            element: self.element.clone(),
            tool: None,
            error,
            attempts: self.attempt,
            blocked: Vec::new(),
            role: Role::Work,
        }
    }
}

impl StepError {
    /// Creates the error of a failed block. `instead` is the reason for its early end, if it has one.
    pub(crate) fn of_block(run: RunError, instead: Option<Self>, place: &BlockPlace) -> Self {
        let own = instead.or_else(|| match run.cause() {
            Cause::Steps | Cause::Interrupted(Interrupt::Limit(_)) => None,
            Cause::Output(error) | Cause::Panicked(error) => Some(error.clone()),
            _ => Some(Self::tool(Error::permanent(run.to_string()))),
        });
        let failures: Vec<FailedStep> = place.failures(run.failures()).collect();
        let undoing = place.undoing(run.undoing_of());
        match own {
            Some(error) if failures.is_empty() && undoing.is_empty() => error,
            own => {
                let own = own.map(|error| place.failure(error));
                let failures = own.into_iter().chain(failures).collect();
                Self::block(run.plan().to_owned(), failures, undoing)
            }
        }
    }

    /// Converts the error of a call that ran a plan: the enclosing plan names the failed steps, as for a block.
    pub(crate) fn of_call(self, place: impl FnOnce() -> BlockPlace) -> Self {
        let Some(run) = self.as_named() else {
            return self;
        };
        let place = place();
        let failures = place.failures(run.failures()).collect();
        let undoing = place.undoing(run.undoing_of());
        Self::block(run.plan().to_owned(), failures, undoing)
    }

    /// Returns the error of the called plan, if the enclosing plan lists the failures in that error by their names.
    pub(crate) fn as_named(&self) -> Option<&RunError> {
        let Self::Tool(error) = self else {
            return None;
        };
        // A tool that sets a code or the transience on its error describes the failure itself.
        let is_all = |run: &&RunError| {
            matches!(run.cause(), Cause::Steps)
                && error.code().is_none()
                && error.is_transient() == run.is_transient()
        };
        error.downcast_ref::<RunError>().filter(is_all)
    }

    /// Returns the effects that the error leaves, under their names in the enclosing plan.
    pub(crate) fn left(&self, place: &BlockPlace) -> Undoing {
        match self {
            Self::Block(run) => run.undoing_of().clone(),
            Self::Tool(error) => match error.downcast_ref::<RunError>() {
                Some(run) => place.undoing(run.undoing_of()),
                None if error.downcast_ref::<LeftWork>().is_some() => place.not_undone(),
                None => Undoing::default(),
            },
            _ => Undoing::default(),
        }
    }

    fn block(plan: String, failures: Vec<FailedStep>, undoing: Undoing) -> Self {
        let run = RunError::of(plan, Cause::Steps, failures);
        Self::Block(Arc::new(run.undoing(undoing)))
    }
}

impl Undoing {
    pub(crate) fn is_empty(&self) -> bool {
        self.undone.is_empty() && self.not_undone.is_empty()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.undone.extend(other.undone);
        self.not_undone.extend(other.not_undone);
    }
}
