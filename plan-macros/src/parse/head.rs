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
pub(super) fn krate(tokens: &mut Tokens, report: &mut Report) -> Option<Path> {
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
                "a plan has one inner attribute, `#![plan(crate = path)]`",
            ),
            Err(error) => report.push(error),
        }
    }
    krate
}

/// `pub Name(inputs) -> Output { … }`; `None` if what stands here is the expression form.
pub(super) fn head(tokens: &mut Tokens, report: &mut Report) -> Option<(Head, Tokens)> {
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
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        report.error_at(
            tokens.last(),
            "expected the name of the plan\nhelp: `plan! { pub Name(input: Type) -> Output { step … } }`",
        );
        return None;
    };
    let mut inputs = Vec::new();
    if let Some(group) = tokens.peek_group(0, Delimiter::Parenthesis) {
        inputs = self::inputs(group.stream(), report);
        tokens.next();
    } else {
        report.error(
            &name,
            format!("a plan names its inputs in parentheses, even if it has none: `{name}()`"),
        );
    }
    let output = if is_arrow(tokens) {
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
            "expected nothing behind the plan: each `plan!` holds one",
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
            output,
        },
        body,
    ))
}

/// Whether `Name(…) {`, `Name(…) ->`, `Name ->` or `Name {` with steps in it stands here.
fn starts_head(tokens: &Tokens) -> bool {
    if tokens.peek_ident(0).is_none_or(|ident| ident == "step") {
        return false;
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
    let holds_steps = brace_at(1).is_some_and(|group| {
        let mut body = Tokens::new(group.stream());
        body.attributes();
        body.peek_ident(0).is_some_and(|ident| ident == "step") && body.peek_ident(1).is_some()
    });
    arrow_at(1) || holds_steps
}

fn is_arrow(tokens: &Tokens) -> bool {
    tokens.peek_punct(0).is_some_and(|p| p.as_char() == '-')
        && tokens.peek_punct(1).is_some_and(|p| p.as_char() == '>')
}

/// The type behind `->`: all up to the last brace group.
fn output(tokens: &mut Tokens, report: &mut Report) -> Option<Type> {
    let arrow = tokens.last();
    let mut ty = quote!();
    while let Some(tree) = tokens.peek(0) {
        if braced(tree).is_some() {
            break;
        }
        ty.extend(tokens.next());
    }
    if ty.is_empty() {
        report.error_at(arrow, "expected the type of the plan's output behind `->`");
        return None;
    }
    parse_all(<Type as syn::parse::Parse>::parse, ty, report)
}

fn inputs(stream: proc_macro2::TokenStream, report: &mut Report) -> Vec<Input> {
    let parser = |input: ParseStream<'_>| {
        let mut inputs = Vec::new();
        while !input.is_empty() {
            match self::input(input) {
                Ok(one) => inputs.push(one),
                Err(error) => {
                    report.push(error);
                    while !input.is_empty() && !input.peek(Token![,]) {
                        input.parse::<TokenTree>()?;
                    }
                }
            }
            if input.is_empty() {
                break;
            }
            if let Err(error) = input.parse::<Token![,]>() {
                report.push(error);
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<TokenTree>()?;
                }
                let _: Option<Token![,]> = input.parse()?;
            }
        }
        Ok(inputs)
    };
    parser.parse2(stream).unwrap_or_default()
}

fn input(input: ParseStream<'_>) -> syn::Result<Input> {
    let attrs = Attribute::parse_outer(input)?;
    if input.peek(Token![self]) {
        return Err(input.error("a plan has no `self`: its inputs are `name: Type`"));
    }
    if input.peek(Token![mut]) {
        return Err(input.error("inputs cannot be changed: write `name: Type`"));
    }
    if input.peek(Token![pub]) {
        return Err(input.error("inputs are as visible as their plan: write `name: Type`"));
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
    let ty: Type = input.parse()?;
    if let Type::Reference(reference) = &ty {
        return Err(syn::Error::new(
            reference.and_token.span,
            "an input is owned by its plan, so it cannot be a borrowed type\nhelp: use the owned type, such as `String` for `&str`",
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
