//! Steps whose output nothing uses, and steps that wait without a reason.

use super::only_reads;
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::spans::{Span, Spans};
use crate::dynamic::{Contracts, Dialect};
use crate::plan::{Plan, Source};
use std::collections::HashSet;

pub(super) fn check(
    plan: &Plan,
    spans: &Spans,
    dialect: Dialect,
    contracts: &Contracts,
    notes: &mut Notes,
) {
    // What is broken may be what would have used it.
    let broken = spans.steps.iter().any(|step| step.broken) || spans.has_broken(0..usize::MAX);
    if spans.output.is_some() && !broken {
        outputs(plan, spans, contracts, notes);
    }
    dependencies(plan, spans, dialect, contracts, notes);
}

fn outputs(plan: &Plan, spans: &Spans, contracts: &Contracts, notes: &mut Notes) {
    let mut used: HashSet<usize> = plan
        .steps
        .iter()
        .flat_map(|step| step.needs.iter().copied())
        .collect();
    used.extend(
        plan.output
            .value
            .reads()
            .into_iter()
            .filter_map(|source| match source {
                Source::Step(index) => Some(index),
                _ => None,
            }),
    );
    for (index, step) in plan.steps.iter().enumerate() {
        if used.contains(&index) || !only_reads(step, contracts) {
            continue;
        }
        let place = spans
            .steps
            .get(index)
            .map_or(0..0, |spans| match spans.id == spans.whole {
                true => spans.tool.range(),
                false => spans.id.range(),
            });
        let tool = step.tool().map_or_else(
            || "its tools only read".to_owned(),
            |tool| format!("`{}` only reads", tool.name),
        );
        let message = format!("nothing uses the output of step `{}`, and {tool}", step.id);
        notes.push(
            Note::warning(Code::UnusedOutput, place, message)
                .step(&step.id)
                .help("take the step out, or use what it finds".to_owned()),
        );
    }
}

fn dependencies(
    plan: &Plan,
    spans: &Spans,
    dialect: Dialect,
    contracts: &Contracts,
    notes: &mut Notes,
) {
    let none = spans.steps.iter().all(|step| step.after.is_empty());
    if none || plan.cycle().is_some() {
        return;
    }
    let named = |step: usize| match dialect {
        Dialect::Blueprint => format!("step[{step}]"),
        _ => plan
            .steps
            .get(step)
            .map_or_else(String::new, |step| format!("step `{}`", step.id)),
    };
    let mut ways = Ways::new(plan);
    for (index, step) in plan.steps.iter().enumerate() {
        let Some(of_step) = spans
            .steps
            .get(index)
            .filter(|of_step| !of_step.after.is_empty())
        else {
            continue;
        };
        let has_broken = of_step.broken || broken(spans, index);
        let reads = step.reads();
        let mut seen: Vec<(usize, Span)> = Vec::new();
        for &(needed, place) in of_step.after.iter() {
            let mut warn = |message: String, help: &str| {
                notes.push(
                    Note::warning(Code::UnneededDependency, place.range(), message)
                        .step(&step.id)
                        .help(help.to_owned()),
                );
            };
            if seen.iter().any(|(other, _)| *other == needed) {
                warn(
                    format!("{} is listed twice", named(needed)),
                    "once is enough",
                );
                continue;
            }
            seen.push((needed, place));
            let Some(other) = plan.steps.get(needed) else {
                continue;
            };
            if has_broken || reads.contains(&Source::Step(needed)) {
                continue;
            }
            if let Some(near) = ways.through(index, needed) {
                let message = format!(
                    "{} waits for {} already, by way of {}",
                    named(index),
                    named(needed),
                    named(near)
                );
                warn(message, "take it out of the list");
            } else if only_reads(other, contracts) && only_reads(step, contracts) {
                let message = format!(
                    "{} uses nothing of {}, and both only read: it need not wait",
                    named(index),
                    named(needed)
                );
                warn(
                    message,
                    "take it out of the list, so that both can run at once",
                );
            }
        }
    }
}

/// Whether some of the step's templates could not be read.
fn broken(spans: &Spans, index: usize) -> bool {
    let start = spans.steps[index].templates();
    // Templates are read step by step; a step that could not be read has none.
    let mut later = spans.steps[index + 1..].iter().map(|step| step.templates());
    let end = later
        .find(|end| *end >= start)
        .unwrap_or(spans.templates.len());
    spans.has_broken(start..end)
}

/// Which steps wait for which, by whatever way, in a graph without cycles.
struct Ways<'p> {
    plan: &'p Plan,
    /// For each step, how many others it waits for at most, one after the other.
    levels: Vec<usize>,
    /// The question for which a step was seen last.
    seen: Vec<usize>,
    questions: usize,
    open: Vec<usize>,
}

impl<'p> Ways<'p> {
    fn new(plan: &'p Plan) -> Self {
        let levels = plan.level_of_each().into_iter();
        let levels: Vec<usize> = levels.map(Option::unwrap_or_default).collect();
        Self {
            plan,
            seen: vec![0; levels.len()],
            levels,
            questions: 0,
            open: Vec::new(),
        }
    }

    fn needs(&self, step: usize) -> &'p [usize] {
        self.plan.steps.get(step).map_or(&[], |step| &step.needs)
    }

    /// Another step that this one needs, and that waits for `to`.
    fn through(&mut self, step: usize, to: usize) -> Option<usize> {
        let mut nearest = self.needs(step).iter().copied();
        // What one of them has looked through in vain, none of the others looks through again.
        self.questions += 1;
        nearest.find(|&near| near != to && self.reaches(near, to))
    }

    fn reaches(&mut self, from: usize, to: usize) -> bool {
        self.open.clear();
        self.open.push(from);
        while let Some(step) = self.open.pop() {
            for &next in self.needs(step) {
                if next == to {
                    return true;
                }
                // What stands on the level of `to` or below cannot wait for it.
                let (Some(level), Some(seen)) = (self.levels.get(next), self.seen.get_mut(next))
                else {
                    continue;
                };
                if *level > self.levels[to] && *seen != self.questions {
                    *seen = self.questions;
                    self.open.push(next);
                }
            }
        }
        false
    }
}
