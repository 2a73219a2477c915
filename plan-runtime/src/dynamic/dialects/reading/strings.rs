//! Strings with references in them.

use super::PlanReader;
use super::foreign::{foreign, meant, similar_form};
use super::reference::{self, Unread, knows};
use crate::dynamic::Profile;
use crate::dynamic::dialects::references::{Piece, Scan, ScanError};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, Text};
use crate::plan::{Entry, Key, Part, Template};

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
            note = note.label("it is used as text").warn_if(true);
        }
        reader.note(note.help("use a tool to build the object, or write a name that is known"));
    }
}

/// Finds the references in a string.
pub(crate) fn scan<'t>(reader: &PlanReader, text: &'t str) -> Scan<'t> {
    (reader.dialect.rules().scan)(text, &|id| knows(reader, id))
}

/// Returns `true` if a string contains references or malformed references.
pub(crate) fn refers(reader: &PlanReader, text: &str) -> bool {
    let scan = scan(reader, text);
    !scan.scan_errors.is_empty() || scan.has_reference()
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
        let value = match reference::read(reader, text, &written) {
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
pub(crate) fn malformed(reader: &mut PlanReader, text: &Text<'_>, scan_error: ScanError) -> bool {
    let place = text.place(&scan_error.range);
    let start = scan_error.range.start;
    let meant = if scan_error.is_general {
        meant(reader, text, start).or_else(|| similar_form(reader, text, start))
    } else {
        None
    };
    let help = match meant {
        Some(form) => {
            let literal = (reader.dialect.rules().literal)(&text.value[scan_error.range]);
            let help = format!("did you mean `{form}`? To keep the text, write `{literal}`");
            Some(help)
        }
        None => scan_error.help,
    };
    let stays = reader.profile == Profile::Compat && !scan_error.in_reference;
    let mut note = Note::error(scan_error.code, place, scan_error.message).warn_if(stays);
    if stays {
        note = note.label("it is used as text");
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
