//! Checks that the code in a help is applied, so that the compiler checks it.

use crate::mistakes::case::Case;
use crate::mistakes::rustc::Message;

/// Placeholders in the code of a help, which stand for any code of the author.
const AUTHORS: &[&str] = &["…", "Type", "Tool"];

/// Returns the missing part of a case whose help shows code: a fix, correct code that contains it, or a reason.
pub(crate) fn complaint(case: &Case, messages: &[Message]) -> Option<String> {
    let name = &case.name;
    let shown = shown(messages);
    let wrong = case.code.replace(['«', '»'], "");
    let right = case.right.as_deref().unwrap_or(&wrong);
    let (wrong, right) = (tokens(&wrong), tokens(right));
    let differs = |code: &String| count(&tokens(code), &right) != count(&tokens(code), &wrong);
    let applied = !case.fixes.is_empty() || shown.iter().any(differs);
    match (shown.is_empty(), applied, &case.unapplied) {
        (false, false, None) => Some(format!(
            "{name}: no `=>` and no `::` applies what its help shows: {}",
            shown.join(" | ")
        )),
        (true, _, Some(_)) | (_, true, Some(_)) => Some(format!("{name}: needs no `=~`")),
        _ => None,
    }
}

/// The code in this crate's errors that have a help with code, and the forms in their headlines.
fn shown(messages: &[Message]) -> Vec<String> {
    let code = |line: &str| -> Vec<String> {
        line.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let mut shown = Vec::new();
    for error in messages.iter().filter(|message| message.is_error) {
        let helps = error.text.lines().filter(|line| line.contains("help: "));
        let helped: Vec<_> = helps.flat_map(code).collect();
        if !helped.is_empty() {
            let headline = error.text.lines().next().map(code).unwrap_or_default();
            let is_form = |code: &String| tokens(code).iter().any(|token| AUTHORS.contains(token));
            shown.extend(headline.into_iter().filter(is_form));
            shown.extend(helped);
        }
    }
    shown
}

/// Words, and each other character as a token.
fn tokens(code: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    for piece in code.split_whitespace() {
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let end = match rest.find(|c| !is_word(c)) {
                Some(0) => first.len_utf8(),
                end => end.unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(end);
            tokens.push(token);
            rest = after;
        }
    }
    tokens
}

/// Counts the shown code in other code, with anything in place of the placeholders.
fn count(shown: &[&str], code: &[&str]) -> usize {
    let pieces: Vec<_> = shown
        .split(|token| AUTHORS.contains(token))
        .filter(|piece| !piece.is_empty())
        .collect();
    let Some((first, others)) = pieces.split_first() else {
        return 0;
    };
    let starts = (0..code.len()).filter(|start| {
        let Some(mut rest) = code[*start..].strip_prefix(*first) else {
            return false;
        };
        others.iter().all(|piece| {
            let at = rest
                .windows(piece.len())
                .position(|tokens| tokens == *piece);
            if let Some(at) = at {
                rest = &rest[at + piece.len()..];
            }
            at.is_some()
        })
    });
    starts.count()
}
