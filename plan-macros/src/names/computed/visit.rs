//! The way through an expression: what binds names, what mentions them, and what a computed value cannot be.

use super::{Finder, Meaning, dereferenced, in_parens, owned, source, taken};
use crate::docs::text_of;
use crate::parse::{is_source_name, names_in, tidy, value_text};
use proc_macro2::Span;
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Pair;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    BinOp, Block, Expr, ExprBinary, ExprField, ExprRange, ExprTry, Ident, Item, Lit, Local, Member,
    Pat, Path, RangeLimits, Stmt, Token, UnOp,
};

/// Returns the function of `check` that lends the receiver of a method with the name of a consuming method of the standard library.
fn lender(method: &str) -> Option<&'static str> {
    /// Methods of an `Option` or a `Result`. A type of the application may have borrowing methods with these names.
    const OF_RESULTS: &[&str] = &[
        "err",
        "expect_err",
        "inspect",
        "inspect_err",
        "is_err_and",
        "is_ok_and",
        "ok",
        "unzip",
    ];
    const NAMES: &[&str] = &[
        "and",
        "and_then",
        "clamp",
        "expect",
        "filter",
        "flatten",
        "into",
        "is_none_or",
        "is_some_and",
        "map",
        "max",
        "min",
        "or",
        "or_else",
        "transpose",
        "try_into",
        "xor",
        "zip",
    ];
    const STARTS: &[&str] = &["into_", "map_", "ok_or", "unwrap"];
    let starts = STARTS.iter().any(|start| method.starts_with(start));
    // `into_iter` goes through what is borrowed, too.
    if NAMES.contains(&method) || starts && method != "into_iter" {
        Some("takable")
    } else {
        OF_RESULTS.contains(&method).then_some("takable_result")
    }
}

/// Whether an operator takes its operands: those of a comparison are only looked at, and so are numbers.
fn takes(both: &ExprBinary) -> bool {
    let is_number = |expr: &Expr| match expr {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
        _ => false,
    };
    let compares = matches!(
        both.op,
        BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_)
            | BinOp::And(_)
            | BinOp::Or(_)
    );
    !compares && !is_number(&both.left) && !is_number(&both.right)
}

/// Whether an operator changes what is before it: `+=`.
fn changes(operator: &BinOp) -> bool {
    let compares = matches!(
        operator,
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Le(_) | BinOp::Ge(_)
    );
    !compares && operator.to_token_stream().to_string().ends_with('=')
}

/// The operand before a range's dots: in `a && b..c`, it is `b`.
fn last_operand(expr: &Expr) -> &Expr {
    match expr {
        Expr::Binary(both) => last_operand(&both.right),
        Expr::Unary(unary) => last_operand(&unary.expr),
        Expr::Reference(reference) => last_operand(&reference.expr),
        other => other,
    }
}

/// What is first after a range's dots: in `a..b.c(d) > e`, it is `b`.
fn first_operand(expr: &Expr) -> &Expr {
    match expr {
        Expr::Binary(both) => first_operand(&both.left),
        Expr::Cast(cast) => first_operand(&cast.expr),
        Expr::Field(field) => first_operand(&field.base),
        Expr::MethodCall(call) => first_operand(&call.receiver),
        Expr::Index(index) => first_operand(&index.expr),
        Expr::Try(ask) => first_operand(&ask.expr),
        other => other,
    }
}

/// What methods are called on.
fn receiver(expr: &Expr) -> &Expr {
    match expr {
        Expr::MethodCall(call) => receiver(&call.receiver),
        Expr::Field(field) => receiver(&field.base),
        Expr::Index(index) => receiver(&index.expr),
        Expr::Paren(inner) => receiver(&inner.expr),
        Expr::Try(ask) => receiver(&ask.expr),
        other => other,
    }
}

/// Whether a range ends with a call, as in `a..len()`: there, `a.len()` may be meant.
fn ends_with_call(range: &ExprRange) -> bool {
    let (Some(start), Some(end)) = (&range.start, &range.end) else {
        return false;
    };
    let is_called = match first_operand(end) {
        Expr::Call(call) => source(&call.func).is_some_and(|name| is_source_name(&name)),
        _ => false,
    };
    let is_literal = matches!(**start, Expr::Lit(_));
    is_called && !is_literal && matches!(range.limits, RangeLimits::HalfOpen(_))
}

/// A range whose type is that of its end: rustc has nothing to say of the type of a range whose first part has an unknown function. The parts
/// are computed in their order.
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

/// A `?` that fails the step. It is a `match`, so that rustc puts what it has to say at the `?`.
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

/// What is in the `Result` of a step, which stays the plan's.
fn caught(name: &Ident) -> Expr {
    Expr::Verbatim(quote_spanned!(name.span()=> __plan::caught_value(#name)))
}

impl Finder<'_> {
    /// Visits what is looked at where it is, not taken.
    pub(super) fn visit_looked(&mut self, expr: &mut Expr) {
        match (source(expr), expr) {
            (Some(name), expr) => {
                if self.mention(&name) {
                    *expr = dereferenced(&name);
                }
            }

            (None, expr) => self.visit_inside(expr),
        }
    }

    /// Visits what may be looked at, or taken.
    pub(super) fn visit_taken(&mut self, expr: &mut Expr) {
        self.visit_lent(expr, "takable");
    }

    /// Visits a value that this function of `check` lends.
    fn visit_lent(&mut self, expr: &mut Expr, lender: &str) {
        let name = self.plans_root(expr);
        self.visit_inside(expr);
        if let Some(name) = name {
            *expr = taken(expr, &name, lender);
        }
    }

    /// Visits what a pattern is compared with: names that it binds take a part of it.
    pub(super) fn visit_matched<'p>(
        &mut self,
        expr: &mut Expr,
        pats: impl IntoIterator<Item = &'p Pat>,
    ) {
        let mut pats = pats.into_iter();
        let takes = |pat: &Pat| {
            let is_ref =
                |tree| matches!(tree, proc_macro2::TokenTree::Ident(word) if word == "ref");
            let (borrows, names) = (pat.to_token_stream().into_iter().any(is_ref), names_in(pat));
            !borrows && !names.is_empty()
        };
        if pats.any(takes) {
            self.visit_taken(expr);
        } else {
            self.visit_looked(expr);
        }
    }

    /// `inbox::data`, in place of `inbox.data`. Where a module may be meant, nothing is looked up.
    fn visit_path(&mut self, path: &Path) {
        let mut parts = path.segments.pairs().map(Pair::into_tuple);
        if let (Some((first, Some(colons))), Some((second, _))) = (parts.next(), parts.next())
            && self.is_plans(&first.ident)
            && is_source_name(&second.ident)
        {
            let (first, second) = (&first.ident, &second.ident);
            let message = format!(
                "`{first}` is a value, so a dot leads to its fields: write `{first}.{second}`"
            );
            self.refuse(colons, &message);
        }
    }

    /// `inbox..data`, in place of `inbox.data`. Says whether it was reported.
    fn visit_dots(&mut self, range: &ExprRange) -> bool {
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return false;
        };
        let (before, after) = (last_operand(start), first_operand(end));
        let is_value = source(receiver(before)).is_some_and(|name| is_source_name(&name));
        let Some(field) = source(after).filter(|field| is_value && self.is_unknown(field)) else {
            return false;
        };
        let before = tidy(&before.to_token_stream());
        let message = format!("one dot leads to a field: write `{before}.{field}`");
        self.refuse(range.limits, &message);
        true
    }

    /// Whether nothing that a plan's values see has the name.
    fn is_unknown(&self, name: &Ident) -> bool {
        is_source_name(name)
            && !self.is_bound(name)
            && matches!(self.names.find(name, self.frames), Meaning::Unknown)
    }

    /// Reports the first assignment to a name without `let`, and declares the name.
    fn visit_declared(&mut self, place: &Expr, value: &Expr) {
        let Some(name) = source(place).filter(|name| self.foreign == 0 && self.is_unknown(name))
        else {
            return;
        };
        let word = match value {
            Expr::Struct(_) => "step",
            _ => "let",
        };
        let message =
            format!("the name `{name}` is not declared\nhelp: write `{word} {name} = …;`");
        self.refuse(&name, &message);
        self.bind(&syn::parse_quote!(#name));
    }

    /// `self.n`, in place of `n`.
    fn visit_self(&mut self, field: &ExprField) {
        if let (Expr::Path(base), Member::Named(name)) = (&*field.base, &field.member)
            && base.path.is_ident("self")
            && self.foreign == 0
        {
            self.refuse(
                base,
                &format!(
                    "a plan has no `self`: an input or a step is written by its name, `{name}`"
                ),
            );
        }
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

    /// Visits what is looked into, which Rust dereferences by itself: nothing is done with a name alone.
    fn visit_inside(&mut self, expr: &mut Expr) {
        if let Some(name) = source(expr) {
            self.mention(&name);
            return;
        }
        match expr {
            Expr::Path(path) => self.visit_path(&path.path),
            Expr::Range(range) => {
                // All that is around the two parts was meant otherwise.
                if self.visit_dots(range) {
                    return;
                }
                if ends_with_call(range) {
                    range.start.iter_mut().for_each(|it| self.visit_taken(it));
                    range.end.iter_mut().for_each(|it| self.visit_expr_mut(it));
                    *expr = turned(range);
                } else {
                    visit_mut::visit_expr_range_mut(self, range);
                }
            }
            Expr::Paren(inner) => self.visit_looked(&mut inner.expr),
            Expr::Field(field) => {
                self.visit_self(field);
                if let Some(name) = source(&field.base).filter(|name| self.is_plans(name)) {
                    self.fields.push((name, field.member.clone()));
                }
                self.visit_inside(&mut field.base);
            }
            Expr::MethodCall(call) => {
                if let Some(lender) = lender(&text_of(&call.method)) {
                    let is_plans = self.plans_root(&call.receiver).is_some();
                    self.visit_lent(&mut call.receiver, lender);
                    if is_plans {
                        *call.receiver = in_parens(&call.receiver, call.dot_token.spans[0]);
                    }
                } else {
                    self.visit_inside(&mut call.receiver);
                }
                call.args
                    .iter_mut()
                    .for_each(|arg| self.visit_argument(arg));
            }
            Expr::Index(index) => {
                self.visit_inside(&mut index.expr);
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Reference(reference) if reference.mutability.is_none() => {
                match source(&reference.expr) {
                    // The name is bound to a reference already.
                    Some(name) => {
                        if self.mention(&name) {
                            *expr = (*reference.expr).clone();
                        }
                    }
                    None => self.visit_looked(&mut reference.expr),
                }
            }
            Expr::Binary(both) => {
                if changes(&both.op) {
                    self.keep(&both.left, both.op);
                }
                let visit = if takes(both) {
                    Self::visit_expr_mut
                } else {
                    Self::visit_looked
                };
                visit(self, &mut both.left);
                visit(self, &mut both.right);
            }
            Expr::Assign(assign) => {
                self.visit_declared(&assign.left, &assign.right);
                self.keep(&assign.left, assign.eq_token);
                self.visit_looked(&mut assign.left);
                self.visit_expr_mut(&mut assign.right);
            }
            Expr::Reference(reference) => {
                self.keep(&reference.expr, reference.mutability);
                self.visit_looked(&mut reference.expr);
            }
            Expr::Cast(cast) => self.visit_looked(&mut cast.expr),
            Expr::Unary(unary) if !matches!(unary.op, UnOp::Deref(_)) => {
                self.visit_looked(&mut unary.expr);
            }
            Expr::Unary(unary) => {
                let is_plans = self.plans_root(&unary.expr).is_some();
                self.visit_expr_mut(&mut unary.expr);
                if is_plans {
                    let (at, inner) = (unary.op.span(), &unary.expr);
                    let path = quote_spanned!(at=> <__plan::ComputedValue as __plan::MayDereference<_, _>>::itself);
                    *unary.expr = Expr::Verbatim(quote_spanned!(inner.span()=> #path(#inner)));
                }
            }
            Expr::Call(call) => {
                // A name that is called is Rust's own.
                if !matches!(*call.func, Expr::Path(_)) {
                    self.visit_expr_mut(&mut call.func);
                }
                call.args
                    .iter_mut()
                    .for_each(|arg| self.visit_argument(arg));
            }
            Expr::Struct(literal) => {
                for field in &mut literal.fields {
                    if field.colon_token.is_none()
                        && let Some(name) = source(&field.expr)
                        && self.mention(&name)
                    {
                        field.colon_token = Some(Token![:](name.span()));
                        field.expr = owned(&field.expr, &name);
                        continue;
                    }
                    if field.colon_token.is_some() {
                        self.visit_expr_mut(&mut field.expr);
                    }
                }
                if let Some(rest) = &mut literal.rest {
                    self.visit_expr_mut(rest);
                }
            }
            Expr::Closure(closure) => self.scoped(|finder| {
                closure.inputs.iter().for_each(|pat| finder.bind(pat));
                finder.nested += 1;
                finder.visit_expr_mut(&mut closure.body);
                finder.nested -= 1;
            }),
            Expr::Async(block) => {
                self.nested += 1;
                self.visit_block_mut(&mut block.block);
                self.nested -= 1;
            }
            Expr::If(branch) => {
                self.scoped(|finder| {
                    finder.visit_looked(&mut branch.cond);
                    finder.visit_block_mut(&mut branch.then_branch);
                });
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    self.visit_expr_mut(otherwise);
                }
            }
            Expr::While(repeat) => self.scoped(|finder| {
                finder.visit_looked(&mut repeat.cond);
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
                        finder.visit_guard(&mut arm.pat);
                        finder.visit_expr_mut(&mut arm.body);
                    });
                }
            }
            Expr::Macro(call) => self.visit_tokens(&mut call.mac),
            Expr::Try(ask) if self.nested == 0 => {
                if let Expr::MethodCall(call) = &*ask.expr
                    && call.method == "get"
                    && call.args.is_empty()
                    && self.plans_root(&call.receiver).is_some()
                {
                    let message = "`get` needs the number or the text of an element\nhelp: in a reference, write `.get(0)?` or `.get(\"key\")?`";
                    return self.refuse(&call.method, message);
                }
                if let Expr::MethodCall(call) = &*ask.expr
                    && call.method == "as_ref"
                    && call.args.is_empty()
                    && let Some(name) = self.asked_step(&call.receiver)
                {
                    self.mention(&name);
                    *ask.expr = caught(&name);
                    *expr = failing(ask);
                } else if let Some(name) = self.asked_step(&ask.expr) {
                    self.mention(&name);
                    let at = name.span();
                    *ask.expr = caught(&name);
                    let value = failing(ask);
                    *expr = in_parens(
                        &quote_spanned!(at=> *#value),
                        at.resolved_at(Span::mixed_site()),
                    );
                } else {
                    self.visit_expr_mut(&mut ask.expr);
                    *expr = failing(ask);
                }
                self.asks = true;
            }
            Expr::TryBlock(block) => {
                self.nested += 1;
                self.visit_block_mut(&mut block.block);
                self.nested -= 1;
            }
            Expr::Return(back) if self.nested == 0 => {
                let token = back.return_token;
                self.refuse(
                    token,
                    "a computed value is an expression, so it cannot `return`\n\
                     help: write the value alone; to fail the step, write `Err(\"…\")?`",
                );
            }
            Expr::Await(wait) if self.nested == 0 => {
                let token = wait.await_token;
                let is_call = matches!(&*wait.base, Expr::Struct(_));
                let is_value = self.plans_root(&wait.base).is_some();
                let written = value_text(&wait.base.to_token_stream());
                self.visit_expr_mut(&mut wait.base);
                if is_call {
                    let message = format!(
                        "a computed value calls no tool\nhelp: write a step without a type: `step name = {written};`"
                    );
                    self.refuse(token, &message);
                } else if is_value {
                    let message = format!(
                        "`{written}` is a value, which is there when this is computed\nhelp: write `{written}`"
                    );
                    self.refuse(token, &message);
                } else {
                    self.refuse(
                        token,
                        "a computed value cannot `.await`: call a tool in a separate step",
                    );
                }
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }
}

impl VisitMut for Finder<'_> {
    /// Visits a value: a part of a step's output or an input is cloned, since it may be used again.
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let name = self.plans_root(expr);
        self.visit_inside(expr);
        if let Some(name) = name {
            *expr = owned(expr, &name);
        }
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
