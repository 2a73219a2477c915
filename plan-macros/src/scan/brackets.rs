//! The contents of brackets, and the ends of values in them.

use syn::parse::{ParseBuffer, ParseStream};
use syn::{Token, braced, bracketed, parenthesized, token};

/// Whether a comma or nothing comes next.
pub(super) fn at_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

pub(super) fn in_brackets<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Bracket, ParseBuffer<'a>)> {
    let content;
    Ok((bracketed!(content in input), content))
}

pub(super) fn in_parens<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Paren, ParseBuffer<'a>)> {
    let content;
    Ok((parenthesized!(content in input), content))
}

pub(super) fn in_braces<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Brace, ParseBuffer<'a>)> {
    let content;
    Ok((braced!(content in input), content))
}
