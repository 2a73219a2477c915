//! Which steps and inputs a Rust expression mentions: the names in it that it does not bind itself.
//!
//! A mentioned name becomes a place behind a shared reference (`*inbox`), so that `count > 5` means what it says.

use crate::ast::{Computed, Local};
use crate::names::{Frames, Names};
use crate::report::Report;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Item, LitStr, Macro, Pat, Stmt, Token};

/// Fills in what the expression mentions. `false` if something in it was reported, so that it cannot be used.
pub(crate) fn analyse(
    computed: &mut Computed,
    names: &Names,
    frames: &Frames,
    report: &mut Report,
) -> bool {
    let mut finder = Finder {
        names,
        frames,
        report,
        scopes: Vec::new(),
        found: Vec::new(),
        locals: Vec::new(),
        nested: 0,
        foreign: 0,
        ok: true,
    };
    finder.visit_expr_mut(&mut computed.expr);
    let Finder {
        found, locals, ok, ..
    } = finder;
    computed.names = found;
    computed.locals = locals;
    ok
}

struct Finder<'a> {
    names: &'a Names,
    frames: &'a Frames,
    report: &'a mut Report,
    /// The names that the expression binds, innermost scope last.
    scopes: Vec<HashSet<String>>,
    found: Vec<Ident>,
    locals: Vec<(Ident, Local)>,
    /// How many closures, async blocks and macros are around, in which `return` and `?` are the author's own.
    nested: usize,
    /// How many macros are around that may give names a meaning of their own.
    foreign: usize,
    ok: bool,
}

impl Finder<'_> {
    fn is_bound(&self, name: &Ident) -> bool {
        let name = name.unraw().to_string();
        self.scopes.iter().any(|scope| scope.contains(&name))
    }

    /// Whether the name is bound around the expression, or is a step's or an input's.
    fn is_known(&self, name: &Ident) -> bool {
        self.frames.get(name).is_some() || self.names.get(name).is_some()
    }

    fn record(&mut self, name: &Ident) {
        if let Some(local) = self.frames.get(name) {
            if self.locals.iter().all(|(_, known)| *known != local) {
                self.locals.push((name.clone(), local));
            }
            return;
        }
        let known = self.found.iter().any(|found| found.unraw() == name.unraw());
        if !known {
            self.found.push(name.clone());
        }
    }

    /// Whether the name is a step's or an input's here; an unknown one is reported.
    fn mention(&mut self, name: &Ident) -> bool {
        self.mention_or(name, "")
    }

    /// The same for a name that may also be meant as a function.
    fn mention_argument(&mut self, name: &Ident) -> bool {
        let help = format!("\nhelp: a function is named by its path here: `self::{name}`");
        self.mention_or(name, &help)
    }

    fn mention_or(&mut self, name: &Ident, help: &str) -> bool {
        if !crate::parse::is_source_name(name) || self.is_bound(name) {
            return false;
        }
        let untyped = self.frames.get(name).is_none() && self.names.is_untyped(name);
        if self.frames.is_broken(name) || untyped {
            self.ok = false;
            return false;
        }
        if self.is_known(name) {
            self.record(name);
            return true;
        }
        if self.foreign > 0 {
            return false;
        }
        if !self.names.is_broken(name) {
            let (message, is_similar) = self.names.unknown(name, self.frames);
            let help = if is_similar { "" } else { help };
            self.report.error(name, format!("{message}{help}"));
        }
        self.ok = false;
        false
    }

    fn bind(&mut self, pat: &Pat) {
        if self.scopes.is_empty() {
            self.scopes.push(HashSet::new());
        }
        if let Some(scope) = self.scopes.last_mut() {
            let names = crate::parse::bound(pat);
            scope.extend(names.iter().map(|name| name.unraw().to_string()));
        }
    }

    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(HashSet::new());
        visit(self);
        self.scopes.pop();
    }

    /// Visits what is looked into, not taken: Rust dereferences it by itself there.
    fn visit_place(&mut self, expr: &mut Expr) {
        match source(expr) {
            Some(name) => {
                self.mention(&name);
            }
            None => self.visit_expr_mut(expr),
        }
    }

    fn visit_argument(&mut self, expr: &mut Expr) {
        match source(expr) {
            Some(name) => {
                if self.mention_argument(&name) {
                    *expr = dereferenced(&name);
                }
            }
            None => self.visit_expr_mut(expr),
        }
    }

    fn visit_guard(&mut self, pat: &mut Pat) {
        if let Pat::Guard(guard) = pat {
            self.visit_expr_mut(&mut guard.guard);
        }
    }

    /// Names in a macro's tokens: expressions where the macro is known to take them.
    fn visit_tokens(&mut self, call: &mut Macro) {
        let name = call
            .path
            .segments
            .last()
            .map(|last| last.ident.to_string())
            .unwrap_or_default();
        match name.as_str() {
            "vec" | "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq"
            | "debug_assert_ne" | "dbg" => {
                self.visit_arguments(call);
            }
            "format" | "print" | "println" | "eprint" | "eprintln" | "write" | "writeln"
            | "panic" | "unreachable" | "todo" | "unimplemented" | "format_args" => {
                self.visit_captures(call.tokens.clone());
                self.visit_arguments(call);
            }
            "matches" => self.visit_matches(call),
            "stringify" | "concat" => self.visit_foreign(call.tokens.clone()),
            _ => {
                self.foreign += 1;
                self.nested += 1;
                self.visit_arguments(call);
                self.nested -= 1;
                self.foreign -= 1;
            }
        }
    }

    /// Expressions with something between them: `vec![a, b]`, `vec![a; n]`, `format!("…", name = a)`, `map! { "a" => b }`.
    fn visit_arguments(&mut self, call: &mut Macro) {
        let parser = |input: ParseStream<'_>| {
            let mut parts = Vec::new();
            while !input.is_empty() {
                let name = if input.peek(Ident::peek_any)
                    && input.peek2(Token![=])
                    && !input.peek2(Token![==])
                {
                    let name = input.call(Ident::parse_any)?;
                    let equals: Token![=] = input.parse()?;
                    quote::quote!(#name #equals)
                } else {
                    TokenStream::new()
                };
                let expr: Expr = input.parse()?;
                let separator = if input.is_empty() {
                    TokenStream::new()
                } else if let Some(arrow) = input.parse::<Option<Token![=>]>>()? {
                    arrow.to_token_stream()
                } else {
                    input.parse::<TokenTree>()?.into()
                };
                parts.push((name, expr, separator));
            }
            Ok(parts)
        };
        let Ok(parts) = parser.parse2(call.tokens.clone()) else {
            return self.visit_foreign(call.tokens.clone());
        };
        call.tokens = TokenStream::new();
        for (name, mut expr, separator) in parts {
            self.visit_expr_mut(&mut expr);
            call.tokens.extend(name);
            expr.to_tokens(&mut call.tokens);
            call.tokens.extend(separator);
        }
    }

    /// `matches!(a, pattern if guard)`
    fn visit_matches(&mut self, call: &mut Macro) {
        let parser = |input: ParseStream<'_>| {
            let expr: Expr = input.parse()?;
            let comma: Token![,] = input.parse()?;
            let pat = Pat::parse_multi_with_leading_vert(input)?;
            let guard = if input.peek(Token![if]) {
                let keyword: Token![if] = input.parse()?;
                Some((keyword, input.parse::<Expr>()?))
            } else {
                None
            };
            let trailing: Option<Token![,]> = input.parse()?;
            Ok((expr, comma, pat, guard, trailing))
        };
        let Ok((mut expr, comma, pat, guard, trailing)) = parser.parse2(call.tokens.clone()) else {
            return self.visit_foreign(call.tokens.clone());
        };
        self.visit_expr_mut(&mut expr);
        self.scoped(|finder| {
            finder.bind(&pat);
            let guard = guard.map(|(keyword, mut guard)| {
                finder.visit_expr_mut(&mut guard);
                quote::quote!(#keyword #guard)
            });
            call.tokens = quote::quote!(#expr #comma #pat #guard #trailing);
        });
    }

    /// The names in the text of `format!("{name}")`.
    fn visit_captures(&mut self, tokens: TokenStream) {
        let named = named_arguments(tokens.clone());
        let text = tokens.into_iter().find_map(|tree| match tree {
            TokenTree::Literal(literal) => {
                syn::parse2::<LitStr>(TokenTree::Literal(literal).into()).ok()
            }
            _ => None,
        });
        let Some(text) = text else { return };
        let value = text.value().replace("{{", "").replace("}}", "");
        for placeholder in value.split('{').skip(1) {
            let inside = placeholder.split('}').next().unwrap_or_default();
            let name = inside.split(':').next().unwrap_or_default().trim();
            let Ok(mut ident) = syn::parse_str::<Ident>(name) else {
                continue;
            };
            ident.set_span(text.span());
            if !named.contains(&ident) {
                self.mention(&ident);
            }
        }
    }

    /// A macro that may mean anything by its tokens: the plan's names in it are mentioned, unknown ones are its own.
    fn visit_foreign(&mut self, tokens: TokenStream) {
        let mut after_dot = false;
        for tree in tokens {
            match &tree {
                TokenTree::Ident(ident)
                    if !after_dot && !self.is_bound(ident) && self.is_known(ident) =>
                {
                    self.record(ident);
                }
                TokenTree::Group(group) => self.visit_foreign(group.stream()),
                _ => {}
            }
            after_dot = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '.');
        }
    }

    fn refuse(&mut self, tokens: impl ToTokens, message: &str) {
        self.report.error(tokens, message);
        self.ok = false;
    }
}

/// The names before a `=`: arguments of `format!` that its text names.
fn named_arguments(tokens: TokenStream) -> Vec<Ident> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let names = trees.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(name), TokenTree::Punct(equals)] if equals.as_char() == '=' => {
            Some(name.clone())
        }
        _ => None,
    });
    names.collect()
}

/// The name that is all of the expression.
fn source(expr: &Expr) -> Option<Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => {
            path.path.get_ident().cloned()
        }
        Expr::Group(group) => source(&group.expr),
        _ => None,
    }
}

/// `*name`, in brackets that print nothing.
fn dereferenced(name: &Ident) -> Expr {
    let inner = quote_spanned!(name.span()=> *#name);
    let mut group = Group::new(Delimiter::Parenthesis, inner);
    group.set_span(name.span());
    Expr::Verbatim(TokenTree::Group(group).into())
}

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
                    "`?` has a meaning in a reference, such as `inbox.next?.id`, and none in a computed value\n\
                     help: use a method of `Option` or `Result`, such as `unwrap_or_default()`",
                );
            }
            Expr::Return(back) if self.nested == 0 => {
                let token = back.return_token;
                self.refuse(
                    token,
                    "a computed value is an expression: it cannot `return`",
                );
            }
            Expr::Await(wait) if self.nested == 0 => {
                let token = wait.await_token;
                self.visit_expr_mut(&mut wait.base);
                self.refuse(token, "a computed value cannot wait: what takes time is a tool, called by a step of its own");
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
