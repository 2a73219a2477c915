//! The scheduler: starts each step when the steps that it waits for have ended.

mod amounts;
mod asking;
mod attempts;
mod block;
mod block_run;
mod body_state;
mod calls;
mod deadline;
mod decisions;
mod ended;
mod ending;
mod handing;
mod interrupts;
mod jobs;
mod limits;
mod messages;
mod outcome;
mod polling;
mod ready;
mod recording;
mod rounds;
mod single;
mod state;
mod step_state;
mod task;
mod tasks;
mod waiting;
mod watch;

use super::admission::{allowance, can_receive};
use super::catch::catch;
use super::clock::Clock;
use super::context::{Allowance, AnyGate, Blocked, CallContext, Held, Inside};
use super::durable::INTERRUPT;
use super::limits::Limits;
use super::messages::Messages;
use super::nesting::Turn;
use super::options::Options;
use super::permits::Applicant;
use super::recorded;
use super::shared::SharedRun;
use super::start::{Request, Started};
use super::throttle::Throttle;
use super::trace::Span;
use crate::error::{Cause, Interrupt, Left};
use crate::plan::{Executable, Graph, Handing, Plan, Secrecy, Template};
use crate::resolve::{Scope, StoredValue, drop_quietly};
use body_state::Failed;
use ending::Ending;
use interrupts::Interrupts;
use ready::Ready;
use serde_json::Value;
use state::StepStates;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use step_state::StepState;
use tasks::Tasks;
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
    /// What the keys of its records begin with.
    prefix: String,
    /// Its name, if a tool runs it inside its call.
    beside: Option<Arc<str>>,
    /// Finds out whether the tool blocks on the plan then.
    blocked: Blocked,
    /// What is sent to it from outside, through its journal.
    messages: Option<Box<Messages>>,
    /// The ended calls whose records have not had their turns, by step and job.
    in_writing: BTreeSet<(usize, usize)>,
    /// `true` if the plan starts more in a later turn of the thread.
    is_paused: bool,
    /// Whether each of its calls is more than a single call: it is recorded, or captured.
    is_followed: bool,
    /// Whether calls need permits: a plan may run beside this one, as a part of the same run.
    is_shared: bool,
    applicant: Applicant,
    /// Whether there is a permit for the next call.
    has_permit: bool,
}

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
        if let Some(call) = outer.as_ref().filter(|_| !is_inner)
            && let Some(why) = call.refuses_inside(None)
        {
            return Err(Cause::Unfit(vec![why.to_owned()]));
        }
        let allowance = self::allowance(&mut options, by_default, outer.as_ref());
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
        if outer.is_some() && secrecy.is_some() {
            run.may_have_secrets()?;
        }
        can_receive(plan, &graph, &run, outer.as_ref(), allowance.limits())?;
        let inputs = match &outer {
            Some(outer) if is_inner && outer.computes() => recorded::inputs(&run, outer, inputs),
            _ => inputs,
        };
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
        schedule.record_plan();
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
        // A report needs the JSON of all outputs, and so does a journal.
        let handing = (hands_over && !options.capture_outputs && !run.is_kept())
            .then(|| graph.handing(plan, block))
            .flatten();
        let is_step = block.is_some() || is_inner;
        let beside = outer.as_ref().filter(|_| !is_step);
        // What is secret must not be guessed from a key, which other services see.
        let known = if secrecy.is_some() { &[] } else { &*inputs };
        let beside = beside.map(|outer| outer.beside(plan, known));
        let prefix = match &outer {
            Some(outer) if run.is_kept() => outer.key_inside(beside.as_deref()),
            _ => String::new(),
        };
        let own_prefix = (outer.is_none() || beside.is_some()).then_some(&*prefix);
        let clock = Clock::start(Arc::clone(&run), beside.is_some());
        let seed = run.options.seed.or_else(|| {
            // The same after a crash.
            let durable = run.durable.as_ref()?;
            Some(durable.seed())
        });
        let seed = seed.map(|seed| match &outer {
            Some(outer) => seed ^ outer.hash(),
            None => seed,
        });
        // With a journal, the time of a block is over when the record of that has its turn.
        let is_timed = !(is_inner && clock.is_durable);
        let until = outer.as_ref().filter(|_| is_timed);
        let mut interrupts = Interrupts::new(
            options
                .deadline
                .map(|limit| (limit, clock.sleep_from_start(limit))),
            until.and_then(CallContext::deadline),
            options.cancel.take(),
        )
        .of_inner(is_inner);
        if clock.is_durable && own_prefix.is_some() {
            interrupts = interrupts.replaying(recorded::interrupt(&run, own_prefix, INTERRUPT));
        }
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
            interrupts,
            winding: None,
            ending: None,
            given: None,
            has_called: false,
            kept: 0,
            left: Left::default(),
            has_opened: false,
            held: Held::new(
                Arc::clone(&allowance),
                outer.is_some() || allowance.is_among_many(),
            ),
            gates: allowance.gates(),
            throttles: allowance.throttles(),
            asking: 0,
            deferred: Vec::new(),
            prefix,
            beside,
            blocked: Blocked::default(),
            messages: None,
            in_writing: BTreeSet::new(),
            is_paused: false,
            is_followed: options.capture || run.is_kept(),
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
        match (&self.outer, &self.beside) {
            (Some(outer), Some(beside)) => outer.forget_inside(beside),
            // The call is over with its plan.
            (Some(outer), None) => outer.close(false),
            (None, _) => {}
        }
    }
}
