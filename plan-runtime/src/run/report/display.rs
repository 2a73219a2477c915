//! Reports as text.

use super::{Report, Status, StepReport, Totals};
use crate::error::Elements;
use crate::print::{MessageName, width};
use std::fmt;
use std::time::Duration;

/// How many characters show the whole run.
const BAR: usize = 20;

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Failed(error) | Self::Recovered(error) => write!(f, ": {error}"),
            Self::Blocked { by } => write!(f, " by `{}`", MessageName(by)),
            Self::Completed | Self::Skipped | Self::Cancelled | Self::NotStarted => Ok(()),
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut some = self.named().into_iter().filter(|(count, _)| *count > 0);
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
        let (plan, duration, totals) =
            (MessageName(self.plan()), Millis(self.duration), self.totals);
        write!(
            f,
            "plan `{plan}`: {count} step{plural} in {duration}: {totals}"
        )?;

        let rows: Vec<Row<'_>> = self.steps.iter().map(|step| self.row(step)).collect();
        let widest =
            |text: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(text).max().unwrap_or_default();
        let id = widest(&|row| width(&row.id));
        let tool = widest(&|row| width(&row.tool));
        let status = widest(&|row| row.step.status.name().len());
        let started = widest(&|row| row.started.len());
        let took = widest(&|row| row.took.len());
        let bar = widest(&|row| row.bar.chars().count());
        for row in &rows {
            let plus = if row.started.is_empty() { ' ' } else { '+' };
            // The width of a name is not how many characters it has, by which Rust would fill up.
            let (after_id, after_tool) = (id - width(&row.id), tool - width(&row.tool));
            let line = format!(
                "  {}{:after_id$}  {}{:after_tool$}  {:status$}  {:>started$} {plus} {:>took$}  {:bar$}  {}",
                row.id,
                "",
                row.tool,
                "",
                row.step.status.name(),
                row.started,
                row.took,
                row.bar,
                row.note,
            );
            write!(f, "\n{}", line.trim_end())?;
        }
        if self.critical.len() > 1 {
            let ids = self
                .critical_path()
                .map(|step| MessageName(&step.id).to_string());
            let ids: Vec<String> = ids.collect();
            let took = Millis(self.critical_duration());
            write!(f, "\n  critical path: {}, {took}", ids.join(" → "))?;
        }
        Ok(())
    }
}

struct Row<'r> {
    step: &'r StepReport,
    id: String,
    tool: String,
    started: String,
    took: String,
    bar: String,
    note: String,
}

impl Report {
    fn row<'r>(&self, step: &'r StepReport) -> Row<'r> {
        let time = |time: Option<Duration>| {
            time.map(|time| Millis(time).to_string())
                .unwrap_or_default()
        };
        Row {
            step,
            id: MessageName(&step.id).to_string(),
            tool: step
                .tool()
                .map_or_else(String::new, |tool| MessageName(tool).to_string()),
            started: time(step.started),
            took: time(step.duration()),
            bar: self.bar(step).unwrap_or_default(),
            note: step.note(),
        }
    }

    /// When the step ran, as a part of the run.
    fn bar(&self, step: &StepReport) -> Option<String> {
        let whole = self.duration.as_secs_f64();
        let cell = |time: Duration| {
            if whole > 0.0 {
                (time.as_secs_f64() / whole * BAR as f64).round() as usize
            } else {
                0
            }
        };
        let start = cell(step.started?).min(BAR - 1);
        let length = cell(step.ended?).min(BAR).saturating_sub(start).max(1);
        Some(" ".repeat(start) + &"█".repeat(length))
    }
}

impl StepReport {
    fn note(&self) -> String {
        let mut note = match &self.status {
            Status::Failed(error) | Status::Recovered(error) => {
                let colon = if self.element.is_empty() { "" } else { ": " };
                format!("{}{colon}{error}", Elements(&self.element))
            }
            Status::Blocked { by } => format!("by `{}`", MessageName(by)),
            Status::Completed | Status::Skipped | Status::Cancelled | Status::NotStarted => {
                String::new()
            }
        };
        let calls = self.attempts.len();
        if calls > 1 {
            let in_list = self.attempts.iter().any(|it| !it.element.is_empty());
            let what = if in_list { "calls" } else { "attempts" };
            let gap = if note.is_empty() { "" } else { " " };
            note.push_str(&format!("{gap}({calls} {what})"));
        }
        note
    }
}

/// A time in one unit, so that a column of them can be compared at a glance.
struct Millis(Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.0.as_secs_f64() * 1e3)
    }
}
