//! Values with references in them.

use super::PlanReader;
use super::reference::Unread;
use crate::dynamic::Profile;
use crate::dynamic::dialects::references::{Piece, Scan, ScanError};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, Text};
use crate::plan::{Entry, Key, Part, Template};

impl PlanReader<'_> {
    /// Reads a value that may contain references in strings.
    pub(super) fn string_template(
        &mut self,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        let place = node.place();
        self.builder.count(1, place.clone());
        let at = self.builder.place(place, key.map(|key| key.place()));
        let template = self.value_at(node, at, depth);
        self.builder.spans.templates.close(at);
        template
    }

    /// Reads a value as the template with the index `at`.
    fn value_at(&mut self, node: JsonNode<'_>, at: usize, depth: usize) -> Template {
        let place = node.place();
        if matches!(node.kind(), JsonType::List | JsonType::Object)
            && !self.builder.fits(depth, place)
        {
            return self.builder.broken(at);
        }
        match node.kind() {
            JsonType::Null => Template::Null,
            JsonType::Bool => Template::Bool(node.slice() == "true"),
            JsonType::Number => self.builder.number(node, at),
            JsonType::String => match self.builder.text(node, "a value") {
                Some(text) => self.string(&text, at),
                None => self.builder.broken(at),
            },
            JsonType::List => {
                let mut items = Vec::with_capacity(self.builder.room(node.each_item().count(), 1));
                for item in node.each_item() {
                    if self.builder.is_over() {
                        return self.builder.broken(at);
                    }
                    items.push(self.template(item, None, depth + 1));
                }
                Template::List(items)
            }
            JsonType::Object => Template::Object(self.string_entries(node, depth)),
        }
    }

    fn string_entries(&mut self, node: JsonNode<'_>, depth: usize) -> Vec<Entry> {
        let Some(members) = self.builder.members(node, "a value") else {
            return Vec::new();
        };
        // The capacity is exact, since a plan stays in memory for a long time.
        let mut entries = Vec::with_capacity(self.builder.room(members.list.len(), 1));
        for member in members.list {
            if self.builder.is_over() {
                break;
            }
            self.no_reference(member.key, &member.name);
            let value = self.template(member.value, Some(member.key), depth + 1);
            entries.push(Entry {
                key: Key::Name(member.name.into_owned()),
                value,
            });
        }
        entries
    }

    /// Reports a reference in the name of a member.
    fn no_reference(&mut self, key: JsonNode<'_>, name: &str) {
        if self.scan(name).has_reference() {
            let place = key.place();
            let message = "a reference cannot be the name of a member";
            let note = match self.builder.profile {
                Profile::Strict | Profile::Typed => {
                    Note::error(Code::MalformedReference, place, message)
                }
                Profile::Compat => Note::warning(Code::MalformedReference, place, message)
                    .label("it is used as text"),
            };
            self.builder.note(
                note.help(
                    "use a tool to build the object, or write a name that is known".to_owned(),
                ),
            );
        }
    }

    /// Finds the references in a string.
    pub(super) fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        (self.builder.dialect.rules().scan)(text, &|id| self.knows(id))
    }

    /// Returns `true` if a string contains references or malformed references.
    pub(super) fn refers(&self, text: &str) -> bool {
        let scan = self.scan(text);
        !scan.scan_errors.is_empty() || scan.has_reference()
    }

    /// Reads a string as the template with the index `at`.
    fn string(&mut self, text: &Text<'_>, at: usize) -> Template {
        let mut scan = self.scan(&text.value);
        // A string beyond its limit was scanned only in part.
        let is_over = scan
            .scan_errors
            .iter()
            .any(|scan_error| scan_error.code == Code::LimitPassed);
        let mut sound = is_over || self.foreign(text, &scan);
        for scan_error in std::mem::take(&mut scan.scan_errors) {
            sound &= self.malformed(text, scan_error);
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
            if !self.builder.count_reference(place.clone()) {
                sound = false;
                break;
            }
            let part = if whole {
                at
            } else {
                self.builder.place(place, None)
            };
            let value = match self.string_reference(text, &written) {
                Ok(reference) => Template::Reference(reference),
                Err(Unread::Stays) => {
                    if !whole {
                        self.builder.spans.templates.truncate(part);
                    }
                    push_text(&mut parts, written.text.to_owned());
                    continue;
                }
                Err(Unread::Broken) => {
                    sound = false;
                    self.builder.broken(part)
                }
            };
            if whole {
                return value;
            }
            parts.push(Part::value(value, ""));
        }
        if !sound {
            return self.builder.broken(at);
        }
        match &mut parts[..] {
            [] => Template::String("".into()),
            [Part::Literal(text)] => Template::String(std::mem::take(text)),
            _ => {
                parts.shrink_to_fit();
                Template::Text(parts)
            }
        }
    }

    /// Reports a malformed reference. Returns `true` if it can stay literal.
    pub(crate) fn malformed(&mut self, text: &Text<'_>, scan_error: ScanError) -> bool {
        let place = text.place(&scan_error.range);
        let start = scan_error.range.start;
        let meant = if scan_error.is_general {
            let meant = self.meant(text, start);
            meant.or_else(|| self.similar(text, start))
        } else {
            None
        };
        let help = match meant {
            Some(form) => {
                let literal =
                    (self.builder.dialect.rules().literal)(&text.value[scan_error.range.clone()]);
                Some(format!(
                    "did you mean `{form}`? To keep the text, write `{literal}`"
                ))
            }
            None => scan_error.help,
        };
        let stays = self.builder.profile == Profile::Compat && !scan_error.in_reference;
        let note = if stays {
            Note::warning(scan_error.code, place, scan_error.message).label("it is used as text")
        } else {
            Note::error(scan_error.code, place, scan_error.message)
        };
        self.builder.note(note.help(help));
        stays
    }
}

/// Adds a literal, which is joined with a literal before it.
fn push_text(parts: &mut Vec<Part>, text: String) {
    match parts.last_mut() {
        Some(Part::Literal(before)) => before.push_str(&text),
        _ => parts.push(Part::Literal(text)),
    }
}
