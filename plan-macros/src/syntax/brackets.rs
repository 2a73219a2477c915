//! The contents of brackets, and the ends of values in them.

use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream};
use syn::{Ident, Token, braced, bracketed, parenthesized, token};

/// Returns `true` before a comma or the end.
pub(super) fn at_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

pub(crate) fn in_brackets<'a>(
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

pub(crate) fn in_braces<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Brace, ParseBuffer<'a>)> {
    let content;
    Ok((braced!(content in input), content))
}

/// Returns the name and the `=` before an argument of a macro: `format!("{x}", x = 1)`.
pub(crate) fn argument_name(input: ParseStream<'_>) -> syn::Result<Option<(Ident, Token![=])>> {
    let is_named = input.peek(Ident::peek_any) && input.peek2(Token![=]);
    if !is_named || input.peek2(Token![==]) {
        return Ok(None);
    }
    Ok(Some((input.call(Ident::parse_any)?, input.parse()?)))
}
