//! The conditions of an `if`: values and `let`s that `&&` joins.

use super::super::value;
use crate::ast::{Computed, Condition};
use crate::mistakes::flow as mistakes;
use crate::report::Report;
use crate::syntax::condition::bound;
use crate::syntax::pattern::names_in;
use crate::syntax::reference::is_place;
use crate::syntax::tokens::{drain, last};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprIf, ExprLet};

/// Reads the tokens between `if` and the braces.
pub(super) fn conditions(
    tokens: TokenStream,
    keyword: Span,
    report: &mut Report,
) -> Vec<Condition> {
    if tokens.is_empty() {
        report.error_at(keyword, "expected a condition after `if`");
        return vec![Condition::Broken(Vec::new())];
    }
    let broken = |more| {
        let names = mistakes::names_of_lets(&tokens).into_iter().chain(more);
        vec![Condition::Broken(names.collect())]
    };
    if let Some((pattern, written)) = mistakes::without_let(&tokens) {
        let message = "a pattern in a condition comes after `let`";
        report.error(&pattern, format!("{message}\nhelp: write `let {written}`"));
        return broken(names_in(&pattern));
    }
    if let Some(operator) = mistakes::operator(&tokens) {
        report.push(operator);
        return broken(Vec::new());
    }
    // Only the parser of an `if` excludes expressions that cannot follow `if`.
    let end = last(&tokens).map_or(keyword, |last| last.span());
    let mut at_end = false;
    let parser = |input: ParseStream<'_>| {
        let parsed = input.parse::<ExprIf>();
        at_end = input.is_empty();
        drain(input);
        parsed
    };
    match parser.parse2(quote_spanned!(end=> if #tokens {})) {
        Ok(branch) => {
            let mut conditions = Vec::new();
            split(*branch.cond, keyword, report, &mut conditions);
            conditions
        }
        Err(_) if !mistakes::has_let(&tokens) => {
            vec![Condition::Holds(value::all(tokens, keyword, "`{`", report))]
        }
        Err(error) => {
            // syn has no span for a token that is missing at the end.
            if at_end {
                report.push(mistakes::not_a_condition(&tokens, keyword));
            } else {
                report.push(error);
            }
            broken(Vec::new())
        }
    }
}

/// Reads the operands of `&&`, from left to right.
fn split(condition: Expr, keyword: Span, report: &mut Report, conditions: &mut Vec<Condition>) {
    conditions.push(match condition {
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) && both.attrs.is_empty() => {
            split(*both.left, keyword, report, conditions);
            return split(*both.right, keyword, report, conditions);
        }
        Expr::Let(binding) => {
            let (names, pattern) = (names_in(&binding.pat), binding.pat.clone());
            let test = bound(&binding.pat, &binding.expr);
            let written = binding.expr.to_token_stream();
            let computed = Computed::new(written, Expr::Let(borrowed(binding)));
            Condition::Let(pattern, Computed { test, ..computed }, names)
        }
        test => {
            let mut lets = Vec::new();
            lets_in(&test, &mut lets);
            if let Some(misplaced) = mistakes::misplaced_let(&test, &lets) {
                report.push(misplaced);
                let names = lets.iter().flat_map(|binding| names_in(&binding.pat));
                Condition::Broken(names.collect())
            } else {
                let test = test.to_token_stream();
                Condition::Holds(value::all(test, keyword, "`{`", report))
            }
        }
    });
}

/// Finds the `let`s among the operands of a test.
fn lets_in<'e>(test: &'e Expr, lets: &mut Vec<&'e ExprLet>) {
    match test {
        Expr::Let(binding) => lets.push(binding),
        Expr::Binary(both) => {
            lets_in(&both.left, lets);
            lets_in(&both.right, lets);
        }
        Expr::Paren(inner) => lets_in(&inner.expr, lets),
        Expr::Range(range) => range.start.iter().for_each(|it| lets_in(it, lets)),
        Expr::Unary(inner) => lets_in(&inner.expr, lets),
        _ => {}
    }
}

/// Borrows the value in `if let Some(x) = maybe`, because the pattern moves no value.
fn borrowed(mut binding: ExprLet) -> ExprLet {
    if is_place(&binding.expr) {
        let expr = &binding.expr;
        let at = expr.span();
        if let Ok(reference) = syn::parse2(quote_spanned!(at=> & #expr)) {
            binding.expr = reference;
        }
    }
    binding
}
