//! The times of waits of steps and plans.

use super::wait::{LEAST, Span, WaitReason, WaitReport};
use super::{Attempt, Report, Status, StepReport};
use plan_graph::{Time, TimeUnit};
use std::time::Duration;

/// The waits and the calls of a step or a plan, with the waits and calls of inner plans. Times count from the start of the outermost plan.
#[derive(Default)]
struct Times {
    waits: Vec<Span>,
    calls: Vec<Span>,
}

impl Times {
    fn add_plan(&mut self, report: &Report, from: Duration, of: &impl Fn(WaitReason) -> bool) {
        for step in &report.steps {
            self.add(step, from, of);
        }
    }

    fn add(&mut self, step: &StepReport, from: Duration, of: &impl Fn(WaitReason) -> bool) {
        let span = |started: Duration, ended: Option<Duration>| {
            Some((from + started, from + ended.or(step.ended)?))
        };
        let waits = step.waits.iter().filter(|wait| of(wait.reason));
        let waits = waits.filter_map(|wait| span(wait.started, wait.ended));
        self.waits.extend(waits);
        for attempt in &step.attempts {
            // The calls inside a block or a called plan are the work of its attempt.
            for inside in &attempt.inside {
                self.add_plan(inside, from + attempt.started, of);
            }
            if attempt.inside.is_empty() && !step.is_wait(attempt) {
                self.calls.extend(span(attempt.started, attempt.ended));
            }
        }
    }

    /// Returns the times of the waits without the times of calls, in chronological order.
    fn only_waits(self) -> Vec<Span> {
        let mut calls = merged(self.calls).into_iter().peekable();
        let mut only = Vec::new();
        for (mut from, until) in merged(self.waits) {
            while let Some(&(started, ended)) = calls.peek()
                && started < until
            {
                if from < started {
                    only.push((from, started));
                }
                from = from.max(ended);
                if ended > until {
                    break;
                }
                calls.next();
            }
            if from < until {
                only.push((from, until));
            }
        }
        only
    }
}

/// Joins the spans that overlap, and sorts them.
pub(super) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for (started, ended) in spans {
        match merged.last_mut() {
            Some(last) if started <= last.1 => last.1 = last.1.max(ended),
            _ => merged.push((started, ended)),
        }
    }
    merged
}

/// Returns the waits of these steps for people, outside the calls of all these steps. Each step has the start of its plan.
pub(super) fn in_all<'r>(steps: impl Iterator<Item = (&'r StepReport, Duration)>) -> Vec<Span> {
    let mut times = Times::default();
    for (step, from) in steps {
        times.add(step, from, &WaitReason::is_outside);
    }
    times.only_waits()
}

/// Returns the waits of the steps inside an attempt, outside the calls of these steps. Short waits are left out.
#[cfg(feature = "html")]
pub(super) fn in_attempt(attempt: &Attempt) -> impl Iterator<Item = Span> {
    let mut times = Times::default();
    for inside in &attempt.inside {
        times.add_plan(inside, attempt.started, &|_| true);
    }
    let waits = times.only_waits().into_iter();
    waits.filter(|(started, ended)| ended.saturating_sub(*started) >= LEAST)
}

fn total(spans: &[Span]) -> Duration {
    spans
        .iter()
        .map(|(started, ended)| ended.saturating_sub(*started))
        .sum()
}

impl StepReport {
    /// Returns the waits of the step's calls for gates and throttles, and the waits of an `await` for its values, in the order of their ends. A report has no waits
    /// without a duration.
    pub fn waits(&self) -> &[WaitReport] {
        &self.waits
    }

    /// Returns the total time of the step's waits for gates and for values from outside. Time during a call of the step does not count. The total
    /// includes the waits of inner steps. The [attempts](Self::attempts) contain the times of calls.
    pub fn waited(&self) -> Duration {
        total(&self.only_waits(WaitReason::is_outside))
    }

    /// Returns the time of the waits with this reason, outside the times of calls.
    pub(super) fn waited_for(&self, reason: WaitReason) -> Duration {
        total(&self.only_waits(|of| of == reason))
    }

    /// Returns the waits with a reason, outside the times of calls.
    pub(super) fn only_waits(&self, of: impl Fn(WaitReason) -> bool) -> Vec<Span> {
        let mut times = Times::default();
        times.add(self, Duration::ZERO, &of);
        times.only_waits()
    }

    /// Returns `true` if an attempt is only the wait of an `await`.
    pub(super) fn is_wait(&self, attempt: &Attempt) -> bool {
        let mut waits = self.waits.iter();
        attempt.tool.is_none()
            && waits.any(|it| it.reason == WaitReason::Value && it.element == attempt.element)
    }

    /// Returns the waits of the step for people: `waited 3 min 5 s for an answer`. Short waits are left out.
    pub(super) fn waits_in_words(&self, unit: TimeUnit) -> Option<String> {
        let each = WaitReason::ALL.map(|reason| (self.waited_for(reason), reason));
        let long = each.into_iter().filter(|(waited, _)| *waited >= LEAST);
        let words =
            long.map(|(waited, reason)| format!("{} {}", unit.time(waited), reason.phrase()));
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| format!("waited {}", words.join(" and ")))
    }
}

impl StepReport {
    /// Returns the reasons for the waits that have not ended: `for an answer`.
    pub(super) fn awaited(&self) -> String {
        let open = self.waits.iter().filter(|wait| wait.ended.is_none());
        let has = |reason| open.clone().any(|wait| wait.reason == reason);
        let reasons = WaitReason::ALL.into_iter().filter(|reason| has(*reason));
        let words: Vec<&str> = reasons.map(WaitReason::phrase).collect();
        words.join(" and ")
    }
}

impl Report {
    /// Returns `true` if steps wait for answers or values, and no step runs.
    pub(super) fn only_waits(&self) -> bool {
        let has = |is: fn(&Status) -> bool| self.steps.iter().any(|step| is(&step.status));
        has(|it| matches!(it, Status::Waiting)) && !has(|it| matches!(it, Status::Running))
    }

    /// Returns the total time of the run's waits for answers of gates and for values from outside, outside all calls. After a
    /// retry of a failed run, the total leaves out the waits of the removed attempts.
    pub fn waited(&self) -> Duration {
        let mut times = Times::default();
        times.add_plan(self, Duration::ZERO, &WaitReason::is_outside);
        total(&times.only_waits())
    }

    /// Returns the time of long waits for people: ` with 3 min 5 s of waits`. Short waits give an empty string.
    pub(super) fn long_wait(&self) -> String {
        let waited = self.waited();
        if waited < LEAST {
            return String::new();
        }
        let without = if self.is_retried {
            ", without calls that a retry repeated"
        } else {
            ""
        };
        format!(" with {} of waits{without}", Time(waited))
    }
}

#[cfg(test)]
mod tests {
    use super::{Times, total};
    use std::time::Duration;

    #[test]
    fn calls_are_cut_out_of_waits() {
        let spans = |of: &[(u64, u64)]| -> Vec<_> {
            of.iter()
                .map(|(from, until)| (Duration::from_secs(*from), Duration::from_secs(*until)))
                .collect()
        };
        let only = |waits: &[(u64, u64)], calls: &[(u64, u64)]| {
            let (waits, calls) = (spans(waits), spans(calls));
            Times { waits, calls }.only_waits()
        };
        assert_eq!(only(&[(0, 5), (3, 9)], &[]), spans(&[(0, 9)]));
        assert_eq!(only(&[(0, 9)], &[(2, 3), (3, 4)]), spans(&[(0, 2), (4, 9)]));
        assert_eq!(only(&[(0, 4), (6, 9)], &[(3, 7)]), spans(&[(0, 3), (7, 9)]));
        assert_eq!(only(&[(2, 4)], &[(0, 9)]), spans(&[]));
        assert_eq!(only(&[(0, 3)], &[(3, 5)]), spans(&[(0, 3)]));
        assert_eq!(total(&spans(&[(0, 2), (4, 9)])), Duration::from_secs(7));
    }
}
