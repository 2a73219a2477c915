//! Reports of runs: the steps, their attempts and their times.

mod collapsed;
mod critical;
mod display;
#[cfg(feature = "html")]
mod html;
mod serialize;
mod step;
mod wait;
mod waited;

pub use critical::CriticalLink;
pub(super) use critical::critical;
#[cfg(feature = "html")]
pub use html::HtmlParts;
pub use step::{Attempt, Status, StepReport};
pub use wait::{WaitReason, WaitReport};

use crate::error::elements;
use crate::plan::{Plan, Role};
use critical::Link;
use std::borrow::Borrow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The outcome of each step of a run.
///
/// [`Run::with_report`](super::Run::with_report) returns a report. `Display` writes a table, with a bar for the time of each
/// step:
///
/// ```text
/// plan `reply_to_latest`: 3 steps in 12 ms: 1 completed, 1 failed, 1 blocked
///   draft  write_draft   completed  0.1 ms + 3.0 ms  █████
///   inbox  fetch_emails  failed     0.1 ms +  12 ms  ████████████████████  mailbox is locked (3 attempts)
///   sent   reply_email   blocked                                           by `inbox`
/// ```
///
/// The [reports inside](Attempt::inside) an attempt contain the steps of a block or of a called plan. `Display` collapses them: each inner step is
/// one row below the outer step, for all elements.
///
/// The times of a step are its start, counted from the run's start, and its duration. A bar has lighter parts, `░`, for waits for answers of gates and
/// for values from outside. A line below the bars explains both signs. [`StepReport::waits`] returns these waits. A report implements `Serialize`, with
/// times in milliseconds. With the feature `html`, `Report::to_html` writes the report as a page.
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
#[derive(Clone)]
pub struct Report {
    /// The plan, which all its stored reports share.
    plan: Arc<Plan>,
    started_at: SystemTime,
    duration: Duration,
    steps: Vec<StepReport>,
    totals: Totals,
    critical: Vec<Link>,
    /// `true` if a retry may have removed attempts and their waits.
    pub(super) is_retried: bool,
    #[cfg(feature = "html")]
    recorded: Keeps,
}

crate::print::visible_debug!(struct Report {
    plan,
    started_at,
    duration,
    steps,
    totals,
    critical,
    is_retried,
    #[cfg(feature = "html")]
    recorded,
});

/// The parts of a run that its report shows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keeps {
    /// `true` if there is a report.
    pub(super) report: bool,
    pub(super) arguments: bool,
    pub(super) outputs: bool,
}

impl Keeps {
    /// Adds the parts that the report of the call around the run shows.
    pub(super) fn within(self, around: Option<Self>) -> Self {
        around.map_or(self, |around| Self {
            report: true,
            arguments: self.arguments || around.arguments,
            outputs: self.outputs || around.outputs,
        })
    }
}

/// The number of steps for each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Totals {
    /// Steps that completed and were not undone.
    pub completed: usize,
    /// Steps that completed, and whose undo steps completed.
    #[serde(skip_serializing_if = "is_zero")]
    pub undone: usize,
    /// Steps that failed, and whose output is null, a fallback or an `Err`.
    pub recovered: usize,
    /// Steps none of whose conditions held.
    pub skipped: usize,
    /// Steps that failed.
    pub failed: usize,
    /// Steps that could not start because of a failure.
    pub blocked: usize,
    /// Steps that were dropped while they ran.
    pub cancelled: usize,
    /// Steps that were not started, for other reasons than a failure.
    pub not_started: usize,
    /// Steps that have not ended, in the report of an unfinished run.
    #[serde(skip_serializing_if = "is_zero")]
    pub running: usize,
    /// Steps that wait for answers or values from outside, in the report of an unfinished run.
    #[serde(skip_serializing_if = "is_zero")]
    pub waiting: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Totals {
    /// Counts the statuses. A status is paired with `true` if the step is undone.
    pub(super) fn of(statuses: impl Iterator<Item = (impl Borrow<Status>, bool)>) -> Self {
        let mut totals = Self::default();
        for (status, is_undone) in statuses {
            *match status.borrow() {
                _ if is_undone => &mut totals.undone,
                Status::Completed => &mut totals.completed,
                Status::Recovered(_) => &mut totals.recovered,
                Status::Skipped => &mut totals.skipped,
                Status::Failed(_) => &mut totals.failed,
                Status::Blocked { .. } => &mut totals.blocked,
                Status::Cancelled => &mut totals.cancelled,
                Status::NotStarted => &mut totals.not_started,
                Status::Running => &mut totals.running,
                Status::Waiting => &mut totals.waiting,
            } += 1;
        }
        totals
    }

    /// Returns each number, with the name of its status.
    fn named(&self) -> [(usize, &'static str); 10] {
        [
            (self.completed, "completed"),
            (self.undone, "undone"),
            (self.recovered, "recovered"),
            (self.skipped, "skipped"),
            (self.failed, "failed"),
            (self.blocked, "blocked"),
            (self.cancelled, "cancelled"),
            (self.not_started, "not started"),
            (self.running, "running"),
            (self.waiting, "waiting"),
        ]
    }
}

impl Report {
    pub(super) fn new(
        plan: Arc<Plan>,
        (started_at, duration): (SystemTime, Duration),
        mut steps: Vec<StepReport>,
        critical: Vec<Link>,
    ) -> Self {
        let is_undone = undone(&plan, |step| steps.get(step).map(|it| &it.status));
        for (step, is_undone) in steps.iter_mut().zip(is_undone) {
            step.is_undone = is_undone;
        }
        Self {
            #[cfg(feature = "html")]
            recorded: Keeps::default(),
            started_at,
            duration,
            totals: Totals::of(steps.iter().map(|step| (&step.status, step.is_undone))),
            critical,
            is_retried: false,
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
        let times = (SystemTime::now(), Duration::ZERO);
        Self::new(plan, times, steps.collect(), Vec::new())
    }

    /// Records the captures of the run, so that a page can explain missing values.
    #[cfg(feature = "html")]
    pub(super) fn recorded(self, recorded: Keeps) -> Self {
        Self { recorded, ..self }
    }

    /// Returns the name of the plan.
    pub fn plan(&self) -> &str {
        &self.plan.name
    }

    /// Returns the start of the run.
    pub fn started_at(&self) -> SystemTime {
        self.started_at
    }

    /// Returns the duration of the run.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Returns the steps, in the order of the plan.
    pub fn steps(&self) -> &[StepReport] {
        &self.steps
    }

    /// Returns the step with this name or path. The path `pages[3].chunked` names a step in the block of `pages`, or in the plan that `pages` calls.
    /// If the step has several attempts, the path leads into the last attempt.
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
        // A name may contain a dot, so that a path may match several steps.
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

    /// Adds an attempt that a retry of the run removed from the journal, to the step with this name. The timeline of the page draws the attempt.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step six = Double { number: 3 }; six };
    /// let (_, mut report) = smol::block_on(plan.run(&()).with_report());
    /// report.add_earlier("six", Duration::ZERO..Duration::from_millis(4), true);
    /// # #[cfg(feature = "html")]
    /// assert!(report.to_html().contains("class=\"bad earlier\""));
    /// ```
    pub fn add_earlier(&mut self, step: &str, time: Range<Duration>, has_failed: bool) {
        if let Some(step) = self.steps.iter_mut().find(|it| it.id == step) {
            step.earlier.push(((time.start, time.end), has_failed));
        }
    }

    /// Returns the size that counts toward the run's limit on bytes.
    pub(super) fn bytes(&self) -> usize {
        let steps = self.steps.iter().map(StepReport::bytes);
        size_of::<Self>() + steps.sum::<usize>()
    }

    /// Returns the number of steps for each status.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns the steps that explain the duration of the run, in chronological order. The path ends with the last step that ended. Each step
    /// needs the previous step, or waited for a slot of the previous step. [`critical_links`](Self::critical_links) also returns the times and reasons.
    pub fn critical_path(
        &self,
    ) -> impl DoubleEndedIterator<Item = &StepReport> + ExactSizeIterator + fmt::Debug {
        self.critical.iter().map(|link| &self.steps[link.step])
    }
}

/// Returns for each step of a plan whether its undo step has completed.
pub(super) fn undone<S: Borrow<Status>>(
    plan: &Plan,
    status: impl Fn(usize) -> Option<S>,
) -> Vec<bool> {
    let has_completed =
        |step| status(step).is_some_and(|it| matches!(it.borrow(), Status::Completed));
    let mut undone = vec![false; plan.steps.len()];
    for (undo, step) in plan.steps.iter().enumerate() {
        if let Role::Undo(of) = step.role {
            undone[of] = has_completed(of) && has_completed(undo);
        }
    }
    undone
}
