//! Reports the ends of steps and scopes, and the end of the run, to the watch.

use super::super::StepError;
use super::super::catch::catch;
use super::super::report::{Report, Status};
use super::super::watch::Settled;
use super::task::Site;
use super::watching::Watching;
use crate::error::BlockPlace;
use crate::machine::{Cutoff, Failures, ScopeId, StepStatus};
use crate::plan::Body;
use crate::resolve::StoredValue;
use std::time::Duration;

impl Watching<'_, '_> {
    /// Records the failure that a value is about to replace.
    pub(super) fn instead(&mut self, of: &Site, failures: Option<&Failures>) {
        if let Some(failures) = failures {
            let (element, error) = self.failure_of(of.scope, failures);
            self.watch.note(of.spot(), element, error);
        }
    }

    /// Returns the failure of a step of a scope, with the element that has failed.
    fn failure_of(&self, scope: ScopeId, failures: &Failures) -> (Vec<usize>, StepError) {
        let around = self.values.scope(scope).depth;
        let error = self.errors.step_error(self.view, around, failures);
        let first = failures.steps.first();
        let part = first.and_then(|failure| failure.trail.0.get(around));
        let element = part.map_or(&[][..], |part| &part.element);
        (element.iter().map(|at| *at as usize).collect(), error)
    }

    /// Returns the end of a failed step.
    fn failed(&self, scope: ScopeId, failures: &Failures) -> Settled {
        let (element, error) = self.failure_of(scope, failures);
        Settled {
            element,
            ..Status::Failed(error).into()
        }
    }

    /// Settles the step that exceeds a limit of the run, and its enclosing steps, as failed.
    fn fail_exceeded(&mut self) {
        let mut exceeded = self.watch.exceeded;
        let failure = exceeded.and_then(|_| self.errors.exceeded(self.view));
        let failures = failure.map(|failure| Failures {
            steps: vec![failure],
            ..Failures::default()
        });
        while let (Some(spot), Some(failures)) = (exceeded, &failures) {
            let now = self.now();
            let settled = self.failed(spot.scope, failures);
            if let Status::Failed(error) = &settled.status {
                self.watch.end(spot, Some(error), now);
            }
            self.watch.settle(spot.scope, spot.step, settled, now);
            self.watch.block(spot.scope, spot.step, now);
            let owner = self.values.scope(spot.scope).owner.as_ref();
            exceeded = owner.map(|owner| owner.at.of.spot());
        }
    }

    /// Handles the output of a plain call. The step ends, unless the output exceeds the limit on bytes.
    pub(super) fn plain_called(&mut self, of: &Site, output: &StoredValue) {
        let now = self.now();
        let has_ended = self.values.held.has_room(output.bytes());
        if has_ended {
            self.capture(of.scope, of.step, output);
        } else {
            self.watch.enter(of.spot());
        }
        self.watch.end(of.spot(), None, now);
        if has_ended {
            let settled = Status::Completed.into();
            self.watch.settle(of.scope, of.step, settled, now);
        }
    }

    /// Handles the end of a step, with its output if there is one.
    pub(super) fn settle(
        &mut self,
        (scope, step): (ScopeId, usize),
        status: StepStatus,
        output: Option<&StoredValue>,
    ) {
        if status == StepStatus::Cancelled && self.watch.is_unstarted(scope, step) {
            return;
        }
        if status != StepStatus::Blocked {
            self.start(scope, step);
        }
        if let Some(output) = output {
            self.capture(scope, step, output);
        }
        self.settle_as(scope, step, status);
    }

    fn capture(&mut self, scope: ScopeId, step: usize, output: &StoredValue) {
        if !self.watch.keeps.outputs {
            return;
        }
        let Ok(mut json) = output.as_json().cloned() else {
            return;
        };
        if let Some(secrecy) = &self.values.scope(scope).secrecy {
            secrecy.output_of(step).mask_in(&mut json);
        }
        self.values.held.add(output.bytes());
        self.watch.output(scope, step, json);
    }

    fn settle_as(&mut self, scope: ScopeId, step: usize, status: StepStatus) {
        let now = self.now();
        let settled = match status {
            StepStatus::Completed => Status::Completed.into(),
            StepStatus::Skipped => Status::Skipped.into(),
            StepStatus::Cancelled => Status::Cancelled.into(),
            StepStatus::Blocked => {
                let by = self.view.blocker(scope, step).unwrap_or_default();
                let id = self.values.scope(scope).plan.steps[by].id.clone();
                Settled {
                    by: Some(by),
                    ..Status::Blocked { by: id }.into()
                }
            }
            StepStatus::Failed => {
                let failures = self.view.failure(scope, step);
                self.failed(scope, &failures.unwrap_or_default())
            }
            StepStatus::Recovered => {
                let noted = self.watch.noted(scope, step);
                let (element, error) = noted.unwrap_or((Vec::new(), StepError::Unknown));
                Settled {
                    element,
                    ..Status::Recovered(error).into()
                }
            }
            StepStatus::Waiting | StepStatus::Running => return,
        };
        self.watch.settle(scope, step, settled, now);
    }

    /// Closes a scope that has ended.
    pub(super) fn over(&mut self, scope: ScopeId) {
        if !self.values.is_open(scope) {
            return;
        }
        let failures = self.view.ended(scope);
        self.finish_scope(scope, failures.is_some());
        let it = self.values.scope(scope);
        let Some(owner) = &it.owner else {
            return;
        };
        let of = owner.at.of;
        let step = self.values.step_of(&of);
        let Some(failures) = failures else {
            // A round ends after the evaluation of the loop's condition.
            if !matches!(step.body, Body::Loop(_)) {
                self.end(&of, None);
            }
            return;
        };
        let late = self.watch.lateness(of.spot());
        let late = late.filter(|_| failures.cutoff == Some(Cutoff::Limit));
        if failures.cutoff.is_some() && late.is_none() {
            return;
        }
        let place = BlockPlace {
            step: step.id.clone(),
            element: of.places(self.view),
            attempt: of.attempt(),
        };
        let failed = (it.depth, failures);
        let of_plan = (it.plan, it.called == Some(scope));
        let errors = self.errors;
        let error = errors.scope_error(self.view, failed, of_plan, late, &place);
        let error = self.values.hushed(&of, error);
        self.end(&of, Some(&error));
    }

    /// Returns the time at the end of the run. The timer may panic.
    fn last_now(&self) -> Duration {
        catch(|| self.clock.now()).unwrap_or_default()
    }

    fn finish_scope(&mut self, scope: ScopeId, has_failed: bool) {
        let (view, now) = (self.view, self.last_now());
        let by = |step| view.blocker(scope, step);
        self.watch.over(scope, has_failed, &by, now);
    }

    /// Settles the remaining steps of a run that has ended.
    pub(super) fn done(&mut self) {
        self.fail_exceeded();
        for scope in self.watch.logs.scopes() {
            for step in self.watch.logs.unsettled(scope) {
                self.settle_as(scope, step, self.view.status(scope, step));
            }
        }
        self.finish_scope(ScopeId::ROOT, self.view.result().is_err());
    }

    /// Finishes the run after a panic outside the steps.
    pub(super) fn panicked(&mut self) {
        self.finish_scope(ScopeId::ROOT, true);
    }

    /// Returns the report of the run.
    pub(super) fn report(&mut self) -> Option<Report> {
        let durable = self.run.durable.as_ref();
        let shows_running = durable.is_some_and(|it| it.is_viewed() && !it.has_ended());
        self.watch.report(self.last_now(), shows_running)
    }
}
