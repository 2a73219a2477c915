//! The keys of records, and notes about ends.

use super::super::super::durable::{BRANCH, Durable, FAILED, MADE_UP, UNDONE, of_element};
use super::super::super::recorded;
use super::super::scene::Scene;
use super::super::starting::Starting;
use super::super::task::Site;
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
    pub(in super::super) fn of_step(self, of: &Site, element: &[usize]) -> String {
        let id = &self.0.values.step_of(of).id;
        of_element(&self.prefix(of.scope), id, element)
    }

    /// Returns the key of the element of a call.
    pub(in super::super) fn of_element(self, of: &Site) -> String {
        self.of_step(of, &self.0.element(of))
    }

    /// Returns the key of an attempt.
    pub(in super::super) fn of_attempt(self, of: &Site) -> String {
        format!("{}@{}", self.of_element(of), of.attempt())
    }

    /// Returns the key of the answer of the gates about a call.
    pub(super) fn of_answer(self, of: &Site) -> String {
        self.of_element(of) + "?gate"
    }

    /// Returns the key of an answer about all elements of a step that make the same call.
    pub(super) fn of_answers(self, it: &Starting<'_>) -> String {
        let first = self.0.values.scope(it.of.scope).first_action(it.of.step);
        format!("{}?gate{}", self.of_step(&it.of, &[]), it.number - first)
    }
}

/// Notes how parts of a run with a journal have ended, for `Server::retry_failed`.
pub(in super::super) struct EndNotes<'s, 'x> {
    scene: &'s Scene<'x>,
    durable: &'s Durable,
}

impl<'s, 'x> EndNotes<'s, 'x> {
    /// Returns `None` for a run without a journal.
    pub(in super::super) fn of(scene: &'s Scene<'x>) -> Option<Self> {
        let durable = scene.run.durable.as_deref()?;
        Some(Self { scene, durable })
    }

    /// Notes that an undo step has undone a step with this lasting path.
    pub(in super::super) fn undone(&self, scope: ScopeId, undo: usize, path: &str) {
        let id = &self.scene.values.scope(scope).plan.steps[undo].id;
        let key = of_element(&Keys(self.scene).prefix(scope), id, &[]) + UNDONE;
        self.end(key, &Value::from(path));
    }

    /// Writes to the journal that the only call of an undo step has succeeded. The write comes before the turn of the
    /// call's record, because a concurrent failure may end the run. Returns `false` for other calls.
    pub(in super::super) fn undo_call(&self, of: &Site) -> bool {
        let steps = &self.scene.values.scope(of.scope).plan.steps;
        let Role::Undo(undone) = steps[of.step].role else {
            return false;
        };
        let is_one_call = is_one_call(&steps[of.step].body);
        if is_one_call {
            let path = of_element(&self.scene.lasting_prefix(of.scope), &steps[undone].id, &[]);
            self.undone(of.scope, of.step, &path);
        }
        is_one_call
    }

    /// Records which block of a step runs, if the names of the block's steps do not identify the block. `Server::retry_failed` needs the block.
    pub(in super::super) fn branch(&self, of: &Site, block: &Block) {
        if let Some(number) = recorded::branch(&self.scene.values.step_of(of).body, block) {
            let key = Keys(self.scene).of_attempt(of) + BRANCH;
            self.end(key, &Value::from(number));
        }
    }

    /// Records that a failure of a step, or of an element of the step, was recovered. The failed attempt is part of the key: after `Server::retry_failed`,
    /// another attempt may follow.
    pub(in super::super) fn made_up(&self, of: &Site, failures: &Failures) {
        let depth = self.scene.values.scope(of.scope).depth;
        let failure = failures.steps.first();
        let Some(failed) = failure.and_then(|failure| failure.trail.0.get(depth)) else {
            return;
        };
        let element: Vec<usize> = failed.element.iter().map(|at| *at as usize).collect();
        let place = if of.element() == Part::WHOLE {
            &[][..]
        } else {
            &element
        };
        let note = format!("{MADE_UP}{}@{}", Elements(&element), failed.attempt);
        self.end(Keys(self.scene).of_step(of, place) + &note, &Value::Null);
    }

    /// Notes that a plan or block has failed, unless the plan is the run.
    pub(in super::super) fn failed(&self, scope: ScopeId) {
        // Without a grace period, no step of the run ends after an interrupt.
        if self.scene.stops.stopped.is_some() && self.scene.stops.grace.is_zero() {
            return;
        }
        let has_last = self.scene.values.scope(scope).graph.last.is_some();
        if self.scene.outer(scope).is_some()
            && (has_last || self.scene.machine.view().has_kept(scope))
        {
            self.end(Keys(self.scene).prefix(scope) + FAILED, &Value::Null);
        }
    }

    /// Records the end of a part of the run, for `Server::retry_failed`.
    fn end(&self, key: String, body: &Value) {
        self.durable.note_end(key, body.to_string());
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
