//! The calls that a step may still start.

use super::event::StepStatus;
use super::ids::{ScopeId, StepSlot};
use super::parts::{AttemptPhase, Phase};
use super::view::MachineView;

/// The calls that a step may still start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// A call may start, and waits at most for a permit.
    Ready,
    /// A call may start later.
    Open,
    /// No call starts.
    Ended,
}

impl MachineView<'_> {
    /// Returns the scope that an attempt of a step has opened, if the scope has not ended.
    pub fn opened(
        self,
        (scope, place): (ScopeId, usize),
        element: &[usize],
        attempt: u32,
    ) -> Option<ScopeId> {
        let (first, _) = self.slots(scope);
        let slot = StepSlot(first.0 + place as u32);
        let run = self.0.run_of(scope, self.0.scopes[scope].step(slot))?;
        let mut attempts = self.0.runs[run].attempts.rows.iter();
        let tried = attempts.find(|it| {
            let is_open = it.phase != AttemptPhase::Over && it.number == attempt;
            is_open && {
                let places = self.places(slot, it.element).into_iter();
                places
                    .map(|place| place as usize)
                    .eq(element.iter().copied())
            }
        });
        tried?.inside()
    }

    /// Returns what may still start in the step at this place in the plan of a scope.
    pub fn outlook(self, scope: ScopeId, place: usize) -> Outlook {
        let (first, _) = self.slots(scope);
        let slot = StepSlot(first.0 + place as u32);
        let (hot, it) = (self.0.hot[slot], &self.0.scopes[scope]);
        match hot.status() {
            // Undo steps and always steps had begun, so the work must not continue.
            StepStatus::Waiting if hot.is_work() != self.works(scope) => match it.phase {
                Phase::Undo if hot.is_always() || !hot.is_work() => Outlook::Open,
                Phase::Always if hot.is_always() => Outlook::Open,
                _ => Outlook::Ended,
            },
            StepStatus::Waiting if it.is_stopping && hot.is_work() => Outlook::Ended,
            StepStatus::Waiting if hot.is_work() && hot.is_ready() => Outlook::Ready,
            StepStatus::Waiting => Outlook::Open,
            StepStatus::Running => match self.0.run_of(scope, it.step(slot)) {
                Some(run) if self.0.runs[run].is_in_line() => Outlook::Ready,
                _ => Outlook::Open,
            },
            _ => Outlook::Ended,
        }
    }
}
