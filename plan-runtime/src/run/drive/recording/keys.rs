//! The keys of records, the decisions of Rust code, and notes about ends.

use super::super::super::StepError;
use super::super::super::deciding::{AS_IT_IS, Decider, Keeper};
use super::super::super::durable::{BRANCH, FAILED, MADE_UP, UNDONE, of_element};
use super::super::super::recorded;
use super::super::scene::Scene;
use super::super::task::Of;
use crate::error::{Elements, Interrupt};
use crate::machine::{Failures, Part, ScopeId};
use crate::plan::{Block, Body, Role};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

impl Scene<'_> {
    /// Returns the beginning of the keys of a scope's records.
    pub(in super::super) fn prefix(&self, scope: ScopeId) -> String {
        let outer = self.outer(scope);
        outer.map_or_else(String::new, |outer| outer.key_inside(self.beside_of(scope)))
    }

    /// Returns the name of the plan that a scope is, if a tool runs the plan inside its call.
    pub(in super::super) fn beside_of(&self, scope: ScopeId) -> Option<&str> {
        let is_root = self.values.scope(scope).owner.is_none();
        self.beside.as_deref().filter(|_| is_root)
    }

    /// Returns the key of a step, or of an element of the step.
    pub(in super::super) fn key(&self, scope: ScopeId, step: usize, element: &[usize]) -> String {
        let id = &self.values.scope(scope).plan.steps[step].id;
        of_element(&self.prefix(scope), id, element)
    }

    /// Returns the key of an attempt.
    pub(in super::super) fn key_of_attempt(&self, of: &Of, step: usize, attempt: u32) -> String {
        let element = self.element_of(of);
        format!("{}@{attempt}", self.key(of.scope, step, &element))
    }

    /// Returns the key of the attempt of a part.
    pub(in super::super) fn key_of_part(&self, scope: ScopeId, part: &Part) -> String {
        let (step, element) = (
            self.values.place_of(scope, part.slot.index()),
            self.element(part),
        );
        format!("{}@{}", self.key(scope, step, &element), part.attempt)
    }

    pub(in super::super) fn element_of(&self, of: &Of) -> Vec<usize> {
        let part = of.part.as_ref();
        part.map_or_else(Vec::new, |part| self.element(part))
    }

    /// Makes a decision. A run with a journal makes each decision of Rust code once.
    pub(in super::super) fn decided<T: Serialize + DeserializeOwned>(
        &mut self,
        has_code: bool,
        key: impl FnOnce(&Self) -> String,
        decide: impl FnOnce(&mut Self) -> Result<T, StepError>,
    ) -> Result<T, StepError> {
        let run = std::sync::Arc::clone(&self.run);
        let Some(keeper) = Keeper::of(&run).filter(|_| has_code) else {
            return decide(self);
        };
        let key = key(self);
        let stopped = std::cell::RefCell::new(None);
        let is_over = self.stops.is_exceeded();
        let decider = Decider {
            keeper,
            has_secrets: self.values.has_secrets(),
            stop: &|interrupt| *stopped.borrow_mut() = Some(interrupt),
            is_over: &|| is_over,
        };
        let decided = decider.decided(key, || decide(self), AS_IT_IS);
        if let Some(Interrupt::Journal(error)) = stopped.into_inner() {
            self.fail_journal(error);
        }
        decided.unwrap_or_else(|| {
            let failure = run.durable.as_ref().and_then(|it| it.failure());
            if let Some(error) = failure {
                self.fail_journal(error);
            }
            Err(StepError::Unknown)
        })
    }

    /// Notes that an undo step has undone a step with this lasting path.
    pub(in super::super) fn note_undone(&self, scope: ScopeId, undo: usize, path: &str) {
        let key = || self.key(scope, undo, &[]) + UNDONE;
        self.note_end(key, Value::from(path));
    }

    /// Notes that the only call of an undo step has succeeded, before the record of the call: a failure beside the step may end the run before the record has its turn.
    pub(in super::super) fn note_undo_call(&self, scope: ScopeId, undo: usize) {
        let steps = &self.values.scope(scope).plan.steps;
        if let Role::Undo(undone) = steps[undo].role
            && is_one_call(&steps[undo].body)
        {
            let path = of_element(&self.lasting_prefix(scope), &steps[undone].id, &[]);
            self.note_undone(scope, undo, &path);
        }
    }

    /// Notes which block of a step runs, if the names of its steps do not tell. `Sqlite::retry_failed` needs the block.
    pub(in super::super) fn note_branch(&self, part: &Part, block: &Block) {
        let scope = self.scope_of(part);
        let step = self.values.place_of(scope, part.slot.index());
        let body = &self.values.scope(scope).plan.steps[step].body;
        if self.records.is_some()
            && let Some(number) = recorded::branch(body, block)
        {
            let key = || self.key_of_part(scope, part) + BRANCH;
            self.note_end(key, Value::from(number));
        }
    }

    /// Notes that something made up for a failure of a step or of an element of the step. The failed attempt is part of the key: after `Sqlite::retry_failed`,
    /// another attempt may follow.
    pub(in super::super) fn note_made_up(
        &self,
        scope: ScopeId,
        part: &Part,
        failures: Option<&Failures>,
    ) {
        let depth = self.values.scope(scope).depth;
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
        let step = self.values.place_of(scope, part.slot.index());
        let note = format!("{MADE_UP}{}@{}", Elements(&element), failed.attempt);
        self.note_end(|| self.key(scope, step, place) + &note, Value::Null);
    }

    /// Notes that a plan or block has failed, unless the plan is the run.
    pub(in super::super) fn note_failed(&self, scope: ScopeId) {
        // Without a grace, nothing in the run comes to an end after an interrupt.
        if self.stops.stopped.is_some() && self.stops.grace.is_zero() {
            return;
        }
        let has_last = self.values.scope(scope).graph.last.is_some();
        if self.outer(scope).is_some() && (has_last || self.machine.view().has_kept(scope)) {
            self.note_end(|| self.prefix(scope) + FAILED, Value::Null);
        }
    }

    /// Notes how something ended, for `Sqlite::retry_failed`.
    fn note_end(&self, key: impl FnOnce() -> String, body: Value) {
        if let Some(records) = &self.records {
            records.durable.note_end(key(), body.to_string());
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
