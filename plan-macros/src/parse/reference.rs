//! `step.field[0]?.other`: which expressions are references.

use super::is_source_name;
use crate::ast::{Hop, Reference};
use crate::report::Report;
use jsonptr::Pointer;
use syn::{Expr, ExprLit, ExprMethodCall, Lit, RangeLimits};

pub(super) enum Parsed {
    Reference(Reference),
    /// It has the form of a reference, but something in it is wrong, and reported.
    Broken,
    /// Any other expression.
    Other,
}

/// A mistake that the report knows.
struct Reported;

/// Reads a path from a step or an input.
pub(super) fn parse(expr: &Expr, report: &mut Report) -> Parsed {
    let mut hops = Vec::new();
    let mut end = None;
    let mut broken = false;
    let mut expr = expr;
    let root = loop {
        let (hop, base, last) = match expr {
            Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => {
                match path.path.get_ident() {
                    Some(ident) if is_source_name(ident) => break ident.clone(),
                    _ => return Parsed::Other,
                }
            }
            Expr::Field(field) => {
                let last = match &field.member {
                    syn::Member::Named(ident) => ident.span(),
                    syn::Member::Unnamed(index) => index.span,
                };
                (
                    Hop::Field(field.dot_token, field.member.clone()),
                    &*field.base,
                    last,
                )
            }
            Expr::Index(index) => {
                let hop = match &*index.index {
                    Expr::Lit(ExprLit {
                        lit: Lit::Int(int), ..
                    }) => Hop::Index(index.bracket_token, int.clone()),
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(key), ..
                    }) => Hop::Key(index.bracket_token, key.clone()),
                    Expr::Range(range)
                        if range.start.is_none()
                            && range.end.is_none()
                            && matches!(range.limits, RangeLimits::HalfOpen(_)) =>
                    {
                        Hop::Each(index.bracket_token)
                    }
                    _ => return Parsed::Other,
                };
                (hop, &*index.expr, index.bracket_token.span.close())
            }
            Expr::Try(optional) => (
                Hop::Optional(optional.question_token),
                &*optional.expr,
                optional.question_token.span,
            ),
            Expr::MethodCall(call) => match method(call, report) {
                Ok(Some(hop)) => (hop, &*call.receiver, call.paren_token.span.close()),
                Ok(None) => return Parsed::Other,
                Err(Reported) => {
                    broken = true;
                    expr = &call.receiver;
                    continue;
                }
            },
            Expr::Group(group) => {
                expr = &group.expr;
                continue;
            }
            _ => return Parsed::Other,
        };
        end.get_or_insert(last);
        hops.push(hop);
        expr = base;
    };
    if broken {
        return Parsed::Broken;
    }
    hops.reverse();
    let end = end.unwrap_or_else(|| root.span());
    Parsed::Reference(Reference {
        root,
        local: None,
        hops,
        end,
    })
}

/// `.get(0)`, `.get("key")`, `.pointer("/a/0")`; other methods are computed.
fn method(call: &ExprMethodCall, report: &mut Report) -> Result<Option<Hop>, Reported> {
    let (None, 1) = (&call.turbofish, call.args.len()) else {
        return Ok(None);
    };
    let Some(Expr::Lit(ExprLit { lit, .. })) = call.args.first() else {
        return Ok(None);
    };
    if call.method == "get" && matches!(lit, Lit::Int(_) | Lit::Str(_)) {
        return Ok(Some(Hop::Get(
            call.dot_token,
            call.method.clone(),
            lit.clone(),
        )));
    }
    let (true, Lit::Str(text)) = (call.method == "pointer", lit) else {
        return Ok(None);
    };
    let value = text.value();
    match Pointer::parse(&value) {
        Ok(pointer) => {
            let tokens = pointer
                .tokens()
                .map(|token| token.decoded().into_owned())
                .collect();
            Ok(Some(Hop::Pointer(
                call.dot_token,
                call.method.clone(),
                text.clone(),
                tokens,
            )))
        }
        Err(error) => {
            report.error(text, pointer_error(&value, &error));
            Err(Reported)
        }
    }
}

fn pointer_error(value: &str, error: &jsonptr::ParseError) -> String {
    let reason = match error {
        jsonptr::ParseError::NoLeadingSlash => {
            return format!(
                "`{value}` is not a JSON Pointer (RFC 6901): it does not start with `/`\nhelp: write `\"/{value}\"`"
            );
        }
        _ => "`~` is valid only in `~0` (for `~`) and `~1` (for `/`)",
    };
    format!("`{value}` is not a JSON Pointer (RFC 6901): {reason}")
}
