//! `{"object": {…}}` and its like.

use super::PlanReader;
use crate::dynamic::dialects::reading::{Member, duplicate, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::{JsonNode, JsonType};
use crate::plan::json::names;
use crate::plan::{Computed, Entry, Key, Part, Template};
use crate::resolve::describe::short;
use plan_graph::similar;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

impl PlanReader<'_> {
    pub(in crate::dynamic) fn template(
        &mut self,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        let place = self.place(node);
        self.builder.count(1, place.clone());
        let at = self
            .builder
            .place(place.clone(), key.map(|key| self.place(key)));
        let template = self.template_at(node, at, depth);
        self.builder.spans.templates.close(at);
        template
    }

    /// The template at `at`.
    fn template_at(&mut self, node: JsonNode<'_>, at: usize, depth: usize) -> Template {
        let place = self.place(node);
        match node.kind() {
            JsonType::Null => Template::Null,
            JsonType::Bool => Template::Bool(node.slice() == "true"),
            JsonType::Number => self.builder.number(&self.source, node, at),
            JsonType::String => match self.literal(node, "a value") {
                Some(text) => Template::String(text),
                None => self.builder.broken(at),
            },
            JsonType::List | JsonType::Object if !self.builder.fits(depth, place.clone()) => {
                self.builder.broken(at)
            }
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
            JsonType::Object => {
                let template = self.wrapped(node, depth);
                template.unwrap_or_else(|| self.builder.broken(at))
            }
        }
    }

    /// The template that is not there, or not to be read.
    pub(super) fn no_template(&mut self, place: Range<usize>) -> Template {
        let at = self.builder.place(place, None);
        self.builder.broken(at)
    }

    fn wrapped(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Template> {
        let (name, value) = self.wrapper(node)?;
        match name {
            names::template::OBJECT => {
                let members = self.builder.members(&self.source, value, "`object`")?.0;
                let mut entries = Vec::with_capacity(self.builder.room(members.len(), 1));
                for member in members {
                    if self.builder.is_over() {
                        return None;
                    }
                    entries.push(self.entry(member, depth));
                }
                Some(Template::Object(entries))
            }
            names::template::MERGE => {
                let mut entries = Vec::new();
                self.entries(name, value, depth, &mut entries, &mut HashMap::new())?;
                entries.shrink_to_fit();
                Some(Template::Object(entries))
            }
            names::template::REFERENCE => self.reference(value).map(Template::Reference),
            names::template::TEXT => {
                let parts = self.builder.items(&self.source, value, "`text`")?;
                let mut read = Vec::with_capacity(self.builder.room(parts.len(), 2));
                let count = parts.len();
                for part in parts {
                    // It takes the room of two.
                    self.builder.count(2, self.source.place(part.slice()));
                    if self.builder.is_over() {
                        return None;
                    }
                    read.extend(self.part(part, depth));
                }
                (read.len() == count).then_some(Template::Text(read))
            }
            _ => self.computed(value).map(Template::Computed),
        }
    }

    /// What kind of template an object is.
    fn wrapper<'a>(&mut self, node: JsonNode<'a>) -> Option<(&'static str, JsonNode<'a>)> {
        let members = self.builder.members(&self.source, node, "a template")?.0;
        let known = |name: &str| {
            names::template::ALL
                .iter()
                .find(|known| **known == name)
                .copied()
        };
        if let [member] = &members[..] {
            if let Some(name) = known(&member.name) {
                return Some((name, member.value));
            }
            let name = short(&member.name);
            let help = match similar(&member.name, names::template::ALL.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!(
                    r#"an object with this member is `{{"object": {{"{name}": …}}}}`; the others are `{}`"#,
                    names::template::ALL[1..].join("`, `")
                ),
            };
            let message = format!("`{name}` is not a kind of template");
            let place = self.place(member.key);
            return self
                .builder
                .error(Note::error(Code::UnknownMember, place, message).help(help));
        }
        let names = members.iter().map(|member| &*member.name);
        let kinds: Vec<&str> = names.filter_map(known).collect();
        let message = match (&kinds[..], members.len()) {
            (_, 0) => {
                "an object without members does not say which kind of template it is".to_owned()
            }
            ([], _) => "an object does not say which kind of template it is".to_owned(),
            ([kind], _) => format!("a template of the kind `{kind}` has no other members"),
            (kinds, _) => format!("a template is of one kind, not `{}`", kinds.join("` and `")),
        };
        let help = match (&kinds[..], members.len()) {
            (_, 0) => Some(r#"an empty object is `{"object": {}}`"#),
            ([], _) => Some(r#"an object is `{"object": {…}}`, with its members inside"#),
            _ => None,
        };
        let note = Note::error(Code::WrongKind, self.place(node), message);
        self.builder.error(note.help(help.map(str::to_owned)))
    }

    fn entry(&mut self, member: Member<'_>, depth: usize) -> Entry {
        let value = self.template(member.value, Some(member.key), depth + 1);
        let key = Key::Name(member.name.into_owned());
        Entry { key, value }
    }

    /// The members of an object, or of those that make up one.
    fn entries<'a>(
        &mut self,
        kind: &str,
        node: JsonNode<'a>,
        depth: usize,
        entries: &mut Vec<Entry>,
        seen: &mut HashMap<Cow<'a, str>, JsonNode<'a>>,
    ) -> Option<()> {
        if kind == names::template::OBJECT {
            for member in self.builder.members(&self.source, node, "`object`")?.0 {
                if self.builder.is_over() {
                    return None;
                }
                if let Some(first) = seen.get(&member.name) {
                    let note = duplicate(&self.source, &member.name, member.key, *first);
                    self.builder.note(note);
                    continue;
                }
                seen.insert(member.name.clone(), member.key);
                entries.push(self.entry(member, depth));
            }
            return Some(());
        }
        for part in self.builder.items(&self.source, node, "`merge`")? {
            self.builder.count(1, self.source.place(part.slice()));
            if self.builder.is_over() {
                return None;
            }
            let inner = match part.kind() {
                JsonType::Null => continue,
                JsonType::Object => part.members().take(2).collect(),
                _ => Vec::new(),
            };
            // Other kinds, and what is wrong with them, are those of any template.
            let is = |kind: &str| matches!(&inner[..], [(key, _)] if key.text().is_ok_and(|text| text.value == kind));
            let kind = [names::template::OBJECT, names::template::MERGE]
                .into_iter()
                .find(|kind| is(kind));
            if let (Some(kind), [(_, value)]) = (kind, &inner[..]) {
                if !self.builder.fits(depth + 1, self.place(part)) {
                    return None;
                }
                self.entries(kind, *value, depth + 1, entries, seen)?;
                continue;
            }
            let value = self.template(part, None, depth + 1);
            let key = Key::Flattened;
            entries.push(Entry { key, value });
        }
        Some(())
    }

    fn part(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Part> {
        if node.kind() == JsonType::String {
            // Whoever writes a text by its parts knows which of them are text.
            let text = self.builder.text(&self.source, node, "a part of a text")?;
            return Some(Part::Literal(text.value.into_owned()));
        }
        if node.kind() != JsonType::Object {
            let expected = "a string, or an object with a `value`";
            let note = wrong_kind(&self.source, node, "a part of a text", expected);
            return self.builder.error(note);
        }
        let members = self.object(node, "a part of a text", names::part::ALL)?;
        let spec = self.text(&members, names::part::SPEC, "the format of a value");
        let Some(value) = members.get(names::part::VALUE) else {
            let message = "a part of a text has no `value`";
            return self.error(Code::MissingMember, self.place(node), message);
        };
        let value = self.template(value, None, depth + 1);
        Some(Part::Value {
            value,
            spec,
            show: None,
        })
    }

    fn computed(&mut self, node: JsonNode<'_>) -> Option<Computed> {
        let members = self.object(node, "`computed`", names::computed::ALL)?;
        let written = self.required(
            &members,
            node,
            names::computed::WRITTEN,
            "a computed value",
            "the text of a computed value",
        );
        let Some(list) = members.given(names::computed::READS) else {
            let message = "a computed value has no `reads`";
            let note = Note::error(Code::MissingMember, self.place(node), message);
            let help = "list the steps and inputs that it mentions, or write `[]`".to_owned();
            return self.builder.error(note.help(help));
        };
        let items = self.builder.items(&self.source, list, "`reads`")?;
        let mut reads = Vec::with_capacity(self.builder.room(items.len(), 1));
        let count = items.len();
        for item in items {
            self.builder.count(1, self.source.place(item.slice()));
            if self.builder.is_over() {
                return None;
            }
            reads.extend(self.read(item));
        }
        if reads.len() < count {
            return None;
        }
        reads.sort_unstable();
        reads.dedup();
        Some(Computed {
            reads,
            written: written?.into(),
            compute: None,
        })
    }

    /// JSON without references.
    pub(super) fn plain(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Value> {
        let place = self.place(node);
        // The map of an object takes the room of several templates.
        let values = if node.kind() == JsonType::Object {
            8
        } else {
            1
        };
        self.builder.count(values, place.clone());
        if self.builder.is_over() {
            return None;
        }
        match node.kind() {
            JsonType::List | JsonType::Object if !self.builder.fits(depth, place.clone()) => None,
            JsonType::List => {
                let mut items = Vec::with_capacity(self.builder.room(node.each_item().count(), 1));
                let mut sound = true;
                for item in node.each_item() {
                    match self.plain(item, depth + 1) {
                        Some(item) => items.push(item),
                        None if self.builder.is_over() => return None,
                        None => sound = false,
                    }
                }
                sound.then_some(Value::Array(items))
            }
            JsonType::Object => {
                let (mut members, mut sound) = (serde_json::Map::new(), true);
                for member in self.builder.members(&self.source, node, "a value")?.0 {
                    match self.plain(member.value, depth + 1) {
                        Some(value) => {
                            members.insert(member.name.into_owned(), value);
                        }
                        None if self.builder.is_over() => return None,
                        None => sound = false,
                    }
                }
                sound.then_some(Value::Object(members))
            }
            JsonType::String => {
                let text = self.builder.text(&self.source, node, "a value")?;
                Some(text.value.into_owned().into())
            }
            JsonType::Null | JsonType::Bool | JsonType::Number => match node.read() {
                Ok(value) => Some(value),
                Err(_) => {
                    let message = format!("the number {} is out of range", short(node.slice()));
                    self.error(Code::InexactNumber, place, message)
                }
            },
        }
    }
}
