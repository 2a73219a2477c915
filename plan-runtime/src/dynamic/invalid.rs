//! The finding for a document that is not JSON, with helps for usual errors.

use super::finding::{Code, Note};
use super::source::Source;
use crate::resolve::describe::short;
use std::ops::Range;

// Messages of serde_json.
const CONTROL: &str = "control character (\\u0000-\\u001F) found while parsing a string";
const ESCAPE: &str = "invalid escape";
const NUMBER: &str = "invalid number";
const WORD: &str = "expected ident";

/// Returns the finding for an error of serde_json in a part of a document. `general` is the help for an error without one
/// of its own.
pub(super) fn note(
    text: &str,
    source: &Source<'_>,
    error: &serde_json::Error,
    general: Option<&str>,
) -> Note {
    let (whole, ends) = if source.is_document() {
        ("document", "was the document cut off?")
    } else {
        ("string `arguments`", "add the missing brackets")
    };
    let words = error.to_string();
    let (words, _) = words.rsplit_once(" at line ").unwrap_or((&words, ""));
    let at = token(text, error, words);
    let end = text.trim_end().len();
    let found = &text[at.clone()];
    let before = text[..at.start].trim_ascii_end();
    let (at, why, help) = if end == 0 {
        let message = format!("the {whole} is empty");
        let empty = Note::error(Code::InvalidJson, source.place(&text[..0]), message);
        return empty.help(general.map(str::to_owned));
    } else if error.is_eof() || at.end == end && words == NUMBER {
        (end..end, "the end is missing".to_owned(), Some(ends))
    } else if matches!(found, "}" | "]") && words != ESCAPE && before.ends_with(',') {
        let why = "expected a value after the comma".to_owned();
        (
            before.len() - 1..before.len(),
            why,
            Some("remove the comma"),
        )
    } else {
        let is_plain = found.chars().all(|c| c.is_ascii_graphic());
        let escaped = || found.escape_debug().to_string();
        let shown = if is_plain {
            found.to_owned()
        } else {
            escaped()
        };
        let shown = short(&shown);
        let why = match words {
            CONTROL => format!("`{shown}` must be escaped in a string"),
            NUMBER => format!("`{shown}` is not a number"),
            ESCAPE => format!("`{shown}` is not an escape"),
            WORD => format!("expected value, found `{shown}`"),
            _ => format!("{words}, found `{shown}`"),
        };
        let is_first = before.trim_start().is_empty();
        let help = match words {
            _ if !source.is_document() && (is_first || words.starts_with("trailing")) => None,
            _ if is_first => Some("write only the JSON of the plan, without text before it"),
            _ => help(words, found),
        };
        (at, why, help)
    };
    let message = format!("the {whole} is not JSON: {why}");
    Note::error(Code::InvalidJson, source.place(&text[at]), message)
        .help(help.or(general).map(str::to_owned))
}

/// Returns the range of the word or character that serde_json does not expect.
fn token(text: &str, error: &serde_json::Error, words: &str) -> Range<usize> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    let lines = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    // An error at a line break has column 0 of the next line.
    let at = (lines.map(str::len).sum::<usize>() + error.column()).saturating_sub(1);
    if words == ESCAPE {
        return escape(text, at);
    }
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let start = match words {
        // The position may be that of the character before.
        CONTROL => at + text[at..].find(|c| c < ' ').unwrap_or(0),
        NUMBER | WORD => text[..at].trim_end_matches(is_part).len(),
        _ => at,
    };
    let rest = &text[start..];
    let end = match rest.find(|c| !is_part(c)) {
        Some(0) => rest.chars().next().map_or(0, char::len_utf8),
        end => end.unwrap_or(rest.len()),
    };
    start..start + end
}

/// Returns the range of a wrong escape, whose last byte is at this position.
fn escape(text: &str, last: usize) -> Range<usize> {
    let is_slash = |at: &usize| text.as_bytes().get(*at) == Some(&b'\\');
    let unicode = last.checked_sub(r"u0000".len()).filter(|start| {
        let slashes = (0..=*start).rev().take_while(is_slash).count();
        slashes % 2 == 1 && text[start + 1..].starts_with('u')
    });
    let (start, length) = match unicode {
        Some(start) => {
            let digits = text[start + 2..].bytes();
            (start, 2 + digits.take_while(u8::is_ascii_hexdigit).count())
        }
        None => (last - 1, 2),
    };
    let ends = (start + length..).find(|end| text.is_char_boundary(*end));
    start..ends.unwrap_or(text.len())
}

/// Returns the help for a usual error.
fn help(words: &str, found: &str) -> Option<&'static str> {
    Some(match (words, found) {
        (CONTROL, "\t") => "a tab in a string is written `\\t`",
        (CONTROL, "\n" | "\r") => "a line break in a string is written `\\n`",
        (CONTROL, _) => "write the character with four digits, as in `\\u0000`",
        (ESCAPE, _) => r"a backslash is written `\\`, and a character has four digits: `\u00e9`",
        (_, "/" | "#") => "JSON has no comments",
        ("trailing characters", _) => {
            "write one JSON value: remove the text after the value, or correct its brackets"
        }
        (_, "True" | "False" | "TRUE" | "FALSE") => "JSON writes `true` and `false`",
        (_, "None" | "undefined" | "nil" | "NULL") => "JSON writes `null`",
        (_, "NaN" | "Infinity" | "-Infinity") => {
            "JSON has no such number: write `null` or a string"
        }
        (NUMBER, _) => {
            "a number has no leading zeros, and digits on both sides of a point: `0.5`, `-1`, `2e10`"
        }
        ("key must be a string", _) | (_, "'" | "`" | "“" | "”") => {
            r#"names and strings are in double quotes: `"id"`"#
        }
        ("expected `,` or `}`" | "expected `,` or `]`", "}" | "]") => {
            "add the bracket that is missing before this one"
        }
        (WORD, _) => "the words of JSON are `true`, `false` and `null`",
        _ => return None,
    })
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

        #[test]
        fn each_error_has_a_place_in_its_text(
            parts in prop::collection::vec(prop::sample::select(PIECES), 0..10),
        ) {
            let text = parts.concat();
            let source = Source::document(&text);
            if let Err(error) = JsonNode::of(&text, &source) {
                note(&text, &source, &error, None);
            }
        }
    }
}
