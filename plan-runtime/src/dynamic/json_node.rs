//! JSON text, opened one level at a time. A node is a slice of the text, so it knows its place.

use super::invalid::Invalid;
pub(super) use super::source::{Source, Text};
pub(super) use crate::plan::json::JsonType;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A JSON value that is known to be well-formed, but for the surrogates in its strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonNode<'a>(&'a str);

impl<'a> JsonNode<'a> {
    /// The value that a text is.
    pub(super) fn of(text: &'a str) -> Result<Self, Invalid> {
        serde_json::from_str(text)
            .map(Self::raw)
            .map_err(|_| Invalid::of(text))
    }

    fn raw(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }

    pub(super) fn slice(self) -> &'a str {
        self.0
    }

    pub(super) fn kind(self) -> JsonType {
        JsonType::of(self.0)
    }

    /// The members of an object, in the order in which they are written. Other values have no members.
    pub(super) fn members(self) -> impl Iterator<Item = (JsonNode<'a>, JsonNode<'a>)> {
        let mut parts = Parts::of(self, JsonType::Object);
        std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
    }

    /// The elements of a list; none of anything else.
    pub(super) fn items(self) -> Vec<JsonNode<'a>> {
        // There may be nearly as many as the text has bytes, so the list has no room for more.
        let count = Parts::of(self, JsonType::List).count();
        let mut items = Vec::with_capacity(count);
        items.extend(Parts::of(self, JsonType::List));
        items
    }

    /// The same, one after the other.
    pub(super) fn each_item(self) -> impl Iterator<Item = JsonNode<'a>> {
        Parts::of(self, JsonType::List)
    }

    /// The text of a string.
    ///
    /// # Errors
    ///
    /// If the node is not a string, or has half of a surrogate pair alone.
    pub(super) fn text(self) -> serde_json::Result<Text<'a>> {
        let inner = self.0.get(1..self.0.len().saturating_sub(1));
        let value = match inner {
            Some(inner) if self.kind() == JsonType::String && !inner.contains('\\') => {
                Cow::Borrowed(inner)
            }
            _ => Cow::Owned(serde_json::from_str(self.0)?),
        };
        Ok(Text::new(value, self.0))
    }

    /// The value as serde reads it.
    pub(super) fn read<T: serde::Deserialize<'a>>(self) -> serde_json::Result<T> {
        serde_json::from_str(self.0)
    }
}

/// The values right inside a list or an object, names of members among them.
///
/// The text is known to be well-formed, so that only the end of each part is looked for. Reading it once more with serde_json
/// took ten times as long, and a part is gone over again for each level around it.
struct Parts<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parts<'a> {
    fn of(node: JsonNode<'a>, kind: JsonType) -> Self {
        let text = if node.kind() == kind { node.0 } else { "" };
        Self { text, at: 1 }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = JsonNode<'a>;

    fn next(&mut self) -> Option<JsonNode<'a>> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b':') = bytes.get(self.at) {
            self.at += 1;
        }
        let start = self.at;
        self.at = end(bytes, start);
        let part = self.text.get(start..self.at)?;
        (!part.is_empty()).then_some(JsonNode(part))
    }
}

/// Where the value ends that starts at `start`; `start` itself, if no value starts there.
fn end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    match rest.first() {
        Some(b'"') => string_end(bytes, start),
        Some(b'[' | b'{') => container_end(bytes, start),
        _ => {
            let ends =
                |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
            start + rest.iter().position(ends).unwrap_or(rest.len())
        }
    }
}

fn container_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Where the string ends that starts at `start`.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_string_is_found_behind_escapes() {
        let text = r#"{"a": "x\n\u00e9\ud83d\ude00é\"$ref:b\" \u0024 end"}"#;
        let (_, value) = JsonNode::of(text).unwrap().members().next().unwrap();
        let string = value.text().unwrap();
        let source = Source::document(text);
        for (part, raw) in [
            ("$ref:b", "$ref:b"),
            ("\n", r"\n"),
            ("\u{e9}", r"\u00e9"),
            ("😀", r"\ud83d\ude00"),
            ("$ end", r"\u0024 end"),
            ("\"", r#"\""#),
        ] {
            let start = string.value.find(part).unwrap();
            let range = source.place_in(&string, &(start..start + part.len()));
            assert_eq!(&text[range], raw);
        }
    }

    #[test]
    fn json_in_a_string_of_json_knows_its_place() {
        let text = r#"{"arguments": "{\"to\": \"\\u00e9 $ref:x\"}"}"#;
        let document = Source::document(text);
        let (_, value) = JsonNode::of(text).unwrap().members().next().unwrap();
        let string = value.text().unwrap();
        let inner = document.inside(&string);
        let (key, to) = JsonNode::of(inner.text())
            .unwrap()
            .members()
            .next()
            .unwrap();
        assert_eq!(&text[inner.place(key.slice())], r#"\"to\""#);
        let to = to.text().unwrap();
        let start = to.value.find("$ref").unwrap();
        let range = inner.place_in(&to, &(start..start + 6));
        assert_eq!(&text[range], "$ref:x");
    }

    #[test]
    fn half_a_pair_is_no_text() {
        assert!(JsonNode::of(r#""\ud800""#).unwrap().text().is_err());
        assert!(JsonNode::of(r#""\ud800x""#).unwrap().text().is_err());
    }
}
