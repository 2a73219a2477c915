//! `pub Name(input: Type) -> Output { … }`, and `#![plan(…)]` before it.

use super::braced;
use super::tokens::Tokens;
use crate::ast::{Head, Input};
use crate::report::Report;
use proc_macro2::{Delimiter, Spacing, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, LitStr, Path, Token, Type, Visibility};

/// `#![plan(crate = path)]` at the very start.
pub(crate) fn krate(tokens: &mut Tokens, report: &mut Report) -> Option<Path> {
    let mut krate = None;
    while tokens.peek_punct(0).is_some_and(|p| p.as_char() == '#')
        && tokens.peek_punct(1).is_some_and(|p| p.as_char() == '!')
        && tokens.peek_group(2, Delimiter::Bracket).is_some()
    {
        let attr = [tokens.next(), tokens.next(), tokens.next()]
            .into_iter()
            .flatten()
            .collect();
        match Attribute::parse_inner
            .parse2(attr)
            .map(|mut attrs| attrs.remove(0))
        {
            Ok(attr) if attr.path().is_ident("plan") => {
                let result = attr.parse_nested_meta(|meta| {
                    if !meta.path.is_ident("crate") {
                        return Err(meta.error(
                            "expected `crate = path`, the path of the crate `plan-runtime`",
                        ));
                    }
                    let value = meta.value()?;
                    krate = Some(if value.peek(LitStr) {
                        value.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?
                    } else {
                        value.call(Path::parse_mod_style)?
                    });
                    Ok(())
                });
                if let Err(error) = result {
                    report.push(error);
                }
            }
            Ok(attr) => report.error(
                attr,
                "the only inner attribute of a plan is `#![plan(crate = path)]`",
            ),
            Err(error) => report.push(error),
        }
    }
    krate
}

/// `pub Name(inputs) -> Output { … }`; `None` if this is the expression form.
pub(super) fn head(tokens: &mut Tokens, report: &mut Report) -> Option<(Head, Tokens)> {
    let before = report.len();
    let attrs = tokens.attributes();
    tokens.ungroup();
    let mut vis = quote!();
    if tokens.peek_ident(0).is_some_and(|ident| ident == "pub") {
        vis.extend(tokens.next());
        if tokens.peek_group(0, Delimiter::Parenthesis).is_some() {
            vis.extend(tokens.next());
        }
    } else if !starts_head(tokens) {
        return None;
    }
    if let Some(keyword) = tokens.peek_ident(0).filter(|ident| is_item_keyword(ident)) {
        report.error(
            keyword,
            "a plan starts with its name: `Name(input: Type) -> Output { … }`",
        );
        tokens.next();
    }
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        report.error_at(
            tokens.last(),
            "expected the name of the plan\nhelp: `plan! { pub Name(input: Type) -> Output { step … } }`",
        );
        return None;
    };
    if tokens
        .peek_punct(0)
        .is_some_and(|punct| punct.as_char() == '<')
    {
        report.error(
            &name,
            "a plan cannot be generic: its inputs and its output have concrete types",
        );
        return None;
    }
    let mut inputs = Vec::new();
    let mut broken = Vec::new();
    if let Some(group) = tokens.peek_group(0, Delimiter::Parenthesis) {
        inputs = self::inputs(group.stream(), &mut broken, report);
        tokens.next();
    } else {
        report.error(
            &name,
            format!("expected the inputs in parentheses, even if the plan has none: `{name}()`"),
        );
    }
    let arrow = is_arrow(tokens);
    let output = if arrow {
        tokens.next();
        tokens.next();
        output(tokens, report)
    } else {
        None
    };
    let body = match tokens.next() {
        Some(tree) if braced(&tree).is_some() => Tokens::new(braced(&tree).unwrap_or_default()),
        _ => {
            report.error_at(tokens.last(), "expected `{` and the steps of the plan");
            Tokens::new(quote!())
        }
    };
    if !tokens.is_empty() {
        report.error(
            tokens.rest(),
            "expected nothing after the plan: each `plan!` contains one plan",
        );
    }
    let attrs = parse_all(Attribute::parse_outer, attrs, report).unwrap_or_default();
    let vis = parse_all(Visibility::parse_one, vis, report).unwrap_or(Visibility::Inherited);
    Some((
        Head {
            attrs,
            vis,
            name,
            inputs,
            broken,
            unclear: arrow || report.len() > before,
            output,
        },
        body,
    ))
}

/// Whether `Name(…) {`, `Name(…) ->`, `Name ->` or `Name {` with steps in it comes next.
fn starts_head(tokens: &Tokens) -> bool {
    if tokens.peek_ident(0).is_none_or(|ident| ident == "step") {
        return false;
    }
    if tokens.peek_ident(0).is_some_and(is_item_keyword) && tokens.peek_ident(1).is_some() {
        return true;
    }
    let arrow_at = |ahead: usize| {
        tokens
            .peek_punct(ahead)
            .is_some_and(|p| p.as_char() == '-' && p.spacing() == Spacing::Joint)
            && tokens
                .peek_punct(ahead + 1)
                .is_some_and(|p| p.as_char() == '>')
    };
    let brace_at = |ahead: usize| tokens.peek_group(ahead, Delimiter::Brace);
    if tokens.peek_group(1, Delimiter::Parenthesis).is_some() {
        return arrow_at(2) || brace_at(2).is_some();
    }
    let is_generic = tokens
        .peek_punct(1)
        .is_some_and(|punct| punct.as_char() == '<');
    if is_generic
        && tokens
            .peek_ident(0)
            .is_some_and(|name| name.to_string().starts_with(char::is_uppercase))
    {
        return true;
    }
    let holds_steps = brace_at(1).is_some_and(|group| {
        let mut body = Tokens::new(group.stream());
        body.attributes();
        body.peek_ident(0).is_some_and(|ident| ident == "step") && body.peek_ident(1).is_some()
    });
    arrow_at(1) || holds_steps
}

/// What starts an item of Rust that looks like a plan.
fn is_item_keyword(ident: &Ident) -> bool {
    ["fn", "async", "struct", "impl", "plan"]
        .iter()
        .any(|keyword| ident == keyword)
}

fn is_arrow(tokens: &Tokens) -> bool {
    tokens.peek_punct(0).is_some_and(|p| p.as_char() == '-')
        && tokens.peek_punct(1).is_some_and(|p| p.as_char() == '>')
}

/// The type after `->`: all tokens up to the last brace group.
fn output(tokens: &mut Tokens, report: &mut Report) -> Option<Type> {
    let arrow = tokens.last();
    let mut ty = quote!();
    while let Some(tree) = tokens.peek(0) {
        if braced(tree).is_some() {
            break;
        }
        ty.extend(tokens.next());
    }
    if tokens.is_empty() {
        // That the braces are missing is reported by the caller.
        return None;
    }
    if ty.is_empty() {
        report.error_at(arrow, "expected the type of the plan's output after `->`");
        return None;
    }
    parse_all(<Type as syn::parse::Parse>::parse, ty, report)
}

fn inputs(
    stream: proc_macro2::TokenStream,
    broken: &mut Vec<Ident>,
    report: &mut Report,
) -> Vec<Input> {
    let mut tokens = Tokens::new(stream);
    let mut inputs = Vec::new();
    while !tokens.is_empty() {
        let one = input_tokens(&mut tokens, report);
        if one.is_empty() {
            report.error_at(
                tokens.last(),
                "expected an input before this comma: `name: Type`",
            );
            continue;
        }
        match input.parse2(one.clone()) {
            Ok(input) => inputs.push(input),
            Err(error) => {
                // What refers to it is not wrong.
                let mut tokens = Tokens::new(one);
                while let Some(tree) = tokens.next() {
                    match tree {
                        TokenTree::Ident(name) if name != "mut" && name != "pub" => {
                            broken.push(name);
                            break;
                        }
                        _ => {}
                    }
                }
                report.push(error);
            }
        }
    }
    inputs
}

/// Takes all up to a comma, or to the next `name:` if the comma is missing.
fn input_tokens(tokens: &mut Tokens, report: &mut Report) -> proc_macro2::TokenStream {
    let mut taken = quote!();
    let mut angles = 0_usize;
    let mut colon = false;
    while !tokens.is_empty() {
        let is = |ahead: usize, char: char| {
            tokens
                .peek_punct(ahead)
                .is_some_and(|punct| punct.as_char() == char)
        };
        if is(0, ',') && angles == 0 {
            tokens.next();
            break;
        }
        let is_name = tokens.peek_ident(0).is_some() && is(1, ':') && !is(2, ':');
        if colon && is_name && angles == 0 {
            let name = tokens.peek_ident(0);
            report.error(name, "expected `,` before this input");
            break;
        }
        colon |= is(0, ':');
        if is(0, '<') {
            angles += 1;
        } else if is(0, '>') {
            angles = angles.saturating_sub(1);
        }
        taken.extend(tokens.next());
    }
    taken
}

fn input(input: ParseStream<'_>) -> syn::Result<Input> {
    let attrs = Attribute::parse_outer(input)?;
    if input.peek(Token![self]) || input.peek(Token![&]) {
        return Err(input.error("a plan cannot have `self`: its inputs are `name: Type`"));
    }
    if input.peek(Token![mut]) {
        return Err(input.error("inputs cannot be mutable: write `name: Type`"));
    }
    if input.peek(Token![pub]) {
        return Err(input.error("inputs have the visibility of their plan: write `name: Type`"));
    }
    if !input.peek(Ident::peek_any) {
        return Err(input.error("expected an input: `name: Type`"));
    }
    let name = Ident::parse_any(input)?;
    if !input.peek(Token![:]) {
        return Err(syn::Error::new(
            name.span(),
            format!("the input `{name}` needs a type: `{name}: Type`"),
        ));
    }
    input.parse::<Token![:]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new(
            name.span(),
            format!("the input `{name}` needs a type: `{name}: Type`"),
        ));
    }
    let ty: Type = input.parse().map_err(|error| {
        syn::Error::new(
            error.span(),
            format!("the type of the input `{name}` is not valid: write `{name}: Type`"),
        )
    })?;
    if !input.is_empty() {
        return Err(input.error("expected `,` or the end of the inputs"));
    }
    if let Type::Reference(reference) = &ty {
        return Err(syn::Error::new(
            reference.and_token.span,
            "a plan owns its inputs, so their types cannot be references\nhelp: use the owned type, such as `String` for `&str`",
        ));
    }
    Ok(Input { attrs, name, ty })
}

fn parse_all<T>(
    parser: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
    stream: proc_macro2::TokenStream,
    report: &mut Report,
) -> Option<T> {
    parser
        .parse2(stream)
        .map_err(|error| report.push(error))
        .ok()
}

trait ParseOne: Sized {
    fn parse_one(input: ParseStream<'_>) -> syn::Result<Self>;
}

impl ParseOne for Visibility {
    fn parse_one(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse()
    }
}
