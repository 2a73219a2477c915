//! A reference whose form its first tokens show: `step.field[0]?.other`.

use super::brackets::{at_end, in_brackets};
use crate::ast::{Hop, Reference};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Ident, Lit, Member, Token, token};

/// Whether a name alone is a step's or an input's: all others (`LIMIT`, `Refresh`) are Rust's own.
pub(crate) fn is_source_name(ident: &Ident) -> bool {
    let name = ident.unraw().to_string();
    name != "self" && name != "crate" && name != "super" && !name.starts_with(char::is_uppercase)
}

/// Reads a path that is fields, indices and `?` alone. Most values are, and reading them as any expression takes several times as long.
/// Takes nothing where the value is anything else.
pub(super) fn plain(input: ParseStream<'_>) -> Option<Reference> {
    if !input.peek(Ident) {
        return None;
    }
    let fork = input.fork();
    let root: Ident = fork.parse().ok()?;
    let (mut hops, mut end): (Vec<Hop>, Span) = (Vec::new(), root.span());
    while !at_end(&fork) {
        let hop = if fork.peek(Token![.]) {
            let dot = fork.parse().ok()?;
            let name: Ident = fork.parse().ok()?;
            end = name.span();
            Hop::Field(dot, Member::Named(name))
        } else if fork.peek(token::Bracket) {
            let (bracket, content) = in_brackets(&fork).ok()?;
            end = bracket.span.close();
            let index = content.parse().ok()?;
            if !content.is_empty() {
                return None;
            }
            match index {
                Lit::Int(index) => Hop::Index(bracket, index),
                Lit::Str(key) => Hop::Key(bracket, key),
                _ => return None,
            }
        } else {
            let question: Token![?] = fork.parse().ok()?;
            end = question.span;
            Hop::Optional(question)
        };
        hops.push(hop);
    }
    if !is_source_name(&root) {
        return None;
    }
    input.advance_to(&fork);
    Some(Reference {
        root,
        local: None,
        hops,
        end,
    })
}
