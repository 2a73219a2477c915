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

impl Outlook {
    /// Returns what may still start in the step at this place in the plan of a scope.
    pub fn of(machine: MachineView<'_>, scope: ScopeId, place: usize) -> Self {
        let (state, slot) = (machine.0, slot(machine, scope, place));
        let (hot, it) = (state.hot[slot], &state.scopes[scope]);
        let own_phase = match (hot.is_work(), hot.is_always()) {
            (true, _) => Phase::Work,
            (_, true) => Phase::Always,
            _ => Phase::Undo,
        };
        match hot.status() {
            // Undo steps and always steps had begun, so the work must not continue.
            StepStatus::Waiting if hot.is_work() != machine.works(scope) => Self::Ended,
            StepStatus::Waiting if it.is_stopping && hot.is_work() => Self::Ended,
            StepStatus::Waiting if it.phase == own_phase && hot.is_ready() => Self::Ready,
            StepStatus::Waiting => Self::Open,
            StepStatus::Running => match state.run_of(scope, it.step(slot)) {
                Some(run) if state.runs[run].is_in_line() => Self::Ready,
                _ => Self::Open,
            },
            _ => Self::Ended,
        }
    }
}

/// Returns the scope that an attempt of a step has opened, if the scope has not ended.
pub fn opened(
    machine: MachineView<'_>,
    (scope, place): (ScopeId, usize),
    element: &[usize],
    attempt: u32,
) -> Option<ScopeId> {
    let (state, slot) = (machine.0, slot(machine, scope, place));
    let run = state.run_of(scope, state.scopes[scope].step(slot))?;
    let mut attempts = state.runs[run].attempts.rows.iter();
    let tried = attempts.find(|it| {
        let is_open = it.phase != AttemptPhase::Over && it.number == attempt;
        is_open && {
            let places = machine.places(slot, it.element).into_iter();
            places
                .map(|place| place as usize)
                .eq(element.iter().copied())
        }
    });
    tried?.inside()
}

fn slot(machine: MachineView<'_>, scope: ScopeId, place: usize) -> StepSlot {
    let (first, _) = machine.slots(scope);
    StepSlot(first.0 + place as u32)
}
