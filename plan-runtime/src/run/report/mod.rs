//! Reports of runs: the steps, their attempts and their times.

mod collapsed;
mod display;
#[cfg(feature = "html")]
mod html;
mod results;
mod serialize;

pub use results::{ErrorDetails, ExecutionMetadata, ExecutionResults, ToolMetadata, ToolResult};

use super::StepError;
use crate::error::elements;
use crate::plan::{Plan, Policy, Role, Step, ToolInfo};
use crate::resolve::bytes_of;
use serde_json::Value;
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What became of each step of a run.
///
/// [`Run::with_report`](super::Run::with_report) gives it. It prints as a table, in which a bar shows when each step ran:
///
/// ```text
/// plan `reply_to_latest`: 3 steps in 12.4 ms: 1 completed, 1 failed, 1 blocked
///   draft  write_draft   completed  0.1 ms +  3.0 ms  █████
///   inbox  fetch_emails  failed     0.1 ms + 12.2 ms  ████████████████████  mailbox is locked (3 attempts)
///   sent   reply_email   blocked                                            by `inbox`
///   critical path: inbox, 12.2 ms
/// ```
///
/// What ran inside a step, the steps of its block or those of a plan that it calls, is in the reports [inside](Attempt::inside) its attempts. As text, these are
/// collapsed: each step of them is one row below the step, for all elements.
///
/// A step's times are when it started, counted from the run's start, and how long it took. A report implements `Serialize`,
/// with times in milliseconds. With the feature `html`, `Report::to_html` makes a page of it.
///
/// ```
/// use plan_runtime::run::Status;
/// # use plan_runtime::{Error, Result, plan, tool};
/// # #[tool] async fn fetch(from: String) -> Result<Vec<String>> { Err(Error::msg(format!("{from} is locked"))) }
/// # #[tool] async fn reply(to: String) -> Result<()> { drop(to); Ok(()) }
///
/// let plan = plan! {
///     step inbox = Fetch { from: "mailbox" };
///     step sent = Reply { to: inbox[0] };
///     sent
/// };
/// let (_, report) = smol::block_on(plan.run(&()).with_report());
/// assert_eq!(report.step("inbox").unwrap().error().unwrap().to_string(), "mailbox is locked");
/// assert!(matches!(report.step("sent").unwrap().status(), Status::Blocked { by, .. } if by == "inbox"));
/// assert_eq!(report.totals().to_string(), "1 failed, 1 blocked");
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    /// All reports of a plan that is kept share it.
    plan: Arc<Plan>,
    started_at: SystemTime,
    duration: Duration,
    steps: Vec<StepReport>,
    totals: Totals,
    critical: Vec<usize>,
    #[cfg(feature = "html")]
    recorded: Recorded,
}

/// What a run was to keep for its report.
#[cfg(feature = "html")]
#[derive(Clone, Copy, Debug, Default)]
struct Recorded {
    arguments: bool,
    outputs: bool,
}

/// How many steps of a run ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Totals {
    /// Steps that completed.
    pub completed: usize,
    /// Steps that failed, and whose output is null or a fallback.
    pub recovered: usize,
    /// Steps none of whose conditions held.
    pub skipped: usize,
    /// Steps that failed.
    pub failed: usize,
    /// Steps that could not start because of a failure.
    pub blocked: usize,
    /// Steps that were dropped while they ran.
    pub cancelled: usize,
    /// Steps that were not started, though no failure was in their way.
    pub not_started: usize,
    /// Steps that have not ended, in the report of a run that goes on.
    #[serde(skip_serializing_if = "is_zero")]
    pub running: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Totals {
    pub(super) fn of(statuses: impl Iterator<Item = impl Borrow<Status>>) -> Self {
        let mut totals = Self::default();
        for status in statuses {
            *match status.borrow() {
                Status::Completed => &mut totals.completed,
                Status::Recovered(_) => &mut totals.recovered,
                Status::Skipped => &mut totals.skipped,
                Status::Failed(_) => &mut totals.failed,
                Status::Blocked { .. } => &mut totals.blocked,
                Status::Cancelled => &mut totals.cancelled,
                Status::NotStarted => &mut totals.not_started,
                Status::Running => &mut totals.running,
            } += 1;
        }
        totals
    }

    /// Each number, and what its steps are called.
    fn named(&self) -> [(usize, &'static str); 8] {
        [
            (self.completed, "completed"),
            (self.recovered, "recovered"),
            (self.skipped, "skipped"),
            (self.failed, "failed"),
            (self.blocked, "blocked"),
            (self.cancelled, "cancelled"),
            (self.not_started, "not started"),
            (self.running, "running"),
        ]
    }
}

/// What became of a step: how it ended, when, and each of its [attempts](Self::attempts). [`Report::steps`] has them.
#[derive(Clone, Debug)]
pub struct StepReport {
    id: String,
    tool: Option<Arc<ToolInfo>>,
    status: Status,
    element: Vec<usize>,
    started: Option<Duration>,
    ended: Option<Duration>,
    attempts: Vec<Attempt>,
    pub(super) output: Option<Value>,
    /// The policy with the amounts that were given, if any were.
    pub(super) policy: Option<Arc<Policy>>,
}

/// One try of a call to a tool, or of the computation of a value, or the wait for one, for one element of a `for`.
#[derive(Clone, Debug)]
pub struct Attempt {
    element: Vec<usize>,
    number: u32,
    tool: Option<Arc<ToolInfo>>,
    started: Duration,
    ended: Option<Duration>,
    error: Option<StepError>,
    pub(super) arguments: Option<Value>,
    inside: Vec<Report>,
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

impl Report {
    pub(super) fn new(
        plan: Arc<Plan>,
        started_at: SystemTime,
        duration: Duration,
        steps: Vec<StepReport>,
    ) -> Self {
        Self {
            #[cfg(feature = "html")]
            recorded: Recorded::default(),
            started_at,
            duration,
            totals: Totals::of(steps.iter().map(|step| &step.status)),
            critical: critical(&plan, &steps),
            plan,
            steps,
        }
    }

    /// Returns the report of a run that started no step.
    pub(super) fn unstarted(plan: &Plan) -> Self {
        let steps = plan.steps.iter();
        let steps = steps.map(|step| {
            let (status, times) = (Status::NotStarted, (None, None));
            StepReport::new(step, status, Vec::new(), times, Vec::new())
        });
        let plan = Arc::new(plan.clone());
        Self::new(plan, SystemTime::now(), Duration::ZERO, steps.collect())
    }

    /// Notes what the run was to keep, so that a page can say why something is not there.
    #[cfg(feature = "html")]
    pub(super) fn recorded(mut self, arguments: bool, outputs: bool) -> Self {
        self.recorded = Recorded { arguments, outputs };
        self
    }

    /// The plan's name.
    pub fn plan(&self) -> &str {
        &self.plan.name
    }

    /// When the run started.
    pub fn started_at(&self) -> SystemTime {
        self.started_at
    }

    /// How long the run took.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The steps, in the plan's order.
    pub fn steps(&self) -> &[StepReport] {
        &self.steps
    }

    /// The step of this name, or of this path: `pages[3].chunked` is in the block of `pages`, or in the plan that it calls. Of several attempts, it is in the last.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! {
    ///     step all = for number in [1, 2] {
    ///         step twice = Double { number };
    ///         Double { number: twice }
    ///     };
    ///     all
    /// };
    /// let (_, report) = smol::block_on(plan.run(&()).capture_outputs(true).with_report());
    /// assert_eq!(report.step("all[1].twice").unwrap().output(), Some(&4.into()));
    /// ```
    pub fn step(&self, path: &str) -> Option<&StepReport> {
        let named = self.steps.iter().find(|step| step.id == path);
        // A name may contain a dot, so that several steps may be meant.
        named.or_else(|| {
            self.steps.iter().find_map(|step| {
                let (element, rest) = elements(path.strip_prefix(&*step.id)?)?;
                let rest = rest.strip_prefix('.')?;
                let mut attempts = step.attempts.iter().rev();
                let attempt = attempts.find(|it| it.element == element && !it.inside.is_empty())?;
                attempt.inside.iter().find_map(|report| report.step(rest))
            })
        })
    }

    /// What it counts toward the limit on what a run holds.
    pub(super) fn bytes(&self) -> usize {
        let steps = self.steps.iter().map(StepReport::bytes);
        size_of::<Self>() + steps.sum::<usize>()
    }

    /// How many steps ended in which way.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The steps for which the run had to wait: the one that ended last, the last one that it waited for, and so on, in the
    /// order in which they ran.
    pub fn critical_path(
        &self,
    ) -> impl DoubleEndedIterator<Item = &StepReport> + ExactSizeIterator + fmt::Debug {
        self.critical.iter().map(|step| &self.steps[*step])
    }

    /// How long the steps of the [critical path](Report::critical_path) took together.
    pub fn critical_duration(&self) -> Duration {
        self.critical_path().filter_map(StepReport::duration).sum()
    }
}

fn critical(plan: &Plan, steps: &[StepReport]) -> Vec<usize> {
    let last = |steps_of: &mut dyn Iterator<Item = usize>| {
        let ended = steps_of.filter_map(|step| Some((steps[step].ended?, std::cmp::Reverse(step))));
        ended.max().map(|(_, std::cmp::Reverse(step))| step)
    };
    let mut path = Vec::new();
    let mut is_later = vec![false; steps.len()];
    let mut at = last(&mut (0..steps.len()));
    while let Some(step) = at {
        path.push(step);
        is_later[step] = true;
        at = match plan.steps[step].role {
            Role::Work => last(&mut plan.steps[step].needs().into_iter()),
            // They wait for all other work, whether or not they need it.
            Role::Undo(_) | Role::Always => last(
                &mut (0..steps.len())
                    .filter(|it| !is_later[*it] && steps[*it].ended <= steps[step].started),
            ),
        };
    }
    path.reverse();
    path
}

impl StepReport {
    pub(super) fn new(
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
    pub(super) fn add_only_attempt(&mut self, step: &Step) {
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
    pub(super) fn settle(&mut self) {
        self.attempts.retain(|attempt| attempt.number > 0);
    }

    /// What ran inside an attempt.
    pub(super) fn add_inside(&mut self, attempt: usize, reports: Vec<Report>) {
        if let Some(attempt) = self.attempts.get_mut(attempt) {
            attempt.inside = reports;
        }
    }

    fn bytes(&self) -> usize {
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

    /// What the step's tool was given in its last call, as serde writes it; `None` unless the run was to
    /// [capture arguments](super::Run::capture_arguments), and for a step that called no tool.
    pub fn arguments(&self) -> Option<&Value> {
        self.attempts.last()?.arguments()
    }

    /// The step's output: null if it was skipped; null or its fallback if it failed and that replaces the output. `None` unless the
    /// run was to [capture outputs](super::Run::capture_outputs), and for a step without an output.
    pub fn output(&self) -> Option<&Value> {
        self.output.as_ref()
    }

    /// What the step did about failures and time, with the amounts that it was given when it started; `None` if it did not start, if nothing
    /// but the plan says them, or if they are secret.
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
    fn amounts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let amounts = self.policy.iter().flat_map(|policy| policy.amounts());
        amounts.map(|(amount, value)| (amount.name(), value))
    }

    /// The calls, of all elements, in the order in which they started.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

impl Attempt {
    pub(super) fn new(
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
    pub(super) fn withdraw(&mut self) {
        self.number = 0;
    }

    pub(super) fn end(&mut self, at: Duration, error: Option<&StepError>) {
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

    /// The tool's arguments, where [`Run::capture_arguments`](super::Run::capture_arguments) asks for them and they could be resolved.
    pub fn arguments(&self) -> Option<&Value> {
        self.arguments.as_ref()
    }

    /// What ran inside it: of a block, or of a plan that was called, its report, and of a tool the reports of all plans that it ran [inside](super::Run::inside) the call. Their
    /// times are counted from their own start.
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
