//! Reports as text.

use super::collapsed::{self, Rows};
use super::wait::Span;
use super::{Report, Status, StepReport, Totals, WaitReason};
use crate::error::Elements;
use crate::print::{MessageName, Tone, width, wrapped};
use plan_graph::{Time, TimeUnit, cut_middle};
use std::fmt;
use std::time::Duration;

/// The width of the bar of the whole run in a log, its largest width in a terminal, and the least width of a short bar.
const BAR: usize = 20;
const WIDE_BAR: usize = 60;
const LEAST_BAR: usize = 5;
/// The number of spaces before a column.
const GAP: usize = 2;
/// The indentation of a note below its row.
const NOTE: usize = 6;
/// The further indentation of a continued line.
const HANGING: usize = 4;

/// The signs of the bars.
const RUNS: char = '█';
const WAITS: char = '░';

/// Colors a part of a line.
type Paint<'p> = &'p dyn Fn(Tone, &str) -> String;

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
            | Self::Running
            | Self::Waiting => Ok(()),
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
        let lines = self.lines(usize::MAX, &|_, text| text.to_owned());
        f.write_str(&lines.join("\n"))
    }
}

struct ReportRow {
    id: String,
    tool: String,
    status: String,
    tone: Tone,
    times: (Option<Duration>, Option<Duration>),
    unit: TimeUnit,
    /// The times of waits for people.
    waits: Vec<Span>,
    note: String,
}

/// The widths of the table's columns.
struct Widths {
    id: usize,
    tool: usize,
    status: usize,
    started: usize,
    took: usize,
    /// The width of the bar of the whole run.
    bar: usize,
}

impl Widths {
    /// Returns the widths of a table in this number of columns. A narrow table has a short bar or none, and then short names.
    fn of(rows: &[ReportRow], columns: usize) -> Self {
        let widest =
            |text: &dyn Fn(&ReportRow) -> usize| rows.iter().map(text).max().unwrap_or_default();
        let mut widths = Self {
            id: widest(&|row| width(&row.id)),
            tool: widest(&|row| width(&row.tool)),
            status: widest(&|row| row.status.len()),
            started: widest(&|row| width(&row.started())),
            took: widest(&|row| width(&row.took())),
            bar: 0,
        };
        let room = columns.saturating_sub(widths.before_bar());
        let bars = rows.iter().filter(|row| row.times.0.is_some());
        if room >= LEAST_BAR && bars.clone().next().is_some() {
            let longest = if columns == usize::MAX { BAR } else { WIDE_BAR };
            // A bar leaves room for the notes that fit beside a short bar.
            let beside = bars.map(|row| room.saturating_sub(width(&row.note) + GAP));
            let beside = beside.filter(|rest| (BAR..room - GAP).contains(rest)).min();
            widths.bar = beside.unwrap_or(room).min(longest);
        }
        let mut excess = (widths.before_bar() - GAP).saturating_sub(columns);
        for (column, least) in [
            (&mut widths.tool, 3),
            (&mut widths.id, 6),
            (&mut widths.status, 6),
        ] {
            let cut = excess.min(column.saturating_sub(least));
            *column -= cut;
            excess -= cut;
        }
        widths
    }

    /// Returns the names of the columns, if there is room.
    fn header(&self, columns: usize) -> Option<String> {
        let names = [
            ("step", self.id),
            ("tool", self.tool),
            ("status", self.status),
        ];
        let names = names.map(|(name, columns)| {
            let fits = name.len() <= columns;
            format!("{:columns$}", if fits { name } else { "" })
        });
        let times = self.started + " + ".len() + self.took;
        let header = format!("  {}  {:>times$}", names.join("  "), "start + time");
        (header.len() <= columns).then_some(header)
    }

    /// Returns the width of the columns before the bar, with the gap after them.
    fn before_bar(&self) -> usize {
        let times = self.started + " + ".len() + self.took;
        self.id + self.tool + self.status + times + 5 * GAP
    }
}

impl ReportRow {
    fn started(&self) -> String {
        let (started, _) = self.times;
        started.map_or_else(String::new, |time| self.unit.time(time))
    }

    fn took(&self) -> String {
        let (started, ended) = self.times;
        let took = ended.zip(started);
        took.map_or_else(String::new, |(ended, started)| {
            self.unit.time(ended.saturating_sub(started))
        })
    }

    /// Returns the bar of a step, as a part of the run's bar.
    fn bar(&self, whole: Duration, cells: usize) -> String {
        let (Some(started), Some(ended), 1..) = (self.times.0, self.times.1, cells) else {
            return String::new();
        };
        let whole = whole.as_secs_f64();
        let cell = |time: Duration| {
            if whole > 0.0 {
                (time.as_secs_f64() / whole * cells as f64).round() as usize
            } else {
                0
            }
        };
        let start = cell(started).min(cells - 1);
        let length = cell(ended).min(cells).saturating_sub(start).max(1);
        let bars = (start..start + length).map(|at| {
            let middle = Duration::from_secs_f64(whole * (at as f64 + 0.5) / cells as f64);
            let waits = self.waits.iter();
            let mut waits = waits.filter(|(from, until)| (*from..*until).contains(&middle));
            if waits.next().is_some() { WAITS } else { RUNS }
        });
        " ".repeat(start) + &bars.collect::<String>()
    }

    /// Adds the row's line, and the lines of a note that does not fit beside the row.
    fn write(
        &self,
        widths: &Widths,
        (whole, columns): (Duration, usize),
        paint: Paint<'_>,
        lines: &mut Vec<String>,
    ) {
        let padded = |text: &str, columns: usize, tone: Option<Tone>| {
            let text = cut_middle(text, columns);
            let gap = columns - width(&text);
            let text = tone.map_or_else(|| text.clone(), |tone| paint(tone, &text));
            format!("{text}{:gap$}", "")
        };
        let (started, took) = (self.started(), self.took());
        let plus = if took.is_empty() { ' ' } else { '+' };
        // Rust pads by the number of characters, which can differ from the width of a name.
        let mut line = format!(
            "  {2}  {3}  {4}  {started:>0$} {plus} {took:>1$}",
            widths.started,
            widths.took,
            padded(&self.id, widths.id, None),
            padded(&self.tool, widths.tool, None),
            padded(&self.status, widths.status, Some(self.tone)),
        );
        let bar = self.bar(whole, widths.bar);
        let beside = widths.before_bar() + width(&self.note);
        let after_bar = if widths.bar > 0 { widths.bar + GAP } else { 0 };
        // Without a bar, there is room for the note in the column of the bars.
        let is_beside = !self.note.is_empty() && beside <= columns;
        if is_beside && bar.is_empty() && beside + after_bar > columns {
            lines.push(format!("{line}  {}", paint(self.tone, &self.note)));
            return;
        }
        if widths.bar > 0 {
            line = format!("{line}  {}", padded(&bar, widths.bar, Some(self.tone)));
        }
        if is_beside && beside + after_bar <= columns {
            lines.push(format!("{line}  {}", paint(self.tone, &self.note)));
            return;
        }
        lines.push(line.trim_end().to_owned());
        let mut sign = "└";
        for note in wrapped(&self.note, columns.saturating_sub(NOTE + 2)) {
            lines.push(format!("{:NOTE$}{sign} {}", "", paint(self.tone, &note)));
            sign = " ";
        }
    }
}

impl Report {
    /// Returns the lines of the table, in this number of columns and with colored parts.
    pub(crate) fn lines(&self, columns: usize, paint: Paint<'_>) -> Vec<String> {
        let count = self.steps.len();
        let plural = if count == 1 { "" } else { "s" };
        let (plan, totals) = (MessageName(self.plan()), self.totals);
        let duration = Time(self.duration);
        let waited = self.long_wait();
        let title = format!("plan `{plan}`: {count} step{plural} in {duration}{waited}: {totals}");
        let mut lines = Vec::new();
        push_fitted(&mut lines, &title, (0, columns), |it| {
            paint(Tone::Title, it)
        });
        let unit = self.unit();
        let rows: Vec<ReportRow> = self
            .steps
            .iter()
            .flat_map(|step| self.rows(step, unit))
            .collect();
        let widths = Widths::of(&rows, columns);
        // A report in a log has no header, because programs read its lines.
        if columns < usize::MAX && !rows.is_empty() {
            lines.extend(widths.header(columns).map(|it| paint(Tone::Quiet, &it)));
        }
        for row in &rows {
            row.write(&widths, (self.duration, columns), paint, &mut lines);
        }
        let drawn: String = rows
            .iter()
            .map(|row| row.bar(self.duration, widths.bar))
            .collect();
        if let Some(legend) = legend(&drawn) {
            push_fitted(&mut lines, &legend, (2, columns), |it| {
                paint(Tone::Quiet, it)
            });
        }
        if self.critical.len() > 1 {
            let path = self.critical_in_words();
            push_fitted(&mut lines, &path, (2, columns), |it| paint(Tone::Quiet, it));
        }
        lines
    }

    /// Returns the unit of all times in a table of the steps.
    pub(super) fn unit(&self) -> TimeUnit {
        let ended = self.steps.iter().filter_map(|step| step.ended);
        TimeUnit::of(ended.chain([self.duration]))
    }

    /// Returns the row of a step, and the rows of the steps inside it.
    fn rows(&self, step: &StepReport, unit: TimeUnit) -> Vec<ReportRow> {
        let mut rows = vec![ReportRow {
            id: MessageName(&step.id).to_string(),
            tool: tool_of(step),
            status: step.state().to_owned(),
            tone: step.status.tone(),
            times: (step.started, step.ended),
            unit,
            waits: step.only_waits(WaitReason::is_outside),
            note: step.note(unit),
        }];
        let inside = Rows::of(step);
        rows.extend(inside.rows.iter().map(|inner| {
            ReportRow {
                id: format!("{:1$}{2}", "", inner.depth * 2, MessageName(&inner.step.id)),
                tool: tool_of(inner.step),
                status: inner.status(),
                tone: inner
                    .failed
                    .as_ref()
                    .map_or(inner.step.status.tone(), |(_, status)| status.tone()),
                times: (inner.started, inner.ended),
                unit,
                waits: inner.waits.clone(),
                note: inner.note(unit),
            }
        }));
        if inside.more > 0 {
            rows.push(ReportRow {
                id: format!("  … and {} more", inside.more),
                tool: String::new(),
                status: String::new(),
                tone: Tone::Quiet,
                times: (None, None),
                unit,
                waits: Vec::new(),
                note: String::new(),
            });
        }
        rows
    }
}

/// Returns the meanings of the signs in the bars. Bars of runs alone need none.
fn legend(bars: &str) -> Option<String> {
    let runs = if bars.contains(RUNS) {
        "█ runs  "
    } else {
        ""
    };
    let waits = bars.contains(WAITS);
    waits.then(|| format!("{runs}{WAITS} waits for an answer or a value"))
}

fn tool_of(step: &StepReport) -> String {
    let tool = step.tool().map(|tool| MessageName(tool).to_string());
    tool.unwrap_or_default()
}

/// Adds an indented line, or several lines if the line does not fit.
fn push_fitted(
    lines: &mut Vec<String>,
    text: &str,
    (indent, columns): (usize, usize),
    paint: impl Fn(&str) -> String,
) {
    let room = columns - indent;
    if width(text) <= room {
        lines.push(format!("{:indent$}{}", "", paint(text)));
        return;
    }
    let mut more = 0;
    for line in wrapped(text, room - HANGING) {
        lines.push(format!("{:1$}{2}", "", indent + more, paint(&line)));
        more = HANGING;
    }
}

impl Status {
    fn tone(&self) -> Tone {
        match self {
            Self::Completed => Tone::Good,
            Self::Recovered(_) | Self::Cancelled | Self::Running | Self::Waiting => Tone::Warning,
            Self::Failed(_) => Tone::Bad,
            Self::Blocked { .. } => Tone::Blocked,
            Self::Skipped | Self::NotStarted => Tone::Quiet,
        }
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
        | Status::Running
        | Status::Waiting => String::new(),
    }
}

impl collapsed::Row<'_> {
    fn note(&self, unit: TimeUnit) -> String {
        if self.is_one() {
            return self.step.note(unit);
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
    fn note(&self, unit: TimeUnit) -> String {
        let mut note = why(&Elements(&self.element).to_string(), &self.status);
        if matches!(self.status, Status::Waiting) {
            note = self.awaited();
        }
        let in_list = self.attempts.iter().any(|it| !it.element.is_empty());
        let what = if in_list { "calls" } else { "attempts" };
        let (failed, all) = self.failed_elements();
        let failed =
            (failed.len() > 1).then(|| format!("{} of {all} elements failed", failed.len()));
        let note = with_calls(note, self.attempts.len(), what);
        let amounts = self
            .amounts()
            .map(|(name, value)| format!("{name}: {value}"));
        let is_changed = self.attempts.iter().any(|it| it.is_changed);
        let amounts = failed.into_iter().chain(amounts);
        let amounts = amounts.chain(is_changed.then(|| "changed arguments".to_owned()));
        let amounts = amounts.chain(self.waits_in_words(unit));
        let amounts = amounts.collect::<Vec<_>>().join(", ");
        match (note.is_empty(), amounts.is_empty()) {
            (_, true) => note,
            (true, false) => format!("[{amounts}]"),
            (false, false) => format!("{note} [{amounts}]"),
        }
    }
}
