//! Reports of runs: the steps, their attempts and their times.

mod collapsed;
mod display;
#[cfg(feature = "html")]
mod html;
mod serialize;
mod step;

pub use step::{Attempt, Status, StepReport};

use crate::error::elements;
use crate::plan::{Plan, Role};
use plan_graph::Graph as Edges;
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

/// The parts of a run that its report shows.
#[derive(Clone, Copy, Default)]
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

impl Report {
    pub(super) fn new(
        plan: Arc<Plan>,
        (started_at, duration): (SystemTime, Duration),
        steps: Vec<StepReport>,
        critical: Vec<usize>,
    ) -> Self {
        Self {
            #[cfg(feature = "html")]
            recorded: Recorded::default(),
            started_at,
            duration,
            totals: Totals::of(steps.iter().map(|step| &step.status)),
            critical,
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
    pub(crate) fn critical_duration(&self) -> Duration {
        self.critical_path().filter_map(StepReport::duration).sum()
    }
}

/// Returns the steps for which a run had to wait.
pub(super) fn critical(plan: &Plan, needs: &Edges, steps: &[StepReport]) -> Vec<usize> {
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
            Role::Work => last(&mut needs.of(step).iter().map(|need| *need as usize)),
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
