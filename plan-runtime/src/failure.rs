//! Failures as values, for steps with `#[catch]`.

use crate::print::{Cut, Line, MOST};
use serde::{Deserialize, Serialize};
use std::error::Error as StdError;
use std::fmt;

/// The failure of a step as a value, which a step with `#[catch]` contains after its call has failed.
///
/// Programs can distinguish failures by their [`code`](Self::code). If a tool returns a `Failure` as its error, its step fails with exactly this failure.
///
/// ```
/// use plan_runtime::{Error, Failure, Result, plan, tool};
///
/// /// Finds nothing.
/// #[tool]
/// async fn find(name: String) -> Result<u64> {
///     Err(Error::permanent(format!("there is no {name}")).with_code("NOT_FOUND"))
/// }
///
/// plan! {
///     Count(name: String) -> Result<u64, Failure> {
///         #[catch]
///         step found = Find { name };
///         found
///     }
/// }
///
/// let failure = smol::block_on(Count { name: "moon".into() }.run(&()))?.unwrap_err();
/// assert_eq!((failure.step.as_str(), failure.code.as_str()), ("found", "NOT_FOUND"));
/// assert_eq!(failure.message, "there is no moon");
/// assert!(!failure.transient);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The path of the step in the plan that caught it: `pages[3]`, `trip.hotel`.
    pub step: String,
    /// The kind of failure: the [tool's own code](crate::Error::with_code), or a code of this table.
    ///
    /// | | |
    /// |---|---|
    /// | `FAILED` | a tool returned an error without a code |
    /// | `ARGUMENTS` | an argument could not be resolved |
    /// | `OUTPUT` | serde cannot write the output as JSON |
    /// | `VALUE` | Rust code in a value failed |
    /// | `PANIC` | a tool, or Rust code in a value, panicked |
    /// | `TIMEOUT`, `DEADLINE` | the attempt or the step took too long |
    /// | `TOO_MANY_ROUNDS` | the condition of a `loop` still held after the maximum number of rounds |
    /// | `NO_SIGNALS` | all [`Signals`](crate::run::Signals) for the awaited value were dropped |
    /// | `REFUSED` | a [gate](crate::run::Gate) refused the call |
    /// | `CANCELLED` | the run was cancelled |
    pub code: String,
    /// The message, for people: one line of at most 4,000 characters.
    pub message: String,
    /// `true` if another attempt may succeed.
    pub transient: bool,
    /// The number of attempts.
    pub attempts: u32,
    /// The source of the Rust expression whose `?` failed, or `None` for another failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
}

crate::print::visible_debug!(struct Failure {
    step,
    code,
    message,
    transient,
    attempts,
    expression,
});

impl Failure {
    /// Creates a failure in place of an error without any details.
    pub(crate) fn unclear() -> Self {
        Self {
            step: String::new(),
            code: "FAILED".to_owned(),
            message: "the error has no details".to_owned(),
            transient: false,
            attempts: 1,
            expression: None,
        }
    }
}

/// `step `found` failed: there is no moon`.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = Cut(Line(&self.message), MOST);
        match &*self.step {
            "" => write!(f, "{message}"),
            step => write!(f, "step `{}` failed: {message}", Cut(Line(step), MOST)),
        }
    }
}

impl StdError for Failure {}
