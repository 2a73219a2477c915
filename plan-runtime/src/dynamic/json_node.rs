//! JSON text, opened one level at a time. A node is a slice of the document, so its address is its position.

use super::containers::{Containers, scalar_end};
pub(super) use super::source::{Source, Text};
pub(super) use crate::plan::json::JsonType;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// A well-formed JSON value, except for the surrogates in its strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonNode<'a> {
    slice: &'a str,
    source: &'a Source<'a>,
}

impl<'a> JsonNode<'a> {
    /// Returns the value in a part of a document.
    pub(super) fn of(part: &'a str, source: &'a Source<'a>) -> serde_json::Result<Self> {
        let slice = serde_json::from_str::<&RawValue>(part)?.get();
        Ok(Self { slice, source })
    }

    /// Returns the position in the document.
    pub(super) fn place(self) -> Range<usize> {
        self.source.place(self.slice)
    }

    pub(super) fn slice(self) -> &'a str {
        self.slice
    }

    pub(super) fn kind(self) -> JsonType {
        JsonType::of(self.slice)
    }

    /// Returns the members of an object, in the order of the document. Other values have no members.
    pub(super) fn members(self) -> impl Iterator<Item = (JsonNode<'a>, JsonNode<'a>)> {
        let mut parts = Parts::of(self, JsonType::Object);
        std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
    }

    /// Returns the elements of a list, and no elements for other values.
    pub(super) fn items(self) -> Vec<JsonNode<'a>> {
        // The list may have nearly as many elements as the text has bytes, so its capacity is exact.
        let count = Parts::of(self, JsonType::List).count();
        let mut items = Vec::with_capacity(count);
        items.extend(Parts::of(self, JsonType::List));
        items
    }

    /// Returns an iterator over the elements of a list.
    pub(super) fn each_item(self) -> impl Iterator<Item = JsonNode<'a>> {
        Parts::of(self, JsonType::List)
    }

    /// Returns the content of a string.
    ///
    /// # Errors
    ///
    /// Returns an error if the node is not a string, or contains an unpaired surrogate.
    pub(super) fn text(self) -> serde_json::Result<Text<'a>> {
        let inner = self.slice.get(1..self.slice.len().saturating_sub(1));
        let value = match inner {
            Some(inner) if self.kind() == JsonType::String && !inner.contains('\\') => {
                Cow::Borrowed(inner)
            }
            _ => Cow::Owned(serde_json::from_str(self.slice)?),
        };
        Ok(Text::new(value, self.slice, self.source))
    }

    /// Deserializes the value.
    pub(super) fn read<T: serde::Deserialize<'a>>(self) -> serde_json::Result<T> {
        serde_json::from_str(self.slice)
    }
}

/// The values right inside a list or an object, names of members among them.
///
/// The iterator only searches the end of each part, since the source is well-formed. A second pass with serde_json took
/// ten times as long.
struct Parts<'a> {
    text: &'a str,
    /// The ends of the containers in the text.
    containers: &'a Containers,
    /// The start of the text in the source.
    start: usize,
    source: &'a Source<'a>,
    at: usize,
}

impl<'a> Parts<'a> {
    fn of(node: JsonNode<'a>, kind: JsonType) -> Self {
        let start = node.source.start(node.slice);
        let containers = node
            .source
            .containers
            .get_or_init(|| Containers::of(node.slice, start));
        Self {
            text: if node.kind() == kind { node.slice } else { "" },
            containers,
            start,
            source: node.source,
            at: 1,
        }
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
        self.at = match bytes.get(start) {
            Some(b'[' | b'{') => self.containers.end(start, self.start),
            _ => scalar_end(bytes, start),
        };
        let (slice, source) = (self.text.get(start..self.at)?, self.source);
        (!slice.is_empty()).then_some(JsonNode { slice, source })
    }
}

/// The largest size in bytes of a part of a document in a message.
const MOST_REPEATED: usize = 600;

/// Returns a part of the document on one line, if it is short enough to be repeated in a message.
pub(super) fn on_one_line(json: &str) -> Option<String> {
    if json.len() > 4 * MOST_REPEATED {
        return None;
    }
    let text = one_line(json);
    (text.len() <= MOST_REPEATED).then_some(text)
}

/// Writes JSON on one line.
pub(super) fn one_line(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut in_string, mut is_escaped) = (false, false);
    for c in json.chars() {
        if !in_string && matches!(c, ' ' | '\n' | '\r' | '\t') {
            continue;
        }
        text.push(c);
        if !in_string && matches!(c, ',' | ':') {
            text.push(' ');
        }
        in_string ^= c == '"' && !is_escaped;
        is_escaped = in_string && c == '\\' && !is_escaped;
    }
    text
}

/// Returns JSON of the document, which may be inside of a string, on one line.
pub(super) fn outside(json: &str) -> Option<String> {
    let all = on_one_line(json)?;
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    if is_json(json) {
        return Some(all);
    }
    let text: String = serde_json::from_str(&format!("\"{json}\"")).ok()?;
    is_json(&text).then(|| on_one_line(&text))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_string_is_found_behind_escapes() {
        let text = r#"{"a": "x\n\u00e9\ud83d\ude00é\"$ref:b\" \u0024 end"}"#;
        let source = Source::document(text);
        let node = JsonNode::of(text, &source).unwrap();
        let (_, value) = node.members().next().unwrap();
        let string = value.text().unwrap();
        for (part, raw) in [
            ("$ref:b", "$ref:b"),
            ("\n", r"\n"),
            ("\u{e9}", r"\u00e9"),
            ("😀", r"\ud83d\ude00"),
            ("$ end", r"\u0024 end"),
            ("\"", r#"\""#),
        ] {
            let start = string.value.find(part).unwrap();
            let range = string.place(&(start..start + part.len()));
            assert_eq!(&text[range], raw);
        }
    }

    #[test]
    fn json_in_a_string_of_json_knows_its_place() {
        let text = r#"{"arguments": "{\"to\": \"\\u00e9 $ref:x\"}"}"#;
        let document = Source::document(text);
        let node = JsonNode::of(text, &document).unwrap();
        let (_, value) = node.members().next().unwrap();
        let string = value.text().unwrap();
        let inner = string.inside();
        let node = JsonNode::of(inner.text(), &inner).unwrap();
        let (key, to) = node.members().next().unwrap();
        assert_eq!(&text[key.place()], r#"\"to\""#);
        let to = to.text().unwrap();
        let start = to.value.find("$ref").unwrap();
        let range = to.place(&(start..start + 6));
        assert_eq!(&text[range], "$ref:x");
    }

    #[test]
    fn half_a_pair_is_no_text() {
        for text in [r#""\ud800""#, r#""\ud800x""#] {
            let source = Source::document(text);
            assert!(JsonNode::of(text, &source).unwrap().text().is_err());
        }
    }
}
