//! The names that a plan declares.

use crate::mutations::token::{self, Kind, Token};
use std::ops::Range;

/// A step, an input, the output, or a variable of a pattern.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// The position of the name.
    pub(crate) at: Range<usize>,
    /// The step or input as a whole.
    pub(crate) all: Range<usize>,
}

/// All names that a plan declares.
pub(crate) fn all(text: &str) -> Vec<Declared> {
    let tokens = token::all(text);
    let mut found = Vec::new();
    let groups: Vec<_> = token::inside(&tokens, 0..text.len())
        .filter(|token| token.kind == Kind::Brackets)
        .collect();
    for group in groups {
        let end = if text[group.range.clone()].starts_with('{') {
            ";"
        } else {
            ","
        };
        let inner = group.range.start + 1..group.range.end - 1;
        let mut start = inner.start;
        let mut part = Vec::new();
        for token in token::inside(&tokens, inner) {
            if &text[token.range.clone()] == end {
                part_of(text, &tokens, start..token.range.end, &part, &mut found);
                start = token.range.end;
                part.clear();
            } else {
                part.push(token);
            }
        }
        part_of(text, &tokens, start..group.range.end - 1, &part, &mut found);
    }
    found
}

/// A step or an input, of the tokens of a part.
fn part_of(
    text: &str,
    tokens: &[Token],
    all: Range<usize>,
    part: &[&Token],
    found: &mut Vec<Declared>,
) {
    let written = |token: &Token| &text[token.range.clone()];
    let mut add = |token: &Token| {
        found.push(Declared {
            name: written(token).to_owned(),
            at: token.range.clone(),
            all: all.clone(),
        });
    };
    for pair in part.windows(2) {
        if written(pair[0]) == "step" {
            add(pair[1]);
        } else if pair[0].kind == Kind::Word && written(pair[1]) == ":" {
            add(pair[0]);
        }
    }
    // `for … in`, `let … =` and `|…|`.
    let mut open: Option<&str> = None;
    for token in tokens.iter().filter(|token| within(&token.range, &all)) {
        let word = written(token);
        match (open, word) {
            (None, "for") => open = Some("in"),
            (None, "let") => open = Some("="),
            (None, "|") => open = Some("|"),
            (Some(end), word) if word == end => open = None,
            (Some(_), word) if word.starts_with(char::is_lowercase) => add(token),
            _ => {}
        }
    }
}

fn within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    inner.start >= outer.start && inner.end <= outer.end
}
