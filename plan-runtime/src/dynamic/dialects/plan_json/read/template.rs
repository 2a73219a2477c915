//! Templates of plan JSON, such as `{"object": {…}}`.

use super::reference::{read, reference};
use crate::dynamic::dialects::reading::{
    Member, PlanReader, duplicate, meant, test, unknown_beside, wrong_kind,
};
use crate::dynamic::finding::Code;
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::json::names::{computed, part, template};
use crate::plan::{Computed, Entry, Key, Part, Template};
use crate::print::short;
use plan_graph::similar;
use std::borrow::Cow;
use std::collections::HashMap;

/// Reads an object as a template.
pub(super) fn wrapped(
    reader: &mut PlanReader,
    node: JsonNode<'_>,
    depth: usize,
) -> Option<Template> {
    let (name, value) = wrapper(reader, node)?;
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

/// Returns the kind of template that an object is.
fn wrapper<'a>(
    reader: &mut PlanReader,
    node: JsonNode<'a>,
) -> Option<(&'static str, JsonNode<'a>)> {
    let members = reader.members(node, "a value")?.list;
    let known = |name: &str| template::ALL.iter().find(|known| **known == name).copied();
    if let [member] = &members[..] {
        if let Some(name) = known(&member.name) {
            return Some((name, member.value));
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
                r#"an object with this member is `{{"object": {{"{name}": …}}}}`; the members of a value are `{}`"#,
                template::ALL[1..].join("`, `")
            ),
        };
        let message = format!("`{name}` is not a kind of value");
        let place = member.key.place();
        return reader.fail(Code::UnknownMember, place, message, help);
    }
    let (kinds, others): (Vec<_>, Vec<_>) = members
        .iter()
        .partition(|member| known(&member.name).is_some());
    if let ([kind], [other, ..]) = (&kinds[..], &others[..]) {
        return reader.error(unknown_beside("value", kind, other));
    }
    let (message, help) = match (&kinds[..], members.len()) {
        (_, 0) => (
            "an object without members is not a value".to_owned(),
            Some(r#"an empty object is `{"object": {}}`"#),
        ),
        ([], _) => (
            "the object has no member with a kind of value".to_owned(),
            Some(r#"an object is `{"object": {…}}`, with its members inside"#),
        ),
        (kinds, _) => {
            let kinds: Vec<&str> = kinds.iter().map(|member| &*member.name).collect();
            let kinds = kinds.join("` and `");
            (format!("a value is of one kind, not `{kinds}`"), None)
        }
    };
    reader.fail(Code::WrongKind, node.place(), message, help)
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
