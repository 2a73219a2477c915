//! Templates as JSON of a dialect.

use super::Writer;
use super::json::{OutputJson, OutputMembers};
use super::strings::TextPiece;
use crate::dynamic::dialects::references::Places;
use crate::plan::{Key, Number, Part, Template, push_key};
use std::collections::HashSet;
use std::fmt::Write;

impl<'p> Writer<'p> {
    /// Writes a [plain](Template::plain) template.
    pub(crate) fn template(&mut self, path: &mut String, template: &Template) -> OutputJson<'p> {
        match template {
            Template::Null => OutputJson::Null,
            Template::Bool(value) => OutputJson::Bool(*value),
            Template::Number(Number::Float(value)) if !value.is_finite() => {
                self.cannot_express(self.at(path), format!("the number {value}"));
                OutputJson::Null
            }
            Template::Number(value) => OutputJson::Number(*value),
            Template::String(text) => self.string(path, &[TextPiece::Text(text)]),
            Template::List(items) => {
                let length = path.len();
                let mut written = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let _ = write!(path, "[{index}]");
                    written.push(self.template(path, item));
                    path.truncate(length);
                }
                OutputJson::List(written)
            }
            Template::Object(entries) => {
                let length = path.len();
                let mut members = OutputMembers::default();
                let mut seen = HashSet::new();
                for entry in entries {
                    let Key::Name(name) = &entry.key else {
                        self.cannot_express(
                            self.at(path),
                            format!("the members of `{}` among its own members", entry.value),
                        );
                        continue;
                    };
                    push_key(path, name);
                    if !seen.insert(name) {
                        self.cannot_express(self.at(path), "a member that is there more than once");
                    }
                    self.name(path, name);
                    let value = self.template(path, &entry.value);
                    members.add(name.clone(), value);
                    path.truncate(length);
                }
                OutputJson::Object(members)
            }
            Template::Reference(reference) => self.string(path, &[TextPiece::Reference(reference)]),
            Template::Text(parts) => self.text(path, parts),
            Template::Computed(computed) => {
                self.cannot_express(
                    self.at(path),
                    format!("the computed value `{}`", computed.written()),
                );
                OutputJson::Null
            }
            Template::Test(_) => {
                self.cannot_express(self.at(path), format!("the test `{template}`"));
                OutputJson::Null
            }
            // A plain template has no tags.
            Template::Tagged(..) => OutputJson::Null,
        }
    }

    fn text(&mut self, path: &str, parts: &[Part]) -> OutputJson<'p> {
        if self.dialect.rules().places != Places::Anywhere {
            self.cannot_express(self.at(path), "a text with values in it");
            return OutputJson::Null;
        }
        let unsupported = self.unsupported.len();
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Literal(text) => pieces.push(TextPiece::Text(text)),
                Part::Value { value, spec, .. } => {
                    if !spec.is_empty() {
                        self.cannot_express(
                            self.at(path),
                            format!("the format `{{:{spec}}}` in a text"),
                        );
                    }
                    match value {
                        Template::Reference(reference) => {
                            pieces.push(TextPiece::Reference(reference));
                        }
                        other => {
                            self.cannot_express(
                                self.at(path),
                                format!("the value `{other}` in a text"),
                            );
                        }
                    }
                }
            }
        }
        if let [TextPiece::Reference(_)] = pieces[..] {
            // A reference without a string beside it would keep its type.
            pieces.push(TextPiece::Text(""));
        }
        if self.unsupported.len() == unsupported {
            self.string(path, &pieces)
        } else {
            OutputJson::Null
        }
    }
}
