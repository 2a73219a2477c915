//! How generated code starts the steps of a plan.

pub use crate::run::start::{Request, StartFn, Started, StepFuture, StepResult};

use crate::plan::LazyPlan;
use crate::resolve::{HandOver, ResolveError, StoredValue, receive};
use crate::run::{Application, CallContext, CalledPlan, Mock, OnMock};
use crate::{Call, Plan, Result, Run, Tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;
use std::marker::PhantomData;

/// What starts the steps of a plan on an application that has its tools.
pub trait RunsOn<App: ?Sized> {
    /// Starts the action of this number, counted over the whole plan in the order in which actions are written.
    fn start<'a>(call_index: usize, request: Request<'_>, app: &'a App) -> Started<'a>;

    /// A run of the plan, if it has a name, so that it can be a step of another one.
    fn begin(self, app: &App) -> Option<Run<'_, App, Self::Output>>
    where
        Self: Tool,
    {
        let _ = app;
        None
    }
}

/// Asks whether a plan runs on a mock, which it does unless one of its tools is not a tool: that is reported where it is.
pub struct Mocked<S>(PhantomData<S>);

impl<S: Tool + RunsOn<Mock>> Mocked<S> {
    /// How it runs.
    pub const RUN: OnMock<S> = Some(|plan, mock| S::begin(plan, mock));
}

/// The answer of plans with mistakes.
pub trait NotMocked<S: Tool> {
    /// It does not run.
    const RUN: OnMock<S> = None;
}

impl<S: Tool> NotMocked<S> for Mocked<S> {}

/// An application that can call a tool. It is the application that implements this, since the compiler would guess it if it
/// were a parameter, from the one application that has the tool. `First` is the first tool of a plan with several.
pub trait HasTool<T, First = ()> {
    /// Starts a step that calls the tool.
    fn start<'a>(&'a self, request: Request<'_>) -> Started<'a>
    where
        T: 'a;
}

impl<T, First, App> HasTool<T, First> for App
where
    First: CalledOn<App, App = App>,
    T: Call<<First as CalledOn<App>>::App>,
    App: ?Sized + Sync,
{
    fn start<'a>(&'a self, request: Request<'_>) -> Started<'a>
    where
        T: 'a,
    {
        request.call::<T, App>(self)
    }
}

/// A mock has every tool. That no other application is a mock, rustc knows since a mock is not `Sync`.
#[diagnostic::do_not_recommend]
impl<T: Tool + 'static, First> HasTool<T, First> for Mock {
    fn start<'a>(&'a self, request: Request<'_>) -> Started<'a>
    where
        T: 'a,
    {
        Mock::start::<T>(self, request)
    }
}

/// The first tool of a plan, if the application can call it. Where it cannot, such as a reference to one, rustc says nothing of the
/// other tools: of two implementations that could apply, it chooses none, so it does not know the type that the others need.
#[diagnostic::on_unimplemented(
    message = "the application `{App}` cannot call the tool `{Self}`",
    label = "in a reference, an `Arc` or a `Box`? pass `&*app`; otherwise, this application has no `{Self}`",
    note = "run the plan on an application that has this tool, or write `impl Call<{App}> for {Self}`",
    note = "if `{Self}` is a plan, the application lacks one of its tools"
)]
pub trait CalledOn<App: ?Sized> {
    /// The application.
    type App: ?Sized;
}

#[diagnostic::do_not_recommend]
impl<App: ?Sized> CalledOn<App> for () {
    type App = App;
}

impl<T: Tool + Call<App>, App: ?Sized> CalledOn<App> for T {
    type App = App;
}

impl<T: Tool, App: ?Sized> CalledOn<App> for T
where
    for<'a> (): Never<'a>,
{
    type App = App;
}

/// What nothing implements. The lifetime is for `for<'a>`, by which rustc takes for granted that a bound without type parameters holds.
pub trait Never<'a> {}

/// An application that can run a plan.
pub trait CanRun<S> {
    /// Starts the step at this place.
    fn start<'a>(step: usize, request: Request<'_>, app: &'a Self) -> Started<'a>;
}

impl<S: RunsOn<App>, App: ?Sized> CanRun<S> for App {
    fn start<'a>(step: usize, request: Request<'_>, app: &'a Self) -> Started<'a> {
        S::start(step, request, app)
    }
}

/// A run as the call of a tool, which a plan is.
#[expect(
    clippy::manual_async_fn,
    reason = "that it is `Send` is to be checked here, not where a plan is"
)]
pub fn called<A, O>(run: Run<'_, A, O>) -> impl Future<Output = Result<O>> + Send
where
    A: ?Sized + Sync,
{
    async move { Ok(run.await?) }
}

/// The same as part of another run.
pub fn called_in<A, O>(
    run: Run<'_, A, O>,
    context: CallContext,
) -> impl Future<Output = Result<O>> + Send
where
    A: ?Sized + Sync,
{
    called(run.inside(&context))
}

/// A run as that of a plan that a step calls.
///
/// # Panics
///
/// If the run was polled.
#[must_use]
pub fn plan_of<A, O>(run: Run<'_, A, O>, hand_over: fn() -> Option<HandOver<O>>) -> CalledPlan<'_>
where
    A: ?Sized + Sync,
    O: Serialize + DeserializeOwned + Send + 'static,
{
    run.called(hand_over).expect("a run that is new")
}

/// What the expression form of `plan!` gives: a plan without inputs, whose steps are `S` and whose output is `O`.
pub struct Inline<O, S> {
    plan: &'static LazyPlan,
    types: PhantomData<fn() -> (S, O)>,
}

impl<O, S> Inline<O, S> {
    /// A plan with an output of the witness' type.
    #[must_use]
    pub const fn new(plan: &'static LazyPlan, _: PhantomData<fn() -> O>) -> Self {
        Self {
            plan,
            types: PhantomData,
        }
    }

    /// The plan as data.
    #[must_use]
    pub fn plan(&self) -> &'static Plan {
        self.plan
    }

    /// Runs the plan on an application that has its tools.
    pub fn run<'a, App>(&self, app: &'a App) -> Run<'a, App, O>
    where
        App: ?Sized + Application + CanRun<S>,
        O: DeserializeOwned + 'static,
    {
        Run::on(self.plan, Ok(Vec::new()), app, App::start)
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

/// Holds the JSON of an input.
///
/// # Errors
///
/// Where JSON cannot hold it.
pub fn input<T: Serialize + ?Sized>(name: &str, value: &T) -> Result<StoredValue, ResolveError> {
    StoredValue::of(value).map_err(|error| error.of_input(name))
}

/// The JSON of a value from outside, as a type writes it.
///
/// # Errors
///
/// Where the JSON that was sent is not that of the type.
pub fn received<T: Serialize + DeserializeOwned>(value: &Value) -> Result<Value, String> {
    receive::<T>(value).map_err(|error| error.to_string())
}
