//! Steps that wait for one another.

use super::PlanReader;
use crate::Plan;
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::spans::Spans;
use crate::plan::{Role, Source, Template};
use crate::print::short;
use std::ops::Range;
use std::sync::Arc;

/// The largest number of named steps of a cycle.
const MOST_NAMED: usize = 16;

/// Reports a cycle for each group of steps that wait for one another, including those in blocks.
pub(crate) fn check(reader: &mut PlanReader, plan: &Plan) {
    check_in(&reader.here.spans, &mut reader.notes, plan, "");
}

fn check_in(spans: &Spans, notes: &mut Notes, plan: &Plan, around: &str) {
    spans.each_block(plan, &mut |step, block, spans| {
        check_in(spans, notes, &block.plan, &inside(around, &step.id));
    });
    for cycle in plan.cycles() {
        let name = |step: usize| short(&plan.steps[step].id);
        let message = match &cycle[..] {
            [only] => format!("step `{}` waits for itself", name(*only)),
            _ => format!("steps wait for one another: {}", round(&cycle, name)),
        };
        let mut edges = (0..cycle.len()).take(MOST_NAMED).map(|at| {
            let (step, next) = (cycle[at], cycle[(at + 1) % cycle.len()]);
            let label = format!("`{}` needs `{}`", name(step), name(next));
            (edge(spans, plan, step, next), label)
        });
        let Some((place, label)) = edges.next() else {
            continue;
        };
        // The message contains the only edge.
        let label = Some(label).filter(|_| cycle.len() > 1).unwrap_or_default();
        let mut note = Note::error(Code::Cycle, place, message)
            .label(label)
            .step(&path(around, &plan.steps[cycle[0]].id));
        for (place, label) in edges {
            note = note.related(place, label);
        }
        let help = "remove a dependency, or use a value that does not depend on the step";
        notes.push(note.help(help));
    }
}

/// Returns the prefix of the IDs in a block of this step.
pub(super) fn inside(around: &str, id: &str) -> String {
    format!("{around}{}.", short(id))
}

/// Returns a step's ID, after the IDs of the enclosing steps.
pub(super) fn path(around: &str, id: &str) -> Arc<str> {
    format!("{around}{id}").into()
}

/// Writes a cycle, such as `a` → `b` → `a`. Omits the middle of a long cycle.
fn round(cycle: &[usize], name: impl Fn(usize) -> String) -> String {
    let named = |steps: &[usize]| {
        let names: Vec<String> = steps
            .iter()
            .map(|&step| format!("`{}`", name(step)))
            .collect();
        names.join(" → ")
    };
    let first = named(&cycle[..1]);
    match cycle.len().checked_sub(MOST_NAMED) {
        None | Some(0) => format!("{} → {first}", named(cycle)),
        Some(more) => {
            let (start, end) = (&cycle[..MOST_NAMED - 1], &cycle[cycle.len() - 1..]);
            format!("{} → {more} more → {} → {first}", named(start), named(end))
        }
    }
}

/// Returns the position of a step's dependency.
fn edge(all: &Spans, plan: &Plan, step: usize, needed: usize) -> Range<usize> {
    let Some(spans) = all.steps.get(step) else {
        return 0..0;
    };
    if let Some((_, place)) = spans.after.iter().find(|(after, _)| *after == needed) {
        return place.range();
    }
    let read = reading_in(all, plan, step, Source::Step(needed));
    read.unwrap_or_else(|| match plan.steps[step].role {
        Role::Undo(undone) if undone == needed => spans.role.range(),
        _ => spans.whole.range(),
    })
}

/// Returns the position of the first template of a step that reads a source.
pub(super) fn reading_in(
    all: &Spans,
    plan: &Plan,
    step: usize,
    source: Source,
) -> Option<Range<usize>> {
    let mut templates = Vec::new();
    plan.steps[step].templates(&mut |_, template| templates.push(template));
    let at = all.steps.get(step)?.templates();
    reading(all, templates.into_iter(), at, source)
}

/// Returns the position of the first template that reads a source. The templates start at this index.
pub(super) fn reading<'t>(
    spans: &Spans,
    templates: impl Iterator<Item = &'t Template>,
    mut at: usize,
    source: Source,
) -> Option<Range<usize>> {
    let mut found = None;
    for template in templates {
        template.each(&mut |part| {
            let reads = match part {
                Template::Reference(reference) => reference.source == source,
                Template::Computed(computed) => computed.reads().contains(&source),
                _ => false,
            };
            if reads && found.is_none() {
                found = spans.templates.get(at);
            }
            at += 1;
        });
    }
    found.map(|span| span.value.range())
}
