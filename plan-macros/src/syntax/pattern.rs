//! The names that patterns bind.

use super::reference::is_source_name;
use crate::docs::{is_among, names_of};
use syn::visit::Visit;
use syn::{FieldPat, Ident, Pat, PatIdent, Path};

/// Returns the names that a pattern binds.
pub(crate) fn names_in(pat: &Pat) -> Vec<Ident> {
    let mut names = PatternNames::default();
    names.visit_pat(pat);
    names.all
}

/// Returns the bound names that are names of fields as well: `Email { id, .. }`.
pub(crate) fn fields_in(pat: &Pat) -> Vec<Ident> {
    let mut names = PatternNames::default();
    names.visit_pat(pat);
    names.fields
}

#[derive(Default)]
struct PatternNames {
    all: Vec<Ident>,
    fields: Vec<Ident>,
}

impl<'ast> Visit<'ast> for PatternNames {
    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        let name = pat.ident.to_string();
        // `None` in a pattern is a constant, not a name.
        if pat.subpat.is_some() || !name.starts_with(char::is_uppercase) {
            self.all.push(pat.ident.clone());
        }
        if let Some((_, pat)) = &pat.subpat {
            self.visit_pat(pat);
        }
    }

    fn visit_field_pat(&mut self, field: &'ast FieldPat) {
        let before = self.all.len();
        self.visit_pat(&field.pat);
        if field.colon_token.is_none() {
            self.fields.extend(self.all[before..].iter().cloned());
        }
    }
}

/// Returns `true` for a name in `Some(…)`, `Ok(…)` or `Err(…)`, which is the name of the whole inner value.
pub(crate) fn binds_one(pat: &Pat) -> bool {
    wrapped(pat).is_some_and(|(_, inner)| is_name(inner))
}

/// Returns the pattern in `Some(…)`, `Ok(…)` or `Err(…)`.
pub(super) fn wrapped(pat: &Pat) -> Option<(&Path, &Pat)> {
    let Pat::TupleStruct(pattern) = pat else {
        return None;
    };
    let is_known = is_among(&names_of(&pattern.path), "Some Ok Err");
    let is_one = pattern.elems.len() == 1 && !pattern.elems.trailing_punct();
    (is_known && is_one).then(|| (&pattern.path, &pattern.elems[0]))
}

pub(super) fn is_name(pat: &Pat) -> bool {
    matches!(pat, Pat::Ident(name) if name.by_ref.is_none()
        && name.mutability.is_none()
        && name.subpat.is_none()
        && name.attrs.is_empty()
        && is_source_name(&name.ident)
        && is_read_as_name(&name.ident))
}

/// Returns `true` if the runtime reads this name in a pattern's source as a name. In older editions, `gen` is a name.
fn is_read_as_name(name: &Ident) -> bool {
    let text = name.to_string();
    let plain = text.trim_start_matches("r#");
    text != "gen" && plain.chars().all(|c| c == '_' || c.is_alphanumeric())
}
