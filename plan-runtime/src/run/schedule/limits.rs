//! How much a run holds and does, and how much more it may.

use super::super::StepError;
use super::super::catch::catch;
use super::super::observe::StepRef;
use super::Schedule;
use crate::error::Interrupt;
use crate::plan::Action;
use crate::print::MessageName;
use crate::resolve::{Limit, MemoryBudget, Meter, ResolveError, Scope};
use std::sync::Arc;

impl Schedule<'_> {
    /// How much room there is for a value.
    #[inline]
    pub(in crate::run) fn room(&self) -> MemoryBudget {
        self.allowance.room(&self.held)
    }

    /// Whether the run may hold `bytes` more.
    #[inline]
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.room().left
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
        self.held.add(bytes);
    }

    /// A step that is more than a call is over: what it held goes.
    pub(super) fn drop_flow(&mut self, step: usize) {
        if let Some(flow) = self.steps.take_flow(step) {
            self.held.remove(flow.stored);
            if let Some(ending) = &mut self.ending {
                ending.ended(step);
            }
        }
    }

    /// Counts an attempt to call a tool, and the call if it `is_new`. The error says why there may be no more.
    #[inline(always)]
    pub(super) fn charge(&self, action: &Action, is_new: bool) -> Option<StepError> {
        if !self.allowance.counts() || action.tool.is_none() || self.held.count_here(is_new) {
            return None;
        }
        self.charge_tool(is_new).err()
    }

    #[inline(never)]
    fn charge_tool(&self, is_new: bool) -> Result<(), StepError> {
        let call = if is_new { self.held.call() } else { Ok(()) };
        call.and_then(|()| self.held.attempt())
            .map_err(StepError::arguments)
    }

    /// Ends the run where a limit is exceeded, be it in another part of it.
    #[inline]
    pub(super) fn look_at_limits(&self) {
        if self.held.is_shared()
            && let Some(place) = self.allowance.exceeded()
        {
            self.interrupts.happen(Interrupt::Limit(Arc::clone(place)));
        }
    }

    /// A limit is exceeded at this place.
    #[cold]
    pub(super) fn exceed(&self, limit: Limit, place: &str) {
        self.allowance.exceed(limit, place);
        if let Some(place) = self.allowance.exceeded() {
            self.interrupts.happen(Interrupt::Limit(Arc::clone(place)));
        }
    }

    /// Whether the run is over because of a limit, maybe one that this failure of a step exceeds.
    #[cold]
    pub(super) fn is_over(&self, step: usize, element: &[usize], error: &StepError) -> bool {
        if let Some(limit) = error.exceeded() {
            let at = StepRef {
                element,
                ..StepRef::whole(self.plan, step, self.outer())
            };
            let tool = at.tool.map(|tool| MessageName(&tool.name));
            let tool = tool.map_or_else(String::new, |tool| format!(" ({tool})"));
            self.exceed(limit, &format!("step `{at}`{tool}: {error}"));
        }
        self.look_at_limits();
        matches!(self.interrupts.happened(), Some(Interrupt::Limit(_)))
    }

    /// Where a limit is exceeded that the plan's output does not keep.
    #[cold]
    pub(super) fn place_of_output(&self, error: &ResolveError) -> String {
        match self.outer() {
            Some(outer) => format!("the output of the plan that step `{outer}` runs: {error}"),
            None => format!("its output: {error}"),
        }
    }
}
