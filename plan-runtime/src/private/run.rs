pub use crate::run::start::{Request, StartFn, Started, StepFuture, StepResult};

use crate::{Call, Plan, Result, Run};
use serde::de::DeserializeOwned;
use std::future::Future;
use std::marker::PhantomData;

/// What starts the steps of a plan on an application that has its tools.
#[diagnostic::on_unimplemented(
    message = "the application `{App}` lacks a tool of the plan",
    label = "this application lacks a tool of the plan"
)]
pub trait Steps<App: ?Sized> {
    /// Starts the action of this [site](crate::plan::Action::site).
    fn start<'a>(site: usize, request: Request<'_>, app: &'a App) -> Started<'a>;
}

/// A tool that an application can call.
#[diagnostic::on_unimplemented(
    message = "the application `{App}` cannot call the tool `{Self}`",
    label = "this application has no `{Self}`",
    note = "write `impl Call<{App}> for {Self}`, or run the plan on an application that has this tool"
)]
pub trait Callable<App: ?Sized> {
    /// Starts a step that calls the tool.
    fn start<'a>(request: Request<'_>, app: &'a App, keep: bool) -> Started<'a>
    where
        Self: 'a;
}

#[diagnostic::do_not_recommend]
impl<T: Call<App>, App: ?Sized + Sync> Callable<App> for T {
    fn start<'a>(request: Request<'_>, app: &'a App, keep: bool) -> Started<'a>
    where
        Self: 'a,
    {
        request.call::<T, App>(app, keep)
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
    O: DeserializeOwned,
{
    async move { Ok(run.await?) }
}

/// What the expression form of `plan!` gives: a plan without inputs, whose steps are `S` and whose output is `O`.
pub struct Inline<S, O> {
    plan: &'static Plan,
    types: PhantomData<fn() -> (S, O)>,
}

impl<S, O> Inline<S, O> {
    /// A plan with an output of the witness' type.
    #[must_use]
    pub const fn new(plan: &'static Plan, _: PhantomData<fn() -> O>) -> Self {
        Self {
            plan,
            types: PhantomData,
        }
    }

    /// The plan as data.
    #[must_use]
    pub const fn plan(&self) -> &'static Plan {
        self.plan
    }

    /// Runs the plan on an application that has its tools.
    pub fn run<'a, App>(&self, app: &'a App) -> Run<'a, App, O>
    where
        App: ?Sized + Sync,
        S: Steps<App>,
    {
        Run::new(self.plan, Ok(Vec::new()), app, S::start)
    }
}

impl<S, O> Clone for Inline<S, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, O> Copy for Inline<S, O> {}

impl<S, O> std::fmt::Debug for Inline<S, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.plan.fmt(f)
    }
}

impl<S, O> std::fmt::Display for Inline<S, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.plan.fmt(f)
    }
}
