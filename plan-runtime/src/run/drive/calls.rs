//! The starts of calls.

use super::super::StepError;
use super::super::catch::catch;
use super::super::context::CallContext;
use super::super::limits::bytes_of_scope;
use super::super::start::{CalledPlan, Request, Started, StepFuture, StepResult};
use super::super::storing::{CalledAgain, in_span, once};
use super::super::watch::Span;
use super::admission::{Admission, Admitting, Way};
use super::answers::Answering;
use super::failures::not_started;
use super::recording::{Records, mark_repeated};
use super::scene::{Host, Scene, Starting};
use super::scope_values::Opening;
use super::task::{Site, Ticket};
use super::tasks::Tasks;
use super::values::Values;
use crate::error::{Cause, Error};
use crate::machine::{CallId, Event, Pause, ScopeId, StepPlace};
use crate::plan::{Body, CalledTools, Keep};
use crate::resolve::{Meter, bytes_of};
use serde_json::Value;
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;

/// The calls of a run, its waits and its timers.
pub(super) struct Calls<'x> {
    pub(super) scene: Scene<'x>,
    pub(super) tasks: Tasks<'x>,
    /// The gates and throttles, if there are any.
    pub(super) admission: Option<Box<Admission<'x>>>,
    /// The records, if the run has a journal.
    pub(super) records: Option<Box<Records>>,
    pub(super) random: fastrand::Rng,
    /// The timers of time limits that have passed.
    pub(super) late: VecDeque<(Site, Pause)>,
    /// The tools of the plan, if a call may use the future of another call to its tool.
    pub(super) tools: Option<Arc<CalledTools>>,
}

impl<'x> Calls<'x> {
    #[inline(always)]
    pub(super) fn start(&mut self, call: CallId, place: StepPlace, host: &mut dyn Host<'x>) {
        if !call.is_plain() || self.records.is_some() {
            return self.start_part(call, place, host);
        }
        let scope = self.scene.machine.view().scope_of(place.slot);
        if self.scene.values.scope(scope).is_plain {
            self.start_plain::<false>(call, scope, host);
        } else {
            self.start_watched(call, scope, host);
        }
    }

    /// Starts a plain call. If the run has a watch, the watch needs only the times of the call. `HANDS` is `true` in a scope that hands over Rust values.
    #[inline(always)]
    fn start_plain<const HANDS: bool>(
        &mut self,
        call: CallId,
        scope: ScopeId,
        host: &mut dyn Host<'x>,
    ) {
        let it = self.scene.values.scope(scope);
        let (plan, step) = (it.plan, call.index() - it.first);
        let Body::Action(action) = &plan.steps[step].body else {
            return self.failed(call, StepError::Unknown);
        };
        let number = it.first_action(step);
        if let Err(error) = self.scene.values.held.charge(action, true) {
            return self.called(self.scene.values.of_plain(call, scope), Err(error));
        }
        let (it, given) = if HANDS {
            let given = self.scene.values.give(scope, step, true);
            (self.scene.values.scope(scope), given)
        } else {
            (it, None)
        };
        let tool = self.tools.as_ref().and_then(|tools| tools.number(number));
        let again = self.tasks.ended_call(tool);
        let (started, bytes) = {
            let scene = &self.scene;
            let stop = move || scene.look(scope);
            let meter = Meter::new(scene.values.held.room(), Some(&stop));
            let resolving = scene.values.resolving(it, false, &[]).metered(&meter);
            let context = move |is_plan| {
                let of = scene.values.of_plain(call, scope);
                scene.context(&scene.at_plain(of, number, is_plan))
            };
            let request = Request {
                context: Some(&context),
                given: given.as_ref(),
                keep: if HANDS {
                    Values::keep(it, step)
                } else {
                    Keep::Json
                },
                ..Request::new(&resolving, action)
            };
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
        if HANDS {
            self.scene.values.take_back(scope, given);
            self.scene.values.count_json(scope, step);
        }
        match started {
            None => {
                self.scene.values.held.add(bytes);
                self.tasks.count_call();
                self.tasks.push_again((call, scope), tool, bytes);
            }
            Some(Ok(Started::Running(future))) => {
                self.scene.values.held.add(bytes);
                self.tasks.count_call();
                self.tasks.push((call, scope), future, tool, bytes);
            }
            Some(started) => {
                let of = self.scene.values.of_plain(call, scope);
                self.started(of, started, (bytes, Span::none()));
            }
        }
    }

    /// Starts a plain call off the fast path. The run has a watch or an engine, or the scope passes on Rust values, is in a called plan or has
    /// secrets.
    #[inline(never)]
    fn start_watched(&mut self, call: CallId, scope: ScopeId, host: &mut dyn Host<'x>) {
        let of = self.scene.values.of_plain(call, scope);
        let is_unseen = self.scene.values.is_unseen(scope);
        if is_unseen || self.scene.tell(|it| it.call(scope, of.step)) == Some(true) {
            return match self.scene.values.scope(scope).handing {
                Some(_) => self.start_plain::<true>(call, scope, host),
                None => self.start_plain::<false>(call, scope, host),
            };
        }
        let Some((action, number)) = self.scene.values.action(&of) else {
            return self.failed(call, StepError::Unknown);
        };
        self.scene.tell(|it| it.start_call(scope, of.step));
        self.make_call(&Starting { of, action, number }, host);
    }

    /// Starts a call of a step that is not plain, or any call of a run with a journal.
    #[cold]
    #[inline(never)]
    fn start_part(&mut self, call: CallId, place: StepPlace, host: &mut dyn Host<'x>) {
        let Some(starting) = Starting::of(&mut self.scene, call, place) else {
            return self.failed(call, StepError::Unknown);
        };
        let of = starting.of;
        self.scene.tell(|it| it.start_call(of.scope, of.step));
        if of.attempt() == 1
            && !self.scene.values.scope(of.scope).graph.simple[of.step]
            && let Err(error) = self.scene.values.hold_call(of.slot())
        {
            return self.call_failed(of, error);
        }
        if let Some(records) = &mut self.records {
            let (scene, tasks) = (&mut self.scene, &mut self.tasks);
            let admission = self.admission.as_ref();
            let question = admission.and_then(|admission| admission.question(&starting.of));
            let (calls, it) = (&mut records.calls, &starting);
            match calls.replays(scene, tasks, question, it, host) {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => return self.call_failed(of, error),
            }
        }
        self.make_call(&starting, host);
    }

    /// Makes a call. Its arguments are resolved now.
    fn make_call(&mut self, it: &Starting<'x>, host: &mut dyn Host<'x>) {
        let (scope, step) = (it.of.scope, it.of.step);
        let decided = self.decide_arguments(it);
        let is_undecided = std::mem::take(&mut self.scene.is_undecided);
        let decided = match decided.transpose() {
            Ok(decided) => decided,
            Err(_) if is_undecided => None,
            Err(error) => return self.ended_at_once(it.of, Err(error)),
        };
        let is_last = it.of.attempt() >= self.scene.values.policy(&it.of).attempts;
        let admission = self.admission.as_ref();
        let question = admission.and_then(|admission| admission.question(&it.of));
        let shown = question.map(|it| &it.arguments).or(decided.as_ref());
        let is_counted = admission.is_some_and(|admission| admission.is_counted(&it.of));
        let is_changed = question.is_some_and(|it| it.is_changed);
        // An attempt after the first does not count as a call.
        let is_new = it.of.attempt() == 1 && !is_counted;
        if let Err(error) = self.scene.values.held.charge(it.action, is_new) {
            return self.called(it.of, Err(error));
        }
        let tool = it.action.tool.as_ref();
        let begun = self.scene.tell(|watch| watch.begin_call(&it.of, tool));
        let span = match begun.unwrap_or_else(|| Ok(Span::none())) {
            Ok(span) => span,
            Err(error) => return self.called(it.of, Err(error)),
        };
        if is_changed {
            self.scene.tell(|told| told.watch.changed(it.of.spot()));
        }
        let is_last = is_last && shown.is_none();
        let given = self.scene.values.give(scope, step, is_last);
        let keeps = self.scene.watch.as_ref().map(|watch| watch.keeps);
        let captured = Cell::new(None);
        let captures = keeps.is_some_and(|keeps| keeps.arguments);
        let admission = self.admission.as_ref();
        let waits = admission.is_some_and(|admission| admission.needs_turn(&it.of, it.action));
        let durable = self.scene.run.durable.as_ref();
        let way = Way {
            is_held: waits || durable.is_some_and(|durable| !durable.lets_start()),
            shown,
            given: given.as_ref(),
            captured: captures.then_some(&captured),
            asks: false,
            span: Some(&span),
        };
        let is_viewed = durable.is_some_and(|durable| durable.is_viewed());
        let (started, bytes) = if is_undecided || is_viewed && it.is_computed() {
            (Ok(Started::Running(once(pending()))), 0)
        } else {
            it.request(&mut self.scene, way, host)
        };
        self.scene.values.take_back(scope, given);
        self.scene.values.count_json(scope, step);
        if let Some(arguments) = captured.take() {
            self.scene
                .tell(|watch| watch.arguments(&it.of, it.number, arguments));
        }
        let bytes = bytes.saturating_add(decided.as_ref().map_or(0, bytes_of));
        self.started(it.of, started, (bytes, span));
    }

    /// Returns the arguments of a called plan if Rust code makes them. In a run with a journal, they are a decision: the plan continues with them after a
    /// crash.
    fn decide_arguments(&mut self, it: &Starting<'x>) -> Option<Result<Value, StepError>> {
        let view = self.scene.machine.view();
        let decides = self.records.is_some() && it.action.args.has_code();
        view.may_open(it.of.call).filter(|_| decides)?;
        Some(Answering(&mut self.scene).arguments(&it.of, &it.action.args))
    }

    /// Tells the watch which calls have begun.
    #[inline(always)]
    pub(super) fn look_at_begun(&mut self) {
        let begun = self.tasks.begun.as_ref();
        if self.records.is_some() || begun.is_some_and(|begun| !begun.is_empty()) {
            self.tell_begun();
        }
    }

    #[cold]
    fn tell_begun(&mut self) {
        let begun = match &mut self.records {
            None => self.tasks.take_begun(&self.scene.values),
            Some(records) => records.calls.take_begun(),
        };
        for of in begun {
            self.scene.tell(|it| it.watch.has_begun(of.spot()));
        }
    }

    /// Tells the watch at the end or the drop of the run which calls have not begun.
    pub(super) fn end_unbegun(&mut self) {
        if self.scene.watch.is_none() {
            return;
        }
        let mut calls = self.tasks.unbegun();
        if let Some(records) = &self.records {
            calls.extend(records.calls.unbegun());
        }
        for call in calls {
            if let Some(of) = self.tasks.of(call, &self.scene.values) {
                self.scene.tell(|it| it.watch.has_not_begun(of.spot()));
            }
        }
    }

    /// Handles a call that has started or has ended at once.
    #[inline(never)]
    fn started(
        &mut self,
        of: Site,
        started: Result<Started<'x>, StepError>,
        (bytes, span): (usize, Span),
    ) {
        let admission = self.admission.as_mut();
        let turn = admission.and_then(|admission| admission.take_turn(&of));
        if let Ok(Started::InContext(_, context) | Started::Plan(_, context)) = &started {
            self.scene.tell(|it| it.inside(&of, context));
        }
        // The steps of a plan begin by themselves.
        if matches!(started, Ok(Started::Plan(..))) {
            self.scene.tell(|it| it.watch.has_begun(of.spot()));
        }
        let (future, context) = match started {
            Ok(Started::Running(future)) => {
                let future = self.held_back(&of, in_span(future, span), None, turn.is_some());
                (future, None)
            }
            Ok(Started::InContext(future, context)) => {
                let future = in_span(future, span);
                let future = self.held_back(&of, future, Some(&context), turn.is_some());
                (future, Some(context))
            }
            Ok(Started::Ended(result)) => return self.ended_at_once(of, result),
            Ok(Started::Plan(plan, context)) => {
                if let Some(records) = &mut self.records {
                    records.begin_plan(&mut self.scene, &of);
                }
                if !self.knows(&of, &plan) {
                    // The machine may have dropped the call after it was admitted.
                    let view = self.scene.machine.view();
                    if of.call.is_plain() || view.part(of.call).is_some() {
                        self.called(of, Err(never_starts(*plan)));
                    }
                    return;
                }
                drop(turn);
                let bytes = bytes + bytes_of_scope(plan.executable.plan);
                if !self.scene.values.held.has_room(bytes) {
                    return self.call_failed(of, self.scene.values.held.full());
                }
                let opening = Opening {
                    plan,
                    context,
                    bytes,
                };
                let inside = self.scene.values.inside(&of);
                inside.opening.insert(of.element(), opening);
                return self.scene.machine.handle(Event::Opened(of.call));
            }
            Ok(Started::Asks(_)) => return self.called(of, Err(StepError::Unknown)),
            Err(panic) => return self.ended_at_once(of, Err(panic)),
        };
        self.scene.values.held.add(bytes);
        let ticket = Ticket::new(turn, context);
        let run = &self.scene.run;
        self.tasks.push_call(run, of, future, (ticket, bytes));
    }

    /// Holds a call of a run with a journal back as long as the run replays, and limits its time. A throttled call that began before a crash waits for another
    /// turn.
    fn held_back(
        &mut self,
        of: &Site,
        future: StepFuture<'x>,
        context: Option<&CallContext>,
        has_turn: bool,
    ) -> StepFuture<'x> {
        let (Some(records), scene) = (&mut self.records, &mut self.scene) else {
            return future;
        };
        let admission = self.admission.as_ref();
        if has_turn && !admission.is_some_and(|admission| admission.is_recorded(of)) {
            records.note_turn(scene, of);
        }
        let admission = admission.filter(|_| !has_turn);
        let turn = admission.and_then(|admission| {
            let (action, _) = scene.values.action(of)?;
            let timer = &scene.run.timer;
            let must_wait = admission.needs_turn(of, action);
            let mut turn = must_wait.then(|| admission.new_turn(action))?;
            // Calls that had not begun take their turns after the replay.
            turn.take(timer.now());
            Some((turn, Arc::clone(timer)))
        });
        records
            .calls
            .held_back(&scene.clock, of, (future, turn), context)
    }

    /// Handles a call that has ended without a future.
    fn ended_at_once(&mut self, of: Site, mut result: StepResult) {
        if let Some(records) = &mut self.records
            && records.calls.ends_at_once(of.call)
        {
            self.tasks.count_call();
            let is_call = self.scene.values.action(&of);
            let is_call = is_call.is_some_and(|(action, _)| action.tool.is_some());
            if is_call && !records.calls.is_live() {
                result = result.map_err(mark_repeated);
            }
        }
        self.called(of, result);
    }

    /// Decides whether a call may start.
    #[cold]
    #[inline(never)]
    pub(super) fn admit(&mut self, call: CallId, place: StepPlace, host: &mut dyn Host<'x>) {
        let Some(it) = Starting::of(&mut self.scene, call, place) else {
            return self.failed(call, StepError::Unknown);
        };
        let Some(mut admitting) = self.admitting() else {
            return self.scene.machine.handle(Event::Admitted(call));
        };
        if let Err(error) = admitting.admit(&it, host) {
            self.call_failed(it.of, error);
        }
    }

    pub(super) fn admitting(&mut self) -> Option<Admitting<'_, 'x>> {
        Some(Admitting {
            admission: self.admission.as_mut()?,
            scene: &mut self.scene,
            tasks: &mut self.tasks,
            records: self.records.as_deref_mut(),
        })
    }

    /// Returns `true` if a call is a plan whose steps are in the machine.
    fn knows(&mut self, of: &Site, plan: &CalledPlan<'x>) -> bool {
        let place = self.scene.machine.view().may_open(of.call);
        place.is_some_and(|place| self.scene.errors.knows(place, plan.executable.plan))
    }
}

/// Returns the error of a called plan without steps in the machine: the plan has an error.
fn never_starts(plan: CalledPlan<'_>) -> StepError {
    match plan.executable.graph {
        Err(mistake) => {
            let error = not_started(plan.executable.plan, Cause::Plan(mistake));
            StepError::tool(Error::new(error))
        }
        Ok(_) => StepError::Unknown,
    }
}
