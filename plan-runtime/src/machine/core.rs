//! The state of a run.

use super::capacity::Capacity;
use super::desk::Desk;
use super::ids::{RowId, RunId, ScopeId, StepId, StepSlot, Table};
use super::loss::Cutoff;
use super::ready::ReadySet;
use super::state::ScopeRun;
use super::tables::Tables;
use super::word::Hot;
use std::collections::VecDeque;
use std::sync::Arc;

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
    /// `true` to keep the state of ended scopes, for a report.
    pub(super) keeps_all: bool,
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
    pub(super) tables: Arc<Tables>,
    pub(super) hot: Vec<Hot>,
    pub(super) ready: ReadySet,
    pub(super) scopes: Table<ScopeId, ScopeRun>,
    pub(super) todo: VecDeque<Todo>,
    pub(super) desk: Desk,
    /// Scopes that are over for good. The driver may forget these.
    pub(super) freed: Vec<ScopeId>,
    /// `true` if the driver has nothing to do for steps that are not plain.
    pub(super) is_quiet: bool,
    // A run of plain steps does not look at the rest.
    /// Scopes whose rows are free once the driver has taken all commands.
    pub(super) released: Vec<ScopeId>,
    /// The last free run of each row of the table of scopes. Each leads to the next by its `open`.
    pub(super) free: Table<RowId, Option<ScopeId>>,
    pub(super) settings: Settings,
    pub(super) stopped: Option<Cutoff>,
    pub(super) over: Over,
}
