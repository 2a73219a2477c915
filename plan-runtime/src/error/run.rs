//! The errors of steps and runs.

use super::{Error, LeftWork, StepPath};
use crate::failure::Failure as CaughtFailure;
use crate::journal::JournalError;
use crate::plan::{Plan, Role, ToolInfo};
use crate::resolve::{ErrorKind, Limit, ResolveError};
use serde::{Deserialize, Serialize};
use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The error of a step.
#[derive(Clone)]
#[non_exhaustive]
pub enum StepError {
    /// The tool returned an error.
    Tool(Arc<Error>),
    /// The tool, or Rust code in the step's arguments, panicked with this message.
    Panic(Arc<str>),
    /// The run could not resolve the arguments or the computed value.
    Arguments(Arc<ResolveError>),
    /// The tool's output cannot be written as JSON, or violates its [JSON Schema](crate::dynamic).
    Output(Arc<ResolveError>),
    /// The attempt took longer than this time, which is the step's `timeout`, and was dropped.
    Timeout(Duration),
    /// All attempts together took longer than this time, which is the step's `deadline`. The last attempt was dropped.
    Deadline(Duration),
    /// The step failed, and the run could not resolve its fallback.
    Fallback(Arc<ResolveError>),
    /// The run exceeded a [limit](crate::run::Limits), and ended.
    Limit(Arc<ResolveError>),
    /// The run's [gate](crate::run::Gate) did not allow the call, for this reason.
    Refused(Arc<str>),
    /// The step needs the value of another step, which failed with this failure.
    Failed(Arc<CaughtFailure>),
    /// The step is a block with failed steps. The error of the run lists these steps.
    Block(Arc<RunError>),
    /// The condition of a loop still held after this number of rounds, which is the maximum.
    TooManyRounds(u32),
    /// The step waits for a value from outside, and no handle to send a value remains.
    NoSignals,
    /// The program lacks the compiled code of this step.
    Unknown,
}

crate::print::visible_debug!(enum StepError {
    Tool(_), Panic(_), Arguments(_), Output(_), Timeout(_), Deadline(_), Fallback(_), Limit(_), Refused(_), Failed(_),
    Block(_), TooManyRounds(_);
    NoSignals, Unknown;
});

impl StepError {
    pub(crate) fn tool(error: Error) -> Self {
        Self::Tool(Arc::new(error))
    }

    pub(crate) fn arguments(error: ResolveError) -> Self {
        Self::of(error, None, Self::Arguments)
    }

    pub(crate) fn output(error: ResolveError) -> Self {
        Self::of(error, Some("its output"), Self::Output)
    }

    pub(crate) fn fallback(error: ResolveError) -> Self {
        Self::of(error, Some("its fallback"), Self::Fallback)
    }

    #[cold]
    fn of(
        error: ResolveError,
        part: Option<&'static str>,
        kind: fn(Arc<ResolveError>) -> Self,
    ) -> Self {
        if let Some(failure) = error.failure() {
            return Self::Failed(Arc::new(failure.clone()));
        }
        match (error.exceeded(), part) {
            (None, _) => kind(Arc::new(error)),
            (Some(_), None) => Self::Limit(Arc::new(error)),
            (Some(_), Some(part)) => Self::Limit(Arc::new(error.of_part(part))),
        }
    }

    /// Removes the values in the error, which are secret. The messages of tools and panics stay, since their authors are
    /// responsible for them.
    pub(crate) fn without_values(self) -> Self {
        let without = |error: &ResolveError| Arc::new(error.without_values());
        match &self {
            Self::Arguments(error) => Self::Arguments(without(error)),
            Self::Output(error) => Self::Output(without(error)),
            Self::Fallback(error) => Self::Fallback(without(error)),
            _ => self,
        }
    }

    /// Returns `true` for a plan that failed with steps that were not undone, and for a plan that lacked signals at its start. The state
    /// after such a failure is unknown, so no fallback applies.
    pub(crate) fn leaves_work(&self) -> bool {
        let leaves_work = |run: &RunError| {
            run.not_undone().len() > 0 || matches!(run.0.cause, Cause::NoSignals(_))
        };
        match self {
            Self::Tool(error) => {
                error.downcast_ref().is_some_and(leaves_work)
                    || error.downcast_ref::<LeftWork>().is_some()
            }
            Self::Block(run) => leaves_work(run),
            _ => false,
        }
    }

    /// Returns the exceeded limit of the run.
    pub(crate) fn exceeded(&self) -> Option<Limit> {
        match self {
            Self::Limit(error) => error.exceeded(),
            _ => None,
        }
    }

    /// Returns `true` if the run, or the time of the step, was over before a value was made.
    pub(crate) fn is_interrupted(&self) -> bool {
        match self {
            Self::Arguments(error) | Self::Fallback(error) => {
                error.kind() == ErrorKind::Interrupted
            }
            _ => false,
        }
    }

    /// Returns the failure of another step that this step needs, or a failure that the tool returned.
    pub(crate) fn failure(&self) -> Option<&CaughtFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Tool(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// Returns the shortest time until a retry, if a tool has set one.
    pub(crate) fn retry_delay(&self) -> Option<Duration> {
        match self {
            Self::Tool(error) => error.retry_delay(),
            Self::Block(run) => run.retry_delay(),
            _ => None,
        }
    }

    /// Returns the code of the failure, for programs: the code that a tool has set on its error, `FAILED` without such a code, or the kind of
    /// failure. The guide lists [all codes](crate::guide::codes#codes-of-failures).
    ///
    /// ```
    /// use plan_runtime::{Error, Result, plan, tool};
    ///
    /// /// Charges a card.
    /// #[tool]
    /// async fn charge() -> Result<()> {
    ///     Err(Error::permanent("the card was refused").with_code("CARD"))
    /// }
    ///
    /// let plan = plan! { step paid = Charge {}; };
    /// let error = smol::block_on(plan.run(&())).unwrap_err();
    /// assert_eq!(error.failures()[0].error().code(), "CARD");
    /// ```
    pub fn code(&self) -> &str {
        match self {
            Self::Tool(error) => error.code().unwrap_or("FAILED"),
            Self::Failed(failure) => &failure.code,
            Self::Panic(_) => "PANIC",
            Self::Arguments(error) | Self::Fallback(error) if error.kind() == ErrorKind::Value => {
                "VALUE"
            }
            Self::Arguments(_) | Self::Fallback(_) => "ARGUMENTS",
            Self::Output(_) => "OUTPUT",
            Self::Timeout(_) => "TIMEOUT",
            Self::Deadline(_) => "DEADLINE",
            Self::Refused(_) => "REFUSED",
            Self::Limit(_) => "LIMIT",
            Self::Block(run) => run.first().map_or("FAILED", |failure| failure.error.code()),
            Self::TooManyRounds(_) => "TOO_MANY_ROUNDS",
            Self::NoSignals => "NO_SIGNALS",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Returns the tool's error, if the step failed because its tool did. For a block, returns the error of the first
    /// failed step in the block.
    pub fn as_tool(&self) -> Option<&Error> {
        match self {
            Self::Tool(error) => Some(error),
            Self::Block(run) => run.first()?.error.as_tool(),
            _ => None,
        }
    }

    /// Returns `true` if another attempt may succeed: after a tool's transient error, a panic, or a timeout of an
    /// attempt.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Tool(error) => error.is_transient(),
            Self::Panic(_) | Self::Timeout(_) => true,
            Self::Block(run) => {
                let first = run.first().map(|failure| &failure.error);
                first.is_some_and(Self::is_transient) && run.not_undone().len() == 0
            }
            Self::Arguments(_)
            | Self::Output(_)
            | Self::Deadline(_)
            | Self::Fallback(_)
            | Self::Limit(_)
            | Self::Refused(_)
            | Self::Failed(_)
            | Self::TooManyRounds(_)
            | Self::NoSignals
            | Self::Unknown => false,
        }
    }
}

impl StdError for StepError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Tool(error) => Some(error.as_std()),
            Self::Arguments(error)
            | Self::Output(error)
            | Self::Fallback(error)
            | Self::Limit(error) => Some(&**error),
            Self::Failed(failure) => Some(&**failure),
            Self::Block(run) => run.source(),
            Self::Panic(_)
            | Self::Timeout(_)
            | Self::Deadline(_)
            | Self::Refused(_)
            | Self::TooManyRounds(_)
            | Self::NoSignals
            | Self::Unknown => None,
        }
    }
}

/// A step that failed: its name, its tool, the element of a `for`, the reason, and the steps that it blocked.
/// [`RunError::failures`] returns the failed steps.
#[derive(Clone)]
pub struct FailedStep {
    pub(crate) step: StepPath,
    pub(crate) element: Vec<usize>,
    pub(crate) tool: Option<Arc<ToolInfo>>,
    pub(crate) error: StepError,
    pub(crate) attempts: u32,
    pub(crate) blocked: Vec<StepPath>,
    /// The role of the step. The failure of an always step does not change the outcome.
    pub(crate) role: Role,
}

crate::print::visible_debug!(struct FailedStep {
    step,
    element,
    tool,
    error,
    attempts,
    blocked,
    role,
});

impl FailedStep {
    /// Returns the step's name, or the path of a step in a block: `pages[3].chunks`.
    pub fn step(&self) -> &str {
        &self.step.path
    }

    /// Returns the index of the first failed element of the step's `for`, in each list, the outermost first. The slice is empty if
    /// no element failed. The element is the first in the list, since the first failure in time may differ from run to run.
    pub fn element(&self) -> &[usize] {
        &self.element
    }

    /// Returns the name of the tool that the step called, or `None` for a computed step.
    pub fn tool(&self) -> Option<&str> {
        Some(&self.tool.as_ref()?.name)
    }

    /// Returns the error.
    pub fn error(&self) -> &StepError {
        &self.error
    }

    /// Returns the number of attempts of the step, or of the failed element.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Returns `true` for an undo step.
    pub(crate) fn is_of_undo(&self) -> bool {
        matches!(self.role, Role::Undo(_))
    }

    /// Returns `true` if the failure repeats the exceeded limit of the run.
    pub(super) fn is_limit(&self) -> bool {
        match &self.error {
            StepError::Limit(_) => true,
            StepError::Tool(error) => error
                .downcast_ref::<RunError>()
                .is_some_and(RunError::exceeds_limit),
            _ => false,
        }
    }

    /// Returns the steps that could not run because of this failure, in the order of the plan.
    pub fn blocked(&self) -> impl ExactSizeIterator<Item = &str> + fmt::Debug {
        self.blocked.iter().map(|step| &*step.path)
    }
}

/// The reason for a run's early end.
#[derive(Clone, Debug)]
pub(crate) enum Interrupt {
    Deadline(Duration),
    Cancelled,
    /// The run is inside this many other plans, which are too many.
    Nested(usize),
    /// The call that contains the run has ended.
    Outer,
    /// The plan inside a call cannot be polled here, for this reason.
    Outside(&'static str),
    /// A limit was exceeded: here, or in another part of the run.
    Limit(Arc<str>),
    /// The run exceeded the limit on records. Its undo steps run.
    Recorded(Arc<str>),
    /// The run's journal cannot be used.
    Journal(Arc<JournalError>),
}

/// The reason why a run has no output.
///
/// `{}` writes the error on one line, with every failed step. `{:?}` writes each step on a line of its own.
///
/// ```
/// # use plan_runtime::{Result, ResultExt, plan, tool};
/// # #[tool] async fn parse(text: String) -> Result<u8> { text.parse().permanent() }
/// # #[tool] async fn print(number: u8) -> Result<()> { drop(number); Ok(()) }
/// let plan = plan! {
///     step number = Parse { text: "many" };
///     step printed = Print { number };
///     printed
/// };
/// let error = smol::block_on(plan.run(&())).unwrap_err();
/// assert!(error.is_permanent());
///
/// let [failure] = error.failures() else { panic!() };
/// assert_eq!((failure.step(), failure.tool()), ("number", Some("parse")));
/// assert_eq!(failure.blocked().collect::<Vec<_>>(), ["printed"]);
/// let cause = failure.error().as_tool().unwrap();
/// assert!(cause.downcast_ref::<std::num::ParseIntError>().is_some());
/// ```
pub struct RunError(pub(super) Box<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) plan: String,
    pub(super) cause: Cause,
    /// In order: the work in the order of the plan, then undo steps, then always steps.
    pub(super) failures: Vec<FailedStep>,
    pub(super) undoing: Undoing,
    /// `true` if the run has not started a step.
    unstarted: bool,
    pub(super) text: OnceLock<String>,
}

/// The undone steps, in the order of their undoing, and the steps that were not undone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Undoing {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) undone: Vec<StepPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_undone: Vec<StepPath>,
}

#[derive(Debug)]
pub(crate) enum Cause {
    /// Steps failed.
    Steps,
    Interrupted(Interrupt),
    /// A panic outside of all steps.
    Panicked(StepError),
    Inputs(ResolveError),
    /// All obstacles to the start of the plan.
    Unfit(Vec<String>),
    /// The run's journal failed to return the result.
    Journal(Arc<JournalError>),
    /// Steps wait for values that no handle can send.
    NoSignals(String),
    Output(StepError),
    Plan(Arc<str>),
}

impl RunError {
    pub(crate) fn new(plan: &Plan, cause: Cause, failures: Vec<FailedStep>) -> Self {
        Self::of(plan.name.clone(), cause, failures)
    }

    pub(crate) fn of(plan: String, cause: Cause, failures: Vec<FailedStep>) -> Self {
        Self(Box::new(Inner {
            plan,
            cause,
            failures,
            undoing: Undoing::default(),
            unstarted: false,
            text: OnceLock::new(),
        }))
    }

    /// Creates the error of a run of this plan whose end is missing from its journal.
    pub(crate) fn stopped(plan: &str, error: JournalError) -> Self {
        let cause = Cause::Interrupted(Interrupt::Journal(Arc::new(error)));
        Self::of(plan.to_owned(), cause, Vec::new())
    }

    /// Adds the outcomes of the steps that have undo steps.
    pub(crate) fn undoing(mut self, undoing: Undoing) -> Self {
        self.0.undoing = undoing;
        self
    }

    /// Marks the error as an error from before the first step.
    pub(crate) fn before_the_start(mut self) -> Self {
        self.0.unstarted = true;
        self
    }

    pub(crate) fn cause(&self) -> &Cause {
        &self.0.cause
    }

    pub(crate) fn undoing_of(&self) -> &Undoing {
        &self.0.undoing
    }

    /// Returns the name of the plan.
    pub fn plan(&self) -> &str {
        &self.0.plan
    }

    /// Returns the failed steps, in this order: the work in the order of the plan, then undo steps, then always steps. The slice is empty if the plan
    /// could not start, or if every step completed and only the plan's own output could not be computed.
    pub fn failures(&self) -> &[FailedStep] {
        &self.0.failures
    }

    /// Returns the steps that completed and were undone: first the steps of the plan, and then the steps of each block, element and called
    /// plan. The steps of each of these are in the order of their undoing.
    pub fn undone(&self) -> impl ExactSizeIterator<Item = &str> + fmt::Debug {
        self.0.undoing.undone.iter().map(|step| &*step.path)
    }

    /// Returns the steps that completed and were not undone, in the plan's order: their undo steps failed, or had no time left. A
    /// person must correct the effects of these steps.
    pub fn not_undone(&self) -> impl ExactSizeIterator<Item = &str> + fmt::Debug {
        self.0.undoing.not_undone.iter().map(|step| &*step.path)
    }

    /// Returns the first failure of the work. The failures of undo steps come after it.
    pub(crate) fn first(&self) -> Option<&FailedStep> {
        let mut failures = self.failures().iter();
        let work = failures.find(|failure| failure.role == Role::Work);
        work.or(self.failures().first())
    }

    /// Returns `true` if the run has started a step. Otherwise, the run has called no tool, so there is no effect to undo: the inputs
    /// are wrong, a tool is missing, a limit is exceeded, no handle can send a value from outside, or the run was cancelled before its
    /// first step.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, run::Mock, tool};
    /// # #[tool] async fn find(name: String) -> Result<u8> { drop(name); Ok(1) }
    /// let plan = plan! { step found = Find { name: "Ada" }; found };
    ///
    /// let mock = Mock::new(); // without an answer for `find`
    /// assert!(!smol::block_on(plan.run(&mock)).unwrap_err().has_started());
    ///
    /// let mock = Mock::new().on(|Find { .. }| Err("nobody is called so".into()));
    /// assert!(smol::block_on(plan.run(&mock)).unwrap_err().has_started());
    /// ```
    pub fn has_started(&self) -> bool {
        !self.0.unstarted
    }

    /// Returns `true` if an exceeded limit has ended the run.
    pub(super) fn exceeds_limit(&self) -> bool {
        matches!(
            self.0.cause,
            Cause::Interrupted(Interrupt::Limit(_) | Interrupt::Recorded(_))
        )
    }

    /// Returns the error of the run's [journal](crate::run::Run::durable) that prevented the start or the continuation of the run. No records are lost: start the run again
    /// to resume from its records.
    pub fn journal(&self) -> Option<&JournalError> {
        match &self.0.cause {
            Cause::Journal(error) | Cause::Interrupted(Interrupt::Journal(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns `true` if the run has not started.
    pub(crate) fn is_of_start(&self) -> bool {
        match &self.0.cause {
            Cause::Inputs(_)
            | Cause::Unfit(_)
            | Cause::Journal(_)
            | Cause::NoSignals(_)
            | Cause::Plan(_) => true,
            Cause::Steps | Cause::Interrupted(_) | Cause::Panicked(_) | Cause::Output(_) => false,
        }
    }

    /// Returns `true` if another attempt may succeed: if all failures are transient, and no step is [not undone](Self::not_undone).
    pub fn is_transient(&self) -> bool {
        if !self.0.undoing.not_undone.is_empty() {
            return false;
        }
        match &self.0.cause {
            Cause::Steps | Cause::Interrupted(Interrupt::Deadline(_)) => self
                .failures()
                .iter()
                .filter(|failure| failure.role != Role::Always)
                .all(|failure| failure.error.is_transient()),
            Cause::Interrupted(
                Interrupt::Cancelled
                | Interrupt::Nested(_)
                | Interrupt::Outer
                | Interrupt::Outside(_)
                | Interrupt::Journal(_)
                | Interrupt::Limit(_)
                | Interrupt::Recorded(_),
            ) => false,
            Cause::Output(error) | Cause::Panicked(error) => error.is_transient(),
            Cause::Inputs(_)
            | Cause::Unfit(_)
            | Cause::Journal(_)
            | Cause::NoSignals(_)
            | Cause::Plan(_) => false,
        }
    }

    /// Returns the longest time until a retry that a tool has set.
    pub(crate) fn retry_delay(&self) -> Option<Duration> {
        let failures = self.failures().iter();
        failures.filter_map(|it| it.error.retry_delay()).max()
    }

    /// Returns `true` if another attempt would not help.
    pub fn is_permanent(&self) -> bool {
        !self.is_transient()
    }
}

impl StdError for RunError {
    /// Returns the error of the first failure: the tool's error, or the [`StepError`] if the tool did not fail. Without failures, returns the error of the
    /// journal, of the inputs or of the output, or the panic.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.cause {
            Cause::Panicked(error) => Some(error),
            Cause::Journal(error) | Cause::Interrupted(Interrupt::Journal(error)) => Some(&**error),
            Cause::Steps | Cause::Interrupted(_) => {
                self.first().map(|failure| match &failure.error {
                    StepError::Tool(error) => error.as_std(),
                    error => error,
                })
            }
            Cause::Inputs(error) => Some(error),
            Cause::Output(error) => Some(error),
            Cause::Unfit(_) | Cause::NoSignals(_) | Cause::Plan(_) => None,
        }
    }
}
