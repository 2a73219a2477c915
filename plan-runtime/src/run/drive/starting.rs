//! The starts of calls, waits and timers, and their ends.

use super::super::StepError;
use super::super::catch::catch;
use super::super::schedule::size;
use super::super::start::{CalledPlan, Request, Started, StepResult, start_again};
use super::super::throttle::LONGEST_CLOSED;
use super::cold::WHOLE;
use super::driver::{At, Driver, Host, Opening};
use super::tasks::Of;
use super::values::Values;
use crate::error::{BlockPlace, Elements};
use crate::machine::{CallEnd, CallError, CallId, Event, Part, ScopeId, StepPlace};
use crate::plan::{Action, Body, Catch, OK, Role, ToolNumber};
use crate::print::MessageName;
use crate::resolve::{Limit, Meter, StoredValue};

/// A call that is about to start.
struct Starting<'x> {
    of: Of,
    /// The place of the step in its plan.
    step: usize,
    action: &'x Action,
    /// The number of the action in the whole plan.
    number: usize,
    attempt: u32,
}

impl<'x> Driver<'x, '_> {
    #[inline(always)]
    pub(super) fn start(&mut self, call: CallId, place: StepPlace, host: &mut dyn Host<'x>) {
        if !call.is_plain() {
            return self.start_part(call, place, host);
        }
        let scope = self.machine.view().scope_of(place.slot);
        let it = self.values.scope(scope);
        let step = call.index() - it.first;
        let plan = it.plan;
        let Body::Action(action) = &plan.steps[step].body else {
            return self.failed(call, StepError::Unknown);
        };
        let number = it.actions + it.graph.actions[step] as usize;
        if it.called.is_some() || it.handing.is_some() {
            return self.start_plain((call, scope), (step, action, number), host);
        }
        // Most calls need no more than this.
        if let Err(error) = self.values.charge(action, true) {
            let part = None;
            return self.called(Of { call, scope, part }, Err(error));
        }
        let tool = self.tool(number);
        let again = self.tasks.ended_call(tool);
        let (started, bytes) = {
            let at = self.values.scope(scope);
            let meter = Meter::new(self.values.room(), None);
            let resolving = self.values.resolving(at, false, &[]).metered(&meter);
            let context =
                |is_plan| self.context(self.at_plain((call, scope), step, number, is_plan));
            let request = Request::new(&resolving, action).within(&context);
            let started =
                catch(|| start_again(again, request, |request| host.start(number, request)));
            (started, meter.spent())
        };
        match started {
            Ok(Started::Running(future)) => {
                self.values.add(bytes);
                self.tasks.push((call, scope), future, tool, bytes);
            }
            started => {
                let part = None;
                self.started(Of { call, scope, part }, (started, bytes), host);
            }
        }
    }

    /// The number of the tool that an action of the plan itself calls.
    #[inline(always)]
    fn tool(&self, action: usize) -> Option<ToolNumber> {
        let it = self.values.scope(ScopeId::ROOT);
        let called = it.graph.called(it.plan);
        called.implementation(action, it.hands_over)
    }

    #[inline(never)]
    fn start_plain(
        &mut self,
        (call, scope): (CallId, ScopeId),
        (step, action, number): (usize, &'x Action, usize),
        host: &mut dyn Host<'x>,
    ) {
        let starting = Starting {
            of: Of {
                call,
                scope,
                part: None,
            },
            step,
            action,
            number,
            attempt: 1,
        };
        self.make_call(&starting, host);
    }

    #[cold]
    fn at_plain(
        &self,
        (call, scope): (CallId, ScopeId),
        step: usize,
        number: usize,
        is_plan: bool,
    ) -> At {
        let it = self.values.scope(scope);
        debug_assert_eq!(step, call.index() - it.first);
        At {
            scope,
            step,
            action: number - it.actions - it.graph.actions[step] as usize,
            element: Vec::new(),
            attempt: 1,
            is_plan,
            until: None,
        }
    }

    /// Starts a call of a step that is not plain.
    #[cold]
    #[inline(never)]
    fn start_part(&mut self, call: CallId, place: StepPlace, host: &mut dyn Host<'x>) {
        let slot = place.slot;
        let scope = self.machine.view().scope_of(slot);
        let step = self.place_of(scope, slot.index());
        let part = self.machine.view().part(call);
        let part = part.expect("a call that starts has a part");
        let (body, number) = self.inside(scope, slot.index()).bodies[part.body as usize];
        let Body::Action(action) = body else {
            return self.failed(call, StepError::Unknown);
        };
        let starting = Starting {
            of: Of {
                call,
                scope,
                part: Some(part),
            },
            step,
            action,
            number,
            attempt: place.attempt,
        };
        let it = self.values.scope(scope);
        let (is_simple, role) = (it.graph.simple[step], it.plan.steps[step].role);
        if place.attempt == 1
            && !is_simple
            && let Err(error) = self.values.hold_call(slot.index())
        {
            return self.call_failed(starting.of, error);
        }
        if role == Role::Always {
            self.show_results(scope);
        }
        let seen = self.uncatch(scope, step);
        self.make_call(&starting, host);
        self.catch_again(seen);
    }

    /// Makes a call. Its arguments are resolved now.
    fn make_call(&mut self, it: &Starting<'x>, host: &mut dyn Host<'x>) {
        let Starting {
            of: Of { scope, .. },
            step,
            ..
        } = *it;
        let is_last = it
            .of
            .part
            .is_none_or(|part| part.attempt >= self.policy(scope, it.of.slot()).attempts);
        // An attempt after the first does not count as a call.
        if let Err(error) = self.values.charge(it.action, it.attempt == 1) {
            return self.called(it.of, Err(error));
        }
        let given = self.values.give(scope, step, is_last);
        let mut own = self.values.take_own(scope);
        let (started, bytes) = {
            let at = self.values.scope(scope);
            let meter = Meter::new(self.values.room(), None);
            let inside = it.of.part.and_then(|part| {
                let inside = self.values.step(part.slot.index())?;
                Some(inside.locals(part.element))
            });
            let locals = inside.as_deref().unwrap_or_default();
            let is_always = it.of.part.is_some() && at.plan.steps[step].role == Role::Always;
            let resolving = self.values.resolving(at, is_always, locals).metered(&meter);
            let context = |is_plan| self.context(self.at(it, is_plan));
            let request = Request::new(&resolving, it.action)
                .within(&context)
                .handing(given.as_ref(), Values::keep(at, step));
            let started = catch(|| match &mut own {
                None => host.start(it.number, request),
                Some((_, own)) => (own.start)(it.number, request),
            });
            (started, meter.spent())
        };
        self.values.put_own(own);
        self.values.take_back(scope, given);
        self.values.count_json(scope, step);
        match started {
            Ok(Started::Running(future)) if it.of.part.is_none() => {
                self.values.add(bytes);
                self.tasks.push((it.of.call, scope), future, None, bytes);
            }
            started => self.started(it.of, (started, bytes), host),
        }
    }

    /// A call has started, or ended at once.
    #[inline(never)]
    fn started(
        &mut self,
        of: Of,
        (started, bytes): (Result<Started<'x>, StepError>, usize),
        host: &mut dyn Host<'x>,
    ) {
        match started {
            Ok(Started::Running(future) | Started::InContext(future, _)) => {
                self.values.add(bytes);
                self.tasks.push_part(&of, future, bytes);
            }
            Ok(Started::Ended(result)) => self.called(of, result),
            Ok(Started::Plan(plan, context)) if self.knows(&of, &plan) => {
                let bytes = bytes + size(plan.executable.plan);
                if !self.values.has_room(bytes) {
                    return self.call_failed(of, self.values.full());
                }
                let key = (of.slot(), of.part.map_or(WHOLE, |part| part.element));
                let opening = Opening {
                    plan,
                    context,
                    bytes,
                };
                self.opening.insert(key, opening);
                self.machine.handle(Event::Opened(of.call));
            }
            Ok(Started::Plan(plan, context)) => {
                let future = host.run_plan(*plan, context);
                self.values.add(bytes);
                self.tasks.push_part(&of, future, bytes);
            }
            Ok(Started::Asks(_)) => self.called(of, Err(StepError::Unknown)),
            Err(panic) => self.called(of, Err(panic)),
        }
    }

    /// Returns `true` if a call is a plan whose steps the machine knows.
    fn knows(&mut self, of: &Of, plan: &CalledPlan<'x>) -> bool {
        let place = self.machine.view().may_open(of.call);
        place.is_some_and(|place| self.errors.knows(place, plan.executable.plan))
    }

    /// The place of a call in the run.
    #[cold]
    fn at(&self, it: &Starting<'x>, is_plan: bool) -> At {
        let scope = self.values.scope(it.of.scope);
        let first = scope.actions + scope.graph.actions[it.step] as usize;
        let policy = self.policy(it.of.scope, it.of.slot());
        let element = it.of.part.map_or(WHOLE, |part| part.element);
        let inside = self.values.step(it.of.slot());
        let deadline = inside.and_then(|inside| inside.deadlines.get(&element));
        let deadline = match (deadline, policy.deadline) {
            (Some((_, until)), _) => Some(*until),
            (None, deadline) => deadline.map(|limit| self.clock.now().saturating_add(limit)),
        };
        let timeout = policy.timeout;
        let timeout = timeout.map(|limit| self.clock.now().saturating_add(limit));
        At {
            scope: it.of.scope,
            step: it.step,
            action: it.number - first,
            element: it.of.part.map_or_else(Vec::new, |part| self.element(&part)),
            attempt: it.attempt,
            is_plan,
            until: timeout.into_iter().chain(deadline).min(),
        }
    }

    /// A plain call has its output.
    #[inline(always)]
    pub(super) fn plain_called(&mut self, (call, scope): (CallId, ScopeId), output: StoredValue) {
        if self.values.has_room(output.bytes()) {
            self.values.complete(scope, call.index(), output);
            self.machine.handle(Event::Ended(call, CallEnd::Done));
        } else {
            let part = None;
            let error = self.values.no_room();
            self.call_failed(Of { call, scope, part }, error);
        }
    }

    /// A call has ended.
    #[inline(never)]
    pub(super) fn called(&mut self, of: Of, result: StepResult) {
        match (result, of.part) {
            (Ok(output), None) => self.plain_called((of.call, of.scope), output),
            (Ok(output), Some(part)) => self.part_called(of, part, output),
            (Err(error), _) => self.call_failed(of, error),
        }
    }

    #[cold]
    fn part_called(&mut self, of: Of, part: Part, output: StoredValue) {
        match self.take_made(of.scope, part, output) {
            Ok(()) => self.machine.handle(Event::Ended(of.call, CallEnd::Done)),
            Err(error) => self.call_failed(of, error),
        }
    }

    /// Takes the output of a call or a block, if there is room.
    pub(super) fn take_made(
        &mut self,
        scope: ScopeId,
        part: Part,
        output: StoredValue,
    ) -> Result<(), StepError> {
        let slot = part.slot.index();
        let step = self.place_of(scope, slot);
        if !self.values.scope(scope).graph.simple[step] {
            self.values.hold_made(slot, output.bytes())?;
        } else if !self.values.has_room(output.bytes()) {
            return Err(self.values.no_room());
        }
        self.deliver(scope, part, output, false)
    }

    /// Puts the value of a part where the value belongs.
    pub(super) fn deliver(
        &mut self,
        scope: ScopeId,
        part: Part,
        value: StoredValue,
        is_failure: bool,
    ) -> Result<(), StepError> {
        let slot = part.slot.index();
        let catches = self.policy(scope, slot).catch == Catch::Each;
        let inside = self.inside(scope, slot);
        let delivered = inside.deliver(part.element, value, is_failure, catches);
        let left = delivered.map_err(StepError::output)?;
        self.values.let_go(slot, left);
        Ok(())
    }

    #[cold]
    pub(super) fn call_failed(&mut self, of: Of, error: StepError) {
        let step = self.place_of(of.scope, of.slot());
        let id = &self.values.scope(of.scope).plan.steps[step].id;
        let error = error.of_call(|| BlockPlace {
            step: id.clone(),
            element: of.part.map_or_else(Vec::new, |part| self.element(&part)),
            attempt: of.part.map_or(1, |part| part.attempt),
        });
        if let Some(limit) = error.exceeded() {
            let element = of.part.map_or_else(Vec::new, |part| self.element(&part));
            self.exceed(limit, (of.scope, of.slot()), &element, &error);
            let CallError { error, .. } = self.errors.keep(error);
            let end = CallEnd::Exceeds(error);
            return self.machine.handle(Event::Ended(of.call, end));
        }
        if let (Some(part), Some(delay)) = (of.part, error.retry_delay()) {
            let inside = self.inside(of.scope, of.slot());
            let delay = delay.min(LONGEST_CLOSED);
            inside.delays.insert(part.element, delay);
        }
        self.failed(of.call, error);
    }

    /// A limit is exceeded, so the run ends at once.
    pub(super) fn exceed(
        &mut self,
        limit: Limit,
        (scope, slot): (ScopeId, usize),
        element: &[usize],
        error: &StepError,
    ) {
        let it = self.values.scope(scope);
        let step = &it.plan.steps[slot - it.first];
        let outer = self.outer(scope);
        let outer = outer.map_or_else(String::new, |outer| format!("{outer}."));
        let (id, element) = (MessageName(&step.id), Elements(element));
        let tool = step.tool().map(|tool| MessageName(&tool.name));
        let tool = tool.map_or_else(String::new, |tool| format!(" ({tool})"));
        self.exceed_at(
            limit,
            &format!("step `{outer}{id}{element}`{tool}: {error}"),
        );
    }

    /// A limit is exceeded at a place.
    pub(super) fn exceed_at(&mut self, limit: Limit, place: &str) {
        self.allowance.exceed(limit, place);
        self.stops.exceed(place.into());
    }

    /// Shows an undo step the output of a call, instead of the `Result` of a step that catches failures.
    pub(super) fn uncatch(
        &mut self,
        scope: ScopeId,
        step: usize,
    ) -> Option<(usize, Option<StoredValue>)> {
        let it = self.values.scope(scope);
        let Role::Undo(undone) = it.plan.steps[step].role else {
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

    pub(super) fn catch_again(&mut self, seen: Option<(usize, Option<StoredValue>)>) {
        if let Some((slot, caught)) = seen {
            self.values.swap(slot, caught);
        }
    }
}
