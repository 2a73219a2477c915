//! The state of a step, in eight bytes.

use super::describe::{Duty, Node, NodeBody};
use super::ids::ScopeId;

/// The status of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum StepStatus {
    /// The step has not started.
    Waiting = 0,
    /// The step has started.
    Running = 1,
    /// The step's own work has succeeded.
    Completed = 2,
    /// No branch of the step was taken.
    Skipped = 3,
    /// Another value replaces the step's value, or the value of an element.
    Recovered = 4,
    /// The step has failed.
    Failed = 5,
    /// A step that the step needs has failed.
    Blocked = 6,
    /// The step was dropped.
    Cancelled = 7,
}

const STATUSES: [StepStatus; 8] = [
    StepStatus::Waiting,
    StepStatus::Running,
    StepStatus::Completed,
    StepStatus::Skipped,
    StepStatus::Recovered,
    StepStatus::Failed,
    StepStatus::Blocked,
    StepStatus::Cancelled,
];

const STATUS: u32 = 0b111;
const HAS_UNDO: u32 = 1 << 3;
const UNDO: u32 = 1 << 4;
const ALWAYS: u32 = 1 << 5;
const COUNTS: u32 = 1 << 6;
const PLAIN: u32 = 1 << 7;

/// The number of scopes that the upper three bytes of a word tell apart.
pub(super) const SCOPES: u32 = 1 << 24;

/// The hot state of a step: a cache line has eight of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hot {
    /// The number of steps that the step waits for.
    pub(super) waiting: u32,
    /// The number of the scope in the upper three bytes. The status and the kind of the step in the lowest byte.
    word: u32,
}

impl Hot {
    pub(super) fn new(waiting: u32, node: &Node) -> Self {
        let duty = match node.duty {
            Duty::Work => 0,
            Duty::Undo(_) => UNDO,
            Duty::Always => ALWAYS,
        };
        let plain = if node.is_plain() { PLAIN } else { 0 };
        let counts = if node.body == NodeBody::Call {
            COUNTS
        } else {
            0
        };
        Self {
            waiting,
            word: duty | plain | counts,
        }
    }

    pub(super) fn mark_undo(&mut self) {
        self.word |= HAS_UNDO;
    }

    #[inline]
    pub(super) fn within(self, scope: ScopeId) -> Self {
        Self {
            waiting: self.waiting,
            word: self.word | scope.0 << 8,
        }
    }

    #[inline]
    pub(super) fn scope(self) -> ScopeId {
        ScopeId(self.word >> 8)
    }

    #[inline]
    pub(super) fn status(self) -> StepStatus {
        STATUSES[(self.word & STATUS) as usize]
    }

    #[inline]
    pub(super) fn is_running(self) -> bool {
        self.word & STATUS == StepStatus::Running as u32
    }

    #[inline]
    pub(super) fn set(&mut self, status: StepStatus) {
        self.word = self.word & !STATUS | status as u32;
    }

    /// Starts a step that waits.
    #[inline]
    pub(super) fn start(&mut self) {
        self.word += StepStatus::Running as u32 - StepStatus::Waiting as u32;
    }

    /// Ends a step that runs.
    #[inline]
    pub(super) fn complete(&mut self) {
        self.word += StepStatus::Completed as u32 - StepStatus::Running as u32;
    }

    #[inline]
    pub(super) fn is_plain(self) -> bool {
        self.word & PLAIN != 0
    }

    /// Returns `true` for a plain step of the plan itself.
    #[inline]
    pub(super) fn is_plain_in_root(self) -> bool {
        self.word & (!0xFF | PLAIN) == PLAIN
    }

    /// Returns `true` if the step has not started and waits for nothing.
    pub(super) fn is_ready(self) -> bool {
        self.waiting == 0 && self.word & STATUS == StepStatus::Waiting as u32
    }

    /// Returns `true` if the step is a single call of a tool.
    #[inline]
    pub(super) fn counts(self) -> bool {
        self.word & COUNTS != 0
    }

    #[inline]
    pub(super) fn has_undo(self) -> bool {
        self.word & HAS_UNDO != 0
    }

    #[inline]
    pub(super) fn is_work(self) -> bool {
        self.word & (UNDO | ALWAYS) == 0
    }

    #[inline]
    pub(super) fn is_always(self) -> bool {
        self.word & ALWAYS != 0
    }
}
