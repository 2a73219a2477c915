//! Runs that the machine decides, in memory.
//!
//! | file | contents |
//! |---|---|
//! | `convert.rs` | from a plan to the tables of the machine |
//! | `driver.rs` | the loop: commands of the machine, and events for the machine |
//! | `starting.rs`, `waits.rs` | calls; waits for values, and timers |
//! | `scene.rs`, `contexts.rs` | the state of a run without its tasks; the contexts of calls |
//! | `answers.rs`, `scopes.rs` | answers to questions of the machine; inputs and values of scopes |
//! | `settling.rs` | the ends of steps |
//! | `values.rs`, `cold.rs` | values by slots; values inside steps that are not plain |
//! | `tasks.rs`, `stops.rs` | calls, timers and waits; the ends of a run before its time |
//! | `failures.rs` | from the failures of the machine to errors |
//! | `watching.rs`, `closing.rs`, `secrets.rs` | events for observers and the report; values that errors and reports hide |

mod answers;
mod closing;
mod cold;
mod contexts;
mod convert;
mod driver;
mod failures;
mod scene;
mod scopes;
mod secrets;
mod settling;
mod starting;
mod stops;
mod tasks;
mod values;
mod waits;
mod watching;

use super::admission::{allowance, can_receive};
use super::catch::catch;
use super::limits::Limits;
use super::nesting::Nested;
use super::on_failure::OnFailure;
use super::options::Options;
use super::shared::SharedRun;
use super::signals::Signals;
use super::start::{
    CalledPlan, MadeOutput, OwnStart, Request, Started, Starter, StepFuture, StepResult,
};
use super::storing::once;
use super::watch::Keeps;
use super::{CallContext, Cause, Report, Run, RunError, Stage, StepError, trace};
use crate::error::Error;
use crate::machine::{Machine, Reaction, Tables};
use crate::plan::{Action, Executable, Graph, Plan, number};
use crate::resolve::{MemoryBudget, ResolveError, StoredValue};
pub(super) use driver::Driver;
use scene::Host;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use stops::{Clock, Stops};
use values::ScopeValues;

/// Finds the plan that a call is.
pub(super) type FindPlan<'a> = Box<dyn Fn(&Action) -> Option<&'a Executable<'a>> + Send + 'a>;

impl<'a, App: ?Sized, O> Run<'a, App, O> {
    /// Has the machine decide the run. The run has no journal and no gates.
    ///
    /// # Panics
    ///
    /// If the run has started, or has an option without effect here.
    #[doc(hidden)]
    pub fn driven(self) -> Self {
        self.driven_by(None)
    }

    /// Has the machine decide the run, where `find` returns the plan that a call is.
    ///
    /// # Panics
    ///
    /// If the run has started, or has an option without effect here.
    #[doc(hidden)]
    pub fn driven_with(self, find: FindPlan<'a>) -> Self {
        self.driven_by(Some(find))
    }

    fn driven_by(mut self, find: Option<FindPlan<'a>>) -> Self {
        let Stage::New(_, _, options) = &mut self.stage else {
            panic!("a run that has started cannot be driven")
        };
        if let Some(option) = unknown_option(options) {
            panic!("a driven run has no `{option}`: remove the call of `Run::{option}`");
        }
        options.driven = Some(find);
        self
    }
}

/// Returns the name of an option without effect in a driven run.
fn unknown_option(options: &Options<'_>) -> Option<&'static str> {
    let unknown = [
        ("gate", options.gate.is_some()),
        ("only", options.only.is_some()),
        ("throttle", !options.throttles.is_empty()),
        (
            "durable",
            options.target.is_some() || options.durable.is_some(),
        ),
        ("on_engine", options.engine.is_some()),
    ];
    let found = unknown.into_iter().find(|(_, is_set)| *is_set);
    found.map(|(name, _)| name)
}

/// The host of a run.
pub(super) struct RunHost<'r, 'a, App: ?Sized, O> {
    pub(super) app: &'a App,
    pub(super) starter: &'r mut Starter<'a, App>,
    /// Reads the output of the plan.
    pub(super) read: fn(MadeOutput<'_>) -> Result<O, ResolveError>,
    pub(super) output: &'r mut Option<O>,
}

impl<'a, App: ?Sized, O> Host<'a> for RunHost<'_, 'a, App, O> {
    #[inline]
    fn start(&mut self, number: usize, request: Request<'_>) -> Started<'a> {
        self.starter.start(number, request, self.app)
    }

    fn output(&mut self, output: MadeOutput<'_>) -> Result<(), ResolveError> {
        *self.output = Some((self.read)(output)?);
        Ok(())
    }

    fn run_plan(&self, plan: CalledPlan<'a>, context: CallContext) -> StepFuture<'a> {
        once(run_plan(plan, context))
    }
}

/// The host of a called plan whose steps the machine around it does not know.
struct PlanHost<'a> {
    own: OwnStart<'a>,
    output: Option<StepResult>,
}

impl<'a> Host<'a> for PlanHost<'a> {
    fn start(&mut self, number: usize, request: Request<'_>) -> Started<'a> {
        (self.own.start)(number, request)
    }

    fn output(&mut self, output: MadeOutput<'_>) -> Result<(), ResolveError> {
        self.output = Some(self.own.store(output, MemoryBudget::UNLIMITED)?);
        Ok(())
    }

    fn run_plan(&self, plan: CalledPlan<'a>, context: CallContext) -> StepFuture<'a> {
        once(run_plan(plan, context))
    }
}

/// Runs a called plan as a run of its own. Nothing undoes the plan after it has succeeded.
async fn run_plan(plan: CalledPlan<'_>, context: CallContext) -> StepResult {
    let options = Options {
        outer: Some(context),
        hands_over: plan.hands_over,
        ..Options::default()
    };
    let mut host = PlanHost {
        own: plan.own,
        output: None,
    };
    let (of, limits) = (plan.executable.plan, plan.limits);
    let begun = Driver::begin(plan.executable, plan.inputs, limits, options);
    let result = match begun {
        Ok(mut driver) => poll_fn(|cx| driver.poll_alone(cx, &mut host)).await,
        Err(cause) => Err(RunError::new(of, cause, Vec::new()).before_the_start()),
    };
    match result {
        Ok(()) => host.output.unwrap_or(Err(StepError::Unknown)),
        Err(error) => Err(StepError::tool(Error::new(error))),
    }
}

impl<'x> Driver<'x> {
    /// Begins a run. These are its limits unless the options have others.
    pub(super) fn begin(
        executable: Executable<'x>,
        inputs: Result<Vec<StoredValue>, Cause>,
        limits: Limits,
        mut options: Options<'x>,
    ) -> Result<Self, Cause> {
        let plan = executable.plan;
        let graph = executable.graph.map_err(Cause::Plan)?;
        let around = options.outer.take();
        let secrecy = options.secrecy.take();
        let secrecy = secrecy.or_else(|| secrets::secrecy(plan, &graph, around.as_ref()));
        let inputs = secrets::hushed_inputs(inputs, secrecy.is_some())?;
        let tables = match options.driven.take().flatten() {
            None => convert::tables(plan, &graph),
            Some(find) => {
                let find = |action: &Action| {
                    let found = find(action)?;
                    Some((found.plan, found.graph.clone().ok()?))
                };
                convert::convert(plan, &graph, &find).map(Arc::new)
            }
        };
        let converted = tables.map_err(|error| Cause::Unfit(vec![error.to_string()]))?;
        let allowance = self::allowance(&mut options, limits, around.as_ref());
        let run = around.as_ref().and_then(CallContext::run).cloned();
        let run = run.unwrap_or_else(|| Arc::new(options.share()));
        can_receive(plan, &graph, &run, around.as_ref(), allowance.limits())?;
        let clock = Clock::new(Arc::clone(&run.options.timer));
        let stops = Stops::new(
            options.cancel.take(),
            options.deadline,
            options.grace,
            &clock,
        );
        let keeps = Keeps::of(&options, around.as_ref());
        let root = ScopeValues {
            plans: around.as_ref().map_or(0, CallContext::depth_inside),
            secrecy,
            ..root(plan, graph, inputs, options.hands_over && !keeps.outputs)
        };
        let machine = machine(&converted.tables, &run, keeps);
        Ok(Self::new(
            machine,
            root,
            &converted.plans,
            (run, allowance, around),
            (clock, stops, options.signals),
            keeps,
        ))
    }

    /// Polls the run of a called plan. Is ready once the run is over.
    fn poll_alone(
        &mut self,
        cx: &mut Context<'_>,
        host: &mut dyn Host<'x>,
    ) -> Poll<Result<(), RunError>> {
        let nested = Nested::enter_plan();
        if let Err(too_deep) = &nested {
            self.interrupt(too_deep.clone());
        }
        self.poll(cx, host)
    }

    /// Polls the run. Is ready once the run is over.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        host: &mut dyn Host<'x>,
    ) -> Poll<Result<(), RunError>> {
        // A timer or the future that cancels the run may panic.
        match catch(|| self.poll_commands(cx, host)) {
            Ok(polled) => polled.map(|()| self.result()),
            Err(panic) => {
                let plan = self.plan();
                self.scene.watching().panicked();
                Poll::Ready(Err(RunError::new(plan, Cause::Panicked(panic), Vec::new())))
            }
        }
    }

    /// Returns the report of a run that is over, if there is to be one.
    pub(super) fn report(&mut self) -> Option<Report> {
        self.scene.watching().report()
    }

    /// Returns the sender of values to steps that wait.
    pub(super) fn signals(&self) -> Signals {
        match (&self.scene.around, &self.scene.run.options.inbox) {
            (Some(around), _) => around.signals(),
            (None, Some(inbox)) => Signals::new(Arc::clone(inbox), None),
            (None, None) => Signals::to_nobody(false),
        }
    }

    /// Returns the plan of the run.
    pub(super) fn plan(&self) -> &'x Plan {
        self.scene.errors.plan()
    }

    /// The result of a run that is over.
    fn result(&self) -> Result<(), RunError> {
        let scene = &self.scene;
        let view = scene.machine.view();
        view.result().map_err(|loss| {
            let stopped = scene.stops.stopped.clone();
            scene.errors.run_error(view, &loss, stopped, self.has_begun)
        })
    }
}

/// Returns the machine of a run, which tells the ends of scopes if somebody listens.
fn machine(tables: &Arc<Tables>, run: &SharedRun, keeps: Keeps) -> Machine {
    let reaction = match run.options.on_failure {
        OnFailure::Stop => Reaction::Stop,
        OnFailure::Continue => Reaction::Continue,
        OnFailure::Cancel => Reaction::Cancel,
    };
    let bound = number(run.options.concurrency.min(u32::MAX as usize));
    let machine = Machine::new(tables, reaction, bound).telling();
    if keeps.report || run.is_observed() || trace::is_on() {
        machine.telling_scopes()
    } else {
        machine
    }
}

/// Returns the values of a plan that begins.
fn root(
    plan: &Plan,
    graph: Arc<Graph>,
    inputs: Vec<StoredValue>,
    hands_over: bool,
) -> ScopeValues<'_> {
    ScopeValues {
        plan,
        handing: hands_over.then(|| graph.handing(plan, None)).flatten(),
        hands_over,
        graph,
        first: 0,
        actions: 0,
        inputs,
        seen: Vec::new(),
        owner: None,
        depth: 0,
        plans: 0,
        bytes: 0,
        called: None,
        own: None,
        secrecy: None,
        is_plain: false,
    }
}
