//! The braces of a branch, which may be a value or end with one.

use super::super::owned::KNOWN;
use super::super::value;
use super::WorkReader;
use crate::ast::Body;
use crate::docs::is_among;
use crate::mistakes::Position;
use crate::syntax::reference::is_source_name;
use crate::syntax::value::is_type_name;
use crate::syntax::{self, StatementKind, has_steps};
use proc_macro2::{Group, Ident, TokenStream};
use syn::{Expr, Path};

/// The possible ends of the braces of a branch.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ends {
    /// With a step, or with a call.
    Typed,
    /// With any value, which has the type of another branch.
    AsOthers,
}

impl Ends {
    /// Returns how these branches may end.
    pub(super) fn of<'b>(mut branches: impl Iterator<Item = &'b Group>) -> Self {
        let is_typed = |branch: &Group| {
            if !has_steps(branch) {
                return !is_value(&branch.stream());
            }
            let last = syntax::block(branch.stream()).pop();
            match last.map(|last| last.kind) {
                Some(StatementKind::Other(last)) => !is_value(&last) || is_name(&last),
                _ => true,
            }
        };
        if branches.any(is_typed) {
            Self::AsOthers
        } else {
            Self::Typed
        }
    }
}

impl WorkReader<'_> {
    /// Reads the braces of a branch.
    pub(super) fn branch(&mut self, group: &Group, ends: Ends) -> Body {
        let tokens = group.stream();
        if has_steps(group) {
            Body::Block(Box::new(self.block(group, ends)))
        } else if ends == Ends::AsOthers && is_value(&tokens) {
            let (end, next) = (group.span_close(), Position::Braces.end());
            Body::Compute(value::all(tokens, end, next, self.report))
        } else {
            self.inner(group)
        }
    }
}

/// Returns `true` if the tokens are one name.
fn is_name(tokens: &TokenStream) -> bool {
    syn::parse2::<Ident>(tokens.clone()).is_ok()
}

/// Returns `true` if the tokens are a value, and not the call of a tool.
pub(super) fn is_value(tokens: &TokenStream) -> bool {
    syn::parse2(tokens.clone()).is_ok_and(|expr| is_value_of(&expr))
}

/// Returns `true` for a variant with its enum, or a constant of a type: `Mode::Slow`, `u64::MAX`.
pub(super) fn is_variant(path: &Path) -> bool {
    let mut names = path.segments.iter().rev().map(|part| &part.ident);
    let (Some(last), Some(owner)) = (names.next(), names.next()) else {
        return false;
    };
    is_type_name(last) && (is_type_name(owner) || is_among(owner, KNOWN))
}

fn is_value_of(expr: &Expr) -> bool {
    let is_one_of = |path: &Path, names: &[&str]| names.iter().any(|name| path.is_ident(name));
    match expr {
        Expr::Path(path) => {
            let name = path.path.get_ident();
            name.is_some_and(|name| is_source_name(name) || name == "None")
                || is_variant(&path.path)
        }
        Expr::Call(call) => {
            matches!(&*call.func, Expr::Path(path) if is_one_of(&path.path, &["Some", "Ok", "Err"]) || is_variant(&path.path))
        }
        Expr::Macro(call) => is_one_of(&call.mac.path, &["format", "json", "vec"]),
        Expr::Field(field) => is_value_of(&field.base),
        Expr::Index(index) => is_value_of(&index.expr),
        Expr::Try(asks) => is_value_of(&asks.expr),
        Expr::MethodCall(call) => is_value_of(&call.receiver),
        Expr::Cast(cast) => is_value_of(&cast.expr),
        Expr::Lit(_)
        | Expr::Array(_)
        | Expr::Tuple(_)
        | Expr::Paren(_)
        | Expr::Unary(_)
        | Expr::Binary(_) => true,
        _ => false,
    }
}
