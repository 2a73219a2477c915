//! Which steps and inputs a Rust expression mentions: the names in it that it does not bind itself.
//!
//! A mentioned name becomes a dereferenced shared reference (`*inbox`), so that `count > 5` means what it says.

mod macros;
mod visit;

use super::{Frames, Meaning, Names};
use crate::ast::{Computed, Local};
use crate::docs::text_of;
use crate::report::Report;
use proc_macro2::{Delimiter, Group, TokenTree};
use quote::{ToTokens, quote_spanned};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Pat};

/// Fills in what the expression mentions. `false` if something in it was reported, so that it cannot be used.
pub(super) fn analyse(
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
        let name = text_of(name);
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
        let help = format!("\nhelp: refer to the function by its path: `self::{name}`");
        self.mention_or(name, &help)
    }

    fn mention_or(&mut self, name: &Ident, help: &str) -> bool {
        if !crate::parse::is_source_name(name) || self.is_bound(name) {
            return false;
        }
        match self.names.find(name, self.frames) {
            Meaning::Local(_) | Meaning::Source => {
                self.record(name);
                return true;
            }
            Meaning::Unknown if self.foreign > 0 => return false,
            Meaning::Unknown => {
                let (message, is_similar) = self.names.unknown(name, self.frames);
                let help = if is_similar { "" } else { help };
                self.report.error(name, format!("{message}{help}"));
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

    fn refuse(&mut self, tokens: impl ToTokens, message: &str) {
        self.report.error(tokens, message);
        self.ok = false;
    }
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
