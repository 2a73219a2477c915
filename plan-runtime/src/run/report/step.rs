//! Reports of steps and of their attempts.

use super::Report;
use crate::error::StepError;
use crate::plan::{Policy, Step, ToolInfo};
use crate::resolve::bytes_of;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What became of a step: how it ended, when, and each of its [attempts](Self::attempts). [`Report::steps`] has them.
#[derive(Clone, Debug)]
pub struct StepReport {
    pub(super) id: String,
    pub(super) tool: Option<Arc<ToolInfo>>,
    pub(super) status: Status,
    pub(super) element: Vec<usize>,
    pub(super) started: Option<Duration>,
    pub(super) ended: Option<Duration>,
    pub(super) attempts: Vec<Attempt>,
    pub(in crate::run) output: Option<Value>,
    /// The policy with the amounts that were given, if any were.
    pub(in crate::run) policy: Option<Arc<Policy>>,
}

/// One try of a call to a tool, or of the computation of a value, or the wait for one, for one element of a `for`.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub(super) element: Vec<usize>,
    pub(super) number: u32,
    pub(super) tool: Option<Arc<ToolInfo>>,
    pub(super) started: Duration,
    pub(super) ended: Option<Duration>,
    pub(super) error: Option<StepError>,
    pub(in crate::run) arguments: Option<Value>,
    pub(super) inside: Vec<Report>,
}

/// How a step ended. [`name`](Self::name) is a word for it, and `{}` writes it with its cause: `failed: mailbox is locked`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Status {
    /// It gave its output.
    Completed,
    /// It, or an element of it, gave an error, and null or its fallback replaces the output.
    Recovered(StepError),
    /// None of its conditions held. Its output is null, which the steps that read it see.
    Skipped,
    /// It gave an error.
    Failed(StepError),
    /// It could not start, because it needs the output of a step that failed, or of one that was blocked by it.
    #[non_exhaustive]
    Blocked {
        /// The step that failed; where there are several, the first of the plan.
        by: String,
    },
    /// It was dropped while it ran, or not all of its elements were started; how far it had come is not known.
    Cancelled,
    /// It was not started, because the run had ended before, or goes on.
    NotStarted,
    /// It has not ended: the run goes on, or nobody runs it now. Only the report of a journal has such steps.
    Running,
}

impl StepReport {
    pub(in crate::run) fn new(
        step: &Step,
        status: Status,
        element: Vec<usize>,
        (started, ended): (Option<Duration>, Option<Duration>),
        attempts: Vec<Attempt>,
    ) -> Self {
        Self {
            id: step.id.clone(),
            tool: step.shared_tool().cloned(),
            status,
            element,
            started,
            ended,
            attempts,
            output: None,
            policy: None,
        }
    }

    /// Of a step that is one call, that call was not noted while it ran.
    pub(in crate::run) fn add_only_attempt(&mut self, step: &Step) {
        if let (Some(started), Some(action), true) =
            (self.started, step.action(), self.attempts.is_empty())
        {
            let is_dropped = matches!(self.status, Status::Cancelled);
            self.attempts = vec![Attempt {
                ended: self.ended.filter(|_| !is_dropped),
                error: self.error().cloned(),
                ..Attempt::new(Vec::new(), 1, started, action.tool.clone())
            }];
        }
    }

    /// Removes the attempts that are marked as not made.
    pub(in crate::run) fn settle(&mut self) {
        self.attempts.retain(|attempt| attempt.number > 0);
    }

    /// What ran inside an attempt.
    pub(in crate::run) fn add_inside(&mut self, attempt: usize, reports: Vec<Report>) {
        if let Some(attempt) = self.attempts.get_mut(attempt) {
            attempt.inside = reports;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let attempts = self.attempts.iter().map(|attempt| {
            let arguments = attempt.arguments.as_ref().map_or(0, bytes_of);
            let inside = attempt.inside.iter().map(Report::bytes);
            size_of::<Attempt>() + arguments + inside.sum::<usize>()
        });
        let output = self.output.as_ref().map_or(0, bytes_of);
        size_of::<Self>() + self.id.len() + output + attempts.sum::<usize>()
    }

    /// The step's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the tool that the step calls; `None` for a computed step, and for one that may call different tools.
    pub fn tool(&self) -> Option<&str> {
        Some(&self.tool.as_ref()?.name)
    }

    /// How the step ended.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Why the step failed, if it did, even if null or a fallback replaces its output.
    pub fn error(&self) -> Option<&StepError> {
        match &self.status {
            Status::Failed(error) | Status::Recovered(error) => Some(error),
            _ => None,
        }
    }

    /// The first element of the step's `for` that failed: its index in each list, the outermost first; empty if no element failed.
    pub fn element(&self) -> &[usize] {
        &self.element
    }

    /// When the step started, counted from the run's start; `None` if it did not.
    pub fn started(&self) -> Option<Duration> {
        self.started
    }

    /// When the step ended, counted from the run's start; `None` if it did not start.
    pub fn ended(&self) -> Option<Duration> {
        self.ended
    }

    /// How long the step took; `None` if it did not start.
    pub fn duration(&self) -> Option<Duration> {
        Some(self.ended?.saturating_sub(self.started?))
    }

    /// Returns the JSON arguments of the last call of the step's tool. `None` unless the run
    /// [captures arguments](crate::Run::capture_arguments), and for a step that called no tool.
    pub fn arguments(&self) -> Option<&Value> {
        self.attempts.last()?.arguments()
    }

    /// The step's output: null if it was skipped; null or its fallback if it failed and that replaces the output. `None` unless the
    /// run was to [capture outputs](crate::Run::capture_outputs), and for a step without an output.
    pub fn output(&self) -> Option<&Value> {
        self.output.as_ref()
    }

    /// Returns the policy of the step, with its amounts at the start of the step. `None` if the step did not start, if the plan itself contains all amounts,
    /// or if the amounts are secret.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn ask() -> Result<u32> { Ok(3) }
    /// plan! {
    ///     Insist(attempts: u32) -> u32 {
    ///         #[retry(attempts)]
    ///         step answer = Ask {};
    ///         answer
    ///     }
    /// }
    ///
    /// let (answer, report) = smol::block_on(Insist { attempts: 5 }.run(&()).with_report());
    /// assert_eq!(answer?, 3);
    /// assert_eq!(report.step("answer").unwrap().policy().unwrap().attempts, 5);
    /// assert!(report.to_string().contains("attempts: 5"));
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    pub fn policy(&self) -> Option<&Policy> {
        self.policy.as_deref()
    }

    /// The amounts that the step was given when it started, as people write them.
    pub(super) fn amounts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let amounts = self.policy.iter().flat_map(|policy| policy.amounts());
        amounts.map(|(amount, value)| (amount.name(), value))
    }

    /// The calls, of all elements, in the order in which they started.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

impl Attempt {
    pub(in crate::run) fn new(
        element: Vec<usize>,
        number: u32,
        started: Duration,
        tool: Option<Arc<ToolInfo>>,
    ) -> Self {
        Self {
            element,
            number,
            tool,
            started,
            ended: None,
            error: None,
            arguments: None,
            inside: Vec::new(),
        }
    }

    /// Marks the attempt as not made.
    pub(in crate::run) fn withdraw(&mut self) {
        self.number = 0;
    }

    pub(in crate::run) fn end(&mut self, at: Duration, error: Option<&StepError>) {
        self.ended = Some(at);
        self.error = error.cloned();
    }

    /// The index in each list of a `for`, the outermost first; empty without a `for`.
    pub fn element(&self) -> &[usize] {
        &self.element
    }

    /// Which attempt it is of this call, counted from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The name of the tool; `None` where a value is computed or comes from outside.
    pub fn tool(&self) -> Option<&str> {
        Some(&self.tool.as_ref()?.name)
    }

    /// When it started, counted from the run's start.
    pub fn started(&self) -> Duration {
        self.started
    }

    /// When it ended, counted from the run's start; `None` if it was dropped, or if it still runs.
    pub fn ended(&self) -> Option<Duration> {
        self.ended
    }

    /// Why it failed, if it did.
    pub fn error(&self) -> Option<&StepError> {
        self.error.as_ref()
    }

    /// The tool's arguments, where [`Run::capture_arguments`](crate::Run::capture_arguments) asks for them and they could be resolved.
    pub fn arguments(&self) -> Option<&Value> {
        self.arguments.as_ref()
    }

    /// Returns the reports inside the attempt: the report of a block or of a called plan, or the reports of all plans that a tool ran [inside](crate::Run::inside) the call. The times
    /// of each report are counted from the start of its plan.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! {
    ///     step eight = { step four = Double { number: 2 }; Double { number: four } };
    ///     eight
    /// };
    /// let (_, report) = smol::block_on(plan.run(&()).with_report());
    /// let [block] = report.step("eight").unwrap().attempts()[0].inside() else {
    ///     panic!("a block is one plan");
    /// };
    /// assert_eq!(block.totals().completed, 2);
    /// assert_eq!(block.steps()[0].id(), "four");
    /// ```
    pub fn inside(&self) -> &[Report] {
        &self.inside
    }
}

impl Status {
    /// The status in a word: `completed`, `not started`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Recovered(_) => "recovered",
            Self::Skipped => "skipped",
            Self::Failed(_) => "failed",
            Self::Blocked { .. } => "blocked",
            Self::Cancelled => "cancelled",
            Self::NotStarted => "not started",
            Self::Running => "running",
        }
    }
}
