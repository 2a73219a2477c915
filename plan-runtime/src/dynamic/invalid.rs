//! The first syntax error in JSON, with the expected token.

use super::finding::{Code, Note};
use super::source::Source;
use crate::resolve::describe::short;
use serde::de::IgnoredAny;
use std::fmt::Write;
use std::ops::Range;

/// The first syntax error in JSON.
#[derive(Debug)]
pub(super) struct Invalid {
    /// The position of the error.
    pub(super) at: Range<usize>,
    message: String,
    help: Option<&'static str>,
}

impl Invalid {
    /// Returns the error in JSON that serde_json refuses.
    pub(super) fn of(text: &str) -> Self {
        let mut scanner = Scanner {
            text,
            at: 0,
            closes: Vec::new(),
            comma: None,
        };
        match scanner.document() {
            Err(invalid) => invalid,
            Ok(()) => Self::new(0..text.len(), "it cannot be read"),
        }
    }

    fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
            help: None,
        }
    }

    fn help(self, help: impl Into<Option<&'static str>>) -> Self {
        let help = help.into();
        Self { help, ..self }
    }

    /// Returns a finding in the document that contains this part. `general` is the help for an error without one of its
    /// own.
    pub(super) fn note(self, source: &Source<'_>, text: &str, general: Option<&str>) -> Note {
        let (whole, ends) = if source.is_document() {
            ("document", "was the document cut off?")
        } else {
            ("string `arguments`", "add the missing brackets")
        };
        let is_empty = text.trim().is_empty();
        let ends = (self.at.is_empty() && !is_empty).then_some(ends);
        let message = if is_empty {
            format!("the {whole} is empty")
        } else {
            format!("the {whole} is not JSON: {}", self.message)
        };
        Note::error(Code::InvalidJson, source.place(&text[self.at]), message)
            .help(ends.or(self.help).or(general).map(str::to_owned))
    }
}

/// The token that the grammar expects next.
#[derive(Clone, Copy)]
enum Next {
    Value,
    /// A value, or the end of the list that has begun.
    FirstValue,
    Name,
    /// A name, or the end of the object that has begun.
    FirstName,
    Colon,
    /// The token after a value.
    After,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The closing brackets of the open lists and objects, the outermost first.
    closes: Vec<u8>,
    /// The comma before the next token.
    comma: Option<usize>,
}

type Scanned<T = ()> = Result<T, Invalid>;

impl Scanner<'_> {
    fn document(&mut self) -> Scanned {
        let mut next = Next::Value;
        loop {
            while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
                self.at += 1;
            }
            next = match (next, self.byte()) {
                (Next::After, None) if self.closes.is_empty() => return Ok(()),
                (_, None) => return Err(self.ends()),
                (Next::After, Some(byte)) => self.after(byte)?,
                (Next::Colon, Some(b':')) => self.then(Next::Value),
                (Next::Colon, Some(_)) => return Err(self.expected("`:` after the name")),
                (Next::FirstValue | Next::FirstName, Some(byte))
                    if self.closes.last() == Some(&byte) =>
                {
                    self.closes.pop();
                    self.then(Next::After)
                }
                (Next::Value | Next::FirstValue, Some(byte)) => self.value(byte)?,
                (Next::Name | Next::FirstName, Some(b'"')) => {
                    self.string()?;
                    Next::Colon
                }
                (Next::Name | Next::FirstName, Some(_)) => {
                    return Err(self.expected("a name in double quotes"));
                }
            };
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes a byte, and sets the next token.
    fn then(&mut self, next: Next) -> Next {
        self.at += 1;
        next
    }

    fn after(&mut self, byte: u8) -> Scanned<Next> {
        match (self.closes.last(), byte) {
            (Some(close), byte) if *close == byte => {
                self.closes.pop();
                Ok(self.then(Next::After))
            }
            (Some(close), b',') => {
                self.comma = Some(self.at);
                Ok(self.then(match close {
                    b'}' => Next::Name,
                    _ => Next::Value,
                }))
            }
            (Some(b'}'), _) => Err(self.expected("`,` or `}` after the value")),
            (Some(_), _) => Err(self.expected("`,` or `]` after the value")),
            (None, _) => Err(self.expected("the end after the value")),
        }
    }

    fn value(&mut self, byte: u8) -> Scanned<Next> {
        match byte {
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => self.number()?,
            b'{' => {
                self.closes.push(b'}');
                return Ok(self.then(Next::FirstName));
            }
            b'[' => {
                self.closes.push(b']');
                return Ok(self.then(Next::FirstValue));
            }
            _ => {
                let words = ["true", "false", "null"];
                let rest = &self.text[self.at..];
                match words.iter().find(|word| rest.starts_with(**word)) {
                    Some(word) => self.at += word.len(),
                    None => {
                        let invalid = self.expected("a value");
                        let is_near = matches!(byte, b't' | b'f' | b'n') && invalid.help.is_none();
                        let words = "the words of JSON are `true`, `false` and `null`";
                        return Err(if is_near {
                            invalid.help(words)
                        } else {
                            invalid
                        });
                    }
                }
            }
        }
        Ok(Next::After)
    }

    fn string(&mut self) -> Scanned {
        self.at += 1;
        loop {
            match self.byte() {
                None => return Err(self.ends()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(control @ ..0x20) => {
                    let message = format!(
                        "`{}` must be escaped in a string",
                        char::from(control).escape_debug()
                    );
                    return Err(
                        Invalid::new(self.at..self.at + 1, message).help(match control {
                            b'\n' | b'\r' => "a line break in a string is written `\\n`",
                            b'\t' => "a tab in a string is written `\\t`",
                            _ => "write the character with four digits, as in `\\u0000`",
                        }),
                    );
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Scanned {
        let start = self.at;
        self.at += 1;
        match self.byte() {
            None => return Err(self.ends()),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    match self.byte() {
                        None => return Err(self.ends()),
                        Some(byte) if byte.is_ascii_hexdigit() => self.at += 1,
                        Some(_) => {
                            let message =
                                format!("`{}` has too few digits", &self.text[start..self.at]);
                            let help = r"an escape has four hexadecimal digits: `\u00e9`";
                            return Err(Invalid::new(start..self.at, message).help(help));
                        }
                    }
                }
            }
            Some(_) => {
                let sign = self.sign(self.at);
                let at = start..self.at + sign.map_or(0, char::len_utf8);
                let message = format!("`{}` is not an escape", &self.text[at.clone()]);
                return Err(Invalid::new(at, message).help(r"a backslash is written `\\`"));
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Scanned {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let number = &rest[..end];
        if serde_json::from_str::<IgnoredAny>(number).is_ok() {
            self.at += end;
            return Ok(());
        }
        if end == rest.len() {
            return Err(self.ends());
        }
        let message = format!("`{}` is not a number", short(number));
        let help = "a number has no leading zeros, and digits on both sides of a point: `0.5`, `-1`, `2e10`";
        Err(Invalid::new(self.at..self.at + end, message).help(help))
    }

    fn sign(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    fn ends(&self) -> Invalid {
        let end = self.text.trim_end().len();
        Invalid::new(end..end, "the end is missing")
    }

    /// Returns the error for a token other than the expected one.
    fn expected(&self, expected: &str) -> Invalid {
        if let (Some(comma), Some(b'}' | b']')) = (self.comma_before(), self.byte()) {
            let at = comma..comma + 1;
            return Invalid::new(at, "expected a value after the comma").help("remove the comma");
        }
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let word = &rest[..end.unwrap_or(rest.len())];
        let sign = self.sign(self.at);
        let mut message = format!("expected {expected}, found ");
        let length = match (word, sign) {
            ("", Some('"')) => {
                message.push_str("a string");
                1
            }
            ("", Some(sign)) => {
                let _ = match sign {
                    '`' => write!(message, "a backquote"),
                    '\'' => write!(message, "`'`"),
                    sign => write!(message, "`{}`", sign.escape_debug()),
                };
                sign.len_utf8()
            }
            (word, _) => {
                let _ = write!(message, "`{}`", short(word));
                word.len()
            }
        };
        let help = match (sign, word) {
            (Some('\'' | '`' | '“' | '”'), _) => {
                Some(r#"names and strings are in double quotes: `"id"`"#)
            }
            (_, "True" | "False" | "TRUE" | "FALSE") => Some("JSON writes `true` and `false`"),
            (_, "None" | "undefined" | "nil" | "NULL") => Some("JSON writes `null`"),
            (_, "NaN" | "Infinity") => Some("JSON has no such number: write `null` or a string"),
            (Some('/' | '#'), _) => Some("JSON has no comments"),
            _ => None,
        };
        Invalid::new(self.at..self.at + length, message).help(help)
    }

    /// Returns the last comma, if only spaces are between the comma and this position.
    fn comma_before(&self) -> Option<usize> {
        let comma = self.comma?;
        let between = &self.text[comma + 1..self.at];
        between.trim_ascii().is_empty().then_some(comma)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::json_node::JsonNode;
    use proptest::prelude::*;

    const PIECES: &[&str] = &[
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\\", "\\u", "\\u00e9", "\\n", "00", "0", "-",
        "1", ".", "e", "E+", "true", "false", "null", "nul", "True", " ", "\n", "\t", "\r", "\0",
        "\u{feff}", "\u{2028}", "é", "“", "/", "x", "ud800",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Compares the scanner with serde_json: it finds an error exactly if serde_json does, at a valid position.
        #[test]
        fn what_serde_json_refuses_is_explained(
            parts in prop::collection::vec(prop::sample::select(PIECES), 0..10),
        ) {
            let text = parts.concat();
            let found = Scanner { text: &text, at: 0, closes: Vec::new(), comma: None }.document();
            let source = Source::document(&text);
            match (JsonNode::of(&text, &source), found) {
                (Ok(_), Ok(())) => {}
                (Err(_), Err(invalid)) => {
                    prop_assert!(text.get(invalid.at.clone()).is_some(), "{invalid:?}");
                }
                (read, found) => prop_assert!(false, "{text:?}: {read:?}, {found:?}"),
            }
        }
    }
}
