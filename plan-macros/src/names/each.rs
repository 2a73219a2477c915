//! Finds Rust expressions in a plan that use the elements of a list as `Result`s.

use crate::docs::{is_among, text_of};
use crate::parse::value_text;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprClosure, ExprForLoop, ExprLet, ExprMatch, ExprMethodCall, ExprTry, Ident, Pat,
};

/// Methods of a `Result` that no list has.
const NOT_OF_LISTS: &str = "err expect expect_err is_err is_err_and is_ok is_ok_and map_err ok unwrap unwrap_err unwrap_or unwrap_or_default \
    unwrap_or_else";

/// Returns the first use of an element as a `Result`, with the name of its list, among the names for which `is_list` is `true`.
pub(super) fn asked(expr: &Expr, is_list: &dyn Fn(&Ident) -> bool) -> Option<(Ident, String)> {
    let mut lists = Lists {
        is_list,
        found: None,
        bound: Vec::new(),
    };
    lists.visit_expr(expr);
    let is_bound = |name: &Ident| lists.bound.contains(&text_of(name));
    lists.found.filter(|(name, _)| !is_bound(name))
}

/// Returns `true` if code uses the value of this name as a `Result`.
pub(super) fn asks(expr: &Expr, name: &Ident) -> bool {
    let mut uses = ElementUses { name, found: false };
    uses.visit_expr(expr);
    uses.found
}

/// Finds the elements of lists.
struct Lists<'a> {
    is_list: &'a dyn Fn(&Ident) -> bool,
    found: Option<(Ident, String)>,
    /// The names that the code binds itself.
    bound: Vec<String>,
}

impl Lists<'_> {
    /// Returns the name, if the expression is a single name of a list.
    fn list(&self, expr: &Expr) -> Option<Ident> {
        match inner(expr) {
            Expr::Path(path) => path
                .path
                .get_ident()
                .filter(|name| (self.is_list)(name))
                .cloned(),
            _ => None,
        }
    }

    /// Returns the list in `list.iter()` or `list.into_iter()`.
    fn iterated(&self, expr: &Expr) -> Option<Ident> {
        match inner(expr) {
            Expr::MethodCall(call) if call.method == "iter" || call.method == "into_iter" => {
                self.list(&call.receiver)
            }
            _ => None,
        }
    }

    fn find(&mut self, name: Option<Ident>, written: &impl ToTokens) {
        if let (Some(name), None) = (name, &self.found) {
            self.found = Some((name, value_text(&written.to_token_stream())));
        }
    }
}

impl<'ast> Visit<'ast> for Lists<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Some(Expr::Index(index)) = result(expr) {
            self.find(self.list(&index.expr), expr);
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if let Some(name) = self.iterated(&call.receiver)
            && call.args.iter().any(takes_result)
        {
            self.find(Some(name), &call.receiver);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_for_loop(&mut self, repeat: &'ast ExprForLoop) {
        let list = self
            .list(&repeat.expr)
            .or_else(|| self.iterated(&repeat.expr));
        if let (Some(list), Pat::Ident(element)) = (list, &*repeat.pat) {
            let body = Expr::Block(syn::ExprBlock {
                attrs: Vec::new(),
                label: None,
                block: repeat.body.clone(),
            });
            if asks(&body, &element.ident) {
                self.find(Some(list), &repeat.expr);
            }
        }
        visit::visit_expr_for_loop(self, repeat);
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.bound.push(text_of(&pat.ident));
        visit::visit_pat_ident(self, pat);
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

/// Finds uses of the value of a name as a `Result`.
struct ElementUses<'a> {
    name: &'a Ident,
    found: bool,
}

impl<'ast> Visit<'ast> for ElementUses<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Some(Expr::Path(path)) = result(expr) {
            self.found |= path.path.get_ident() == Some(self.name);
        }
        visit::visit_expr(self, expr);
    }
}

/// Returns the part of an expression that the expression uses as a `Result`.
fn result(expr: &Expr) -> Option<&Expr> {
    let part = match expr {
        Expr::MethodCall(ExprMethodCall {
            receiver, method, ..
        }) if is_among(method, NOT_OF_LISTS) => receiver,
        Expr::Try(ExprTry { expr, .. }) => expr,
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
