//! Values with references in them.

use super::PlanBuilder;
use super::reference::Unread;
use crate::dynamic::Profile;
use crate::dynamic::dialects::references::{Piece, ScanError};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::{JsonNode, JsonType, Source, Text};
use crate::dynamic::spans::Span;
use crate::plan::json::number;
use crate::plan::{Entry, Key, Part, Template};
use crate::resolve::describe::short;
use std::ops::Range;

impl PlanBuilder {
    /// Whether a value inside `depth` lists and objects may be a list or an object itself. Otherwise it is an error.
    pub(in crate::dynamic) fn fits(&mut self, depth: usize, place: Range<usize>) -> bool {
        if depth < self.limits.depth {
            return true;
        }
        let message = format!(
            "lists and objects are nested more than {} levels deep",
            self.limits.depth
        );
        self.note(Note::error(Code::LimitPassed, place, message));
        false
    }

    /// A number, whose template is the one at `at`.
    pub(in crate::dynamic) fn number(
        &mut self,
        source: &Source<'_>,
        node: JsonNode<'_>,
        at: usize,
    ) -> Template {
        if let Some(number) = number(node.slice()) {
            return Template::Number(number);
        }
        let message = format!(
            "the number {} cannot be represented exactly",
            short(node.slice())
        );
        let help = "write it as a string, if the tool takes one".to_owned();
        let place = source.place(node.slice());
        self.note(Note::error(Code::InexactNumber, place, message).help(help));
        self.broken(at)
    }

    /// A value with references in it, as the dialect writes them.
    pub(in crate::dynamic) fn template(
        &mut self,
        source: &Source<'_>,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        let place = source.place(node.slice());
        self.count(1, place.clone());
        let at = self.place(place, key.map(|key| source.place(key.slice())));
        let template = self.value_at(source, node, at, depth);
        self.spans.templates.close(at);
        template
    }

    /// A value, whose template is the one at `at`.
    fn value_at(
        &mut self,
        source: &Source<'_>,
        node: JsonNode<'_>,
        at: usize,
        depth: usize,
    ) -> Template {
        let place = source.place(node.slice());
        if matches!(node.kind(), JsonType::List | JsonType::Object) && !self.fits(depth, place) {
            return self.broken(at);
        }
        match node.kind() {
            JsonType::Null => Template::Null,
            JsonType::Bool => Template::Bool(node.slice() == "true"),
            JsonType::Number => self.number(source, node, at),
            JsonType::String => match self.text(source, node, "a value") {
                Some(text) => self.string(source, &text, at),
                None => self.broken(at),
            },
            JsonType::List => {
                let mut items = Vec::with_capacity(self.room(node.each_item().count(), 1));
                for item in node.each_item() {
                    if self.is_over() {
                        return self.broken(at);
                    }
                    items.push(self.template(source, item, None, depth + 1));
                }
                Template::List(items)
            }
            JsonType::Object => Template::Object(self.entries(source, node, depth)),
        }
    }

    /// How many of `parts` parts need room, if each counts for `values` values. The others are not read.
    pub(in crate::dynamic) fn room(&self, parts: usize, values: usize) -> usize {
        let rest = self.most_values.saturating_sub(self.values);
        parts.min(rest / values + 1)
    }

    fn entries(&mut self, source: &Source<'_>, node: JsonNode<'_>, depth: usize) -> Vec<Entry> {
        let Some(members) = self.members(source, node, "a value") else {
            return Vec::new();
        };
        // A plan is kept for long, so it has no room for more than there is.
        let mut entries = Vec::with_capacity(self.room(members.0.len(), 1));
        for member in members.0 {
            if self.is_over() {
                break;
            }
            self.no_reference(source, member.key, &member.name);
            let value = self.template(source, member.value, Some(member.key), depth + 1);
            entries.push(Entry {
                key: Key::Name(member.name.into_owned()),
                value,
            });
        }
        entries
    }

    /// Reports a reference in the name of a member.
    fn no_reference(&mut self, source: &Source<'_>, key: JsonNode<'_>, name: &str) {
        let scan = self
            .dialect
            .rules()
            .scan(name, &|id| self.ids.contains_key(id));
        if scan
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Reference(_)))
        {
            let place = source.place(key.slice());
            let message = "a reference cannot be the name of a member";
            let note = match self.profile {
                Profile::Strict => Note::error(Code::MalformedReference, place, message),
                Profile::Compat => Note::warning(Code::MalformedReference, place, message)
                    .label("it is used as text"),
            };
            self.note(
                note.help(
                    "use a tool to build the object, or write a name that is known".to_owned(),
                ),
            );
        }
    }

    /// A string, whose template is the one at `at`.
    fn string(&mut self, source: &Source<'_>, text: &Text<'_>, at: usize) -> Template {
        let mut scan = self
            .dialect
            .rules()
            .scan(&text.value, &|id| self.ids.contains_key(id));
        // Of a string that is over its limit, the rest was not looked at.
        let is_over = scan
            .scan_errors
            .iter()
            .any(|scan_error| scan_error.code == Code::LimitPassed);
        let mut sound = is_over || self.foreign(source, text, &scan);
        for scan_error in std::mem::take(&mut scan.scan_errors) {
            sound &= self.malformed(source, text, scan_error);
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
            let place = source.place_in(text, &written.range);
            let part = if whole { at } else { self.place(place, None) };
            let value = match self.reference(source, text, &written) {
                Ok(reference) => Template::Reference(reference),
                Err(Unread::Stays) => {
                    if !whole {
                        self.spans.templates.truncate(part);
                    }
                    push_text(&mut parts, written.text.to_owned());
                    continue;
                }
                Err(Unread::Broken) => {
                    sound = false;
                    self.broken(part)
                }
            };
            if whole {
                return value;
            }
            parts.push(Part::Value {
                value,
                spec: "".into(),
                show: None,
            });
        }
        if !sound {
            return self.broken(at);
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

    /// Says what is flawed, and whether it can stay as text.
    pub(in crate::dynamic) fn malformed(
        &mut self,
        source: &Source<'_>,
        text: &Text<'_>,
        scan_error: ScanError,
    ) -> bool {
        let place = source.place_in(text, &scan_error.range);
        let start = scan_error.range.start;
        let meant = scan_error
            .is_general
            .then(|| self.meant(source, &text.value, start));
        let help = match meant.flatten() {
            Some(form) => {
                let literal = self
                    .dialect
                    .rules()
                    .literal(&text.value[scan_error.range.clone()]);
                Some(format!(
                    "did you mean `{form}`? To keep the text, write `{literal}`"
                ))
            }
            None => scan_error.help,
        };
        let stays = self.profile == Profile::Compat && !scan_error.in_reference;
        let note = if stays {
            Note::warning(scan_error.code, place, scan_error.message).label("it is used as text")
        } else {
            Note::error(scan_error.code, place, scan_error.message)
        };
        self.note(note.help(help));
        stays
    }

    /// Remembers where the next template is, whose parts come next.
    pub(in crate::dynamic) fn place(
        &mut self,
        value: Range<usize>,
        key: Option<Range<usize>>,
    ) -> usize {
        let key = key.map(Span::from);
        self.spans.templates.open(Span::from(value), key)
    }

    /// Null in place of the template whose parts would come next.
    pub(in crate::dynamic) fn broken(&mut self, at: usize) -> Template {
        self.spans.break_template(at);
        Template::Null
    }
}

/// Adds text, as part of the text before it.
fn push_text(parts: &mut Vec<Part>, text: String) {
    match parts.last_mut() {
        Some(Part::Literal(before)) => before.push_str(&text),
        _ => parts.push(Part::Literal(text)),
    }
}
