//! Patterns that only name things.

use crate::plan::Template;
use crate::print::short;
use std::collections::HashSet;

/// Words that are never names.
const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "crate", "dyn", "else", "enum",
    "extern", "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod",
    "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "unsafe", "use", "where", "while", "yield",
];

/// What is wrong with a pattern over this value, and what to write. A run compares data with no pattern, so one that asks for more than a
/// value that is not null would print something else than what happens. A computed value is matched by its own code.
pub(crate) fn mistake(pattern: &str, value: &Template, in_if: bool) -> Option<(String, String)> {
    if matches!(value, Template::Computed(_)) || only_names(pattern, in_if) {
        return None;
    }
    let shown = short(pattern);
    if in_if && only_names(pattern, false) {
        return Some((
            format!("the pattern `{shown}` always matches, and a run skips null"),
            format!("a branch for what is not null has the pattern `Some({shown})`"),
        ));
    }
    let help = if in_if {
        "over data, a pattern is `Some(…)` with a name, `_`, or a tuple of them in it"
    } else {
        "over data, a pattern is a name, `_`, or a tuple of them"
    };
    let message = format!("the pattern `{shown}` is not compared with the value");
    Some((message, help.to_owned()))
}

/// Whether a pattern is a name, `_`, or a tuple of these with each name once; after `if let`, in `Some(…)`.
fn only_names(pattern: &str, in_if: bool) -> bool {
    let mut pattern = pattern.trim();
    if in_if {
        // What always matches is skipped where there is null.
        let Some(inner) = inside(pattern, "Some(") else {
            return false;
        };
        pattern = inner;
    }
    let parts: Vec<&str> = match inside(pattern, "(") {
        Some(inner) => {
            let inner = inner.strip_suffix(',').unwrap_or(inner);
            inner.split(',').map(str::trim).collect()
        }
        None => vec![pattern],
    };
    let mut names = HashSet::new();
    parts.into_iter().all(|part| {
        // `r#a` and `a` are one name.
        let plain = part.strip_prefix("r#").unwrap_or(part);
        part == "_" || (is_name(part) && names.insert(plain))
    })
}

/// What a pattern has between this and its last parenthesis.
fn inside<'t>(pattern: &'t str, open: &str) -> Option<&'t str> {
    let inner = pattern.strip_prefix(open)?.strip_suffix(')')?;
    Some(inner.trim())
}

fn is_name(text: &str) -> bool {
    let plain = text.strip_prefix("r#").unwrap_or(text);
    let mut chars = plain.chars();
    // What begins with a capital is a constant, or a variant.
    let starts = chars
        .next()
        .is_some_and(|c| c == '_' || (c.is_alphabetic() && !c.is_uppercase()));
    starts && chars.all(|c| c == '_' || c.is_alphanumeric()) && !KEYWORDS.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::only_names;

    #[test]
    fn names_and_nothing_else() {
        for pattern in [
            "x",
            "_",
            "(a, b)",
            "(_, b)",
            "(a, b,)",
            "r#type",
            "_x",
            "結果",
            "( a , b )",
        ] {
            assert!(
                !only_names(pattern, true) && only_names(pattern, false),
                "{pattern}"
            );
        }
        for pattern in ["Some(x)", "Some((a, b))", "Some(_)", "Some( x )"] {
            assert!(
                only_names(pattern, true) && !only_names(pattern, false),
                "{pattern}"
            );
        }
        for pattern in [
            "",
            "None",
            "MAX",
            "true",
            "5",
            "\"x\"",
            "Some(\"x\")",
            "Err(x)",
            "Ok(x)",
            "(a, a)",
            "(r#a, a)",
            "(a, (b, c))",
            "[a, ..]",
            "Mail { to, .. }",
            "ref x",
            "mut x",
            "&x",
            "x @ _",
            "x | y",
            "Some(Some(x))",
            "self",
            "a::b",
            "(a, None)",
            "()",
            "x // y",
            "x if true",
            "Some(x) | y",
        ] {
            assert!(!only_names(pattern, true), "{pattern}");
            assert!(!only_names(pattern, false), "{pattern}");
        }
    }
}
