use super::StepError;
use crate::plan::Step;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime};

/// What became of each step of a run.
///
/// [`Run::with_report`](super::Run::with_report) gives it. It prints as a table:
///
/// ```text
/// plan `reply_to_latest`: 3 steps in 12.4 ms: 1 completed, 1 failed, 1 blocked
///   draft  write_draft   completed  0.1 ms +  3.0 ms
///   inbox  fetch_emails  failed     0.1 ms + 12.2 ms  mailbox is locked
///   sent   reply_email   blocked                      by `inbox`
/// ```
///
/// A step's times are when it started, counted from the run's start, and how long it took.
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
/// assert!(matches!(report.step("sent").unwrap().status(), Status::Blocked { by } if by == "inbox"));
/// assert_eq!(report.totals().to_string(), "1 failed, 1 blocked");
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    plan: Cow<'static, str>,
    started_at: SystemTime,
    duration: Duration,
    steps: Vec<StepReport>,
    totals: Totals,
}

/// How many steps of a run ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Steps that completed.
    pub completed: usize,
    /// Steps that failed.
    pub failed: usize,
    /// Steps that were not started, though no failure was in their way.
    pub skipped: usize,
    /// Steps that could not start because of a failure.
    pub blocked: usize,
    /// Steps that were dropped while they ran.
    pub cancelled: usize,
}

/// What became of a step.
#[derive(Clone, Debug)]
pub struct StepReport {
    id: Cow<'static, str>,
    tool: Option<Cow<'static, str>>,
    status: Status,
    started: Option<Duration>,
    ended: Option<Duration>,
    arguments: Option<Value>,
}

/// How a step ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Status {
    /// It gave its output.
    Completed,
    /// It gave an error.
    Failed(StepError),
    /// It was not started, because the run had ended before.
    Skipped,
    /// It could not start, because it needs the output of a step that failed, or of one that was blocked by it.
    Blocked {
        /// The step that failed; where there are several, the one that did first.
        by: Cow<'static, str>,
    },
    /// It was dropped while it ran; how far it had come is not known.
    Cancelled,
}

impl Report {
    pub(super) fn new(
        plan: Cow<'static, str>,
        started_at: SystemTime,
        duration: Duration,
        steps: Vec<StepReport>,
    ) -> Self {
        let mut totals = Totals::default();
        for step in &steps {
            *match step.status {
                Status::Completed => &mut totals.completed,
                Status::Failed(_) => &mut totals.failed,
                Status::Skipped => &mut totals.skipped,
                Status::Blocked { .. } => &mut totals.blocked,
                Status::Cancelled => &mut totals.cancelled,
            } += 1;
        }
        Self {
            plan,
            started_at,
            duration,
            steps,
            totals,
        }
    }

    /// The plan's name.
    pub fn plan(&self) -> &str {
        &self.plan
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

    /// The step of this name.
    pub fn step(&self, id: &str) -> Option<&StepReport> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// How many steps ended in which way.
    pub fn totals(&self) -> Totals {
        self.totals
    }
}

impl StepReport {
    pub(super) fn new(
        step: &Step,
        status: Status,
        (started, ended): (Option<Duration>, Option<Duration>),
        arguments: Option<Value>,
    ) -> Self {
        Self {
            id: step.id.clone(),
            tool: step.tool().map(|tool| tool.name.clone()),
            status,
            started,
            ended,
            arguments,
        }
    }

    /// The step's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the tool that the step calls; `None` for a computed step.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// How the step ended.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Why the step failed, if it did.
    pub fn error(&self) -> Option<&StepError> {
        match &self.status {
            Status::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// When the step started, counted from the run's start; `None` if it did not.
    pub fn started(&self) -> Option<Duration> {
        self.started
    }

    /// When the step ended, counted from the run's start; `None` if it did not start.
    pub fn ended(&self) -> Option<Duration> {
        self.ended
    }

    /// What the step's tool was given, as serde writes it; `None` unless the run was to
    /// [record arguments](super::Run::record_arguments), and for a step that called no tool.
    pub fn arguments(&self) -> Option<&Value> {
        self.arguments.as_ref()
    }

    /// How long the step took; `None` if it did not start.
    pub fn duration(&self) -> Option<Duration> {
        Some(self.ended?.saturating_sub(self.started?))
    }
}

impl Status {
    fn name(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed(_) => "failed",
            Self::Skipped => "skipped",
            Self::Blocked { .. } => "blocked",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Failed(error) => write!(f, ": {error}"),
            Self::Blocked { by } => write!(f, " by `{by}`"),
            Self::Completed | Self::Skipped | Self::Cancelled => Ok(()),
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.completed, "completed"),
            (self.failed, "failed"),
            (self.skipped, "skipped"),
            (self.blocked, "blocked"),
            (self.cancelled, "cancelled"),
        ];
        let mut some = all.iter().filter(|(count, _)| *count > 0);
        let Some((count, name)) = some.next() else {
            return f.write_str("nothing to do");
        };
        write!(f, "{count} {name}")?;
        some.try_for_each(|(count, name)| write!(f, ", {count} {name}"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.steps.len();
        let plural = if count == 1 { "" } else { "s" };
        let (plan, duration, totals) = (&self.plan, Millis(self.duration), self.totals);
        write!(
            f,
            "plan `{plan}`: {count} step{plural} in {duration}: {totals}"
        )?;

        let rows = self.steps.iter().map(|step| {
            let [started, took] = [step.started(), step.duration()].map(|time| {
                time.map(|time| Millis(time).to_string())
                    .unwrap_or_default()
            });
            let note = match &step.status {
                Status::Failed(error) => error.to_string(),
                Status::Blocked { by } => format!("by `{by}`"),
                Status::Completed | Status::Skipped | Status::Cancelled => String::new(),
            };
            (step, started, took, note)
        });
        let rows: Vec<_> = rows.collect();
        let width = |text: &dyn Fn(&StepReport) -> usize| {
            let widths = self.steps.iter().map(text);
            widths.max().unwrap_or(0)
        };
        let id = width(&|step| step.id.chars().count());
        let tool = width(&|step| step.tool().map_or(0, |tool| tool.chars().count()));
        let status = width(&|step| step.status.name().len());
        let started = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
        let took = rows.iter().map(|row| row.2.len()).max().unwrap_or(0);
        for (step, start, time, note) in &rows {
            let plus = if step.started.is_some() { '+' } else { ' ' };
            let mut row = format!(
                "  {:id$}  {:tool$}  {:status$}  {start:>started$} {plus} {time:>took$}",
                step.id,
                step.tool().unwrap_or_default(),
                step.status.name(),
            );
            // A note of several lines would break the table.
            for (place, line) in note.lines().enumerate() {
                row.push_str(if place == 0 { "  " } else { " ⏎ " });
                row.push_str(line);
            }
            write!(f, "\n{}", row.trim_end())?;
        }
        Ok(())
    }
}

/// A time in one unit, so that a column of them can be compared at a glance.
struct Millis(Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.0.as_secs_f64() * 1e3)
    }
}
