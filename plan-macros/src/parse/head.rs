//! `pub Name(input: Type) -> Output { … }`, and `#![plan(…)]` before it.

use crate::ast::{Header, Input};
use crate::report::Report;
use crate::scan;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Ident, LitStr, Path, Token, Type, Visibility};

/// `#![plan(crate = path)]` at the very start.
pub(crate) fn krate(attrs: &[TokenStream], report: &mut Report) -> Option<Path> {
    let mut krate = None;
    for attr in attrs {
        match Attribute::parse_inner
            .parse2(attr.clone())
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

/// `pub Name(inputs) -> Output { … }`; `None` if it has no name that a struct can have.
pub(super) fn head(source: scan::HeadTokens, report: &mut Report) -> Option<Header> {
    let before = report.len();
    if let Some(keyword) = source.keyword {
        report.error(
            keyword,
            "a plan starts with its name: `Name(input: Type) -> Output { … }`",
        );
    }
    let name = match source.name {
        Ok(name) => name,
        Err(at) => {
            report.error_at(
                at,
                "expected the name of the plan\nhelp: `plan! { pub Name(input: Type) -> Output { step … } }`",
            );
            return None;
        }
    };
    if !source.generics.is_empty() {
        report.error(
            &name,
            "a plan cannot be generic: its inputs and its output have concrete types",
        );
        return None;
    }
    let mut broken = Vec::new();
    let inputs = match &source.inputs {
        Some(inputs) => self::inputs(inputs, &mut broken, report),
        None => {
            report.error(
                &name,
                format!(
                    "expected the inputs in parentheses, even if the plan has none: `{name}()`"
                ),
            );
            Vec::new()
        }
    };
    let arrow = source.output.is_some();
    let extra = source.extra.into_iter().next();
    // Without braces, the type may have taken anything.
    let output = source.output.filter(|_| source.braces && extra.is_none());
    let output = output.and_then(|(arrow, ty)| self::output(arrow, ty, report));
    if !source.braces || extra.is_some() {
        let at = extra.map_or(source.end, |tree| tree.span());
        report.error_at(at, "expected `{` and the steps of the plan");
    }
    if !source.after.is_empty() {
        report.error(
            source.after,
            "expected nothing after the plan: each `plan!` contains one plan",
        );
    }
    let attrs = parse_all(Attribute::parse_outer, source.attrs, report).unwrap_or_default();
    let vis = parse_all(Visibility::parse, source.vis, report).unwrap_or(Visibility::Inherited);
    Some(Header {
        attrs,
        vis,
        name,
        inputs,
        broken,
        unclear: arrow || report.len() > before,
        output,
    })
}

/// The type after `->`.
fn output(arrow: Span, ty: TokenStream, report: &mut Report) -> Option<Type> {
    if ty.is_empty() {
        report.error_at(arrow, "expected the type of the plan's output after `->`");
        return None;
    }
    parse_all(Type::parse, ty, report)
}

fn inputs(
    source: &[scan::InputTokens],
    broken: &mut Vec<Ident>,
    report: &mut Report,
) -> Vec<Input> {
    let mut inputs = Vec::new();
    let next = source.iter().skip(1).map(Some).chain([None]);
    for (one, next) in source.iter().zip(next) {
        if let (None, Some(next)) = (&one.comma, next) {
            report.error(&next.name, "expected `,` before this input");
        }
        let tokens = one.to_token_stream();
        if let (true, Some(comma)) = (tokens.is_empty(), &one.comma) {
            report.error(comma, "expected an input before this comma: `name: Type`");
            continue;
        }
        match input.parse2(tokens) {
            Ok(input) => inputs.push(input),
            Err(error) => {
                // What refers to it is not wrong.
                broken.extend(one.name.clone());
                report.push(error);
            }
        }
    }
    inputs
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
    let colon: Option<Token![:]> = input.parse()?;
    if colon.is_none() || input.is_empty() || input.peek(Token![,]) {
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
    stream: TokenStream,
    report: &mut Report,
) -> Option<T> {
    parser
        .parse2(stream)
        .map_err(|error| report.push(error))
        .ok()
}
