//! The state of a run.

use super::arena::Arena;
use super::capacity::Capacity;
use super::dispatcher::Dispatcher;
use super::ids::{RunId, ScopeId, StepId, StepSlot};
use std::collections::VecDeque;

/// The reaction of a run to the failure of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Start nothing more of the scope.
    Stop,
    /// Start every step that does not need the failed step.
    Continue,
    /// Start nothing more of the scope, and drop its calls.
    Cancel,
}

/// The turn of an attempt that begins. A wait always starts at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The attempt is the first in line, so the attempt starts at once.
    Now,
    /// The attempt waits in line.
    InLine,
}

/// Work that follows from an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Todo {
    /// A step may start that is not plain, or is in an inner scope.
    Start(StepSlot),
    /// The phase of a scope may have ended.
    Scope(ScopeId),
    /// A scope is over.
    Over(ScopeId),
    /// The run of a step may go on or end.
    Run(RunId),
    /// All steps that need a step are undone.
    Undo(ScopeId, StepId),
}

/// The settings of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) reaction: Reaction,
    pub(super) capacity: Capacity,
    /// `true` to tell the driver the ends of steps.
    pub(super) tells: bool,
    /// `true` to tell the driver the ends of scopes.
    pub(super) tells_scopes: bool,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    No,
    Yes,
    Told,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Core {
    pub(super) arena: Arena,
    pub(super) todo: VecDeque<Todo>,
    pub(super) dispatcher: Dispatcher,
    /// `true` if the driver has nothing to do for steps that are not plain.
    pub(super) is_quiet: bool,
    pub(super) settings: Settings,
    /// `true` once the run was cancelled, has passed its deadline, or is over before its time.
    pub(super) is_stopped: bool,
    pub(super) over: Over,
}
