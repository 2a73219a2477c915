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
/// The trait [`Call`] implements the tool for an application.
///
/// # From a function
/// `#[tool]` generates the struct, the contract and the implementation. If the first parameter is a reference, it is the
/// application; otherwise, the tool belongs to every application. The other parameters become the fields, with the visibility
/// of the function, their doc comments and their `#[serde(…)]` attributes. `#[derive(…)]` and `#[serde(…)]` below `#[tool]`
/// apply to the struct. The function itself does not change.
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
/// The function may return any `Result` whose error converts into [`Error`](crate::Error). `#[tool]` has these options:
///
/// | option | effect |
/// |---|---|
/// | `#[tool(name = "mail.count")]` | sets the name of the tool |
/// | `#[tool(struct = Count)]` | sets the name of the struct |
/// | `#[tool(read_only)]` | declares that the tool [only reads](Tool::READ_ONLY) |
/// | `#[tool(crate = path)]` | sets the path of this crate, for a crate that uses a re-export |
///
/// # From a struct
/// `#[derive(Tool)]` generates only the contract. Implement [`Call`] yourself:
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
    note = "a tool is a struct with `#[derive(Tool)]`, or the struct that `#[tool]` generates from an `async fn`: `#[tool] async fn fetch_emails(…)` generates `FetchEmails`",
    note = "for a value in a plan, write a step with a type: `step value: Type = Type {{ … }};`, or in the braces of a branch `{{ step value: Type = Type {{ … }}; value }}`"
)]
pub trait Tool: Serialize + DeserializeOwned + Shape {
    /// The output of a successful call.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// The name that plans, reports and events use.
    const NAME: &'static str;

    /// The description of the tool, in one or more lines. Empty without a doc comment.
    const DESCRIPTION: &'static str = "";

    /// `true` if the tool declares, with `#[tool(read_only)]`, that its calls change nothing.
    ///
    /// The library does not verify the declaration. A call of such a tool is useless if no step uses its output.
    const READ_ONLY: bool = false;

    /// The plan of the tool, if the tool is a [`plan!`](crate::plan!).
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

    /// `true` if only particular applications can call the tool, instead of all applications with a capability. Hidden from users: `#[tool]` sets the
    /// constant for a function that takes an application, and `plan!` for a plan whose first tool is such a tool.
    #[doc(hidden)]
    const ONE_APPLICATION: bool = false;

    /// `true` if the tool only waits, so that a run on an engine waits by itself. Hidden from users: [`Sleep`](crate::Sleep)
    /// sets the constant.
    #[doc(hidden)]
    const WAITS: bool = false;

    /// The function that runs the tool's plan on a mock. Hidden from users: `plan!` sets the constant.
    #[doc(hidden)]
    const ON_MOCK: OnMock<Self> = None;

    /// The secrets that the output's type declares. Hidden from users: `#[tool]`, `#[derive(Tool)]` and `plan!` set the constant.
    #[doc(hidden)]
    const OUTPUT: fn() -> Inside = || Inside::named::<Self::Output>();

    /// Reads the arguments of a call, some of which may be handed over. Hidden from users: `#[tool]` and `plan!` implement this method. The
    /// struct of `#[derive(Tool)]` is deserialized from JSON, since its `Deserialize` may be hand-written.
    ///
    /// # Errors
    ///
    /// Returns the error of an argument that cannot be built.
    #[doc(hidden)]
    fn take(arguments: &Arguments<'_>) -> Result<Self, ResolveError> {
        arguments.read()
    }

    /// Returns the function that hands over outputs, if JSON preserves them. Hidden from users: `#[tool]`, `#[derive(Tool)]` and `plan!` implement
    /// this method.
    #[doc(hidden)]
    fn hand_over() -> Option<HandOver<Self::Output>> {
        None
    }
}

/// A function that runs a plan on a mock, if the tool is a plan.
pub type OnMock<T> =
    Option<fn(T, &'static Mock) -> Option<Run<'static, Mock, <T as Tool>::Output>>>;

/// An implementation of a [`Tool`] for one application.
///
/// `#[tool]` implements this trait for the application in the function's signature. A tool can have any number of
/// implementations, so that one plan runs in production, on a mock, and in a dry run that only prints its calls. A plan
/// runs on each application that implements all of its tools. If an application lacks a tool, the call of `run` is a
/// compile error.
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
    /// Calls the tool. Independent steps call their tools concurrently, so they share the application.
    ///
    /// # Errors
    ///
    /// Returns the error of the tool. A run does not retry a [permanent](crate::Error::permanent)
    /// error.
    fn call(self, app: &App) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Calls the tool as part of a run, with a context that contains the step, the attempt and the remaining time.
    ///
    /// By default, this method calls [`call`](Self::call). `#[tool]` implements the method for a function with a parameter with `#[context]`.
    ///
    /// # Errors
    ///
    /// Returns the errors of `call`.
    fn call_in(
        self,
        app: &App,
        context: CallContext,
    ) -> impl Future<Output = Result<Self::Output>> + Send {
        drop(context);
        self.call(app)
    }

    /// Creates the run of a tool that is a plan on an application, or returns the tool itself. Hidden from users: `plan!`
    /// implements this method.
    ///
    /// # Errors
    ///
    /// Returns the tool if it is not a plan.
    #[doc(hidden)]
    fn plan_on<'x>(self, app: &'x App) -> Result<CalledPlan<'x>, Self>
    where
        Self: Sized + 'x,
    {
        let _ = app;
        Err(self)
    }

    /// `true` if a run creates a context for the tool. Otherwise, the run uses [`call`](Self::call), which takes less time. `#[tool]` sets this
    /// constant to `false` for functions without a parameter with `#[context]`.
    const USES_CONTEXT: bool = true;
}
