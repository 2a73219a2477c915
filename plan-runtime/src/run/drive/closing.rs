//! Tells the watch of a run the ends of steps and scopes, and the end of the run.

use super::super::StepError;
use super::super::catch::catch;
use super::super::report::{Report, Status};
use super::super::watch::{Settled, Spot};
use super::task::Of;
use super::watching::Watching;
use crate::error::BlockPlace;
use crate::machine::{CallId, Cutoff, Failures, Part, QuestionId, ScopeId, StepStatus};
use crate::plan::Body;
use crate::resolve::StoredValue;
use std::time::Duration;

impl Watching<'_, '_> {
    /// A value is about to replace the failure that a question is about.
    pub(super) fn instead(&mut self, id: QuestionId, part: &Part) {
        if self.0.watch.is_none() {
            return;
        }
        let spot = self.spot_of(part);
        let view = self.0.machine.view();
        let around = self.0.values.scope(spot.scope).depth;
        let Some(failures) = view.absorbed(id) else {
            return;
        };
        let error = self.0.errors.step_error(view, around, &failures);
        let element = element_of(&failures, around);
        if let Some(watch) = &mut self.0.watch {
            watch.note(spot, element, error);
        }
    }

    /// A step is too much for the run.
    pub(super) fn exceed(&mut self, scope: ScopeId, slot: usize) {
        let spot = Spot {
            scope,
            step: self.0.values.place_of(scope, slot),
            element: Part::WHOLE,
        };
        if let Some(watch) = &mut self.0.watch {
            watch.exceed(spot);
        }
    }

    /// The step that is too much for the run has failed, with the steps around it.
    fn fail_exceeded(&mut self) {
        let mut exceeded = self.0.watch.as_ref().and_then(|watch| watch.exceeded());
        let failure = self.0.errors.exceeded(self.0.machine.view());
        let failures = failure.map(|failure| Failures {
            steps: vec![failure],
            ..Failures::default()
        });
        while let (Some(spot), Some(failures)) = (exceeded, &failures) {
            let (view, now) = (self.0.machine.view(), self.now());
            let around = self.0.values.scope(spot.scope).depth;
            let error = self.0.errors.step_error(view, around, failures);
            if let Some(watch) = &mut self.0.watch {
                watch.end(spot, Some(&error), now);
                let settled = Settled {
                    status: Status::Failed(error),
                    element: element_of(failures, around),
                    by: None,
                };
                watch.settle(spot.scope, spot.step, settled, now);
                watch.block(spot.scope, spot.step, now);
            }
            let owner = self.0.values.scope(spot.scope).owner.as_ref();
            exceeded = owner.map(|owner| Spot {
                scope: owner.scope,
                step: owner.step,
                element: owner.part.element,
            });
        }
    }

    /// A plain call has its output. The step has ended if there is room for the output.
    pub(super) fn plain_called(&mut self, (call, scope): (CallId, ScopeId), output: &StoredValue) {
        let part = None;
        let (spot, now) = (self.spot(&Of { call, scope, part }), self.now());
        let has_ended = self.0.values.held.has_room(output.bytes());
        if has_ended {
            self.capture(scope, call.index(), Some(output));
        }
        let Some(watch) = &mut self.0.watch else {
            return;
        };
        if !has_ended {
            watch.enter(spot);
        }
        watch.end(spot, None, now);
        if has_ended {
            watch.settle(scope, spot.step, Status::Completed.into(), now);
        }
    }

    /// A plain call was dropped.
    pub(super) fn plain_dropped(&mut self, call: CallId, scope: ScopeId) {
        self.settle((scope, call.index()), StepStatus::Cancelled, None);
    }

    /// A step has ended, with this output if it has one.
    pub(super) fn settle(
        &mut self,
        (scope, slot): (ScopeId, usize),
        status: StepStatus,
        output: Option<&StoredValue>,
    ) {
        if self.0.watch.is_none() {
            return;
        }
        if status != StepStatus::Blocked {
            self.start(scope, slot);
        }
        self.capture(scope, slot, output);
        self.settle_as(scope, slot, status);
    }

    fn capture(&mut self, scope: ScopeId, slot: usize, output: Option<&StoredValue>) {
        let step = self.0.values.place_of(scope, slot);
        let captures = self.0.watch.as_ref().is_some_and(|it| it.keeps().outputs);
        let Some(output) = output.filter(|_| captures) else {
            return;
        };
        let Ok(mut json) = output.as_json().cloned() else {
            return;
        };
        if let Some(secrecy) = &self.0.values.scope(scope).secrecy {
            secrecy.output_of(step).mask_in(&mut json);
        }
        self.0.values.held.add(output.bytes());
        if let Some(watch) = &mut self.0.watch {
            watch.output(scope, step, json);
        }
    }

    fn settle_as(&mut self, scope: ScopeId, slot: usize, status: StepStatus) {
        let (step, now) = (self.0.values.place_of(scope, slot), self.now());
        let settled = match status {
            StepStatus::Completed => Status::Completed.into(),
            StepStatus::Skipped => Status::Skipped.into(),
            StepStatus::Cancelled => Status::Cancelled.into(),
            StepStatus::Blocked => self.blocked(scope, step),
            StepStatus::Failed => self.failed(scope, step),
            StepStatus::Recovered => {
                let watch = self.0.watch.as_mut();
                let noted = watch.and_then(|watch| watch.noted(scope, step));
                let (element, error) = noted.unwrap_or((Vec::new(), StepError::Unknown));
                Settled {
                    status: Status::Recovered(error),
                    element,
                    by: None,
                }
            }
            StepStatus::Waiting | StepStatus::Running => return,
        };
        if let Some(watch) = &mut self.0.watch {
            watch.settle(scope, step, settled, now);
        }
    }

    fn blocked(&self, scope: ScopeId, step: usize) -> Settled {
        let by = self.0.machine.view().blocker(scope, step);
        let by = by.unwrap_or_default();
        let plan = self.0.values.scope(scope).plan;
        Settled {
            status: Status::Blocked {
                by: plan.steps[by].id.clone(),
            },
            element: Vec::new(),
            by: Some(by),
        }
    }

    fn failed(&self, scope: ScopeId, step: usize) -> Settled {
        let view = self.0.machine.view();
        let around = self.0.values.scope(scope).depth;
        let failures = view.failed(scope, step).unwrap_or_default();
        let error = self.0.errors.step_error(view, around, &failures);
        let element = element_of(&failures, around);
        Settled {
            status: Status::Failed(error),
            element,
            by: None,
        }
    }

    /// A scope is over.
    pub(super) fn over(&mut self, scope: ScopeId) {
        if self.0.watch.is_none() || !self.0.values.is_open(scope) {
            return;
        }
        let view = self.0.machine.view();
        let failures = view.ended(scope).cloned();
        self.finish_scope(scope, failures.is_some());
        let it = self.0.values.scope(scope);
        let Some(owner) = &it.owner else {
            return;
        };
        let spot = Spot {
            scope: owner.scope,
            step: owner.step,
            element: owner.part.element,
        };
        let place = BlockPlace {
            step: self.0.values.scope(owner.scope).plan.steps[owner.step]
                .id
                .clone(),
            element: self.0.element(&owner.part),
            attempt: owner.part.attempt,
        };
        let is_call = it.called == Some(scope);
        let (plan, around, part) = (it.plan, it.depth, owner.part);
        match failures {
            None if self.is_round(spot.scope, &part) => {}
            None => self.end_at(spot, None),
            Some(failures) => {
                let late = self.0.watch.as_mut().and_then(|it| it.lateness(spot));
                let late = late.filter(|_| failures.cutoff == Some(Cutoff::Limit));
                if failures.cutoff.is_some() && late.is_none() {
                    return;
                }
                let view = self.0.machine.view();
                let errors = &self.0.errors;
                let error =
                    errors.scope_error(view, (around, &failures), (plan, is_call), late, &place);
                let error = self.0.values.scope(spot.scope).hushed(spot.step, error);
                self.end_at(spot, Some(&error));
            }
        }
    }

    /// Returns `true` for a round, which ends once the condition of its loop is known.
    fn is_round(&self, scope: ScopeId, part: &Part) -> bool {
        let it = self.0.values.scope(scope);
        let step = self.0.values.place_of(scope, part.slot.index());
        matches!(it.plan.steps[step].body, Body::Loop(_))
    }

    /// Returns the time at the end of the run. The timer may panic.
    fn last_now(&self) -> Duration {
        catch(|| self.0.clock.now()).unwrap_or_default()
    }

    fn finish_scope(&mut self, scope: ScopeId, has_failed: bool) {
        let (view, now) = (self.0.machine.view(), self.last_now());
        let by = |step| view.blocker(scope, step);
        if let Some(watch) = &mut self.0.watch {
            watch.over(scope, has_failed, &by, now);
        }
    }

    /// A call was not made.
    pub(super) fn withdraw(&mut self, of: &Of) {
        let spot = self.spot(of);
        if let Some(watch) = &mut self.0.watch {
            watch.withdraw(spot);
        }
    }

    /// The run is over.
    pub(super) fn done(&mut self) {
        self.fail_exceeded();
        let Some(watch) = &self.0.watch else {
            return;
        };
        for scope in watch.scopes() {
            let watch = self.0.watch.as_ref();
            let open = watch.map_or_else(Vec::new, |watch| watch.unsettled(scope));
            let statuses = self.0.machine.view().statuses(scope);
            let first = self.0.values.scope(scope).first;
            for step in open {
                self.settle_as(scope, first + step, statuses[step]);
            }
        }
        let has_failed = self.0.machine.view().result().is_err();
        self.finish_scope(ScopeId::ROOT, has_failed);
    }

    /// Something outside the steps has panicked.
    pub(super) fn panicked(&mut self) {
        self.finish_scope(ScopeId::ROOT, true);
    }

    /// Returns the report of the run.
    pub(super) fn report(&mut self) -> Option<Report> {
        let now = self.last_now();
        let durable = self.0.run.durable.as_ref();
        let shows_running = durable.is_some_and(|it| it.is_viewed() && !it.has_ended());
        self.0.watch.as_mut()?.report(now, shows_running)
    }
}

/// The places of the element that has failed.
fn element_of(failures: &Failures, around: usize) -> Vec<usize> {
    let first = failures.steps.first();
    let part = first.and_then(|failure| failure.trail.0.get(around));
    let element = part.map_or(&[][..], |part| &part.element);
    element.iter().map(|at| *at as usize).collect()
}
