//! Failures as values, for steps with `#[catch]`.

use super::{RunError, StepError, run};
use crate::print::{Cut, Line, MOST};
use crate::shape::{Field, FieldPlace, Shape, TypeShape};
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
    /// What kind of failure it is: the [tool's own code](Error::with_code), or one of these.
    ///
    /// | | |
    /// |---|---|
    /// | `FAILED` | a tool failed that says no more |
    /// | `ARGUMENTS` | the arguments could not be made |
    /// | `OUTPUT` | JSON cannot hold what the tool gave |
    /// | `VALUE` | Rust code among the values failed |
    /// | `PANIC` | a tool or Rust code among the values panicked |
    /// | `TIMEOUT`, `DEADLINE` | it took too long |
    /// | `REFUSED` | a [gate](crate::run::Gate) refused the call |
    /// | `CANCELLED` | the run was cancelled |
    pub code: String,
    /// What happened, for people: one line of at most 4,000 characters.
    pub message: String,
    /// Whether another try may succeed.
    pub transient: bool,
    /// How many attempts were made.
    pub attempts: u32,
}

impl Failure {
    /// What became of a step at this path.
    pub(crate) fn of_step(step: String, error: &StepError, attempts: u32) -> Self {
        if let Some(inner) = error.failure() {
            return inner.clone();
        }
        let inner = match error {
            StepError::Tool(error) => error.downcast_ref::<RunError>(),
            _ => None,
        };
        let inner = inner.and_then(|run| run.failures().first());
        match inner.map(Self::from) {
            Some(inner) => Self {
                step: format!("{step}.{}", inner.step),
                ..inner
            },
            None => Self {
                step,
                code: code_of(error).to_owned(),
                message: error.to_string(),
                transient: error.is_transient(),
                attempts,
            },
        }
    }
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
        }
    }
}

/// The tool's own code, or that of the kind of error.
fn code_of(error: &StepError) -> &str {
    match error {
        StepError::Tool(error) => error.code().unwrap_or("FAILED"),
        StepError::Failed(failure) => &failure.code,
        StepError::Panic(_) => "PANIC",
        StepError::Arguments(_) | StepError::Fallback(_) => "ARGUMENTS",
        StepError::Output(_) => "OUTPUT",
        StepError::Timeout(_) => "TIMEOUT",
        StepError::Deadline(_) => "DEADLINE",
        StepError::Refused(_) => "REFUSED",
        StepError::Limit(_) => "LIMIT",
        StepError::Unknown => "UNKNOWN",
    }
}

/// The same as a value.
impl From<&run::Failure> for Failure {
    fn from(failure: &run::Failure) -> Self {
        let step = format!("{}{}", failure.step, run::Elements(&failure.element));
        Self::of_step(step, &failure.error, failure.attempts)
    }
}

impl From<run::Failure> for Failure {
    fn from(failure: run::Failure) -> Self {
        Self::from(&failure)
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

impl Shape for Failure {
    const SHAPE: TypeShape = TypeShape::Struct(&[
        Field::new("step", FieldPlace::Key("step")),
        Field::new("code", FieldPlace::Key("code")),
        Field::new("message", FieldPlace::Key("message")),
        Field::new("transient", FieldPlace::Key("transient")),
        Field::new("attempts", FieldPlace::Key("attempts")),
    ]);
}
