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

mod answers;
mod cold;
mod contexts;
mod convert;
mod driver;
mod failures;
mod scene;
mod scopes;
mod settling;
mod starting;
mod stops;
mod tasks;
mod values;
mod waits;

use super::admission::{allowance, can_receive};
use super::catch::catch;
use super::on_failure::OnFailure;
use super::options::Options;
use super::start::{
    CalledPlan, MadeOutput, OwnStart, Request, Started, Starter, StepFuture, StepResult,
};
use super::storing::once;
use super::{CallContext, Cause, Run, RunError, Stage, StepError, limits_of};
use crate::error::Error;
use crate::machine::{Machine, Reaction};
use crate::plan::{Action, Executable, number};
use crate::resolve::{MemoryBudget, ResolveError, StoredValue};
use driver::Driver;
use scene::Host;
use serde::de::DeserializeOwned;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use stops::{Clock, Stops};
use values::ScopeValues;

/// A run that the machine decides.
#[must_use = "a run does nothing unless it is awaited"]
pub struct Drive<'a, O>(Pin<Box<dyn Future<Output = Result<O, RunError>> + Send + 'a>>);

impl<O> Future for Drive<'_, O> {
    type Output = Result<O, RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl<O> fmt::Debug for Drive<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drive")
    }
}

impl<'a, App, O> Run<'a, App, O>
where
    App: ?Sized + Sync,
    O: DeserializeOwned + Send + 'static,
{
    /// Returns the run as the machine decides it. The run has no journal, no gates, no observers and no report.
    ///
    /// # Panics
    ///
    /// If the run has started, or has an option without effect here.
    #[doc(hidden)]
    pub fn driven(self) -> Drive<'a, O> {
        self.driven_by(None)
    }

    /// Returns the run as the machine decides it, where `find` returns the plan that a call is.
    ///
    /// # Panics
    ///
    /// If the run has started, or has an option without effect here.
    #[doc(hidden)]
    pub fn driven_with(self, find: FindPlan<'a>) -> Drive<'a, O> {
        self.driven_by(Some(find))
    }

    fn driven_by(self, find: Option<FindPlan<'a>>) -> Drive<'a, O> {
        let Self {
            app,
            starter,
            stage,
            ..
        } = self;
        let Stage::New(executable, inputs, mut options) = stage else {
            panic!("a run that has started cannot be driven")
        };
        if let Some(option) = unknown_option(&options) {
            panic!("a driven run has no `{option}`: remove the call of `Run::{option}`");
        }
        options.hands_over = starter.hands_over();
        let mut host = AppHost {
            app,
            starter,
            output: None,
        };
        Drive(Box::pin(async move {
            drive(executable, inputs, options, find, &mut host).await?;
            let output = host.output.take();
            Ok(output.expect("a run that succeeds has made its output"))
        }))
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
        ("observe", !options.observers.is_empty()),
        ("on_engine", options.engine.is_some()),
    ];
    let found = unknown.into_iter().find(|(_, is_set)| *is_set);
    found.map(|(name, _)| name)
}

/// Finds the plan that a call is.
type FindPlan<'a> = Box<dyn Fn(&Action) -> Option<&'a Executable<'a>> + Send + 'a>;

struct AppHost<'a, App: ?Sized, O> {
    app: &'a App,
    starter: Starter<'a, App>,
    output: Option<O>,
}

impl<'a, App: ?Sized, O: DeserializeOwned + 'static> Host<'a> for AppHost<'a, App, O> {
    #[inline]
    fn start(&mut self, number: usize, request: Request<'_>) -> Started<'a> {
        self.starter.start(number, request, self.app)
    }

    fn output(&mut self, output: MadeOutput<'_>) -> Result<(), ResolveError> {
        self.output = Some(output.read()?);
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
    let run = drive(
        plan.executable,
        plan.inputs,
        Box::new(options),
        None,
        &mut host,
    );
    match run.await {
        Ok(()) => host.output.unwrap_or(Err(StepError::Unknown)),
        Err(error) => Err(StepError::tool(Error::new(error))),
    }
}

/// Runs a plan. The host has its output then.
async fn drive<'a, H: Host<'a>>(
    executable: Executable<'a>,
    inputs: Result<Vec<StoredValue>, Cause>,
    mut options: Box<Options<'a>>,
    find: Option<FindPlan<'a>>,
    host: &mut H,
) -> Result<(), RunError> {
    let plan = executable.plan;
    let refused = |cause| RunError::new(plan, cause, Vec::new()).before_the_start();
    let limits = limits_of(&executable);
    let graph = executable
        .graph
        .map_err(|error| refused(Cause::Plan(error)))?;
    let inputs = inputs.map_err(refused)?;
    let tables = match find {
        None => convert::tables(plan, &graph),
        Some(find) => {
            let find = |action: &Action| {
                let found = find(action)?;
                Some((found.plan, found.graph.clone().ok()?))
            };
            convert::convert(plan, &graph, &find).map(Arc::new)
        }
    };
    let converted = tables.map_err(|error| refused(Cause::Unfit(vec![error.to_string()])))?;
    let around = options.outer.take();
    let allowance = self::allowance(&mut options, limits, around.as_ref());
    let run = around.as_ref().and_then(CallContext::run).cloned();
    let run = run.unwrap_or_else(|| Arc::new(options.share()));
    can_receive(plan, &graph, &run, around.as_ref(), allowance.limits()).map_err(refused)?;
    let reaction = match run.options.on_failure {
        OnFailure::Stop => Reaction::Stop,
        OnFailure::Continue => Reaction::Continue,
        OnFailure::Cancel => Reaction::Cancel,
    };
    let clock = Clock::new(Arc::clone(&run.options.timer));
    let stops = Stops::new(
        options.cancel.take(),
        options.deadline,
        options.grace,
        &clock,
    );
    let hands_over = options.hands_over;
    let root = ScopeValues {
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
        plans: around.as_ref().map_or(0, CallContext::depth_inside),
        bytes: 0,
        called: None,
        own: None,
    };
    let bound = number(run.options.concurrency.min(u32::MAX as usize));
    let machine = Machine::new(&converted.tables, reaction, bound).telling();
    let mut driver = Driver::new(
        machine,
        root,
        &converted.plans,
        (run, allowance, around),
        (clock, stops),
    );
    // A timer or the future that cancels the run may panic.
    let polled = poll_fn(|cx| match catch(|| driver.poll(cx, host)) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    });
    if let Err(panic) = polled.await {
        return Err(RunError::new(plan, Cause::Panicked(panic), Vec::new()));
    }
    let scene = &driver.scene;
    let view = scene.machine.view();
    view.result().map_err(|loss| {
        let stopped = scene.stops.stopped.clone();
        scene
            .errors
            .run_error(view, &loss, stopped, driver.has_begun)
    })
}
