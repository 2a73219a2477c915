//! Typing errors in a plan.

use crate::mutations::token::{self, Kind, Token};
use std::ops::Range;

/// A plan with one wrong token.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// `flow: delete` and the token, with its line and column.
    pub(crate) name: String,
    /// `true` for the plan itself.
    pub(crate) is_first: bool,
    /// The plan before.
    pub(crate) original: String,
    pub(crate) text: String,
    /// The changed range in the plan.
    pub(crate) before: Range<usize>,
    /// The range of the change in the mutant.
    pub(crate) after: Range<usize>,
}

impl Mutant {
    /// A number that depends on nothing but the name, by FNV-1a.
    pub(crate) fn number(&self) -> u64 {
        let seed = 0xcbf2_9ce4_8422_2325_u64;
        self.name.bytes().fold(seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }) >> 20
    }

    /// The line that was changed.
    pub(crate) fn line_after(&self) -> &str {
        let start = self.text[..self.after.start]
            .rfind('\n')
            .map_or(0, |at| at + 1);
        self.text[start..].lines().next().unwrap_or_default().trim()
    }
}

/// All mutants of a plan.
pub(crate) fn all(plan: &str, text: &str) -> Vec<Mutant> {
    let mut mutants = vec![Mutant {
        name: format!("{plan}: unchanged"),
        is_first: true,
        original: text.to_owned(),
        text: text.to_owned(),
        before: 0..0,
        after: 0..0,
    }];
    for token in token::all(text) {
        let written = &text[token.range.clone()];
        let mut add = |what: &str, range: Range<usize>, new: &str| {
            let line = text[..range.start].lines().count().max(1);
            let column = range.start - text[..range.start].rfind('\n').map_or(0, |at| at + 1);
            let shown: String = written.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown: String = shown.chars().take(24).collect();
            let (mutated, after) = replaced(text, &range, new);
            mutants.push(Mutant {
                name: format!("{plan}: {what} `{shown}` at {line}:{}", column + 1),
                is_first: false,
                original: text.to_owned(),
                text: mutated,
                before: range,
                after,
            });
        };
        let range = token.range.clone();
        add("delete", range.clone(), "");
        add("double", range.clone(), &doubled(&token, written));
        if let Some(next) = &token.next
            && text[next.clone()] != *written
        {
            let between = &text[range.end..next.start];
            let swapped = format!("{}{between}{written}", &text[next.clone()]);
            let swapped = match between {
                "" => format!("{} {written}", &text[next.clone()]),
                _ => swapped,
            };
            add("swap", range.start..next.end, &swapped);
        }
        if token.kind == Kind::Brackets {
            add("unwrap", range.clone(), &written[1..written.len() - 1]);
        }
        if let Some(misspelled) = misspelled(&token, written) {
            add("misspell", range, &misspelled);
        }
    }
    mutants
}

fn doubled(token: &Token, written: &str) -> String {
    match token.kind {
        Kind::Sign => format!("{written}{written}"),
        _ => format!("{written} {written}"),
    }
}

/// The token with two letters in the wrong order, or as a key beside the right one makes it.
fn misspelled(token: &Token, written: &str) -> Option<String> {
    let inside = &written[1..written.len() - 1.min(written.len() - 1)];
    Some(match token.kind {
        Kind::Word => {
            let mut letters: Vec<char> = written.chars().collect();
            let at = (1..letters.len())
                .rev()
                .find(|at| letters[*at] != letters[at - 1]);
            match at.filter(|_| letters.len() > 2) {
                Some(at) => letters.swap(at, at - 1),
                None => letters.push(letters[0]),
            }
            letters.into_iter().collect()
        }
        Kind::Literal if written.starts_with('"') => {
            let mut letters: Vec<char> = inside.chars().collect();
            letters.pop();
            format!("\"{}\"", letters.into_iter().collect::<String>())
        }
        Kind::Literal => format!("{written}o"),
        Kind::Brackets if written.starts_with('(') => format!("{{{inside}}}"),
        Kind::Brackets if written.starts_with('{') => format!("({inside})"),
        Kind::Brackets => format!("({inside})"),
        Kind::Sign => match written {
            ";" => ":",
            ":" => ";",
            "," => ".",
            "." => ",",
            "=" => "-",
            "->" => "=>",
            "=>" => "->",
            "&&" => "&",
            "::" => ":",
            ".." => ".",
            "<" => ",",
            ">" => ".",
            "|" => ":",
            "?" => "/",
            "!" => "1",
            "#" => "3",
            "&" => "7",
            "-" => "=",
            "+" => "=",
            "*" => "8",
            _ => return None,
        }
        .to_owned(),
    })
}

/// Replaces a range of the source by another token, and returns the range of the token.
fn replaced(text: &str, range: &Range<usize>, new: &str) -> (String, Range<usize>) {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"');
    let (left, right) = (&text[..range.start], &text[range.end..]);
    let first = new.chars().next().or_else(|| right.chars().next());
    let gap = |a: Option<char>, b: Option<char>| if is_word(a) && is_word(b) { " " } else { "" };
    let before = gap(left.chars().next_back(), first);
    let last = new.chars().next_back().filter(|_| !new.is_empty());
    let after = gap(last, right.chars().next());
    let start = range.start + before.len();
    (
        format!("{left}{before}{new}{after}{right}"),
        start..start + new.len(),
    )
}
