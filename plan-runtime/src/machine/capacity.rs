//! The capacity of a run, and the calls and attempts that are left.

use super::failures::Full;
use super::ids::StepSlot;
use super::word::SCOPES;

/// The most that a run may have of each thing. A run that needs more is over at once: its calls are dropped, nothing is undone, and no fallback applies.
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
    /// Calls of tools and of plans, without further attempts.
    pub total_calls: u64,
    /// Attempts of all calls of tools and of plans.
    pub total_attempts: u64,
}

impl Capacity {
    /// The most that ids can tell apart, a depth that the stack of a thread holds, and any number of calls.
    pub const DEFAULT: Self = Self {
        scopes: SCOPES,
        slots: 1 << 31,
        calls: 1 << 30,
        depth: 128,
        plans: 128,
        elements: u64::MAX,
        total_calls: u64::MAX,
        total_attempts: u64::MAX,
    };
}

/// The calls and attempts that a run may still make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StartsLeft {
    /// Calls that have enough attempts left for one each.
    pub(super) calls: u64,
    /// Calls beyond.
    more_calls: u64,
    /// Attempts beyond.
    more_attempts: u64,
}

impl StartsLeft {
    pub(super) fn new(capacity: &Capacity) -> Self {
        let (calls, attempts) = (capacity.total_calls, capacity.total_attempts);
        let both = calls.min(attempts);
        Self {
            calls: both,
            more_calls: calls - both,
            more_attempts: attempts - both,
        }
    }

    /// Counts an attempt of a call.
    pub(super) fn count(&mut self, attempt: u32) -> Result<(), Full> {
        if attempt > 1 && self.more_attempts > 0 {
            self.more_attempts -= 1;
            return Ok(());
        }
        self.calls = self
            .calls
            .checked_sub(1)
            .ok_or_else(|| self.full(attempt))?;
        self.more_calls += u64::from(attempt > 1);
        Ok(())
    }

    /// The reason why there is no further attempt.
    pub(super) fn full(&self, attempt: u32) -> Full {
        if attempt == 1 && self.more_calls == 0 {
            Full::TotalCalls
        } else {
            Full::TotalAttempts
        }
    }
}

/// The part of a run that is too much: an attempt of an element of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow {
    pub(super) full: Full,
    pub(super) slot: StepSlot,
    pub(super) element: u32,
    pub(super) attempt: u32,
}
