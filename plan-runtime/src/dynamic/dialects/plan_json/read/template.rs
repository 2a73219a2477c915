//! Templates of plan JSON, such as `{"object": {…}}`.

use super::reference::{read, reference};
use crate::dynamic::dialects::reading::{
    Member, PlanReader, duplicate, kind_of, similar_kind, test, wrong_kind,
};
use crate::dynamic::finding::Code;
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::json::names::{computed, part, template};
use crate::plan::{Computed, Entry, Key, Part, Template};
use crate::print::short;
use std::borrow::Cow;
use std::collections::HashMap;

/// Reads an object as a template.
pub(super) fn wrapped(
    reader: &mut PlanReader,
    node: JsonNode<'_>,
    depth: usize,
) -> Option<Template> {
    let help = |member: Option<&Member<'_>>| {
        let Some(member) = member else {
            return r#"its member is the kind of the value: an object is `{"object": {…}}`, with its members inside"#.to_owned();
        };
        let similar = || similar_kind(&member.name, template::ALL);
        as_it_is(member).or_else(similar).unwrap_or_else(|| {
            format!(
                r#"an object with this member is `{{"object": {{"{}": …}}}}`; the members of a value are `{}`"#,
                short(&member.name),
                template::ALL[1..].join("`, `")
            )
        })
    };
    let (name, value) = kind_of(reader, node, ("value", template::ALL), &help)?;
    match name {
        template::OBJECT | template::MERGE => {
            let mut list = Vec::new();
            entries(reader, name, value, depth, &mut list, &mut HashMap::new())?;
            list.shrink_to_fit();
            Some(Template::Object(list))
        }
        template::REFERENCE => reference(reader, value).map(Template::Reference),
        template::TEXT => {
            let parts = reader.scalars(value, "`text`", JsonType::String)?;
            let count = parts.len();
            // A part takes the memory of two values.
            let read = reader.each(parts, 2, |it, node| part(it, node, depth));
            (read.len() == count).then_some(Template::Text(read))
        }
        template::COMPUTED => computed(reader, value).map(Template::Computed),
        _ => test(reader, name, value, depth).map(Template::from),
    }
}

/// Reads the members of an object, or of the objects that are merged into one.
fn entries<'a>(
    reader: &mut PlanReader,
    kind: &str,
    node: JsonNode<'a>,
    depth: usize,
    list: &mut Vec<Entry>,
    seen: &mut HashMap<Cow<'a, str>, JsonNode<'a>>,
) -> Option<()> {
    if kind == template::OBJECT {
        for member in reader.members(node, "`object`")?.list {
            if reader.is_over() {
                return None;
            }
            if let Some(first) = seen.get(&member.name) {
                reader.note(duplicate(&member.name, member.key, *first));
                continue;
            }
            seen.insert(member.name.clone(), member.key);
            let value = reader.template(member.value, Some(member.key), depth + 1);
            list.push(Entry::new(Key::Name(member.name.into_owned()), value));
        }
        return Some(());
    }
    for part in reader.items(node, "`merge`")? {
        if !reader.count(1, part.place()) {
            return None;
        }
        let inner: Vec<_> = match part.kind() {
            JsonType::Null => continue,
            JsonType::Object => part.members().take(2).collect(),
            _ => Vec::new(),
        };
        // Other kinds, and their errors, are those of any template.
        if let [(key, value)] = &inner[..]
            && let Ok(kind) = key.text()
            && [template::OBJECT, template::MERGE].contains(&&*kind.value)
        {
            if !reader.fits(depth + 1, part.place()) {
                return None;
            }
            entries(reader, &kind.value, *value, depth + 1, list, seen)?;
            continue;
        }
        let value = reader.template(part, None, depth + 1);
        list.push(Entry::new(Key::Flattened, value));
    }
    Some(())
}

fn part(reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Option<Part> {
    if node.kind() == JsonType::String {
        // A string among the parts is literal by definition.
        let text = reader.text(node, "a part of a text")?;
        return Some(Part::Literal(text.value.into_owned()));
    }
    if node.kind() != JsonType::Object {
        let expected = "a string, or an object with a `value`";
        return reader.error(wrong_kind(node, "a part of a text", expected));
    }
    let members = reader.object(node, "a part of a text", part::ALL)?;
    let spec = reader.optional_text(&members, part::SPEC, "`spec`");
    let Some(value) = members.get(part::VALUE) else {
        let message = "a part of a text has no `value`";
        return reader.fail(Code::MissingMember, node.place(), message, ());
    };
    let value = reader.template(value, None, depth + 1);
    Some(Part::value(value, spec))
}

fn computed(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Computed> {
    let members = reader.object(node, "`computed`", computed::ALL)?;
    let (owner, what) = ("a computed value", "the text of a computed value");
    let written = reader.required(&members, computed::WRITTEN, owner, what);
    let Some(list) = members.given(computed::READS) else {
        let message = "a computed value has no `reads`";
        let help = "list the steps and inputs of the computed value, or write `[]`";
        return reader.fail(Code::MissingMember, node.place(), message, help);
    };
    let items = reader.items(list, "`reads`")?;
    let count = items.len();
    let reads = reader.each(items, 1, read);
    (reads.len() == count).then_some(Computed::new(written?, reads))
}

/// Returns the fix for `{"list": …}` and similar wrappers: the plain value.
fn as_it_is(member: &Member<'_>) -> Option<String> {
    let wrappers = [
        "list", "array", "string", "number", "boolean", "null", "literal", "value", "const",
    ];
    let is_wrapper = wrappers.contains(&&*member.name.to_ascii_lowercase());
    let text = on_one_line(member.value.slice());
    let text = text.filter(|_| is_wrapper && member.value.kind() != JsonType::Object)?;
    Some(format!("write the value without an object: `{text}`"))
}
