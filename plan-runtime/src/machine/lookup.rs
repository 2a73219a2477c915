//! Trails, failures and results, made from the state of a run.

use super::attempt::{Activity, AttemptPhase};
use super::core::Core;
use super::failures::{Failures, Reason, StepFailure, Trail, TrailPart};
use super::ids::{CallId, RowId, RunId, ScopeId, StepId};
use super::rows::CallRow;
use super::state::Owner;
use super::tables::StepBody;
use super::word::StepStatus;
use std::collections::BTreeMap;

/// Looks things up in the state of a run.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'m>(pub(super) &'m Core);

impl Lookup<'_> {
    /// The row of the plan that a call may turn out to be.
    pub(super) fn may_open(self, call: CallId) -> Option<(CallRow, RowId)> {
        let Self(core) = self;
        let row = core.dispatcher.calls.get(call)?;
        let tried = core.dispatcher.runs[row.run].attempts.get(row.attempt)?;
        match core.arena.tables.bodies[tried.body] {
            StepBody::Open(body) if tried.activity == Activity::Call(call) => Some((row, body)),
            _ => None,
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

    /// The trail of the attempt that opened a scope.
    pub(super) fn trail_of(self, scope: ScopeId) -> Trail {
        let Self(core) = self;
        let mut parts = Vec::new();
        let mut owner = core.arena.scopes[scope].owner;
        while let Some(Owner { run, attempt }) = owner {
            let it = &core.dispatcher.runs[run];
            let tried = &it.attempts[attempt];
            parts.push(TrailPart {
                step: it.step,
                element: it.places(tried.element),
                attempt: tried.number,
            });
            owner = core.arena.scopes[it.scope].owner;
        }
        parts.reverse();
        Trail(parts)
    }

    /// The trail of an element of the run of a step.
    pub(super) fn trail_in(self, run: RunId, element: u32, attempt: u32) -> Trail {
        let it = &self.0.dispatcher.runs[run];
        let mut trail = self.trail(it.scope, it.step);
        if let Some(last) = trail.0.last_mut() {
            last.element = it.places(element);
            last.attempt = attempt;
        }
        trail
    }

    /// The failure of an element.
    pub(super) fn failure(
        self,
        run: RunId,
        element: u32,
        attempt: u32,
        reason: Reason,
    ) -> StepFailure {
        StepFailure {
            attempts: attempt,
            ..StepFailure::new(self.trail_in(run, element, attempt), reason)
        }
    }

    /// The result of a scope that is over.
    pub(super) fn result(self, scope: ScopeId) -> Result<(), Failures> {
        let it = &self.0.arena.scopes[scope];
        if !it.has_failed {
            return Ok(());
        }
        let mut failures = self.undoing(scope);
        failures.cutoff = it.cutoff;
        failures.steps.sort_by_key(|it| it.role);
        Err(failures)
    }

    /// The failures and the results of undo steps in a scope and in everything inside it.
    pub(super) fn undoing(self, scope: ScopeId) -> Failures {
        let Self(core) = self;
        let it = &core.arena.scopes[scope];
        let mut blocked: BTreeMap<StepId, Vec<Trail>> = BTreeMap::new();
        for (step, by) in &it.blocked {
            let steps = blocked.entry(*by).or_default();
            steps.push(self.trail(scope, *step));
        }
        let mut all = Failures::default();
        for step in core.arena.tables.rows[it.row].steps() {
            if let Some(failures) = it.failures.get(&step) {
                let mut failures = failures.clone();
                if let Some(first) = failures.steps.first_mut() {
                    first
                        .blocked
                        .extend(blocked.remove(&step).unwrap_or_default());
                }
                all.add(failures);
            }
            let status = |step| core.arena.hot[it.slot(step).index()].status();
            if let Some(undo) = core.arena.tables.undo_of(it.row, step)
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

    /// The work that is left in a step of failures that were caught, also in scopes that have succeeded.
    pub(super) fn absorbed_in(self, run: RunId) -> Failures {
        let Self(core) = self;
        let it = &core.dispatcher.runs[run];
        let mut absorbed = it.left.clone();
        for tried in it.attempts.iter() {
            if let (Activity::Scope(scope), AttemptPhase::Kept) = (&tried.activity, tried.phase) {
                let it = &core.arena.scopes[*scope];
                absorbed.add(it.left.clone());
                // Only always steps can fail in a scope that has succeeded.
                for failures in it.failures.values() {
                    absorbed.add(failures.clone().of_undo_steps());
                }
                for run in it.runs.iter().flatten() {
                    absorbed.add(self.absorbed_in(*run));
                }
            }
        }
        absorbed
    }

    /// The results of undo steps in scopes of a step that its failure does not hold.
    fn left_of(self, run: RunId) -> Failures {
        let it = &self.0.dispatcher.runs[run];
        let mut left = it.left.clone();
        if let Some(noted) = &it.failed {
            left.add(noted.1.clone().of_undo_steps());
        }
        for attempt in it.attempts.in_order() {
            let tried = &it.attempts[attempt];
            if let (Activity::Scope(scope), AttemptPhase::Kept) = (&tried.activity, tried.phase) {
                left.add(self.undoing(*scope).of_undo_steps());
            }
        }
        left
    }
}
