//! Tools, and applications that can call them.

use super::{CallContext, CalledPlan, Mock, Run};
use crate::plan::LazyPlan;
use crate::resolve::{Arguments, HandOver, ResolveError};
use crate::shape::inside::Inside;
use crate::{Result, Shape};
use serde::{Serialize, de::DeserializeOwned};
use std::future::Future;

/// The contract of a tool: a serde struct of its arguments, with the type of its output.
///
/// The struct is the *command*. [`Call`] implements it for an application.
///
/// # From a function
/// `#[tool]` makes the struct, the contract and the implementation. The first parameter is the application if it is a
/// reference; without it, the tool is one of every application. The other parameters are the fields, as visible as the
/// function, with their doc comments and `#[serde(…)]` attributes. `#[derive(…)]` and `#[serde(…)]` below `#[tool]` go to the
/// struct. The function itself is not changed.
///
/// ```
/// use plan_runtime::{Call, Result, Tool, tool};
///
/// struct Mail;
///
/// /// Counts e-mails.
/// #[tool]
/// async fn count_emails(mail: &Mail, sender: String, #[serde(default)] unread: bool) -> Result<u64> {
///     Ok(0)
/// }
///
/// assert_eq!(CountEmails::NAME, "count_emails");
/// assert_eq!(CountEmails::DESCRIPTION, "Counts e-mails.");
/// let future = CountEmails { sender: "sarah".into(), unread: true }.call(&Mail);
/// # drop(future);
/// ```
///
/// The options are `#[tool(name = "mail.count")]`, `#[tool(struct = Count)]` for the struct's name, `#[tool(read_only)]` for a
/// tool that [only reads](Tool::READ_ONLY), and `#[tool(crate = path)]` where this crate is reached only through another. The function may return any `Result` whose error converts into
/// [`Error`](crate::Error).
///
/// # From a struct
/// `#[derive(Tool)]` makes the contract alone, and [`Call`] is implemented by hand:
///
/// ```
/// use plan_runtime::{Call, Result, Shape, Tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Shape, Tool)]
/// #[tool(output = u64, name = "mail.count", read_only)]
/// struct CountEmails { sender: String }
///
/// struct MockMail(u64);
///
/// impl Call<MockMail> for CountEmails {
///     async fn call(self, mail: &MockMail) -> Result<u64> {
///         Ok(mail.0)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "this is not a tool",
    note = "a tool is a struct with `#[derive(Tool)]`, or the struct that `#[tool]` generates from an `async fn`: `#[tool] async fn fetch_emails(…)` generates `FetchEmails`"
)]
pub trait Tool: Serialize + DeserializeOwned + Shape {
    /// What the tool returns when it succeeds.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// The name that plans, reports and events use.
    const NAME: &'static str;

    /// What the tool does, in one or more lines; empty where nothing was said.
    const DESCRIPTION: &'static str = "";

    /// Whether the tool declares, with `#[tool(read_only)]`, that it only reads: a call to it changes nothing for anyone.
    ///
    /// This is not checked. A plan can do without a call to such a tool if nothing uses its output.
    const READ_ONLY: bool = false;

    /// The plan that the tool is, if it is one of [`plan!`](crate::plan!).
    ///
    /// ```
    /// use plan_runtime::{Tool, plan};
    ///
    /// plan! {
    ///     Greet(name: String) -> String { format!("Hello, {name}!") }
    /// }
    ///
    /// assert_eq!(Greet::PLAN.name, <Greet as Tool>::PLAN.unwrap().name);
    /// ```
    const PLAN: Option<&'static LazyPlan> = None;

    /// Whether there is one application that can call the tool, or some by name, and not all with a capability. Not for users: `#[tool]` says so of a
    /// function that takes an application, and `plan!` of a plan whose first tool is one.
    #[doc(hidden)]
    const ONE_APPLICATION: bool = false;

    /// Whether the tool only waits, so that a run on an engine does that itself. Not for users: [`Sleep`](crate::Sleep) does.
    #[doc(hidden)]
    const WAITS: bool = false;

    /// Runs the plan that the tool is on a mock. Not for users: `plan!` gives it.
    #[doc(hidden)]
    const ON_MOCK: OnMock<Self> = None;

    /// What the output's type says of itself, for the secrets in it. Not for users: `#[tool]`, `#[derive(Tool)]` and `plan!` give it.
    #[doc(hidden)]
    const OUTPUT: fn() -> Inside = || Inside::named::<Self::Output>();

    /// The arguments of a call, some of which may be handed over. Not for users: `#[tool]` and `plan!` implement it. With `#[derive(Tool)]`, the
    /// struct is read from JSON, since it may implement `Deserialize` in its own way.
    ///
    /// # Errors
    ///
    /// Where an argument cannot be made.
    #[doc(hidden)]
    fn take(arguments: &Arguments<'_>) -> Result<Self, ResolveError> {
        arguments.read()
    }

    /// How outputs are handed over, if they come back from JSON as they were. Not for users: `#[tool]`, `#[derive(Tool)]` and `plan!` implement it.
    #[doc(hidden)]
    fn hand_over() -> Option<HandOver<Self::Output>> {
        None
    }
}

/// How a plan runs on a mock, if a tool is one.
pub type OnMock<T> =
    Option<fn(T, &'static Mock) -> Option<Run<'static, Mock, <T as Tool>::Output>>>;

/// An implementation of a [`Tool`] for one application.
///
/// `#[tool]` writes one for the application that its function names. A tool may have any number of them, so that one plan
/// runs in production, on a mock, and in a dry run that only says what it would do. A plan runs on each application that
/// has all of its tools; one that lacks a tool is an error where `run` is called.
///
/// ```
/// use plan_runtime::{Call, Result, Shape, Tool, plan};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Shape, Tool)]
/// #[tool(output = u64)]
/// struct Pay {
///     cents: u64,
/// }
///
/// struct Bank { fee: u64 }
/// struct DryRun;
///
/// impl Call<Bank> for Pay {
///     async fn call(self, bank: &Bank) -> Result<u64> {
///         Ok(self.cents + bank.fee)
///     }
/// }
///
/// impl Call<DryRun> for Pay {
///     async fn call(self, _: &DryRun) -> Result<u64> {
///         println!("would pay {} cents", self.cents);
///         Ok(self.cents)
///     }
/// }
///
/// plan! {
///     PayBoth(one: u64, other: u64) -> u64 {
///         step first = Pay { cents: one };
///         step second = Pay { cents: other };
///         first + second
///     }
/// }
/// # fn main() -> Result<()> {
/// let pay = || PayBoth { one: 20, other: 5 };
/// assert_eq!(smol::block_on(pay().run(&Bank { fee: 2 }))?, 29);
/// assert_eq!(smol::block_on(pay().run(&DryRun))?, 25);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "the application `{App}` cannot call the tool `{Self}`",
    label = "this application has no `{Self}`",
    note = "run the plan on an application that has this tool, or write `impl Call<{App}> for {Self}`"
)]
pub trait Call<App: ?Sized>: Tool {
    /// Calls the tool. Steps that do not depend on each other make their calls concurrently, so the application is shared.
    ///
    /// # Errors
    ///
    /// Whatever keeps the tool from giving its output. A [permanent](crate::Error::permanent) error is not tried again.
    fn call(self, app: &App) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Calls the tool as part of a run, of which it learns the step, the attempt and the time that is left.
    ///
    /// Unless it is implemented, it is [`call`](Self::call). `#[tool]` implements it for a function that has a parameter with `#[context]`.
    ///
    /// # Errors
    ///
    /// As those of `call`.
    fn call_in(
        self,
        app: &App,
        context: CallContext,
    ) -> impl Future<Output = Result<Self::Output>> + Send {
        drop(context);
        self.call(app)
    }

    /// The plan that the tool is, to be run on an application; itself if it is not a plan. Not for users: `plan!` implements it.
    ///
    /// # Errors
    ///
    /// The tool, if it is not a plan.
    #[doc(hidden)]
    fn plan_on<'x>(self, app: &'x App) -> Result<CalledPlan<'x>, Self>
    where
        Self: Sized + 'x,
    {
        let _ = app;
        Err(self)
    }

    /// Whether a run makes a context for the tool. If not, it makes its calls with [`call`](Self::call) alone, which takes less time. `#[tool]` says so of
    /// functions without a parameter with `#[context]`.
    const USES_CONTEXT: bool = true;
}
