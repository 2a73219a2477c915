//! A look at a run, for reports and for messages.

use super::attempt::Activity;
use super::event::QuestionId;
use super::failures::{Failures, Trail};
use super::ids::{AttemptId, CallId, ScopeId, StepId, StepSlot};
use super::lookup::Lookup;
use super::rows::COLD_CALLS;
use super::state::WHOLE;
use super::tables::Tables;
use super::word::StepStatus;

/// A look at the state of a run. The state of inner scopes that have ended is there only in a run that keeps everything.
#[derive(Clone, Copy)]
pub struct MachineView<'m> {
    pub(super) lookup: Lookup<'m>,
}

/// An attempt of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptView {
    /// The place in each list around the element, or the number of the round.
    pub element: Vec<u32>,
    /// The number of the attempt, from 1 on.
    pub number: u32,
    /// The scope that the attempt has opened.
    pub inside: Option<ScopeId>,
}

impl<'m> MachineView<'m> {
    /// Returns the tables of the plan.
    pub fn tables(self) -> &'m Tables {
        &self.lookup.0.arena.tables
    }

    /// Returns the failures of a run that has failed, with the results of its undo steps.
    ///
    /// # Errors
    ///
    /// The failures.
    pub fn result(self) -> Result<(), Failures> {
        self.lookup.result(ScopeId::ROOT)
    }

    /// Returns the failures so far of a run that may not be over, with the results of its undo steps.
    pub fn so_far(self) -> Failures {
        self.lookup.undoing(ScopeId::ROOT)
    }

    /// Returns the failure of the attempt before a timer. `None` if the timer is no wait between two attempts.
    pub fn waits_after(self, timer: CallId) -> Option<&'m Failures> {
        let core = self.lookup.0;
        let row = core.dispatcher.calls.get(timer)?;
        let attempts = &core.dispatcher.runs[row.run].attempts;
        match &attempts.get(row.attempt)?.activity {
            Activity::Backoff(_, failures) => Some(failures),
            _ => None,
        }
    }

    /// Returns the steps of a scope with their statuses.
    pub fn steps(self, scope: ScopeId) -> Vec<(StepId, StepStatus)> {
        let core = self.lookup.0;
        let it = &core.arena.scopes[scope];
        let steps = core.arena.tables.rows[it.row].steps();
        let status = |step| core.arena.hot[it.slot(step).index()].status();
        steps.map(|step| (step, status(step))).collect()
    }

    /// Returns the slot of a step of a scope.
    #[inline]
    pub fn slot(self, scope: ScopeId, step: StepId) -> StepSlot {
        self.lookup.0.arena.scopes[scope].slot(step)
    }

    /// Returns `true` if a question still has to be answered.
    pub fn is_open(self, id: QuestionId) -> bool {
        self.lookup.0.dispatcher.questions.get(id).is_some()
    }

    /// Returns the failed step that a blocked step needs.
    pub fn blocked_by(self, scope: ScopeId, step: StepId) -> Option<StepId> {
        self.lookup.0.arena.scopes[scope]
            .blocked
            .get(&step)
            .copied()
    }

    /// Returns the attempts of a step of a scope, in the order of their starts.
    pub fn attempts(self, scope: ScopeId, step: StepId) -> Vec<AttemptView> {
        let core = self.lookup.0;
        let it = &core.arena.scopes[scope];
        let hot = core.arena.hot[it.slot(step).index()];
        if hot.is_plain() {
            let has_begun = !matches!(hot.status(), StepStatus::Waiting | StepStatus::Blocked);
            let one = AttemptView {
                element: Vec::new(),
                number: 1,
                inside: None,
            };
            return has_begun.then_some(one).into_iter().collect();
        }
        let Some(run) = self.lookup.0.arena.run_of(scope, step) else {
            return Vec::new();
        };
        let it = &core.dispatcher.runs[run];
        let attempts = it.attempts.iter();
        let begun = attempts.filter(|it| {
            !matches!(
                it.activity,
                Activity::Ready(_) | Activity::Asked(..) | Activity::Backoff(..) | Activity::Every
            )
        });
        let shown = begun.map(|tried| AttemptView {
            element: it.places(tried.element),
            number: tried.number,
            inside: match tried.activity {
                Activity::Scope(scope) => Some(scope),
                _ => None,
            },
        });
        shown.collect()
    }

    /// Returns the step of a call, a wait or a timer, with everything around it.
    pub fn trail(self, call: CallId) -> Option<Trail> {
        let core = self.lookup.0;
        if call.0 < COLD_CALLS {
            let scope = core.arena.hot.get(call.index())?.scope();
            let step = core.arena.scopes[scope].step(StepSlot(call.0));
            let mut trail = self.lookup.trail(scope, step);
            if let Some(last) = trail.0.last_mut() {
                last.attempt = 1;
            }
            return Some(trail);
        }
        let row = core.dispatcher.calls.get(call)?;
        if row.attempt == AttemptId::NONE {
            return Some(self.lookup.trail_in(row.run, WHOLE, 1));
        }
        let tried = &core.dispatcher.runs[row.run].attempts[row.attempt];
        Some(self.lookup.trail_in(row.run, tried.element, tried.number))
    }

    /// Returns the trail of a scope: the attempt that has opened it. The trail of the plan's own scope is empty.
    pub fn trail_of(self, scope: ScopeId) -> Trail {
        self.lookup.trail_of(scope)
    }

    /// Returns the number of rows that the run has needed so far: of steps, scopes, steps that are not plain, calls and questions.
    pub fn rows(self) -> [usize; 5] {
        let core = self.lookup.0;
        [
            core.arena.hot.len(),
            core.arena.scopes.rows.len(),
            core.dispatcher.runs.rows.len(),
            core.dispatcher.calls.capacity(),
            core.dispatcher.questions.capacity(),
        ]
    }
}
