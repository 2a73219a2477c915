//! Drives a run in memory: does the commands of the machine, and hands events to the machine.

use super::super::StepError;
use super::super::context::{Allowance, CallContext, CallPlace};
use super::super::shared::SharedRun;
use super::super::start::{CalledPlan, MadeOutput, Request, Started, StepFuture, StepResult};
use super::cold::StepValues;
use super::convert::bodies;
use super::failures::Errors;
use super::stops::{Clock, Stops};
use super::tasks::{Tasks, Waited};
use super::values::{ScopeValues, Values};
use crate::machine::{CallEnd, CallId, Command, Event, Machine, Part, ScopeId};
use crate::plan::{Policy, Role};
use crate::resolve::ResolveError;
use crate::shape::Secrets;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

/// Starts the actions of a run, and takes the output of the plan.
pub(super) trait Host<'x> {
    fn start(&mut self, number: usize, request: Request<'_>) -> Started<'x>;

    fn output(&mut self, output: MadeOutput<'_>) -> Result<(), ResolveError>;

    /// Runs a called plan whose steps are not in the tables.
    fn run_plan(&self, plan: CalledPlan<'x>, context: CallContext) -> StepFuture<'x>;
}

/// The calls that a run starts before it lets other tasks of its thread run.
const STARTS: u32 = 512;

/// A run in memory.
pub(super) struct Driver<'x, 'p> {
    pub(super) machine: Machine<'p>,
    pub(super) values: Values<'x>,
    pub(super) tasks: Tasks<'x>,
    pub(super) errors: Errors<'x>,
    pub(super) clock: Clock,
    pub(super) stops: Stops<'x>,
    pub(super) run: Arc<SharedRun>,
    pub(super) allowance: Arc<Allowance>,
    /// The call that the run is.
    around: Option<CallContext>,
    pub(super) random: fastrand::Rng,
    /// Called plans that are about to begin, by slots and elements.
    pub(super) opening: HashMap<(usize, u32), Opening<'x>>,
    /// The calls that may start before the run gives up its turn.
    pub(super) starts: u32,
    /// `true` if a step has started.
    pub(super) has_begun: bool,
    pub(super) is_done: bool,
}

impl<'x, 'p> Driver<'x, 'p> {
    pub(super) fn new(
        machine: Machine<'p>,
        root: ScopeValues<'x>,
        plans: &[(usize, u32)],
        (run, allowance, around): (Arc<SharedRun>, Arc<Allowance>, Option<CallContext>),
        (clock, stops): (Clock, Stops<'x>),
    ) -> Self {
        let is_shared = around.is_some() || allowance.is_among_many();
        let mut values = Values::new(Arc::clone(&allowance), is_shared);
        let errors = Errors::new(root.plan, plans);
        values.open(ScopeId::ROOT, root);
        let seed = run.options.seed;
        Self {
            machine,
            values,
            tasks: Tasks::default(),
            errors,
            clock,
            stops,
            run,
            allowance,
            around,
            random: seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed),
            opening: HashMap::new(),
            starts: STARTS,
            has_begun: false,
            is_done: false,
        }
    }

    /// Is ready once the run is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, host: &mut dyn Host<'x>) -> Poll<()> {
        self.starts = STARTS;
        while let Some(event) = self.stops.poll(cx, &self.clock) {
            self.machine.handle(event);
        }
        loop {
            if self.values.is_shared() {
                self.look_at_limits(cx);
            }
            while let Some(command) = self.machine.next(true) {
                self.execute(command, host);
                if self.starts == 0 {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            if self.is_done {
                return Poll::Ready(());
            }
            let mut result = None;
            let Poll::Ready(slot) = self.tasks.poll_next(cx, &mut result) else {
                return Poll::Pending;
            };
            let plain = match result {
                Some(Ok(_)) => self.tasks.take_plain(slot),
                _ => None,
            };
            match (result, plain) {
                (Some(Ok(output)), Some((call, scope, bytes))) => {
                    self.values.remove(bytes);
                    self.plain_called((call, scope), output);
                }
                (result, _) => self.ended(slot, result),
            }
        }
    }

    /// Ends the run if a plan in a call has exceeded a limit of the run.
    #[cold]
    fn look_at_limits(&mut self, cx: &Context<'_>) {
        self.allowance.wake(cx.waker());
        if !self.stops.is_exceeded()
            && let Some(place) = self.allowance.exceeded().cloned()
        {
            self.stops.exceed(place);
            self.machine.handle(Event::GraceOver);
        }
    }

    #[inline]
    fn execute(&mut self, command: Command, host: &mut dyn Host<'x>) {
        match command {
            Command::Start(call, place) => {
                self.starts -= 1;
                self.has_begun = true;
                self.start(call, place, host);
            }
            command => self.execute_cold(command, host),
        }
    }

    #[cold]
    #[inline(never)]
    fn execute_cold(&mut self, command: Command, host: &mut dyn Host<'x>) {
        self.has_begun |= matches!(command, Command::Evaluate(..) | Command::Await(..));
        match command {
            Command::Start(..) => {}
            Command::Free(scope) => self.values.close(scope),
            Command::Await(call, place) => self.wait(call, place),
            Command::Evaluate(ask, question) => {
                let reply = self.answer(ask, question, host);
                self.machine.handle(Event::Answered(ask, reply));
            }
            Command::Sleep(timer, pause, place) => self.sleep(timer, pause, place),
            Command::Drop(call) => self.drop_call(call),
            Command::Settled(scope, slot, status) => self.settled(scope, slot.index(), status),
            Command::Done => self.is_done = true,
        }
    }

    /// Drops a call, a wait or a timer.
    pub(super) fn drop_call(&mut self, call: CallId) {
        let bytes = self.tasks.drop_call(call);
        self.values.remove(bytes);
        if call.is_plain() {
            let scope = self.machine.view().scope_of_plain(call);
            let step = self.place_of(scope, call.index());
            self.values.release(scope, step);
        }
    }

    /// A task has ended that is no plain call, or has failed.
    #[cold]
    #[inline(never)]
    fn ended(&mut self, slot: usize, result: Option<StepResult>) {
        let (of, waited, bytes) = self.tasks.take(slot);
        self.values.remove(bytes);
        match (result, waited) {
            (Some(result), _) => self.called(of, result),
            (None, Some(Waited::Received(received))) => self.received(of, received),
            (None, Some(Waited::Fired) | None) => self.machine.handle(Event::Fired(of.call)),
        }
    }

    /// Hands the end of a call over to the machine.
    pub(super) fn failed(&mut self, call: CallId, error: StepError) {
        let error = self.errors.keep(error);
        self.machine
            .handle(Event::Ended(call, CallEnd::Failed(error)));
    }

    /// The place of a step in its plan.
    pub(super) fn place_of(&self, scope: ScopeId, slot: usize) -> usize {
        slot - self.values.scope(scope).first
    }

    /// The values inside a step that is not plain.
    pub(super) fn inside(&mut self, scope: ScopeId, slot: usize) -> &mut StepValues<'x> {
        let it = self.values.scope(scope);
        let (plan, step) = (it.plan, slot - it.first);
        let action = it.actions + it.graph.actions[step] as usize;
        self.values
            .step_mut(slot, || StepValues::new(bodies(&plan.steps[step], action)))
    }

    /// The policy of a step, with the amounts that were given when the step started.
    pub(super) fn policy(&self, scope: ScopeId, slot: usize) -> Arc<Policy> {
        let given = self.values.step(slot).and_then(|it| it.policy.as_ref());
        let it = self.values.scope(scope);
        Arc::clone(given.unwrap_or(&it.plan.steps[slot - it.first].policy))
    }

    /// The places of the element of a part.
    pub(super) fn element(&self, part: &Part) -> Vec<usize> {
        let places = self.machine.view().places(part.slot, part.element);
        places.into_iter().map(|place| place as usize).collect()
    }

    /// The context of the attempt that has opened a scope.
    pub(super) fn outer(&self, scope: ScopeId) -> Option<&CallContext> {
        let Some(owner) = &self.values.scope(scope).owner else {
            return self.around.as_ref();
        };
        let context = owner.context.get_or_init(|| {
            let at = At {
                scope: owner.scope,
                step: owner.step,
                action: owner.action,
                element: owner.element.clone(),
                attempt: owner.part.attempt,
                is_plan: true,
                until: None,
            };
            self.context_of(at, owner.times)
        });
        Some(context)
    }

    /// The context of a call.
    #[cold]
    pub(super) fn context(&self, at: At) -> CallContext {
        let times = self.times(at.scope, at.step);
        self.context_of(at, times)
    }

    fn context_of(&self, at: At, times: u32) -> CallContext {
        self.values.share();
        let it = self.values.scope(at.scope);
        let step = &it.plan.steps[at.step];
        let outer = self.outer(at.scope).cloned();
        let own = [at.until, self.stops.until].into_iter().flatten().min();
        let own = own.and_then(|elapsed| self.clock.at(elapsed));
        // Undo steps and always steps of a block do not count in the time limits of its step.
        let around = outer.as_ref().filter(|_| step.role == Role::Work);
        let around = around.and_then(CallContext::deadline);
        CallContext::new(CallPlace {
            run: Arc::clone(&self.run),
            allowance: Arc::clone(&self.allowance),
            depth: it.plans,
            at: Vec::new(),
            beside: None,
            plan: self
                .values
                .plan_of(at.scope)
                .unwrap_or(self.errors.plan())
                .name
                .clone(),
            step: step.id.clone(),
            element: at.element,
            action: at.action,
            began: None,
            attempt: at.attempt,
            times,
            is_always: step.role == Role::Always,
            deadline: [own, around].into_iter().flatten().min(),
            is_plan: at.is_plan,
            computes: false,
            is_last: step.role != Role::Work || outer.as_ref().is_some_and(CallContext::is_last),
            outer,
            secrets: Secrets::NONE,
            inside: None,
            counts: AtomicBool::new(false),
            dropped: Mutex::default(),
            turn: Mutex::default(),
            elsewhere: None,
            plans_inside: Mutex::new(BTreeMap::new()),
        })
    }

    /// The number of times that a step was undone, or the step that it undoes. For an always step, the number of retries of the run.
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

    /// The beginning of the lasting paths of a scope's steps.
    pub(super) fn lasting_prefix(&self, scope: ScopeId) -> String {
        let outer = self.outer(scope);
        outer.map_or_else(String::new, |outer| outer.lasting_inside(None))
    }
}

/// A called plan that is about to begin.
pub(super) struct Opening<'x> {
    pub(super) plan: Box<CalledPlan<'x>>,
    pub(super) context: CallContext,
    /// The bytes that the inputs and the plan itself count.
    pub(super) bytes: usize,
}

/// The place of a call in a run.
pub(super) struct At {
    pub(super) scope: ScopeId,
    /// The place of the step in its plan.
    pub(super) step: usize,
    /// The number of the action among the actions of the step.
    pub(super) action: usize,
    pub(super) element: Vec<usize>,
    pub(super) attempt: u32,
    pub(super) is_plan: bool,
    pub(super) until: Option<Duration>,
}
