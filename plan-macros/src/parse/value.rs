//! Any value: of an argument, of a computed step, of the output.

use super::{awaited, format, json, literal, other_words, reference, test};
use crate::ast::{Computed, Scalar, Value};
use crate::docs::last_name;
use crate::report::Report;
use crate::scan::value::{self as scan, Piece, ValueKind, ValueTokens};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprLit, ExprMacro, Lit, Macro, UnOp};

/// What follows a value among others.
pub(super) const NEXT: &str = "`,` or the end of the value";

/// Reads a value that is all of `tokens`. A message about a missing value points at `end`; the next parameter names what follows
/// a value here.
pub(super) fn all(tokens: TokenStream, end: Span, next: &str, report: &mut Report) -> Value {
    let (item, rest) = scan::value(tokens);
    let value = read(item, end, next, report);
    if let (Some(comma), false) = (rest.into_iter().next(), matches!(value, Value::Broken)) {
        report.error(comma, format!("expected {next}, found `,`"));
    }
    value
}

/// Reads a value up to a comma or the end. What cannot be read is reported and skipped.
pub(super) fn value(input: ParseStream<'_>, end: Span, report: &mut Report) -> Value {
    read(scan::item(input, false), end, NEXT, report)
}

pub(super) fn read(item: ValueTokens, end: Span, next: &str, report: &mut Report) -> Value {
    if let Some((sign, message)) = other_words::choice(&item) {
        report.error(sign, message);
        return Value::Broken;
    }
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
        ValueKind::Reference(reference, tokens) => {
            let method = reference::is_method_without_call(&reference).then(|| syn::parse2(tokens));
            match method {
                // Of code, rustc says that it is a method and not a field, unless it is a field after all.
                Some(Ok(expr)) => classify(expr),
                _ => reference::checked(reference, report),
            }
        }
        ValueKind::Expr(expr, _) => classify(expr),
        ValueKind::Broken(tokens, error) => {
            broken(tokens, error, end, report);
            return Value::Broken;
        }
    };
    match item.extra.into_iter().next() {
        None => value,
        Some(extra) => {
            let message = format!("expected {next}, found `{extra}`");
            report.error_at(start_of(&extra), message);
            Value::Broken
        }
    }
}

/// The start of a token.
pub(super) fn start_of(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_open(),
        other => other.span(),
    }
}

/// Reports why tokens are not a value.
fn broken(tokens: TokenStream, error: syn::Error, end: Span, report: &mut Report) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    if let [TokenTree::Group(object)] = &*trees
        && is_json_object(object)
    {
        report.contained(
            object,
            "an object of untyped JSON is written in `json!`: `json!({ … })`",
        );
        return;
    }
    if let Some(at) = awaited::alone(&trees) {
        return awaited::inside(at, report);
    }
    let dot = trees.windows(2).find_map(|pair| match pair {
        [TokenTree::Punct(dot), next] if dot.as_char() == '.' => {
            let is_name = match next {
                TokenTree::Punct(next) => next.as_char() == '.',
                TokenTree::Group(_) => false,
                _ => true,
            };
            (!is_name).then_some(dot)
        }
        _ => None,
    });
    if let Some(dot) = dot {
        report.contained(dot, "expected the name of a field after the `.`");
        return;
    }
    let index = trees.windows(2).find_map(|pair| match pair {
        [
            TokenTree::Ident(_) | TokenTree::Group(_),
            TokenTree::Group(index),
        ] if index.delimiter() == Delimiter::Bracket && is_no_index(index) => Some(index),
        _ => None,
    });
    if let Some(index) = index {
        report.contained(
            index,
            "expected an index: `[0]`, `[\"key\"]`, or `[..]` for every element",
        );
        return;
    }
    match trees.last() {
        None => report.error_at(end, "expected a value after this"),
        Some(TokenTree::Punct(dot)) if dot.as_char() == '.' => {
            report.contained(dot, "expected the name of a field after the `.`");
        }
        Some(TokenTree::Punct(last)) if last.as_char() != '?' => {
            report.error_at(last.span(), "expected a value after this");
        }
        Some(last) if ends_early(&trees) => {
            report.error_at(
                last.span(),
                "the value ends too early: expected more after this",
            );
        }
        Some(_) => report.push(error),
    }
}

/// Whether this is `[]` or `[*]`.
fn is_no_index(group: &Group) -> bool {
    let mut content = group.stream().into_iter();
    let is_star = |tree| matches!(tree, TokenTree::Punct(star) if star.as_char() == '*');
    content.next().is_none_or(is_star) && content.next().is_none()
}

/// Whether this is `{ "key": …`.
fn is_json_object(group: &Group) -> bool {
    let mut content = group.stream().into_iter();
    group.delimiter() == Delimiter::Brace
        && matches!(content.next(), Some(TokenTree::Literal(_)))
        && matches!(content.next(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':')
}

/// Whether nothing is wrong with these tokens but that more has to follow.
fn ends_early(trees: &[TokenTree]) -> bool {
    let stops_at_end = |tokens: TokenStream| {
        let parser = |input: ParseStream<'_>| {
            let stops = input.parse::<Expr>().is_err() && input.is_empty();
            drain(input);
            Ok(stops)
        };
        parser.parse2(tokens).unwrap_or_default()
    };
    if !stops_at_end(trees.iter().cloned().collect()) {
        return false;
    }
    // An error inside the last brackets is found after them.
    match trees.split_last() {
        Some((TokenTree::Group(group), before)) => {
            let empty = Group::new(group.delimiter(), TokenStream::new());
            let trees = before.iter().cloned().chain([empty.into()]);
            stops_at_end(trees.collect())
        }
        _ => true,
    }
}

/// Whether the value ends with a dot.
pub(super) fn is_dangling(item: &ValueTokens) -> bool {
    let last = match &item.kind {
        ValueKind::Broken(tokens, _) => tokens.clone().into_iter().last(),
        _ => None,
    };
    matches!(last, Some(TokenTree::Punct(dot)) if dot.as_char() == '.')
}

/// Values with commas between them.
pub(super) fn separated(pieces: Vec<Piece>, end: Span, report: &mut Report) -> Vec<Value> {
    let mut values = Vec::new();
    let mut dangling = false;
    for (item, comma) in pieces {
        let was_dangling = std::mem::replace(&mut dangling, is_dangling(&item));
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

/// Takes what a group still holds, so that `syn` does not report it as well.
pub(super) fn drain(content: ParseStream<'_>) -> TokenStream {
    content.parse().unwrap_or_default()
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

/// What an expression is in a plan.
pub(super) fn classify(expr: Expr) -> Value {
    match expr {
        Expr::Group(group) => classify(*group.expr),
        Expr::Path(path) if path.path.is_ident("None") => match path.path.get_ident() {
            Some(none) => Value::None(none.clone()),
            None => computed(Expr::Path(path)),
        },
        expr => match scalar(&expr) {
            Some(scalar) => Value::Scalar(scalar),
            None => computed(expr),
        },
    }
}

/// A literal whose JSON is known, which becomes a part of the template; the others (byte strings, huge integers) are computed.
pub(super) fn scalar(expr: &Expr) -> Option<Scalar> {
    let (minus, literal) = match expr {
        Expr::Unary(unary) => match unary.op {
            UnOp::Neg(minus) => (Some(minus), &*unary.expr),
            _ => return None,
        },
        expr => (None, expr),
    };
    let Expr::Lit(ExprLit { lit, .. }) = literal else {
        return None;
    };
    let is_known = match lit {
        Lit::Str(_) | Lit::Char(_) | Lit::Bool(_) | Lit::Byte(_) => minus.is_none(),
        Lit::Int(int) => match minus {
            None => int.base10_parse::<u64>().is_ok(),
            Some(_) => int
                .base10_digits()
                .parse::<u64>()
                .is_ok_and(|n| n <= 1 << 63),
        },
        Lit::Float(float) => {
            float.base10_parse::<f64>().is_ok_and(f64::is_finite) && float.suffix() != "f32"
        }
        _ => false,
    };
    is_known.then(|| Scalar {
        minus,
        lit: lit.clone(),
    })
}

/// Any expression; its names are found in the next stage.
pub(super) fn computed(expr: Expr) -> Value {
    let test = test::test(&expr);
    let computed = Computed::new(expr.to_token_stream(), expr);
    Value::Computed(Computed { test, ..computed })
}
