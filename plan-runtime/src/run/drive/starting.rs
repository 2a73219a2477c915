//! The starts of calls, waits and timers, and their ends.

use super::super::StepError;
use super::super::catch::catch;
use super::super::start::{CalledPlan, Request, Started, StepResult};
use super::super::storing::CalledAgain;
use super::super::throttle::LONGEST_CLOSED;
use super::super::trace::Span;
use super::super::weights::of_scope;
use super::driver::Driver;
use super::limits::late;
use super::scene::{Host, Opening};
use super::task::{Of, Ticket};
use super::values::Values;
use crate::error::BlockPlace;
use crate::machine::{CallEnd, CallError, CallId, Event, Part, ScopeId, StepPlace};
use crate::plan::{Action, Body, Role, ToolNumber};
use crate::resolve::{Handed, Meter, StoredValue};
use serde_json::Value;
use std::cell::Cell;

/// A call that is about to start.
pub(super) struct Starting<'x> {
    pub(super) of: Of,
    /// The place of the step in its plan.
    pub(super) step: usize,
    pub(super) action: &'x Action,
    /// The number of the action in the whole plan.
    pub(super) number: usize,
    pub(super) attempt: u32,
}

/// The options for the start of an action.
#[derive(Clone, Copy)]
pub(super) struct Way<'r> {
    /// `true` if the action starts no call, but makes the question to gates.
    asks: bool,
    /// The values that are handed over.
    given: Option<&'r Handed>,
    /// The cell for the arguments that the report shows.
    captured: Option<&'r Cell<Option<Value>>>,
}

impl Way<'_> {
    pub(super) const CALLS: Self = Self {
        asks: false,
        given: None,
        captured: None,
    };

    pub(super) const ASKS: Self = Self {
        asks: true,
        given: None,
        captured: None,
    };
}

impl<'x> Driver<'x> {
    #[inline(always)]
    pub(super) fn start(&mut self, call: CallId, place: StepPlace, host: &mut dyn Host<'x>) {
        if !call.is_plain() || self.is_recorded {
            return self.start_part(call, place, host);
        }
        let scope = self.scene.machine.view().scope_of(place.slot);
        let it = self.scene.values.scope(scope);
        let step = call.index() - it.first;
        let plan = it.plan;
        let Body::Action(action) = &plan.steps[step].body else {
            return self.failed(call, StepError::Unknown);
        };
        let number = it.actions + it.graph.actions[step] as usize;
        if !it.is_plain {
            return self.start_plain((call, scope), (step, action, number), host);
        }
        // Most calls need only this part.
        if let Err(error) = self.scene.values.charge(action, true) {
            let part = None;
            return self.called(Of { call, scope, part }, Err(error));
        }
        let tool = self.tool(number);
        let again = self.tasks.ended_call(tool);
        let (started, bytes) = {
            let at = self.scene.values.scope(scope);
            let stop = || self.scene.look(scope);
            let meter = Meter::new(self.scene.values.room(), Some(&stop));
            let resolving = self.scene.values.resolving(at, false, &[]).metered(&meter);
            let context = |is_plan| {
                self.scene
                    .context(self.scene.at_plain((call, scope), step, number, is_plan))
            };
            let request = Request::new(&resolving, action).within(&context);
            let tasks = &mut self.tasks;
            let called = catch(|| match again {
                Some(slot) => tasks.call_again(slot, &request),
                None => CalledAgain::No,
            });
            let started = match called {
                Ok(CalledAgain::Yes) => None,
                Ok(CalledAgain::No) => Some(catch(|| host.start(number, request))),
                Ok(CalledAgain::Failed(error)) => Some(Ok(Started::Ended(Err(error)))),
                Err(panic) => Some(Err(panic)),
            };
            (started, meter.spent())
        };
        match started {
            None => {
                self.scene.values.add(bytes);
                self.tasks.count_call();
                self.tasks.push_again((call, scope), tool, bytes);
            }
            Some(Ok(Started::Running(future))) => {
                self.scene.values.add(bytes);
                self.tasks.count_call();
                self.tasks.push((call, scope), future, tool, bytes);
            }
            Some(started) => {
                let part = None;
                let bytes = (bytes, Span::none());
                self.started(Of { call, scope, part }, started, bytes, host);
            }
        }
    }

    /// The number of the tool that an action of the plan itself calls.
    #[inline(always)]
    fn tool(&self, action: usize) -> Option<ToolNumber> {
        let it = self.scene.values.scope(ScopeId::ROOT);
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
        self.scene.watching().start(scope, call.index());
        self.make_call(&starting, host);
    }

    /// Starts a call of a step that is not plain.
    #[cold]
    #[inline(never)]
    fn start_part(&mut self, call: CallId, place: StepPlace, host: &mut dyn Host<'x>) {
        let Some(starting) = self.starting(call, place) else {
            return self.failed(call, StepError::Unknown);
        };
        let Starting { of, step, .. } = starting;
        self.scene.watching().start(of.scope, of.slot());
        if place.attempt == 1
            && !self.scene.values.scope(of.scope).graph.simple[step]
            && let Err(error) = self.scene.values.hold_call(of.slot())
        {
            return self.call_failed(of, error);
        }
        if self.is_recorded && self.replays(&starting, host) {
            return;
        }
        let seen = self.before_call(&starting);
        self.make_call(&starting, host);
        self.scene.catch_again(seen);
    }

    /// Returns the call of a step that is not plain.
    pub(super) fn starting(&mut self, call: CallId, place: StepPlace) -> Option<Starting<'x>> {
        let slot = place.slot;
        let scope = self.scene.machine.view().scope_of(slot);
        let step = self.scene.values.place_of(scope, slot.index());
        let part = self.scene.machine.view().part(call);
        let of = Of { call, scope, part };
        let (action, number) = self.scene.values.action(&of)?;
        Some(Starting {
            of,
            step,
            action,
            number,
            attempt: place.attempt,
        })
    }

    /// Makes a call. Its arguments are resolved now.
    fn make_call(&mut self, it: &Starting<'x>, host: &mut dyn Host<'x>) {
        let Starting {
            of: Of { scope, .. },
            step,
            ..
        } = *it;
        let is_last = it.of.part.is_none_or(|part| {
            part.attempt >= self.scene.values.policy(scope, it.of.slot()).attempts
        });
        let admission = self.admission.as_ref();
        let is_asked = admission.is_some_and(|admission| admission.shown(&it.of).is_some());
        let is_counted = admission.is_some_and(|admission| admission.is_counted(&it.of));
        // An attempt after the first does not count as a call.
        let is_new = it.attempt == 1 && !is_counted;
        if let Err(error) = self.scene.values.charge(it.action, is_new) {
            return self.called(it.of, Err(error));
        }
        let tool = it.action.tool.as_ref();
        let span = match self.scene.watching().begin(&it.of, it.attempt, tool) {
            Ok(span) => span,
            Err(error) => return self.called(it.of, Err(error)),
        };
        let given = self.scene.values.give(scope, step, is_last && !is_asked);
        let keeps = self.scene.watch.as_ref().map(|watch| watch.keeps());
        let captured = Cell::new(None);
        let captures = keeps.is_some_and(|keeps| keeps.arguments);
        let way = Way {
            given: given.as_ref(),
            captured: captures.then_some(&captured),
            ..Way::CALLS
        };
        let (started, bytes) = self.request((it, &span), way, host);
        self.scene.values.take_back(scope, given);
        self.scene.values.count_json(scope, step);
        if self.scene.watch.is_some() {
            let context = match &started {
                Ok(Started::InContext(_, context) | Started::Plan(_, context)) => Some(context),
                _ => None,
            };
            let mut watching = self.scene.watching();
            watching.called((&it.of, it.number), captured.take(), context);
        }
        self.started(it.of, started, (bytes, span), host);
    }

    /// Has the host start an action. Returns the bytes that the arguments count.
    pub(super) fn request(
        &mut self,
        (it, span): (&Starting<'x>, &Span),
        way: Way<'_>,
        host: &mut dyn Host<'x>,
    ) -> (Result<Started<'x>, StepError>, usize) {
        let Starting {
            of: Of { scope, part, .. },
            step,
            ..
        } = *it;
        let mut own = self.scene.values.take_own(scope);
        // With a journal, a replay takes no time.
        let limit = part.filter(|_| !way.asks && !self.is_recorded);
        let limit = limit.and_then(|part| {
            self.scene
                .values
                .limit_here(&self.scene.clock, scope, &part)
        });
        let until = limit.as_ref().map(|(until, _)| *until);
        let (started, bytes) = {
            let at = self.scene.values.scope(scope);
            let stop = || self.scene.clock.is_over(until) || self.scene.look(scope);
            let meter = Meter::new(self.scene.values.room(), Some(&stop));
            let inside = part.and_then(|part| {
                let inside = self.scene.values.step(part.slot.index())?;
                Some(inside.locals(part.element))
            });
            let locals = inside.as_deref().unwrap_or_default();
            let is_always = part.is_some() && at.plan.steps[step].role == Role::Always;
            let resolving = self
                .scene
                .values
                .resolving(at, is_always, locals)
                .metered(&meter);
            let context = |is_plan| {
                let mut place = self.scene.at(it, is_plan);
                if way.asks {
                    // The question does not count in the time limits of the step.
                    place.until = None;
                }
                self.scene.context(place)
            };
            let admission = self.admission.as_ref();
            let mut request = Request::new(&resolving, it.action)
                .within(&context)
                .on(self.scene.run.engine.as_ref())
                .shown(admission.and_then(|admission| admission.shown(&it.of)))
                .hiding(at.secrets(it.number))
                .capturing(way.captured)
                .handing(way.given, Values::keep(at, step));
            if way.asks {
                request = request.asking();
            }
            let start = || match &mut own {
                None => host.start(it.number, request),
                Some((_, own)) => (own.start)(it.number, request),
            };
            (catch(|| span.in_scope(start)), meter.spent())
        };
        self.scene.values.put_own(own);
        let started = match started {
            Ok(Started::Ended(Err(error))) => Ok(Started::Ended(Err(late(error, limit)))),
            started => started,
        };
        (started, bytes)
    }

    /// A call has started, or ended at once.
    #[inline(never)]
    fn started(
        &mut self,
        of: Of,
        started: Result<Started<'x>, StepError>,
        (bytes, span): (usize, Span),
        host: &mut dyn Host<'x>,
    ) {
        let admission = self.admission.as_mut();
        let turn = admission.and_then(|admission| admission.take_turn(&of));
        match started {
            Ok(Started::Running(future)) => {
                self.scene.values.add(bytes);
                let future = self.held_back(&of, future, None);
                let ticket = Ticket::new(turn, None, span);
                let run = &self.scene.run;
                self.tasks.push_call(run, &of, future, (ticket, bytes));
            }
            Ok(Started::InContext(future, context)) => {
                self.scene.values.add(bytes);
                let future = self.held_back(&of, future, Some(&context));
                let ticket = Ticket::new(turn, Some(context), span);
                let run = &self.scene.run;
                self.tasks.push_call(run, &of, future, (ticket, bytes));
            }
            Ok(Started::Ended(result)) => self.ended_at_once(of, result),
            Ok(Started::Plan(plan, context)) if self.knows(&of, &plan) => {
                self.begin_plan(&of);
                drop(turn);
                let bytes = bytes + of_scope(plan.executable.plan);
                if !self.scene.values.has_room(bytes) {
                    return self.call_failed(of, self.scene.values.full());
                }
                let key = (of.slot(), of.part.map_or(Part::WHOLE, |part| part.element));
                let opening = Opening {
                    plan,
                    context,
                    bytes,
                };
                self.scene.opening.insert(key, opening);
                self.scene.machine.handle(Event::Opened(of.call));
            }
            Ok(Started::Plan(plan, context)) => {
                self.begin_plan(&of);
                self.limit_plan(&of);
                let future = host.run_plan(*plan, context.clone());
                self.scene.values.add(bytes);
                let ticket = Ticket::new(turn, Some(context), span);
                let run = &self.scene.run;
                self.tasks.push_call(run, &of, future, (ticket, bytes));
            }
            Ok(Started::Asks(_)) => self.called(of, Err(StepError::Unknown)),
            Err(panic) => self.ended_at_once(of, Err(panic)),
        }
    }

    /// Returns `true` if a call is a plan whose steps the machine knows.
    fn knows(&mut self, of: &Of, plan: &CalledPlan<'x>) -> bool {
        let place = self.scene.machine.view().may_open(of.call);
        place.is_some_and(|place| self.scene.errors.knows(place, plan.executable.plan))
    }

    /// A plain call has its output.
    #[inline(always)]
    pub(super) fn plain_called(&mut self, (call, scope): (CallId, ScopeId), output: StoredValue) {
        if self.scene.watch.is_some() {
            self.scene.watching().plain_called((call, scope), &output);
        }
        if self.scene.values.has_room(output.bytes()) {
            self.scene.values.complete(scope, call.index(), output);
            self.scene.machine.handle(Event::Ended(call, CallEnd::Done));
        } else {
            let part = None;
            let error = self.scene.values.no_room();
            self.call_failed(Of { call, scope, part }, error);
        }
    }

    /// A call has ended.
    #[inline(never)]
    pub(super) fn called(&mut self, of: Of, result: StepResult) {
        if self.is_recorded {
            let ticket = Ticket::none();
            if let Some((result, _)) = self.records(of, result, ticket) {
                self.counted(of, result);
            }
        } else {
            self.counted(of, result);
        }
    }

    /// A call has ended, and its end counts now.
    #[inline]
    pub(super) fn counted(&mut self, of: Of, result: StepResult) {
        match (result, of.part) {
            (Ok(output), None) => self.plain_called((of.call, of.scope), output),
            (Ok(output), Some(part)) => self.part_called(of, part, output),
            (Err(error), _) => self.call_failed(of, error),
        }
    }

    #[cold]
    fn part_called(&mut self, of: Of, part: Part, output: StoredValue) {
        self.forget_question(&of);
        self.scene.watching().end(&of, None);
        match self.scene.take_made(of.scope, part, output) {
            Ok(()) => self
                .scene
                .machine
                .handle(Event::Ended(of.call, CallEnd::Done)),
            Err(error) => self.call_failed(of, error),
        }
    }

    #[cold]
    pub(super) fn call_failed(&mut self, of: Of, error: StepError) {
        if self.scene.is_interrupted() {
            return;
        }
        let step = self.scene.values.place_of(of.scope, of.slot());
        let it = self.scene.values.scope(of.scope);
        let id = &it.plan.steps[step].id;
        let error = error.of_call(|| BlockPlace {
            step: id.clone(),
            element: of
                .part
                .map_or_else(Vec::new, |part| self.scene.element(&part)),
            attempt: of.part.map_or(1, |part| part.attempt),
        });
        let error = it.hushed(step, error);
        self.scene.watching().end(&of, Some(&error));
        if let Some(limit) = error.exceeded() {
            let element = of
                .part
                .map_or_else(Vec::new, |part| self.scene.element(&part));
            self.scene
                .exceed(limit, (of.scope, of.slot()), &element, &error);
            let CallError { error, .. } = self.scene.errors.keep(error);
            let end = CallEnd::Exceeds(error);
            return self.scene.machine.handle(Event::Ended(of.call, end));
        }
        if self.is_recorded {
            self.keep_failure(&of, &error);
        }
        if let (Some(part), Some(delay)) = (of.part, error.retry_delay()) {
            self.close_throttles(&of, &part, delay.min(LONGEST_CLOSED));
        }
        self.failed(of.call, error);
    }
}
