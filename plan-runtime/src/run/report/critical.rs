//! The critical path of a run: the chain of steps that explains the time of the run.

use super::wait::{LEAST, Span};
use super::{Report, StepReport};
use crate::plan::{Plan, Role};
use crate::print::MessageName;
use plan_graph::Graph as Edges;
use std::cmp::Reverse;
use std::time::Duration;

/// A step of the [critical path](Report::critical_links), with the part of its time that is on the path.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CriticalLink<'r> {
    /// The step.
    pub step: &'r StepReport,
    /// The start of the step, counted from the start of the run.
    pub started: Duration,
    /// The end of the step. If one of its calls freed a slot for the next step, the end of this call.
    pub ended: Duration,
    /// The time from the end of the previous step on the path, or from the start of the run, to the start of the step.
    pub waited: Duration,
    /// `true` if the step was ready, and started when a call of the previous step ended: the run has a limit on
    /// [concurrent calls](crate::run::Run::concurrency). Otherwise, the step needs the previous step.
    pub is_slot: bool,
}

/// A part of the critical path.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Link {
    /// The index of the step in the plan.
    pub(super) step: usize,
    pub(super) time: Span,
    pub(super) waited: Duration,
    pub(super) is_slot: bool,
}

impl Report {
    /// Returns the parts of the critical path in chronological order. The parts do not overlap. Their times and their waits are the time from the start of the run to the end
    /// of its last step.
    pub fn critical_links(&self) -> impl ExactSizeIterator<Item = CriticalLink<'_>> {
        self.critical.iter().map(|link| CriticalLink {
            step: &self.steps[link.step],
            started: link.time.0,
            ended: link.time.1,
            waited: link.waited,
            is_slot: link.is_slot,
        })
    }

    /// Returns the total time of the steps on the critical path.
    pub(crate) fn critical_duration(&self) -> Duration {
        let links = self.critical.iter();
        links.map(|link| link.time.1 - link.time.0).sum()
    }

    /// Returns the critical path: `critical path: first → second → third (waited for a slot), 3.00 s`.
    pub(super) fn critical_in_words(&self) -> String {
        let links = self.critical_links().map(|link| {
            let slot = if link.is_slot {
                " (waited for a slot)"
            } else {
                ""
            };
            format!("{}{slot}", MessageName(&link.step.id))
        });
        let links: Vec<String> = links.collect();
        let (unit, waited) = (self.unit(), self.critical_waits());
        let took = unit.time(self.critical_duration());
        let waits = if waited < LEAST {
            String::new()
        } else {
            format!(" + {} between the steps", unit.time(waited))
        };
        format!("critical path: {}, {took}{waits}", links.join(" → "))
    }

    /// Returns the total time of the waits between the steps of the critical path.
    pub(super) fn critical_waits(&self) -> Duration {
        self.critical.iter().map(|link| link.waited).sum()
    }
}

/// The calls of the steps of a plan, including calls inside blocks and called plans.
struct Calls {
    /// The index of the step, and the time of the call, in the order of the ends. A call that has not ended has the longest time.
    all: Vec<(usize, Span)>,
    /// The largest number of concurrent calls.
    bound: usize,
}

impl Calls {
    fn of(steps: &[StepReport], bound: usize) -> Self {
        let mut calls = Self {
            all: Vec::new(),
            bound,
        };
        let count: usize = steps.iter().map(|step| step.attempts.len()).sum();
        let has_inside = |step: &StepReport| step.attempts.iter().any(|it| !it.inside.is_empty());
        // With fewer calls, no call waits for a slot.
        if count > bound || steps.iter().any(has_inside) {
            for (number, step) in steps.iter().enumerate() {
                calls.add(number, step, Duration::ZERO);
            }
        }
        if calls.all.len() <= bound {
            calls.all.clear();
        }
        let end = |(step, (_, ended)): &(usize, Span)| (*ended, Reverse(*step));
        calls.all.sort_unstable_by_key(end);
        calls
    }

    fn add(&mut self, number: usize, step: &StepReport, from: Duration) {
        for attempt in &step.attempts {
            for inner in attempt.inside.iter().flat_map(|inside| &inside.steps) {
                self.add(number, inner, from + attempt.started);
            }
            if attempt.inside.is_empty() && !step.is_wait(attempt) {
                let ended = attempt.ended.map_or(Duration::MAX, |ended| from + ended);
                self.all.push((number, (from + attempt.started, ended)));
            }
        }
    }

    /// Returns the last call of another step that freed a slot in this time: until its end, as many calls ran as the run allows.
    fn freed(
        &self,
        step: usize,
        after: Option<Duration>,
        until: Duration,
    ) -> Option<(usize, Duration)> {
        let end = self.all.partition_point(|(_, (_, ended))| *ended <= until);
        let ended = self.all[..end].iter().rev();
        let mut ended = ended.take_while(|(_, (_, ended))| after.is_none_or(|it| *ended > it));
        let (of, (_, ended)) = ended.find(|(of, (from, ended))| *of != step && from < ended)?;
        let first = self.all.partition_point(|(_, (_, to))| to < ended);
        let ran = self.all[first..]
            .iter()
            .filter(|(_, (from, _))| from < ended);
        (ran.take(self.bound).count() == self.bound).then_some((*of, *ended))
    }
}

/// Returns the critical path of a run with this limit on concurrent calls.
pub(in crate::run) fn critical(
    plan: &Plan,
    needs: &Edges,
    steps: &[StepReport],
    bound: usize,
) -> Vec<Link> {
    let last = |steps_of: &mut dyn Iterator<Item = usize>| {
        let ended = steps_of.filter_map(|step| Some((steps[step].ended?, Reverse(step))));
        ended.max().map(|(ended, Reverse(step))| (step, ended))
    };
    let calls = Calls::of(steps, bound);
    let mut path = Vec::new();
    let mut is_later = vec![false; steps.len()];
    let mut at = last(&mut (0..steps.len()));
    while let Some((step, until)) = at {
        is_later[step] = true;
        let from = steps[step].started.unwrap_or(until).min(until);
        let need = match plan.steps[step].role {
            Role::Work => last(&mut needs.of(step).iter().map(|need| *need as usize)),
            // The final steps wait for all other work, even for work that they do not read.
            Role::Undo(_) | Role::Always => {
                let has_ended = |it: &usize| steps[*it].ended.is_some_and(|ended| ended <= from);
                last(
                    &mut (0..steps.len())
                        .filter(|it| !is_later[*it])
                        .filter(has_ended),
                )
            }
        };
        let slot = calls.freed(step, need.map(|(_, ended)| ended), from);
        let slot = slot.filter(|(other, _)| !is_later[*other]);
        at = slot.or(need).filter(|(before, _)| !is_later[*before]);
        at = at.map(|(before, ended)| (before, ended.min(from)));
        path.push(Link {
            step,
            time: (from, until),
            waited: from - at.map_or(Duration::ZERO, |(_, ended)| ended),
            is_slot: slot.is_some(),
        });
    }
    path.reverse();
    path
}
