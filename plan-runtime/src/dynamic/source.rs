//! Source strings of nodes, and the position of each part in the document, including strings with escapes and JSON
//! inside of a string.

use super::containers::Containers;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

/// The mark that some editors write before UTF-8. It is not part of the document.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the start of the document, after its byte order mark, if it has one.
pub(super) fn start(text: &str) -> usize {
    text.len() - text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).len()
}

/// A string that contains nodes as slices: the document, or JSON in one of its strings.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    text: &'a str,
    outer: Option<&'a Text<'a>>,
    /// The ends of the containers in its JSON.
    pub(super) containers: OnceCell<Containers>,
}

impl<'a> Source<'a> {
    pub(super) fn document(text: &'a str) -> Self {
        Self {
            text,
            outer: None,
            containers: OnceCell::new(),
        }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// Returns `true` if the source is the whole document, and not a string in the document.
    pub(super) fn is_document(&self) -> bool {
        self.outer.is_none()
    }

    /// Returns the document.
    pub(super) fn whole(&self) -> &'a str {
        self.outer.map_or(self.text, |string| string.source.whole())
    }

    /// Returns the start of a slice in this string.
    pub(super) fn start(&self, slice: &str) -> usize {
        (slice.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    /// Returns the position of a slice in the document.
    pub(super) fn place(&self, slice: &str) -> Range<usize> {
        let start = self.start(slice);
        let range = start..start + slice.len();
        match self.outer {
            None => range,
            Some(string) => string.place(&range),
        }
    }
}

/// A string, with its slice of the document, including the quotes.
#[derive(Clone, Debug)]
pub(super) struct Text<'a> {
    pub(super) value: Cow<'a, str>,
    raw: &'a str,
    source: &'a Source<'a>,
    /// Positions in `raw` for some positions in the value, if it has escapes. See [`Text::marks`].
    marks: OnceCell<Vec<(u32, u32)>>,
}

/// The number of bytes of a value between two marks.
const MARK: usize = 256;

impl<'a> Text<'a> {
    pub(super) fn new(value: Cow<'a, str>, raw: &'a str, source: &'a Source<'a>) -> Self {
        let marks = OnceCell::new();
        Self {
            value,
            raw,
            source,
            marks,
        }
    }

    /// Returns the value as a source of its own.
    pub(super) fn inside(&'a self) -> Source<'a> {
        Source {
            outer: Some(self),
            ..Source::document(&self.value)
        }
    }

    /// Returns the source that contains the string.
    pub(super) fn source(&self) -> &'a Source<'a> {
        self.source
    }

    /// Returns the position of a part of the value in the document.
    pub(super) fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.source.place(&self.raw[self.in_raw(part)])
    }

    /// Returns the position in [`Text::raw`] of a part of the value, given by its bytes.
    fn in_raw(&self, part: &Range<usize>) -> Range<usize> {
        if matches!(self.value, Cow::Borrowed(_)) {
            return part.start + 1..part.end + 1;
        }
        let start = self.raw_at(part.start);
        start..self.raw_at(part.end).max(start)
    }

    /// Returns the position in [`Text::raw`] of a byte of the value.
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

    /// Returns pairs of positions in the value and in [`Text::raw`] at regular intervals, since a long string may cause many
    /// lookups.
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

    /// Returns the length of the character as written here, and in UTF-8.
    fn sign(&self, at: usize) -> (usize, usize) {
        let bytes = self.raw.as_bytes();
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => unit(self.raw, at),
            (b'\\', _) => (2, 1),
            (first, _) => {
                // The first byte begins with a 1 for each byte of the character, or with 0.
                let length = first.leading_ones().max(1) as usize;
                (length, length)
            }
        }
    }
}

/// Returns the length of `\u….` as written, with the other half of its pair, and in UTF-8.
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
