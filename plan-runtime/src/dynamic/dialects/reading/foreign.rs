//! Findings for a string that names a step or an input in the notation of another dialect.

use super::PlanReader;
use super::lookup::{find, similar_value};
use super::names::{id_around, steps_to_compare};
use super::placeholder::placeholder;
use crate::dynamic::dialects::references::{
    self, ForeignReference, ReferenceTarget, Scan, Target, named,
};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, Source, Text};
use crate::plan::{self, Segment};
use crate::print::short;
use plan_graph::similar;

/// Reports the parts of a string that are references in other dialects, and a placeholder. Returns `false` if such a part is an error.
pub(crate) fn foreign(reader: &mut PlanReader, text: &Text<'_>, own: &Scan<'_>) -> bool {
    let known = |target: &Target| has(reader, target);
    let (found, more) = references::foreign(reader.rules, &text.value, own, &known);
    if found.is_empty() && own.is_plain() {
        placeholder(reader, text);
    }
    let mut sound = true;
    for (index, foreign) in found.iter().enumerate() {
        let is_last = index + 1 == found.len();
        let more = if is_last { more } else { 0 };
        sound &= foreign_one(reader, text, foreign, more);
    }
    sound
}

fn foreign_one(
    reader: &mut PlanReader,
    text: &Text<'_>,
    ForeignReference { written, of }: &ForeignReference<'_>,
    more: usize,
) -> bool {
    let rules = reader.rules;
    let document = rules.document;
    let place = text.place(&written.range);
    let (named, form) = form(reader, text, &written.target, &written.path);
    let other = of.filter(|_| !reader.rules.wraps());
    let note = match other {
        Some(other) => {
            let other = other.document;
            let message = format!("this is a reference of {other}, but the document is {document}");
            let note = Note::error(Code::MixedDialects, place, message);
            note.related(reader.shows.clone(), format!("this is {document}"))
        }
        None => {
            let text = short(written.text);
            let message =
                format!("`{text}` is not a reference in {document}, though it names the {named}");
            let like = match more {
                0 => String::new(),
                more => format!(", and {more} more like it"),
            };
            Note::warning(Code::MalformedReference, place, message)
                .label(format!("the reader uses this string as text{like}"))
        }
    };
    // The reference in this dialect, and the notation that keeps the string.
    let help = match form {
        None => format!("{document} has no inputs, so write the value itself"),
        Some(form) if written.range == (0..text.value.len()) => {
            format!("write the reference as `{form}`")
        }
        Some(form) => rules.form_in_text(&form),
    };
    let literal = rules.literal_in(&text.value, written.text);
    reader.note(note.help(format!("{help}; to keep the text, write `{literal}`")));
    other.is_none()
}

/// Returns `true` if the target of a reference exists.
fn has(reader: &PlanReader, target: &Target) -> bool {
    match target {
        Target::Id(id) => {
            reader.here.step_of(id).is_some()
                || (reader.rules.syntax.names_steps() && id_around(reader, id).is_some())
                || reader.input_names.contains_key(id.as_str())
                || (!reader.rules.wraps() && find(reader, id).is_some())
        }
        Target::Index(index) => *index < reader.here.steps,
        Target::Input(_) => true,
    }
}

/// Returns the kind of a reference's target, and the notation of the reference in this dialect.
fn form(
    reader: &PlanReader,
    text: &Text<'_>,
    target: &Target,
    path: &[Segment],
) -> (String, Option<String>) {
    let names_value = |name: &str| {
        let found = find(reader, name);
        found.is_some_and(|(_, it)| !matches!(it.source, plan::Source::Step(_)))
    };
    let id;
    let (kind, to, name) = match target {
        Target::Index(index) => {
            id = short(&id_at(reader, text, *index).unwrap_or_default());
            ("step", ReferenceTarget::Step(*index, &id), &id)
        }
        Target::Id(name) if !reader.rules.wraps() && names_value(name) => {
            ("value", ReferenceTarget::Value(name), name)
        }
        Target::Id(name) => match reader.here.step_of(name) {
            Some(step) => ("step", ReferenceTarget::Step(step, name), name),
            None if id_around(reader, name).is_some() => {
                ("step", ReferenceTarget::Step(usize::MAX, name), name)
            }
            None => ("input", ReferenceTarget::Input(name), name),
        },
        Target::Input(name) => ("input", ReferenceTarget::Input(name), name),
    };
    let form = reader.rules.form(to, path);
    (format!("{kind} `{}`", short(name)), form)
}

/// Returns the intended reference, for a reference of this dialect that begins here and names its target in the notation of another
/// one.
pub(crate) fn meant(reader: &PlanReader, text: &Text<'_>, at: usize) -> Option<String> {
    let meant = references::meant(reader.rules, &text.value, at)?;
    let (_, form) = form(reader, text, &meant.target, &meant.path);
    form.filter(|_| has(reader, &meant.target))
}

/// Returns the reference with a similar name, in the dialect's notation.
pub(super) fn similar_form(reader: &mut PlanReader, text: &Text<'_>, at: usize) -> Option<String> {
    let meant = references::meant(reader.rules, &text.value, at)?;
    let Target::Id(name) = &meant.target else {
        return None;
    };
    if let Some(similar) = similar_value(reader, name) {
        let rest = &meant.text[meant.named.end - meant.range.start..];
        let style = (reader.rules.style)(ReferenceTarget::Value(&similar), "")?;
        let open = &meant.text[..meant.named.start - meant.range.start];
        return Some(format!("{open}{}{rest}", named(style.names, &similar)));
    }
    let steps = steps_to_compare(reader);
    let similar = similar(name, steps.iter().map(|(_, id)| id.as_str()))?;
    let target = Target::Id(similar.to_owned());
    form(reader, text, &target, &meant.path).1
}

/// Returns the ID of a step from the document.
pub(super) fn id_at(reader: &PlanReader, text: &Text<'_>, index: usize) -> Option<String> {
    let id = reader.here.spans.steps.get(index)?.id.range();
    let raw = text.source().whole().get(id)?;
    // A step without an ID has its own position in place of the ID's.
    if !raw.starts_with('"') {
        return reader.rules.syntax.default_id(reader, index);
    }
    let source = Source::document(raw);
    let id = JsonNode::of(raw, &source).ok()?.text().ok()?;
    Some(id.value.into_owned())
}
