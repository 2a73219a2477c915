//! The meaning of names in references of strings: steps, local values, and inputs of blocks.

use super::cycle::{inside, path};
use super::names::{RENAME, ReadKind, bring_in, hidden, local_part};
use super::{PlanReader, Scope};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::spans::Spans;
use crate::plan::{Block, Bound, Path, Plan, Reference, Source, seen};
use crate::print::short;
use plan_graph::similar;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Returns the value with this name, and its level.
pub(super) fn find(reader: &PlanReader, name: &str) -> Option<(usize, Reference)> {
    let mut levels = (0..=reader.around.len()).rev();
    let steps = reader.rules.syntax.names_steps();
    levels.find_map(|level| Some((level, reader.at(level).named(name, steps)?)))
}

impl Scope {
    /// Returns the meaning of a name. Local values hide the other names.
    fn named(&self, name: &str, names_steps: bool) -> Option<Reference> {
        let locals = self.locals.iter().enumerate().rev();
        let mut locals = locals.filter_map(|(depth, bound)| Some((depth, bound.named(name)?)));
        if let Some((depth, part)) = locals.next() {
            return Some(local_part(depth, part));
        }
        if let Some(step) = self.step_of(name).filter(|_| names_steps) {
            return Some(Reference::new(Source::Step(step)));
        }
        let input = Source::Input(self.names.get(name)?.0);
        // The inputs of the plan have names of another form.
        (self.kind_of(input) != ReadKind::Input).then(|| Reference::new(input))
    }

    /// Returns the names of all local values and inputs, innermost first.
    fn values(&self) -> impl Iterator<Item = &str> {
        let inputs = self.all_inputs().into_iter();
        let inputs = inputs.filter(|(at, _)| self.kind_of(Source::Input(*at)) != ReadKind::Input);
        let locals = self.locals.iter().rev().flat_map(Bound::names);
        locals.chain(inputs.map(|(_, name)| name))
    }
}

/// Returns a local value or an input with a similar name.
pub(super) fn similar_value(reader: &mut PlanReader, name: &str) -> Option<String> {
    let has_none = reader.here.locals.is_empty() && reader.around.is_empty();
    if has_none || !reader.looks_for_similar() {
        return None;
    }
    let scopes = [&reader.here].into_iter().chain(reader.around.iter().rev());
    similar(name, scopes.flat_map(Scope::values)).map(str::to_owned)
}

/// Returns a value of a level as this block refers to it.
pub(super) fn seen_from(
    reader: &mut PlanReader,
    level: usize,
    reference: Reference,
    name: &str,
    place: Range<usize>,
) -> Option<Reference> {
    let nothing = Reference::new(reference.source);
    let is_hidden = (level..=reader.around.len()).any(|at| {
        let (source, path): (_, Path<'_>) = if at == level {
            (reference.source, reference.path())
        } else {
            (Source::Input(0), nothing.path())
        };
        let own = match source {
            Source::Local(_) => source.name(),
            _ => name.to_owned(),
        };
        seen(source, &own, path, &reader.at(at).locals).is_none()
    });
    if is_hidden {
        return hidden(reader, name, place);
    }
    if level == reader.around.len() {
        return Some(reference);
    }
    let source = bring_in(reader, level, reference, name, place)?;
    Some(Reference::new(source))
}

/// Reports the IDs of steps in blocks that are names of inputs, which may be discovered only after the steps.
pub(super) fn names_differ(reader: &mut PlanReader, plan: &Plan) {
    let inputs: HashSet<&str> = plan.inputs.iter().map(|input| &*input.name).collect();
    if inputs.is_empty() {
        return;
    }
    let mut same = Vec::new();
    same_names(&reader.here.spans, plan, &inputs, "", &mut same);
    for (id, path, place) in same {
        let message = format!("the step `{}` has the name of an input", short(id));
        let note = Note::error(Code::DuplicateId, place, message).step(&path);
        reader.note(note.help(RENAME));
    }
}

/// Collects the steps in blocks with the names of inputs: their IDs, with the enclosing IDs, and positions.
fn same_names<'p>(
    spans: &Spans,
    plan: &'p Plan,
    inputs: &HashSet<&str>,
    around: &str,
    same: &mut Vec<(&'p str, Arc<str>, Range<usize>)>,
) {
    spans.each_block(plan, &mut |step, block: &Block, spans| {
        let around = inside(around, &step.id);
        for (step, spans) in block.plan.steps.iter().zip(&spans.steps) {
            if inputs.contains(&*step.id) {
                same.push((&*step.id, path(&around, &step.id), spans.id.range()));
            }
        }
        same_names(spans, &block.plan, inputs, &around, same);
    });
}
