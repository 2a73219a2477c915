//! References in strings: the meaning of their names, and their conversion to sources and paths.

use super::cycle::{inside, path};
use super::foreign::{id_at, meant};
use super::names::{RENAME, ReadKind, bring_in, hidden, local_part, unknown_id};
use super::plan_reader::Scope;
use super::{PlanReader, strings};
use crate::dynamic::Profile;
use crate::dynamic::dialects::references::{ScannedReference, Target};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::Text;
use crate::dynamic::spans::Spans;
use crate::plan::{Block, Bound, Path, Plan, Reference, Source, seen};
use crate::print::short;
use plan_graph::similar;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// The reason why a reference is not read.
pub(crate) enum Unread {
    /// The profile leaves it literal.
    Stays,
    /// The reference has an error, which has been reported.
    Broken,
}

pub(super) fn read(
    reader: &mut PlanReader,
    text: &Text<'_>,
    written: &ScannedReference<'_>,
) -> Result<Reference, Unread> {
    let compat = reader.profile == Profile::Compat;
    if let Some(scan_error) = &written.compat_only {
        // The deployed resolver of action plans accepts a reference to an existing step without `.result`.
        let known = matches!(&written.target, Target::Id(id) if knows(reader, id));
        if !(compat && known && !written.path.is_empty()) {
            return if strings::malformed(reader, text, scan_error.clone()) {
                Err(Unread::Stays)
            } else {
                Err(Unread::Broken)
            };
        }
    }
    let place = text.place(&written.named);
    let found = match &written.target {
        Target::Input(name) => {
            let input = Source::Input(super::inputs::input(reader, name, place.clone()));
            seen_from(reader, 0, Reference::new(input), name, place)
        }
        Target::Index(index) => {
            let step = super::inputs::indexed(reader, *index, place.clone());
            step.and_then(|step| step_from(reader, text, step, place))
        }
        Target::Id(id) => match find(reader, id) {
            Some((level, reference)) => seen_from(reader, level, reference, id, place),
            None if compat && reader.dialect.rules().compat.unknown_step_may_be_text => {
                let message = format!("there is no step `{}`", short(id));
                let note = Note::warning(Code::UnknownStep, text.place(&written.range), message);
                reader.note(note.label("it is used as text"));
                return Err(Unread::Stays);
            }
            None => {
                unknown_name(reader, text, written, id, place);
                return Err(Unread::Broken);
            }
        },
    };
    let mut reference = found.ok_or(Unread::Broken)?;
    // In the first round, the previous round and all its parts are null.
    let is_last = reader.here.kind_of(reference.source) == ReadKind::Last;
    reference.optional = is_last && !written.path.is_empty();
    // A part that a pattern names exists.
    let part = std::mem::replace(&mut reference.path, written.path.clone());
    if compat {
        (reader.dialect.rules().compat.allow_absence)(&mut reference, written);
    }
    let parts = part.len();
    reference.path.splice(..0, part);
    Ok(match &written.target {
        Target::Input(name) | Target::Id(name) => reference.said_of_part(written.text, name, parts),
        Target::Index(_) => reference.said(written.text, None),
    })
}

/// Returns the reference to a step by index.
fn step_from(
    reader: &mut PlanReader,
    text: &Text<'_>,
    step: usize,
    place: Range<usize>,
) -> Option<Reference> {
    let whole = Reference::new(Source::Step(step));
    if reader.here.locals.is_empty() {
        return Some(whole);
    }
    let id = id_at(reader, text, step).unwrap_or_default();
    seen_from(reader, reader.around.len(), whole, &id, place)
}

/// Reports a name without a step or another value.
fn unknown_name(
    reader: &mut PlanReader,
    text: &Text<'_>,
    written: &ScannedReference<'_>,
    name: &str,
    place: Range<usize>,
) {
    if let Some(meant) = similar_value(reader, name) {
        let message = format!("there is no step or value `{}`", short(name));
        let help = format!("a value with a similar name exists: `{}`", short(&meant));
        return reader.report(Code::UnknownStep, place, message, help);
    }
    let (mut note, has_similar) = unknown_id(reader, name, place);
    let rules = reader.dialect.rules();
    // `$ref:step[0].data` has the index of a step, and no id.
    if let Some(form) = meant(reader, text, written.range.start) {
        note = note.help(format!("did you mean `{form}`?"));
    } else if rules.compat.unknown_step_may_be_text && !has_similar {
        let literal = (rules.literal)(written.text);
        let names = note.take_help();
        let names = names.map_or_else(String::new, |help| format!("{help}; "));
        note = note.help(format!(
            "{names}if this is not a reference, write `{literal}`"
        ));
    }
    reader.note(note);
}

/// Returns the value with this name, and its level.
pub(super) fn find(reader: &PlanReader, name: &str) -> Option<(usize, Reference)> {
    let mut levels = (0..=reader.around.len()).rev();
    let steps = reader.syntax.names_steps();
    levels.find_map(|level| Some((level, reader.at(level).named(name, steps)?)))
}

/// Returns `true` for a known name.
pub(super) fn knows(reader: &PlanReader, name: &str) -> bool {
    find(reader, name).is_some()
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
fn seen_from(
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
