//! Rust that was never parsed: types, patterns and computed values as a plan says them.

use super::{Quoted, is_seen};
use std::fmt::{Display, Formatter, Result};
use std::str::Chars;

/// A type or a pattern: as it is, or as `code("…")` where it could be taken for more than that.
pub(crate) struct Code<'t>(pub(crate) &'t str);

impl Display for Code<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match is_code(self.0) {
            true => f.write_str(self.0),
            false => write!(f, "code({})", Quoted(self.0)),
        }
    }
}

/// Whether a text ends where it seems to: on one line, without comments, with each bracket and each string closed.
fn is_code(text: &str) -> bool {
    // Nor has a pattern the word after which the list comes.
    is_one(text, true) && !text.starts_with("code(") && !text.contains(" in ")
}

/// Whether a text is one value, as a reference is written.
pub(crate) fn is_whole(text: &str) -> bool {
    is_one(text, false)
}

/// Whether a text can only be a computed value: one expression, and not a reference, a literal, a list or an object.
pub(crate) fn is_expression(text: &str) -> bool {
    is_whole(text) && !is_value(text)
}

fn is_one(text: &str, may_list: bool) -> bool {
    if text.is_empty() || text.trim() != text || !is_seen(text) {
        return false;
    }
    let mut open: Vec<char> = Vec::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            // The generic arguments of a call.
            '<' if is_after_path(text, &rest) => open.push('>'),
            '>' if open.last() == Some(&c) => drop(open.pop()),
            ')' | ']' | '}' if open.pop() != Some(c) => return false,
            ',' | ';' if open.is_empty() && !may_list => return false,
            '/' if rest.as_str().starts_with(['/', '*']) => return false,
            // A comment comes after two.
            ' ' if rest.as_str().starts_with(' ') => return false,
            '"' if !ends(&mut rest) => return false,
            '\'' => skip_character(&mut rest),
            _ => {}
        }
    }
    open.is_empty()
}

fn is_after_path(text: &str, rest: &Chars<'_>) -> bool {
    text[..text.len() - rest.as_str().len()].ends_with("::<")
}

/// The name that a path begins with: `mail` in `mail.subject`.
pub(crate) fn root(text: &str) -> Option<&str> {
    let part_of_path = |c: char| c.is_alphanumeric() || "_.?[]".contains(c);
    let root = text.split(['.', '?', '[']).next()?;
    (is_whole(text) && crate::plan::is_word(root) && text.chars().all(part_of_path)).then_some(root)
}

/// Whether a template of another kind may be written like this.
fn is_value(text: &str) -> bool {
    let inside = |open, close| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        Some(inner.trim_start())
    };
    let entries = |inner: &str| {
        let word = inner.trim_start_matches(|c: char| c.is_alphanumeric() || "_-$@".contains(c));
        let named = word.starts_with(':') && !word.starts_with("::");
        inner.is_empty() || inner.starts_with("..") || inner.starts_with('"') || named
    };
    let part_of_path = |c: char| c.is_alphanumeric() || "_-$@.?[]".contains(c);
    text.parse::<f64>().is_ok()
        || ["format!(", "computed(", "reference(", "tool \"", "&\""]
            .iter()
            .any(|start| text.starts_with(start))
        || inside('"', '"').is_some()
        || inside('[', ']').is_some()
        || inside('{', '}').is_some_and(entries)
        || (!text.starts_with('-') && text.chars().all(part_of_path))
        || text.ends_with("\"]")
}

/// Goes to the end of a string, and says whether there is one.
fn ends(rest: &mut Chars<'_>) -> bool {
    while let Some(c) = rest.next() {
        match c {
            '"' => return true,
            '\\' => drop(rest.next()),
            _ => {}
        }
    }
    false
}

/// Goes to the end of a character such as `'"'`, if it is one and not a lifetime.
fn skip_character(rest: &mut Chars<'_>) {
    let mut after = rest.clone();
    let escaped = after.next() == Some('\\');
    if escaped {
        after.next();
        if let Some((_, behind)) = after.as_str().split_once('\'') {
            *rest = behind.chars();
        }
    } else if after.next() == Some('\'') {
        *rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::{is_code, is_expression};

    #[test]
    fn types_and_patterns() {
        for text in [
            "Vec<String>",
            "HashMap<String, u8>",
            "Option < u8 >",
            "fn(u8) -> [u8; 2]",
            "&'static str",
            "(a, b)",
            "Some(x)",
            "Mail { id, .. }",
            "\"a  b\"",
            "'\"'..='\\''",
            "String /",
        ] {
            assert!(is_code(text), "{text}");
        }
        for text in [
            "",
            " u8",
            "u8 // safe",
            "u8 /* */",
            "u8  needs x",
            "code(x)",
            "x in y",
            "u8\nstep x",
            "x {",
            "x }",
            "(]",
            "\"",
            "'\"' \"",
            "x\u{202e}",
            "\u{3164}",
        ] {
            assert!(!is_code(text), "{text}");
        }
    }

    #[test]
    fn expressions() {
        for text in [
            "a + b",
            "url.len()",
            "x.iter().collect::<HashMap<_, _>>()",
            "!done",
            "if a { b } else { c }",
            "u8::MAX",
            "\"a\".len()",
            "{ let x = 1; x }",
            "Some(a, b)",
            "-x",
            "a < b",
            "a[0].len()",
        ] {
            assert!(is_expression(text), "{text}");
        }
        for text in [
            "mail.subject",
            "mail[\"a\"]",
            "\"text\"",
            "1",
            "-1.5",
            "null",
            "[a, b]",
            "{ a: b }",
            "{}",
            "{ ..a }",
            "a, b: c",
            "a; b",
            "format!(\"{}\", x)",
            "computed(x)",
            "a // b",
            "a {",
            "",
        ] {
            assert!(!is_expression(text), "{text}");
        }
    }
}
