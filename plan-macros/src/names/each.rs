//! Finds Rust expressions in a plan that use the elements of a list as `Result`s.

use crate::docs::{is_among, text_of};
use crate::parse::value_text;
use syn::visit::{self, Visit};
use syn::{Expr, ExprBlock, ExprClosure, ExprLet, ExprMatch, Ident, Pat, PatIdent};

/// Methods of a `Result` that no list has.
const NOT_OF_LISTS: &str = "err expect expect_err is_err is_err_and is_ok is_ok_and map_err ok unwrap unwrap_err unwrap_or unwrap_or_default \
    unwrap_or_else";

/// Returns the first use of an element as a `Result`, with the name of its list, among the names for which `is_list` is `true`.
pub(super) fn asked(expr: &Expr, is_list: &dyn Fn(&Ident) -> bool) -> Option<(Ident, String)> {
    let list = |expr: &Expr| name(inner(expr)).filter(|name| is_list(name)).cloned();
    // `list.iter()` or `list.into_iter()`
    let iterated = |expr: &Expr| match inner(expr) {
        Expr::MethodCall(call) if is_among(&call.method, "iter into_iter") => list(&call.receiver),
        _ => None,
    };
    let mut found = None;
    let bound = each_expr(expr, &mut |expr| {
        let (list, written) = match (result(expr), expr) {
            (Some(Expr::Index(index)), _) => (list(&index.expr), expr),
            (_, Expr::MethodCall(call)) if call.args.iter().any(takes_result) => {
                (iterated(&call.receiver), &*call.receiver)
            }
            (_, Expr::ForLoop(repeat)) => {
                let body = Expr::Block(ExprBlock {
                    attrs: Vec::new(),
                    label: None,
                    block: repeat.body.clone(),
                });
                let is_result = matches!(&*repeat.pat, Pat::Ident(it) if asks(&body, &it.ident));
                let list = || list(&repeat.expr).or_else(|| iterated(&repeat.expr));
                (is_result.then(list).flatten(), &*repeat.expr)
            }
            _ => return,
        };
        if found.is_none() {
            found = list.map(|list| (list, value_text(written)));
        }
    });
    found.filter(|(name, _)| !bound.contains(&text_of(name)))
}

/// Returns `true` if code uses the value of this name as a `Result`.
pub(super) fn asks(expr: &Expr, element: &Ident) -> bool {
    let mut found = false;
    each_expr(expr, &mut |expr| {
        found |= result(expr).and_then(name) == Some(element);
    });
    found
}

/// Calls `f` with an expression and all expressions inside it, and returns the names that they bind.
fn each_expr(expr: &Expr, f: &mut dyn FnMut(&Expr)) -> Vec<String> {
    struct Visited<'f>(&'f mut dyn FnMut(&Expr), Vec<String>);
    impl<'ast> Visit<'ast> for Visited<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            (self.0)(expr);
            visit::visit_expr(self, expr);
        }

        fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
            self.1.push(text_of(&pat.ident));
            visit::visit_pat_ident(self, pat);
        }
    }
    let mut visited = Visited(f, Vec::new());
    visited.visit_expr(expr);
    visited.1
}

/// Returns the name, if an expression is a name alone.
fn name(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// Returns `true` for `|it| it.is_ok()` and for `Result::is_ok`.
fn takes_result(argument: &Expr) -> bool {
    match argument {
        Expr::Closure(ExprClosure { inputs, body, .. }) => {
            let mut input = inputs.first();
            while let Some(Pat::Reference(reference)) = input {
                input = Some(&reference.pat);
            }
            matches!(input, Some(Pat::Ident(element)) if asks(body, &element.ident))
        }
        Expr::Path(path) => {
            let mut segments = path.path.segments.iter().rev();
            segments
                .next()
                .is_some_and(|last| is_among(&last.ident, NOT_OF_LISTS))
                && segments.next().is_some_and(|ty| ty.ident == "Result")
        }
        _ => false,
    }
}

/// Returns the part of an expression that the expression uses as a `Result`.
fn result(expr: &Expr) -> Option<&Expr> {
    let part = match expr {
        Expr::MethodCall(call) if is_among(&call.method, NOT_OF_LISTS) => &call.receiver,
        Expr::Try(ask) => &ask.expr,
        Expr::Match(ExprMatch { expr, arms, .. })
            if arms.iter().any(|arm| is_outcome(&arm.pat)) =>
        {
            expr
        }
        Expr::Let(ExprLet { pat, expr, .. }) if is_outcome(pat) => expr,
        _ => return None,
    };
    Some(inner(part))
}

/// Returns `true` for `Ok(…)` and `Err(…)`.
fn is_outcome(pat: &Pat) -> bool {
    match pat {
        Pat::TupleStruct(pat) => pat.path.is_ident("Ok") || pat.path.is_ident("Err"),
        Pat::Reference(reference) => is_outcome(&reference.pat),
        Pat::Or(or) => or.cases.iter().any(is_outcome),
        _ => false,
    }
}

/// Returns the expression without borrows, copies and parentheses around it.
fn inner(expr: &Expr) -> &Expr {
    match expr {
        Expr::Reference(reference) => inner(&reference.expr),
        Expr::Paren(paren) => inner(&paren.expr),
        Expr::Group(group) => inner(&group.expr),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => inner(&unary.expr),
        Expr::MethodCall(call) if call.method == "as_ref" || call.method == "clone" => {
            inner(&call.receiver)
        }
        other => other,
    }
}
