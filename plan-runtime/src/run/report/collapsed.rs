//! The steps inside a step as text: one row for each step, for all elements and attempts together.

use super::wait::Span;
use super::waited::in_all;
use super::{Report, Status, StepReport, Totals};
use crate::error::Elements;
use crate::print::MessageName;
use std::sync::Arc;
use std::time::Duration;

/// The largest number of rows inside a step of the plan.
const MOST_ROWS: usize = 50;
/// The largest number of plans inside one step that have rows of their own.
const MOST_PLANS: usize = 10;

/// A plan that ran inside a step.
struct InnerSteps<'r> {
    report: &'r Report,
    /// The start, counted from the start of the outermost plan.
    started: Duration,
    /// The path of its steps, up to their names.
    path: String,
}

/// The rows below a step.
#[derive(Default)]
pub(super) struct Rows<'r> {
    pub(super) rows: Vec<Row<'r>>,
    /// The number of omitted rows.
    pub(super) more: usize,
}

/// The outcomes of a step of a plan inside a step, for all elements and attempts.
pub(super) struct Row<'r> {
    /// The number of enclosing plans.
    pub(super) depth: usize,
    /// The report of the step in one of the plans.
    pub(super) step: &'r StepReport,
    pub(super) totals: Totals,
    /// The start of the first outcome, and in `ended` the end of the last outcome.
    pub(super) started: Option<Duration>,
    pub(super) ended: Option<Duration>,
    /// The waits for people, outside the calls.
    pub(super) waits: Vec<Span>,
    /// The number of calls.
    pub(super) calls: usize,
    /// The first failed outcome: its path and its status.
    pub(super) failed: Option<(String, &'r Status)>,
}

impl Row<'_> {
    /// Returns `true` if the step is in only one plan.
    pub(super) fn is_one(&self) -> bool {
        let named = self.totals.named();
        named.iter().map(|(count, _)| count).sum::<usize>() == 1
    }

    /// Returns the statuses, as one word if the step is in only one plan.
    pub(super) fn status(&self) -> String {
        if self.is_one() {
            self.step.state().to_owned()
        } else {
            self.totals.to_string()
        }
    }
}

impl<'r> Rows<'r> {
    /// Returns the rows inside a step of the outermost plan.
    pub(super) fn of(step: &'r StepReport) -> Self {
        let mut rows = Self::default();
        let outermost = inside(step, Duration::ZERO, &MessageName(&step.id).to_string());
        rows.add(outermost, 1);
        rows
    }

    fn add(&mut self, inner: Vec<InnerSteps<'r>>, depth: usize) {
        let mut plans: Vec<Vec<InnerSteps<'r>>> = Vec::new();
        for inner in inner {
            let same = |others: &Vec<InnerSteps<'r>>| is_same(others[0].report, inner.report);
            match plans.iter().position(same) {
                Some(place) => plans[place].push(inner),
                None if plans.len() < MOST_PLANS => plans.push(vec![inner]),
                None => self.more += inner.report.steps.len(),
            }
        }
        for plan in plans {
            for place in 0..plan[0].report.steps.len() {
                self.add_step(&plan, place, depth);
            }
        }
    }

    fn add_step(&mut self, plan: &[InnerSteps<'r>], place: usize, depth: usize) {
        if self.rows.len() >= MOST_ROWS {
            self.more += 1;
            return;
        }
        let steps = plan.iter().map(|inner| (inner, &inner.report.steps[place]));
        let after = |inner: &InnerSteps<'_>, time: Option<Duration>| Some(inner.started + time?);
        let started = steps
            .clone()
            .filter_map(|(inner, step)| after(inner, step.started));
        let ended = steps
            .clone()
            .filter_map(|(inner, step)| after(inner, step.ended));
        let failed = steps.clone().find_map(|(inner, step)| {
            step.error()?;
            let (name, element) = (MessageName(&step.id), Elements(&step.element));
            Some((format!("{}.{name}{element}", inner.path), &step.status))
        });
        self.rows.push(Row {
            depth,
            step: &plan[0].report.steps[place],
            totals: Totals::of(
                steps
                    .clone()
                    .map(|(_, step)| (&step.status, step.is_undone)),
            ),
            waits: in_all(steps.clone().map(|(inner, step)| (step, inner.started))),
            started: started.min(),
            ended: ended.max(),
            calls: steps.clone().map(|(_, step)| step.attempts.len()).sum(),
            failed,
        });
        let inside = steps.flat_map(|(inner, step)| {
            let path = format!("{}.{}", inner.path, MessageName(&step.id));
            inside(step, inner.started, &path)
        });
        self.add(inside.collect(), depth + 1);
    }
}

/// Returns the reports inside a step with this path, whose plan started at this time.
fn inside<'r>(step: &'r StepReport, started: Duration, path: &str) -> Vec<InnerSteps<'r>> {
    let attempts = step.attempts.iter().flat_map(|attempt| {
        attempt.inside.iter().map(move |report| InnerSteps {
            report,
            started: started + attempt.started,
            path: format!("{path}{}", Elements(&attempt.element)),
        })
    });
    attempts.collect()
}

/// Returns `true` if two reports belong to one plan, as far as their rows show.
fn is_same<'r>(a: &'r Report, b: &'r Report) -> bool {
    let ids = |step: &'r StepReport| &step.id;
    Arc::ptr_eq(&a.plan, &b.plan)
        || a.plan() == b.plan() && a.steps.iter().map(ids).eq(b.steps.iter().map(ids))
}
