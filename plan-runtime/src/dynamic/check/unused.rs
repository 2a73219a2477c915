//! Steps whose output nothing uses, and steps that wait without a reason.

use super::Checker;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::spans::StepSpans;
use crate::plan::{Action, Role, Source, Step, Template};
use crate::resolve::describe::short;
use std::collections::HashSet;
use std::ops::Range;

impl Checker<'_, '_> {
    /// Checks that each step has a use.
    pub(super) fn unused(&mut self, again: Option<&Template>) {
        // A broken part of the document may be the use.
        let spans = self.known.spans;
        if spans.output.is_some() && !spans.is_broken() {
            self.outputs(again);
        }
        self.dependencies();
    }

    fn outputs(&mut self, again: Option<&Template>) {
        let plan = self.known.plan;
        let again = again.map(Template::reads).unwrap_or_default();
        let reads = plan.output.value.reads().into_iter().chain(again);
        let of_output = reads.filter_map(|source| match source {
            Source::Step(index) => Some(index),
            Source::Input(_) | Source::Local(_) => None,
        });
        let needs = plan.steps.iter().flat_map(Step::needs);
        let used: HashSet<usize> = needs.chain(of_output).collect();
        let checks = self.unordered(&used);
        for (index, step) in plan.steps.iter().enumerate() {
            let is_used = used.contains(&index) || checks.contains(&index);
            if is_used || step.role != Role::Work || !self.only_reads(step) {
                continue;
            }
            let place = self.place(index);
            let tool = step.tool().map_or_else(
                || "its tools only read".to_owned(),
                |tool| format!("`{}` only reads", short(&tool.name)),
            );
            let message = format!(
                "nothing uses the output of step `{}`, and {tool}",
                short(&step.id)
            );
            self.notes.push(
                Note::warning(Code::UnusedOutput, place, message)
                    .step(&self.path(step))
                    .help("remove the step, or use its output".to_owned()),
            );
        }
    }

    /// Returns the place of a step's id, or of its tool if the document contains no ids.
    pub(super) fn place(&self, index: usize) -> Range<usize> {
        let spans = self.known.spans.steps.get(index);
        spans.map_or(0..0, |spans| {
            if spans.id == spans.whole {
                spans.tool.range()
            } else {
                spans.id.range()
            }
        })
    }

    fn dependencies(&mut self) {
        let (plan, spans, rules) = (self.known.plan, self.known.spans, self.known.rules);
        let none = spans.steps.iter().all(|step| step.after.is_empty());
        if none || !plan.cycles().is_empty() {
            return;
        }
        let named = |index: usize| {
            let step = plan.steps.get(index);
            step.map_or_else(String::new, |step| (rules.step)(index, &step.id))
        };
        let needs = plan.needs();
        let mut paths = needs.paths();
        for (index, step) in plan.steps.iter().enumerate() {
            let of_step = spans.steps.get(index);
            let Some(of_step) = of_step.filter(|of_step| !of_step.after.is_empty()) else {
                continue;
            };
            let has_broken = self.is_broken(index);
            let reads = step.reads();
            let mut seen: HashSet<usize> = HashSet::new();
            for &(needed, place) in &of_step.after {
                let is_new = seen.insert(needed);
                let other = plan.steps.get(needed);
                let is_read = has_broken || reads.binary_search(&Source::Step(needed)).is_ok();
                let Some(other) = other.filter(|_| !is_new || !is_read) else {
                    continue;
                };
                let (waiting, waited) = (named(index), named(needed));
                let (message, help) = if is_new {
                    let Ok(near) = paths.through(index, needed) else {
                        let message = "not every dependency was checked";
                        let note = Note::warning(Code::LimitPassed, place.range(), message);
                        let help = "check the remaining dependencies yourself: the steps have too many paths between them";
                        return self.notes.push(note.help(help.to_owned()));
                    };
                    match near.map(named) {
                        Some(near) => (
                            format!("{waiting} already waits for {waited} through {near}"),
                            "remove the step from the list",
                        ),
                        None if self.only_reads(other) && self.only_reads(step) => (
                            format!(
                                "{waiting} uses no output of {waited}, and both steps only read, so {waiting} does not have to wait"
                            ),
                            "remove the step from the list, so that both steps can run concurrently",
                        ),
                        None => continue,
                    }
                } else {
                    (
                        format!("{waited} is listed twice"),
                        "remove the second entry",
                    )
                };
                let note = Note::warning(Code::UnneededDependency, place.range(), message);
                let note = note.step(&self.path(step));
                self.notes.push(note.help(help.to_owned()));
            }
        }
    }

    /// Returns `true` if every tool of a step is read-only.
    fn only_reads(&self, step: &Step) -> bool {
        let reads = |action: &&Action| {
            let tool = action.tool.as_ref();
            let contract = tool.and_then(|tool| self.known.contracts.get(&tool.name));
            contract.is_some_and(|contract| contract.read_only)
        };
        let actions = step.actions();
        !actions.is_empty() && actions.iter().all(reads)
    }

    /// Returns `true` if a template of the step could not be read.
    fn is_broken(&self, index: usize) -> bool {
        let spans = self.known.spans;
        let start = spans.steps[index].templates();
        // Templates are read step by step; a step that could not be read has none.
        let mut later = spans.steps[index + 1..].iter().map(StepSpans::templates);
        let end = later.find(|end| *end >= start);
        spans.steps[index].broken || spans.has_broken(start..end.unwrap_or(spans.templates.len()))
    }
}
