//! A view of the state of a run: trails, failures and results, and the [`Part`] of a call, a question or a scope.

use super::event::{CallError, QuestionId, StepStatus};
use super::failures::{Failures, Reason, StepFailure, Trail, TrailPart};
use super::ids::{AttemptId, BodyId, CallId, ErrorId, RunId, ScopeId, StepId, StepSlot};
use super::parts::{Activity, Attempt, AttemptPhase, Owner, Phase, WHOLE};
use super::rows::{COLD_CALLS, OpenQuestion};
use super::state::MachineState;
use super::tables::{StepBody, Tables};
use std::collections::BTreeMap;

/// A view of the state of a run. The state of an inner scope exists until the driver has taken the command that frees the scope.
#[derive(Clone, Copy)]
pub struct MachineView<'m>(pub(super) &'m MachineState);

/// A part of a step that is not plain: a body, in an element of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The step.
    pub step: StepId,
    /// The slot of the step in the arena.
    pub slot: StepSlot,
    /// The number of the body among the bodies of the step, in the order of the source.
    pub body: u32,
    /// The number of the element, from 1 on, or 0 for the step itself. The elements of a list have consecutive numbers.
    pub element: u32,
    /// The number of the call, the scope or the wait in its step. All attempts have this number.
    pub job: u32,
    /// The number of the attempt.
    pub attempt: u32,
    /// The scope that the attempt has opened.
    pub inside: Option<ScopeId>,
}

impl Part {
    /// The number of the step itself among its elements.
    pub const WHOLE: u32 = WHOLE;
}

impl CallId {
    /// The id of no call.
    pub const NONE: Self = Self(u32::MAX);

    /// Returns `true` for the call of a plain step. The id is the number of the step's slot.
    #[inline]
    pub const fn is_plain(self) -> bool {
        self.0 < COLD_CALLS
    }
}

impl<'m> MachineView<'m> {
    /// Returns the errors that the result of the run may still contain. The driver may free all other errors.
    pub fn errors(self) -> impl Iterator<Item = ErrorId> + 'm {
        let Self(state) = self;
        let scopes = state.scopes.rows.iter().flat_map(|it| {
            let own = [&it.left].into_iter().chain(it.ended.as_deref());
            own.chain(it.failures.values())
        });
        let runs = &state.runs.rows;
        let of_runs = runs.iter().flat_map(|it| {
            let failed = it.failed.as_deref().map(|(_, failures)| failures);
            let tried = it
                .attempts
                .rows
                .iter()
                .filter_map(|it| it.failed.as_deref());
            let own = [&it.left].into_iter().chain(failed);
            own.chain(it.absorbed.values()).chain(tried)
        });
        let late = runs.iter().flat_map(|it| {
            let tried = it.attempts.rows.iter().map(|it| it.late);
            tried.chain([it.late]).flatten()
        });
        let failures = scopes.chain(of_runs).flat_map(|it| &it.steps);
        let errors = failures.filter_map(|it| match it.reason {
            Reason::Error(error) => Some(error),
            _ => None,
        });
        errors.chain(late.map(|it| it.error))
    }

    /// Returns the tables of the plan.
    pub fn tables(self) -> &'m Tables {
        &self.0.tables
    }

    /// Returns the failures of a run that has failed, with the results of its undo steps.
    ///
    /// # Errors
    ///
    /// The failures.
    pub fn result(self) -> Result<(), Failures> {
        self.result_of(ScopeId::ROOT)
    }

    /// Returns the failures so far of a run that may not be over, with the results of its undo steps.
    pub fn so_far(self) -> Failures {
        self.undoing(ScopeId::ROOT)
    }

    /// Returns the failure of the attempt before a timer. `None` if the timer is no wait between two attempts.
    pub fn waits_after(self, timer: CallId) -> Option<&'m Failures> {
        let (_, tried) = self.0.attempt_of(timer)?;
        let failed = tried.failed.as_deref();
        failed.filter(|_| tried.activity == Activity::Backoff(timer))
    }

    /// Returns the sizes of five tables: slots, scopes, runs of steps that are not plain, calls and questions.
    pub fn rows(self) -> [usize; 5] {
        let state = self.0;
        [
            state.hot.rows.len(),
            state.scopes.rows.len(),
            state.runs.rows.len(),
            state.calls.capacity(),
            state.questions.capacity(),
        ]
    }

    /// Returns the scope of a slot.
    #[inline]
    pub fn scope_of(self, slot: StepSlot) -> ScopeId {
        self.0.hot[slot].scope()
    }

    /// Returns the scope of a plain call.
    pub fn scope_of_plain(self, call: CallId) -> ScopeId {
        self.scope_of(StepSlot(call.0))
    }

    /// Returns `true` if steps in a scope may have to be undone after the scope has succeeded.
    pub fn can_undo(self, scope: ScopeId) -> bool {
        let state = self.0;
        state.tables.rows[state.scopes[scope].row].can_undo
    }

    /// Returns the first slot of a scope, and the number of its slots.
    pub fn slots(self, scope: ScopeId) -> (StepSlot, usize) {
        let state = self.0;
        let it = &state.scopes[scope];
        let row = &state.tables.rows[it.row];
        (it.slot(StepId(row.first)), row.len as usize)
    }

    /// Returns the part that a call, a wait or a timer belongs to, unless the step is plain.
    pub fn part(self, call: CallId) -> Option<Part> {
        let row = self.0.calls.get(call)?;
        match row.attempt {
            AttemptId::NONE => Some(self.whole(row.run)),
            attempt => Some(self.part_of(row.run, attempt)),
        }
    }

    /// Returns the plan that a call may be, by its position in the list of plans.
    pub fn may_open(self, call: CallId) -> Option<usize> {
        let (_, tried) = self.0.attempt_of(call)?;
        match self.0.tables.bodies[tried.body] {
            StepBody::Open(row) if tried.activity == Activity::Call(call) => Some(row.index()),
            _ => None,
        }
    }

    /// Returns the part that a question is about.
    pub fn asked(self, id: QuestionId) -> Option<Part> {
        Some(match self.0.questions.get(id)? {
            OpenQuestion::Body { run, body, element } => Part {
                body: self.number(run, body),
                element,
                ..self.whole(run)
            },
            OpenQuestion::Again { run, attempt } => self.part_of(run, attempt),
            OpenQuestion::Amounts(run) => self.whole(run),
            OpenQuestion::Fallback { run, element } => Part {
                element,
                ..self.whole(run)
            },
            OpenQuestion::Inputs(scope) | OpenQuestion::Output(scope) => self.owner(scope)?,
        })
    }

    /// Returns `true` if the work of a scope has not ended.
    pub fn works(self, scope: ScopeId) -> bool {
        let phase = self.0.scopes[scope].phase;
        matches!(phase, Phase::Inputs | Phase::Work | Phase::Output)
    }

    /// Returns `true` if a scope inside the scope has succeeded, and has something to undo.
    pub fn has_kept(self, scope: ScopeId) -> bool {
        let state = self.0;
        let has_undo = |inner| {
            let it = &state.scopes[inner];
            let mut steps = state.tables.rows[it.row].steps();
            let is_undone = |step| {
                let status = state.hot[it.slot(step)].status();
                status == StepStatus::Completed && state.tables.undo_of(it.row, step).is_some()
            };
            steps.any(is_undone) || self.has_kept(inner)
        };
        let runs = state.scopes[scope].runs.iter().flatten();
        let mut attempts = runs.flat_map(|run| &state.runs[*run].attempts.rows);
        attempts.any(|tried| {
            matches!(tried.phase, AttemptPhase::Kept | AttemptPhase::IsUndone)
                && tried.inside().is_some_and(has_undo)
        })
    }

    /// Returns the part that has opened a scope. The scope of the whole plan has none.
    pub fn owner(self, scope: ScopeId) -> Option<Part> {
        let Owner { run, attempt } = self.0.scopes[scope].owner?;
        Some(self.part_of(run, attempt))
    }

    /// Returns the number of elements that a step has so far.
    pub fn elements(self, slot: StepSlot) -> u32 {
        let run = self.run(slot);
        run.map_or(0, |run| self.0.runs[run].elements.len() as u32)
    }

    /// Returns the positions of an element in the lists around the element, or the number of a round.
    pub fn places(self, slot: StepSlot, element: u32) -> Vec<u32> {
        match self.run(slot) {
            Some(run) if element != WHOLE => self.0.runs[run].places(element),
            _ => Vec::new(),
        }
    }

    /// Returns the status of a step, by the position of the step in the scope.
    pub fn status(self, scope: ScopeId, place: usize) -> StepStatus {
        let (first, _) = self.slots(scope);
        self.0.hot.rows[first.index() + place].status()
    }

    /// Returns the failure of the failed step of the work that is first in the plan.
    pub fn first_failure(self, scope: ScopeId) -> Option<Failures> {
        let it = &self.0.scopes[scope];
        let mut failures = it.failures.iter();
        let first = failures.find(|(step, _)| self.0.hot[it.slot(**step)].is_work());
        first.map(|(_, failures)| failures.clone())
    }

    /// Returns the failure of a step, or of the first failed step that the step needs.
    pub fn failure(self, scope: ScopeId, place: usize) -> Option<Failures> {
        let it = &self.0.scopes[scope];
        let step = self.step_at(scope, place);
        let by = it.blocked.get(&step).unwrap_or(&step);
        it.failures.get(by).cloned()
    }

    /// Returns the failed step that has blocked a step of a scope. Each step is a position in the scope.
    pub fn blocker(self, scope: ScopeId, place: usize) -> Option<usize> {
        let step = self.step_at(scope, place);
        let by = self.0.scopes[scope].blocked.get(&step)?;
        Some(by.index() - self.step_at(scope, 0).index())
    }

    /// Returns the undo step of a step of a scope. Each step is a position in the scope.
    pub fn undo_of(self, scope: ScopeId, place: usize) -> Option<usize> {
        let row = self.0.scopes[scope].row;
        let undo = self.0.tables.undo_of(row, self.step_at(scope, place))?;
        Some(undo.index() - self.step_at(scope, 0).index())
    }

    fn step_at(self, scope: ScopeId, place: usize) -> StepId {
        let row = self.0.scopes[scope].row;
        StepId(self.0.tables.rows[row].first + place as u32)
    }

    /// Returns the failure of a scope that has ended, if the machine reports the ends of scopes. The scope exists until
    /// the driver has taken all commands.
    pub fn ended(self, scope: ScopeId) -> Option<&'m Failures> {
        self.0.scopes[scope].ended.as_deref()
    }

    /// Returns the failure that a question asks to replace.
    pub fn absorbed(self, id: QuestionId) -> Option<Failures> {
        let OpenQuestion::Fallback { run, element } = self.0.questions.get(id)? else {
            return None;
        };
        let it = &self.0.runs[run];
        if element == WHOLE {
            let mut failures = it.failed.as_ref()?.1.clone();
            failures.add(it.left.clone());
            return Some(failures);
        }
        it.absorbed.get(&element).cloned()
    }

    fn run(self, slot: StepSlot) -> Option<RunId> {
        let scope = self.scope_of(slot);
        let step = self.0.scopes[scope].step(slot);
        self.0.run_of(scope, step)
    }

    /// Returns the number of a body among the bodies of the step.
    fn number(self, run: RunId, body: BodyId) -> u32 {
        let state = self.0;
        let cold = state.runs[run].cold;
        body.0 - state.tables.colds[cold].body.0
    }

    fn whole(self, run: RunId) -> Part {
        let it = &self.0.runs[run];
        Part {
            step: it.step,
            slot: it.slot,
            body: 0,
            element: WHOLE,
            job: 0,
            attempt: 1,
            inside: None,
        }
    }

    fn part_of(self, run: RunId, attempt: AttemptId) -> Part {
        let tried = &self.0.runs[run].attempts[attempt];
        Part {
            body: self.number(run, tried.body),
            element: tried.element,
            job: tried.job,
            attempt: tried.number,
            inside: tried.inside(),
            ..self.whole(run)
        }
    }

    pub(super) fn trail(self, scope: ScopeId, step: StepId) -> Trail {
        let mut trail = self.trail_of(scope);
        trail.0.push(TrailPart {
            step,
            element: Vec::new(),
            attempt: 0,
        });
        trail
    }

    /// Returns the trail of the attempt that opened a scope.
    pub(super) fn trail_of(self, scope: ScopeId) -> Trail {
        let Self(state) = self;
        let mut parts = Vec::new();
        let mut owner = state.scopes[scope].owner;
        while let Some(Owner { run, attempt }) = owner {
            let it = &state.runs[run];
            let tried = &it.attempts[attempt];
            parts.push(TrailPart {
                step: it.step,
                element: it.places(tried.element),
                attempt: tried.number,
            });
            owner = state.scopes[it.scope].owner;
        }
        parts.reverse();
        Trail(parts)
    }

    /// Returns the failure of a step at a slot, or of an element of the step.
    pub(super) fn failure_at(
        self,
        slot: StepSlot,
        element: u32,
        attempt: u32,
        reason: Reason,
    ) -> StepFailure {
        let scope = self.scope_of(slot);
        let mut trail = self.trail_of(scope);
        trail.0.push(TrailPart {
            step: self.0.scopes[scope].step(slot),
            element: self.places(slot, element),
            attempt,
        });
        StepFailure::new(trail, reason)
    }

    /// Returns the failure of an element by an error of the driver.
    pub(super) fn error_in(
        self,
        run: RunId,
        element: u32,
        attempt: u32,
        error: CallError,
    ) -> Failures {
        let reason = Reason::Error(error.error);
        let failure = self.failure_at(self.0.runs[run].slot, element, attempt, reason);
        Failures::of(failure.by(error))
    }

    /// Returns the result of a scope that has ended.
    pub(super) fn result_of(self, scope: ScopeId) -> Result<(), Failures> {
        let it = &self.0.scopes[scope];
        if !it.has_failed {
            return Ok(());
        }
        let mut failures = self.undoing(scope);
        failures.cutoff = it.cutoff;
        failures.steps.sort_by_key(|it| it.role);
        Err(failures)
    }

    /// Returns the failures and the results of undo steps in a scope and in everything inside it.
    pub(super) fn undoing(self, scope: ScopeId) -> Failures {
        let Self(state) = self;
        let it = &state.scopes[scope];
        let mut blocked: BTreeMap<StepId, Vec<Trail>> = BTreeMap::new();
        for (step, by) in self.blockers(scope) {
            let steps = blocked.entry(by).or_default();
            steps.push(self.trail(scope, step));
        }
        let mut all = Failures::default();
        for step in state.tables.rows[it.row].steps() {
            if let Some(failures) = it.failures.get(&step) {
                let mut failures = failures.clone();
                if let Some(first) = failures.steps.first_mut() {
                    first
                        .blocked
                        .extend(blocked.remove(&step).unwrap_or_default());
                }
                all.add(failures);
            }
            let status = |step| state.hot[it.slot(step)].status();
            if let Some(undo) = state.tables.undo_of(it.row, step)
                && status(step) == StepStatus::Completed
            {
                let list = match status(undo) {
                    StepStatus::Completed => &mut all.undone,
                    _ => &mut all.not_undone,
                };
                list.push(self.trail(scope, step));
            }
        }
        all.add(it.left.clone());
        for run in it.runs.iter().flatten() {
            all.add(self.left_of(*run));
        }
        all
    }

    /// Returns the lasting failures that a step and its kept scopes have absorbed.
    pub(super) fn absorbed_in(self, run: RunId) -> Failures {
        let it = &self.0.runs[run];
        let mut absorbed = it.left.clone();
        for scope in it.attempts.rows.iter().filter_map(Attempt::kept) {
            absorbed.add(self.absorbed_of(scope));
        }
        absorbed
    }

    /// Returns the lasting failures that a scope that has succeeded has absorbed.
    pub(super) fn absorbed_of(self, scope: ScopeId) -> Failures {
        let it = &self.0.scopes[scope];
        let mut absorbed = it.left.clone();
        // Only always steps can fail in a scope that has succeeded.
        for failures in it.failures.values() {
            absorbed.add(failures.clone().of_undo_steps());
        }
        for run in it.runs.iter().flatten() {
            absorbed.add(self.absorbed_in(*run));
        }
        absorbed
    }

    /// Returns the results of undo steps in a step, for the failures of its scope, which do not contain these results yet.
    fn left_of(self, run: RunId) -> Failures {
        let it = &self.0.runs[run];
        let mut left = it.left.clone();
        if let Some(noted) = &it.failed {
            left.add(noted.1.clone().of_undo_steps());
        }
        for attempt in it.attempts.in_order() {
            if let Some(scope) = it.attempts[attempt].kept() {
                left.add(self.undoing(scope).of_undo_steps());
            }
        }
        left
    }
}
