//! Cuts the tokens of a plan into statements, and says which of them are steps.

use super::tokens::Tokens;
use proc_macro2::{Span, TokenStream, TokenTree};

/// All up to a semicolon, or up to where the next step begins.
pub(super) struct Statement {
    pub(super) attrs: TokenStream,
    pub(super) tokens: Tokens,
    pub(super) semicolon: bool,
    pub(super) end: Span,
}

pub(super) fn statement(tokens: &mut Tokens) -> Statement {
    let attrs = tokens.attributes();
    let mut taken = TokenStream::new();
    let mut semicolon = false;
    while !tokens.is_empty() {
        if tokens
            .peek_punct(0)
            .is_some_and(|punct| punct.as_char() == ';')
        {
            semicolon = true;
            break;
        }
        if !taken.is_empty() && (starts_step(tokens) || tokens.attribute(0).is_some()) {
            break;
        }
        taken.extend(tokens.next());
    }
    let end = tokens.last();
    if semicolon {
        tokens.next();
    }
    Statement {
        attrs,
        tokens: Tokens::new(taken),
        semicolon,
        end,
    }
}

/// Whether `step name =` or `step name:` comes next, perhaps after attributes.
fn starts_step(tokens: &Tokens) -> bool {
    let mut at = 0;
    while let Some(length) = tokens.attribute(at) {
        at += length;
    }
    tokens.peek_ident(at).is_some_and(|ident| ident == "step")
        && tokens.peek_ident(at + 1).is_some()
        && tokens
            .peek_punct(at + 2)
            .is_some_and(|punct| matches!(punct.as_char(), '=' | ':'))
}

/// Whether the statement is meant as a step: `step …`, and what is easily written instead of it.
pub(super) fn is_step(tokens: &Tokens, is_known: impl Fn(&str) -> bool) -> bool {
    let Some(first) = tokens.peek_ident(0) else {
        return false;
    };
    let assigns = |ahead: usize| {
        tokens
            .peek_punct(ahead)
            .is_some_and(|punct| is_single(tokens, ahead, punct.as_char(), "=:"))
    };
    let second = tokens.peek(1);
    let is_step = match second {
        None => !is_known("step"),
        // An input may be named `step`: `step as u64` is an expression.
        Some(TokenTree::Ident(second)) => second != "as",
        Some(second) => matches!(second, TokenTree::Literal(_)),
    };
    let is_misspelled = tokens.peek_ident(1).is_some() && assigns(2);
    first == "step" && is_step || first == "let" || assigns(1) || is_misspelled
}

/// Whether the punctuation is one of `chars` and no part of `==`, `=>` or `::`.
fn is_single(tokens: &Tokens, ahead: usize, char: char, chars: &str) -> bool {
    let joined = tokens
        .peek_punct(ahead + 1)
        .is_some_and(|next| matches!(next.as_char(), '=' | '>' | ':'))
        && tokens
            .peek_punct(ahead)
            .is_some_and(|punct| punct.spacing() == proc_macro2::Spacing::Joint);
    chars.contains(char) && !joined
}
