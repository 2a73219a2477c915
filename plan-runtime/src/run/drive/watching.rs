//! Tells the watch of a run what the driver does.

use super::super::StepError;
use super::super::context::{CallContext, Inside};
use super::super::report::Attempt;
use super::super::trace::Span;
use super::super::watch::{NewAttempt, NewScope, Spot};
use super::scene::Scene;
use super::task::Of;
use crate::machine::{CallId, Command, Part, Pause, Question, ScopeId};
use crate::plan::{Body, Plan, Policy, ToolInfo};
use crate::resolve::{StoredValue, bytes_of};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The bytes that an attempt counts whose call may run plans.
const INSIDE: usize = size_of::<Arc<Inside>>() + size_of::<Inside>();

/// Tells the watch of a scene. Without a watch, each method does nothing.
pub(super) struct Watching<'s, 'x>(pub(super) &'s mut Scene<'x>);

impl Watching<'_, '_> {
    /// Returns the time of an event of a step. Without a report and observers, nobody reads the time.
    pub(super) fn now(&self) -> Duration {
        let watch = self.0.watch.as_ref();
        let needs_times = watch.is_some_and(|watch| watch.needs_times());
        if needs_times {
            self.0.clock.now()
        } else {
            Duration::ZERO
        }
    }

    pub(super) fn spot(&self, of: &Of) -> Spot {
        Spot {
            scope: of.scope,
            step: self.0.values.place_of(of.scope, of.slot()),
            element: of.part.map_or(Part::WHOLE, |part| part.element),
        }
    }

    pub(super) fn spot_of(&self, part: &Part) -> Spot {
        let scope = self.0.scope_of(part);
        Spot {
            scope,
            step: self.0.values.place_of(scope, part.slot.index()),
            element: part.element,
        }
    }

    /// The driver is about to do a command. The first command of a step starts the step.
    pub(super) fn see(&mut self, command: &Command) {
        if self.0.watch.is_none() {
            return;
        }
        let view = self.0.machine.view();
        let slot = match command {
            Command::Await(_, place)
            | Command::Admit(_, place)
            | Command::Evaluate(
                _,
                Question::Branch(place, _) | Question::List(place, _) | Question::Amounts(place),
            ) => place.slot,
            Command::Evaluate(id, Question::Inputs(_)) => match view.asked(*id) {
                Some(part) => part.slot,
                None => return,
            },
            _ => return,
        };
        let scope = view.scope_of(slot);
        self.start(scope, slot.index());
    }

    /// A step starts, unless it has started before.
    pub(super) fn start(&mut self, scope: ScopeId, slot: usize) {
        if self.0.watch.is_none() {
            return;
        }
        let step = self.0.values.place_of(scope, slot);
        let watch = self.0.watch.as_mut();
        if watch.is_some_and(|watch| watch.is_unstarted(scope, step)) {
            let now = self.now();
            if let Some(watch) = &mut self.0.watch {
                watch.start(scope, step, now);
            }
        }
    }

    /// A plain call starts. Returns `false` if the scope needs more than the report's times of the call.
    #[inline(never)]
    pub(super) fn call(&mut self, call: CallId, scope: ScopeId) -> bool {
        let it = self.0.values.scope(scope);
        let (is_more, step) = (it.is_more(), call.index() - it.first);
        let watch = self.0.watch.as_ref();
        let is_enough = watch.is_some_and(|watch| watch.needs_only_times());
        // An engine makes the calls of its runs.
        if is_more || !is_enough || self.0.run.is_kept() || self.hold_attempt().is_err() {
            return false;
        }
        let now = self.0.clock.now();
        if let Some(watch) = &mut self.0.watch {
            watch.call(scope, step, now);
        }
        true
    }

    /// Counts an attempt of the report.
    fn hold_attempt(&mut self) -> Result<(), StepError> {
        let held = &mut self.0.values.held;
        if !held.has_room(size_of::<Attempt>()) {
            return Err(held.full());
        }
        held.add(size_of::<Attempt>());
        Ok(())
    }

    /// A scope has its values.
    pub(super) fn open(&mut self, scope: ScopeId) {
        if self.0.watch.is_none() {
            return;
        }
        let now = match scope {
            ScopeId::ROOT => Duration::ZERO,
            _ => self.0.clock.now(),
        };
        let it = self.0.values.scope(scope);
        let owner = it.owner.as_ref().map(|owner| Spot {
            scope: owner.scope,
            step: owner.step,
            element: owner.part.element,
        });
        let started_at = self.0.clock.started_at;
        let opening = NewScope {
            plan: it.plan,
            graph: Arc::clone(&it.graph),
            owner,
            started_at: started_at.checked_add(now).unwrap_or(started_at),
        };
        if let Some(watch) = &mut self.0.watch {
            watch.open(scope, opening, now);
        }
    }

    /// The values of a scope are about to be dropped.
    pub(super) fn close(&mut self, scope: ScopeId) {
        if let Some(watch) = &mut self.0.watch {
            watch.close(scope);
        }
    }

    /// An attempt starts. Returns its span.
    pub(super) fn begin(
        &mut self,
        of: &Of,
        number: u32,
        tool: Option<&Arc<ToolInfo>>,
    ) -> Result<Span, StepError> {
        let only_times = self.0.watch.as_ref();
        let only_times = only_times.is_some_and(|watch| watch.needs_only_times());
        if of.part.is_some() || !only_times {
            let now = self.now();
            return self.begin_at(of, (number, now), tool);
        }
        self.hold_attempt()?;
        let (step, now) = (self.0.values.place_of(of.scope, of.slot()), self.now());
        if let Some(watch) = &mut self.0.watch {
            watch.call(of.scope, step, now);
        }
        Ok(Span::none())
    }

    /// An attempt with this number started at this time. Returns its span.
    pub(super) fn begin_at(
        &mut self,
        of: &Of,
        (number, started): (u32, Duration),
        tool: Option<&Arc<ToolInfo>>,
    ) -> Result<Span, StepError> {
        let Some(watch) = &self.0.watch else {
            return Ok(Span::none());
        };
        if watch.keeps().report {
            self.hold_attempt()?;
        }
        let element = of.part.as_ref().map(|part| self.0.element(part));
        let begun = NewAttempt {
            element: element.unwrap_or_default(),
            number,
            tool: tool.cloned(),
        };
        let spot = self.spot(of);
        let watch = self.0.watch.as_mut();
        Ok(watch.map_or_else(Span::none, |watch| watch.begin(spot, begun, started)))
    }

    /// An attempt of a block or a round starts. Returns its span.
    pub(super) fn begin_part(&mut self, part: &Part) -> Result<Span, StepError> {
        let of = self.of(part);
        self.begin(&of, part.attempt, None)
    }

    fn of(&self, part: &Part) -> Of {
        Of {
            call: CallId::NONE,
            scope: self.0.scope_of(part),
            part: Some(*part),
        }
    }

    /// The call of an attempt has these arguments.
    pub(super) fn arguments(&mut self, of: &Of, number: usize, mut arguments: Value) {
        let spot = self.spot(of);
        self.0.values.scope(of.scope).mask(number, &mut arguments);
        self.0.values.held.add(bytes_of(&arguments));
        if let Some(watch) = &mut self.0.watch {
            watch.arguments(spot, arguments);
        }
    }

    /// The call of an attempt may run plans by itself.
    pub(super) fn inside(&mut self, of: &Of, context: &CallContext) {
        let spot = self.spot(of);
        if let (Some(inside), Some(watch)) = (context.inside(), &mut self.0.watch) {
            self.0.values.held.add(INSIDE);
            watch.inside(spot, inside);
        }
    }

    /// The arguments of a block or a round, with the number of its action, are there.
    pub(super) fn inputs(
        &mut self,
        part: &Part,
        number: usize,
        plan: &Plan,
        inputs: &[StoredValue],
    ) {
        let captures = self.0.watch.as_ref().is_some_and(|it| it.keeps().arguments);
        if !captures {
            return;
        }
        let values = inputs.iter().map(|input| input.as_json().cloned());
        let Ok(values) = values.collect::<Result<Vec<Value>, _>>() else {
            return;
        };
        let names = plan.inputs.iter().map(|input| input.name.clone());
        let inputs = Value::Object(names.zip(values).collect());
        let of = self.of(part);
        self.arguments(&of, number, inputs);
    }

    /// A call or a wait has ended.
    pub(super) fn end(&mut self, of: &Of, error: Option<&StepError>) {
        if self.0.watch.is_some() {
            let spot = self.spot(of);
            self.end_at(spot, error);
        }
    }

    /// An attempt of a block or a round has ended.
    pub(super) fn end_part(&mut self, part: &Part, error: Option<&StepError>) {
        if self.0.watch.is_some() {
            let spot = self.spot_of(part);
            self.end_at(spot, error);
        }
    }

    pub(super) fn end_at(&mut self, spot: Spot, error: Option<&StepError>) {
        let now = self.now();
        if let Some(watch) = &mut self.0.watch {
            watch.end(spot, error, now);
        }
    }

    /// A timer has fired.
    pub(super) fn fired(&mut self, of: &Of, pause: Pause) {
        let Some(part) = of.part.filter(|_| self.0.watch.is_some()) else {
            return;
        };
        let policy = self.0.values.policy(of.scope, of.slot());
        let error = match pause {
            Pause::Timeout => StepError::Timeout(policy.timeout.unwrap_or_default()),
            Pause::Deadline => StepError::Deadline(policy.deadline.unwrap_or_default()),
            Pause::Backoff | Pause::Every => return,
        };
        let (spot, now) = (self.spot(of), self.now());
        let is_loop = matches!(
            self.0.values.inside(of.scope, of.slot()).bodies[0].0,
            Body::Loop(_)
        );
        let Some(watch) = &mut self.0.watch else {
            return;
        };
        if part.element == Part::WHOLE && is_loop {
            watch.all_late(spot, &error, now);
        } else {
            watch.late(spot, &error, now);
        }
    }

    /// The wait before another attempt begins.
    pub(super) fn retry(&mut self, part: &Part, wait: Duration) {
        if self.0.watch.is_none() {
            return;
        }
        let (spot, element) = (self.spot_of(part), self.0.element(part));
        let body = self.0.values.inside(spot.scope, part.slot.index()).bodies[part.body as usize].0;
        let tool = match body {
            Body::Action(action) => action.tool.as_deref(),
            _ => None,
        };
        if let Some(watch) = &self.0.watch {
            watch.retry(spot, (&element, part.attempt), tool, wait);
        }
    }

    /// A part of a step iterates over a list.
    pub(super) fn list(&mut self, part: &Part, length: usize) {
        if self.0.watch.is_none() {
            return;
        }
        let (spot, element) = (self.spot_of(part), self.0.element(part));
        if let Some(watch) = &self.0.watch {
            watch.list(spot, &element, length);
        }
    }

    /// Elements of a step, which are in or around a part, have their values.
    pub(super) fn finish(&mut self, part: &Part, elements: &[u32]) {
        if self.0.watch.is_none() || elements.is_empty() {
            return;
        }
        let elements = elements.iter().map(|element| {
            self.0.element(&Part {
                element: *element,
                ..*part
            })
        });
        let (elements, spot) = (elements.collect(), self.spot_of(part));
        if let Some(watch) = &mut self.0.watch {
            watch.finish(spot, elements);
        }
    }

    /// The amounts of a step are resolved.
    pub(super) fn policy(&mut self, part: &Part, policy: &Arc<Policy>) {
        let spot = self.spot_of(part);
        if self.0.values.scope(spot.scope).touches(spot.step) {
            return;
        }
        if let Some(watch) = &mut self.0.watch {
            watch.policy(spot.scope, spot.step, Arc::clone(policy));
        }
    }
}
