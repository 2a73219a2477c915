//! How much a run holds, and how much more it may.

use super::super::StepError;
use super::super::catch::catch;
use super::Schedule;
use crate::resolve::{MemoryBudget, Meter, ResolveError, Scope};

impl Schedule<'_> {
    /// How much room there is for a value.
    #[inline]
    pub(super) fn room(&self) -> MemoryBudget {
        let limits = &self.run.options.limits;
        MemoryBudget {
            value: limits.value,
            total: limits.total,
            left: limits.total.saturating_sub(self.stored),
        }
    }

    /// Whether the run may hold `bytes` more.
    #[inline]
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.run.options.limits.total.saturating_sub(self.stored)
    }

    /// Why an output is not held.
    #[cold]
    pub(super) fn no_room(&self) -> StepError {
        StepError::output(self.full())
    }

    /// Why nothing more is held.
    #[cold]
    pub(super) fn full(&self) -> ResolveError {
        MemoryBudget {
            left: 0,
            ..self.room()
        }
        .exceeded()
    }

    /// Makes a value from what the whole plan can refer to. Returns the value and the bytes that it counts.
    pub(super) fn metered<T>(
        &self,
        make: impl FnOnce(&Scope<'_>) -> T,
    ) -> Result<(T, usize), StepError> {
        self.metered_in(&[], make)
    }

    /// The same, with these local values.
    pub(super) fn metered_in<T>(
        &self,
        locals: &[&crate::resolve::StoredValue],
        make: impl FnOnce(&Scope<'_>) -> T,
    ) -> Result<(T, usize), StepError> {
        let stop = || self.interrupts.look(&self.clock);
        let meter = Meter::new(self.room(), Some(&stop));
        let scope = self.scope().with_locals(locals).metered(&meter);
        let made = catch(|| make(&scope))?;
        Ok((made, meter.spent()))
    }

    /// Adds `bytes` to what a step that is more than a call holds.
    pub(super) fn hold(&mut self, step: usize, bytes: usize) {
        self.flow(step).stored += bytes;
        self.stored += bytes;
    }

    /// A step that is more than a call is over: what it held goes.
    pub(super) fn drop_flow(&mut self, step: usize) {
        if let Some(flow) = self.steps.take_flow(step) {
            self.stored -= flow.stored;
        }
    }
}
