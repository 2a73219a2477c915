//! Tables whose rows are used again: calls and questions.

use super::event::Ask;
use super::ids::{BodyId, CallId, RunId, ScopeId};

/// Ids of plain calls are below.
pub(super) const COLD_CALLS: u32 = 1 << 31;

/// A call, a wait or a timer of a step that is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallRow {
    pub(super) run: RunId,
    /// The attempt of the run, or `NO_ATTEMPT` for a timer of the whole run.
    pub(super) attempt: u32,
    pub(super) kind: CallKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Call,
    Await,
    Backoff,
    Every,
    Timeout,
    Deadline,
}

/// So many bits tell a call and its timers apart.
const TIMERS: u32 = 2;

pub(super) const NO_ATTEMPT: u32 = u32::MAX;

/// A row of the table of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowState {
    Free,
    Open(CallRow),
    /// The machine ignores the call. A command that drops the call may be in the queue.
    Closed,
    /// A closed call that the driver has never started.
    Unknown,
}

/// The calls, waits and timers of the steps that are not plain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallTable {
    rows: Vec<RowState>,
    free: Vec<u32>,
    /// Rows that become free as soon as the driver has taken all commands. A command may drop the call.
    closed: Vec<u32>,
}

impl CallTable {
    /// Adds a call, unless there are too many.
    pub(super) fn open(&mut self, row: CallRow, most: u32) -> Option<CallId> {
        self.add(row, most.min(COLD_CALLS >> TIMERS))
    }

    /// Adds a timer. A call has at most three, so there are always enough rows.
    pub(super) fn open_timer(&mut self, row: CallRow) -> Option<CallId> {
        self.add(row, COLD_CALLS)
    }

    fn add(&mut self, row: CallRow, most: u32) -> Option<CallId> {
        if let Some(at) = self.free.pop() {
            self.rows[at as usize] = RowState::Open(row);
            return Some(CallId(COLD_CALLS | at));
        }
        let at = u32::try_from(self.rows.len()).ok();
        let at = at.filter(|at| *at < most)?;
        self.rows.push(RowState::Open(row));
        Some(CallId(COLD_CALLS | at))
    }

    pub(super) fn get(&self, call: CallId) -> Option<CallRow> {
        let at = call.0.checked_sub(COLD_CALLS)?;
        match self.rows.get(at as usize) {
            Some(RowState::Open(row)) => Some(*row),
            _ => None,
        }
    }

    /// Has a timer belong to another attempt of its run.
    pub(super) fn move_to(&mut self, timer: CallId, attempt: u32) {
        if let RowState::Open(row) = &mut self.rows[(timer.0 ^ COLD_CALLS) as usize] {
            row.attempt = attempt;
        }
    }

    pub(super) fn close(&mut self, call: CallId) {
        let at = call.0 ^ COLD_CALLS;
        let row = &mut self.rows[at as usize];
        if let RowState::Open(_) = row {
            *row = RowState::Closed;
            self.closed.push(at);
        }
    }

    /// Returns `true` if the driver has to start a call. A closed call is not started, and not dropped.
    pub(super) fn tell(&mut self, call: CallId) -> bool {
        let row = &mut self.rows[(call.0 ^ COLD_CALLS) as usize];
        if let RowState::Closed = row {
            *row = RowState::Unknown;
        }
        matches!(row, RowState::Open(_))
    }

    /// Returns `true` if the driver has started a call.
    pub(super) fn is_known(&self, call: CallId) -> bool {
        let row = call.0.checked_sub(COLD_CALLS);
        row.is_none_or(|row| self.rows[row as usize] != RowState::Unknown)
    }

    pub(super) fn recycle(&mut self) {
        for at in &self.closed {
            self.rows[*at as usize] = RowState::Free;
        }
        self.free.append(&mut self.closed);
    }

    /// The rows that were ever needed at one time.
    pub(super) fn capacity(&self) -> usize {
        self.rows.len()
    }
}

/// A question that has no answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenAsk {
    Body {
        run: RunId,
        body: BodyId,
        element: u32,
    },
    Again {
        run: RunId,
        attempt: u32,
    },
    Amounts(RunId),
    Output(ScopeId),
}

impl OpenAsk {
    pub(super) fn run(&self) -> Option<RunId> {
        match self {
            Self::Body { run, .. } | Self::Again { run, .. } | Self::Amounts(run) => Some(*run),
            Self::Output(_) => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asks {
    rows: Vec<(u32, Option<OpenAsk>)>,
    free: Vec<u32>,
}

impl Asks {
    pub(super) fn open(&mut self, asked: OpenAsk) -> Ask {
        let at = self.free.pop().unwrap_or_else(|| {
            self.rows.push((0, None));
            (self.rows.len() - 1) as u32
        });
        let (generation, row) = &mut self.rows[at as usize];
        *row = Some(asked);
        Ask {
            row: at,
            generation: *generation,
        }
    }

    pub(super) fn is_open(&self, ask: Ask) -> bool {
        let row = self.rows.get(ask.row as usize);
        row.is_some_and(|row| row.0 == ask.generation && row.1.is_some())
    }

    /// Takes a question that is to be answered.
    pub(super) fn take(&mut self, ask: Ask) -> Option<OpenAsk> {
        if self.is_open(ask) {
            self.close(ask.row)
        } else {
            None
        }
    }

    fn close(&mut self, at: u32) -> Option<OpenAsk> {
        let (generation, row) = &mut self.rows[at as usize];
        // A row without a new generation is not used again.
        if let Some(next) = generation.checked_add(1) {
            *generation = next;
            self.free.push(at);
        }
        row.take()
    }

    /// Drops questions. Returns their number.
    pub(super) fn drop_where(&mut self, is_dropped: impl Fn(&OpenAsk) -> bool) -> u32 {
        let mut dropped = 0;
        for at in 0..self.rows.len() {
            if self.rows[at].1.as_ref().is_some_and(&is_dropped) {
                self.close(at as u32);
                dropped += 1;
            }
        }
        dropped
    }

    /// The questions that were ever open at one time.
    pub(super) fn capacity(&self) -> usize {
        self.rows.len()
    }
}
