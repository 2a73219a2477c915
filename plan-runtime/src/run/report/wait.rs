//! The waits of steps: for the answer of a gate, for a value from outside, and for a turn at a throttle.

use std::time::Duration;

/// A time from a start to an end.
pub(super) type Span = (Duration, Duration);

/// The least time of waits that reports for people mention. The gate of a program answers faster.
pub(super) const LEAST: Duration = Duration::from_millis(200);

/// A wait of a call for an answer or for its turn, or the wait of an `await` for its value. [`StepReport::waits`](super::StepReport::waits) returns the waits of a step.
#[derive(Clone, Debug)]
pub struct WaitReport {
    pub(in crate::run) element: Vec<usize>,
    pub(in crate::run) reason: WaitReason,
    pub(in crate::run) started: Duration,
    pub(in crate::run) ended: Option<Duration>,
}

/// The reason for a [wait](WaitReport).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitReason {
    /// The call needs the answer of a [gate](crate::run::Gate), such as the approval of a person. There is no wait if the gate answers at once.
    Answer,
    /// The `await` needs its value from outside.
    Value,
    /// The call needs its turn at a [throttle](crate::run::Throttle), or room among the questions of the run.
    Turn,
}

impl WaitReport {
    /// Returns the index in each list of a `for`, the outermost first. The slice is empty without a `for`.
    pub fn element(&self) -> &[usize] {
        &self.element
    }

    /// Returns the reason for the wait.
    pub fn reason(&self) -> WaitReason {
        self.reason
    }

    /// Returns the start of the wait, counted from the start of the run.
    pub fn started(&self) -> Duration {
        self.started
    }

    /// Returns the end of the wait, counted from the start of the run. Returns `None` for a wait that has not ended.
    pub fn ended(&self) -> Option<Duration> {
        self.ended
    }

    /// Returns `true` if a page draws the wait, and the time of a step includes the wait.
    pub(super) fn is_shown(&self) -> bool {
        let took = self.ended.map(|ended| ended.saturating_sub(self.started));
        self.reason == WaitReason::Value || took.is_none_or(|took| took >= LEAST)
    }
}

impl WaitReason {
    pub(super) const ALL: [Self; 3] = [Self::Answer, Self::Value, Self::Turn];

    /// Returns the reason in one word: `answer`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Value => "value",
            Self::Turn => "turn",
        }
    }

    /// Returns `true` for a wait for a person or another program, and `false` for a wait for a throttle.
    pub fn is_outside(self) -> bool {
        match self {
            Self::Answer | Self::Value => true,
            Self::Turn => false,
        }
    }

    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::Answer => "for an answer",
            Self::Value => "for a value",
            Self::Turn => "for its turn",
        }
    }
}
