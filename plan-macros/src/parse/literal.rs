//! `Type { … }`, `path::Variant(…)`, `Some(…)`.

use super::value::{NEXT, classify, read, separated};
use crate::ast::{Field, Fields, Literal, Reference, Rest, Scalar, Value};
use crate::mistakes::value as mistakes;
use crate::report::{Mistake, Report, mistake};
use crate::syntax::tokens::{Tokens, last};
use crate::syntax::value::{FieldKind, FieldTokens, Piece, ValueKind, ValueTokens};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Lit, Path, token};

/// `path::Variant(…)`, `Some(…)`.
pub(super) fn unnamed(
    path: Path,
    paren: token::Paren,
    pieces: Vec<Piece>,
    tokens: TokenStream,
    report: &mut Report,
) -> Value {
    if let Some(named) = mistakes::named_in_parentheses(&path, &tokens) {
        report.push(named);
        return Value::Broken;
    }
    if let Some(some) = path.get_ident().filter(|name| *name == "Some") {
        let inner = inside_some(paren, pieces, &tokens, report);
        return Value::Some(some.clone(), paren, Box::new(inner));
    }
    let mut inner = Report::default();
    let values = separated(pieces, paren.span.close(), &mut inner);
    if values.iter().any(needs_template) {
        report.extend(inner);
        let fields = Fields::Unnamed(paren, values);
        return Value::Literal(Literal { path, fields });
    }
    // Without references and strings, the call is plain Rust and needs no expected type.
    report
        .ok(syn::parse2(tokens))
        .map_or(Value::Broken, classify)
}

fn inside_some(
    paren: token::Paren,
    pieces: Vec<Piece>,
    tokens: &TokenStream,
    report: &mut Report,
) -> Value {
    let end = paren.span.close();
    let Some((inner, _)) = pieces.into_iter().next() else {
        report.error_at(end, "expected a value before this");
        return Value::Broken;
    };
    let mut inner = read(inner, end, NEXT, report);
    if let Some(null) = null(&inner) {
        report.push(null);
        inner = Value::Broken;
    }
    if let Some(TokenTree::Group(group)) = last(tokens) {
        let mut tokens = Tokens::new(group.stream());
        tokens.take_until(|tokens| tokens.is_punct(0, ','));
        tokens.next();
        if !tokens.is_empty() {
            report.error(tokens.rest(), "`Some(…)` takes one value");
        }
    }
    inner
}

/// Returns the error of `Some(None)` and `Some(())`.
fn null(inner: &Value) -> Option<Mistake> {
    let (at, empty) = match inner {
        Value::None(none) => (none.span(), "None"),
        Value::Tuple(parens, values) if values.is_empty() => (parens.span.join(), "()"),
        _ => return None,
    };
    Some(Mistake::at(
        at,
        format!(
            "`Some({empty})` and `None` are both null in JSON\nhelp: write `None`, or `Some(value)`"
        ),
    ))
}

/// Returns `true` if the value contains a string, or a lower-case name that is not a path.
fn needs_template(value: &Value) -> bool {
    match value {
        Value::Scalar(Scalar {
            lit: Lit::Str(_), ..
        })
        | Value::Reference(_)
        | Value::Broken
        | Value::Format(_)
        | Value::Json(..)
        | Value::Literal(_) => true,
        Value::Some(_, _, value) => needs_template(value),
        Value::List(_, values) | Value::Tuple(_, values) => values.iter().any(needs_template),
        Value::Scalar(_) | Value::None(_) | Value::Computed(_) => false,
    }
}

/// `Type { name: value, shorthand, .. }`
pub(super) fn named(
    path: Path,
    brace: token::Brace,
    source: Vec<FieldTokens>,
    report: &mut Report,
) -> Value {
    let mut fields: Vec<Field> = Vec::new();
    let mut rest = Rest::Nothing;
    let mut source = source.into_iter().peekable();
    let mut dangling = false;
    while let Some(next) = source.next() {
        if let Some(at) = next.semicolon {
            report.error_at(at, "a comma separates arguments: write `,` instead of `;`");
        }
        let is_dangling =
            matches!(&next.kind, FieldKind::Value(_, _, item) if mistakes::is_dangling(item));
        let was_dangling = std::mem::replace(&mut dangling, is_dangling);
        match next.kind {
            FieldKind::Value(name, colon, item) => {
                let mut value = field_value(&name, colon.span(), *item, report);
                let after = source.peek().map(|after| &after.kind);
                if let (None, Some(FieldKind::Value(after, ..))) = (next.comma, after) {
                    report.error(after, format!("expected {NEXT}, found `{after}`"));
                    value = Value::Broken;
                }
                add(&mut fields, name, value, false, report);
            }
            // `a: b.,c` may be `a: b.c`.
            FieldKind::Name(_) | FieldKind::Broken(_) if was_dangling => rest = Rest::Broken,
            FieldKind::Name(name) => {
                let value = Value::Reference(Reference::new(name.clone()));
                add(&mut fields, name, value, true, report);
            }
            FieldKind::Rest(dots, tokens) => {
                let mistakes = mistakes::after_dots(tokens);
                rest = if mistakes.is_empty() {
                    Rest::Defaults(dots)
                } else {
                    Rest::Broken
                };
                report.extend(mistakes);
                break;
            }
            FieldKind::Broken(tokens) => match next.comma.filter(|_| tokens.is_empty()) {
                Some(comma) => {
                    let message = "expected an argument before this comma: `name: value`";
                    report.error(comma, message);
                }
                None => {
                    report.extend(mistakes::not_a_field(tokens));
                    rest = Rest::Broken;
                }
            },
        }
    }
    let fields = Fields::Named(brace, fields, rest);
    Value::Literal(Literal { path, fields })
}

fn field_value(name: &Ident, colon: Span, item: ValueTokens, report: &mut Report) -> Value {
    if matches!(&item.kind, ValueKind::Broken(tokens, _) if tokens.is_empty()) {
        report.error(
            name,
            format!("expected a value for `{name}`: `{name}: value`"),
        );
        return Value::Broken;
    }
    read(item, colon, NEXT, report)
}

fn add(fields: &mut Vec<Field>, name: Ident, value: Value, shorthand: bool, report: &mut Report) {
    if fields.iter().any(|earlier| earlier.name == name) {
        let mistake = mistake!(&name, "the argument `{name}` is given more than once");
        // A shorthand may be a part of the value before it.
        report.push(if shorthand {
            mistake
        } else {
            mistake.certain()
        });
    } else {
        fields.push(Field {
            name,
            shorthand,
            value,
        });
    }
}
