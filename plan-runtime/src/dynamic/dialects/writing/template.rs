//! Templates as JSON of a dialect.

use super::Writer;
use super::json::{Json, Members};
use super::strings::Piece;
use crate::dynamic::dialects::references::Places;
use crate::plan::{Key, Number, Part, Template, push_key};
use std::collections::HashSet;
use std::fmt::Write;

impl<'p> Writer<'p> {
    /// A template that is [plain](Template::plain).
    pub(in crate::dynamic) fn template(
        &mut self,
        path: &mut String,
        template: &Template,
    ) -> Json<'p> {
        match template {
            Template::Null => Json::Null,
            Template::Bool(value) => Json::Bool(*value),
            Template::Number(Number::Float(value)) if !value.is_finite() => {
                self.lack(self.at(path), format!("the number {value}"));
                Json::Null
            }
            Template::Number(value) => Json::Number(*value),
            Template::String(text) => self.string(path, &[Piece::Text(text)]),
            Template::List(items) => {
                let length = path.len();
                let mut written = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let _ = write!(path, "[{index}]");
                    written.push(self.template(path, item));
                    path.truncate(length);
                }
                Json::List(written)
            }
            Template::Object(entries) => {
                let length = path.len();
                let mut members = Members::default();
                let mut seen = HashSet::new();
                for entry in entries {
                    let Key::Name(name) = &entry.key else {
                        self.lack(
                            self.at(path),
                            format!("the members of `{}` among its own members", entry.value),
                        );
                        continue;
                    };
                    push_key(path, name);
                    if !seen.insert(name) {
                        self.lack(self.at(path), "a member that is there more than once");
                    }
                    self.name(path, name);
                    let value = self.template(path, &entry.value);
                    members.add(name.clone().into_owned(), value);
                    path.truncate(length);
                }
                Json::Object(members)
            }
            Template::Reference(reference) => self.string(path, &[Piece::Reference(reference)]),
            Template::Text(parts) => self.text(path, parts),
            Template::Computed(computed) => {
                self.lack(
                    self.at(path),
                    format!("the computed value `{}`", computed.written),
                );
                Json::Null
            }
            // A plain template has none.
            Template::Tagged(..) => Json::Null,
        }
    }

    fn text(&mut self, path: &str, parts: &[Part]) -> Json<'p> {
        if self.dialect.rules().places() != Places::Anywhere {
            self.lack(self.at(path), "a text with values in it");
            return Json::Null;
        }
        let lacks = self.lacks.len();
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Literal(text) => pieces.push(Piece::Text(text)),
                Part::Value { value, spec, .. } => {
                    if !spec.is_empty() {
                        self.lack(self.at(path), format!("the format `{{:{spec}}}` in a text"));
                    }
                    match value {
                        Template::Reference(reference) => pieces.push(Piece::Reference(reference)),
                        other => {
                            self.lack(self.at(path), format!("the value `{other}` in a text"));
                        }
                    }
                }
            }
        }
        if let [Piece::Reference(_)] = pieces[..] {
            // Alone, the reference would keep its type.
            pieces.push(Piece::Text(""));
        }
        if self.lacks.len() == lacks {
            self.string(path, &pieces)
        } else {
            Json::Null
        }
    }
}
