use crate::{Result, Shape};
use serde::{Serialize, de::DeserializeOwned};
use std::future::Future;

/// The contract of a tool: a serde struct of its arguments that says what it gives back.
///
/// The struct is the *command*; what carries it out, and in which application, is [`Call`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "a step calls this, so it must be a tool",
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
