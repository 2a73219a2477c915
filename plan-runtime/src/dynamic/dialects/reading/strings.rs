//! Strings with references in them.

use super::foreign::{foreign, id_at, meant, similar_form};
use super::lookup::{find, seen_from, similar_value};
use super::names::{ReadKind, unknown_id};
use super::{PlanReader, inputs};
use crate::dynamic::Profile;
use crate::dynamic::dialects::references::{Piece, Scan, ScanError, ScannedReference, Target};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, Text};
use crate::plan::{Entry, Key, Part, Reference, Source, Template};
use crate::print::short;
use std::ops::Range;

/// Reads the object of a dialect with references in strings.
pub(crate) fn object(reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Template {
    let members = reader.members(node, "a value");
    let members = members.map_or_else(Vec::new, |it| it.list);
    // The capacity is exact, since a plan stays in memory for a long time.
    let mut entries = Vec::with_capacity(reader.room(members.len(), 1));
    for member in members {
        if reader.is_over() {
            break;
        }
        no_reference(reader, member.key, &member.name);
        let value = reader.template(member.value, Some(member.key), depth + 1);
        let key = Key::Name(member.name.into_owned());
        entries.push(Entry { key, value });
    }
    Template::Object(entries)
}

/// Reports a reference in the name of a member.
fn no_reference(reader: &mut PlanReader, key: JsonNode<'_>, name: &str) {
    if scan(reader, name).has_reference() {
        let message = "a reference cannot be the name of a member";
        let mut note = Note::error(Code::MalformedReference, key.place(), message);
        if reader.profile == Profile::Compat {
            note = note
                .label("the reader uses the string as text")
                .warn_if(true);
        }
        reader.note(note.help("use a tool to build the object, or write a name that is known"));
    }
}

/// Finds the references in a string.
fn scan<'t>(reader: &PlanReader, text: &'t str) -> Scan<'t> {
    (reader.rules.scan)(text, &|id| find(reader, id).is_some())
}

/// Returns `true` if a string contains references or malformed references.
pub(crate) fn refers(reader: &PlanReader, text: &str) -> bool {
    let scan = (text.len() <= reader.limits.string).then(|| scan(reader, text));
    scan.is_some_and(|scan| !scan.scan_errors.is_empty() || scan.has_reference())
}

/// Reads a string as the template with the index `at`.
pub(crate) fn string(reader: &mut PlanReader, node: JsonNode<'_>, at: usize) -> Option<Template> {
    let text = &reader.text(node, "a value")?;
    let mut scan = scan(reader, &text.value);
    // A string beyond its limit was scanned only in part.
    let mut scan_errors = scan.scan_errors.iter();
    let is_over = scan_errors.any(|scan_error| scan_error.code == Code::LimitPassed);
    let mut sound = is_over || foreign(reader, text, &scan);
    for scan_error in std::mem::take(&mut scan.scan_errors) {
        sound &= malformed(reader, text, scan_error);
    }
    let whole = scan.is_whole();
    let mut parts = Vec::new();
    for piece in scan.pieces {
        let written = match piece {
            Piece::Text(text) => {
                push_text(&mut parts, text.into_owned());
                continue;
            }
            Piece::Reference(written) => written,
        };
        let place = text.place(&written.range);
        if !super::counts::count_reference(reader, place.clone()) {
            return None;
        }
        let part = if whole { at } else { reader.place(place, None) };
        let value = match read(reader, text, &written) {
            Ok(reference) => Template::Reference(reference),
            Err(Unread::Stays) => {
                if !whole {
                    reader.here.spans.templates.truncate(part);
                }
                push_text(&mut parts, written.text.to_owned());
                continue;
            }
            Err(Unread::Broken) => {
                sound = false;
                reader.broken(part)
            }
        };
        if whole {
            return Some(value);
        }
        parts.push(Part::value(value, ""));
    }
    sound.then(|| match &mut parts[..] {
        [] => Template::String("".into()),
        [Part::Literal(text)] => Template::String(std::mem::take(text)),
        _ => {
            parts.shrink_to_fit();
            Template::Text(parts)
        }
    })
}

/// Reports a malformed reference. Returns `true` if it can stay literal.
fn malformed(reader: &mut PlanReader, text: &Text<'_>, scan_error: ScanError) -> bool {
    let place = text.place(&scan_error.range);
    let start = scan_error.range.start;
    let meant = if scan_error.is_general {
        meant(reader, text, start).or_else(|| similar_form(reader, text, start))
    } else {
        None
    };
    let help = match meant {
        Some(form) => {
            let literal = reader.rules.literal(&text.value[scan_error.range]);
            let help = format!("did you mean `{form}`? To keep the text, write `{literal}`");
            Some(help)
        }
        None => scan_error.help,
    };
    let stays = reader.profile == Profile::Compat && !scan_error.in_reference;
    let mut note = Note::error(scan_error.code, place, scan_error.message).warn_if(stays);
    if stays {
        note = note.label("the reader uses the string as text");
    }
    reader.note(note.help(help));
    stays
}

/// Adds a literal, which is joined with a literal before it.
fn push_text(parts: &mut Vec<Part>, text: String) {
    match parts.last_mut() {
        Some(Part::Literal(before)) => before.push_str(&text),
        _ => parts.push(Part::Literal(text)),
    }
}

/// The reason why a reference is not read.
enum Unread {
    /// The profile leaves it literal.
    Stays,
    /// The reference has an error, which has been reported.
    Broken,
}

/// Converts a reference to its source and its path.
fn read(
    reader: &mut PlanReader,
    text: &Text<'_>,
    written: &ScannedReference<'_>,
) -> Result<Reference, Unread> {
    let compat = reader.profile == Profile::Compat;
    if let Some(scan_error) = &written.compat_only {
        // The deployed resolver of action plans accepts a reference to an existing step without `.result`.
        let known = matches!(&written.target, Target::Id(id) if find(reader, id).is_some());
        // A path after an unknown name is no reference in any form, unless another language writes it so.
        let is_read = if known { compat } else { scan_error.is_general };
        if written.path.is_empty() || !is_read {
            return if malformed(reader, text, scan_error.clone()) {
                Err(Unread::Stays)
            } else {
                Err(Unread::Broken)
            };
        }
    }
    let place = text.place(&written.named);
    let found = match &written.target {
        Target::Input(name) => {
            let input = Source::Input(inputs::input(reader, name, place.clone()));
            seen_from(reader, 0, Reference::new(input), name, place)
        }
        Target::Index(index) => {
            let step = inputs::indexed(reader, *index, None, place.clone());
            step.and_then(|step| step_from(reader, text, step, place))
        }
        Target::Id(id) => match find(reader, id) {
            Some((level, reference)) => seen_from(reader, level, reference, id, place),
            None if compat && reader.rules.compat.unknown_step_may_be_text => {
                let message = format!("there is no step `{}`", short(id));
                let note = Note::warning(Code::UnknownStep, text.place(&written.range), message);
                reader.note(note.label("the reader uses the string as text"));
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
    let part = std::mem::replace(&mut reference.path, written.path.clone().into());
    if compat {
        (reader.rules.compat.allow_absence)(&mut reference, written);
    }
    let parts = part.len();
    reference.path = part.into_iter().chain(reference.path).collect();
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
        let help = format!("did you mean `{}`?", short(&meant));
        return reader.report(Code::UnknownStep, place, message, help);
    }
    let (mut note, has_similar) = unknown_id(reader, name, place);
    let rules = reader.rules;
    // `$ref:step[0].data` has the index of a step, and no id.
    let start = written.range.start;
    let mut form = meant(reader, text, start);
    if written.compat_only.is_some() {
        form = form.or_else(|| similar_form(reader, text, start));
    }
    if let Some(form) = form {
        let whole = text.place(&written.range);
        note = note.at(whole).help(format!("did you mean `{form}`?"));
    } else if rules.compat.unknown_step_may_be_text && !has_similar {
        let literal = rules.literal(written.text);
        let names = note.take_help();
        let names = names.map_or_else(String::new, |help| format!("{help}; "));
        note = note.help(format!(
            "{names}if this is not a reference, write `{literal}`"
        ));
    }
    reader.note(note);
}
