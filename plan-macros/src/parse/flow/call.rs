//! The call of a tool.

use super::super::value;
use crate::ast::{Body, Fields, Literal, Value};
use crate::docs::text_of;
use crate::mistakes::{self, Position};
use crate::report::{Mistake, Report};
use proc_macro2::{Span, TokenStream};
use syn::{Expr, Ident};

/// Reads the call of a tool: `Tool { … }`, `Tool`.
pub(super) fn call(
    tokens: TokenStream,
    end: Span,
    position: Position,
    name: &Ident,
    report: &mut Report,
) -> Result<Body, Mistake> {
    if let Some(mistake) = mistakes::in_place_of_call(&tokens, name) {
        return Err(mistake);
    }
    let (tokens, waits) = mistakes::without_waiting(tokens, name)?;
    report.extend(waits);
    match value::all(tokens.clone(), end, position.end(), report) {
        Value::Literal(Literal {
            path,
            fields: Fields::Unnamed(..),
        }) => Err(mistakes::unnamed(&path, &path, position, name)),
        Value::Literal(literal) => Ok(Body::Call(literal)),
        Value::Broken => Ok(Body::Broken(mistakes::tool_path(tokens))),
        Value::Computed(computed) => match computed.expr {
            Expr::Path(path) if path.qself.is_none() && is_unit(&path.path) => {
                Ok(Body::Call(Literal {
                    path: path.path,
                    fields: Fields::Unit,
                }))
            }
            _ => Err(mistakes::not_a_call(&tokens, position, name)),
        },
        _ => Err(mistakes::not_a_call(&tokens, position, name)),
    }
}

/// Returns `true` for a path that names a type: `Refresh`, `tools::Refresh`.
fn is_unit(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = text_of(&last.ident);
        name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
    })
}
