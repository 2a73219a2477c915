//! `step name = …;` and `step name: Type = …;`.

use super::super::other_words::HyphenatedName;
use super::super::token_text::value_text;
use super::super::{awaited, braced, call, policy, policy_checks, types, value};
use crate::ast::{Body, Step};
use crate::report::Report;
use crate::scan::{self, FlowTokens};
use plan_graph::similar;
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::{Pat, Type};

/// Reads a step. If it has no semicolon, its value is all up to `end`. The names that are written in place of one name are `broken`, and
/// `_` is if there is no name.
pub(in crate::parse) fn step(
    attrs: TokenStream,
    source: scan::StepTokens,
    semicolon: bool,
    end: Span,
    broken: &mut Vec<Ident>,
    report: &mut Report,
) -> Option<Step> {
    let policy::Attributes {
        intent,
        role,
        after,
        policy,
        unclear,
    } = policy::parse(attrs, source.name.as_ref(), report);
    // What is wrong with the tokens of a step is one mistake: the first makes all that follows it look wrong.
    let before = report.len();
    let Some(name) = name(&source, end, report) else {
        report.keep_first(before);
        let parser = |input: ParseStream<'_>| {
            let pat = Pat::parse_single(input)?;
            value::drain(input);
            Ok(super::names_in(&pat))
        };
        let mut names = parser.parse2(source.extra).unwrap_or_default();
        if names.is_empty() {
            names.push(Ident::new("_", end));
        }
        broken.append(&mut names);
        return None;
    };
    let has_type = source.ty.is_some();
    let has_value = source.equals.is_some();
    let written_type = source.ty.as_ref().map(|(_, ty)| ty.clone());
    let ty = source.ty.and_then(|(colon, ty)| {
        if ty.is_empty() && call::is_call(&source.value) {
            report.error_at(
                colon,
                format!("a step that calls a tool has no type\nhelp: write `step {name} = …;`"),
            );
            return None;
        }
        self::ty(ty, colon, has_value, &name, report)
    });
    let (value, extra) = (source.value, source.extra);
    let body = if let Some(equals) = source.equals {
        let early = extra.clone().into_iter().next();
        let early = early.filter(|_| scan::starts_with(&extra, ';'));
        let mut value = scan::tokens::Tokens::new(quote!(#value #extra));
        if let Some(rest) = value
            .peek_punct(0)
            .filter(|it| matches!(it.as_char(), '>' | '='))
        {
            let mut first = Punct::new('=', Spacing::Joint);
            first.set_span(equals);
            let sign = quote!(#first #rest);
            let written = value_text(&sign);
            report.error(
                sign,
                format!("a step has `=` before its work or its value\nhelp: write `=` instead of `{written}`"),
            );
            value.next();
        }
        let misplaced = value.attributes();
        let value = value.rest();
        if !misplaced.is_empty() {
            let message = late_attributes(&misplaced, &name, &written_type, &value);
            report.error(misplaced, message);
        }
        if let Some(instead) = source.instead {
            let message = format!("a step ends with `;`, not with `{instead}`");
            report.error(instead, message);
        } else if let Some(early) = early {
            report.error(early, "a step has one `;`, at its end: remove this one");
        } else if !semicolon && !value.is_empty() {
            report.error_at(end, "expected `;` after this: a step ends with a semicolon");
        }
        if value.is_empty() {
            report.error_at(
                equals,
                format!("expected what the step does: `step {name} = Tool {{ … }};`"),
            );
            Body::Broken(None)
        } else if !has_type {
            super::body(value, end, "`;`", &name, report)
        } else if let Some(kind) = work(&value) {
            report.error(
                written_type,
                format!("a step with a type is a value, and {kind}\nhelp: write `step {name} = …;`, without the type"),
            );
            Body::Broken(None)
        } else if let Some(body) = awaited::typed(&value, &name, report) {
            match ty {
                Some(_) => body,
                None => Body::Broken(None),
            }
        } else {
            let value = value::all(value, end, "`;`", report);
            match ty {
                Some(_) => Body::Compute(value),
                None => Body::Broken(None),
            }
        }
    } else {
        if let Some(written) = HyphenatedName::new(&name, &extra) {
            report.error(&written.tokens, written.message());
            broken.extend(written.parts);
        } else if !has_type {
            let at = extra
                .into_iter()
                .next()
                .map_or(name.span(), |tree| tree.span());
            report.error_at(
                at,
                format!("expected `=` and what the step does: `step {name} = Tool {{ … }};`"),
            );
        }
        Body::Broken(None)
    };
    let is_unclear = report.keep_first(before);
    if !is_unclear {
        policy_checks::body(&policy, &role, &body, report);
    }
    let mut step = Step {
        intent,
        role,
        after,
        policy,
        name,
        ty,
        body,
        mentions: Vec::new(),
        number: 0,
        is_tail: false,
    };
    if unclear {
        step.forget_type();
    }
    if is_unclear || matches!(step.body, Body::Broken(_)) {
        step.forget();
    }
    Some(step)
}

/// Returns the message about attributes between the `=` of a step and its value.
fn late_attributes(
    attributes: &TokenStream,
    name: &Ident,
    ty: &Option<TokenStream>,
    value: &TokenStream,
) -> String {
    let message = "the attributes and the doc comment of a step are before `step`";
    let mut inside = attributes.clone().into_iter();
    let is_doc = inside.any(|tree| match tree {
        TokenTree::Group(group) => {
            let first = group.stream().into_iter().next();
            matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
        }
        _ => false,
    });
    if is_doc {
        return format!("{message}\nhelp: move this above `step {name}`");
    }
    let (attributes, value) = match (value_text(attributes), value_text(value)) {
        (attributes, value) if value.is_empty() => (attributes, "…".to_owned()),
        both => both,
    };
    let ty = ty.as_ref().map(|ty| format!(": {}", value_text(ty)));
    let ty = ty.unwrap_or_default();
    format!("{message}\nhelp: write `{attributes} step {name}{ty} = {value};`")
}

/// What is in place of a Rust value, if it is work.
fn work(tokens: &TokenStream) -> Option<&'static str> {
    const STEPS: &str = "these braces contain steps";
    match FlowTokens::new(tokens.clone()) {
        FlowTokens::Loop(repeat) => repeat.until.map(|_| "a `loop` with a `while` is work"),
        FlowTokens::Block(group, _) => says_step(&group).then_some(STEPS),
        FlowTokens::If(branches, _) => {
            let mut blocks = branches.iter().filter_map(|branch| branch.block.as_ref());
            blocks.any(says_step).then_some(STEPS)
        }
        FlowTokens::For(repeat) => {
            let block = repeat.block.as_ref();
            block.is_some_and(says_step).then_some(STEPS)
        }
        FlowTokens::Call(_) => None,
    }
}

/// Whether braces contain `step`. A Rust block may have a `let`, which a step in a block is not.
fn says_step(group: &Group) -> bool {
    let mut statements = scan::block(group.stream()).into_iter();
    statements.any(|statement| {
        let keyword = statement.step().and_then(|step| step.keyword.as_ref());
        keyword.is_some_and(|keyword| keyword == "step")
    })
}

/// The name of the step, with what is wrong before it.
fn name(source: &scan::StepTokens, end: Span, report: &mut Report) -> Option<Ident> {
    const USAGE: &str = "expected the name of the step: `step name = Tool { … };`";
    let word = source.keyword.as_ref().map(Ident::to_string);
    if let (Some(name), Some(text), Some(second)) = (&source.keyword, &word, &source.name)
        && second == "step"
        && text != "let"
        && similar(text, ["step"]).is_none()
    {
        let message = format!("expected `step`, found `{text}`\nhelp: write `step {text}`");
        report.error(name, message);
        return Some(name.clone());
    }
    match (&source.keyword, word.as_deref()) {
        (Some(keyword), Some("step")) => {
            if source.name.is_none() {
                let next = source.extra.clone().into_iter().next();
                match next {
                    Some(literal @ TokenTree::Literal(_)) => report.error(literal, USAGE),
                    Some(TokenTree::Group(pattern)) => report.error_at(
                        pattern.span(),
                        "a step has one name, by which others refer to the parts of its output: `name.part`",
                    ),
                    _ => report.error(keyword, USAGE),
                }
            } else if let Some(mutable) = &source.mutable {
                report.error(mutable, "a step cannot be mutable: remove the `mut`");
            }
        }
        (Some(keyword), Some("let")) => {
            report.error(
                keyword,
                "a plan consists of steps: write `step` instead of `let`",
            );
            if source.name.is_none() {
                report.error_at(end, USAGE);
            }
        }
        (Some(keyword), _) => {
            report.error(keyword, format!("expected `step`, found `{keyword}`"));
        }
        (None, _) => {
            if let Some(name) = &source.name {
                report.error(
                    name,
                    format!("a step starts with `step`: `step {name} = …;`"),
                );
            }
        }
    }
    source.name.clone()
}

/// The type after the colon.
fn ty(
    tokens: TokenStream,
    colon: Span,
    has_value: bool,
    name: &Ident,
    report: &mut Report,
) -> Option<Type> {
    if !has_value {
        let last = tokens.into_iter().last();
        if last.as_ref().is_some_and(|tree| braced(tree).is_some()) {
            report.error_at(
                colon,
                format!("a tool is called with `=`: `step {name} = Tool {{ … }};`"),
            );
        } else {
            let at = last.map_or(colon, |tree| tree.span());
            report.error_at(
                at,
                format!("expected `=` and the value after the type: `step {name}: Type = …;`"),
            );
        }
        return None;
    }
    let is_empty = tokens.is_empty();
    let ty = types::read(tokens);
    if let Err(at) = &ty {
        let at = if is_empty { colon } else { *at };
        report.error_at(
            at,
            format!("expected the type of the computed step: `step {name}: Type = …;`"),
        );
    }
    ty.ok().filter(|ty| types::is_owned(ty, report))
}
