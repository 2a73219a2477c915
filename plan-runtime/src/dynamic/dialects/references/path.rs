//! The path after a reference's first name: `.data[0]["odd key"].*.id`.

use super::{ScanError, quote, quoted};
use crate::plan::json::MOST_PARTS;
use crate::plan::{Absent, Segment, Selector};

/// The characters of a name without quotes.
#[derive(Clone, Copy)]
pub(crate) enum NameSyntax {
    /// Letters and digits of ASCII, and `_`.
    Ascii,
    /// Letters and digits, `_`, `-`, `$` and `@`.
    Wide,
}

impl NameSyntax {
    pub(crate) fn has(self, c: char) -> bool {
        match self {
            Self::Ascii => c.is_ascii_alphanumeric() || c == '_',
            Self::Wide => c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@'),
        }
    }

    /// Returns `true` if a name needs no quotes.
    pub(crate) fn is_name(self, text: &str) -> bool {
        !text.is_empty() && text.chars().all(|c| self.has(c))
    }

    /// Returns the end of the name that starts at `at`.
    pub(crate) fn end(self, text: &str, at: usize) -> usize {
        let rest = &text[at..];
        at + rest.find(|c| !self.has(c)).unwrap_or(rest.len())
    }
}

/// Makes a reference end at a missing part.
pub(crate) fn end_where_missing(path: &mut [Segment]) {
    for segment in path.iter_mut().filter(|segment| !segment.is_each()) {
        segment.absent = Absent::End;
    }
}

/// Reads the parts of a path, and returns the end of the path.
pub(crate) fn read(
    text: &str,
    mut at: usize,
    names: NameSyntax,
) -> Result<(Vec<Segment>, usize), Box<ScanError>> {
    let mut path = Vec::new();
    loop {
        if path.len() > MOST_PARTS {
            let message = format!("the reference has more than {MOST_PARTS} parts");
            return Err(ScanError::beyond(at..at, message).into());
        }
        match text.as_bytes().get(at) {
            Some(b'.') if text[at + 1..].starts_with('*') => {
                path.push(Segment::new(Selector::Each));
                at += 2;
            }
            Some(b'.') => {
                let end = names.end(text, at + 1);
                if end == at + 1 {
                    let scan_error = ScanError::new(at..at + 1, "expected a name after the dot");
                    return Err(scan_error.help(r#"write an empty key as `[""]`"#).into());
                }
                path.push(Segment::of_token(text[at + 1..end].to_owned()));
                at = end;
            }
            Some(b'[') => {
                let (segment, end) = bracket(text, at)?;
                path.push(segment);
                at = end;
            }
            _ => return Ok((path, at)),
        }
    }
}

/// Reads `[0]`, `[*]` or `["key"]`, and returns its end.
fn bracket(text: &str, at: usize) -> Result<(Segment, usize), Box<ScanError>> {
    if let Some((key, end)) = key(text, at) {
        return Ok((Segment::new(Selector::Key(key)), end));
    }
    let rest = &text[at..];
    // The search ends at the next bracket, so that a string of open brackets takes linear time.
    let close = rest[1..].find(['[', ']']).map(|end| end + 1);
    let Some(close) = close.filter(|close| rest[*close..].starts_with(']')) else {
        let scan_error = ScanError::new(at..text.len(), "the bracket `[` is not closed");
        return Err(scan_error.into());
    };
    let (inner, end) = (&rest[1..close], at + close + 1);
    if inner == "*" {
        return Ok((Segment::new(Selector::Each), end));
    }
    if let Some(index) = crate::plan::index(inner) {
        return Ok((Segment::new(Selector::Index(index)), end));
    }
    let message = format!("`[{inner}]` is neither an index nor a key");
    let scan_error = ScanError::new(at..end, message);
    let single = inner
        .strip_prefix('\'')
        .and_then(|inner| inner.strip_suffix('\''));
    let help = if let Some(key) = single {
        format!("write the key as a string of JSON: `[{}]`", quote(key))
    } else if inner.starts_with('-') {
        "an index counts from the start of the list: `[0]` is its first element".to_owned()
    } else if !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit()) {
        format!(
            "write an index without leading zeros, `[{}]`, and a key in quotes",
            inner.trim_start_matches('0')
        )
    } else {
        format!("write a key in quotes: `[{}]`", quote(inner))
    };
    Err(scan_error.help(help).into())
}

/// Reads the first name of a reference, with or without quotes, and returns its end. The name may be empty.
pub(crate) fn name(text: &str, at: usize, names: NameSyntax) -> (String, usize) {
    key(text, at).unwrap_or_else(|| {
        let end = names.end(text, at);
        (text[at..end].to_owned(), end)
    })
}

/// Reads `["key"]`, and returns its end.
pub(crate) fn key(text: &str, at: usize) -> Option<(String, usize)> {
    let (key, end) = quoted(text, at + 1).filter(|_| text[at..].starts_with('['))?;
    text[end..].starts_with(']').then_some((key, end + 1))
}
