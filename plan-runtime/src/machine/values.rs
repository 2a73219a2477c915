//! The readers of outputs: a driver drops each output after its last reader.
//!
//! A step reads the outputs of other steps from its start to its end. While an output exists, the hot word of its step counts the readers that have not ended. Undo steps count
//! until their scope is over for good.

use super::event::Freed;
use super::ids::{ScopeId, StepId, StepSlot};
use super::state::ScopeRun;
use super::word::{Hot, StepStatus};

/// Values that the driver has to drop: slots, and then scopes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FreedList {
    pub(super) slots: FreedSlots,
    scopes: Vec<ScopeId>,
}

/// The last of the slots that the driver has to drop, counted from 1 on, or 0. The hot word of each leads to the slot before: an output without readers needs no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FreedSlots(u32);

impl FreedList {
    pub(super) fn new() -> Self {
        Self {
            slots: FreedSlots(0),
            scopes: Vec::new(),
        }
    }

    pub(super) fn pop_scope(&mut self) -> Option<Freed> {
        self.scopes.pop().map(Freed::Scope)
    }

    pub(super) fn push_scope(&mut self, scope: ScopeId) {
        self.scopes.push(scope);
    }

    /// Returns `true` if the driver knows of all scopes that it may forget, and of the slots in these.
    pub(super) fn has_told(&self) -> bool {
        self.scopes.is_empty()
    }
}

impl FreedSlots {
    #[inline]
    pub(super) fn pop(&mut self, hot: &mut [Hot]) -> Option<Freed> {
        let slot = self.0.checked_sub(1)?;
        self.0 = std::mem::take(&mut hot[slot as usize].waiting);
        Some(Freed::Output(StepSlot(slot)))
    }

    #[inline]
    fn push(&mut self, hot: &mut Hot, slot: StepSlot) {
        hot.waiting = std::mem::replace(&mut self.0, slot.0 + 1);
    }

    /// A step has ended, and these many readers of its output have not.
    #[inline]
    pub(super) fn end(&mut self, hot: &mut Hot, slot: StepSlot, readers: u32) {
        hot.waiting = readers;
        if readers == 0 {
            self.push(hot, slot);
        }
    }

    /// A plain step has ended that reads the outputs of these steps.
    #[inline]
    pub(super) fn read(&mut self, hot: &mut [Hot], scope: &ScopeRun, steps: &[StepId]) {
        for step in steps {
            let slot = scope.slot(*step);
            self.read_one(&mut hot[slot.index()], slot);
        }
    }

    /// A reader of the outputs of these steps has ended, or will not start. A step that has no output yet will have one reader less.
    pub(super) fn give_up(&mut self, hot: &mut [Hot], scope: &mut ScopeRun, steps: &[StepId]) {
        for step in steps {
            let slot = scope.slot(*step);
            let hot = &mut hot[slot.index()];
            if hot.status().has_output() {
                self.read_one(hot, slot);
            } else {
                *scope.gone.entry(*step).or_default() += 1;
            }
        }
    }

    #[inline]
    fn read_one(&mut self, hot: &mut Hot, slot: StepSlot) {
        hot.waiting -= 1;
        if hot.waiting == 0 {
            self.push(hot, slot);
        }
    }
}

impl StepStatus {
    /// Returns `true` if the step has an output.
    #[inline]
    pub(super) const fn has_output(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped | Self::Recovered)
    }
}
