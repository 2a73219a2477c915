//! Templates of plan JSON, such as `{"object": {…}}`.

use crate::dynamic::dialects::reading::{
    Member, PlanReader, duplicate, is_reference, meant, unknown_beside, wrong_kind,
};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::json::names::{computed, part, template};
use crate::plan::{Computed, Entry, Key, Part, Template};
use crate::print::short;
use plan_graph::similar;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

impl PlanReader<'_> {
    pub(super) fn object_template(
        &mut self,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        let place = node.place();
        self.builder.count(1, place.clone());
        let at = self
            .builder
            .place(place.clone(), key.map(|key| key.place()));
        let template = self.template_at(node, at, depth);
        self.builder.spans.templates.close(at);
        template
    }

    /// Reads the template with the position `at`.
    fn template_at(&mut self, node: JsonNode<'_>, at: usize, depth: usize) -> Template {
        let place = node.place();
        match node.kind() {
            JsonType::Null => Template::Null,
            JsonType::Bool => Template::Bool(node.slice() == "true"),
            JsonType::Number => self.builder.number(node, at),
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

    fn wrapped(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Template> {
        let (name, value) = self.wrapper(node)?;
        match name {
            template::OBJECT => {
                let members = self.builder.members(value, "`object`")?.list;
                let mut entries = Vec::with_capacity(self.builder.room(members.len(), 1));
                for member in members {
                    if self.builder.is_over() {
                        return None;
                    }
                    entries.push(self.entry(member, depth));
                }
                Some(Template::Object(entries))
            }
            template::MERGE => {
                let mut entries = Vec::new();
                self.entries(name, value, depth, &mut entries, &mut HashMap::new())?;
                entries.shrink_to_fit();
                Some(Template::Object(entries))
            }
            template::REFERENCE => self.reference(value).map(Template::Reference),
            template::TEXT => {
                let parts = self.builder.scalars(value, "`text`", JsonType::String)?;
                let mut read = Vec::with_capacity(self.builder.room(parts.len(), 2));
                let count = parts.len();
                for part in parts {
                    // A part takes the memory of two values.
                    if !self.builder.count(2, part.place()) {
                        return None;
                    }
                    read.extend(self.part(part, depth));
                }
                (read.len() == count).then_some(Template::Text(read))
            }
            template::COMPUTED => self.computed(value).map(Template::Computed),
            _ => self.test(name, value, depth).map(Template::from),
        }
    }

    /// Returns the kind of template that an object is.
    fn wrapper<'a>(&mut self, node: JsonNode<'a>) -> Option<(&'static str, JsonNode<'a>)> {
        let members = self.builder.members(node, "a template")?.list;
        let known = |name: &str| template::ALL.iter().find(|known| **known == name).copied();
        if let [member] = &members[..] {
            if let Some(name) = known(&member.name) {
                return Some((name, member.value));
            }
            #[cfg(feature = "dynamic")]
            if let Some(reference) = self.reference_of_others(member) {
                let message = format!("`{}` is not a kind of template", short(&member.name));
                let note = Note::error(Code::UnknownMember, node.place(), message);
                return self.builder.error(note.help(reference));
            }
            let name = short(&member.name);
            let similar = || similar(&member.name, template::ALL.iter().copied());
            let other = || {
                Some(format!(
                    "did you mean `{}`?",
                    meant(&member.name).or_else(similar)?
                ))
            };
            let help = match as_it_is(member).or_else(other) {
                Some(help) => help,
                None => format!(
                    r#"an object with this member is `{{"object": {{"{name}": …}}}}`; the others are `{}`"#,
                    template::ALL[1..].join("`, `")
                ),
            };
            let message = format!("`{name}` is not a kind of template");
            let place = member.key.place();
            return self
                .builder
                .error(Note::error(Code::UnknownMember, place, message).help(help));
        }
        let (kinds, others): (Vec<_>, Vec<_>) = members
            .iter()
            .partition(|member| known(&member.name).is_some());
        if let ([kind], [other, ..]) = (&kinds[..], &others[..]) {
            return self.builder.error(unknown_beside("template", kind, other));
        }
        let kinds: Vec<&str> = kinds.iter().map(|member| &*member.name).collect();
        let message = match (&kinds[..], members.len()) {
            (_, 0) => {
                "an object without members does not say which kind of template it is".to_owned()
            }
            ([], _) => "an object does not say which kind of template it is".to_owned(),
            (kinds, _) => format!("a template is of one kind, not `{}`", kinds.join("` and `")),
        };
        let help = match (&kinds[..], members.len()) {
            (_, 0) => Some(r#"an empty object is `{"object": {}}`"#),
            ([], _) => Some(r#"an object is `{"object": {…}}`, with its members inside"#),
            _ => None,
        };
        let note = Note::error(Code::WrongKind, node.place(), message);
        self.builder.error(note.help(help.map(str::to_owned)))
    }

    /// Returns the help for `{"$ref": "mail.from"}`, which is a reference in other languages.
    #[cfg(feature = "dynamic")]
    fn reference_of_others(&self, member: &Member<'_>) -> Option<String> {
        if !is_reference(&member.name) || member.value.kind() != JsonType::String {
            return None;
        }
        let text = member.value.text().ok()?;
        let form = self.form_of_unmarked(&text)?;
        Some(format!("the reference is `{form}`"))
    }

    fn entry(&mut self, member: Member<'_>, depth: usize) -> Entry {
        let value = self.template(member.value, Some(member.key), depth + 1);
        let key = Key::Name(member.name.into_owned());
        Entry { key, value }
    }

    /// Reads the members of an object, or of the objects that are merged into one.
    fn entries<'a>(
        &mut self,
        kind: &str,
        node: JsonNode<'a>,
        depth: usize,
        entries: &mut Vec<Entry>,
        seen: &mut HashMap<Cow<'a, str>, JsonNode<'a>>,
    ) -> Option<()> {
        if kind == template::OBJECT {
            for member in self.builder.members(node, "`object`")?.list {
                if self.builder.is_over() {
                    return None;
                }
                if let Some(first) = seen.get(&member.name) {
                    let note = duplicate(&member.name, member.key, *first);
                    self.builder.note(note);
                    continue;
                }
                seen.insert(member.name.clone(), member.key);
                entries.push(self.entry(member, depth));
            }
            return Some(());
        }
        for part in self.builder.items(node, "`merge`")? {
            if !self.builder.count(1, part.place()) {
                return None;
            }
            let inner = match part.kind() {
                JsonType::Null => continue,
                JsonType::Object => part.members().take(2).collect(),
                _ => Vec::new(),
            };
            // Other kinds, and their errors, are those of any template.
            let is = |kind: &str| matches!(&inner[..], [(key, _)] if key.text().is_ok_and(|text| text.value == kind));
            let kind = [template::OBJECT, template::MERGE]
                .into_iter()
                .find(|kind| is(kind));
            if let (Some(kind), [(_, value)]) = (kind, &inner[..]) {
                if !self.builder.fits(depth + 1, part.place()) {
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
            // A string among the parts is literal by definition.
            let text = self.builder.text(node, "a part of a text")?;
            return Some(Part::Literal(text.value.into_owned()));
        }
        if node.kind() != JsonType::Object {
            let expected = "a string, or an object with a `value`";
            let note = wrong_kind(node, "a part of a text", expected);
            return self.builder.error(note);
        }
        let members = self.object(node, "a part of a text", part::ALL)?;
        let spec = self.text(&members, part::SPEC, "the format of a value");
        let Some(value) = members.get(part::VALUE) else {
            let message = "a part of a text has no `value`";
            return self.error(Code::MissingMember, node.place(), message);
        };
        let value = self.template(value, None, depth + 1);
        Some(Part::value(value, spec))
    }

    fn computed(&mut self, node: JsonNode<'_>) -> Option<Computed> {
        let members = self.object(node, "`computed`", computed::ALL)?;
        let written = self.required(
            &members,
            computed::WRITTEN,
            "a computed value",
            "the text of a computed value",
        );
        let Some(list) = members.given(computed::READS) else {
            let message = "a computed value has no `reads`";
            let note = Note::error(Code::MissingMember, node.place(), message);
            let help = "list the steps and inputs that it mentions, or write `[]`".to_owned();
            return self.builder.error(note.help(help));
        };
        let items = self.builder.items(list, "`reads`")?;
        let mut reads = Vec::with_capacity(self.builder.room(items.len(), 1));
        let count = items.len();
        for item in items {
            if !self.builder.count(1, item.place()) {
                return None;
            }
            reads.extend(self.read(item));
        }
        if reads.len() < count {
            return None;
        }
        Some(Computed::new(written?, reads))
    }

    /// Reads JSON without references.
    pub(super) fn plain(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Value> {
        let place = node.place();
        // The map of an object takes the room of several templates.
        let values = if node.kind() == JsonType::Object {
            8
        } else {
            1
        };
        if !self.builder.count(values, place.clone()) {
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
                for member in self.builder.members(node, "a value")?.list {
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
                let text = self.builder.text(node, "a value")?;
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

/// Returns the fix for `{"list": …}` and similar wrappers: the plain value.
fn as_it_is(member: &Member<'_>) -> Option<String> {
    let wrappers = [
        "list", "array", "string", "number", "boolean", "null", "literal", "value", "const",
    ];
    let is_wrapper = wrappers.contains(&&*member.name.to_ascii_lowercase());
    let text = on_one_line(member.value.slice());
    let text = text.filter(|_| is_wrapper && member.value.kind() != JsonType::Object)?;
    Some(format!("a value is written as it is: `{text}`"))
}
