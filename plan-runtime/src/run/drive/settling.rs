//! The ends of steps, and the outputs of other steps for always steps.

use super::recording::EndNotes;
use super::scene::Scene;
use super::scope_values::outcome;
use super::task::Site;
use crate::error::{Interrupt, StepError};
use crate::failure::Failure;
use crate::machine::{ScopeId, StepStatus};
use crate::plan::{Catch, ERR, OK, Role, Step};
use crate::resolve::{ResolveError, StoredValue};
use humantime::format_duration;
use serde_json::Value;

impl Scene<'_> {
    /// Handles the end of a step.
    pub(super) fn settled(&mut self, scope: ScopeId, slot: usize, status: StepStatus) {
        let inside = self.values.take_step(slot);
        let it = self.values.scope(scope);
        let step = slot - it.first;
        let (of, is_simple) = (&it.plan.steps[step], it.graph.simple[step]);
        let has_output = matches!(
            status,
            StepStatus::Completed | StepStatus::Skipped | StepStatus::Recovered
        );
        let is_noted = inside.as_ref().is_some_and(|inside| inside.is_noted);
        let mut output = None;
        if let (Some(inside), true) = (inside, has_output) {
            let made = inside.made;
            let value = inside.output.unwrap_or_else(null);
            let is_wrapped = of.policy.catch == Catch::Whole && !inside.is_replaced;
            let value = if is_wrapped {
                StoredValue::json(result_of_output(of, value.as_json()))
            } else {
                value
            };
            output = Some(if inside.is_replaced || is_simple {
                value
            } else {
                value.weighing(made)
            });
        }
        let role = of.role;
        self.tell(|it| it.settle((scope, step), status, output.as_ref()));
        if let Some(output) = output {
            self.values.put(slot, output);
        }
        match role {
            Role::Undo(undone) if status == StepStatus::Completed => {
                let prefix = self.lasting_prefix(scope);
                let id = &self.values.scope(scope).plan.steps[undone].id;
                let lasting = self.run.undo(&prefix, id);
                if let Some(notes) = EndNotes::of(self).filter(|_| !is_noted) {
                    notes.undone(scope, step, &lasting);
                }
                let path = self.path_around(scope) + id;
                self.errors.note_undone(path);
            }
            Role::Always => {
                self.show_results(scope);
                let seen = self.result_of(scope, step);
                self.values.held.add(seen.bytes());
                self.values.scope_mut(scope).seen[step] = Some(seen);
            }
            Role::Undo(_) | Role::Work => {}
        }
        self.values.release(scope, slot);
    }

    /// Makes the `Result`s that always steps see of the work.
    pub(super) fn show_results(&mut self, scope: ScopeId) {
        let it = self.values.scope(scope);
        if !it.seen.is_empty() {
            return;
        }
        let mut seen: Vec<Option<StoredValue>> = Vec::new();
        seen.resize_with(it.plan.steps.len(), || None);
        for &step in it.graph.last.iter().flat_map(|last| &last.seen) {
            let step = step as usize;
            if it.plan.steps[step].role == Role::Work {
                seen[step] = Some(self.result_of(scope, step));
            }
        }
        let bytes = seen.iter().flatten().map(StoredValue::bytes).sum();
        self.values.held.add(bytes);
        self.values.scope_mut(scope).seen = seen;
    }

    /// Returns the `Result` of a step.
    fn result_of(&self, scope: ScopeId, step: usize) -> StoredValue {
        let it = self.values.scope(scope);
        let (of, view) = (&it.plan.steps[step], self.machine.view());
        debug_assert_eq!(view.slots(scope).0.index(), it.first);
        let status = view.status(scope, step);
        let output = self.values.output(it.first + step);
        let seen = match (status, output) {
            (StepStatus::Completed | StepStatus::Skipped | StepStatus::Recovered, output) => {
                match output.map(StoredValue::as_json) {
                    None => outcome(OK, Value::Null),
                    Some(Ok(json)) if of.policy.catch == Catch::Whole => json.clone(),
                    Some(json) => result_of_output(of, json),
                }
            }
            _ => err(&self.failure_of(scope, step)),
        };
        StoredValue::weighed(seen, output.map_or(0, StoredValue::bytes))
    }

    /// Returns the failure of a step that has no output.
    fn failure_of(&self, scope: ScopeId, step: usize) -> Failure {
        let (it, view) = (self.values.scope(scope), self.machine.view());
        let failures = match view.status(scope, step) {
            StepStatus::Failed | StepStatus::Blocked => view.failure(scope, step),
            StepStatus::Waiting => view.first_failure(scope),
            _ => None,
        };
        if let Some(failures) = failures {
            return self.errors.caught(view, it.depth, &failures);
        }
        let (code, message) = match &self.stops.stopped {
            Some(Interrupt::Deadline(limit)) => (
                "DEADLINE",
                format!("the run took longer than {}", format_duration(*limit)),
            ),
            Some(Interrupt::Recorded(place)) => ("CANCELLED", place.to_string()),
            Some(_) => ("CANCELLED", "the run was cancelled".to_owned()),
            None => (
                "CANCELLED",
                "the step was cancelled, since the run had failed".to_owned(),
            ),
        };
        Failure {
            step: it.plan.steps[step].id.clone(),
            code: code.to_owned(),
            message,
            transient: false,
            attempts: 0,
            expression: None,
        }
    }

    /// Shows an undo step the output of a call, instead of the `Result` of a step that catches failures.
    pub(super) fn uncatch(&mut self, of: &Site) -> Option<(usize, Option<StoredValue>)> {
        let it = self.values.scope(of.scope);
        let Role::Undo(undone) = it.plan.steps[of.step].role else {
            return None;
        };
        if it.plan.steps[undone].policy.catch != Catch::Whole {
            return None;
        }
        let slot = it.first + undone;
        let caught = self.values.output(slot)?;
        let bytes = caught.bytes();
        let caught = caught.as_json().ok()?;
        let given = caught.get(OK).cloned().unwrap_or_default();
        let given = StoredValue::weighed(given, bytes);
        Some((slot, self.values.swap(slot, Some(given))))
    }
}

fn null() -> StoredValue {
    StoredValue::json(Value::Null)
}

/// Returns the `Result` of the output of a step, which JSON may not be able to hold.
fn result_of_output(of: &Step, output: Result<&Value, ResolveError>) -> Value {
    match output {
        Ok(json) => outcome(OK, json.clone()),
        Err(error) => {
            let error = StepError::output(error);
            err(&Failure::of_step(of.id.clone(), &error, 1))
        }
    }
}

fn err(failure: &Failure) -> Value {
    outcome(ERR, serde_json::to_value(failure).unwrap_or_default())
}
