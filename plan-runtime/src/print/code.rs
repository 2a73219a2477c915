//! Rust code that was never parsed: types, patterns and computed values in the notation of a plan.

use super::{Quoted, is_seen};
use std::fmt::{Display, Formatter, Result};
use std::str::Chars;

/// A type or a pattern. Written as `code("…")` if a reader could take it for more than a type or a pattern.
pub(crate) struct Code<'t>(pub(crate) &'t str);

impl Display for Code<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if is_code(self.0) {
            f.write_str(self.0)
        } else {
            write!(f, "code({})", Quoted(self.0))
        }
    }
}

/// Returns `true` if code ends where it seems to end: on one line, without comments, with each bracket and each string
/// closed.
pub(crate) fn is_code(text: &str) -> bool {
    is_one(text, true) && !text.starts_with("code(")
}

/// Returns `true` if a string is one value, in the notation of references.
pub(crate) fn is_whole(text: &str) -> bool {
    is_one(text, false)
}

/// Returns `true` if a string can only be a computed value: one expression, and not a reference, a literal, a list or
/// an object.
pub(crate) fn is_expression(text: &str) -> bool {
    is_whole(text) && !is_value(text)
}

fn is_one(text: &str, may_list: bool) -> bool {
    if text.is_empty() || text.trim() != text || !is_seen(text) {
        return false;
    }
    let mut open: Vec<char> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let (before, rest) = text.split_at(at);
        if let Some(length) = literal(rest) {
            if length == 0 {
                return false;
            }
            at += length;
            continue;
        }
        let word = word(rest);
        if !word.is_empty() {
            // An `in` would end the pattern: a list comes after it.
            let ends = word == "in" && open.is_empty() && !before.ends_with("r#");
            if may_list && ends {
                return false;
            }
            at += word.len();
            continue;
        }
        at += c.len_utf8();
        let after = &text[at..];
        match c {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            // `::<` opens the generic arguments of a call.
            '<' if before.ends_with("::") => open.push('>'),
            '>' if open.last() == Some(&c) => drop(open.pop()),
            ')' | ']' | '}' if open.pop() != Some(c) => return false,
            ',' | ';' if open.is_empty() && !may_list => return false,
            '/' if after.starts_with(['/', '*']) => return false,
            // Printed plans have two spaces before a comment.
            ' ' if after.starts_with(' ') => return false,
            _ => {}
        }
    }
    open.is_empty()
}

/// Returns `true` if code contains this sign outside of its brackets and strings.
pub(crate) fn has_outside(text: &str, sign: &str) -> bool {
    split_outside(text, &[sign]).len() > 1
}

/// Splits code at these signs outside of its brackets and strings.
pub(crate) fn split_outside<'t>(text: &'t str, signs: &[&str]) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut start, mut at, mut open) = (0, 0, 0_i32);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open -= 1,
            _ => {}
        }
        if open == 0
            && let Some(sign) = signs.iter().find(|sign| rest.starts_with(**sign))
        {
            parts.push(&text[start..at]);
            at += sign.len();
            start = at;
            continue;
        }
        at += match (literal(rest), word(rest)) {
            (Some(length @ 1..), _) => length,
            (_, "") => c.len_utf8(),
            (_, word) => word.len(),
        };
    }
    parts.push(&text[start..]);
    parts
}

/// Returns the letters and digits at the beginning of a string.
pub(crate) fn word(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(is_part_of_name).len()]
}

/// Returns `true` if a Rust name may contain the character.
pub(crate) fn is_part_of_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Returns the length of the string or character literal at the beginning of code; 0 if the literal does not end.
pub(crate) fn literal(text: &str) -> Option<usize> {
    let kind = word(text);
    let inside = &text[kind.len()..];
    match kind {
        "r" | "br" | "cr" => {
            let signs = inside.len() - inside.trim_start_matches('#').len();
            let content = inside[signs..].strip_prefix('"')?;
            let close = format!("\"{}", "#".repeat(signs));
            let end = content.find(&close);
            Some(end.map_or(0, |end| text.len() - content.len() + end + close.len()))
        }
        "" | "b" | "c" => {
            let mut rest = inside.chars();
            match rest.next()? {
                '"' if !ends(&mut rest) => return Some(0),
                '"' => {}
                '\'' if kind != "c" => {
                    let before = rest.as_str().len();
                    skip_character(&mut rest);
                    // The apostrophe of a lifetime.
                    if rest.as_str().len() == before {
                        return None;
                    }
                }
                _ => return None,
            }
            Some(text.len() - rest.as_str().len())
        }
        _ => None,
    }
}

/// Returns the name at the start of a path: `mail` in `mail.subject`.
pub(crate) fn root(text: &str) -> Option<&str> {
    let part_of_path = |c: char| c.is_alphanumeric() || "_.?[]".contains(c);
    let root = text.split(['.', '?', '[']).next()?;
    (is_whole(text) && super::is_word(root) && text.chars().all(part_of_path)).then_some(root)
}

/// Returns `true` if a string could be the notation of another kind of template.
pub(crate) fn is_value(text: &str) -> bool {
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
    // A member of an object, as the arguments of a tool are written.
    let name = text.trim_start_matches(|c: char| c.is_alphanumeric() || "_-$@".contains(c));
    let after = match literal(text) {
        Some(length) => &text[length..],
        None => name,
    };
    let is_member = after.starts_with(':') && !after.starts_with("::");
    // A line of a block, whose braces may contain a value.
    let is_line = text.starts_with('#')
        || ["step ", "input "].iter().any(|start| {
            let name = text.strip_prefix(start);
            name.is_some_and(|name| name.starts_with('"') || !word(name).is_empty())
        });
    is_member
        || is_line
        || text.parse::<f64>().is_ok()
        || [
            "format!(",
            "computed(",
            "reference(",
            "tool \"",
            "&\"",
            "...",
        ]
        .iter()
        .any(|start| text.starts_with(start))
        || inside('"', '"').is_some()
        || inside('[', ']').is_some()
        || inside('{', '}').is_some_and(entries)
        || (!text.starts_with('-') && text.chars().all(part_of_path))
        || text.ends_with("\"]")
}

/// Advances to the end of a string literal. Returns `false` if the literal does not end.
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

/// Skips a character literal such as `'"'`, if it is one and not a lifetime.
fn skip_character(rest: &mut Chars<'_>) {
    let mut after = rest.clone();
    let escaped = after.next() == Some('\\');
    if escaped {
        after.next();
        // At most `u{10ffff}`, so that an escape cannot contain other code.
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '{' | '}');
        let behind = after.as_str().trim_start_matches(inside);
        if let Some(behind) = behind.strip_prefix('\'') {
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
            "\"a in b\"",
            "r\"\\\"",
            "r##\"a\"#b\"##",
            "br\"\\\" | b\"\\\"\"",
            "[x, ..] | Some(r#in)",
            "inner",
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
            "x in(y)",
            "\"a\" in y",
            "r\"\\\" in y",
            "r#\"a\"",
            "br\"\\",
            "u8\nstep x",
            "x {",
            "x }",
            "(]",
            "\"",
            "'\"' \"",
            "'\\n {  // x '",
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
