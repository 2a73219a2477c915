//! The way through an expression: the operands of each form, and the names that a form binds.

use super::forms::{ends_with_call, is_assignment, lender, moves_operands};
use super::{Finder, dereferenced, in_parens, owned, source, taken};
use crate::docs::text_of;
use crate::parse::names_in;
use proc_macro2::{Span, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprCall, ExprMethodCall, ExprRange, ExprReference, ExprStruct, ExprTry,
    ExprUnary, Ident, Item, Local, Pat, Stmt, Token, UnOp,
};

/// The use of an operand.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// The value is borrowed.
    Borrow,
    /// The value is moved. A part of an output or an input is cloned, since other steps may use it.
    Move,
    /// The value is borrowed or moved by this function of `check`.
    Lend(&'static str),
}

impl Access {
    /// An operand of a macro that may borrow or move the operand.
    pub(super) const UNKNOWN: Self = Self::Lend("takable");
}

impl Finder<'_> {
    pub(super) fn visit(&mut self, expr: &mut Expr, access: Access) {
        let root = match access {
            Access::Borrow => source(expr).filter(|name| self.mention(name)),
            Access::Move | Access::Lend(_) => self.plans_root(expr),
        };
        match (access, root) {
            (Access::Borrow, Some(name)) => *expr = dereferenced(&name),
            // An unknown name is reported already.
            (Access::Borrow, None) if source(expr).is_some() => {}
            (Access::Move, Some(name)) => {
                self.visit_place(expr);
                *expr = owned(expr, &name);
            }
            (Access::Lend(lender), Some(name)) => {
                self.visit_place(expr);
                *expr = taken(expr, &name, lender);
            }
            _ => self.visit_place(expr),
        }
    }

    /// Visits a value that is compared with patterns: names in a pattern move a part of the value.
    pub(super) fn visit_matched<'p>(
        &mut self,
        expr: &mut Expr,
        pats: impl IntoIterator<Item = &'p Pat>,
    ) {
        let mut pats = pats.into_iter();
        let moves = |pat: &Pat| {
            let is_ref = |tree| matches!(tree, TokenTree::Ident(word) if word == "ref");
            let borrows = pat.to_token_stream().into_iter().any(is_ref);
            !borrows && !names_in(pat).is_empty()
        };
        let access = if pats.any(moves) {
            Access::UNKNOWN
        } else {
            Access::Borrow
        };
        self.visit(expr, access);
    }

    /// Visits a place expression, in which Rust dereferences a lone name automatically.
    fn visit_place(&mut self, expr: &mut Expr) {
        if let Some(name) = source(expr) {
            self.mention(&name);
            return;
        }
        let replaced = match expr {
            Expr::Range(range) => self.visit_range(range),
            Expr::Reference(reference) => self.visit_reference(reference),
            Expr::Try(ask) if self.nested == 0 => self.visit_try(ask),
            _ => {
                self.visit_operands(expr);
                None
            }
        };
        if let Some(replaced) = replaced {
            *expr = replaced;
        }
    }

    fn visit_operands(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(path) => self.refuse_path(&path.path),
            Expr::Paren(inner) => self.visit(&mut inner.expr, Access::Borrow),
            Expr::Field(field) => {
                self.refuse_self(field);
                if let Some(name) = source(&field.base).filter(|name| self.is_plans(name)) {
                    self.found.fields.push((name, field.member.clone()));
                }
                self.visit_place(&mut field.base);
            }
            Expr::MethodCall(call) => self.visit_method_call(call),
            Expr::Index(index) => {
                self.visit_place(&mut index.expr);
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Binary(both) => {
                if is_assignment(&both.op) {
                    self.refuse_change(&both.left, both.op);
                }
                let access = if moves_operands(both) {
                    Access::Move
                } else {
                    Access::Borrow
                };
                self.visit(&mut both.left, access);
                self.visit(&mut both.right, access);
            }
            Expr::Assign(assign) => {
                self.refuse_undeclared(&assign.left, &assign.right);
                self.refuse_change(&assign.left, assign.eq_token);
                self.visit(&mut assign.left, Access::Borrow);
                self.visit_expr_mut(&mut assign.right);
            }
            Expr::Cast(cast) => self.visit(&mut cast.expr, Access::Borrow),
            Expr::Unary(unary) => self.visit_unary(unary),
            Expr::Call(call) => self.visit_call(call),
            Expr::Struct(literal) => self.visit_struct(literal),
            Expr::Macro(call) => self.visit_tokens(&mut call.mac),
            Expr::Return(back) if self.nested == 0 => self.refuse_return(back),
            Expr::Await(wait) if self.nested == 0 => {
                let (token, message) = self.await_message(wait);
                // An unknown name before `.await` is a part of this error.
                if !source(&wait.base).is_some_and(|name| self.is_unknown(&name)) {
                    self.visit_expr_mut(&mut wait.base);
                }
                self.refuse(token, &message);
            }
            other => self.visit_binding(other),
        }
    }

    /// Visits the forms that bind names or have a body of their own.
    fn visit_binding(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(closure) => self.scoped(|finder| {
                closure.inputs.iter().for_each(|pat| finder.bind(pat));
                finder.nested(|finder| finder.visit_expr_mut(&mut closure.body));
            }),
            Expr::Async(block) => self.nested(|finder| finder.visit_block_mut(&mut block.block)),
            Expr::TryBlock(block) => {
                self.nested(|finder| finder.visit_block_mut(&mut block.block));
            }
            Expr::If(branch) => {
                self.scoped(|finder| {
                    finder.visit(&mut branch.cond, Access::Borrow);
                    finder.visit_block_mut(&mut branch.then_branch);
                });
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    self.visit_expr_mut(otherwise);
                }
            }
            Expr::While(repeat) => self.scoped(|finder| {
                finder.visit(&mut repeat.cond, Access::Borrow);
                finder.visit_block_mut(&mut repeat.body);
            }),
            Expr::Let(condition) => {
                self.visit_matched(&mut condition.expr, [&*condition.pat]);
                self.bind(&condition.pat);
            }
            Expr::ForLoop(repeat) => {
                self.visit_expr_mut(&mut repeat.expr);
                self.scoped(|finder| {
                    finder.bind(&repeat.pat);
                    finder.visit_block_mut(&mut repeat.body);
                });
            }
            Expr::Match(choice) => {
                self.visit_matched(&mut choice.expr, choice.arms.iter().map(|arm| &arm.pat));
                for arm in &mut choice.arms {
                    self.scoped(|finder| {
                        finder.bind(&arm.pat);
                        if let Pat::Guard(guard) = &mut arm.pat {
                            finder.visit_expr_mut(&mut guard.guard);
                        }
                        finder.visit_expr_mut(&mut arm.body);
                    });
                }
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_range(&mut self, range: &mut ExprRange) -> Option<Expr> {
        // Without an error about the dots, the author means both ends of the range.
        if self.refuse_dots(range) {
            return None;
        }
        if !ends_with_call(range) {
            visit_mut::visit_expr_range_mut(self, range);
            return None;
        }
        if let (Some(start), Some(end)) = (&mut range.start, &mut range.end) {
            self.visit(start, Access::UNKNOWN);
            self.visit_expr_mut(end);
        }
        Some(turned(range))
    }

    fn visit_reference(&mut self, reference: &mut ExprReference) -> Option<Expr> {
        if reference.mutability.is_some() {
            self.refuse_change(&reference.expr, reference.mutability);
        } else if let Some(name) = source(&reference.expr) {
            // The name is bound to a reference already.
            return self.mention(&name).then(|| (*reference.expr).clone());
        }
        self.visit(&mut reference.expr, Access::Borrow);
        None
    }

    fn visit_method_call(&mut self, call: &mut ExprMethodCall) {
        if let Some(lender) = lender(&text_of(&call.method)) {
            let is_plans = self.plans_root(&call.receiver).is_some();
            self.visit(&mut call.receiver, Access::Lend(lender));
            if is_plans {
                *call.receiver = in_parens(&call.receiver, call.dot_token.spans[0]);
            }
        } else {
            self.visit_place(&mut call.receiver);
        }
        for argument in &mut call.args {
            self.visit_argument(argument);
        }
    }

    fn visit_unary(&mut self, unary: &mut ExprUnary) {
        if !matches!(unary.op, UnOp::Deref(_)) {
            return self.visit(&mut unary.expr, Access::Borrow);
        }
        let is_plans = self.plans_root(&unary.expr).is_some();
        self.visit_expr_mut(&mut unary.expr);
        if is_plans {
            let (at, inner) = (unary.op.span(), &unary.expr);
            let path = quote_spanned!(at=> <__plan::ComputedValue as __plan::MayDereference<_, _>>::itself);
            *unary.expr = Expr::Verbatim(quote_spanned!(inner.span()=> #path(#inner)));
        }
    }

    fn visit_call(&mut self, call: &mut ExprCall) {
        // The name of a called function belongs to Rust, and not to the plan.
        if !matches!(*call.func, Expr::Path(_)) {
            self.visit_expr_mut(&mut call.func);
        }
        for argument in &mut call.args {
            self.visit_argument(argument);
        }
    }

    fn visit_argument(&mut self, expr: &mut Expr) {
        match source(expr) {
            Some(name) => {
                let help = format!("help: if it is a function, write its path: `self::{name}`\n");
                if self.mention_or(&name, &help) {
                    *expr = owned(expr, &name);
                }
            }
            // A path may be the name of a function.
            None if matches!(expr, Expr::Path(_)) => {}
            None => self.visit_expr_mut(expr),
        }
    }

    fn visit_struct(&mut self, literal: &mut ExprStruct) {
        for field in &mut literal.fields {
            if field.colon_token.is_some() {
                self.visit_expr_mut(&mut field.expr);
            } else if let Some(name) = source(&field.expr)
                && self.mention(&name)
            {
                field.colon_token = Some(Token![:](name.span()));
                field.expr = owned(&field.expr, &name);
            }
        }
        if let Some(rest) = &mut literal.rest {
            self.visit_expr_mut(rest);
        }
    }

    /// Visits a `?` that fails the step.
    fn visit_try(&mut self, ask: &mut ExprTry) -> Option<Expr> {
        if self.refuse_get(ask) {
            return None;
        }
        self.found.asks = true;
        let borrowed = match &*ask.expr {
            Expr::MethodCall(call) if call.method == "as_ref" && call.args.is_empty() => {
                self.asked_step(&call.receiver)
            }
            _ => None,
        };
        if let Some(name) = borrowed {
            self.mention(&name);
            *ask.expr = caught(&name);
            return Some(failing(ask));
        }
        let Some(name) = self.asked_step(&ask.expr) else {
            self.visit_expr_mut(&mut ask.expr);
            return Some(failing(ask));
        };
        self.mention(&name);
        let at = name.span();
        *ask.expr = caught(&name);
        let value = failing(ask);
        let parens = at.resolved_at(Span::mixed_site());
        Some(in_parens(&quote_spanned!(at=> *#value), parens))
    }

    fn visit_local(&mut self, local: &mut Local) {
        if let Some(init) = &mut local.init {
            match &local.pat {
                Pat::Ident(pat) if pat.by_ref.is_none() => self.visit_expr_mut(&mut init.expr),
                Pat::Type(_) => self.visit_expr_mut(&mut init.expr),
                pat => self.visit_matched(&mut init.expr, [pat]),
            }
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
        self.bind(&local.pat);
    }
}

impl VisitMut for Finder<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        self.visit(expr, Access::Move);
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scoped(|finder| {
            for stmt in &mut block.stmts {
                match stmt {
                    Stmt::Local(local) => finder.visit_local(local),
                    Stmt::Macro(stmt) => finder.visit_tokens(&mut stmt.mac),
                    Stmt::Expr(expr, _) => finder.visit_expr_mut(expr),
                    Stmt::Item(_) => {}
                }
            }
        });
    }

    /// Items see none of the names around them.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// Returns a range whose type is the type of its end: rustc reports no error about the type of a range whose start
/// contains an unknown function. The operands are evaluated in source order.
fn turned(range: &ExprRange) -> Expr {
    let (first, last, at) = (&range.start, &range.end, range.limits.span());
    let [start, end] = ["start", "end"].map(|name| Ident::new(name, Span::mixed_site()));
    let range = quote_spanned! {at=>
        {
            let (#start, #end);
            #start = #first;
            #end = #last;
            ::core::ops::Range { end: #end, start: #start }
        }
    };
    in_parens(&range, at)
}

/// Returns a `?` that fails the step. The expansion is a `match`, so that rustc reports errors at the `?`.
fn failing(ask: &ExprTry) -> Expr {
    let at = ask.question_token.span();
    // rustc would find the author's own parentheses unnecessary here.
    let parens = at.resolved_at(Span::mixed_site());
    let asked = match &*ask.expr {
        Expr::Paren(inner) => in_parens(&inner.expr, parens),
        other => in_parens(other, parens),
    };
    let value = Ident::new("__value", at);
    let check = quote_spanned!(at=> __plan::FailsStep::failing(__plan::Asked::asked(#value))?);
    in_parens(&quote!(match #asked { #value => #check }), parens)
}

/// Returns the content of the `Result` of a step. The plan keeps ownership.
fn caught(name: &Ident) -> Expr {
    Expr::Verbatim(quote_spanned!(name.span()=> __plan::caught_value(#name)))
}
