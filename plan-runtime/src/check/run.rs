//! The start of a plan's steps by generated code.

pub use crate::run::start::{Request, StartFn, Started, StepFuture, StepResult};
pub use crate::run::storing::once;

use crate::plan::LazyPlan;
use crate::resolve::{ResolveError, StoredValue, receive};
use crate::run::Run;
use crate::run::{CallContext, CalledPlan, Mock, OnMock};
use crate::{Plan, Result, Tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;
use std::marker::PhantomData;

/// The steps of a plan, which can start on an application with the plan's tools.
pub trait RunsOn<App: ?Sized> {
    /// Starts the action of this number, counted over the whole plan in the order in which actions are written.
    fn start<'a>(call_index: usize, request: Request<'_>, app: &'a App) -> Started<'a>;

    /// Returns the obstacles to the start of the plan on this application.
    #[must_use]
    fn lacks(app: &App, plan: &Plan) -> Vec<String> {
        let _ = (app, plan);
        Vec::new()
    }

    /// Begins a run of a named plan, so that the plan can be a step of another plan.
    fn begin(self, app: &App) -> Option<Run<'_, App, Self::Output>>
    where
        Self: Tool,
    {
        let _ = app;
        None
    }
}

/// The question if a plan runs on a mock. It does, unless one of its tools is not a tool, which has an error of its own.
pub struct Mocked<S>(PhantomData<S>);

impl<S: Tool + RunsOn<Mock>> Mocked<S> {
    /// The function that runs the plan.
    pub const RUN: OnMock<S> = Some(|plan, mock| S::begin(plan, mock));
}

/// The answer for plans with errors.
pub trait NotMocked<S: Tool> {
    /// `None`, since the plan cannot run.
    const RUN: OnMock<S> = None;
}

impl<S: Tool> NotMocked<S> for Mocked<S> {}

/// An application that can run a plan.
#[diagnostic::on_unimplemented(
    message = "the application `{Self}` cannot run this plan",
    label = "this application lacks a capability that a tool of the plan needs"
)]
pub trait CanRun<S> {
    /// Creates a run of the plan.
    fn run<O>(&self, plan: &'static LazyPlan) -> Run<'_, Self, O>
    where
        O: DeserializeOwned + 'static;
}

impl<S: RunsOn<App>, App: ?Sized> CanRun<S> for App {
    fn run<O>(&self, plan: &'static LazyPlan) -> Run<'_, Self, O>
    where
        O: DeserializeOwned + 'static,
    {
        run_on::<S, App, O>(plan, Ok(Vec::new()), self)
    }
}

/// Creates a run of a plan with the steps `S`.
pub fn run_on<'a, S, App, O>(
    plan: &'static LazyPlan,
    inputs: Result<Vec<StoredValue>, ResolveError>,
    app: &'a App,
) -> Run<'a, App, O>
where
    S: RunsOn<App>,
    App: ?Sized,
    O: DeserializeOwned + 'static,
{
    Run::on(plan, inputs, app, S::start, S::lacks)
}

/// Begins a run of a named plan.
///
/// # Panics
///
/// Panics if the plan has no name.
pub fn begun<S, A>(plan: S, app: &A) -> Run<'_, A, S::Output>
where
    S: Tool + RunsOn<A>,
    A: ?Sized,
{
    plan.begin(app).expect("a plan that has a name")
}

/// Returns the call of a plan that is used as a tool: a run of the plan.
#[expect(
    clippy::manual_async_fn,
    reason = "that it is `Send` is to be checked here, not where a plan is"
)]
pub fn called<S, A>(run: Run<'_, A, S::Output>) -> impl Future<Output = Result<S::Output>> + Send
where
    S: Tool,
    A: ?Sized + Sync,
{
    async move { Ok(run.await?) }
}

/// Runs the plan as part of another run.
pub fn called_in<S, A>(
    run: Run<'_, A, S::Output>,
    context: CallContext,
) -> impl Future<Output = Result<S::Output>> + Send
where
    S: Tool,
    A: ?Sized + Sync,
{
    called::<S, A>(run.inside(&context))
}

/// Converts a run of `S` to the plan for a step that calls it. The output type is that of any tool, so that rustc reports no
/// error about it here.
///
/// # Panics
///
/// Panics if the run was polled.
#[must_use]
pub fn plan_of<S: Tool, A: ?Sized + Sync>(run: Run<'_, A, S::Output>) -> CalledPlan<'_> {
    run.called(S::hand_over).expect("a run that is new")
}

/// The result of the expression form of `plan!`: a plan without inputs, with the steps `S` and the output `O`.
pub struct Inline<O, S> {
    plan: &'static LazyPlan,
    types: PhantomData<fn() -> (S, O)>,
}

impl<O, S> Inline<O, S> {
    /// Creates a plan whose output has the type of the witness.
    #[must_use]
    pub const fn new(plan: &'static LazyPlan, _: PhantomData<fn() -> O>) -> Self {
        Self {
            plan,
            types: PhantomData,
        }
    }

    /// Returns the plan as data.
    #[must_use]
    pub fn plan(&self) -> &'static Plan {
        self.plan
    }

    /// Runs the plan on an application that has its tools.
    pub fn run<'a, App>(&self, app: &'a App) -> Run<'a, App, O>
    where
        App: ?Sized + CanRun<S>,
        O: DeserializeOwned + 'static,
    {
        app.run(self.plan)
    }
}

impl<O, S> Clone for Inline<O, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, S> Copy for Inline<O, S> {}

impl<O, S> std::fmt::Debug for Inline<O, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.plan.fmt(f)
    }
}

impl<O, S> std::fmt::Display for Inline<O, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.plan.fmt(f)
    }
}

/// Stores the JSON of an input.
///
/// # Errors
///
/// Returns an error if JSON cannot represent the input.
pub fn input<T: Serialize + ?Sized>(name: &str, value: &T) -> Result<StoredValue, ResolveError> {
    StoredValue::of(value).map_err(|error| error.of_input(name))
}

/// The JSON of a value from outside, as a type writes it.
///
/// # Errors
///
/// Returns an error if the received JSON does not fit the type.
pub fn received<T: Serialize + DeserializeOwned>(value: &Value) -> Result<Value, String> {
    receive::<T>(value).map_err(|error| error.to_string())
}

/// The type of a parameter with `#[context]`.
#[diagnostic::on_unimplemented(
    message = "a parameter with `#[context]` has the type `CallContext`, not `{Self}`",
    label = "expected `plan_runtime::run::CallContext`"
)]
pub trait IsContext {
    /// Returns the context itself.
    fn of(context: CallContext) -> Self;
}

impl IsContext for CallContext {
    fn of(context: CallContext) -> Self {
        context
    }
}
