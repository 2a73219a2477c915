//! The work of a step: `if … { … } else { … }`, `for … in … { … }`, `loop { … } while …`, a block, or the call of a tool.

mod block;
mod call;
mod condition;
mod repeat;
mod step;

pub(super) use step::StepReader;

use super::value;
use crate::ast::{Body, Branch, Computed, For, List, Value};
use crate::mistakes::flow as mistakes;
use crate::mistakes::{Position, awaited};
use crate::report::{Mistake, Report};
use crate::syntax::pattern::names_in;
use crate::syntax::tokens::{Tokens, drain, end_of};
use crate::syntax::{
    BranchTokens, Evidence, FlowTokens, ForTokens, has_steps, holds_steps, is_work,
};
use condition::conditions;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Pat, PatIdent};

/// Reads the work of a step without a type.
fn body(
    tokens: TokenStream,
    end: Span,
    position: Position,
    name: &Ident,
    report: &mut Report,
) -> Body {
    let wrong = awaited::without_type(&tokens, position, name);
    if let Some(wrong) = wrong.or_else(|| mistakes::label(&tokens)) {
        report.push(wrong);
        return Body::Broken(None);
    }
    let is_alone = |after: &TokenStream| after.is_empty();
    let body = match FlowTokens::new(tokens) {
        FlowTokens::If(branches, after) => conditional(branches, after, name, report),
        FlowTokens::For(repeat) => repeated(repeat, name, report),
        FlowTokens::Loop(repeat) if position == Position::Braces => {
            Err(mistakes::loop_in_braces(&repeat))
        }
        FlowTokens::Loop(repeat) => repeat::repeat(repeat, name, report),
        FlowTokens::Block(group, after) if holds_steps(&group, Evidence::Work) => {
            report.extend(unended(after));
            let block = block::block(&group, name, report);
            Ok(Body::Block(Box::new(block)))
        }
        FlowTokens::Block(group, after) if is_alone(&after) && is_work(&group.stream()) => {
            Ok(inner(&group, name, report))
        }
        FlowTokens::Block(group, after) if is_alone(&after) && group.stream().is_empty() => {
            let message = "expected steps in the braces, or a call to a tool: `{ Tool { … } }`";
            Err(Mistake::at(group.span(), message))
        }
        FlowTokens::Block(group, after) => {
            let value = quote!(#group #after);
            call::call(value, end, position, name, report)
        }
        FlowTokens::Call(call) => call::call(call, end, position, name, report),
    };
    report.ok(body).unwrap_or(Body::Broken(None))
}

/// Returns the error of tokens after the braces of a step.
fn unended(after: TokenStream) -> Option<Mistake> {
    (!after.is_empty()).then(|| Mistake::new(after, "expected `;` before this"))
}

/// Reads the content of the braces after a header; the report had `before` errors when the header began. If the header has an
/// error, it may have taken a part of that content or added to it, so errors in the content are not reported.
fn inner_after(before: usize, group: &Group, name: &Ident, report: &mut Report) -> Body {
    if report.len() == before {
        inner(group, name, report)
    } else {
        inner(group, name, &mut Report::default())
    }
}

/// Reads the content of the braces of an `if` or a `for`.
fn inner(group: &Group, name: &Ident, report: &mut Report) -> Body {
    if has_steps(group) {
        return Body::Block(Box::new(block::block(group, name, report)));
    }
    if let Some(wrong) = mistakes::content(&group.stream()) {
        report.push(wrong);
        return Body::Broken(None);
    }
    let mut tokens = Tokens::new(group.stream());
    let mut call = TokenStream::new();
    while !tokens.is_empty() {
        call.extend(tokens.take_until(|tokens| tokens.is_punct(0, ';')));
        if let Some(semicolon) = tokens.next() {
            report.error(
                semicolon,
                "remove the `;`: the braces contain exactly one call, whose output is their value",
            );
        }
    }
    if call.is_empty() {
        let message = "expected a call to a tool in the braces: `{ Tool { … } }`";
        report.error_at(group.span(), message);
        return Body::Broken(None);
    }
    body(call, group.span_close(), Position::Braces, name, report)
}

fn conditional(
    source: Vec<BranchTokens>,
    after: TokenStream,
    name: &Ident,
    report: &mut Report,
) -> Result<Body, Mistake> {
    let mut branches = Vec::new();
    for branch in source {
        let (before, keyword) = (report.len(), branch.keyword());
        let Some(condition) = branch.condition else {
            let message = "expected `if` or `{` after `else`";
            let block = branch.block.ok_or_else(|| Mistake::at(keyword, message))?;
            branches.push(Branch {
                conditions: Vec::new(),
                body: inner(&block, name, report),
            });
            continue;
        };
        if let Some(mistake) = mistakes::missing_else(&condition, branch.block.as_ref()) {
            return Err(mistake);
        }
        let no_block = || {
            Mistake::at(
                end_of(&condition).unwrap_or(keyword),
                "expected `{` and a call to a tool after the condition: `if ready { Tool { … } }`",
            )
        };
        let block = branch.block.ok_or_else(no_block)?;
        branches.push(Branch {
            conditions: conditions(condition, keyword, report),
            body: inner_after(before, &block, name, report),
        });
    }
    report.extend(unended(after));
    Ok(Body::If(branches))
}

fn repeated(source: ForTokens, name: &Ident, report: &mut Report) -> Result<Body, Mistake> {
    let Some(within) = source.within.as_ref().map(TokenTree::span) else {
        return Err(mistakes::no_in(&source));
    };
    let no_block = || Mistake::at(end_of(&source.list).unwrap_or(within), mistakes::FOR);
    let block = source.block.ok_or_else(no_block)?;
    if let Some(word) = mistakes::word_in_for(&block) {
        return Err(word);
    }
    if source.pattern.is_empty() {
        let message = format!("expected a name before `in`: {}", mistakes::FOR);
        return Err(Mistake::at(within, message));
    }
    let parser = |input: ParseStream<'_>| {
        let pat = Pat::parse_single(input)?;
        let more = (!input.is_empty()).then(|| input.span());
        drain(input);
        Ok((pat, more))
    };
    let pat = match parser.parse2(source.pattern)? {
        (pat, None) => pat,
        (_, Some(more)) => return Err(mistakes::before_in(more)),
    };
    let before = report.len();
    if let Some(mistake) = mistakes::filter(&pat, &source.list) {
        return Err(mistake);
    }
    let list = list(source.list, &pat, within, report);
    let body = inner_after(before, &block, name, report);
    Ok(Body::For(Box::new(For { pat, list, body })))
}

/// Reads the tokens between `in` and the braces.
fn list(tokens: TokenStream, pat: &Pat, within: Span, report: &mut Report) -> List {
    if tokens.is_empty() {
        report.error_at(within, "expected a list after `in`");
        return List::Broken;
    }
    let written = tokens.clone();
    let value = match (value::all(tokens, within, "`{`", report), pat) {
        (Value::Broken, _) => return List::Broken,
        (
            Value::Reference(reference),
            Pat::Ident(PatIdent {
                by_ref: None,
                mutability: None,
                subpat: None,
                ident,
                ..
            }),
        ) => return List::Reference(reference, ident.clone()),
        (value, _) => value,
    };
    // The list is borrowed if it is a place expression, because no element moves out of the list.
    let expr = match value {
        Value::Reference(reference) => {
            let at = reference.root.span();
            syn::parse2(quote_spanned!(at=> & #written))
        }
        Value::Computed(computed) => Ok(computed.expr),
        _ => syn::parse2(written.clone()),
    };
    match report.ok(expr) {
        Some(expr) => List::Computed(Box::new(Computed::new(written, expr)), names_in(pat)),
        None => List::Broken,
    }
}
