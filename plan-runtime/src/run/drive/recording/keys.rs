//! The keys of records, and notes about ends.

use super::super::super::durable::{BRANCH, FAILED, MADE_UP, UNDONE, of_element};
use super::super::super::recorded;
use super::super::scene::Scene;
use super::super::task::Of;
use crate::error::Elements;
use crate::machine::{Failures, Part, ScopeId};
use crate::plan::{Block, Body, Role};
use serde_json::Value;

/// The keys of the records of a run.
#[derive(Clone, Copy)]
pub(in super::super) struct Keys<'s, 'x>(pub(in super::super) &'s Scene<'x>);

impl Keys<'_, '_> {
    /// Returns the beginning of the keys of a scope's records.
    pub(in super::super) fn prefix(self, scope: ScopeId) -> String {
        let outer = self.0.outer(scope);
        outer.map_or_else(String::new, |outer| {
            outer.key_inside(self.0.beside_of(scope))
        })
    }

    /// Returns the key of a step, or of an element of the step.
    pub(in super::super) fn of_step(
        self,
        scope: ScopeId,
        step: usize,
        element: &[usize],
    ) -> String {
        let id = &self.0.values.scope(scope).plan.steps[step].id;
        of_element(&self.prefix(scope), id, element)
    }

    /// Returns the key of an attempt.
    pub(in super::super) fn of_attempt(self, of: &Of, step: usize, attempt: u32) -> String {
        let element = self.0.element_of(of);
        format!("{}@{attempt}", self.of_step(of.scope, step, &element))
    }

    /// Returns the key of the attempt of a part.
    pub(in super::super) fn of_part(self, scope: ScopeId, part: &Part) -> String {
        let (step, element) = (
            self.0.values.place_of(scope, part.slot.index()),
            self.0.element(part),
        );
        format!("{}@{}", self.of_step(scope, step, &element), part.attempt)
    }

    /// Returns the key of the answer of the gates about a call.
    pub(super) fn of_answer(self, of: &Of, step: usize) -> String {
        let element = self.0.element_of(of);
        self.of_step(of.scope, step, &element) + "?gate"
    }

    /// Returns the key of an answer about all elements of a step that make the same call.
    pub(super) fn of_answers(self, of: &Of, step: usize, number: usize) -> String {
        let it = self.0.values.scope(of.scope);
        let first = it.actions + it.graph.actions[step] as usize;
        let key = self.of_step(of.scope, step, &[]);
        format!("{key}?gate{}", number - first)
    }
}

/// EndNotes how parts of a run with a journal have ended, for `Server::retry_failed`.
pub(in super::super) struct EndNotes<'s, 'x>(pub(in super::super) &'s Scene<'x>);

impl EndNotes<'_, '_> {
    /// EndNotes that an undo step has undone a step with this lasting path.
    pub(in super::super) fn undone(&self, scope: ScopeId, undo: usize, path: &str) {
        let key = || Keys(self.0).of_step(scope, undo, &[]) + UNDONE;
        self.end(key, Value::from(path));
    }

    /// EndNotes that the only call of an undo step has succeeded, before the record of the call: a failure beside the step may end the run before the record has its turn.
    pub(in super::super) fn undo_call(&self, scope: ScopeId, undo: usize) {
        let steps = &self.0.values.scope(scope).plan.steps;
        if let Role::Undo(undone) = steps[undo].role
            && is_one_call(&steps[undo].body)
        {
            let path = of_element(&self.0.lasting_prefix(scope), &steps[undone].id, &[]);
            self.undone(scope, undo, &path);
        }
    }

    /// EndNotes which block of a step runs, if the names of its steps do not tell. `Server::retry_failed` needs the block.
    pub(in super::super) fn branch(&self, part: &Part, block: &Block) {
        let scope = self.0.scope_of(part);
        let step = self.0.values.place_of(scope, part.slot.index());
        let body = &self.0.values.scope(scope).plan.steps[step].body;
        if self.0.run.durable.is_some()
            && let Some(number) = recorded::branch(body, block)
        {
            let key = || Keys(self.0).of_part(scope, part) + BRANCH;
            self.end(key, Value::from(number));
        }
    }

    /// EndNotes that something made up for a failure of a step or of an element of the step. The failed attempt is part of the key: after `Server::retry_failed`,
    /// another attempt may follow.
    pub(in super::super) fn made_up(
        &self,
        scope: ScopeId,
        part: &Part,
        failures: Option<&Failures>,
    ) {
        let depth = self.0.values.scope(scope).depth;
        let failure = failures.and_then(|failures| failures.steps.first());
        let Some(failed) = failure.and_then(|failure| failure.trail.0.get(depth)) else {
            return;
        };
        let element: Vec<usize> = failed.element.iter().map(|at| *at as usize).collect();
        let place = if part.element == Part::WHOLE {
            &[][..]
        } else {
            &element
        };
        let step = self.0.values.place_of(scope, part.slot.index());
        let note = format!("{MADE_UP}{}@{}", Elements(&element), failed.attempt);
        self.end(
            || Keys(self.0).of_step(scope, step, place) + &note,
            Value::Null,
        );
    }

    /// EndNotes that a plan or block has failed, unless the plan is the run.
    pub(in super::super) fn failed(&self, scope: ScopeId) {
        // Without a grace, nothing in the run comes to an end after an interrupt.
        if self.0.stops.stopped.is_some() && self.0.stops.grace.is_zero() {
            return;
        }
        let has_last = self.0.values.scope(scope).graph.last.is_some();
        if self.0.outer(scope).is_some() && (has_last || self.0.machine.view().has_kept(scope)) {
            self.end(|| Keys(self.0).prefix(scope) + FAILED, Value::Null);
        }
    }

    /// EndNotes how something ended, for `Server::retry_failed`.
    fn end(&self, key: impl FnOnce() -> String, body: Value) {
        if let Some(durable) = &self.0.run.durable {
            durable.note_end(key(), body.to_string());
        }
    }
}

/// Returns `true` if a step with this body makes at most one call.
fn is_one_call(body: &Body) -> bool {
    match body {
        Body::Action(_) => true,
        Body::If(branches) => branches.iter().all(|branch| is_one_call(&branch.body)),
        _ => false,
    }
}
