//! `step name = …;` and `step name: Type = …;`.

use super::statement::Statement;
use super::tokens::Tokens;
use super::{flow, policy, value};
use crate::ast::{Body, Step};
use crate::report::Report;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::Type;

/// Reads `step name = …`, `step name: Type = …`. If its semicolon is missing, returns the rest as another statement.
pub(super) fn parse(
    statement: Statement,
    report: &mut Report,
) -> (Option<Step>, Option<Statement>) {
    let mut next = None;
    let step = step(statement, &mut next, report);
    (step, next)
}

fn step(statement: Statement, next: &mut Option<Statement>, report: &mut Report) -> Option<Step> {
    let Statement {
        attrs,
        mut tokens,
        semicolon,
        end,
    } = statement;
    let policy::Attributes {
        intent,
        after,
        policy,
    } = policy::parse(attrs, report);
    let keyword = tokens.next()?;
    let name = if keyword.to_string() == "step" && tokens.peek_ident(0).is_some() {
        if tokens.peek_ident(0).is_some_and(|ident| ident == "mut")
            && tokens.peek_ident(1).is_some()
        {
            let mutable = tokens.next();
            report.error(mutable, "a step cannot be mutable: remove the `mut`");
        }
        tokens.next()
    } else if keyword.to_string() == "let" {
        if tokens.peek_ident(0).is_some_and(|ident| ident == "mut") {
            tokens.next();
        }
        report.error(
            &keyword,
            "a plan consists of steps: write `step` instead of `let`",
        );
        tokens.next()
    } else if keyword.to_string() == "step" {
        let at = tokens
            .peek(0)
            .filter(|tree| matches!(tree, TokenTree::Literal(_)));
        report.error(
            at.unwrap_or(&keyword),
            "expected the name of the step: `step name = Tool { … };`",
        );
        return None;
    } else if tokens.peek_ident(0).is_some() {
        report.error(&keyword, format!("expected `step`, found `{keyword}`"));
        tokens.next()
    } else {
        report.error(
            &keyword,
            format!("a step starts with `step`: `step {keyword} = …;`"),
        );
        Some(keyword)
    };
    let Some(TokenTree::Ident(name)) = name else {
        report.error_at(
            end,
            "expected the name of the step: `step name = Tool { … };`",
        );
        return None;
    };
    let colon = tokens.eat_punct(':');
    let before = report.len();
    let ty = if colon {
        ty(&mut tokens, &name, report)
    } else {
        None
    };
    if !tokens.eat_punct('=') {
        // A type that could not be read may have taken the `=` with it.
        if report.len() == before && (!colon || ty.is_some()) {
            let at = tokens.peek(0).map_or(tokens.last(), TokenTree::span);
            report.error_at(
                at,
                format!("expected `=` and what the step does: `step {name} = Tool {{ … }};`"),
            );
        }
        return Some(Step {
            intent,
            after,
            policy,
            name,
            ty,
            body: Body::Broken(None),
        });
    }
    let equals = tokens.last();
    let mut rest = tokens.rest();
    let mut end = end;
    if !semicolon && !rest.is_empty() {
        let (value, comma, more) = value::first(rest);
        if let Some(comma) = &comma {
            report.error(comma, "a step ends with `;`, not with a comma");
        } else {
            end = last_of(&value).unwrap_or(end);
            report.error_at(end, "expected `;` after this: a step ends with a semicolon");
        }
        rest = value;
        if !more.is_empty() {
            let last = last_of(&more).unwrap_or(end);
            *next = Some(Statement {
                attrs: TokenStream::new(),
                tokens: Tokens::new(more),
                semicolon,
                end: last,
            });
        }
    }
    let body = match (colon, rest.is_empty()) {
        (_, true) => {
            report.error_at(
                equals,
                format!("expected what the step does: `step {name} = Tool {{ … }};`"),
            );
            Body::Broken(None)
        }
        (true, false) => Body::Compute(value::all(rest, end, "`;`", report)),
        (false, false) => flow::body(rest, end, &name, report),
    };
    let body = if colon && ty.is_none() {
        Body::Broken(None)
    } else {
        body
    };
    policy::check_body(&policy, &body, report);
    Some(Step {
        intent,
        after,
        policy,
        name,
        ty,
        body,
    })
}

/// The type after the colon: all tokens up to `=`.
fn ty(tokens: &mut Tokens, name: &Ident, report: &mut Report) -> Option<Type> {
    let colon = tokens.last();
    let mut taken = TokenStream::new();
    let mut angles = 0_usize;
    while let Some(tree) = tokens.peek(0) {
        if let TokenTree::Punct(punct) = tree {
            match punct.as_char() {
                '<' => angles += 1,
                '>' => angles = angles.saturating_sub(1),
                '=' if angles == 0 => break,
                _ => {}
            }
        }
        taken.extend(tokens.next());
    }
    if tokens.is_empty() {
        let braces = taken.clone().into_iter().last();
        let is_call = braces.is_some_and(|tree| super::braced(&tree).is_some());
        let message = if is_call {
            format!("a tool is called with `=`: `step {name} = Tool {{ … }};`")
        } else {
            format!("expected `=` and the value after the type: `step {name}: Type = …;`")
        };
        report.error_at(if is_call { colon } else { tokens.last() }, message);
        return None;
    }
    if taken.is_empty() {
        report.error_at(
            colon,
            format!("expected the type of the computed step: `step {name}: Type = …;`"),
        );
        return None;
    }
    let ty = syn::parse2(taken);
    if let Err(error) = &ty {
        report.error_at(
            error.span(),
            format!("expected the type of the computed step: `step {name}: Type = …;`"),
        );
    }
    ty.ok()
}

/// The end of the last token.
fn last_of(tokens: &TokenStream) -> Option<Span> {
    let last = tokens.clone().into_iter().last()?;
    Some(match last {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    })
}
