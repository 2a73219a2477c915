//! Tables whose rows are used again: calls and questions.

use super::event::{Pause, QuestionId};
use super::ids::{AttemptId, BodyId, CallId, RunId, ScopeId};

/// The lowest id of a call that is not plain. The ids of plain calls are lower.
pub(super) const COLD_CALLS: u32 = 1 << 31;

/// A call, a wait or a timer of a step that is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallRow {
    pub(super) run: RunId,
    /// The attempt of the run, or [`AttemptId::NONE`] for a timer of the whole run.
    pub(super) attempt: AttemptId,
    pub(super) kind: CallKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Call,
    Await,
    Timer(Pause),
}

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallTable {
    rows: Vec<RowState>,
    free: Vec<u32>,
    /// Rows that become free as soon as the driver has taken all commands. Before that, a queued command may still drop the call of a row.
    closed: Vec<u32>,
    open: u32,
    /// The most calls, waits and timers at one time.
    most: u32,
}

impl CallTable {
    pub(super) fn new(most: u32) -> Self {
        Self {
            rows: Vec::new(),
            free: Vec::new(),
            closed: Vec::new(),
            open: 0,
            most,
        }
    }

    /// Adds a call, a wait or a timer, unless there are too many.
    pub(super) fn open(&mut self, row: CallRow) -> Option<CallId> {
        if self.open >= self.most {
            return None;
        }
        let at = match self.free.pop() {
            Some(at) => {
                self.rows[at as usize] = RowState::Open(row);
                at
            }
            None => {
                let at = u32::try_from(self.rows.len()).ok();
                let at = at.filter(|at| *at < COLD_CALLS)?;
                self.rows.push(RowState::Open(row));
                at
            }
        };
        self.open += 1;
        Some(CallId(COLD_CALLS | at))
    }

    pub(super) fn get(&self, call: CallId) -> Option<CallRow> {
        let at = call.0.checked_sub(COLD_CALLS)?;
        match self.rows.get(at as usize) {
            Some(RowState::Open(row)) => Some(*row),
            _ => None,
        }
    }

    /// Assigns a timer to another attempt of its run.
    pub(super) fn move_to(&mut self, timer: CallId, attempt: AttemptId) {
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
            self.open -= 1;
        }
    }

    /// Notes that a start command is about to reach the driver. Returns `false` for a call that was closed before. The driver then gets no command to
    /// start or to drop this call.
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

    /// Returns the largest number of rows in use at one time.
    pub(super) fn capacity(&self) -> usize {
        self.rows.len()
    }
}

/// A question that has no answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenQuestion {
    Body {
        run: RunId,
        body: BodyId,
        element: u32,
    },
    Again {
        run: RunId,
        attempt: AttemptId,
    },
    Amounts(RunId),
    Inputs(ScopeId),
    Output(ScopeId),
    Fallback {
        run: RunId,
        element: u32,
    },
}

/// The owner of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    Step(RunId),
    Scope(ScopeId),
}

impl OpenQuestion {
    pub(super) fn asker(self) -> Asker {
        match self {
            Self::Body { run, .. }
            | Self::Again { run, .. }
            | Self::Amounts(run)
            | Self::Fallback { run, .. } => Asker::Step(run),
            Self::Inputs(scope) | Self::Output(scope) => Asker::Scope(scope),
        }
    }
}

/// A row of the table of questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct QuestionRow {
    generation: u32,
    open: Option<OpenQuestion>,
}

/// The questions of a run. `StepRun::questions` and `ScopeRun::question` contain the ids of open questions, so the end of a step or a scope visits only
/// its own questions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Questions {
    rows: Vec<QuestionRow>,
    free: Vec<u32>,
}

impl Questions {
    pub(super) fn open(&mut self, asked: OpenQuestion) -> QuestionId {
        let at = self.free.pop().unwrap_or_else(|| {
            self.rows.push(QuestionRow::default());
            (self.rows.len() - 1) as u32
        });
        let row = &mut self.rows[at as usize];
        row.open = Some(asked);
        QuestionId {
            row: at,
            generation: row.generation,
        }
    }

    /// Returns an unanswered question.
    pub(super) fn get(&self, id: QuestionId) -> Option<OpenQuestion> {
        let row = self.rows.get(id.row as usize);
        row.filter(|row| row.generation == id.generation)?.open
    }

    pub(super) fn close(&mut self, id: QuestionId) {
        let row = &mut self.rows[id.row as usize];
        row.open = None;
        // After the last generation, the row is never reused.
        if let Some(next) = row.generation.checked_add(1) {
            row.generation = next;
            self.free.push(id.row);
        }
    }

    /// Returns the largest number of open questions at one time.
    pub(super) fn capacity(&self) -> usize {
        self.rows.len()
    }
}
