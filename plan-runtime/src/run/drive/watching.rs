//! Reports the actions of the driver to the watch of a run.

use super::super::StepError;
use super::super::clock::Clock;
use super::super::context::{CallContext, Inside};
use super::super::report::{Attempt, WaitReason, WaitReport};
use super::super::shared::SharedRun;
use super::super::trace::Span;
use super::super::watch::{NewAttempt, Watch};
use super::failures::Errors;
use super::task::Site;
use super::values::Values;
use crate::machine::{Command, MachineView, Part, Question, ScopeId};
use crate::plan::{Body, Plan, Policy, ToolInfo};
use crate::resolve::{StoredValue, bytes_of};
use serde_json::Value;
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
            self.watch.inside(of.spot(), inside);
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
        let (listeners, logs) = (&self.watch.listeners, &self.watch.logs);
        listeners.list(logs, of.spot(), &of.places(self.view), length);
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
}
