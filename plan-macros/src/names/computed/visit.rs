//! The way through an expression: what binds names, what mentions them, and what a computed value cannot be.

use super::{Finder, dereferenced, source};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Item, Stmt, Token};

impl VisitMut for Finder<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(name) = source(expr) {
            if self.mention(&name) {
                *expr = dereferenced(&name);
            }
            return;
        }
        match expr {
            Expr::Field(field) => self.visit_place(&mut field.base),
            Expr::MethodCall(call) => {
                self.visit_place(&mut call.receiver);
                call.args
                    .iter_mut()
                    .for_each(|arg| self.visit_argument(arg));
            }
            Expr::Index(index) => {
                self.visit_place(&mut index.expr);
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Reference(reference)
                if reference.mutability.is_none() && source(&reference.expr).is_some() =>
            {
                // The name is bound to a reference already.
                let name = source(&reference.expr);
                if name.is_some_and(|name| self.mention(&name)) {
                    *expr = (*reference.expr).clone();
                }
            }
            Expr::Call(call) => {
                // A name that is called is Rust's own.
                if source(&call.func).is_none() {
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
                        field.expr = dereferenced(&name);
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
                    finder.visit_expr_mut(&mut branch.cond);
                    finder.visit_block_mut(&mut branch.then_branch);
                });
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    self.visit_expr_mut(otherwise);
                }
            }
            Expr::While(repeat) => self.scoped(|finder| {
                finder.visit_expr_mut(&mut repeat.cond);
                finder.visit_block_mut(&mut repeat.body);
            }),
            Expr::Let(condition) => {
                self.visit_expr_mut(&mut condition.expr);
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
                self.visit_expr_mut(&mut choice.expr);
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
                let token = ask.question_token;
                self.visit_expr_mut(&mut ask.expr);
                self.refuse(
                    token,
                    "`?` is for references, such as `inbox.next?.id`, not for computed values\n\
                     help: use a method of `Option` or `Result`, such as `unwrap_or_default()`",
                );
            }
            Expr::Return(back) if self.nested == 0 => {
                let token = back.return_token;
                self.refuse(
                    token,
                    "a computed value is an expression, so it cannot `return`",
                );
            }
            Expr::Await(wait) if self.nested == 0 => {
                let token = wait.await_token;
                self.visit_expr_mut(&mut wait.base);
                self.refuse(
                    token,
                    "a computed value cannot `.await`: call a tool in a separate step",
                );
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scoped(|finder| {
            for stmt in &mut block.stmts {
                match stmt {
                    Stmt::Local(local) => {
                        if let Some(init) = &mut local.init {
                            finder.visit_expr_mut(&mut init.expr);
                            if let Some((_, diverge)) = &mut init.diverge {
                                finder.visit_expr_mut(diverge);
                            }
                        }
                        finder.bind(&local.pat);
                    }
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
