//! A path from a step or an input: `step.field[0]?.other`.

use super::tokens::{at_end, in_brackets, in_parens};
use crate::ast::{Hop, Reference};
use crate::docs::text_of;
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Expr, ExprLit, Ident, Index, Lit, LitFloat, Member, Token, token};

/// Returns `true` if a name alone belongs to a step or an input. Other names (`LIMIT`, `Refresh`) are Rust's own.
pub(crate) fn is_source_name(ident: &Ident) -> bool {
    let name = text_of(ident);
    name != "self" && name != "crate" && name != "super" && !name.starts_with(char::is_uppercase)
}

/// Returns `true` if the name is a keyword without `r#`.
pub(crate) fn is_keyword(name: &Ident) -> bool {
    syn::parse_str::<Ident>(&name.to_string()).is_err()
}

/// Reads a reference, if the value is one. Most values are references, and the parser of expressions takes several times as long.
pub(super) fn reference(input: ParseStream<'_>) -> Option<Reference> {
    if !input.peek(Ident) {
        return None;
    }
    let fork = input.fork();
    let root: Ident = fork.parse().ok()?;
    let (mut hops, mut end) = (Vec::new(), root.span());
    while !at_end(&fork) {
        end = hop(&fork, &mut hops).ok()??;
    }
    if !is_source_name(&root) {
        return None;
    }
    input.advance_to(&fork);
    Some(Reference {
        hops,
        end,
        ..Reference::new(root)
    })
}

/// Returns the name with the fields and elements that an expression names after it.
pub(super) fn place(expr: &Expr) -> Option<Reference> {
    let (mut place, hop, end) = match expr {
        Expr::Group(inner) => return place(&inner.expr),
        Expr::Path(path) if path.attrs.is_empty() && path.qself.is_none() => {
            let root = path.path.get_ident().filter(|name| is_source_name(name))?;
            return Some(Reference::new(root.clone()));
        }
        Expr::Field(field) if field.attrs.is_empty() => {
            let hop = Hop::Field(field.dot_token, field.member.clone());
            (place(&field.base)?, hop, end_of_member(&field.member))
        }
        Expr::Index(index) if index.attrs.is_empty() => {
            let bracket = index.bracket_token;
            let Expr::Lit(ExprLit { lit, .. }) = &*index.index else {
                return None;
            };
            let hop = match lit {
                Lit::Int(number) => Hop::Index(bracket, number.clone()),
                Lit::Str(key) => Hop::Key(bracket, key.clone()),
                _ => return None,
            };
            (place(&index.expr)?, hop, bracket.span.close())
        }
        _ => return None,
    };
    place.hops.push(hop);
    place.end = end;
    Some(place)
}

/// Returns `true` for a name with any fields and elements after it.
pub(crate) fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some_and(is_source_name),
        Expr::Field(field) => is_place(&field.base),
        Expr::Index(index) => is_place(&index.expr),
        Expr::Group(group) => is_place(&group.expr),
        _ => false,
    }
}

fn end_of_member(member: &Member) -> Span {
    match member {
        Member::Named(name) => name.span(),
        Member::Unnamed(index) => index.span,
    }
}

/// Reads the next part of a reference, and gives its end.
fn hop(input: ParseStream<'_>, hops: &mut Vec<Hop>) -> syn::Result<Option<Span>> {
    // The most frequent token comes first.
    let (hop, end) = if input.peek(Token![.]) {
        let dot = input.parse()?;
        return after_dot(dot, input, hops);
    } else if input.peek(token::Bracket) {
        let (bracket, content) = in_brackets(input)?;
        let hop = if content.peek(Token![..]) && !content.peek(Token![..=]) {
            content.parse::<Token![..]>()?;
            Hop::Each(bracket)
        } else {
            match content.parse()? {
                Lit::Int(index) => Hop::Index(bracket, index),
                Lit::Str(key) => Hop::Key(bracket, key),
                _ => return Ok(None),
            }
        };
        if !content.is_empty() {
            return Ok(None);
        }
        (hop, bracket.span.close())
    } else {
        let question: Token![?] = input.parse()?;
        (Hop::Optional(question), question.span)
    };
    hops.push(hop);
    Ok(Some(end))
}

/// Reads a field, a side of a `Result`, or the argument of `get` or `pointer`.
fn after_dot(
    dot: Token![.],
    input: ParseStream<'_>,
    hops: &mut Vec<Hop>,
) -> syn::Result<Option<Span>> {
    if !input.peek(Ident) && input.peek(LitFloat) {
        return two_fields(dot, input, hops);
    }
    let (hop, end) = match input.parse()? {
        Member::Named(name) if input.peek(token::Paren) => {
            let (paren, content) = in_parens(input)?;
            if content.is_empty() && (name == "ok" || name == "err") {
                hops.push(Hop::Outcome(name));
                return Ok(Some(paren.span.close()));
            }
            let argument = content.parse()?;
            content.parse::<Option<Token![,]>>()?;
            let hop = match argument {
                _ if !content.is_empty() => return Ok(None),
                key @ (Lit::Int(_) | Lit::Str(_)) if name == "get" => Hop::Get(dot, name, key),
                Lit::Str(text) if name == "pointer" => Hop::Pointer(dot, name, text),
                _ => return Ok(None),
            };
            (hop, paren.span.close())
        }
        member => {
            let end = end_of_member(&member);
            (Hop::Field(dot, member), end)
        }
    };
    hops.push(hop);
    Ok(Some(end))
}

/// Reads `.0.1`. Its numbers are one token, like the `0.` in `.0. name`.
fn two_fields(
    dot: Token![.],
    input: ParseStream<'_>,
    hops: &mut Vec<Hop>,
) -> syn::Result<Option<Span>> {
    let both: LitFloat = input.parse()?;
    let (token, span) = (both.token(), both.span());
    let text = token.to_string();
    let Some((first, second)) = text.split_once('.') else {
        return Ok(None);
    };
    let part = |range| token.subspan(range).unwrap_or(span);
    let middle = first.len();
    let next = Token![.](part(middle..middle + 1));
    let mut field = |dot, digits, at| -> syn::Result<()> {
        let mut index: Index = syn::parse_str(digits)?;
        index.span = at;
        hops.push(Hop::Field(dot, Member::Unnamed(index)));
        Ok(())
    };
    field(dot, first, part(0..middle))?;
    if second.is_empty() {
        return after_dot(next, input, hops);
    }
    let end = part(middle + 1..text.len());
    field(next, second, end)?;
    Ok(Some(end))
}
