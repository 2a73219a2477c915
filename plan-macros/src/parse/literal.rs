//! `Type { … }`, `path::Variant(…)`, `Some(…)`.

use super::value::{at_end, drain, in_braces, in_parens, separated, skip, value};
use crate::ast::{Field, Fields, Literal, Rest, Scalar, Value};
use crate::report::Report;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::spanned::Spanned;
use syn::{Ident, Lit, Path, Token, token};

/// `Type { … }`, `path::Variant(…)`, `Some(…)`.
pub(super) fn literal(input: ParseStream<'_>, report: &mut Report) -> Option<Value> {
    let fork = input.fork();
    let expr = fork.call(path).ok()?;
    let last = expr.segments.last()?.ident.unraw().to_string();
    if !last.starts_with(char::is_uppercase) {
        return None;
    }
    if fork.peek(token::Brace) {
        let (brace, content) = in_braces(&fork).ok()?;
        if !at_end(&fork) {
            return None;
        }
        let (fields, rest) = named(&content, brace.span.close(), report);
        input.advance_to(&fork);
        return Some(Value::Literal(Literal {
            path: expr,
            fields: Fields::Named(brace, fields, rest),
        }));
    }
    if fork.peek(token::Paren) && last.contains(char::is_lowercase) {
        let (paren, content) = in_parens(&fork).ok()?;
        if !at_end(&fork) {
            return None;
        }
        if expr.is_ident("Some") {
            let some = expr.get_ident().cloned()?;
            let inner = value(&content, paren.span.close(), report);
            let _ = content.parse::<Token![,]>();
            let extra = drain(&content);
            if !extra.is_empty() {
                report.error(extra, "`Some(…)` takes one value");
            }
            input.advance_to(&fork);
            return Some(Value::Some(some, paren, Box::new(inner)));
        }
        // Without references and texts in it, the call is plain Rust and asks nothing of its type.
        if !needs_template(&content.fork()) {
            return None;
        }
        let values = separated(&content, paren.span.close(), report);
        input.advance_to(&fork);
        return Some(Value::Literal(Literal {
            path: expr,
            fields: Fields::Unnamed(paren, values),
        }));
    }
    None
}

fn path(input: ParseStream<'_>) -> syn::Result<Path> {
    match input.parse::<syn::ExprPath>()? {
        syn::ExprPath {
            qself: None,
            path,
            attrs,
        } if attrs.is_empty() => Ok(path),
        other => Err(syn::Error::new_spanned(other, "expected a path")),
    }
}

/// Whether the arguments contain a string, or a lower-case name that is not a path.
fn needs_template(content: ParseStream<'_>) -> bool {
    let mut report = Report::new();
    let values = separated(content, Span::call_site(), &mut report);
    fn any(value: &Value) -> bool {
        match value {
            Value::Scalar(Scalar {
                lit: Lit::Str(_), ..
            })
            | Value::Reference(_)
            | Value::Broken
            | Value::Format(_)
            | Value::Json(..)
            | Value::Literal(_) => true,
            Value::Some(_, _, value) => any(value),
            Value::List(_, values) | Value::Tuple(_, values) => values.iter().any(any),
            Value::Scalar(_) | Value::None(_) | Value::Computed(_) => false,
        }
    }
    values.iter().any(any)
}

/// `name: value, shorthand, ..`
fn named(content: ParseStream<'_>, end: Span, report: &mut Report) -> (Vec<Field>, Rest) {
    let mut fields: Vec<Field> = Vec::new();
    let mut rest = Rest::Nothing;
    while !content.is_empty() {
        if let Ok(dots) = content.parse::<Token![..]>() {
            rest = Rest::Defaults(dots);
            let base = skip(content);
            if !base.is_empty() {
                report.error(base, "`..` takes no value here: it omits the remaining arguments, which then have their defaults");
                rest = Rest::Broken;
            }
            if !content.is_empty() {
                let _ = content.parse::<Token![,]>();
                let after = drain(content);
                if !after.is_empty() {
                    report.error(after, "`..` must come after all arguments");
                    rest = Rest::Broken;
                }
            }
            break;
        }
        if let Ok(comma) = content.parse::<Token![,]>() {
            report.error(
                comma,
                "expected an argument before this comma: `name: value`",
            );
            continue;
        }
        match field(content, end, report) {
            Ok(field) => {
                if fields.iter().any(|earlier| earlier.name == field.name) {
                    report.error(
                        &field.name,
                        format!("the argument `{}` is given more than once", field.name),
                    );
                } else {
                    fields.push(field);
                }
            }
            Err(error) => {
                skip(content);
                report.push(error);
                rest = Rest::Broken;
            }
        }
        let is_next = content.peek(Ident::peek_any) && content.peek2(Token![:]);
        if !content.is_empty() && !is_next && content.parse::<Token![,]>().is_err() {
            let skipped = skip(content);
            report.error(skipped, "expected `,` before this");
            let _ = content.parse::<Token![,]>();
        }
    }
    (fields, rest)
}

fn field(content: ParseStream<'_>, end: Span, report: &mut Report) -> syn::Result<Field> {
    if content.peek(Token![#]) {
        return Err(content.error("arguments cannot have attributes"));
    }
    if !content.peek(Ident::peek_any) {
        return Err(content.error("expected the name of an argument: `name: value`"));
    }
    let name = content.call(Ident::parse_any)?;
    if content.peek(Token![:]) && !content.peek(Token![::]) {
        let colon: Token![:] = content.parse()?;
        let end = if content.is_empty() {
            end
        } else {
            colon.span()
        };
        if at_end(content) {
            report.error_at(
                name.span(),
                format!("expected a value for `{name}`: `{name}: value`"),
            );
            return Ok(Field {
                name,
                shorthand: false,
                value: Value::Broken,
            });
        }
        let value = value(content, end, report);
        return Ok(Field {
            name,
            shorthand: false,
            value,
        });
    }
    if !at_end(content) {
        if content.peek(Token![=]) {
            return Err(content.error(format!(
                "write a colon between the argument and its value: `{name}: value`"
            )));
        }
        return Err(content.error(format!("expected `:` and the value of `{name}`")));
    }
    let value = Value::Reference(crate::ast::Reference {
        root: name.clone(),
        local: None,
        hops: Vec::new(),
        end: name.span(),
    });
    Ok(Field {
        name,
        shorthand: true,
        value,
    })
}
