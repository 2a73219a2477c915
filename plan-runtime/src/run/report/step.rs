//! Reports of steps and of their attempts.

use super::wait::Span;
use super::{Report, WaitReport};
use crate::error::StepError;
use crate::plan::{Policy, Step, ToolInfo};
use crate::resolve::bytes_of;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The report of a step: its status, its times, and its [attempts](Self::attempts). [`Report::steps`] has them.
#[derive(Clone)]
pub struct StepReport {
    pub(super) id: String,
    pub(super) tool: Option<Arc<ToolInfo>>,
    pub(super) status: Status,
    pub(super) is_undone: bool,
    pub(super) element: Vec<usize>,
    pub(in crate::run) elements: Option<usize>,
    pub(super) started: Option<Duration>,
    pub(super) ended: Option<Duration>,
    pub(super) attempts: Vec<Attempt>,
    pub(in crate::run) waits: Vec<WaitReport>,
    pub(in crate::run) output: Option<Value>,
    /// The policy with its computed amounts, if it has any.
    pub(in crate::run) policy: Option<Arc<Policy>>,
    /// The attempts that a retry of the run removed, with `true` for failed attempts.
    pub(super) earlier: Vec<(Span, bool)>,
}

crate::print::visible_debug!(struct StepReport {
    id,
    tool,
    status,
    is_undone,
    element,
    elements,
    started,
    ended,
    attempts,
    waits,
    output,
    policy,
    earlier,
});

/// An attempt of a call, a computation or a wait, for one element of a `for`.
#[derive(Clone)]
pub struct Attempt {
    pub(super) element: Vec<usize>,
    pub(super) number: u32,
    pub(super) tool: Option<Arc<ToolInfo>>,
    pub(super) started: Duration,
    pub(super) ended: Option<Duration>,
    pub(super) error: Option<StepError>,
    pub(in crate::run) arguments: Option<Value>,
    pub(in crate::run) is_changed: bool,
    pub(super) inside: Vec<Report>,
}

crate::print::visible_debug!(struct Attempt {
    element,
    number,
    tool,
    started,
    ended,
    error,
    arguments,
    is_changed,
    inside,
});

/// The status of a step. [`name`](Self::name) returns one word, and `{}` writes the status with its cause: `failed: mailbox is locked`.
#[derive(Clone)]
#[non_exhaustive]
pub enum Status {
    /// The step has its output.
    Completed,
    /// The step, or an element of the step, failed, and null, the fallback or an `Err` replaces the output.
    Recovered(StepError),
    /// No condition of the step held. The output is null.
    Skipped,
    /// The step failed.
    Failed(StepError),
    /// The step did not start, because it needs a step that failed or was blocked.
    #[non_exhaustive]
    Blocked {
        /// The first step in the plan that failed.
        by: String,
    },
    /// The run dropped the running step, or some of its elements did not start. The effects of the step are unknown.
    Cancelled,
    /// The step did not start before the end of the run, or has not started yet.
    NotStarted,
    /// The step has not ended: it is running, or no process runs the run. Only reports from a journal contain this status.
    Running,
    /// The step has not ended: all its open calls wait for answers of gates or for values from outside. Only reports from a journal contain
    /// this status.
    Waiting,
}

crate::print::visible_debug!(enum Status {
    Recovered(_), Failed(_);
    Completed, Skipped, Cancelled, NotStarted, Running, Waiting;
    Blocked { by }
});

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
            is_undone: false,
            element,
            elements: None,
            started,
            ended,
            attempts,
            waits: Vec::new(),
            output: None,
            policy: None,
            earlier: Vec::new(),
        }
    }

    /// Adds the attempt of a step with one call, which was not recorded while the call ran.
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
        self.attempts.retain(|attempt| !attempt.is_withdrawn());
    }

    /// Marks a running step as waiting if all its open calls wait for answers or values. A block waits if its steps wait.
    pub(in crate::run) fn wait_with_calls(&mut self) {
        let waits = self.waits.iter().filter(|wait| wait.ended.is_none());
        let calls = self.attempts.iter().filter(|call| call.ended.is_none());
        let elements: BTreeSet<&[usize]> = waits.clone().map(WaitReport::element).collect();
        let is_wait = |call: &Attempt| {
            let mut inside = call.inside.iter();
            elements.contains(&call.element[..]) || inside.any(Report::only_waits)
        };
        let is_open = waits.clone().count() + calls.clone().count() > 0;
        let is_outside = waits.clone().all(|wait| wait.reason.is_outside());
        if matches!(self.status, Status::Running) && is_open && is_outside && { calls }.all(is_wait)
        {
            self.status = Status::Waiting;
        }
    }

    /// Returns `true` if the step has started and has not ended.
    #[cfg(feature = "html")]
    pub(super) fn is_open(&self) -> bool {
        matches!(self.status, Status::Running | Status::Waiting)
    }

    /// Returns the elements whose last attempt has failed, and the number of all elements. In nested lists, the elements of the innermost lists count.
    pub(super) fn failed_elements(&self) -> (Vec<&[usize]>, usize) {
        let mut last = std::collections::BTreeMap::new();
        for attempt in self.attempts.iter().filter(|it| !it.element.is_empty()) {
            last.insert(&*attempt.element, attempt.error.is_some());
        }
        let is_nested = last.keys().any(|element| element.len() > 1);
        let all = self.elements.filter(|_| !is_nested).unwrap_or(last.len());
        let failed = last.into_iter().filter(|(_, failed)| *failed);
        (failed.map(|(element, _)| element).collect(), all)
    }

    /// Lets the step begin with its first call or its first long wait. A step with one call then has the times of its call.
    /// The replay of a retried run starts a repeated step before the retry. Without a call, such a step begins with its end.
    pub(in crate::run) fn begin_with_call(&mut self, is_retried: bool) {
        let calls = self.attempts.iter().map(|attempt| attempt.started);
        let waits = self.waits.iter().filter(|wait| wait.is_shown());
        let first = calls.chain(waits.map(|wait| wait.started)).min();
        let first = first.or(self.ended.filter(|_| is_retried));
        self.started = self.started.max(first.filter(|_| self.started.is_some()));
    }

    /// Moves the failure of a step to the retry of the run. A retry repeats each failure, and the journal has no time for a failure before a call.
    pub(in crate::run) fn fail_after(&mut self, retried: Duration) {
        let is_earlier = self.ended.is_some_and(|ended| ended < retried);
        if !is_earlier || !matches!(self.status, Status::Failed(_)) {
            return;
        }
        self.ended = Some(retried);
        let mut later = BTreeSet::new();
        for attempt in self.attempts.iter_mut().rev() {
            let is_last = later.insert(attempt.element.clone());
            if !is_last || attempt.error.is_none() || attempt.ended >= self.ended {
                continue;
            }
            attempt.ended = Some(retried);
            let Some(inside) = attempt.inside.last_mut() else {
                attempt.started = retried;
                continue;
            };
            let retried = retried.saturating_sub(attempt.started);
            inside.duration = inside.duration.max(retried);
            for step in &mut inside.steps {
                step.fail_after(retried);
            }
        }
        let first = self.attempts.iter().map(|attempt| attempt.started).min();
        self.started = self.started.max(Some(first.unwrap_or(retried)));
    }

    /// Adds the reports inside an attempt.
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
        let waits = self.waits.len() * size_of::<WaitReport>();
        size_of::<Self>() + self.id.len() + output + waits + attempts.sum::<usize>()
    }

    /// Returns the name of the step.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the tool that the step calls. Returns `None` for a computed step, and for a step with
    /// several tools.
    pub fn tool(&self) -> Option<&str> {
        Some(&self.tool.as_ref()?.name)
    }

    /// Returns the status of the step.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Returns `true` if the undo step of the completed step has completed.
    pub fn is_undone(&self) -> bool {
        self.is_undone
    }

    /// Returns the name of the status, and `undone` for an [undone](Self::is_undone) step.
    pub fn state(&self) -> &'static str {
        if self.is_undone {
            "undone"
        } else {
            self.status.name()
        }
    }

    /// Returns the error of a failed step, even if null, a fallback or an `Err` replaces its output.
    pub fn error(&self) -> Option<&StepError> {
        match &self.status {
            Status::Failed(error) | Status::Recovered(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the index of the first failed element of the step's `for`, in each list, the outermost first. Returns an empty
    /// slice if no element failed.
    pub fn element(&self) -> &[usize] {
        &self.element
    }

    /// Returns the length of the step's list, the outermost of nested lists. Returns `None` without a `for`, and until the step has read the list.
    pub fn elements(&self) -> Option<usize> {
        self.elements
    }

    /// Returns the start of the step, counted from the start of the run: the start of its first call, or of a long wait before this call.
    /// Returns `None` if the step did not start.
    pub fn started(&self) -> Option<Duration> {
        self.started
    }

    /// Returns the end of the step, counted from the start of the run. Returns `None` if the step did not start.
    pub fn ended(&self) -> Option<Duration> {
        self.ended
    }

    /// Returns the time from the [start](Self::started) to the end of the step. Returns `None` if the step did not start.
    pub fn duration(&self) -> Option<Duration> {
        Some(self.ended?.saturating_sub(self.started?))
    }

    /// Returns the JSON arguments of the last call of the step's tool. `None` unless the run
    /// [captures arguments](crate::run::Run::capture_arguments), and for a step that called no tool.
    pub fn arguments(&self) -> Option<&Value> {
        self.attempts.last()?.arguments()
    }

    /// Returns the step's output. A skipped step has the output null. A failed step whose failure the plan absorbs has null, its fallback or the `Err`.
    /// Returns `None` if the run does not [capture outputs](crate::run::Run::capture_outputs), and for a step without an output.
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

    /// Returns the amounts of the step at its start, formatted for people.
    pub(super) fn amounts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let amounts = self.policy.iter().flat_map(|policy| policy.amounts());
        amounts.map(|(amount, value)| (amount.name(), value))
    }

    /// Returns the calls of all elements, in the order of their starts.
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
            is_changed: false,
            inside: Vec::new(),
        }
    }

    /// Marks the attempt as not made.
    pub(in crate::run) fn withdraw(&mut self) {
        self.number = 0;
    }

    /// Returns `true` if the attempt is marked as not made.
    pub(in crate::run) fn is_withdrawn(&self) -> bool {
        self.number == 0
    }

    /// Returns `true` if the run could not resolve the arguments, so that it made no call.
    pub(super) fn is_without_call(&self) -> bool {
        self.tool.is_some() && matches!(self.error, Some(StepError::Arguments(_)))
    }

    pub(in crate::run) fn end(&mut self, at: Duration, error: Option<&StepError>) {
        self.ended = Some(at);
        self.error = error.cloned();
    }

    /// Returns the index in each list of a `for`, the outermost first. The list is empty without a `for`.
    pub fn element(&self) -> &[usize] {
        &self.element
    }

    /// Returns the number of the attempt of its call. The first attempt is number 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the name of the tool, or `None` for a computed value and for a value from outside.
    pub fn tool(&self) -> Option<&str> {
        Some(&self.tool.as_ref()?.name)
    }

    /// Returns the start of the attempt, counted from the start of the run.
    pub fn started(&self) -> Duration {
        self.started
    }

    /// Returns the end of the attempt, counted from the start of the run. Returns `None` if the attempt was dropped or
    /// still runs.
    pub fn ended(&self) -> Option<Duration> {
        self.ended
    }

    /// Returns the error of a failed attempt.
    pub fn error(&self) -> Option<&StepError> {
        self.error.as_ref()
    }

    /// Returns the tool's arguments, with [`Run::capture_arguments`](crate::run::Run::capture_arguments) and if they could be resolved.
    pub fn arguments(&self) -> Option<&Value> {
        self.arguments.as_ref()
    }

    /// Returns `true` if a gate has [changed](crate::run::Decision::AllowWith) the arguments.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns the reports inside the attempt: the report of a block or of a called plan, or the reports of all plans that a tool ran
    /// [inside](crate::run::Run::inside) the call. The times of each report start at 0 with its plan.
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
    /// Returns the status in words: `completed`, `not started`.
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
            Self::Waiting => "waiting",
        }
    }
}
