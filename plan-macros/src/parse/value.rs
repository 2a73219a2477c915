//! Any value: of an argument, of a computed step, of the output.

use super::{format, json, literal};
use crate::ast::{Computed, Hop, Reference, Value};
use crate::docs::last_name;
use crate::mistakes::value as mistakes;
use crate::report::Report;
use crate::syntax::condition::test;
use crate::syntax::tokens::{first, start};
use crate::syntax::value::{self as syntax, Piece, ValueKind, ValueTokens, scalar};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Expr, ExprMacro, Macro, Member};

/// The tokens that may follow a value in a list.
pub(super) const NEXT: &str = "`,` or the end of the value";

/// Reads a value that is all of `tokens`. A message about a missing value points at `end`. `next` describes the tokens that may follow a value here.
pub(super) fn all(tokens: TokenStream, end: Span, next: &str, report: &mut Report) -> Value {
    let (item, rest) = syntax::value(tokens);
    let value = read(item, end, next, report);
    if let (Some(comma), false) = (first(&rest), matches!(value, Value::Broken)) {
        report.error(comma, format!("expected {next}, found `,`"));
    }
    value
}

/// Reads a value up to a comma or the end. An unreadable value is reported and skipped.
pub(super) fn value(input: ParseStream<'_>, end: Span, report: &mut Report) -> Value {
    read(syntax::item(input, false), end, NEXT, report)
}

pub(super) fn read(item: ValueTokens, end: Span, next: &str, report: &mut Report) -> Value {
    if let Some(choice) = mistakes::choice(&item) {
        report.push(choice);
        return Value::Broken;
    }
    let is_prefix = mistakes::has_prefix(&item);
    let value = match item.kind {
        ValueKind::List(bracket, values) => {
            let values = separated(values, bracket.span.close(), report);
            Value::List(bracket, values)
        }
        ValueKind::Tuple(paren, values) => {
            let values = separated(values, paren.span.close(), report);
            Value::Tuple(paren, values)
        }
        ValueKind::Paren(paren, inner) => read(*inner, paren.span.close(), NEXT, report),
        ValueKind::Struct(path, brace, fields) => literal::named(path, brace, fields, report),
        ValueKind::Variant(path, paren, values, tokens) => {
            literal::unnamed(path, paren, values, tokens, report)
        }
        ValueKind::Macro(call) => known_macro(call, report),
        ValueKind::Reference(reference, tokens) if is_method_without_call(&reference) => {
            // rustc reports a method without parentheses in a Rust expression, unless a field has this name.
            syn::parse2(tokens).map_or_else(|_| checked(reference, report), classify)
        }
        ValueKind::Reference(reference, _) => checked(reference, report),
        ValueKind::Expr(expr, _) => classify(expr),
        ValueKind::Broken(tokens, error) => {
            report.push(mistakes::broken(&tokens, error, end));
            return Value::Broken;
        }
    };
    match first(&item.extra) {
        None => value,
        // The compiler has reported the prefix of a string.
        Some(_) if is_prefix => Value::Broken,
        Some(extra) => {
            let message = format!("expected {next}, found `{extra}`");
            report.error_at(start(&extra), message);
            Value::Broken
        }
    }
}

/// Checks the JSON Pointers in a reference.
fn checked(reference: Reference, report: &mut Report) -> Value {
    let before = report.len();
    report.extend(reference.hops.iter().filter_map(|hop| match hop {
        Hop::Pointer(_, _, text) => mistakes::pointer(text),
        _ => None,
    }));
    if report.len() == before {
        Value::Reference(reference)
    } else {
        Value::Broken
    }
}

/// Returns `true` if the reference ends with the name of a method of `Option` or `Result`, which hardly any field has.
fn is_method_without_call(reference: &Reference) -> bool {
    let Some(Hop::Field(_, Member::Named(name))) = reference.hops.last() else {
        return false;
    };
    ["is_some", "is_none", "is_ok", "is_err"]
        .iter()
        .any(|method| name == method)
}

/// Values with commas between them.
pub(super) fn separated(pieces: Vec<Piece>, end: Span, report: &mut Report) -> Vec<Value> {
    let mut values = Vec::new();
    let mut dangling = false;
    for (item, comma) in pieces {
        let was_dangling = std::mem::replace(&mut dangling, mistakes::is_dangling(&item));
        match (&item.kind, comma) {
            // `a.,b c` may be `a.b, c`.
            _ if was_dangling && !item.extra.is_empty() => {
                values.push(Value::Broken);
            }
            (ValueKind::Broken(tokens, _), Some(comma)) if tokens.is_empty() => {
                report.error(comma, "expected a value before this comma");
            }
            _ => values.push(read(item, end, NEXT, report)),
        }
    }
    values
}

/// `json!(…)` and `format!(…)`.
fn known_macro(call: Macro, report: &mut Report) -> Value {
    let is_json = last_name(&call.path) == "json";
    let value = if is_json {
        json::parse(&call, report)
    } else {
        format::parse(&call, report)
    };
    value.unwrap_or_else(|| {
        computed(Expr::Macro(ExprMacro {
            attrs: Vec::new(),
            mac: call,
        }))
    })
}

/// Classifies an expression as a value of a plan.
pub(super) fn classify(expr: Expr) -> Value {
    match expr {
        Expr::Group(group) => classify(*group.expr),
        Expr::Path(path) if path.attrs.is_empty() && path.path.is_ident("None") => {
            match path.path.get_ident() {
                Some(none) => Value::None(none.clone()),
                None => computed(Expr::Path(path)),
            }
        }
        expr => match scalar(&expr) {
            Some(scalar) => Value::Scalar(scalar),
            None => computed(expr),
        },
    }
}

/// Keeps an expression, whose names the next stage finds.
fn computed(expr: Expr) -> Value {
    let test = test(&expr);
    let computed = Computed::new(expr.to_token_stream(), expr);
    Value::Computed(Computed { test, ..computed })
}
