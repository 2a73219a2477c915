//! The tokens of a plan, as ranges of its source.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::ops::Range;

/// Several characters that are one token.
const LONG: &[&str] = &["->", "=>", "::", "..", "&&", "||", "==", "!=", "<=", ">="];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Word,
    Literal,
    Sign,
    Brackets,
}

/// A token, or brackets with all that is in them.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    /// The token after it in the same brackets.
    pub(crate) next: Option<Range<usize>>,
}

/// Returns all tokens of the source: brackets first, then their content.
pub(crate) fn all(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    add(text, text.parse().unwrap(), &mut tokens);
    tokens
}

/// The tokens in a range that are in no brackets there.
pub(crate) fn inside(tokens: &[Token], range: Range<usize>) -> impl Iterator<Item = &Token> {
    let mut end = range.start;
    tokens.iter().filter(move |token| {
        let is_next = token.range.start >= end && token.range.end <= range.end;
        if is_next {
            end = token.range.end;
        }
        is_next
    })
}

fn add(text: &str, stream: TokenStream, tokens: &mut Vec<Token>) {
    let mut here: Vec<(Token, TokenStream)> = Vec::new();
    let mut joint = false;
    for tree in stream {
        let range = tree.span().byte_range();
        // Two tokens of a comment, or what is in it.
        if text[range.clone()].starts_with("//") {
            continue;
        }
        let (kind, inner) = match &tree {
            TokenTree::Ident(_) => (Kind::Word, TokenStream::new()),
            TokenTree::Literal(_) => (Kind::Literal, TokenStream::new()),
            TokenTree::Punct(_) => (Kind::Sign, TokenStream::new()),
            TokenTree::Group(group) => {
                assert_ne!(group.delimiter(), Delimiter::None);
                (Kind::Brackets, group.stream())
            }
        };
        if let Some((last, _)) = here.last_mut()
            && joint
            && LONG.contains(&&text[last.range.start..range.end])
        {
            last.range.end = range.end;
        } else {
            let token = Token {
                range,
                kind,
                next: None,
            };
            here.push((token, inner));
        }
        joint = matches!(&tree, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint);
    }
    let mut next = None;
    for (token, _) in here.iter_mut().rev() {
        token.next = next.replace(token.range.clone());
    }
    for (token, inner) in here {
        tokens.push(token);
        add(text, inner, tokens);
    }
}
