//! Patterns, and the local values of a `for` and an `if let`.

use super::fragment::{FragmentError, is_known, leaves, tokens, written};
use super::model::Path;
use super::names::plain;
use plan_runtime::plan::{Absent, Selector, Template};
use quote::quote;
use std::collections::HashSet;
use syn::Pat;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::visit::{self, Visit};

/// The pattern between `let` and `=`, or between `for` and `in`.
#[derive(Default)]
pub(super) struct Pattern {
    pub(super) text: String,
    /// Set for a name, `_`, a tuple of names, and each of them in `Some(…)`, `Ok(…)` or `Err(…)`.
    pub(super) is_plain: bool,
    /// The variables, with `None` for `_`.
    names: Vec<Option<String>>,
    /// `true` if the local value is a list of the variables' values.
    is_list: bool,
    /// All words of the pattern. The pattern binds no other name.
    words: HashSet<String>,
}

impl Pattern {
    /// Parses a pattern that destructures this value, or the elements of this list.
    pub(super) fn parse(
        text: &str,
        value: &Template,
        repeats: bool,
    ) -> Result<Self, FragmentError> {
        let tokens = tokens(text)?;
        let (pat, item, before, behind) = if repeats {
            let pat = Pat::parse_single.parse2(tokens.clone());
            (pat, quote!(for #tokens in x {}), "for ", " in x {}")
        } else {
            let pat = Pat::parse_multi_with_leading_vert.parse2(tokens.clone());
            (pat, quote!(if let #tokens = x {}), "if let ", " = x {}")
        };
        let pat = pat.map_err(|_| FragmentError::Other)?;
        if !is_known(|known| known.visit_pat(&pat)) {
            return Err(FragmentError::Other);
        }
        let is_computed = matches!(value, Template::Computed(_));
        let (names, is_list) = variables(&pat, is_computed);
        let words = leaves(tokens.clone()).into_iter();
        let words = words.map(|word| plain(&word).to_owned()).collect();
        Ok(Self {
            text: written(&tokens, &item, before, behind),
            is_plain: gives_names(inside_wrapper(&pat).unwrap_or(&pat)),
            names,
            is_list,
            words,
        })
    }

    /// Returns `true` if the pattern might bind this name.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.words.contains(plain(name))
    }

    /// Returns the variable at the start of a path in the local value, and the rest of the path.
    pub(super) fn start<'p>(&self, path: Path<'p>) -> Option<(&str, Path<'p>)> {
        if !self.is_list {
            return Some((self.names.first()?.as_deref()?, path));
        }
        let (first, segments) = path.segments.split_first()?;
        let Selector::Index(part) = first.selector else {
            return None;
        };
        // A variable cannot be missing.
        if path.optional || !matches!(first.absent, Absent::Error) {
            return None;
        }
        let rest = Path {
            optional: first.optional,
            segments,
            ..path
        };
        Some((self.names.get(part)?.as_deref()?, rest))
    }
}

/// Returns the variables of a pattern, and `true` if the local value is a list of their values. The code of a computed value
/// has already destructured it, except for the pattern `Some(x)`.
fn variables(pat: &Pat, is_computed: bool) -> (Vec<Option<String>>, bool) {
    let wrapped = inside_wrapper(pat);
    let inner = wrapped.unwrap_or(pat);
    if is_computed {
        return match name_or_gap(inner) {
            Some(name) if wrapped.is_some() && name.is_some() => (vec![name], false),
            _ => {
                let mut variables = Variables(Vec::new());
                variables.visit_pat(pat);
                (variables.0, true)
            }
        };
    }
    // A run compares data only with a name, `_`, and a tuple of these.
    let (names, is_list) = match inner {
        Pat::Tuple(tuple) => (tuple.elems.iter().map(name_or_gap).collect(), true),
        pat => (name_or_gap(pat).map(|name| vec![name]), false),
    };
    let names: Vec<Option<String>> = names.unwrap_or_default();
    let mut seen = HashSet::new();
    let differ = names.iter().flatten().all(|name| seen.insert(name));
    if differ {
        (names, is_list)
    } else {
        (Vec::new(), is_list)
    }
}

/// The variables of a pattern, in their order.
struct Variables(Vec<Option<String>>);

impl<'ast> Visit<'ast> for Variables {
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        let name = variable(pat);
        if name.is_some() && !self.0.contains(&name) {
            self.0.push(name);
        }
        visit::visit_pat_ident(self, pat);
    }

    // The code of a constant in a pattern has variables of its own.
    fn visit_block(&mut self, _: &'ast syn::Block) {}

    fn visit_expr(&mut self, _: &'ast syn::Expr) {}
}

/// Returns the name of a variable. A capitalized name is a constant, unless a pattern follows it.
fn variable(pat: &syn::PatIdent) -> Option<String> {
    let name = pat.ident.unraw().to_string();
    let is_constant = pat.subpat.is_none() && name.starts_with(char::is_uppercase);
    (!is_constant).then_some(name)
}

/// Returns the name of a pattern that is a name, and `Some(None)` for `_`.
fn name_or_gap(pat: &Pat) -> Option<Option<String>> {
    match pat {
        Pat::Ident(name) if is_plain_name(name) => variable(name).map(Some),
        Pat::Paren(inside) => name_or_gap(&inside.pat),
        Pat::Wild(_) => Some(None),
        _ => None,
    }
}

/// Returns the pattern in a `Some(…)`, an `Ok(…)` or an `Err(…)`.
fn inside_wrapper(pat: &Pat) -> Option<&Pat> {
    let Pat::TupleStruct(outer) = pat else {
        return None;
    };
    let mut wrappers = ["Some", "Ok", "Err"].iter();
    let is_wrapper = wrappers.any(|name| outer.path.is_ident(name)) && outer.elems.len() == 1;
    outer.elems.first().filter(|_| is_wrapper)
}

fn is_plain_name(name: &syn::PatIdent) -> bool {
    name.attrs.is_empty()
        && name.by_ref.is_none()
        && name.mutability.is_none()
        && name.subpat.is_none()
}

fn gives_names(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(name) => is_plain_name(name),
        Pat::Wild(wild) => wild.attrs.is_empty(),
        Pat::Tuple(tuple) => tuple.attrs.is_empty() && tuple.elems.iter().all(gives_names),
        _ => false,
    }
}
