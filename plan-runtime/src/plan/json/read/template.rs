//! `{"object": {…}}` and its like.

use super::FirstMistakeReader;
use crate::plan::json::JsonType;
use crate::plan::json::names;
use crate::plan::json::value::{Result, Value, WithPlace, wrong};
use crate::plan::json::{DEEPEST, number};
use crate::plan::{Computed, Entry, Key, Part, Template};
use crate::print::short;
use std::collections::HashSet;

impl FirstMistakeReader {
    pub(super) fn template(&mut self, value: Value<'_>, depth: usize) -> Result<Template> {
        match value.kind() {
            JsonType::Null => Ok(Template::Null),
            JsonType::Bool => Ok(Template::Bool(value.text() == "true")),
            JsonType::Number => match number(value.text()) {
                Some(number) => Ok(Template::Number(number)),
                None => wrong("the number cannot be represented exactly"),
            },
            JsonType::String => Ok(Template::String(value.string("a value")?)),
            JsonType::List => {
                fits(depth)?;
                let mut items = Vec::new();
                for (index, item) in value.items("a list")?.into_iter().enumerate() {
                    items.push(self.template(item, depth + 1).at(index)?);
                }
                Ok(Template::List(items))
            }
            JsonType::Object => {
                fits(depth)?;
                let members = value.members("a template")?;
                let [(kind, value)] = &members.0[..] else {
                    return wrong("an object does not say which kind of template it is");
                };
                self.wrapped(kind, *value, depth).at(kind)
            }
        }
    }

    fn wrapped(&mut self, kind: &str, value: Value<'_>, depth: usize) -> Result<Template> {
        match kind {
            names::template::OBJECT | names::template::MERGE => {
                let mut entries = Vec::new();
                self.entries(kind, value, depth, &mut entries, &mut HashSet::new())?;
                Ok(Template::Object(entries))
            }
            names::template::REFERENCE => self.reference(value).map(Template::Reference),
            names::template::TEXT => {
                let mut parts = Vec::new();
                for (index, part) in value.items("`text`")?.into_iter().enumerate() {
                    parts.push(self.part(part, depth).at(index)?);
                }
                Ok(Template::Text(parts))
            }
            names::template::COMPUTED => self.computed(value).map(Template::Computed),
            _ => wrong(format!("`{}` is not a kind of template", short(kind))),
        }
    }

    /// The members of an object, or of those that make up one.
    fn entries(
        &mut self,
        kind: &str,
        value: Value<'_>,
        depth: usize,
        entries: &mut Vec<Entry>,
        seen: &mut HashSet<String>,
    ) -> Result<()> {
        if kind == names::template::OBJECT {
            for (name, value) in value.members("`object`")?.0 {
                if !seen.insert(name.clone()) {
                    return wrong(format!("duplicate member `{}`", short(&name)));
                }
                let value = self.template(value, depth + 1).at(&name)?;
                let key = Key::Name(name);
                entries.push(Entry { key, value });
            }
            return Ok(());
        }
        for (index, part) in value.items("`merge`")?.into_iter().enumerate() {
            if part.kind() == JsonType::Null {
                continue;
            }
            // Other kinds, and what is wrong with them, are those of any template.
            if part.kind() == JsonType::Object
                && let [(kind, value)] = &part.members("a template").at(index)?.0[..]
                && matches!(
                    kind.as_str(),
                    names::template::OBJECT | names::template::MERGE
                )
            {
                fits(depth + 1).at(index)?;
                let read = self.entries(kind, *value, depth + 1, entries, seen);
                read.at(kind).at(index)?;
                continue;
            }
            let value = self.template(part, depth + 1).at(index)?;
            let key = Key::Flattened;
            entries.push(Entry { key, value });
        }
        Ok(())
    }

    fn part(&mut self, value: Value<'_>, depth: usize) -> Result<Part> {
        if value.kind() == JsonType::String {
            return Ok(Part::Literal(value.string("a part of a text")?));
        }
        let members = value.object("a part of a text", names::part::ALL)?;
        let spec = members.string(names::part::SPEC)?;
        let Some(value) = members.get(names::part::VALUE) else {
            return wrong("a part of a text has no `value`");
        };
        Ok(Part::Value {
            value: self.template(value, depth + 1).at(names::part::VALUE)?,
            spec,
            show: None,
        })
    }

    fn computed(&mut self, value: Value<'_>) -> Result<Computed> {
        let members = value.object("`computed`", names::computed::ALL)?;
        let written = members.required(names::computed::WRITTEN, "a computed value")?;
        let written = written.string("`written`").at(names::computed::WRITTEN)?;
        let list = members.required(names::computed::READS, "a computed value")?;
        let mut reads = Vec::new();
        for (index, value) in list
            .items("`reads`")
            .at(names::computed::READS)?
            .into_iter()
            .enumerate()
        {
            reads.push(self.read(value).at(index).at(names::computed::READS)?);
        }
        reads.sort_unstable();
        reads.dedup();
        Ok(Computed {
            reads,
            written: written.into(),
            compute: None,
        })
    }
}

/// JSON without references.
pub(super) fn plain(value: Value<'_>, depth: usize) -> Result<serde_json::Value> {
    match value.kind() {
        JsonType::List => {
            fits(depth)?;
            let items = value.items("a list")?.into_iter().enumerate();
            let items = items.map(|(index, item)| plain(item, depth + 1).at(index));
            items.collect::<Result<_>>().map(serde_json::Value::Array)
        }
        JsonType::Object => {
            fits(depth)?;
            let members = value.members("an object")?.0.into_iter();
            let members = members.map(|(name, value)| {
                let value = plain(value, depth + 1).at(&name)?;
                Ok((name, value))
            });
            members
                .collect::<Result<_>>()
                .map(serde_json::Value::Object)
        }
        JsonType::Null | JsonType::Bool | JsonType::Number | JsonType::String => {
            value.read("a value", "one that can be held")
        }
    }
}

fn fits(depth: usize) -> Result<()> {
    if depth < DEEPEST {
        return Ok(());
    }
    wrong(format!(
        "lists and objects are nested more than {DEEPEST} levels deep"
    ))
}
