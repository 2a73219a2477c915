//! The scheduler: starts each step when the steps that it waits for have ended.

mod amounts;
mod asking;
mod block;
mod block_run;
mod body_state;
mod clock;
mod deadline;
mod ending;
mod handing;
mod interrupts;
mod jobs;
mod limits;
mod outcome;
mod ready;
mod rounds;
mod state;
mod step_state;
mod task;
mod tasks;
mod waiting;
mod watch;

pub(super) use outcome::unstarted;

use super::catch::{catch, panicked};
use super::context::AnyGate;
use super::context::{Allowance, Held, Inside};
use super::context::{CallContext, CallPlace};
use super::limits::Limits;
use super::nesting::{Turn, may_start};
use super::on_failure::OnFailure;
use super::options::Options;
use super::permits::Applicant;
use super::shared::SharedRun;
use super::start::{Request, Started, StepFuture, StepResult};
use super::throttle::Throttle;
use super::timer::Sleep;
use super::trace::Span;
use crate::error::{Cause, Interrupt, Left, StepError};
use crate::plan::{
    Action, Body, Catch, Executable, Graph, Handing, Optional, Plan, Secrecy, Template, number,
};
use crate::resolve::{Meter, Scope, StoredValue, drop_quietly, resolve};
use crate::shape::Secrets;
use block_run::BlockRun;
use body_state::{BodyState, Failed, OutputSlot, Work};
use clock::Clock;
use ending::Ending;
use interrupts::Interrupts;
use ready::Ready;
use serde_json::Value;
use state::StepStates;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use step_state::StepState;
use task::{CallState, Task};
use tasks::{Happened, Tasks};
use waiting::waits_for_value;

/// Decides which call starts when, and polls those that run. What starting an action means is up to whoever polls.
pub(super) struct Schedule<'x> {
    plan: &'x Plan,
    /// What the plan is called; a block has the name of the plan around it.
    name: &'x str,
    is_inner: bool,
    /// What the run has in common with the plans around it and inside it.
    run: Arc<SharedRun>,
    /// The call that the run is inside of.
    outer: Option<CallContext>,
    /// The place in the plans around it.
    at: Vec<usize>,
    /// In how many others the plan runs.
    depth: usize,
    /// What the plan may do and hold, with all inside it.
    allowance: Arc<Allowance>,
    /// Who is asked before each call.
    gates: Vec<Arc<dyn AnyGate>>,
    /// What limits how often tools are called.
    throttles: Vec<Throttle>,
    /// How many calls wait for one of these now.
    asking: usize,
    /// The steps whose next call has to wait for that.
    deferred: Vec<usize>,
    options: Options<'x>,
    graph: Arc<Graph>,
    /// Whether its actions are started by code that hands over values in Rust.
    hands_over: bool,
    /// What is handed over, if anything.
    handing: Option<Arc<Handing>>,
    /// For each step, how many of the steps that it waits for have not completed.
    waits: Vec<u32>,
    /// For each step, how many are still to read its output.
    readers: Vec<u32>,
    inputs: Vec<StoredValue>,
    /// Of the steps that have completed, as long as somebody is still to read them.
    outputs: Vec<Option<StoredValue>>,
    /// The steps that may start something: themselves, an element, or an attempt.
    ready: Ready,
    /// The steps that may start to wait for a value.
    next_waits: BTreeSet<usize>,
    running: Tasks<'x>,
    /// How many of those that run are calls.
    calls: usize,
    /// How many steps have started and not ended.
    open: usize,
    steps: StepStates<'x>,
    /// When each step started and ended; empty unless there is an observer.
    times: Vec<(Option<Duration>, Option<Duration>)>,
    failed: Vec<(usize, Failed)>,
    /// What is secret, if anything.
    secrecy: Option<Arc<Secrecy>>,
    /// Copies of the outputs for the report; empty unless it is to have them.
    captured: Vec<Option<Value>>,
    interrupts: Interrupts<'x>,
    /// What has ended the run, while its blocks still end.
    winding: Option<Interrupt>,
    /// What comes once the work has ended, where a step is for that.
    ending: Option<Box<Ending>>,
    /// Of a block, the outputs that its undo steps see, after its always steps have run.
    given: Option<Vec<Option<StoredValue>>>,
    /// Whether a plan has run as a step of it.
    has_called: bool,
    /// How many blocks have succeeded that may have to be undone.
    kept: usize,
    /// What became of the undo steps of such blocks.
    left: Left,
    /// Whether a block has started that was not polled.
    has_opened: bool,
    held: Held,
    random: fastrand::Rng,
    clock: Clock,
    ended: Option<Duration>,
    /// What runs inside the calls of steps, by step and attempt; empty unless there is to be a report.
    inside: Vec<(usize, usize, Arc<Inside>)>,
    /// Whether the run around it has its report.
    has_reported: bool,
    /// Whether anyone watches. Where nobody does, nothing is made for them.
    watched: bool,
    #[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "is nothing"))]
    span: Span,
    turn: Turn,
    /// Whether calls need permits: a plan may run beside this one, as a part of the same run.
    is_shared: bool,
    applicant: Applicant,
    /// Whether there is a permit for the next call.
    has_permit: bool,
}

/// At most this many calls wait for gates and throttles at one time.
const MOST_QUESTIONS: usize = 64;

/// What it counts that the report of a call is kept.
const INSIDE: usize = size_of::<(usize, usize, Arc<Inside>)>() + size_of::<Inside>();

/// Starts the action of a number.
type Start<'s, 'x> = &'s mut dyn FnMut(usize, Request<'_>) -> Started<'x>;

/// What a plan has from what is around it.
struct Around<'x> {
    run: Arc<SharedRun>,
    allowance: Arc<Allowance>,
    secrecy: Option<Arc<Secrecy>>,
    depth: usize,
    /// If it is a block, the name of the plan around it.
    block_of: Option<&'x str>,
    /// Whether it is a block, or a plan that a step calls.
    is_inner: bool,
    /// Whether its actions are started by code that hands over values in Rust.
    hands_over: bool,
    /// If it is a block, what is asked at its end: the condition of a loop, if it is a round.
    block: Option<Option<&'x Template>>,
}

impl<'x> Schedule<'x> {
    /// The schedule of a plan with these inputs. It is inner if a step calls the plan.
    pub(super) fn of(
        executable: Executable<'x>,
        inputs: Result<Vec<StoredValue>, Cause>,
        by_default: Limits,
        options: Options<'x>,
        is_inner: bool,
    ) -> Result<Self, Cause> {
        let graph = executable.graph.map_err(Cause::Plan)?;
        let outer = options.outer.as_ref();
        let has_secrets = graph.secrecy.is_some()
            || options.secrecy.is_some()
            || outer.is_some_and(|outer| outer.secrets().is_some());
        let inputs = inputs.map_err(|cause| match cause {
            Cause::Inputs(error) if has_secrets => Cause::Inputs(error.without_values()),
            cause => cause,
        });
        Self::new(
            executable.plan,
            graph,
            inputs?,
            by_default,
            options,
            is_inner,
        )
    }

    fn new(
        plan: &'x Plan,
        graph: Arc<Graph>,
        inputs: Vec<StoredValue>,
        by_default: Limits,
        mut options: Options<'x>,
        is_inner: bool,
    ) -> Result<Self, Cause> {
        let outer = options.outer.clone();
        let depth = outer.as_ref().map_or(0, CallContext::depth_inside);
        let allowance = limits::allowance(&mut options, by_default, outer.as_ref());
        if let Some(cause) = allowance.refuses(plan) {
            return Err(cause);
        }
        let given = outer.as_ref().and_then(CallContext::secrets);
        let secrecy = match given {
            Some(given) => Secrecy::of(plan, given, &|_| None),
            None => options.secrecy.take().or_else(|| graph.secrecy.clone()),
        };
        let run = outer.as_ref().and_then(CallContext::run).cloned();
        let run = run.unwrap_or_else(|| Arc::new(options.share()));
        waiting::may_start(plan, &graph, &run, outer.as_ref(), allowance.limits())?;
        let around = Around {
            run,
            allowance,
            secrecy,
            depth,
            block_of: None,
            is_inner,
            hands_over: options.hands_over,
            block: None,
        };
        let mut schedule = Self::begin(plan, graph, inputs, around, options);
        if let Err(error) = schedule.allowance.enter(depth)
            && let Some(limit) = error.exceeded()
        {
            let outer = schedule.outer.as_ref();
            let place = outer.map_or_else(String::new, |outer| format!("step `{outer}`: "));
            schedule.exceed(limit, &format!("{place}{error}"));
        }
        schedule.look_who_watches();
        schedule.watch_plan_start();
        Ok(schedule)
    }

    /// The schedule of a plan of which nothing has started.
    fn begin(
        plan: &'x Plan,
        graph: Arc<Graph>,
        inputs: Vec<StoredValue>,
        around: Around<'x>,
        mut options: Options<'x>,
    ) -> Self {
        let count = plan.steps.len();
        let outer = options.outer.take();
        let Around {
            run,
            allowance,
            secrecy,
            depth,
            block_of,
            is_inner,
            hands_over,
            block,
        } = around;
        if let Some(inside) = outer.as_ref().and_then(CallContext::inside) {
            options.record = true;
            options.capture |= inside.capture;
            options.capture_outputs |= inside.capture_outputs;
        }
        // A report needs the JSON of all outputs.
        let handing = (hands_over && !options.capture_outputs)
            .then(|| graph.handing(plan, block))
            .flatten();
        let clock = Clock::start(Arc::clone(&run));
        let seed = run.options.seed.map(|seed| match &outer {
            Some(outer) => seed ^ outer.hash(),
            None => seed,
        });
        let (mut ready, mut next_waits) = (Ready::new(count), BTreeSet::new());
        for (step, waits) in graph.waits.iter().enumerate() {
            if *waits == 0 {
                if graph.has_waits && waits_for_value(plan, step) {
                    next_waits.insert(step);
                } else {
                    ready.insert(step);
                }
            }
        }
        let schedule = Self {
            plan,
            name: block_of.unwrap_or(&plan.name),
            is_inner,
            hands_over,
            handing,
            inputs,
            outputs: std::iter::repeat_with(|| None).take(count).collect(),
            ready,
            next_waits,
            waits: graph.waits.clone(),
            readers: graph.readers.clone(),
            graph,
            running: Tasks::default(),
            calls: 0,
            open: 0,
            steps: StepStates::new(count),
            times: if options.record || run.is_observed() {
                vec![(None, None); count]
            } else {
                Vec::new()
            },
            failed: Vec::new(),
            secrecy,
            captured: Vec::new(),
            interrupts: Interrupts::new(
                options.deadline.map(|limit| (limit, clock.sleep(limit))),
                outer.as_ref().and_then(CallContext::deadline),
                options.cancel.take(),
            )
            .of_inner(is_inner),
            winding: None,
            ending: None,
            given: None,
            has_called: false,
            kept: 0,
            left: Left::default(),
            has_opened: false,
            held: Held::new(Arc::clone(&allowance), outer.is_some()),
            gates: allowance.gates(),
            throttles: allowance.throttles(),
            asking: 0,
            deferred: Vec::new(),
            allowance,
            depth,
            random: seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed),
            options,
            clock,
            ended: None,
            inside: Vec::new(),
            has_reported: false,
            watched: false,
            span: Span::none(),
            turn: Turn::default(),
            // In its place, the plan's own calls count.
            is_shared: outer.is_some(),
            applicant: Applicant::default(),
            has_permit: false,
            run,
            at: outer
                .as_ref()
                .map_or_else(Vec::new, |outer| outer.at().to_vec()),
            outer,
        };
        if let Some(outer) = &schedule.outer {
            outer.stop_counting();
        }
        schedule
    }

    /// Is ready once no step runs and none is to start.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, start: Start<'_, 'x>) -> Poll<()> {
        self.look_who_watches();
        self.turn.polled();
        self.interrupts.polled();
        if self.is_shared {
            self.allowance.wake(cx.waker());
        }
        loop {
            self.look_at_limits();
            if self.interrupts.poll(cx, &self.clock) {
                if self.begin_grace() || self.wind_down() {
                    continue;
                }
                self.cancel();
                break;
            }
            self.start_waits(start);
            // A block has its turn before more is started, since a call in it comes first.
            let mut has_opened = false;
            let mut is_waiting = false;
            while self.calls < self.run.options.concurrency {
                let Some(step) = self.next_ready() else { break };
                if !may_start() {
                    self.ready.insert(step);
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                if self.is_shared && !self.may_call(cx, step) {
                    self.ready.insert(step);
                    is_waiting = true;
                    break;
                }
                match self.steps.states[step] {
                    StepState::Waiting => self.start(step, start),
                    _ => self.advance(step, start),
                }
                has_opened = std::mem::take(&mut self.has_opened);
                if has_opened {
                    break;
                }
            }
            if self.is_shared && !is_waiting {
                self.give_back();
            }
            if self.interrupts.happened().is_some() || self.has_waits_to_start() {
                continue;
            }
            if self.open == 0 && !is_waiting {
                break;
            }
            let mut result = None;
            match self.running.poll_next(cx, &mut result, start) {
                Poll::Ready(Some(happened)) => {
                    self.happened(happened, &mut result);
                    // All of it was taken.
                    std::mem::forget(result);
                }
                Poll::Ready(None) if !is_waiting => break,
                Poll::Pending if has_opened => {}
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
        self.give_back();
        // Waits may be left, for a step that has failed by now.
        self.abandon_all();
        if self.is_before_ending() {
            return Poll::Ready(());
        }
        let is_undo = self.ending.as_ref().is_some_and(|it| it.is_undo());
        self.close_ending();
        self.ended = Some(self.clock.now());
        if !is_undo {
            self.watch_plan_end();
        }
        Poll::Ready(())
    }

    /// Ends the run before its time, when it is polled next.
    pub(super) fn interrupt(&self, interrupt: Interrupt) {
        self.interrupts.happen(interrupt);
    }

    fn next_ready(&mut self) -> Option<usize> {
        if self.is_stopping() || self.interrupts.happened().is_some() {
            return None;
        }
        let next = self.ready.pop();
        if next.is_none() && self.ending.is_some() {
            return self.next_of_ending();
        }
        next
    }

    /// Whether nothing more is started.
    fn is_stopping(&self) -> bool {
        self.ending.is_none()
            && (self.winding.is_some()
                || self.run.options.on_failure != OnFailure::Continue && !self.failed.is_empty())
    }

    /// Notes that a step has started.
    #[inline(always)]
    fn note_start(&mut self, step: usize) {
        if let Some((started, _)) = self.times.get_mut(step) {
            *started = Some(self.clock.now());
        }
        self.steps.states[step] = StepState::Running;
        self.open += 1;
        if self.watched {
            self.watch_start(step);
        }
    }

    #[inline(always)]
    fn start(&mut self, step: usize, start: Start<'_, 'x>) {
        self.note_start(step);
        let body = &self.plan.steps[step].body;
        // A single call is by far the most frequent, and needs no more than this.
        let single = match body {
            Body::Action(action)
                if self.graph.simple[step]
                    && !(self.options.capture || self.has_to_wait(action)) =>
            {
                Some(action)
            }
            _ => None,
        };
        let Some(action) = single else {
            return self.start_flow(step, start);
        };
        if self.watched {
            let span = self.watch_attempt(step, 0);
            self.start_single(step, action, Some(span), start);
        } else {
            self.start_single(step, action, None, start);
        }
    }

    /// Starts what is more than a single call.
    #[inline(never)]
    fn start_flow(&mut self, step: usize, start: Start<'_, 'x>) {
        self.steps.more(step).flow = Some(Box::default());
        if let Err(error) = self.take_amounts(step) {
            if self.interrupts.happened().is_none() {
                self.fail(step, OutputSlot::WHOLE, None, error, 0);
            }
            return self.settle(step);
        }
        let body = &self.plan.steps[step].body;
        let number = self.graph.actions[step] as usize;
        self.seeing(step, |it| {
            it.enter(step, body, number, OutputSlot::WHOLE, None, start);
        });
        self.settle(step);
    }

    /// Starts a single call, in a span if somebody watches.
    #[inline(always)]
    fn start_single(
        &mut self,
        step: usize,
        action: &'x Action,
        span: Option<Span>,
        start: Start<'_, 'x>,
    ) {
        if let Some(error) = self.charge(action, true) {
            return self.ended_at_once(step, Err(error), span.as_ref());
        }
        let given = self.give(step, true);
        let stop = || self.interrupts.look(&self.clock);
        let meter = Meter::new(self.room(), Some(&stop));
        let scope = self.scope().metered(&meter);
        let number = self.graph.actions[step] as usize;
        let context =
            |is_plan: bool| self.context((step, 0), Vec::new(), 1, None, is_plan.then_some(number));
        let secrecy = self.secrecy.as_deref();
        let request = Request::new(&scope, action)
            .hiding(secrecy.map(|secrecy| secrecy.arguments(number)))
            .within(&context)
            .handing(given.as_ref(), self.keep(step));
        // It stays where it was returned until it is known what it is.
        let started = catch_unwind(AssertUnwindSafe(|| match &span {
            Some(span) => span.in_scope(|| start(number, request)),
            None => start(number, request),
        }));
        let bytes = meter.spent();
        self.take_back(given);
        self.count_json(step);
        match started {
            Ok(Started::Running(future)) => {
                self.calls += 1;
                self.has_permit = false;
                self.held.add(bytes);
                let more = span.and_then(|span| CallState::of(span, None, None));
                self.running.push((step, 0), Some(future), more, bytes);
            }
            Ok(Started::InContext(future, context)) => {
                self.held.add(bytes);
                let span = span.unwrap_or_else(Span::none);
                self.push_in_context((step, 0), future, span, None, context, bytes);
            }
            // It stays a step that runs, which the run drops when it ends.
            Ok(Started::Ended(Err(_))) if self.interrupts.happened().is_some() => {}
            Ok(Started::Ended(result)) => self.ended_at_once(step, result, span.as_ref()),
            Ok(Started::Plan(plan, context)) => {
                // It may be undone, as only what is more than a single call.
                let mut flow = Box::<BodyState<'_>>::default();
                let work = Work::Action(action);
                let job = flow.push_job(work, number, OutputSlot::WHOLE, None);
                flow.jobs[job].attempts = 1;
                self.steps.more(step).flow = Some(flow);
                let span = span.unwrap_or_else(Span::none);
                self.start_plan((step, job), *plan, context, span, None, bytes);
            }
            Ok(Started::Asks(_)) => {
                self.ended_at_once(step, Err(StepError::Unknown), span.as_ref());
            }
            Err(payload) => self.ended_at_once(step, Err(panicked(payload)), span.as_ref()),
        }
    }

    /// The error of a step, without the values that it found if one of them may be secret.
    #[cold]
    fn hushed(&self, step: usize, error: StepError) -> StepError {
        match &self.secrecy {
            Some(secrecy)
                if secrecy.touches(step)
                    || matches!(error, StepError::Output(_))
                        && !secrecy.output_of(step).is_empty() =>
            {
                error.without_values()
            }
            _ => error,
        }
    }

    /// Ends a step whose single call ended without a future. Unlike [`Self::single_ended`], it is not inlined, since few calls end so.
    #[inline(never)]
    fn ended_at_once(&mut self, step: usize, mut result: StepResult, span: Option<&Span>) {
        self.single_ended(step, &mut result, span);
    }

    /// A step that is a single call has ended. This and what follows is done for each step of each run, right where calls are polled:
    /// as functions of their own, they would save registers more than they work. The output is moved once, to its place: each move of what was
    /// written just before waits for that.
    #[inline(always)]
    fn single_ended(&mut self, step: usize, result: &mut StepResult, span: Option<&Span>) {
        match result {
            Ok(output) => {
                if self.watched {
                    self.watch_tried(step, 0, None, span);
                }
                if self.has_room(output.bytes()) {
                    self.end(step, output);
                } else {
                    drop(output.take());
                    self.end_failed(step, Failed::once(self.no_room()));
                }
            }
            Err(error) => {
                let error = std::mem::replace(error, StepError::Unknown);
                let error = error.of_call(|| self.block_place(step, Vec::new(), 1));
                let error = self.hushed(step, error);
                if self.watched {
                    self.watch_tried(step, 0, Some(&error), span);
                }
                self.end_failed(step, Failed::once(error));
            }
        }
    }

    #[inline(always)]
    fn happened(&mut self, happened: Happened<'x>, result: &mut Option<StepResult>) {
        let Happened {
            step,
            job,
            mut more,
            bytes,
        } = happened;
        self.held.remove(bytes);
        if let Some(more) = &mut more
            && let Some(block) = more.block.take()
        {
            let result = result.take().unwrap_or(Err(StepError::Unknown));
            return self.block_ended(step, job, *block, result, &more.span);
        }
        let span = more.as_deref().map(|more| &more.span);
        match result {
            Some(result) => {
                self.calls -= 1;
                if self.is_shared {
                    self.call_ended(more.as_deref());
                }
                match self.steps.more_of(step) {
                    Some(_) => {
                        let result = std::mem::replace(result, Err(StepError::Unknown));
                        self.called(step, job, result, span);
                    }
                    None => self.single_ended(step, result, span),
                }
            }
            None if more.as_deref().is_some_and(|more| more.receives) => {
                self.received(step, job, span);
            }
            None if more.is_some_and(|more| more.asks) => self.answered(step, job),
            None => self.waited(step, job),
        }
    }

    /// A step has its output, which is taken if anyone is to read it.
    #[inline(always)]
    fn end(&mut self, step: usize, output: &mut StoredValue) {
        self.open -= 1;
        self.stop_time(step);
        self.complete(step, output);
        self.release(step);
    }

    /// A step has failed, maybe at one of its elements.
    #[cold]
    fn end_failed(&mut self, step: usize, failed: Failed) {
        self.open -= 1;
        self.stop_time(step);
        let recovered = if self.is_over(step, &failed.element, &failed.error) {
            Err(failed)
        } else {
            self.recover(step, failed)
        };
        match recovered {
            Ok(mut output) => self.complete(step, &mut output),
            Err(failed) => {
                // The fallback may have been too large.
                self.is_over(step, &failed.element, &failed.error);
                let first = self.failed.is_empty();
                self.steps.states[step] = StepState::Failed(number(self.failed.len()));
                self.failed.push((step, failed));
                self.watch_end(step);
                if self.ending.is_some() {
                    return self.release(step);
                }
                self.block(step);
                match self.run.options.on_failure {
                    OnFailure::Continue => {}
                    OnFailure::Stop if first => {
                        (0..self.plan.steps.len()).for_each(|it| self.cut(it));
                    }
                    OnFailure::Stop => {}
                    OnFailure::Cancel => self.cancel_calls(),
                }
            }
        }
        self.release(step);
    }

    /// A step has its output, for which others may have waited.
    #[inline(always)]
    fn complete(&mut self, step: usize, output: &mut StoredValue) {
        self.steps.states[step] = StepState::Completed;
        if self.options.capture_outputs {
            self.capture_output(step, output);
        }
        // It is taken in any case, so that nothing is left to be dropped.
        let output = output.take();
        if self.readers[step] > 0 {
            self.held.add(output.bytes());
            self.outputs[step] = Some(output);
        }
        if self.watched {
            self.watch_end(step);
        }
        for &dependent in self.graph.dependents.of(step) {
            let dependent = dependent as usize;
            self.waits[dependent] -= 1;
            if self.waits[dependent] == 0 {
                if self.graph.has_waits && waits_for_value(self.plan, dependent) {
                    self.next_waits.insert(dependent);
                } else {
                    self.ready.insert(dependent);
                }
                if self.watched {
                    self.watch_ready(dependent);
                }
            }
        }
    }

    /// Whether a failure of a step ends there: it is caught, or something else replaces the output.
    fn absorbs(&self, step: usize, error: &StepError) -> bool {
        let policy = &self.plan.steps[step].policy;
        let replaces = policy.optional == Optional::Whole || policy.fallback.is_some();
        !self.is_cut() && (policy.catch == Catch::Whole || replaces && !error.leaves_work())
    }

    /// Whether the work was ended before its time, so that nothing makes up for a failure.
    fn is_cut(&self) -> bool {
        let is_over = self.winding.is_some() || self.interrupts.happened().is_some();
        self.ending.is_none() && is_over
    }

    /// The output that replaces that of a failed step, if the step is optional or has a fallback.
    fn recover(&mut self, step: usize, failed: Failed) -> Result<StoredValue, Failed> {
        let policy = &self.plan.steps[step].policy;
        let Failed {
            element,
            error,
            attempts,
        } = &failed;
        let instead = |error| Failed {
            element: element.clone(),
            error,
            attempts: *attempts,
        };
        let output = match &policy.fallback {
            _ if !self.absorbs(step, error) => return Err(failed),
            _ if policy.catch == Catch::Whole => {
                StoredValue::json(self.caught(step, element, error, *attempts))
            }
            Some(fallback) => match self.metered(|scope| resolve::<Value>(fallback, scope)) {
                Ok((Ok(output), bytes)) => StoredValue::weighed(output, bytes),
                Ok((Err(_), _)) if self.interrupts.happened().is_some() => {
                    return Err(failed);
                }
                Ok((Err(error), _)) => {
                    let error = self.hushed(step, StepError::fallback(error));
                    return Err(instead(error));
                }
                Err(panic) => return Err(instead(panic)),
            },
            None => StoredValue::json(Value::Null),
        };
        self.steps.more(step).recovered = Some(failed);
        Ok(output)
    }

    /// Marks all that needs a failed step. Of several failures, the step that comes first in the plan is named, whenever it failed.
    fn block(&mut self, by: usize) {
        let mut from = vec![by];
        while let Some(step) = from.pop() {
            for place in 0..self.graph.dependents.of(step).len() {
                let dependent = self.graph.dependents.of(step)[place] as usize;
                match self.steps.states[dependent] {
                    StepState::Waiting => {
                        self.steps.states[dependent] = StepState::Blocked(number(by));
                        self.watch_end(dependent);
                        self.release(dependent);
                    }
                    StepState::Blocked(other) if number(by) < other => {
                        self.steps.states[dependent] = StepState::Blocked(number(by));
                    }
                    _ => continue,
                }
                from.push(dependent);
            }
        }
    }

    /// Drops all that runs.
    fn cancel(&mut self) {
        self.leave_blocks(None);
        // One that has ended, but was not heard of yet, did not finish as far as the run is concerned.
        self.abandon(|_| true);
        for step in 0..self.plan.steps.len() {
            if self.steps.states[step] == StepState::Running {
                let failed = self.steps.flow(step).and_then(|flow| flow.failed.as_ref());
                self.left.add(failed.map(Failed::left).unwrap_or_default());
                self.drop_flow(step);
                self.drop_step(step);
            }
        }
    }

    /// A step that has started will not be finished.
    fn drop_step(&mut self, step: usize) {
        self.open -= 1;
        self.steps.states[step] = StepState::Cancelled;
        self.stop_time(step);
        self.watch_end(step);
        self.release(step);
    }

    #[inline]
    fn stop_time(&mut self, step: usize) {
        if let Some((_, ended)) = self.times.get_mut(step) {
            *ended = Some(self.clock.now());
        }
    }

    fn times(&self, step: usize) -> (Option<Duration>, Option<Duration>) {
        self.times.get(step).copied().unwrap_or_default()
    }

    /// Drops all calls and waits.
    fn abandon_all(&mut self) {
        self.abandon(|_| true);
    }

    /// Drops calls and waits.
    fn abandon(&mut self, which: impl Fn(&Task<'x>) -> bool) {
        let (mut calls, mut asked, mut bytes, mut permits) = (0, 0, 0, 0);
        self.running.abandon(|task| {
            let fits = which(task);
            asked += usize::from(fits && task.asks());
            if fits {
                bytes += task.block().map_or(0, BlockRun::bytes);
            }
            if fits && task.is_call() {
                calls += 1;
                bytes += task.bytes;
                match task.context() {
                    Some(context) => context.stop_counting(),
                    None => permits += 1,
                }
            }
            fits
        });
        self.calls = self.calls.saturating_sub(calls);
        self.asking = self.asking.saturating_sub(asked);
        self.held.remove(bytes);
        if self.is_shared {
            self.run.permits.give_back(permits);
        }
    }

    /// The step will read nothing any more.
    #[inline(always)]
    fn release(&mut self, step: usize) {
        for &read in self.graph.reads().of(step) {
            let read = read as usize;
            self.readers[read] -= 1;
            if self.readers[read] == 0
                && let Some(output) = &self.outputs[read]
            {
                self.held.remove(output.bytes());
                self.outputs[read] = None;
            }
        }
    }

    /// The place of a job in the plan and in those around it.
    fn place(&self, step: usize, job: usize) -> Vec<usize> {
        [&*self.at, &[step, job]].concat()
    }

    /// The context of a call; of the plan's action with this number, if it calls a plan.
    #[cold]
    fn context(
        &self,
        (step, job): (usize, usize),
        element: Vec<usize>,
        attempt: u32,
        until: Option<Duration>,
        calls_plan: Option<usize>,
    ) -> CallContext {
        self.held.share();
        let run = self.options.deadline.map(|limit| match &self.ending {
            // What runs then goes on, in the grace.
            Some(ending) if !ending.is_in_grace() => limit.saturating_add(self.options.grace),
            _ => limit,
        });
        let own = [until, run].into_iter().flatten().min();
        let outer = self.outer.as_ref().and_then(CallContext::deadline);
        // What comes after the work of a block does not count in the time limits of its step.
        let outer = outer.filter(|_| !(self.is_inner && self.ending.is_some()));
        let own = own.and_then(|elapsed| self.clock.at(elapsed));
        let deadline: Option<Instant> = [own, outer].into_iter().flatten().min();
        CallContext::new(CallPlace {
            run: Arc::clone(&self.run),
            allowance: Arc::clone(&self.allowance),
            depth: self.depth,
            at: self.place(step, job),
            outer: self.outer.clone(),
            plan: self.name.to_owned(),
            step: self.plan.steps[step].id.clone(),
            element,
            attempt,
            deadline,
            is_plan: calls_plan.is_some(),
            is_last: self.ending.is_some() || self.outer.as_ref().is_some_and(CallContext::is_last),
            secrets: match (calls_plan, &self.secrecy) {
                (Some(action), Some(secrecy)) => secrecy.arguments(action).clone(),
                _ => Secrets::NONE,
            },
            inside: self.options.record.then(|| {
                let (arguments, outputs) = (self.options.capture, self.options.capture_outputs);
                Arc::new(Inside::new(&self.allowance, arguments, outputs))
            }),
            counts: AtomicBool::new(false),
            dropped: Mutex::default(),
            turn: Mutex::default(),
        })
    }

    /// Adds a call that knows where it is, and may run plans.
    #[cold]
    fn push_in_context(
        &mut self,
        place: (usize, usize),
        future: StepFuture<'x>,
        span: Span,
        limit: Option<(Sleep, StepError)>,
        context: CallContext,
        bytes: usize,
    ) {
        self.share_permits();
        if context.count() {
            self.has_permit = false;
        }
        self.calls += 1;
        self.keep_inside(place, &context);
        let more = CallState::of(span, limit, Some(context));
        self.running.push(place, Some(future), more, bytes);
    }

    /// Keeps what runs inside a call for the report.
    fn keep_inside(&mut self, (step, job): (usize, usize), context: &CallContext) {
        if let Some(inside) = context.inside() {
            let log = self.steps.flow(step).and_then(|flow| flow.jobs[job].log);
            self.held.add(INSIDE);
            self.inside
                .push((step, log.unwrap_or_default(), Arc::clone(inside)));
        }
    }

    /// Whether there is a permit for one more call. If not, the run is woken when there is one.
    #[cold]
    fn may_call(&mut self, cx: &Context<'_>, step: usize) -> bool {
        let mut applicant = std::mem::take(&mut self.applicant);
        let next = || {
            let flow = self.steps.flow(step);
            self.place(step, flow.map_or(0, BodyState::next_job))
        };
        if self.has_permit {
            if self.run.permits.is_next(next) {
                return true;
            }
            self.run.permits.give_back(1);
        }
        self.has_permit = self.run.permits.take(&mut applicant, next, cx.waker());
        self.applicant = applicant;
        self.has_permit
    }

    /// A call has ended. Its permit is for the next one here, unless another is before that in the plan.
    #[cold]
    fn call_ended(&mut self, state: Option<&CallState<'_>>) {
        let context = state.and_then(|state| state.context.as_ref());
        if !context.is_none_or(CallContext::has_counted) {
            return;
        }
        self.run.permits.leave(&mut self.applicant);
        if std::mem::replace(&mut self.has_permit, true) {
            self.run.permits.give_back(1);
        }
    }

    /// No further call is to start for now.
    fn give_back(&mut self) {
        if !self.is_shared {
            return;
        }
        self.run.permits.leave(&mut self.applicant);
        if std::mem::take(&mut self.has_permit) {
            self.run.permits.give_back(1);
        }
    }

    fn scope(&self) -> Scope<'_> {
        Scope::new(self.plan, &self.inputs, &self.outputs)
    }
}

impl Drop for Schedule<'_> {
    /// Drops all that is not this crate's by itself: one destructor that panics keeps no other from running, and two do not abort.
    fn drop(&mut self) {
        self.abandon_all();
        if self
            .outer
            .as_ref()
            .is_some_and(|outer| outer.inside().is_some())
            && !self.has_reported
        {
            let _ = catch(|| self.report());
        }
        for failed in self.failed.drain(..) {
            drop_quietly(failed);
        }
        self.give_back();
        self.interrupts.close();
    }
}
