//! Any value: of an argument, of a computed step, of the output.

use super::{format, json, literal, reference};
use crate::ast::{Computed, Scalar, Value};
use crate::report::Report;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseBuffer, ParseStream, Parser};
use syn::{
    Expr, ExprLit, Ident, Lit, Macro, Path, Token, UnOp, braced, bracketed, parenthesized, token,
};

/// Reads a value that is all of `tokens`. A message about a missing value points at `end`; the next parameter names what follows
/// a value here.
pub(super) fn all(tokens: TokenStream, end: Span, next: &str, report: &mut Report) -> Value {
    let parser = |input: ParseStream<'_>| {
        let value = value_before(input, end, next, report);
        if !input.is_empty() && !matches!(value, Value::Broken) {
            report.error_at(input.span(), format!("expected {next}, found `,`"));
        }
        drain(input);
        Ok(value)
    };
    parser.parse2(tokens).unwrap_or(Value::Broken)
}

/// The tokens of the value at the start, the comma after it, and the rest.
pub(super) fn first(tokens: TokenStream) -> (TokenStream, Option<Token![,]>, TokenStream) {
    let parser = |input: ParseStream<'_>| {
        let start = input.fork();
        if input.parse::<Expr>().is_err() {
            drain(input);
            return Ok((drain(&start), None, TokenStream::new()));
        }
        let comma: Option<Token![,]> = input.fork().parse()?;
        let more = drain(input);
        let count = start.fork().parse::<TokenStream>()?.into_iter().count();
        let length = count - more.clone().into_iter().count();
        let value = drain(&start).into_iter().take(length).collect();
        let more = more
            .into_iter()
            .skip(usize::from(comma.is_some()))
            .collect();
        Ok((value, comma, more))
    };
    parser.parse2(tokens).unwrap_or_default()
}

/// Reads a value up to a comma or the end. What cannot be read is reported and skipped.
pub(super) fn value(input: ParseStream<'_>, end: Span, report: &mut Report) -> Value {
    value_before(input, end, "`,` or the end of the value", report)
}

fn value_before(input: ParseStream<'_>, end: Span, next: &str, report: &mut Report) -> Value {
    if let Some(reference) = reference::plain(input) {
        return Value::Reference(reference);
    }
    let literal = structural(input, report);
    if let Some(value) = literal {
        return value;
    }
    let fork = input.fork();
    match fork.parse::<Expr>() {
        Ok(expr) if at_end(&fork) => match take_to(input, &fork) {
            Ok(()) => classify(expr, report),
            Err(error) => {
                report.push(error);
                Value::Broken
            }
        },
        Ok(_) => {
            let at = fork.span();
            report.error_at(
                at,
                format!("expected {next}, found `{}`", first_token(&fork)),
            );
            if fork.peek(Ident::peek_any) && fork.peek2(Token![:]) && !fork.peek2(Token![::]) {
                // Only the comma is missing: the next argument is read as well.
                input.advance_to(&fork);
            } else {
                skip(input);
            }
            Value::Broken
        }
        Err(error) => {
            let skipped = skip(input);
            broken(skipped, error, end, report);
            Value::Broken
        }
    }
}

/// Takes the expression that ends where `end` is. What is left over in its brackets, `syn` finds only where an expression is all.
fn take_to(input: ParseStream<'_>, end: ParseStream<'_>) -> syn::Result<()> {
    let mut taken = TokenStream::new();
    while input.cursor() != end.cursor() {
        taken.extend([input.parse::<TokenTree>()?]);
    }
    syn::parse2::<Expr>(taken).map(drop)
}

/// Reports why tokens are not a value.
fn broken(tokens: TokenStream, error: syn::Error, end: Span, report: &mut Report) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let dot = trees.windows(2).find_map(|pair| match pair {
        [TokenTree::Punct(dot), next] if dot.as_char() == '.' => {
            let is_name = match next {
                TokenTree::Punct(next) => next.as_char() == '.',
                TokenTree::Group(_) => false,
                _ => true,
            };
            (!is_name).then(|| dot.span())
        }
        _ => None,
    });
    if let Some(dot) = dot {
        report.error_at(dot, "expected the name of a field after the `.`");
        return;
    }
    let index = trees.windows(2).find_map(|pair| match pair {
        [
            TokenTree::Ident(_) | TokenTree::Group(_),
            TokenTree::Group(index),
        ] if index.delimiter() == Delimiter::Bracket && index.stream().is_empty() => {
            Some(index.span())
        }
        _ => None,
    });
    if let Some(index) = index {
        report.error_at(
            index,
            "expected an index: `[0]`, `[\"key\"]`, or `[..]` for every element",
        );
        return;
    }
    match trees.last() {
        None => report.error_at(end, "expected a value after this"),
        Some(TokenTree::Punct(dot)) if dot.as_char() == '.' => {
            report.error_at(dot.span(), "expected the name of a field after the `.`");
        }
        Some(TokenTree::Punct(last)) => {
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

/// Takes all up to the next comma that is not inside brackets.
pub(super) fn skip(input: ParseStream<'_>) -> TokenStream {
    let mut skipped = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        match input.parse::<TokenTree>() {
            Ok(tree) => skipped.extend([tree]),
            Err(_) => break,
        }
    }
    skipped
}

pub(super) fn at_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

fn first_token(input: ParseStream<'_>) -> String {
    input
        .fork()
        .parse::<TokenTree>()
        .map(|tree| tree.to_string())
        .unwrap_or_default()
}

/// What has values inside it is read piece by piece, so that a mistake stays in its piece.
fn structural(input: ParseStream<'_>, report: &mut Report) -> Option<Value> {
    if input.peek(token::Bracket) {
        return list(input, report);
    }
    if input.peek(token::Paren) {
        return parens(input, report);
    }
    if is_macro(input) {
        return call_of_macro(input, report);
    }
    if input.peek(Ident::peek_any) || input.peek(Token![::]) {
        return literal::literal(input, report);
    }
    None
}

/// `[a, b]`; `[a; n]` and `[a, b].len()` are expressions.
fn list(input: ParseStream<'_>, report: &mut Report) -> Option<Value> {
    let fork = input.fork();
    let (bracket, content) = in_brackets(&fork).ok()?;
    if !at_end(&fork) || is_repeat(&content) {
        return None;
    }
    let values = separated(&content, bracket.span.close(), report);
    input.advance_to(&fork);
    Some(Value::List(bracket, values))
}

pub(super) fn in_brackets<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Bracket, ParseBuffer<'a>)> {
    let content;
    Ok((bracketed!(content in input), content))
}

pub(super) fn in_parens<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Paren, ParseBuffer<'a>)> {
    let content;
    Ok((parenthesized!(content in input), content))
}

pub(super) fn in_braces<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Brace, ParseBuffer<'a>)> {
    let content;
    Ok((braced!(content in input), content))
}

/// Takes what a group still holds, so that `syn` does not report it as well.
pub(super) fn drain(content: ParseStream<'_>) -> TokenStream {
    content.parse().unwrap_or_default()
}

fn is_repeat(content: ParseStream<'_>) -> bool {
    let trees: Vec<TokenTree> = content
        .fork()
        .parse::<TokenStream>()
        .map(|s| s.into_iter().collect())
        .unwrap_or_default();
    trees
        .iter()
        .any(|tree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ';'))
}

/// `(a, b)` is a tuple, `(a)` is `a`.
fn parens(input: ParseStream<'_>, report: &mut Report) -> Option<Value> {
    let fork = input.fork();
    let (paren, content) = in_parens(&fork).ok()?;
    if !at_end(&fork) {
        return None;
    }
    let has_comma = content.fork().parse::<TokenStream>().is_ok_and(|stream| {
        stream
            .into_iter()
            .any(|tree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ','))
    });
    if !has_comma && !content.is_empty() {
        // Only what has a form of its own is looked for inside: `(a + b)` stays an expression with its parentheses.
        let value = value(&content, paren.span.close(), report);
        input.advance_to(&fork);
        return Some(value);
    }
    let values = separated(&content, paren.span.close(), report);
    input.advance_to(&fork);
    Some(Value::Tuple(paren, values))
}

/// Values with commas between them.
pub(super) fn separated(content: ParseStream<'_>, end: Span, report: &mut Report) -> Vec<Value> {
    let mut values = Vec::new();
    while !content.is_empty() {
        if let Ok(comma) = content.parse::<Token![,]>() {
            report.error(comma, "expected a value before this comma");
            continue;
        }
        values.push(value(content, end, report));
        if content.parse::<Token![,]>().is_err() {
            break;
        }
    }
    drain(content);
    values
}

/// Whether a path and a `!` come next.
fn is_macro(input: ParseStream<'_>) -> bool {
    let fork = input.fork();
    fork.call(Path::parse_mod_style).is_ok() && fork.peek(Token![!]) && !fork.peek(Token![!=])
}

/// `json!(…)` and `format!(…)`.
fn call_of_macro(input: ParseStream<'_>, report: &mut Report) -> Option<Value> {
    let fork = input.fork();
    let call: Macro = fork.parse().ok()?;
    if !at_end(&fork) {
        return None;
    }
    let names: Vec<String> = call
        .path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let value = match names[..] {
        ["json"] | ["serde_json", "json"] => json::parse(&call, report)?,
        ["format"] | ["std" | "alloc", "format"] => format::parse(&call, report)?,
        _ => return None,
    };
    input.advance_to(&fork);
    Some(value)
}

/// What an expression is in a plan.
fn classify(expr: Expr, report: &mut Report) -> Value {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => scalar(None, lit),
        Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
            (
                UnOp::Neg(minus),
                Expr::Lit(ExprLit {
                    lit: lit @ (Lit::Int(_) | Lit::Float(_)),
                    ..
                }),
            ) => scalar(Some(*minus), lit.clone()),
            _ => computed(Expr::Unary(unary)),
        },
        Expr::Group(group) => classify(*group.expr, report),
        Expr::Path(path) if path.path.is_ident("None") => match path.path.get_ident() {
            Some(none) => Value::None(none.clone()),
            None => computed(Expr::Path(path)),
        },
        expr => match reference::parse(&expr, report) {
            reference::Parsed::Reference(reference) => Value::Reference(reference),
            reference::Parsed::Broken => Value::Broken,
            reference::Parsed::Other => computed(expr),
        },
    }
}

/// Literals whose JSON is known become part of the template; the others (byte strings, huge integers) are computed.
fn scalar(minus: Option<Token![-]>, lit: Lit) -> Value {
    let known = match &lit {
        Lit::Str(_) | Lit::Char(_) | Lit::Bool(_) | Lit::Byte(_) => true,
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
    if known {
        return Value::Scalar(Scalar { minus, lit });
    }
    let expr: TokenStream = quote!(#minus #lit);
    match syn::parse2(expr) {
        Ok(expr) => computed(expr),
        Err(_) => Value::Broken,
    }
}

/// Any expression; its names are found in the next stage.
pub(super) fn computed(expr: Expr) -> Value {
    Value::Computed(Computed {
        written: expr.to_token_stream(),
        expr,
        names: Vec::new(),
        locals: Vec::new(),
    })
}
