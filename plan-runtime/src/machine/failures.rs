//! The failures of steps and scopes.

use super::event::CallError;
use super::ids::{ErrorId, StepId};
use std::fmt;

/// A step with everything around it, from the step of the plan to the innermost step.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trail(pub Vec<TrailPart>);

/// A step, or an element of it, or an attempt of an element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrailPart {
    /// The step.
    pub step: StepId,
    /// The position in each list around the element, or the number of a round.
    pub element: Vec<u32>,
    /// The attempt, or 0 for the step itself.
    pub attempt: u32,
}

/// The reason why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// An error, which the driver has.
    Error(ErrorId),
    /// The condition of a loop still held after the maximum number of rounds.
    TooManyRounds(u32),
    /// The run needs more than it may have.
    Full(Full),
}

/// The part of its [`Capacity`](super::Capacity) that a run has used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Full {
    /// Scopes that exist at one time.
    Scopes,
    /// Steps of scopes that exist at one time.
    Slots,
    /// Calls, waits and timers at one time.
    Calls,
    /// Scopes inside each other.
    Depth,
    /// Called plans inside each other.
    Plans,
    /// Elements of all lists and rounds of all loops.
    Elements,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scopes => "too many blocks and rounds exist at one time",
            Self::Slots => "too many steps exist at one time",
            Self::Calls => "too many calls, waits and timers exist at one time",
            Self::Depth => "too many plans and blocks are inside each other",
            Self::Plans => "too many plans are inside each other",
            Self::Elements => "the run has too many elements and rounds",
        })
    }
}

impl std::error::Error for Full {}

/// The cause that ended a scope before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cutoff {
    /// Another step, or another element of the step, has failed, and the run drops calls after a failure.
    /// [`Event::Exhausted`](super::Event::Exhausted) has this cause as well.
    Beside,
    /// The run was cancelled.
    Cancelled,
    /// The run has passed its deadline.
    Late,
    /// The scope has reached a time limit of its step.
    Limit,
    /// The run needs more than it may have, so that nothing is undone.
    Full,
}

/// The [`Duty`](super::Duty) of a step that has failed. Failures of the work come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureRole {
    /// The step is part of the work.
    Work,
    /// The step is an undo step, or inside one.
    Undo,
    /// The step always runs, or is inside such a step.
    Always,
    /// The failure is not the result of its step or scope, which has another failure or has recovered. The result of the run keeps the failure, because it is
    /// lasting.
    Left,
}

/// The failure of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepFailure {
    /// The step, or the element that has failed.
    pub trail: Trail,
    /// The reason.
    pub reason: Reason,
    /// `true` if another attempt may help.
    pub transient: bool,
    /// `true` if [`Recovery::Replace`](super::Recovery::Replace) must not absorb the failure. [`Recovery::Catch`](super::Recovery::Catch) may absorb
    /// it.
    pub lasting: bool,
    /// The steps that did not run because of the failure.
    pub blocked: Vec<Trail>,
    /// The duty of the step.
    pub role: FailureRole,
}

/// The failure of a step or a scope, with the results of its undo steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Failures {
    /// The failures. The first failure is the result of the step or the scope.
    pub steps: Vec<StepFailure>,
    /// The steps that were undone.
    pub undone: Vec<Trail>,
    /// The completed steps whose undo steps have failed or did not run.
    pub not_undone: Vec<Trail>,
    /// The cause, if the scope was ended before its time. Steps of the scope may have failed before.
    pub cutoff: Option<Cutoff>,
}

impl StepFailure {
    /// Creates a failure of work.
    pub(super) fn new(trail: Trail, reason: Reason) -> Self {
        Self {
            trail,
            reason,
            transient: false,
            lasting: false,
            blocked: Vec::new(),
            role: FailureRole::Work,
        }
    }

    /// Returns the number of attempts of the step or the element.
    pub fn attempts(&self) -> u32 {
        self.trail.0.last().map_or(1, |it| it.attempt)
    }

    /// Adds the properties of an error of the driver.
    pub(super) fn by(self, error: CallError) -> Self {
        Self {
            transient: error.transient,
            lasting: error.lasting,
            ..self
        }
    }
}

impl Failures {
    /// Returns `true` if another attempt may help.
    pub fn is_transient(&self) -> bool {
        !self.is_lasting() && self.steps.first().is_some_and(|it| it.transient)
    }

    /// Returns `true` if another value may not replace the failure.
    pub(super) fn is_lasting(&self) -> bool {
        !self.not_undone.is_empty() || self.steps.iter().any(|it| it.lasting)
    }

    /// Returns the number of attempts of the first failure.
    pub(super) fn attempts(&self) -> u32 {
        self.steps.first().map_or(1, StepFailure::attempts)
    }

    pub(super) fn of(failure: StepFailure) -> Self {
        Self {
            steps: vec![failure],
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.steps.extend(other.steps);
        self.undone.extend(other.undone);
        self.not_undone.extend(other.not_undone);
    }

    /// Adds the lasting parts of an absorbed failure.
    pub(super) fn add_absorbed(&mut self, failures: Self) {
        if failures.is_lasting() {
            self.add(failures.of_undo_steps());
        }
    }

    /// Keeps only the results of undo steps and the lasting failures, for a step or a scope whose result is another failure.
    pub(super) fn of_undo_steps(mut self) -> Self {
        self.steps
            .retain(|it| it.role == FailureRole::Undo || it.lasting);
        for failure in &mut self.steps {
            if failure.role != FailureRole::Undo {
                failure.role = FailureRole::Left;
            }
        }
        self
    }
}
