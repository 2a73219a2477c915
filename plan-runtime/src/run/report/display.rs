//! Reports as text.

use super::collapsed::{self, Rows};
use super::{Report, Status, StepReport, Totals};
use crate::error::Elements;
use crate::print::{MessageName, width};
use std::fmt;
use std::time::Duration;

/// The width of the bar of the whole run, in characters.
const BAR: usize = 20;

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Failed(error) | Self::Recovered(error) => write!(f, ": {error}"),
            Self::Blocked { by } => write!(f, " by `{}`", MessageName(by)),
            Self::Completed
            | Self::Skipped
            | Self::Cancelled
            | Self::NotStarted
            | Self::Running => Ok(()),
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

        let rows: Vec<Row> = self.steps.iter().flat_map(|step| self.rows(step)).collect();
        let widest = |text: &dyn Fn(&Row) -> usize| rows.iter().map(text).max().unwrap_or_default();
        let id = widest(&|row| width(&row.id));
        let tool = widest(&|row| width(&row.tool));
        let status = widest(&|row| row.status.len());
        let started = widest(&|row| row.started.len());
        let took = widest(&|row| row.took.len());
        let bar = widest(&|row| row.bar.chars().count());
        for row in &rows {
            let plus = if row.started.is_empty() { ' ' } else { '+' };
            // Rust pads by the number of characters, which can differ from the width of a name.
            let (after_id, after_tool) = (id - width(&row.id), tool - width(&row.tool));
            let line = format!(
                "  {}{:after_id$}  {}{:after_tool$}  {:status$}  {:>started$} {plus} {:>took$}  {:bar$}  {}",
                row.id, "", row.tool, "", row.status, row.started, row.took, row.bar, row.note,
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

#[derive(Default)]
struct Row {
    id: String,
    tool: String,
    status: String,
    started: String,
    took: String,
    bar: String,
    note: String,
}

impl Report {
    /// Returns the row of a step, and the rows of the steps inside it.
    fn rows(&self, step: &StepReport) -> Vec<Row> {
        let mut rows = vec![Row {
            status: step.status.name().to_owned(),
            note: step.note(),
            ..self.row(0, step, (step.started, step.ended))
        }];
        let inside = Rows::of(step);
        rows.extend(inside.rows.iter().map(|inner| Row {
            status: inner.status(),
            note: inner.note(),
            ..self.row(inner.depth, inner.step, (inner.started, inner.ended))
        }));
        if inside.more > 0 {
            rows.push(Row {
                id: format!("  … and {} more", inside.more),
                ..Row::default()
            });
        }
        rows
    }

    fn row(
        &self,
        depth: usize,
        step: &StepReport,
        times: (Option<Duration>, Option<Duration>),
    ) -> Row {
        let time = |time: Option<Duration>| {
            time.map(|time| Millis(time).to_string())
                .unwrap_or_default()
        };
        let (started, ended) = times;
        let took = ended.zip(started);
        let tool = step.tool().map(|tool| MessageName(tool).to_string());
        Row {
            id: format!("{:1$}{2}", "", depth * 2, MessageName(&step.id)),
            tool: tool.unwrap_or_default(),
            started: time(started),
            took: time(took.map(|(ended, started)| ended.saturating_sub(started))),
            bar: self.bar(times).unwrap_or_default(),
            ..Row::default()
        }
    }

    /// Returns the bar of a step, as a part of the run's bar.
    fn bar(&self, (started, ended): (Option<Duration>, Option<Duration>)) -> Option<String> {
        let whole = self.duration.as_secs_f64();
        let cell = |time: Duration| {
            if whole > 0.0 {
                (time.as_secs_f64() / whole * BAR as f64).round() as usize
            } else {
                0
            }
        };
        let start = cell(started?).min(BAR - 1);
        let length = cell(ended?).min(BAR).saturating_sub(start).max(1);
        Some(" ".repeat(start) + &"█".repeat(length))
    }
}

/// Returns the reason for a step's status, with the position: an element or a path.
fn why(at: &str, status: &Status) -> String {
    match status {
        Status::Failed(error) | Status::Recovered(error) => {
            let colon = if at.is_empty() { "" } else { ": " };
            format!("{at}{colon}{error}")
        }
        Status::Blocked { by } => format!("by `{}`", MessageName(by)),
        Status::Completed
        | Status::Skipped
        | Status::Cancelled
        | Status::NotStarted
        | Status::Running => String::new(),
    }
}

impl collapsed::Row<'_> {
    fn note(&self) -> String {
        if self.is_one() {
            return self.step.note();
        }
        let failed = self.failed.as_ref();
        let note = failed.map_or_else(String::new, |(at, status)| why(at, status));
        with_calls(note, self.calls, "calls")
    }
}

fn with_calls(note: String, calls: usize, what: &str) -> String {
    match calls {
        0 | 1 => note,
        _ if note.is_empty() => format!("({calls} {what})"),
        _ => format!("{note} ({calls} {what})"),
    }
}

impl StepReport {
    fn note(&self) -> String {
        let note = why(&Elements(&self.element).to_string(), &self.status);
        let in_list = self.attempts.iter().any(|it| !it.element.is_empty());
        let what = if in_list { "calls" } else { "attempts" };
        let note = with_calls(note, self.attempts.len(), what);
        let amounts = self
            .amounts()
            .map(|(name, value)| format!("{name}: {value}"));
        let is_changed = self.attempts.iter().any(|it| it.is_changed);
        let amounts = amounts.chain(is_changed.then(|| "changed arguments".to_owned()));
        let amounts = amounts.collect::<Vec<_>>().join(", ");
        match (note.is_empty(), amounts.is_empty()) {
            (_, true) => note,
            (true, false) => format!("[{amounts}]"),
            (false, false) => format!("{note} [{amounts}]"),
        }
    }
}

/// A time in one unit, so that a column of them can be compared at a glance.
struct Millis(Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.0.as_secs_f64() * 1e3)
    }
}
