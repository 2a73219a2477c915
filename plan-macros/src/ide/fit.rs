//! Whether references fit the arguments that they are given to, where rust-analyzer looks for it. The IDE expansion itself cannot say: in
//! it, a value may be of another type than its place.

use super::{IdeExpansion, unplaced};
use crate::ast::{Hop, Reference};
use crate::docs::text_of;
use crate::scan::tokens::placed;
use crate::scan::value::{ValueKind, ValueTokens, end_of, is_type_name};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Ident, Path, Token};

impl IdeExpansion {
    /// Adds a check of a field in a literal, if its value is a reference. `steps` and `inputs` have the values of names.
    pub(super) fn check(
        &self,
        literal: &Path,
        name: &Ident,
        colon: &Token![:],
        item: &ValueTokens,
    ) {
        let editor = &self.editor;
        let mut before = literal.segments.iter().rev().skip(1);
        let is_variant = before.next().is_some_and(|last| is_type_name(&last.ident));
        let ValueKind::Reference(reference, tokens) = &item.kind else {
            return;
        };
        let root =
            plain(reference).filter(|root| !is_variant && !self.bound.contains(&text_of(root)));
        let (Some(first), true) = (root, item.extra.is_empty()) else {
            return;
        };
        let values = match &text_of(first) {
            name if self.steps.contains(name) => quote!(steps),
            name if self.known.contains(name) => quote!(inputs),
            _ => return,
        };
        let literal = unplaced(literal.to_token_stream());
        let name = unplaced(name.to_token_stream());
        let field = quote!(|it: &#literal| &it.#name);
        // The expected value has the span of the whole reference, so that all of it is underlined. But no generated name has the span
        // of a name that the author wrote, where an editor would find it, too.
        let end = end_of(tokens).unwrap_or_else(|| first.span());
        let rest: Vec<TokenTree> = tokens.clone().into_iter().skip(1).collect();
        let inner = rest.first().map_or(colon.span(), TokenTree::span);
        let rest: TokenStream = rest.into_iter().collect();
        let fit = placed(
            quote!(#editor::place(#field, &#values.#first #rest).fit()),
            inner,
        );
        let given = [
            parenthesized(fit, first.span()),
            parenthesized(TokenStream::new(), end),
        ];
        let given: TokenStream = given.into_iter().collect();
        let check = quote!(#editor::field(#field).takes(#given););
        self.checks.borrow_mut().extend(check);
    }
}

/// The name that a reference begins with, if all after it are fields and indices.
fn plain(reference: &Reference) -> Option<&Ident> {
    let is_plain = |hop: &Hop| matches!(hop, Hop::Field(..) | Hop::Index(..) | Hop::Key(..));
    let root = &reference.root;
    reference.hops.iter().all(is_plain).then_some(root)
}

fn parenthesized(stream: TokenStream, at: Span) -> TokenTree {
    let mut group = Group::new(Delimiter::Parenthesis, stream);
    group.set_span(at);
    TokenTree::Group(group)
}
