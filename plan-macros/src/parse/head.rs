//! `pub Name(input: Type) -> Output { … }`, and `#![plan(…)]` before it.

use super::attribute::attributes;
use super::other_words::{self, HyphenatedName};
use super::{functions, types};
use crate::ast::{Header, Input};
use crate::docs::text_of;
use crate::report::Report;
use crate::scan;
use crate::scan::tokens::Tokens;
use crate::scan::value::end_of;
use plan_graph::{StepAttribute, similar};
use proc_macro2::{Span, TokenStream, TokenTree};
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
    let mut items = Tokens::new(source.items.clone());
    if items.is_ident(0, "pub") {
        items.next();
    }
    if let Some((keyword, message)) = other_words::statement(&items.rest()) {
        report.error(keyword, message);
    }
    let before = report.len();
    if let Some(keyword) = source.keywords.first() {
        let is_typo = similar(&keyword.to_string(), ["pub"]).is_some();
        let message = if keyword == "pub" && source.vis.is_empty() {
            "`pub` is before the name of the plan".to_owned()
        } else if keyword == "pub" {
            "a plan has one `pub`: remove this one".to_owned()
        } else if is_typo {
            format!("expected `pub`, found `{keyword}`")
        } else {
            "a plan starts with its name: `Name(input: Type) -> Output { … }`".to_owned()
        };
        report.error(keyword, message);
        // Another item of Rust: nothing in it is meant as a part of a plan.
        if keyword != "pub" && !is_typo {
            return None;
        }
    }
    let name = match source.name {
        Ok(name) => name,
        Err(at) => {
            let missing = if source.inputs.is_some() {
                "only a named plan has inputs: expected its name before this"
            } else {
                "expected the name of the plan"
            };
            report.error_at(
                at,
                format!(
                    "{missing}\nhelp: `plan! {{ pub Name(input: Type) -> Output {{ step … }} }}`"
                ),
            );
            return None;
        }
    };
    let is_generic = !source.generics.is_empty();
    let mut unclear_inputs = source.inputs.is_none();
    let mut broken = Vec::new();
    let given = report.len();
    let mut inputs = self::inputs(
        source.inputs.as_deref().unwrap_or_default(),
        &mut broken,
        &mut unclear_inputs,
        report,
    );
    if is_generic {
        report.drop_since(given);
        report.error(
            source.generics,
            "a plan cannot be generic: its inputs and its output have concrete types",
        );
        broken.extend(inputs.drain(..).map(|input| input.name));
    }
    // Without its brackets, a part of the head is taken for another one.
    let start = report.len();
    if let Some(at) = source
        .braced_inputs
        .or_else(|| source.inputs.is_none().then(|| name.span()))
    {
        report.error_at(
            at,
            format!("expected the inputs in parentheses, even if the plan has none: `{name}(input: Type)`, `{name}()`"),
        );
    }
    let arrow = source.output.is_some();
    let extra = source.extra.into_iter().next();
    // The inputs may be in the second pair of parentheses.
    let is_doubled = matches!(&extra, Some(TokenTree::Group(_)));
    unclear_inputs |= is_doubled;
    if let Some(TokenTree::Punct(colon)) = &extra
        && colon.as_char() == ':'
        && source.braces
    {
        report.error(
            colon,
            "expected `->` before the type of the output, found `:`",
        );
    }
    // Without braces, the type may have taken anything; and it may be a parameter.
    let is_read = source.braces && extra.is_none() && !is_generic;
    let output = source.output.filter(|_| is_read);
    let unclear_body = matches!(&output, Some((_, ty)) if types::read(ty.clone()).is_err());
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
    report.keep_first(if is_doubled { given } else { start });
    let mut attrs = attributes(source.attrs, report).unwrap_or_default();
    attrs.retain(|attr| is_not_of_step(attr, "a plan", report));
    let vis = parse_all(Visibility::parse, source.vis, report).unwrap_or(Visibility::Inherited);
    Some(Header {
        items: source.items,
        attrs,
        vis,
        name,
        inputs,
        broken,
        unclear_inputs,
        unclear_body,
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
    let ty = match types::read(ty) {
        Ok(ty) => ty,
        Err(at) => {
            report.error_at(
                at,
                "the type of the plan's output is not valid: write `-> Type`",
            );
            return None;
        }
    };
    if let Some(value) = types::result(&ty) {
        let value = types::shown(value);
        report.error(
            &ty,
            format!("a plan's output is the value of its last expression, and `run` adds the `Result`\nhelp: write `-> {value}`"),
        );
        return None;
    }
    types::is_owned(&ty, report).then_some(ty)
}

/// Reports an attribute that only steps have, or that rustc would apply to one of the items that the plan expands to.
fn is_not_of_step(attr: &Attribute, what: &str, report: &mut Report) -> bool {
    let name = attr.path().get_ident().map(Ident::to_string);
    if name.as_deref() == Some("cfg") {
        report.error(
            attr.path(),
            format!("{what} cannot have `#[cfg(…)]`: a plan has the same parts in every build\nhelp: write `#[cfg(…)]` above `plan!`"),
        );
        return false;
    }
    let name = name.filter(|name| StepAttribute::named(name).is_some());
    if let Some(name) = &name {
        report.error(
            attr.path(),
            format!("`#[{name}]` is for steps: {what} does not have it"),
        );
    }
    name.is_none()
}

fn inputs(
    source: &[scan::InputTokens],
    broken: &mut Vec<Ident>,
    unclear: &mut bool,
    report: &mut Report,
) -> Vec<Input> {
    let mut inputs = Vec::new();
    let next = source.iter().skip(1).map(Some).chain([None]);
    let mut was_wrong = false;
    for (one, next) in source.iter().zip(next) {
        let before = report.len();
        let is_part = match &one.name {
            Some(name) => {
                let is_type = was_wrong || name.to_string().starts_with(char::is_uppercase);
                is_type && name != "self" && !scan::starts_with(&one.ty, ':')
            }
            None => !scan::starts_with(&one.ty, '&'),
        };
        let mut tokens = Tokens::new(one.to_token_stream());
        let attrs = attributes(tokens.attributes(), report).unwrap_or_default();
        let tokens = tokens.rest();
        if let (true, Some(comma)) = (tokens.is_empty(), &one.comma) {
            report.contained(comma, "expected an input before this comma: `name: Type`");
            continue;
        }
        match input.parse2(tokens) {
            Ok(mut input) => {
                input.attrs = attrs;
                input
                    .attrs
                    .retain(|attr| is_not_of_step(attr, "an input", report));
                let (name, refused) = (text_of(&input.name), functions::READ_OR_WRITE);
                if !functions::refuse(&input.attrs, "input", &name, &input.ty, refused, report) {
                    input.attrs.retain(|attr| !attr.path().is_ident("serde"));
                }
                if types::is_input(&input.name, &input.ty, report) {
                    inputs.push(input);
                } else {
                    broken.push(input.name);
                }
            }
            Err(error) => {
                // It may have taken those after it.
                *unclear |=
                    one.ty.clone().into_iter().any(
                        |tree| matches!(tree, TokenTree::Punct(comma) if comma.as_char() == ','),
                    );
                // What refers to it is not wrong.
                broken.extend(one.name.clone());
                if !(is_part && was_wrong) {
                    report.push(error);
                }
                if is_part {
                    // It may be a part of the input before it.
                    *unclear = true;
                    broken.extend(inputs.pop().map(|input: Input| input.name));
                }
            }
        }
        was_wrong = report.len() > before || is_part;
        if let (None, Some(next), false) = (&one.comma, next, was_wrong) {
            report.error(&next.name, "expected `,` before this input");
        }
    }
    inputs
}

fn input(input: ParseStream<'_>) -> syn::Result<Input> {
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
        let next: TokenTree = input.parse()?;
        return Err(syn::Error::new(
            next.span(),
            "expected an input: `name: Type`",
        ));
    }
    let name = Ident::parse_any(input)?;
    let rest: TokenStream = input.fork().parse()?;
    if let Some(name) = HyphenatedName::new(&name, &rest) {
        return Err(syn::Error::new_spanned(&name.tokens, name.message()));
    }
    let colon: Option<Token![:]> = input.parse()?;
    if colon.is_none() || input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new(
            name.span(),
            format!("the input `{name}` needs a type: `{name}: Type`"),
        ));
    }
    let last = end_of(&input.fork().parse()?);
    let ty: Type = input.parse().map_err(|error: syn::Error| {
        // syn has no place for what is missing at the end.
        let last = last.filter(|_| input.is_empty());
        syn::Error::new(
            last.unwrap_or_else(|| error.span()),
            format!("the type of the input `{name}` is not valid: write `{name}: Type`"),
        )
    })?;
    if !input.is_empty() {
        return Err(input.error("expected `,` or the end of the inputs"));
    }
    Ok(Input {
        attrs: Vec::new(),
        name,
        ty,
    })
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
