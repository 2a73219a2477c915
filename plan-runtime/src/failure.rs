//! Failures as values, for steps with `#[catch]`.

use crate::print::{Cut, Line, MOST};
use serde::{Deserialize, Serialize};
use std::error::Error as StdError;
use std::fmt;

/// Why a step failed, as data: what a step with `#[catch]` gives where its call fails.
///
/// A tool that returns one as its error fails with it as it is. Its [`code`](Self::code) is what programs decide by.
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The path of the step in the plan that caught it: `pages[3]`, `trip.hotel`.
    pub step: String,
    /// What kind of failure it is: the [tool's own code](crate::Error::with_code), or one of these.
    ///
    /// | | |
    /// |---|---|
    /// | `FAILED` | a tool failed that says no more |
    /// | `ARGUMENTS` | the arguments could not be made |
    /// | `OUTPUT` | JSON cannot hold what the tool gave |
    /// | `VALUE` | Rust code among the values failed |
    /// | `PANIC` | a tool or Rust code among the values panicked |
    /// | `TIMEOUT`, `DEADLINE` | it took too long |
    /// | `TOO_MANY_ROUNDS` | the condition of a `loop` still held after the most rounds |
    /// | `NO_SIGNALS` | nobody could send the [value](crate::run::Signals) that it waited for |
    /// | `REFUSED` | a [gate](crate::run::Gate) refused the call |
    /// | `CANCELLED` | the run was cancelled |
    pub code: String,
    /// What happened, for people: one line of at most 4,000 characters.
    pub message: String,
    /// Whether another try may succeed.
    pub transient: bool,
    /// How many attempts were made.
    pub attempts: u32,
    /// The Rust expression of the plan whose `?` failed, as its author wrote it; `None` for a failure of another kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
}

impl Failure {
    /// What is in the place of a failure without being one.
    pub(crate) fn unclear() -> Self {
        Self {
            step: String::new(),
            code: "FAILED".to_owned(),
            message: "it is an `Err` that says no more".to_owned(),
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
