//! `loop |last| { … } while condition`

use super::super::{is_source_name, other_words, value};
use super::block;
use crate::ast::{Body, Loop, Value};
use crate::report::Report;
use crate::scan::LoopTokens;
use crate::scan::value::end_of;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;

const USAGE: &str = "a loop is written `loop { … } while condition`";

/// Reads a loop, which is the work of the step of this name; `None` if it was reported as a whole.
pub(super) fn repeat(
    source: LoopTokens,
    end: Span,
    name: &Ident,
    report: &mut Report,
) -> Option<Body> {
    let keyword = source.keyword?.span();
    let last = match source.last {
        None => None,
        Some((bar, tokens)) => Some(last(tokens, bar, report)?),
    };
    if let Some(TokenTree::Group(name)) = source.extra.clone().into_iter().next()
        && name.delimiter() == Delimiter::Parenthesis
    {
        let name = name.stream();
        report.error(
            source.extra,
            format!("the name of the value of the round before is between bars\nhelp: write `loop |{name}| {{ … }} while condition`"),
        );
        return None;
    }
    if !source.extra.is_empty() {
        report.error(source.extra, format!("expected `{{` before this: {USAGE}"));
        return None;
    }
    let Some(group) = source.block else {
        report.error_at(keyword, USAGE);
        return None;
    };
    let word = other_words::ending(&group.stream());
    if let Some(word) = word.filter(|word| word != "return") {
        report.error(&word, other_words::ending_of_loop(&word));
        return None;
    }
    let before = report.len();
    let again = again(
        source.until,
        source.condition,
        group.span_close(),
        end,
        report,
    );
    if report.keep_first(before) {
        return None;
    }
    Some(Body::Loop(Box::new(Loop {
        keyword,
        last,
        round: block::round(&group, name, report),
        again,
        scope: 0,
        mentions: Vec::new(),
    })))
}

/// The name of the value of the round before.
fn last(tokens: TokenStream, bar: Span, report: &mut Report) -> Option<Ident> {
    let mut trees = tokens.clone().into_iter();
    if let (Some(TokenTree::Ident(name)), None) = (trees.next(), trees.next())
        && is_source_name(&name)
    {
        return Some(name);
    }
    let message = "between the bars is a name for the value of the round before: `loop |last| { … } while condition`";
    if tokens.is_empty() {
        report.error_at(
            bar,
            format!("{message}\nhelp: remove the bars if no round looks at the one before"),
        );
    } else {
        report.error(tokens, message);
    }
    None
}

/// What is after the braces. `close` is their end.
fn again(
    until: Option<TokenTree>,
    condition: TokenStream,
    close: Span,
    end: Span,
    report: &mut Report,
) -> Value {
    match &until {
        None => {
            report.error_at(
                close,
                format!("expected `while` and a condition after this: {USAGE}"),
            );
            return Value::Broken;
        }
        Some(TokenTree::Ident(word)) if word == "while" => {}
        Some(TokenTree::Ident(word)) if word == "until" => {
            report.error(
                word,
                "a loop goes on while its condition is true\nhelp: write `while !…`",
            );
            return Value::Broken;
        }
        Some(other) => {
            report.error_at(
                value::start_of(other),
                format!("expected `while` before this: {USAGE}"),
            );
            return Value::Broken;
        }
    }
    let keyword = until.map_or(close, |word| word.span());
    if condition.is_empty() {
        report.error_at(keyword, "expected a condition after `while`");
        return Value::Broken;
    }
    let first = condition.clone().into_iter().next();
    let word = first.filter(|first| matches!(first, TokenTree::Ident(word) if word == "let"));
    let pattern = super::without_let(&condition).map(|(pattern, _)| pattern.to_token_stream());
    if let Some(at) = word.map(Into::into).or(pattern) {
        report.error(
            at,
            "the condition of a loop is a `bool`, and binds nothing\nhelp: write `matches!(value, pattern)`, or `value.is_some()`",
        );
        return Value::Broken;
    }
    if let Some((at, message)) = super::misspelled_operator(&condition) {
        report.error_at(at, message);
        return Value::Broken;
    }
    let end = end_of(&condition).unwrap_or(end);
    value::all(condition, end, "`;`", report)
}
