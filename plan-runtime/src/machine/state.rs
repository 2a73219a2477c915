//! The state of a run.

use super::event::Command;
use super::failures::Full;
use super::ids::{CallId, RowId, RunId, ScopeId, StepId, StepSlot, Table};
use super::parts::{Hot, SCOPES, ScopeRun, StepRun};
use super::ready::ReadySet;
use super::rows::{CallTable, Questions};
use super::tables::Tables;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The reaction of a run to the failure of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Start no more steps of the scope.
    Stop,
    /// Start every step that does not need the failed step.
    Continue,
    /// Start no more steps of the scope, and drop its calls.
    Cancel,
}

/// The maximum numbers of scopes, steps, calls and elements of a run. A run that needs more ends at once: its calls are dropped, nothing is undone, and
/// no fallback applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Scopes that exist at one time.
    pub scopes: u32,
    /// Steps of scopes that exist at one time.
    pub slots: u32,
    /// Calls, waits and timers of steps that are not plain, at one time.
    pub calls: u32,
    /// Scopes inside each other.
    pub depth: u32,
    /// Called plans inside each other.
    pub plans: u32,
    /// Elements of all lists and rounds of all loops.
    pub elements: u64,
}

impl Capacity {
    /// The most scopes and steps that ids can tell apart, 2³⁰ calls, a depth that the stack of a thread holds, and any number of elements.
    pub const DEFAULT: Self = Self {
        scopes: SCOPES,
        slots: 1 << 31,
        calls: 1 << 30,
        depth: 128,
        plans: 128,
        elements: u64::MAX,
    };
}

/// The attempt that exceeds the capacity of its run, with its element and its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow {
    pub(super) full: Full,
    pub(super) slot: StepSlot,
    pub(super) element: u32,
    pub(super) attempt: u32,
}

/// The turn of an attempt that begins. A wait always starts at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The attempt is the first in line, so the attempt starts at once.
    Now,
    /// The attempt waits in line.
    InLine,
}

/// A transition that follows from an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Todo {
    /// A step that is not plain, or that is in an inner scope, may start.
    Start(StepSlot),
    /// The phase of a scope may have ended.
    Scope(ScopeId),
    /// A scope has ended.
    Over(ScopeId),
    /// The run of a step may continue or end.
    Run(RunId),
    /// All steps that need a step are undone.
    Undo(ScopeId, StepId),
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    No,
    Yes,
    Told,
}

/// The scopes, steps, calls and questions of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MachineState {
    pub(super) tables: Arc<Tables>,
    /// The arena of steps. The steps of a scope follow each other.
    pub(super) hot: Table<StepSlot, Hot>,
    pub(super) ready: ReadySet,
    pub(super) scopes: Table<ScopeId, ScopeRun>,
    /// The calls that run.
    pub(super) calling: u32,
    /// The number of calls that may start beyond the bounds of the run and of its lists.
    pub(super) extra: u32,
    /// The bounds of the run. `scopes`, `slots` and `elements` contain the remaining amounts.
    pub(super) capacity: Capacity,
    // The fast path for plain steps uses none of the following fields except `certain`.
    /// Scopes that have ended permanently, for [`Command::Free`].
    pub(super) freed: Vec<ScopeId>,
    /// Scopes whose rows are free once the driver has taken all commands.
    pub(super) released: Vec<ScopeId>,
    /// The released scopes of each row, which the next scope of the row reuses.
    pub(super) free_scopes: Table<RowId, Vec<ScopeId>>,
    pub(super) runs: Table<RunId, StepRun>,
    pub(super) calls: CallTable,
    pub(super) questions: Questions,
    /// Calls that run, and whose ends are certain.
    pub(super) certain: BTreeSet<CallId>,
    /// Calls that the driver decides about.
    pub(super) asked: u32,
    /// Steps whose next calls wait, because the driver has deferred a call.
    pub(super) deferred: VecDeque<RunId>,
    /// The number of calls that the driver has decided about, or no longer has to decide about. For each of them, one deferred step may ask again.
    pub(super) decided: u32,
    pub(super) out: VecDeque<Command>,
    /// The run needs more than it may have.
    pub(super) full: Option<Overflow>,
}
