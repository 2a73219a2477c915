//! References in strings: the parts that dialects share.
//!
//! A string is scanned after JSON decoding. Only strings of the plan's author are scanned, never values of a run.

mod foreign;
pub(crate) mod path;
mod style;

pub(crate) use foreign::{ForeignReference, foreign, meant};
pub(crate) use path::{NameSyntax, end_where_missing};
pub(crate) use style::{Mark, Notation, Places, ReferenceTarget, Style, name_in, named};

use crate::dynamic::finding::Code;
use crate::plan::{Segment, Selector};
use std::borrow::Cow;
use std::ops::Range;

/// The parts of a string.
#[derive(Debug, Default)]
pub(crate) struct Scan<'t> {
    /// The parts in order. A malformed reference is literal.
    pub(crate) pieces: Vec<Piece<'t>>,
    pub(crate) scan_errors: Vec<ScanError>,
    /// The positions where JSON strings replace characters with another meaning.
    pub(crate) escapes: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(crate) enum Piece<'t> {
    Text(Cow<'t, str>),
    Reference(ScannedReference<'t>),
}

/// A reference in its written form.
#[derive(Debug)]
pub(crate) struct ScannedReference<'t> {
    pub(crate) text: &'t str,
    /// The position in the string.
    pub(crate) range: Range<usize>,
    pub(crate) target: Target,
    /// The position of the target's name in the string.
    pub(crate) named: Range<usize>,
    pub(crate) path: Vec<Segment>,
    /// The error for a missing part that only [`Compat`](crate::dynamic::Profile::Compat) allows.
    pub(crate) compat_only: Option<ScanError>,
}

/// The target of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Id(String),
    Index(usize),
    Input(String),
}

/// A part of a string that is nearly a reference.
#[derive(Debug, Clone)]
pub(crate) struct ScanError {
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// `true` if the dialect's original systems also refuse to take it literally.
    pub(crate) in_reference: bool,
    pub(crate) code: Code,
    /// `true` for a help that is independent of the plan's steps.
    pub(crate) is_general: bool,
}

/// The largest number of references and malformed references in a string.
const MOST_PIECES: usize = 512;

/// Returns `true` for a number. A number in marks is common in strings that are no references.
pub(crate) fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

impl ScanError {
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            range,
            message: message.into(),
            help: None,
            in_reference: false,
            code: Code::MalformedReference,
            is_general: false,
        }
    }

    /// Creates the error for an exceeded limit, which is never literal.
    pub(crate) fn beyond(range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            in_reference: true,
            code: Code::LimitPassed,
            ..Self::new(range, message)
        }
    }

    /// Marks the error as a part of an obvious reference.
    pub(crate) fn in_reference(mut self, yes: bool) -> Self {
        self.in_reference = yes || self.code == Code::LimitPassed;
        self
    }

    /// Marks the help as one that only describes references in general.
    pub(crate) fn general(mut self) -> Self {
        self.is_general = true;
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Reads the reference at a position of a string, and returns its end.
type ReadPiece<'f> =
    dyn for<'t> Fn(&'t str, usize) -> Result<(Piece<'t>, usize), Box<ScanError>> + 'f;

/// Adds the characters between references, with the malformed references in them.
type ReadPlain<'f> = dyn for<'t> Fn(&mut Scan<'t>, &'t str, Range<usize>) + 'f;

impl<'t> Scan<'t> {
    /// Scans a string with references, which begin with `open`.
    pub(crate) fn embedded(
        text: &'t str,
        open: &str,
        piece: &ReadPiece<'_>,
        plain: &ReadPlain<'_>,
    ) -> Self {
        let mut scan = Self::default();
        let mut at = 0;
        while let Some(found) = text[at..].find(open) {
            let start = at + found;
            if scan.pieces.len() + scan.scan_errors.len() + scan.escapes.len() >= MOST_PIECES {
                let message =
                    format!("the string has more than {MOST_PIECES} references and escapes");
                let scan_error = ScanError::beyond(start..start + open.len(), message);
                scan.scan_errors
                    .push(scan_error.help("split it into several strings"));
                return scan;
            }
            plain(&mut scan, text, at..start);
            match piece(text, start) {
                Ok((piece, end)) => {
                    match piece {
                        Piece::Text(text) => scan.escaped(text, start..end),
                        reference => scan.pieces.push(reference),
                    }
                    at = end;
                }
                Err(scan_error) => {
                    at = scan_error.range.end.max(start + open.len());
                    scan.text(&text[start..at]);
                    scan.scan_errors.push(*scan_error);
                }
            }
        }
        plain(&mut scan, text, at..text.len());
        scan
    }

    /// Creates the scan of a literal string.
    pub(crate) fn of_text(text: &'t str) -> Self {
        let mut scan = Self::default();
        scan.text(text);
        scan
    }

    /// Adds a literal, which is joined with a literal before it.
    pub(crate) fn text(&mut self, text: &'t str) {
        self.owned(Cow::Borrowed(text));
    }

    fn owned(&mut self, text: Cow<'t, str>) {
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.to_mut().push_str(&text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text)),
        }
    }

    /// Adds an escaped literal.
    pub(crate) fn escaped(&mut self, text: Cow<'t, str>, range: Range<usize>) {
        self.owned(text);
        self.escapes.push(range);
    }

    /// Returns the positions of references, errors and escapes, in order and without overlaps.
    fn taken(&self) -> Vec<Range<usize>> {
        let references = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Reference(written) => Some(&written.range),
            Piece::Text(_) => None,
        });
        let scan_errors = self.scan_errors.iter().map(|scan_error| &scan_error.range);
        let all = references.chain(scan_errors).chain(&self.escapes);
        let mut all: Vec<Range<usize>> = all.cloned().collect();
        all.sort_unstable_by_key(|range| range.start);
        let mut taken: Vec<Range<usize>> = Vec::with_capacity(all.len());
        for range in all {
            match taken.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => taken.push(range),
            }
        }
        taken
    }

    /// Returns `true` if the string contains no references, errors and escapes.
    pub(crate) fn is_plain(&self) -> bool {
        self.taken().is_empty()
    }

    /// Returns `true` if the whole string is one reference, which keeps its type.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.pieces[..], [Piece::Reference(_)]) && self.escapes.is_empty()
    }

    /// Returns `true` if the string contains a reference.
    pub(crate) fn has_reference(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Reference(_)))
    }

    /// Creates the scan of a string that is malformed as a whole.
    pub(crate) fn malformed(text: &'t str, scan_error: ScanError) -> Self {
        let mut scan = Self::of_text(text);
        scan.scan_errors.push(scan_error);
        scan
    }
}

/// Reads the JSON string at `inner`, which is a literal in the marks of a reference. Returns `None` for anything else.
pub(crate) fn escaped<'t>(
    text: &str,
    inner: usize,
    close: &str,
    whole: &Range<usize>,
) -> Option<Result<(Piece<'t>, usize), Box<ScanError>>> {
    text[inner..]
        .starts_with('"')
        .then(|| match quoted(text, inner) {
            Some((literal, end)) if text[end..].starts_with(close) => {
                Ok((Piece::Text(literal.into()), end + close.len()))
            }
            _ => {
                let message = "the braces contain no reference and no JSON string";
                Err(ScanError::new(whole.clone(), message).into())
            }
        })
}

/// Returns `true` if a path begins with one of the members that a dialect has between a step and its output.
pub(crate) fn is_wrapped(path: &[Segment], members: &[&str]) -> bool {
    let first = path.first().map(|segment| &segment.selector);
    matches!(first, Some(Selector::Key(key)) if members.contains(&key.as_str()))
}

/// Reads the JSON string at `at`, and returns its end.
pub(crate) fn quoted(text: &str, at: usize) -> Option<(String, usize)> {
    let rest = text.get(at..)?;
    let mut strings = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let value = rest.starts_with('"').then(|| strings.next())??.ok()?;
    Some((value, at + strings.byte_offset()))
}

/// Returns the message about a character that neither continues nor ends a reference.
pub(crate) fn no_part(sign: char) -> String {
    match sign {
        ' ' => "a reference cannot contain a space".to_owned(),
        sign => format!("`{}` cannot be part of a reference", sign.escape_debug()),
    }
}

/// Writes a string as JSON, for brackets.
pub(crate) fn quote(key: &str) -> String {
    serde_json::Value::from(key).to_string()
}
