//! JSON text, opened one level at a time. A node is a slice of the text, so it knows its place.

use super::invalid::Invalid;
pub(super) use crate::plan::json::Kind;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

/// A JSON value that is known to be well-formed, but for the surrogates in its strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a>(&'a str);

/// A string with the slice that it is written as, its quotes included.
#[derive(Clone, Debug)]
pub(super) struct Text<'a> {
    pub(super) value: Cow<'a, str>,
    pub(super) raw: &'a str,
    /// Where in `raw` some of the value is, if there are escapes in it. See [`Text::marks`].
    marks: OnceCell<Vec<(u32, u32)>>,
}

/// How many bytes of a value lie between two marks.
const MARK: usize = 256;

impl<'a> Node<'a> {
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

    pub(super) fn kind(self) -> Kind {
        Kind::of(self.0)
    }

    /// The members of an object, in the order in which they are written. Other values have no members.
    pub(super) fn members(self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        let mut parts = Parts::of(self, Kind::Object);
        std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
    }

    /// The elements of a list; none of anything else.
    pub(super) fn items(self) -> Vec<Node<'a>> {
        // There may be nearly as many as the text has bytes, so the list has no room for more.
        let count = Parts::of(self, Kind::List).count();
        let mut items = Vec::with_capacity(count);
        items.extend(Parts::of(self, Kind::List));
        items
    }

    /// The same, one after the other.
    pub(super) fn each_item(self) -> impl Iterator<Item = Node<'a>> {
        Parts::of(self, Kind::List)
    }

    /// The text of a string.
    ///
    /// # Errors
    ///
    /// If the node is not a string, or has half of a surrogate pair alone.
    pub(super) fn text(self) -> serde_json::Result<Text<'a>> {
        let inner = self.0.get(1..self.0.len().saturating_sub(1));
        let value = match inner {
            Some(inner) if self.kind() == Kind::String && !inner.contains('\\') => {
                Cow::Borrowed(inner)
            }
            _ => Cow::Owned(serde_json::from_str(self.0)?),
        };
        Ok(Text {
            value,
            raw: self.0,
            marks: OnceCell::new(),
        })
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
    fn of(node: Node<'a>, kind: Kind) -> Self {
        let text = if node.kind() == kind { node.0 } else { "" };
        Self { text, at: 1 }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b':') = bytes.get(self.at) {
            self.at += 1;
        }
        let start = self.at;
        self.at = end(bytes, start);
        let part = self.text.get(start..self.at)?;
        (!part.is_empty()).then_some(Node(part))
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

fn string_end(bytes: &[u8], start: usize) -> usize {
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

impl Text<'_> {
    /// Where a part of the value, given by its bytes, is in [`Text::raw`].
    pub(super) fn in_raw(&self, part: &Range<usize>) -> Range<usize> {
        if matches!(self.value, Cow::Borrowed(_)) {
            return part.start + 1..part.end + 1;
        }
        let start = self.raw_at(part.start);
        start..self.raw_at(part.end).max(start)
    }

    /// Where a byte of the value is in [`Text::raw`].
    fn raw_at(&self, place: usize) -> usize {
        let marks = self.marks.get_or_init(|| self.marks());
        let after = marks.partition_point(|(decoded, _)| *decoded as usize <= place);
        let (mut decoded, mut at) = match after.checked_sub(1).and_then(|at| marks.get(at)) {
            Some((decoded, at)) => (*decoded as usize, *at as usize),
            None => (0, 1),
        };
        let last = self.raw.len().saturating_sub(1);
        while at < last && decoded < place {
            let (written, length) = self.sign(at);
            at += written;
            decoded += length;
        }
        at.min(last)
    }

    /// A place of the value every now and then, with where it is in [`Text::raw`]: there may be many questions for long strings.
    fn marks(&self) -> Vec<(u32, u32)> {
        let mut marks = Vec::with_capacity(self.value.len() / MARK);
        let (mut at, mut decoded, mut next) = (1, 0, MARK);
        while at < self.raw.len() {
            if decoded >= next {
                next = decoded + MARK;
                // A document is shorter than 4 GiB.
                marks.extend(u32::try_from(decoded).ok().zip(u32::try_from(at).ok()));
            }
            let (written, length) = self.sign(at);
            at += written;
            decoded += length;
        }
        marks
    }

    /// The length of the character as it is written here, and in UTF-8.
    fn sign(&self, at: usize) -> (usize, usize) {
        let bytes = self.raw.as_bytes();
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => unit(self.raw, at),
            (b'\\', _) => (2, 1),
            (first, _) => {
                let length = utf8_length(first);
                (length, length)
            }
        }
    }
}

/// How long `\u….` is as written, with the other half of its pair, and in UTF-8.
fn unit(raw: &str, at: usize) -> (usize, usize) {
    let code = raw
        .get(at + 2..at + 6)
        .and_then(|hex| u32::from_str_radix(hex, 16).ok())
        .unwrap_or_default();
    match code {
        0xD800..0xDC00 => (12, 4),
        _ => (6, char::from_u32(code).map_or(3, char::len_utf8)),
    }
}

fn utf8_length(first: u8) -> usize {
    match first {
        ..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// A text that nodes are slices of: the document, or JSON in one of its strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    text: &'a str,
    outer: Option<(&'a Text<'a>, &'a Source<'a>)>,
}

impl<'a> Source<'a> {
    pub(super) fn document(text: &'a str) -> Self {
        Self { text, outer: None }
    }

    /// The value of a string of this text, as a text of its own.
    pub(super) fn inside(&'a self, string: &'a Text<'a>) -> Source<'a> {
        Source {
            text: &string.value,
            outer: Some((string, self)),
        }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The document.
    pub(super) fn whole(&self) -> &'a str {
        match self.outer {
            None => self.text,
            Some((_, source)) => source.whole(),
        }
    }

    /// Where a slice of this text is in the document.
    pub(super) fn place(&self, slice: &str) -> Range<usize> {
        let start = (slice.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        self.range(start..start + slice.len())
    }

    /// Where a range of this text is in the document.
    pub(super) fn range(&self, range: Range<usize>) -> Range<usize> {
        match self.outer {
            None => range,
            Some((string, source)) => source.place_in(string, &range),
        }
    }

    /// Where a part of a string's value is in the document.
    pub(super) fn place_in(&self, string: &Text<'_>, part: &Range<usize>) -> Range<usize> {
        let start = (string.raw.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let raw = string.in_raw(part);
        self.range(start + raw.start..start + raw.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_string_is_found_behind_escapes() {
        let text = r#"{"a": "x\n\u00e9\ud83d\ude00é\"$ref:b\" \u0024 end"}"#;
        let (_, value) = Node::of(text).unwrap().members().next().unwrap();
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
        let (_, value) = Node::of(text).unwrap().members().next().unwrap();
        let string = value.text().unwrap();
        let inner = document.inside(&string);
        let (key, to) = Node::of(inner.text()).unwrap().members().next().unwrap();
        assert_eq!(&text[inner.place(key.slice())], r#"\"to\""#);
        let to = to.text().unwrap();
        let start = to.value.find("$ref").unwrap();
        let range = inner.place_in(&to, &(start..start + 6));
        assert_eq!(&text[range], "$ref:x");
    }

    #[test]
    fn half_a_pair_is_no_text() {
        assert!(Node::of(r#""\ud800""#).unwrap().text().is_err());
        assert!(Node::of(r#""\ud800x""#).unwrap().text().is_err());
    }
}
