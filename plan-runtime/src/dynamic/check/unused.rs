//! Steps whose output nothing uses, and steps that wait without a reason.

use super::only_reads;
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::spans::Spans;
use crate::dynamic::{Contracts, Dialect};
use crate::plan::{Plan, Source, Step};
use crate::resolve::describe::short;
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
    let mut used: HashSet<usize> = plan.steps.iter().flat_map(Step::needs).collect();
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
        let place = spans.steps.get(index).map_or(0..0, |spans| {
            if spans.id == spans.whole {
                spans.tool.range()
            } else {
                spans.id.range()
            }
        });
        let tool = step.tool().map_or_else(
            || "its tools only read".to_owned(),
            |tool| format!("`{}` only reads", short(&tool.name)),
        );
        let message = format!(
            "nothing uses the output of step `{}`, and {tool}",
            short(&step.id)
        );
        notes.push(
            Note::warning(Code::UnusedOutput, place, message)
                .step(&step.id.as_str().into())
                .help("remove the step, or use its output".to_owned()),
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
    if none || !plan.cycles().is_empty() {
        return;
    }
    let named = |index: usize| {
        let step = plan.steps.get(index);
        step.map_or_else(String::new, |step| (dialect.rules().step)(index, &step.id))
    };
    let needs = plan.needs();
    let mut paths = needs.paths();
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
        let mut seen: HashSet<usize> = HashSet::new();
        for &(needed, place) in &of_step.after {
            let mut warn = |message: String, help: &str| {
                notes.push(
                    Note::warning(Code::UnneededDependency, place.range(), message)
                        .step(&step.id.as_str().into())
                        .help(help.to_owned()),
                );
            };
            if !seen.insert(needed) {
                warn(
                    format!("{} is listed twice", named(needed)),
                    "once is enough",
                );
                continue;
            }
            let Some(other) = plan.steps.get(needed) else {
                continue;
            };
            if has_broken || reads.binary_search(&Source::Step(needed)).is_ok() {
                continue;
            }
            let Ok(near) = paths.through(index, needed) else {
                let message = "not every dependency was checked";
                let help = "there are too many paths between the steps to check all of them";
                let note = Note::warning(Code::LimitPassed, place.range(), message);
                notes.push(note.help(help.to_owned()));
                return;
            };
            if let Some(near) = near {
                let message = format!(
                    "{} already waits for {} through {}",
                    named(index),
                    named(needed),
                    named(near)
                );
                warn(message, "remove it from the list");
            } else if only_reads(other, contracts) && only_reads(step, contracts) {
                let message = format!(
                    "{} uses nothing of {}, and both only read, so it does not have to wait",
                    named(index),
                    named(needed)
                );
                warn(
                    message,
                    "remove it from the list, so that both can run concurrently",
                );
            }
        }
    }
}

/// Whether some of the step's templates could not be read.
fn broken(spans: &Spans, index: usize) -> bool {
    let start = spans.steps[index].templates();
    // Templates are read step by step; a step that could not be read has none.
    let mut later = spans.steps[index + 1..]
        .iter()
        .map(super::super::spans::StepSpans::templates);
    let end = later
        .find(|end| *end >= start)
        .unwrap_or(spans.templates.len());
    spans.has_broken(start..end)
}
