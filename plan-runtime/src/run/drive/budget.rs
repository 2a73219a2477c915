//! The calls that a run may make, and the bytes that it may hold.

use super::super::context::Held;
use crate::error::StepError;
use crate::plan::Action;
use crate::resolve::{MemoryBudget, ResolveError};

impl Held {
    #[inline(always)]
    pub(super) fn room(&self) -> MemoryBudget {
        self.allowance.room(self)
    }

    /// Counts an attempt to call a tool, and the call if the call `is_new`.
    #[inline(always)]
    pub(super) fn charge(&self, action: &Action, is_new: bool) -> Result<(), StepError> {
        if !self.allowance.counts() || action.tool.is_none() || self.count_here(is_new) {
            return Ok(());
        }
        self.charge_all(is_new)
    }

    #[cold]
    fn charge_all(&self, is_new: bool) -> Result<(), StepError> {
        let call = if is_new { self.call() } else { Ok(()) };
        let counted = call.and_then(|()| self.attempt());
        counted.map_err(StepError::arguments)
    }

    /// Counts a call whose attempts count later.
    pub(super) fn charge_call(&self) -> Result<(), StepError> {
        if !self.allowance.counts() {
            return Ok(());
        }
        self.call().map_err(StepError::arguments)
    }

    /// Returns `true` if the run may hold `bytes` more.
    #[inline(always)]
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.room().left
    }

    /// The error of an output that the run may not hold.
    #[cold]
    pub(super) fn no_room(&self) -> StepError {
        StepError::output(self.exceeded())
    }

    /// The error of something else that the run may not hold.
    #[cold]
    pub(super) fn full(&self) -> StepError {
        StepError::arguments(self.exceeded())
    }

    fn exceeded(&self) -> ResolveError {
        let full = MemoryBudget {
            left: 0,
            ..self.room()
        };
        full.exceeded()
    }
}
