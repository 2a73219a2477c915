//! The state of a driver, without its tasks and records, and the contexts of calls.

use super::super::StepError;
use super::super::catch::catch;
use super::super::clock::Clock;
use super::super::context::{Allowance, CallContext, CallPlace, CallState, Inside};
use super::super::shared::SharedRun;
use super::super::start::{MadeOutput, Request, Started};
use super::super::watch::Watch;
use super::failures::Errors;
use super::scope_values::At;
use super::stops::Stops;
use super::task::Site;
use super::values::Values;
use super::watching::Watching;
use crate::error::{Elements, Interrupt};
use crate::machine::{CallError, CallId, Event, Machine, QuestionId, ScopeId, StepPlace};
use crate::plan::{Action, Catch, Role};
use crate::print::MessageName;
use crate::resolve::{Limit, Meter, ResolveError, Scope, StoredValue};
use serde_json::Value;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

/// Starts the actions of a run, and takes the output of the plan.
pub(in crate::run) trait Host<'x> {
    fn start(&mut self, number: usize, request: Request<'_>) -> Started<'x>;

    fn output(&mut self, output: MadeOutput<'_>) -> Result<(), ResolveError>;
}

/// The state of a run: the machine and the values.
pub(super) struct Scene<'x> {
    pub(super) machine: Machine,
    pub(super) values: Values<'x>,
    pub(super) errors: Errors<'x>,
    pub(super) clock: Clock,
    pub(super) stops: Stops<'x>,
    pub(super) run: Arc<SharedRun>,
    pub(super) allowance: Arc<Allowance>,
    /// The call that contains the run.
    pub(super) around: Option<CallContext>,
    /// The name of the plan in that call.
    pub(super) beside: Option<Arc<str>>,
    /// The output of a run with a journal, as JSON.
    pub(super) output: Value,
    /// The listeners of the run, and the log of its report.
    pub(super) watch: Option<Box<Watch<'x>>>,
    /// `true` if a view has no record of a decision of Rust code.
    pub(super) is_undecided: bool,
}

impl<'x> Scene<'x> {
    /// Calls the watch, if the run has a watch.
    pub(super) fn tell<T>(&mut self, tell: impl FnOnce(&mut Watching<'_, 'x>) -> T) -> Option<T> {
        let watch = self.watch.as_deref_mut()?;
        Some(tell(&mut Watching {
            watch,
            view: self.machine.view(),
            values: &mut self.values,
            errors: &self.errors,
            clock: &self.clock,
            run: &self.run,
        }))
    }
}

impl Scene<'_> {
    /// Returns `true` if the run must end while it computes a value. With a journal, the run ends between two values, as in a replay.
    #[cold]
    pub(super) fn look(&self, mut scope: ScopeId) -> bool {
        if self.run.durable.is_some() {
            return false;
        }
        let view = self.machine.view();
        let mut is_late = false;
        while view.works(scope) {
            let Some(owner) = &self.values.scope(scope).owner else {
                let outer = self.around.as_ref().and_then(CallContext::deadline);
                return self.stops.look(&self.clock, outer) || self.stops.passes(is_late);
            };
            is_late |= self.clock.is_over(owner.at.until);
            scope = owner.at.of.scope;
        }
        // Undo steps and always steps continue until the end of the grace period.
        self.stops.passes(is_late) || self.stops.look_at_grace(&self.clock)
    }

    /// Ends the run because of a cause that occurred while the run computed a value. Returns `false` without a cause. If the time limit of an enclosing scope has passed, the method
    /// only returns `true`, because the timer of the limit reports the end.
    pub(super) fn is_interrupted(&mut self) -> bool {
        if self.stops.is_past.take() {
            return true;
        }
        let event = self.stops.take_came(&self.clock);
        event.inspect(|event| self.machine.handle(*event)).is_some()
    }

    /// Returns the site of a call, a wait or a timer.
    pub(super) fn of(&self, call: CallId, place: StepPlace) -> Site {
        let view = self.machine.view();
        let at = (view.scope_of(place.slot), place.slot);
        self.values.of(call, at, view.part(call))
    }

    /// Returns the site of a question.
    pub(super) fn asked(&self, id: QuestionId) -> Option<Site> {
        let view = self.machine.view();
        let part = view.asked(id)?;
        let at = (view.scope_of(part.slot), part.slot);
        Some(self.values.of(CallId::NONE, at, Some(part)))
    }

    /// Returns the positions of an element in the lists around the element.
    pub(super) fn element(&self, of: &Site) -> Vec<usize> {
        of.places(self.machine.view())
    }

    /// Calls `read` with the values that the output of a scope can refer to.
    pub(super) fn read<T>(
        &self,
        scope: ScopeId,
        read: impl FnOnce(&Scope<'_>) -> T,
    ) -> Result<T, StepError> {
        self.read_unless(&|| self.look(scope), scope, read)
    }

    /// Calls `read` with the values that the output of a scope can refer to, until `stop` returns `true`.
    pub(super) fn read_unless<T>(
        &self,
        stop: &dyn Fn() -> bool,
        scope: ScopeId,
        read: impl FnOnce(&Scope<'_>) -> T,
    ) -> Result<T, StepError> {
        let it = self.values.scope(scope);
        let meter = Meter::new(self.values.held.room(), Some(stop));
        let resolving = self.values.resolving(it, false, &[]).metered(&meter);
        catch(|| read(&resolving))
    }

    /// Calls `read` with the values that an element of a step can refer to, unless the element's time ends before.
    /// Returns the result, and the bytes that it counts.
    pub(super) fn evaluate<T>(
        &mut self,
        of: &Site,
        until: Option<Duration>,
        read: impl FnOnce(&Self, &Scope<'_>) -> T,
    ) -> (Result<T, StepError>, usize) {
        let is_always = self.values.step_of(of).role == Role::Always;
        if is_always {
            self.show_results(of.scope);
        }
        let seen = self.uncatch(of);
        let made = {
            let it = self.values.scope(of.scope);
            let stop = || self.clock.is_over(until) || self.look(of.scope);
            let meter = Meter::new(self.values.held.room(), Some(&stop));
            let inside = self.values.step(of.slot());
            let locals = inside.map_or_else(Vec::new, |inside| inside.locals(of.element()));
            let resolving = self.values.resolving(it, is_always, &locals);
            let resolving = resolving.metered(&meter);
            (catch(|| read(self, &resolving)), meter.spent())
        };
        if let Some((slot, caught)) = seen {
            self.values.swap(slot, caught);
        }
        made
    }

    /// Keeps an error for the machine.
    pub(super) fn keep(&mut self, error: StepError) -> CallError {
        self.errors.keep(self.machine.view(), error)
    }

    /// Closes the work of a scope after its value is made.
    pub(super) fn close_work(&mut self, scope: ScopeId) {
        let is_kept = self.machine.view().can_undo(scope);
        self.values.close_work(scope, is_kept);
    }

    /// Takes the output of a call or a block, if there is room.
    pub(super) fn take_made(&mut self, of: &Site, output: StoredValue) -> Result<(), StepError> {
        if !self.values.scope(of.scope).graph.simple[of.step] {
            self.values.hold_made(of.slot(), output.bytes())?;
        } else if !self.values.held.has_room(output.bytes()) {
            return Err(self.values.held.no_room());
        }
        self.deliver(of, output, false)
    }

    /// Stores the value of an element in its slot.
    pub(super) fn deliver(
        &mut self,
        of: &Site,
        value: StoredValue,
        is_failure: bool,
    ) -> Result<(), StepError> {
        let catches = self.values.policy(of).catch == Catch::Each;
        let mut finished = self.watch.is_some().then(Vec::new);
        let inside = self.values.inside(of);
        let flags = (is_failure, catches);
        let delivered = inside.deliver(of.element(), value, flags, finished.as_mut());
        let left = delivered.map_err(StepError::output)?;
        self.values.let_go(of.slot(), left);
        self.tell(|it| it.finish(of, &finished.unwrap_or_default()));
        Ok(())
    }

    /// Ends the run at once, if an error exceeds a limit. Returns `false` for other errors.
    pub(super) fn exceeds(&mut self, of: &Site, error: &StepError) -> bool {
        let limit = error.exceeded();
        if let Some(limit) = limit {
            let element = self.element(of);
            self.exceed(limit, of, &element, error);
        }
        limit.is_some()
    }

    /// Ends the run at once, because a limit is exceeded.
    pub(super) fn exceed(&mut self, limit: Limit, of: &Site, element: &[usize], error: &StepError) {
        let step = self.values.step_of(of);
        let outer = self.outer(of.scope);
        let outer = outer.map_or_else(String::new, |outer| format!("{outer}."));
        let (id, element) = (MessageName(&step.id), Elements(element));
        let tool = step.tool().map(|tool| MessageName(&tool.name));
        let tool = tool.map_or_else(String::new, |tool| format!(" ({tool})"));
        self.exceed_at(
            limit,
            &format!("step `{outer}{id}{element}`{tool}: {error}"),
        );
        self.tell(|it| *it.watch.exceeded.get_or_insert(of.spot()));
    }

    /// Ends the run because of an exceeded limit. `place` names the step and the error.
    pub(super) fn exceed_at(&mut self, limit: Limit, place: &str) {
        self.allowance.exceed(limit, place);
        self.fail(Interrupt::Limit(place.into()));
    }

    /// Ends the run because of an exceeded limit or a failed journal. After a failure of the journal, a new start resumes the run.
    pub(super) fn fail(&mut self, cause: Interrupt) {
        let is_working = self.machine.view().works(ScopeId::ROOT);
        self.stops.fail(cause, is_working);
    }

    /// Ends the run if a plan in a call has exceeded a limit of the run.
    #[cold]
    pub(super) fn look_at_limits(&mut self, cx: &Context<'_>) {
        self.allowance.waker.set(cx.waker());
        if !self.stops.is_exceeded()
            && let Some(place) = self.allowance.exceeded().cloned()
        {
            self.fail(Interrupt::Limit(place));
            self.machine.handle(Event::GraceOver);
        }
    }

    /// Ends the run if its journal has failed. Returns `true` if the journal has failed now.
    pub(super) fn look_at_failure(&mut self) -> bool {
        let failure = self.run.durable.as_ref().and_then(|it| it.failure());
        let Some(error) = failure.filter(|_| self.stops.journal.is_none()) else {
            return false;
        };
        self.fail(Interrupt::Journal(error));
        self.machine.handle(Event::GraceOver);
        true
    }

    /// Counts the plans that contain the run, and ends the run if their number is too large.
    pub(super) fn enter(&mut self, plans: usize) {
        let Err(error) = self.allowance.enter(plans) else {
            return;
        };
        if let Some(limit) = error.exceeded() {
            let around = self.around.as_ref();
            let place = around.map_or_else(String::new, |around| format!("step `{around}`: "));
            self.exceed_at(limit, &format!("{place}{error}"));
            self.machine.handle(Event::GraceOver);
        }
    }

    /// Ends the run at once.
    pub(super) fn interrupt(&mut self, interrupt: Interrupt) {
        self.stops.interrupt(interrupt);
        self.machine.handle(Event::GraceOver);
    }

    /// Ends a plan that a tool runs inside its call, if the plan must no longer run.
    #[cold]
    pub(super) fn look_at_call(&mut self, cx: &Context<'_>) {
        let (Some(around), Some(beside)) = (&self.around, &self.beside) else {
            return;
        };
        let refused = around.refuses_inside(Some((beside, cx.waker())));
        let is_late = around.deadline().is_some_and(|at| self.clock.is_past(at));
        let interrupt = match refused {
            Some(why) => Interrupt::Outside(why),
            None if is_late => Interrupt::Outer,
            None => return,
        };
        self.interrupt(interrupt);
    }

    /// Returns the context of the attempt that has opened a scope.
    pub(super) fn outer(&self, scope: ScopeId) -> Option<&CallContext> {
        let Some(owner) = &self.values.scope(scope).owner else {
            return self.around.as_ref();
        };
        let make = || self.context_of(&owner.at, owner.times);
        Some(owner.context.get_or_init(make))
    }

    /// Returns the path of the steps around a scope, before the name of a step.
    pub(super) fn path_around(&self, scope: ScopeId) -> String {
        let outer = self.outer(scope);
        outer.map_or_else(String::new, |outer| outer.path() + ".")
    }

    /// Returns the path of a step, or of an element of the step.
    pub(super) fn path_of(&self, of: &Site) -> String {
        let (around, id) = (self.path_around(of.scope), &self.values.step_of(of).id);
        format!("{around}{id}{}", Elements(&self.element(of)))
    }

    /// Returns the context of a call.
    #[cold]
    pub(super) fn context(&self, at: &At) -> CallContext {
        let times = self.times(at.of.scope, at.of.step);
        self.context_of(at, times)
    }

    fn context_of(&self, at: &At, times: u32) -> CallContext {
        self.values.held.share();
        let of = &at.of;
        let it = self.values.scope(of.scope);
        let step = &it.plan.steps[of.step];
        let outer = self.outer(of.scope).cloned();
        // If the run has not been stopped, an undo step or an always step may also use the grace period.
        let is_last = step.role != Role::Work || outer.as_ref().is_some_and(CallContext::is_last);
        let spare = is_last && self.stops.stopped.is_none();
        let spare = if spare {
            self.stops.grace
        } else {
            Duration::ZERO
        };
        let until = self.stops.until.map(|until| until.saturating_add(spare));
        let own = [at.until, until].into_iter().flatten().min();
        let own = own.and_then(|elapsed| self.clock.at(elapsed));
        let beside = self.beside.as_ref().filter(|_| it.owner.is_none());
        // Undo steps and always steps of a block do not count in the time limits of its step.
        let is_limited = step.role == Role::Work || beside.is_some();
        let around = outer.as_ref().filter(|_| is_limited);
        let around = around.and_then(CallContext::deadline);
        let number = it.first_action(of.step) + at.action;
        let secrets = || it.secrets(number).cloned().unwrap_or_default();
        let called = at.is_plan.then(secrets);
        let keeps = self.watch.as_ref().map(|watch| watch.keeps);
        let keeps = keeps.filter(|keeps| keeps.report);
        let inside = keeps.map(|keeps| Inside::new(&self.allowance, keeps));
        CallContext::new(CallPlace {
            run: Arc::clone(&self.run),
            allowance: Arc::clone(&self.allowance),
            depth: it.plans,
            at: [
                outer.as_ref().map_or(&[][..], CallContext::at),
                &[of.step, of.part.map_or(0, |part| part.job as usize)],
            ]
            .concat(),
            beside: beside.cloned(),
            plan: self
                .values
                .plan_of(of.scope)
                .unwrap_or(self.errors.plan())
                .name
                .clone(),
            step: step.id.clone(),
            element: at.element.clone(),
            action: at.action,
            began: self.run.durable.as_ref().map(|durable| durable.now()),
            attempt: of.attempt(),
            times,
            is_always: step.role == Role::Always,
            deadline: [own, around].into_iter().flatten().min(),
            called,
            is_last,
            outer,
            inside: inside.map(Arc::new),
            state: CallState::default(),
            elsewhere: None,
        })
    }

    /// Returns how often a step, or the step that it undoes, was undone. For an always step, returns the number of
    /// retries of the run.
    pub(super) fn times(&self, scope: ScopeId, step: usize) -> u32 {
        let plan = self.values.scope(scope).plan;
        let undone = match plan.steps[step].role {
            Role::Work => step,
            Role::Undo(undone) => undone,
            Role::Always => return self.run.times_retried(),
        };
        let prefix = || self.lasting_prefix(scope);
        self.run.times_undone(prefix, &plan.steps[undone].id)
    }

    /// Returns the prefix of the lasting paths of a scope's steps.
    pub(super) fn lasting_prefix(&self, scope: ScopeId) -> String {
        let outer = self.outer(scope);
        outer.map_or_else(String::new, |outer| {
            outer.lasting_inside(self.beside_of(scope))
        })
    }

    /// Returns the name of the plan whose run this is, if a tool runs the plan inside its call and the scope is the whole plan.
    pub(super) fn beside_of(&self, scope: ScopeId) -> Option<&str> {
        let is_root = self.values.scope(scope).owner.is_none();
        self.beside.as_deref().filter(|_| is_root)
    }

    /// Returns the location of a plain call in the run.
    #[cold]
    pub(super) fn at_plain(&self, of: Site, number: usize, is_plan: bool) -> At {
        At {
            of,
            action: number - self.values.scope(of.scope).first_action(of.step),
            element: Vec::new(),
            is_plan,
            until: None,
        }
    }

    /// Returns the location of a call in the run.
    #[cold]
    pub(super) fn at(&self, it: &Starting<'_>, is_plan: bool) -> At {
        let of = &it.of;
        let limit = self.values.limit_here(&self.clock, of);
        At {
            element: of.places(self.machine.view()),
            until: limit.map(|(until, _)| until),
            ..self.at_plain(*of, it.number, is_plan)
        }
    }
}

/// A call that is about to start.
#[derive(Clone, Copy)]
pub(super) struct Starting<'x> {
    pub(super) of: Site,
    pub(super) action: &'x Action,
    /// The number of the action in the whole plan.
    pub(super) number: usize,
}

impl<'x> Starting<'x> {
    /// Returns the call of a step that is not plain.
    pub(super) fn of(scene: &mut Scene<'x>, call: CallId, place: StepPlace) -> Option<Self> {
        let of = scene.of(call, place);
        let (action, number) = scene.values.action(&of)?;
        Some(Self { of, action, number })
    }

    /// Starts the action with the code of its plan.
    pub(super) fn start(
        &self,
        values: &Values<'x>,
        request: Request<'_>,
        host: &mut dyn Host<'x>,
    ) -> Started<'x> {
        match values.own(self.of.scope) {
            None => host.start(self.number, request),
            Some(own) => (own.start)(self.number, request),
        }
    }

    /// Returns `true` if the action is no call, and Rust code makes its value.
    pub(super) fn is_computed(&self) -> bool {
        self.action.tool.is_none() && self.action.args.has_code()
    }

    /// Returns `true` if both calls are calls of one action of a step, possibly for different elements.
    pub(super) fn makes_the_call_of(&self, other: &Starting<'_>) -> bool {
        self.number == other.number && self.of.slot() == other.of.slot()
    }
}
