//! Trails, failures and results, made from the state of a run.

use super::core::Core;
use super::ids::{CallId, RowId, RunId, ScopeId, StepId};
use super::loss::{Fault, Loss, Reason, Trail, TrailPart};
use super::rows::CallRow;
use super::state::{Doing, Fate, Owner};
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
        let row = core.desk.calls.get(call)?;
        let tried = core.desk.runs[row.run].tries.get(row.attempt as usize)?;
        match core.arena.tables.bodies[tried.body] {
            StepBody::Open(body) if tried.doing == Doing::Call(call) => Some((row, body)),
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
            let it = &core.desk.runs[run];
            let tried = &it.tries[attempt as usize];
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
        let it = &self.0.desk.runs[run];
        let mut trail = self.trail(it.scope, it.step);
        if let Some(last) = trail.0.last_mut() {
            last.element = it.places(element);
            last.attempt = attempt;
        }
        trail
    }

    /// The failure of an element.
    pub(super) fn fault(self, run: RunId, element: u32, attempt: u32, reason: Reason) -> Fault {
        Fault {
            attempts: attempt,
            ..Fault::new(self.trail_in(run, element, attempt), reason)
        }
    }

    /// The result of a scope that is over.
    pub(super) fn result(self, scope: ScopeId) -> Result<(), Loss> {
        let it = &self.0.arena.scopes[scope];
        if !it.has_failed {
            return Ok(());
        }
        let mut loss = self.undoing(scope);
        loss.cutoff = it.cutoff;
        loss.faults.sort_by_key(|it| it.duty);
        Err(loss)
    }

    /// The failures and the results of undo steps in a scope and in everything inside it.
    pub(super) fn undoing(self, scope: ScopeId) -> Loss {
        let Self(core) = self;
        let it = &core.arena.scopes[scope];
        let mut blocked: BTreeMap<StepId, Vec<Trail>> = BTreeMap::new();
        for (step, by) in &it.blocked {
            let steps = blocked.entry(*by).or_default();
            steps.push(self.trail(scope, *step));
        }
        let mut all = Loss::default();
        for step in core.arena.tables.rows[it.row].steps() {
            if let Some(loss) = it.losses.get(&step) {
                let mut loss = loss.clone();
                if let Some(first) = loss.faults.first_mut() {
                    first
                        .blocked
                        .extend(blocked.remove(&step).unwrap_or_default());
                }
                all.add(loss);
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
    pub(super) fn absorbed_in(self, run: RunId) -> Loss {
        let Self(core) = self;
        let it = &core.desk.runs[run];
        let mut absorbed = it.left.clone();
        for tried in &it.tries {
            if let (Doing::Scope(scope), Fate::Kept) = (&tried.doing, tried.fate) {
                let it = &core.arena.scopes[*scope];
                absorbed.add(it.left.clone());
                // Only always steps can fail in a scope that has succeeded.
                for loss in it.losses.values() {
                    absorbed.add(loss.clone().of_undo_steps());
                }
                for run in it.runs.iter().flatten() {
                    absorbed.add(self.absorbed_in(*run));
                }
            }
        }
        absorbed
    }

    /// The results of undo steps in scopes of a step that its failure does not hold.
    fn left_of(self, run: RunId) -> Loss {
        let it = &self.0.desk.runs[run];
        let mut left = it.left.clone();
        if let Some(noted) = &it.failed {
            left.add(noted.1.clone().of_undo_steps());
        }
        for attempt in it.in_order() {
            let tried = &it.tries[attempt as usize];
            if let (Doing::Scope(scope), Fate::Kept) = (&tried.doing, tried.fate) {
                left.add(self.undoing(*scope).of_undo_steps());
            }
        }
        left
    }
}
