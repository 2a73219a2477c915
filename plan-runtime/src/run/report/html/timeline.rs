//! The timeline of the steps and their attempts: a row for each step, on one scale.

use super::{Page, took, write_sign};
use crate::print::MessageName;
use crate::run::report::wait::Span;
use crate::run::report::waited::{in_attempt, merged};
use crate::run::report::{Attempt, StepReport, WaitReport};
use plan_graph::{Html, Time, cut_middle};
use std::fmt::{Display, Formatter, Result, Write};
use std::time::Duration;

/// The largest number of drawn attempts of a step.
const ATTEMPTS: usize = 400;
/// The most letters of a name, which takes several lines.
const NAME: usize = 60;
/// The width of the narrowest rectangle, in percent.
const LEAST: f64 = 0.15;
/// The width of the narrowest failed attempt, in percent.
const LEAST_BAD: f64 = 0.6;
/// The least time without a running step that the axis leaves out.
const IDLE: Duration = Duration::from_secs(1);
/// The width of a letter, in percent of a narrow track.
const LETTER: f64 = 1.9;
/// The largest number of concurrent attempts that are drawn below each other.
const LANES: usize = 6;

pub(super) fn write(html: &mut Html, page: &Page<'_>) {
    let axis = &Axis::new(page);
    let idle = axis.idle();
    if !idle.is_zero() {
        let hint = html.tag("p").attr("class", "hint");
        hint.text(format_args!(
            "The axis leaves out {} without an attempt of this timeline, at each dashed line.",
            Time(idle)
        ));
    }
    if page.now.is_some() {
        html.markup("<p class=\"hint\">An arrow marks a bar that has not ended.</p>");
    }
    html.markup("<div class=\"timeline\"><div class=\"axis\" aria-hidden=\"true\"><span></span>");
    let svg = html.tag("svg").attr("class", "ticks");
    svg.attr("width", "100%").attr("height", 24).inside(|svg| {
        for (started, _) in &axis.gaps {
            let x = Share(axis.at(*started), axis.whole).to_string();
            let line = svg.tag("line").attr("class", "gap");
            let line = line.attr("x1", &x).attr("x2", &x);
            line.attr("y2", "100%").empty();
        }
        for (tick, is_late, words) in axis.ticks() {
            let x = Share(tick, axis.whole).to_string();
            let line = svg.tag("line").attr("x1", &x).attr("x2", &x);
            line.attr("y2", "100%").empty();
            let (class, dx) = if is_late { ("late", -5) } else { ("", 5) };
            let text = svg.tag("text").attr("class", class).attr("x", &x);
            text.attr("y", 19).attr("dx", dx).text(words);
        }
    });
    html.markup("</div><ol class=\"rows\">");
    for step in order(page) {
        html.tag("li").inside(|item| {
            item.tag("a")
                .attr("class", format_args!("row {}", page.class(step)))
                .attr("href", format_args!("#step-{step}"))
                .attr("data-step", step)
                .attr("aria-label", spoken(page, step))
                .inside(|row| write_row(row, page, step, axis));
        });
    }
    html.markup("</ol></div>");
}

/// Returns the steps in the order of their starts. Steps that did not start come last.
fn order(page: &Page<'_>) -> Vec<usize> {
    let steps = &page.report.steps;
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|step| (steps[*step].started.is_none(), steps[*step].started));
    order
}

/// Returns the label of a row for screen readers, which begins with the visible words.
fn spoken(page: &Page<'_>, step: usize) -> String {
    let report = &page.report.steps[step];
    let mut visible = MessageName(&report.id).to_string();
    let mut add = |words: &dyn Display| {
        let _ = write!(visible, " {words}");
    };
    match words(page, report) {
        Some(took) => add(&took),
        None => add(&report.status.to_string().replace('`', "")),
    }
    if let Some(left_out) = left_out(report) {
        add(&left_out);
    }
    page.spoken_as(step, &visible)
}

/// Returns the duration of a step, or the time since the start of a step that has not ended.
fn words(page: &Page<'_>, report: &StepReport) -> Option<String> {
    let so_far = || Some(page.now?.saturating_sub(report.started?));
    let unit = page.unit();
    match so_far().filter(|_| report.is_open()) {
        Some(time) => Some(format!("{} for {}", report.status.name(), unit.time(time))),
        None => took(report, unit),
    }
}

fn write_row(row: &mut Html, page: &Page<'_>, step: usize, axis: &Axis) {
    let report = &page.report.steps[step];
    let id = MessageName(&report.id).to_string();
    let shown = cut_middle(&id, NAME);
    let mut name = row.tag("span").attr("class", "name");
    if shown != id {
        name = name.attr("title", &id);
    }
    name.inside(|name| {
        write_sign(name, page.sign(step));
        name.text(&shown);
    });
    row.text(" ");
    let earlier = report.earlier.last().map(|(span, _)| *span);
    let ended = page.ended(report);
    let Some((started, ended)) = report.started.zip(ended).or(earlier) else {
        row.tag("span").attr("class", "track").inside(|track| {
            let note = track.tag("span").attr("class", "note");
            note.inside(|note| note.prose(&report.status));
        });
        return;
    };
    let pieces = pieces(report, ended);
    let (lanes, count) = lanes(&pieces);
    let took = words(page, report).unwrap_or_default();
    let place = place(&took, (started, ended), (report, &pieces), axis);
    // Hidden from screen readers, since the row contains this text.
    let track = row.tag("svg").attr("class", "track");
    let track = track.attr("aria-hidden", true).attr("width", "100%");
    track.attr("height", 16 + 4 * (count - 1)).inside(|track| {
        for (span, has_failed) in report.earlier.iter().take(ATTEMPTS) {
            let class = if *has_failed {
                "bad earlier"
            } else {
                "good earlier"
            };
            write_bar(track, class, *span, (0, 1), axis);
        }
        let critical = page.critical.contains(&step).then_some("frame");
        let bar = report.started.map(|_| "bar");
        for class in critical.into_iter().chain(bar) {
            write_bar(track, class, (started, ended), (0, 1), axis);
        }
        // Failed attempts are over the other attempts.
        let (bad, good): (Vec<_>, Vec<_>) = pieces
            .iter()
            .zip(lanes)
            .partition(|(piece, _)| piece.class == "bad");
        for (piece, lane) in good.into_iter().chain(bad) {
            write_bar(track, piece.class, piece.span, (lane, count), axis);
            for wait in &piece.waits {
                write_bar(track, "waits", *wait, (lane, count), axis);
            }
        }
        if report.is_open() {
            let end = track.tag("text").attr("class", "open").attr("x", "100%");
            end.attr("y", "50%").text('▸');
        }
        if let Some((class, x, dx)) = &place {
            let text = track.tag("text").attr("class", class);
            let text = text.attr("x", x).attr("y", "50%").attr("dx", dx);
            text.text(&took);
        }
    });
    let below = place.is_none().then_some(took);
    for note in below.into_iter().chain(left_out(report)) {
        row.text(" ");
        row.tag("span").attr("class", "note more").text(note);
    }
}

/// Returns the class and the position of a step's duration: after its bar, before its bar, or in its bar if there is no room beside the bar. A bar
/// with waits has none in it, and a bar of an attempt before a retry takes the room.
fn place(
    took: &str,
    (started, ended): (Duration, Duration),
    (report, pieces): (&StepReport, &[Piece]),
    axis: &Axis,
) -> Option<(&'static str, Share, i32)> {
    let has_waits = |piece: &Piece| piece.class == "waits" || !piece.waits.is_empty();
    let (started, ended, whole) = (axis.at(started), axis.at(ended), axis.whole);
    let room = 20.0_f64.max(took.len() as f64 * LETTER);
    let (start, end) = (Share(started, whole), Share(ended, whole));
    let earlier = report.earlier.iter().map(|((_, ended), _)| axis.at(*ended));
    let earlier = Share(earlier.max().unwrap_or_default(), whole);
    if end.percent() <= 100.0 - room {
        Some(("took", end, 6))
    } else if start.percent() - earlier.percent() >= room {
        Some(("took before", start, -6))
    } else if pieces.iter().any(has_waits) {
        None
    } else {
        Some(("took inside", start, 6))
    }
}

/// Draws a rectangle between two times, in a lane of a track.
fn write_bar(
    track: &mut Html,
    class: &str,
    (started, ended): (Duration, Duration),
    (lane, lanes): (usize, usize),
    axis: &Axis,
) {
    let (started, ended, whole) = (axis.at(started), axis.at(ended), axis.whole);
    let least = if class.starts_with("bad") {
        LEAST_BAD
    } else {
        LEAST
    };
    // Browsers do not draw a rectangle without a width, and do not draw its border.
    let width = Share(ended.saturating_sub(started), whole)
        .percent()
        .max(least);
    let bar = track
        .tag("rect")
        .attr("class", class)
        .attr("x", Share(started, whole));
    let bar = bar.attr("width", format_args!("{width:.3}%"));
    if lanes == 1 {
        return bar.attr("height", "100%").empty();
    }
    let (y, height) = (lane as f64 / lanes as f64 * 100.0, 100.0 / lanes as f64);
    let bar = bar.attr("y", format_args!("{y:.1}%"));
    bar.attr("height", format_args!("{height:.1}%")).empty();
}

/// A rectangle in the track of a step: an attempt, or a wait.
struct Piece {
    class: &'static str,
    span: Span,
    /// The waits of the steps inside the attempt.
    waits: Vec<Span>,
}

fn calls(report: &StepReport) -> impl Iterator<Item = &Attempt> {
    let attempts = report.attempts.iter();
    attempts.filter(|attempt| !report.is_wait(attempt))
}

pub(super) fn waits(report: &StepReport) -> impl Iterator<Item = &WaitReport> {
    report.waits.iter().filter(|wait| wait.is_shown())
}

/// Returns the note about the calls and waits that a row leaves out.
fn left_out(report: &StepReport) -> Option<String> {
    let kinds = [
        (calls(report).count(), "calls"),
        (waits(report).count(), "waits"),
    ];
    let kinds = kinds.iter().filter(|(count, _)| *count > ATTEMPTS);
    let kinds = kinds.map(|(count, kind)| format!("{ATTEMPTS} of {count} {kind}"));
    let kinds: Vec<String> = kinds.collect();
    (!kinds.is_empty()).then(|| format!("The row shows {}, failures first.", kinds.join(" and ")))
}

/// Returns the attempts and the waits of a step, in the order of their starts.
fn pieces(report: &StepReport, step_ended: Duration) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let failures_first = calls(report).filter(|it| it.error.is_some());
    let failures_first = failures_first.chain(calls(report).filter(|it| it.error.is_none()));
    for attempt in failures_first.take(ATTEMPTS) {
        let class = match (&attempt.error, attempt.ended) {
            (Some(_), _) => "bad",
            (None, Some(_)) => "good",
            (None, None) if report.is_open() => "open",
            (None, None) => "dropped",
        };
        let ended = attempt.ended.unwrap_or(step_ended);
        pieces.push(Piece {
            class,
            span: (attempt.started, ended),
            waits: in_attempt(attempt).take(ATTEMPTS).collect(),
        });
    }
    pieces.extend(waits(report).take(ATTEMPTS).map(|wait| Piece {
        class: "waits",
        span: (wait.started, wait.ended.unwrap_or(step_ended)),
        waits: Vec::new(),
    }));
    pieces.sort_by_key(|piece| piece.span.0);
    pieces
}

/// Returns the lane of each piece, and the number of lanes.
fn lanes(pieces: &[Piece]) -> (Vec<usize>, usize) {
    let mut free: Vec<Duration> = Vec::new();
    let mut lanes = Vec::new();
    for Piece { span, .. } in pieces {
        let lane = match free.iter().position(|until| *until <= span.0) {
            Some(lane) => lane,
            None if free.len() < LANES => {
                free.push(span.1);
                free.len() - 1
            }
            None => lanes.len() % LANES,
        };
        free[lane] = span.1;
        lanes.push(lane);
    }
    (lanes, free.len().max(1))
}

/// The times of a run on a scale without long gaps in which no step ran, such as the time before a retry.
struct Axis {
    gaps: Vec<Span>,
    /// The part of each gap that remains on the scale.
    rest: Duration,
    whole: Duration,
}

impl Axis {
    fn new(page: &Page<'_>) -> Self {
        let steps = page.report.steps.iter();
        let spans = steps.flat_map(|step| {
            let earlier = step.earlier.iter().map(|(span, _)| *span);
            step.started
                .zip(page.ended(step))
                .into_iter()
                .chain(earlier)
        });
        Self::of(merged(spans.collect()), page.whole())
    }

    /// Creates the axis for the merged times in which steps ran.
    fn of(busy: Vec<Span>, whole: Duration) -> Self {
        let time: Duration = busy.iter().map(|(from, until)| *until - *from).sum();
        let mut gaps = Vec::new();
        let mut ended = Duration::ZERO;
        for (from, until) in busy {
            if from - ended > time.max(IDLE) {
                gaps.push((ended, from));
            }
            ended = until;
        }
        let mut axis = Self {
            gaps,
            rest: time / 20,
            whole,
        };
        axis.whole = axis.at(whole);
        axis
    }

    /// Returns the position of a time.
    fn at(&self, time: Duration) -> Duration {
        let left_out = self.gaps.iter().map(|(from, until)| {
            let before = time.clamp(*from, *until) - *from;
            before.saturating_sub(self.rest)
        });
        time.saturating_sub(left_out.sum())
    }

    /// Returns the ticks whose labels have room: no line of a gap crosses the label. A tick near the end of the axis has `true`, and its label
    /// before its line if the label of the previous tick leaves room.
    fn ticks(&self) -> Vec<(Duration, bool, String)> {
        let share = |time| Share(time, self.whole).percent();
        let gaps: Vec<f64> = self
            .gaps
            .iter()
            .map(|(gap, _)| share(self.at(*gap)))
            .collect();
        let mut until = 0.0;
        let mut shown = Vec::new();
        let all = ticks(self.whole);
        for &tick in &all {
            let words = label(tick, &all);
            let (at, room) = (share(tick), (words.len() + 1) as f64 * LETTER);
            let is_late = at + room > 100.0;
            let (from, to) = if is_late {
                (at - room, at)
            } else {
                (at, at + room)
            };
            if from >= until && !gaps.iter().any(|gap| from < *gap && *gap < to) {
                until = to;
                shown.push((tick, is_late, words));
            }
        }
        shown
    }

    /// Returns the time that the axis leaves out.
    fn idle(&self) -> Duration {
        self.gaps.iter().map(|(from, until)| *until - *from).sum()
    }
}

/// A part of the whole time, in percent.
struct Share(Duration, Duration);

impl Share {
    fn percent(&self) -> f64 {
        let (part, whole) = (self.0.as_secs_f64(), self.1.as_secs_f64());
        let share = if whole > 0.0 {
            part / whole * 100.0
        } else {
            0.0
        };
        share.clamp(0.0, 100.0)
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:.3}%", self.percent())
    }
}

/// Returns the label of a tick. All ticks have one unit, of which their distance is a multiple or a half: `0.5 min`, `1 min`.
fn label(tick: Duration, ticks: &[Duration]) -> String {
    const UNITS: [(u128, &str); 5] = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "µs"),
    ];
    let nanos = |at: Option<&Duration>| at.map_or(0, Duration::as_nanos);
    let (step, last) = (nanos(ticks.get(1)), nanos(ticks.last()));
    let fits = |(unit, _): &&(u128, &str)| *unit <= last && (step * 10).is_multiple_of(*unit);
    let (unit, name) = UNITS.iter().find(fits).unwrap_or(&(1, "ns"));
    match tick.as_nanos() {
        0 => "0".to_owned(),
        nanos => format!("{} {name}", nanos as f64 / *unit as f64),
    }
}

/// Returns at most six times at a regular distance, which is a round number of seconds, minutes, hours or days.
fn ticks(whole: Duration) -> Vec<Duration> {
    const SECOND: u128 = 1_000_000_000;
    let nanos = whole.as_nanos();
    let powers = |unit: u128| {
        (0..).flat_map(move |power| {
            [1, 2, 5].map(|digit| (digit * unit).saturating_mul(10_u128.saturating_pow(power)))
        })
    };
    let seconds = [1, 2, 5, 10, 20, 30];
    let minutes = seconds.map(|digit| digit * 60);
    let hours = [1, 2, 6, 12].map(|digit| digit * 3_600);
    let units = seconds.into_iter().chain(minutes).chain(hours);
    let units = units.map(|step| step * SECOND);
    let short = powers(1).take_while(|step| *step < SECOND);
    let steps = short.chain(units).chain(powers(86_400 * SECOND));
    let mut steps = steps.skip_while(|step| nanos / step > 5);
    let step = steps.next().unwrap_or(1);
    let tick =
        |number: u128| Duration::from_nanos(u64::try_from(number * step).unwrap_or(u64::MAX));
    (0..=nanos / step).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::{Axis, label, ticks};
    use std::time::Duration;

    #[test]
    fn the_time_before_a_retry_is_left_out() {
        let seconds = Duration::from_secs;
        let spans =
            |of: &[(u64, u64)]| of.iter().map(|(a, b)| (seconds(*a), seconds(*b))).collect();
        let axis = Axis::of(spans(&[(0, 10), (400, 410)]), seconds(410));
        assert_eq!(axis.idle(), seconds(390));
        let at = |time| axis.at(seconds(time));
        assert_eq!(
            (at(10), at(11), at(200)),
            (seconds(10), seconds(11), seconds(11))
        );
        assert_eq!(
            (at(400), at(410), axis.whole),
            (seconds(11), seconds(21), seconds(21))
        );
        // The line at 10 s crosses no label.
        let ticks = |axis: &Axis| {
            axis.ticks()
                .into_iter()
                .map(|(tick, late, _)| (tick.as_secs(), late))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            ticks(&axis),
            [(0, false), (5, false), (10, false), (15, false), (20, true)]
        );
        // The line at 6 s crosses the label of 5 s.
        let six = Axis::of(spans(&[(0, 6), (400, 410)]), seconds(410));
        assert_eq!(ticks(&six), [(0, false), (10, false), (15, false)]);
        // A short gap stays.
        let axis = Axis::of(spans(&[(1, 10), (15, 20)]), seconds(20));
        assert_eq!(
            (axis.idle(), axis.at(seconds(17))),
            (seconds(0), seconds(17))
        );
        // A run whose first steps were retried begins late.
        let axis = Axis::of(spans(&[(100, 102)]), seconds(102));
        assert_eq!(axis.idle(), seconds(100));
        assert_eq!(Axis::of(Vec::new(), seconds(3)).at(seconds(2)), seconds(2));
    }

    #[test]
    fn ticks_are_few_and_round() {
        let millis = |whole| -> Vec<u128> {
            let ticks = ticks(Duration::from_millis(whole));
            ticks.into_iter().map(|tick| tick.as_millis()).collect()
        };
        assert_eq!(millis(147), [0, 50, 100]);
        assert_eq!(millis(1000), [0, 200, 400, 600, 800, 1000]);
        assert_eq!(millis(0), [0]);
        // A minute has 60 seconds, and an hour has 60 minutes.
        let labels = |seconds| -> Vec<String> {
            let ticks = ticks(Duration::from_secs(seconds));
            ticks.iter().map(|it| label(*it, &ticks)).collect()
        };
        assert_eq!(labels(9), ["0", "2 s", "4 s", "6 s", "8 s"]);
        assert_eq!(
            labels(600),
            ["0", "2 min", "4 min", "6 min", "8 min", "10 min"]
        );
        assert_eq!(labels(10_000)[..4], ["0", "0.5 h", "1 h", "1.5 h"]);
        assert_eq!(
            labels(150),
            ["0", "0.5 min", "1 min", "1.5 min", "2 min", "2.5 min"]
        );
        assert_eq!(labels(100), ["0", "20 s", "40 s", "60 s", "80 s", "100 s"]);
        assert_eq!(labels(3 * 86_400), ["0", "24 h", "48 h", "72 h"]);
        assert!(ticks(Duration::MAX).len() <= 6);
        assert!(ticks(Duration::from_nanos(1)).len() <= 6);
    }
}
