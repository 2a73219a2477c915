//! The meaning of names in references of strings: steps, local values, and inputs of blocks.

use super::cycle::{inside, path};
use super::plan_reader::ReadKind;
use super::{PlanBuilder, PlanReader};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::spans::Spans;
use crate::plan::{Bound, Path, Plan, Reference, Source, seen};
use crate::print::short;
use plan_graph::similar;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

impl PlanReader<'_> {
    /// Returns the value with this name, `None` for an unknown name, and `Some(None)` for a name whose error has been reported.
    pub(super) fn named(&mut self, name: &str, place: Range<usize>) -> Option<Option<Reference>> {
        let mut levels = (0..=self.around.len()).rev();
        let (level, reference) =
            levels.find_map(|level| Some((level, self.named_by(level, name)?)))?;
        Some(self.seen_from(level, reference, name, place))
    }

    /// Returns a reference to the plan's input with this name.
    pub(super) fn plan_input(&mut self, name: &str, place: Range<usize>) -> Option<Reference> {
        let input = self.builder.input(name, place.clone());
        self.seen_from(0, Reference::new(Source::Input(input)), name, place)
    }

    /// Returns `true` for a known name.
    pub(super) fn knows(&self, name: &str) -> bool {
        (0..=self.around.len()).any(|level| self.named_by(level, name).is_some())
    }

    /// Returns `true` for the name of a value that is no output of this plan's steps: a local value, or an input of a
    /// block.
    pub(super) fn names_value(&self, name: &str) -> bool {
        let mut levels = (0..=self.around.len()).rev();
        let found = levels.find_map(|level| self.named_by(level, name));
        found.is_some_and(|it| !matches!(it.source, Source::Step(_)))
    }

    /// Returns the names of all local values and inputs, innermost first.
    fn values(&self) -> Vec<&str> {
        let mut all = Vec::new();
        for level in (0..=self.around.len()).rev() {
            all.extend(self.locals_at(level).iter().rev().flat_map(Bound::names));
            let names = self.names_at(level).into_iter().flatten();
            let mut names: Vec<_> = names.map(|(name, (at, _))| (*at, name.as_str())).collect();
            // The inputs of the plan have names of another form.
            names.retain(|(at, _)| self.kind_at(level, Source::Input(*at)) != ReadKind::Input);
            names.sort_unstable();
            all.extend(names.into_iter().map(|(_, name)| name));
        }
        all
    }

    /// Returns a local value or an input with a similar name.
    pub(super) fn similar_value(&mut self, name: &str) -> Option<String> {
        if (self.locals.is_empty() && self.around.is_empty()) || !self.builder.looks_for_similar() {
            return None;
        }
        similar(name, self.values()).map(str::to_owned)
    }

    fn locals_at(&self, level: usize) -> &[Bound] {
        self.around.get(level).map_or(&self.locals, |it| &it.locals)
    }

    /// Returns the meaning of a name at one level. Local values hide the other names.
    fn named_by(&self, level: usize, name: &str) -> Option<Reference> {
        let locals = self.locals_at(level).iter().enumerate().rev();
        let mut locals = locals.map(|(depth, bound)| Some((depth, bound.named(name)?)));
        if let Some((depth, part)) = locals.find_map(|it| it) {
            let whole = Reference::new(Source::Local(depth));
            return Some(match part {
                Some(part) => whole.index(part),
                None => whole,
            });
        }
        if self.syntax.names_steps()
            && let Some(step) = self.builder.step_at(level, name)
        {
            return Some(Reference::new(Source::Step(step)));
        }
        let (input, _) = self.names_at(level)?.get(name)?;
        let input = Source::Input(*input);
        // The inputs of the plan have names of another form.
        (self.kind_at(level, input) != ReadKind::Input).then(|| Reference::new(input))
    }

    /// Returns a value of a level as this block refers to it.
    pub(super) fn seen_from(
        &mut self,
        level: usize,
        reference: Reference,
        name: &str,
        place: Range<usize>,
    ) -> Option<Reference> {
        let nothing = Reference::new(reference.source);
        let is_hidden = (level..=self.around.len()).any(|at| {
            let (source, path): (_, Path<'_>) = if at == level {
                (reference.source, reference.path())
            } else {
                (Source::Input(0), nothing.path())
            };
            let own = match source {
                Source::Local(_) => source.name(),
                _ => name.to_owned(),
            };
            seen(source, &own, path, self.locals_at(at)).is_none()
        });
        if is_hidden {
            let name = short(name);
            let message = format!("this reads `{name}`, but a pattern around it binds `{name}`");
            let note = Note::error(Code::DuplicateId, place, message);
            let help = "a reference could mean either, so rename one of them";
            return self.builder.error(note.help(help.to_owned()));
        }
        if level == self.around.len() {
            return Some(reference);
        }
        let source = self.bring_in(level, reference, name, place)?;
        Some(Reference::new(source))
    }
}

impl PlanBuilder {
    /// Reports the IDs of steps in blocks that are names of inputs, which may be discovered only after the steps.
    pub(super) fn names_differ(&mut self, plan: &Plan) {
        let inputs: HashSet<&str> = plan.inputs.iter().map(|input| &*input.name).collect();
        if !inputs.is_empty() {
            let mut same = Vec::new();
            same_names(&self.spans, plan, &inputs, "", &mut same);
            for (id, path, place) in same {
                let id = short(id);
                let message = format!("the step `{id}` has the name of an input");
                let note = Note::error(Code::DuplicateId, place, message).step(&path);
                let help = "a reference could mean either, so rename one of them";
                self.note(note.help(help.to_owned()));
            }
        }
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
    spans.each_block(plan, &mut |step, block, spans| {
        let around = inside(around, &step.id);
        for (step, spans) in block.plan.steps.iter().zip(&spans.steps) {
            if inputs.contains(&*step.id) {
                same.push((&*step.id, path(&around, &step.id), spans.id.range()));
            }
        }
        same_names(spans, &block.plan, inputs, &around, same);
    });
}
