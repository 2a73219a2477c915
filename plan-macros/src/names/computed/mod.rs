//! The steps and inputs that a Rust expression mentions: the names that the expression does not bind itself.
//!
//! A mentioned name is a shared reference. The expansion adapts each use to the meaning of the author: `count > 5` reads `*count`, `zip(ids)` takes a
//! clone, and `ids.len()` stays unchanged.

mod forms;
mod visit;

use super::facts::ComputedFacts;
use super::{ComputedNames, Frames, Meaning, Names};
use crate::ast::Computed;
use crate::docs::{last_name, text_of};
use crate::report::Report;
use crate::syntax::tokens::enclosed;
use crate::syntax::{argument_name, format_string};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Macro, Pat, Token};
use visit::Access;

/// Finds the names in an expression, and returns `false` for an expression with an error, which is reported.
pub(super) fn analyze(
    computed: &Computed,
    names: &Names<'_>,
    frames: &Frames,
    is_caught: &dyn Fn(&Ident) -> bool,
    report: &mut Report,
) -> (ComputedFacts, bool) {
    let mut expr = computed.expr.clone();
    let mut finder = Finder {
        names,
        frames,
        is_caught,
        report,
        scopes: Vec::new(),
        found: ComputedNames::default(),
        nested: 0,
        foreign: 0,
        ok: true,
    };
    finder.visit_expr_mut(&mut expr);
    let facts = ComputedFacts {
        expr,
        names: finder.found,
        is_test: finder.ok,
    };
    (facts, finder.ok)
}

struct Finder<'a> {
    names: &'a Names<'a>,
    frames: &'a Frames,
    /// Returns `true` for the name of a step that is a `Result`.
    is_caught: &'a dyn Fn(&Ident) -> bool,
    report: &'a mut Report,
    /// The names that the expression binds, innermost scope last.
    scopes: Vec<HashSet<String>>,
    found: ComputedNames,
    /// The number of enclosing closures, async blocks and macros, in which `return` and `?` are the author's own.
    nested: usize,
    /// The number of enclosing macros that may redefine names.
    foreign: usize,
    ok: bool,
}

impl Finder<'_> {
    fn is_bound(&self, name: &Ident) -> bool {
        let name = text_of(name);
        self.scopes.iter().any(|scope| scope.contains(&name))
    }

    /// Returns `true` if the name is bound around the expression, or belongs to a step or an input.
    fn is_known(&self, name: &Ident) -> bool {
        self.frames.get(name).is_some() || self.names.get_in(self.frames.scope, name).is_some()
    }

    fn record(&mut self, name: &Ident) {
        if let Some(local) = self.frames.get(name) {
            let locals = &mut self.found.locals;
            if locals.iter().all(|(_, known)| *known != local) {
                locals.push((name.clone(), local));
            }
            return;
        }
        let sources = &mut self.found.sources;
        if sources.iter().all(|found| found.unraw() != name.unraw()) {
            sources.push(name.clone());
        }
    }

    /// Returns `true` if the name belongs to a visible step or input, and reports an unknown name.
    fn mention(&mut self, name: &Ident) -> bool {
        self.mention_or(name, "")
    }

    fn mention_or(&mut self, name: &Ident, help: &str) -> bool {
        if self.is_bound(name) {
            return false;
        }
        if !crate::parse::is_source_name(name) {
            // A step or an input with such a name is reported already.
            self.ok &= !self.names.is_broken(self.frames.scope, name);
            return false;
        }
        match self.names.find(name, self.frames) {
            Meaning::Local(_) | Meaning::Source(_) => {
                self.record(name);
                return true;
            }
            Meaning::Unknown if self.foreign > 0 => return false,
            Meaning::Unknown => {
                let (message, is_similar) = self.names.unknown(name, self.frames);
                let help = if is_similar { "" } else { help };
                self.report.error(
                    name,
                    message.replacen("help: ", &format!("{help}help: "), 1),
                );
            }
            Meaning::Broken => {}
        }
        self.ok = false;
        false
    }

    fn bind(&mut self, pat: &Pat) {
        if self.scopes.is_empty() {
            self.scopes.push(HashSet::new());
        }
        if let Some(scope) = self.scopes.last_mut() {
            let names = crate::parse::names_in(pat);
            scope.extend(names.iter().map(text_of));
        }
    }

    /// Visits a body in which `return` and `?` are the author's own.
    fn nested(&mut self, visit: impl FnOnce(&mut Self)) {
        self.nested += 1;
        visit(self);
        self.nested -= 1;
    }

    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(HashSet::new());
        visit(self);
        self.scopes.pop();
    }

    /// Returns the first name of a path through fields and elements, if the name belongs to the plan.
    fn plans_root(&self, expr: &Expr) -> Option<Ident> {
        root(expr, &|asked| self.asked_step(asked)).filter(|name| self.is_plans(name))
    }

    /// Returns the step in `step?`, if it is a `Result`. Its content is a place expression, like a field.
    fn asked_step(&self, asked: &Expr) -> Option<Ident> {
        let is_caught = |name: &Ident| {
            self.nested == 0
                && !self.is_bound(name)
                && self.frames.get(name).is_none()
                && (self.is_caught)(name)
        };
        source(asked).filter(is_caught)
    }

    fn is_plans(&self, name: &Ident) -> bool {
        let meaning = self.names.find(name, self.frames);
        crate::parse::is_source_name(name)
            && !self.is_bound(name)
            && matches!(meaning, Meaning::Local(_) | Meaning::Source(_))
    }

    fn refuse(&mut self, tokens: impl ToTokens, message: &str) {
        self.report.error(tokens, message);
        self.ok = false;
    }

    /// Visits names in a macro's tokens: as expressions in the known macros.
    fn visit_tokens(&mut self, call: &mut Macro) {
        let is_any = |_| true;
        match &*last_name(&call.path) {
            "vec" | "dbg" => self.visit_arguments(call, Access::Move, |_| false),
            "assert" | "debug_assert" | "write" | "writeln" => {
                self.visit_arguments(call, Access::Borrow, |at| at == 1);
            }
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                self.visit_arguments(call, Access::Borrow, |at| at == 2);
            }
            "format" | "print" | "println" | "eprint" | "eprintln" | "panic" | "unreachable"
            | "todo" | "unimplemented" | "format_args" => {
                self.visit_arguments(call, Access::Borrow, |at| at == 0);
            }
            "matches" => self.visit_matches(call),
            "stringify" | "concat" => self.visit_foreign(call.tokens.clone()),
            _ => {
                self.foreign += 1;
                self.nested(|finder| finder.visit_arguments(call, Access::UNKNOWN, is_any));
                self.foreign -= 1;
            }
        }
    }

    /// Expressions with something between them: `vec![a, b]`, `vec![a; n]`, `format!("…", name = a)`, `map! { "a" => b }`. `is_format` returns
    /// `true` for the index of an argument that may be a format string.
    fn visit_arguments(
        &mut self,
        call: &mut Macro,
        access: Access,
        is_format: impl Fn(usize) -> bool,
    ) {
        let parser = |input: ParseStream<'_>| {
            let mut parts = Vec::new();
            while !input.is_empty() {
                let name = argument_name(input)?;
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
        let names = parts.iter().filter_map(|(name, ..)| name.as_ref());
        let named: Vec<String> = names.map(|(name, _)| text_of(name)).collect();
        call.tokens = TokenStream::new();
        for (at, (name, mut expr, separator)) in parts.into_iter().enumerate() {
            match string_literal(&expr).filter(|_| is_format(at)) {
                Some(text) => {
                    let names = captured(text).into_iter();
                    for name in names.filter(|name| !named.contains(&text_of(name))) {
                        self.mention(&name);
                    }
                }
                None => self.visit(&mut expr, access),
            }
            let name = name.map(|(name, equals)| quote!(#name #equals));
            name.to_tokens(&mut call.tokens);
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
        self.visit_matched(&mut expr, [&pat]);
        self.scoped(|finder| {
            finder.bind(&pat);
            let guard = guard.map(|(keyword, mut guard)| {
                finder.visit_expr_mut(&mut guard);
                quote!(#keyword #guard)
            });
            call.tokens = quote!(#expr #comma #pat #guard #trailing);
        });
    }

    /// Visits a macro of unknown meaning: names of the plan are mentioned, and unknown names belong to the macro.
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
                TokenTree::Literal(text) if self.foreign > 0 => {
                    let text = syn::parse2::<LitStr>(TokenTree::from(text.clone()).into());
                    text.iter().flat_map(captured).for_each(|name| {
                        self.mention(&name);
                    });
                }
                _ => {}
            }
            after_dot = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '.');
        }
    }
}

/// Returns the name, if the expression is a single name.
fn source(expr: &Expr) -> Option<Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => {
            path.path.get_ident().cloned()
        }
        Expr::Group(group) => source(&group.expr),
        _ => None,
    }
}

/// Returns the first name of a path through fields and elements.
fn root(expr: &Expr, asked: &dyn Fn(&Expr) -> Option<Ident>) -> Option<Ident> {
    match expr {
        Expr::Field(field) => root(&field.base, asked),
        Expr::Paren(inner) => root(&inner.expr, asked),
        Expr::Try(ask) => asked(&ask.expr),
        // A part of a list has no size, so nothing can take it.
        Expr::Index(index) if !matches!(&*index.index, Expr::Range(_)) => root(&index.expr, asked),
        _ => source(expr),
    }
}

/// `*name`, in brackets that print nothing.
fn dereferenced(name: &Ident) -> Expr {
    in_parens(&quote_spanned!(name.span()=> *#name), name.span())
}

/// Writes a clone of the value of `expr`, which begins with `name`.
fn owned(expr: &Expr, name: &Ident) -> Expr {
    let (place, start, end) = borrowed(expr, name);
    let path = quote_spanned!(start=> <__plan::ComputedValue as __plan::MayTake<_>>);
    let arguments = enclosed(Delimiter::Parenthesis, place, end);
    Expr::Verbatim(quote_spanned!(end=> #path::owned #arguments))
}

/// Returns the value of `expr`, which this function of `check` lends.
fn taken(expr: &Expr, name: &Ident, lender: &str) -> Expr {
    let (place, start, end) = borrowed(expr, name);
    let path = quote_spanned!(start=> *__plan);
    let lender = Ident::new(lender, end);
    let arguments = enclosed(Delimiter::Parenthesis, place, end);
    Expr::Verbatim(quote_spanned!(end=> #path::#lender #arguments .plan_taken()))
}

/// Returns a reference to the value of `expr`, and the first and last span of the expression.
fn borrowed(expr: &Expr, name: &Ident) -> (TokenStream, Span, Span) {
    let start = name.span();
    match source(expr) {
        Some(_) => (expr.to_token_stream(), start, start),
        None => {
            let tokens = expr.to_token_stream();
            let end = crate::syntax::tokens::end_of(&tokens).unwrap_or(start);
            (quote_spanned!(start=> &#tokens), start, end)
        }
    }
}

fn in_parens(inside: &impl ToTokens, at: Span) -> Expr {
    let group = enclosed(Delimiter::Parenthesis, inside, at);
    Expr::Verbatim(TokenTree::Group(group).into())
}

/// Returns the string literal that an expression is.
fn string_literal(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Group(group) => string_literal(&group.expr),
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Returns the names in the placeholders of a format string.
fn captured(text: &LitStr) -> Vec<Ident> {
    let value = text.value();
    let names = format_string::captured(&value).into_iter();
    names
        .filter_map(|name| format_string::name(name, text.span()))
        .collect()
}
