//! Reports the actions of the driver, and the ends of steps, of scopes and of the run, to the watch of a run.

use super::super::StepError;
use super::super::catch::catch;
use super::super::clock::Clock;
use super::super::context::{CallContext, Inside};
use super::super::report::{Attempt, Report, Status, WaitReason, WaitReport};
use super::super::shared::SharedRun;
use super::super::watch::{NewAttempt, Settled, Span, Watch};
use super::failures::Errors;
use super::task::Site;
use super::values::Values;
use crate::error::BlockPlace;
use crate::machine::{Command, Cutoff, Failures, MachineView, Part, Question, ScopeId, StepStatus};
use crate::plan::{Body, Plan, Policy, ToolInfo};
use crate::resolve::{StoredValue, bytes_of};
use serde_json::Value;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

/// The bytes for an attempt whose call may run plans.
const INSIDE: usize = size_of::<Arc<Inside>>() + size_of::<Inside>();

/// The watch of a run, with the data of its events.
pub(super) struct Watching<'s, 'x> {
    pub(super) watch: &'s mut Watch<'x>,
    pub(super) view: MachineView<'s>,
    pub(super) values: &'s mut Values<'x>,
    pub(super) errors: &'s Errors<'x>,
    pub(super) clock: &'s Clock,
    pub(super) run: &'s SharedRun,
}

impl Watching<'_, '_> {
    /// Returns the time of an event of a step. Without a report and observers, the time is not needed.
    pub(super) fn now(&self) -> Duration {
        if self.watch.needs_times() {
            self.clock.now()
        } else {
            Duration::ZERO
        }
    }

    /// Observes a command before the driver executes it. The first command of a step starts the step.
    pub(super) fn see(&mut self, command: &Command) {
        let slot = match command {
            Command::Await(_, place)
            | Command::Evaluate(
                _,
                Question::Branch(place, _) | Question::List(place, _) | Question::Amounts(place),
            ) => Some(place.slot),
            Command::Evaluate(id, Question::Inputs(_)) => self.view.asked(*id).map(|it| it.slot),
            _ => None,
        };
        if let Some(slot) = slot {
            let scope = self.view.scope_of(slot);
            self.start(scope, slot.index() - self.values.scope(scope).first);
        }
    }

    /// Records the start of a step, unless the step has started before.
    pub(super) fn start(&mut self, scope: ScopeId, step: usize) {
        self.start_call(scope, step);
        self.watch.has_started(scope, step);
    }

    /// Records the start of a step, whose call has not begun.
    pub(super) fn start_call(&mut self, scope: ScopeId, step: usize) {
        if self.watch.is_unstarted(scope, step) {
            self.watch.start(scope, step, self.now());
        }
    }

    /// Records the start of a plain call, if only the times of the call are needed. Returns `false` if the scope, a listener, a journal or an engine
    /// needs more.
    #[inline(never)]
    pub(super) fn call(&mut self, scope: ScopeId, step: usize) -> bool {
        let is_more = self.values.scope(scope).is_more();
        let is_enough = self.watch.needs_only_times();
        // An engine makes the calls of its runs.
        if is_more || !is_enough || self.run.is_kept() || self.hold_attempt().is_err() {
            return false;
        }
        self.watch.call(scope, step, self.clock.now());
        true
    }

    /// Counts an attempt of the report.
    fn hold_attempt(&mut self) -> Result<(), StepError> {
        let held = &mut self.values.held;
        if !held.has_room(size_of::<Attempt>()) {
            return Err(held.full());
        }
        held.add(size_of::<Attempt>());
        Ok(())
    }

    /// Opens the record of a scope that has its values.
    pub(super) fn open(&mut self, scope: ScopeId) {
        let now = match scope {
            ScopeId::ROOT => Duration::ZERO,
            _ => self.clock.now(),
        };
        let it = self.values.scope(scope);
        let owner = it.owner.as_ref().map(|owner| owner.at.of.spot());
        let started_at = self.clock.started_at;
        let times = (now, started_at.checked_add(now).unwrap_or(started_at));
        self.watch
            .open(scope, (it.plan, Arc::clone(&it.graph)), owner, times);
    }

    /// Records the start of an attempt. Returns its span.
    pub(super) fn begin(&mut self, of: &Site) -> Result<Span, StepError> {
        let span = self.begin_call(of, None)?;
        self.watch.has_begun(of.spot());
        Ok(span)
    }

    /// Records the start of an attempt, whose call has not begun. Returns its span.
    pub(super) fn begin_call(
        &mut self,
        of: &Site,
        tool: Option<&Arc<ToolInfo>>,
    ) -> Result<Span, StepError> {
        let (number, now) = (of.attempt(), self.now());
        if of.part.is_some() || !self.watch.needs_only_times() {
            return self.begin_at(of, (number, now), tool);
        }
        self.hold_attempt()?;
        self.watch.call(of.scope, of.step, now);
        Ok(Span::none())
    }

    /// Records an attempt with this number and start time. Returns its span.
    pub(super) fn begin_at(
        &mut self,
        of: &Site,
        (number, started): (u32, Duration),
        tool: Option<&Arc<ToolInfo>>,
    ) -> Result<Span, StepError> {
        if self.watch.keeps.report {
            self.hold_attempt()?;
        }
        let begun = NewAttempt {
            element: of.places(self.view),
            number,
            tool: tool.cloned(),
        };
        Ok(self.watch.begin(of.spot(), begun, started))
    }

    /// Records the start of a wait.
    pub(super) fn wait(&mut self, of: &Site, reason: WaitReason) {
        self.start(of.scope, of.step);
        if self.watch.keeps.report {
            let element = of.places(self.view);
            if self.watch.wait(of.spot(), element, reason, self.now()) {
                self.values.held.add(size_of::<WaitReport>());
            }
        }
    }

    /// Records the end of a wait. The wait began at this time of the outermost run or later.
    pub(super) fn waited(&mut self, of: &Site, since: Duration) {
        let since = self.clock.in_here(since);
        self.watch.waited(of.spot(), since, self.now());
    }

    /// Records the arguments of an attempt's call.
    pub(super) fn arguments(&mut self, of: &Site, number: usize, mut arguments: Value) {
        self.values.scope(of.scope).mask(number, &mut arguments);
        self.values.held.add(bytes_of(&arguments));
        self.watch.arguments(of.spot(), arguments);
    }

    /// Records that the call of an attempt may run plans by itself.
    pub(super) fn inside(&mut self, of: &Site, context: &CallContext) {
        if let Some(inside) = context.inside() {
            self.values.held.add(INSIDE);
            self.watch.inside(of.spot(), Arc::clone(inside) as _);
        }
    }

    /// Records the arguments of a block or a round, whose action has this number.
    pub(super) fn inputs(&mut self, of: &Site, number: usize, plan: &Plan, inputs: &[StoredValue]) {
        if !self.watch.keeps.arguments {
            return;
        }
        let values = inputs.iter().map(|input| input.as_json().cloned());
        if let Ok(values) = values.collect::<Result<Vec<Value>, _>>() {
            let names = plan.inputs.iter().map(|input| input.name.clone());
            let inputs = Value::Object(names.zip(values).collect());
            self.arguments(of, number, inputs);
        }
    }

    /// Records the end of a call, a wait, a block or a round.
    pub(super) fn end(&mut self, of: &Site, error: Option<&StepError>) {
        self.watch.end(of.spot(), error, self.now());
    }

    /// Records the end of a time limit.
    pub(super) fn late(&mut self, of: &Site, error: &StepError) {
        let is_loop = matches!(self.values.step_of(of).body, Body::Loop(_));
        if of.element() == Part::WHOLE && is_loop {
            self.watch.all_late(of.spot(), error, self.now());
        } else {
            self.watch.late(of.spot(), error, self.now());
        }
    }

    /// Records the start of a wait before another attempt.
    pub(super) fn retry(&mut self, of: &Site, wait: Duration) {
        let tool = match self.values.body(of).0 {
            Body::Action(action) => action.tool.as_deref(),
            _ => None,
        };
        let element = of.places(self.view);
        let (listeners, logs) = (&self.watch.listeners, &self.watch.logs);
        listeners.retry(logs, of.spot(), (&element, of.attempt()), tool, wait);
    }

    /// Records the list of a part of a step.
    pub(super) fn list(&mut self, of: &Site, length: usize) {
        self.watch.list(of.spot(), &of.places(self.view), length);
    }

    /// Observes that these elements of a step have their values.
    pub(super) fn finish(&mut self, of: &Site, elements: &[u32]) {
        if elements.is_empty() {
            return;
        }
        let elements = elements.iter().map(|element| {
            let part = of.part.map(|part| Part {
                element: *element,
                ..part
            });
            Site { part, ..*of }.places(self.view)
        });
        self.watch.finish(of.spot(), elements.collect());
    }

    /// Records the resolved amounts of a step.
    pub(super) fn policy(&mut self, of: &Site, policy: &Arc<Policy>) {
        if !self.values.scope(of.scope).touches(of.step) {
            self.watch.policy(of.scope, of.step, Arc::clone(policy));
        }
    }

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
        match status {
            StepStatus::Cancelled if self.watch.is_unstarted(scope, step) => return,
            StepStatus::Cancelled | StepStatus::Blocked => {}
            _ => self.start(scope, step),
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
        let mut scopes = self.watch.logs.scopes();
        // A step ends after the steps inside, and an inner scope may have the id of a scope that has ended.
        scopes.sort_unstable_by_key(|it| Reverse((self.values.scope(*it).depth, *it)));
        for scope in scopes {
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
