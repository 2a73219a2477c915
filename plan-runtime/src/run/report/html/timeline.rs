//! When each step ran, and its attempts: a row for each step, on one scale.

use super::Page;
use super::escape::{Text, Time};
use crate::print::Told;
use crate::run::report::{Attempt, Status};
use std::fmt::{Display, Formatter, Result};
use std::time::Duration;

/// How many attempts of a step are drawn.
const ATTEMPTS: usize = 400;
/// How many concurrent attempts are drawn below each other.
const LANES: usize = 6;

pub(super) struct Timeline<'p>(pub(super) &'p Page<'p>);

impl Display for Timeline<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let page = self.0;
        let whole = page.whole();
        f.write_str("<div class=\"timeline\"><div class=\"axis\" aria-hidden=\"true\"><span></span><div class=\"ticks\">")?;
        for tick in ticks(whole) {
            let place = Share(tick, whole);
            write!(f, "<span style=\"left:{place}\">{}</span>", Time(tick))?;
        }
        f.write_str("</div></div><ol class=\"rows\">")?;
        for step in order(page) {
            write_row(f, page, step, whole)?;
        }
        f.write_str("</ol></div>")
    }
}

/// The steps in the order in which they started; those that did not come last.
fn order(page: &Page<'_>) -> Vec<usize> {
    let steps = &page.report.steps;
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|step| (steps[*step].started.is_none(), steps[*step].started));
    order
}

fn write_row(f: &mut Formatter<'_>, page: &Page<'_>, step: usize, whole: Duration) -> Result {
    let report = &page.report.steps[step];
    let (class, sign) = (page.class(step), page.sign(step));
    write!(
        f,
        "<li><a class=\"row {class}\" href=\"#step-{step}\" data-step=\"{step}\" aria-label=\"{}\">\
         <span class=\"name\"><span class=\"sign\">{sign}</span>{}</span>",
        Text(page.spoken(step)),
        Text(Told(&report.id)),
    )?;
    match (report.started, report.ended) {
        (Some(started), Some(ended)) => {
            let (lanes, count) = lanes(&report.attempts);
            let height = 16 + 4 * (count - 1);
            write!(
                f,
                "<span class=\"track\" style=\"height:{height}px\"><span class=\"bar\" style=\"left:{};width:{}\"></span>",
                Share(started, whole),
                Share(ended.saturating_sub(started), whole),
            )?;
            for (attempt, lane) in report.attempts.iter().zip(lanes) {
                write_attempt(f, attempt, (lane, count), ended, whole)?;
            }
            let took = ended.saturating_sub(started);
            // If there is no room after the bar, the time is before it.
            let late = ended.as_secs_f64() > whole.as_secs_f64() * 0.8;
            let (side, place) = if late {
                (
                    "right",
                    1.0 - started.as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE),
                )
            } else {
                (
                    "left",
                    ended.as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE),
                )
            };
            write!(
                f,
                "<span class=\"took\" style=\"{side}:{:.3}%\">{}</span></span>",
                place * 100.0,
                Time(took)
            )?;
        }
        _ => write!(
            f,
            "<span class=\"track\"><span class=\"note\">{}</span></span>",
            Text(note(&report.status))
        )?,
    }
    f.write_str("</a></li>")
}

fn note(status: &Status) -> String {
    match status {
        Status::Blocked { by } => format!("blocked by {}", Told(by)),
        status => status.name().to_owned(),
    }
}

fn write_attempt(
    f: &mut Formatter<'_>,
    attempt: &Attempt,
    (lane, lanes): (usize, usize),
    step_ended: Duration,
    whole: Duration,
) -> Result {
    let ended = attempt.ended.unwrap_or(step_ended);
    let class = match (&attempt.error, attempt.ended) {
        (Some(_), _) => "bad",
        (None, Some(_)) => "good",
        (None, None) => "dropped",
    };
    let (top, height) = (lane as f64 / lanes as f64 * 100.0, 100.0 / lanes as f64);
    write!(
        f,
        "<i class=\"{class}\" style=\"left:{};width:{};top:{top:.1}%;height:{height:.1}%\"></i>",
        Share(attempt.started, whole),
        Share(ended.saturating_sub(attempt.started), whole),
    )
}

/// The lane of each attempt that is drawn, and the number of lanes.
fn lanes(attempts: &[Attempt]) -> (Vec<usize>, usize) {
    let mut free: Vec<Duration> = Vec::new();
    let mut lanes = Vec::new();
    for attempt in attempts.iter().take(ATTEMPTS) {
        let ended = attempt.ended.unwrap_or(Duration::MAX);
        let lane = match free.iter().position(|until| *until <= attempt.started) {
            Some(lane) => lane,
            None if free.len() < LANES => {
                free.push(ended);
                free.len() - 1
            }
            None => lanes.len() % LANES,
        };
        free[lane] = ended;
        lanes.push(lane);
    }
    (lanes, free.len().max(1))
}

/// A part of the whole time, in percent.
struct Share(Duration, Duration);

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (part, whole) = (self.0.as_secs_f64(), self.1.as_secs_f64());
        let share = if whole > 0.0 {
            part / whole * 100.0
        } else {
            0.0
        };
        write!(f, "{:.3}%", share.clamp(0.0, 100.0))
    }
}

/// At most six times, as far from each other as people count: 1, 2 or 5 of a power of ten.
fn ticks(whole: Duration) -> Vec<Duration> {
    let nanos = whole.as_nanos();
    let steps =
        (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u128.saturating_pow(power)));
    let mut steps = steps.skip_while(|step| nanos / step > 5);
    let step = steps.next().unwrap_or(1);
    let tick =
        |number: u128| Duration::from_nanos(u64::try_from(number * step).unwrap_or(u64::MAX));
    // At the very end there is no room for a text.
    let last = nanos * 11 / 12 / step;
    (0..=last).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::ticks;
    use std::time::Duration;

    #[test]
    fn ticks_are_few_and_round() {
        let millis = |whole| -> Vec<u128> {
            let ticks = ticks(Duration::from_millis(whole));
            ticks.into_iter().map(|tick| tick.as_millis()).collect()
        };
        assert_eq!(millis(147), [0, 50, 100]);
        assert_eq!(millis(1000), [0, 200, 400, 600, 800]);
        assert_eq!(millis(0), [0]);
        assert!(ticks(Duration::MAX).len() <= 6);
        assert!(ticks(Duration::from_nanos(1)).len() <= 6);
    }
}
