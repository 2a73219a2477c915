use crate::{Result, Shape};
use serde::{Serialize, de::DeserializeOwned};
use std::future::Future;
use std::marker::PhantomData;

/// The contract of a tool: a serde struct of its arguments that says what it gives back.
///
/// The struct is the *command*; what carries it out, and in which application, is [`Call`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "this is no tool",
    note = "a tool is a struct with `#[derive(Tool)]`, or the struct that `#[tool]` makes of an `async fn`: `#[tool] async fn fetch_emails(…)` makes `FetchEmails`"
)]
pub trait Tool: Serialize + DeserializeOwned + Shape {
    /// What the tool gives back when it succeeds.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// The name that plans, reports and events use.
    const NAME: &'static str;

    /// What the tool does, in one or more lines; empty where nothing was said.
    const DESCRIPTION: &'static str = "";
}

/// An implementation of a [`Tool`] for one application.
#[diagnostic::on_unimplemented(
    message = "the application `{App}` cannot call the tool `{Self}`",
    label = "this application has no `{Self}`",
    note = "write `impl Call<{App}> for {Self}`, or run the plan on an application that has this tool"
)]
pub trait Call<App: ?Sized>: Tool {
    /// Carries the tool out.
    fn call(self, app: &App) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// What a function with `#[tool]` returns.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool returns a `Result`, not `{Self}`",
    label = "this is no `Result`",
    note = "a tool that cannot fail returns `Ok(…)`, too: `-> plan_runtime::Result<{Self}>`"
)]
pub trait Outcome {
    /// What the tool gives back when it succeeds.
    type Output;
}

#[diagnostic::do_not_recommend]
impl<T, E> Outcome for std::result::Result<T, E> {
    type Output = T;
}

/// Converts what a function with `#[tool]` returned.
#[doc(hidden)]
pub struct Finish<O>(PhantomData<O>);

impl<T, E> Finish<std::result::Result<T, E>> {
    /// The result with the error that every tool has.
    pub fn finish(outcome: std::result::Result<T, E>) -> Result<T>
    where
        E: Failure,
    {
        outcome.map_err(Into::into)
    }
}

/// Stands in for [`Finish::finish`] where [`Outcome`] has said already that there is no `Result`.
#[doc(hidden)]
pub trait NoFinish<O>: Sized {
    /// Is never called.
    fn finish<Output>(_: O) -> Result<Output> {
        unreachable!("what returns no `Result` does not compile")
    }
}

impl<O> NoFinish<O> for Finish<O> {}

/// What a function with `#[tool]` may fail with.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot become a `plan_runtime::Error`",
    label = "a tool fails with a `plan_runtime::Error` or with what converts into one",
    note = "implement `std::error::Error` for `{Self}`; it must also be `Send + Sync + 'static`"
)]
pub trait Failure: Into<crate::Error> {}

#[diagnostic::do_not_recommend]
impl<E: Into<crate::Error>> Failure for E {}
