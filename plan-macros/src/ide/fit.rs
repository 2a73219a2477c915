//! Checks for rust-analyzer that references and literals fit their arguments. The IDE expansion itself cannot check,
//! because it converts any type to any other.

use super::{IdeExpansion, unplaced};
use crate::ast::{Hop, Reference};
use crate::docs::text_of;
use crate::syntax::tokens::{enclosed, end_of, placed};
use crate::syntax::value::{ValueKind, ValueTokens, is_type_name};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, Path, Token, UnOp};

impl IdeExpansion {
    /// Adds a check of a field in a literal, if its value is a reference, or a literal itself.
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
        if is_variant || !item.extra.is_empty() {
            return;
        }
        let literal = unplaced(literal.to_token_stream());
        let name = unplaced(name.to_token_stream());
        let field = quote!(&#editor::any::<#literal>().#name);
        let (tokens, place) = match &item.kind {
            ValueKind::Reference(reference, tokens) => match self.values_of(reference) {
                Some(values) => (tokens, quote!(place(#field, &#values.#tokens))),
                None => return,
            },
            ValueKind::Expr(expr, tokens) if is_text(expr) => (tokens, quote!(text(#field))),
            ValueKind::Expr(expr, tokens) if is_scalar(expr) => {
                (tokens, quote!(place(#field, &#tokens)))
            }
            ValueKind::Variant(path, _, pieces, tokens) if path.is_ident("Some") => {
                match pieces.first().map(|(item, _)| &item.kind) {
                    Some(ValueKind::Expr(expr, _)) if pieces.len() == 1 && is_scalar(expr) => {
                        (tokens, quote!(place(#field, &#tokens)))
                    }
                    _ => return,
                }
            }
            _ => return,
        };
        let mut trees = tokens.clone().into_iter();
        let (Some(first), second) = (trees.next(), trees.next()) else {
            return;
        };
        // The expected value has the span of all tokens, so that an editor underlines them. No generated name has the
        // span of a name from the author, because an editor would find the generated name as well.
        let inner = match (&first, &second) {
            (_, Some(TokenTree::Group(group))) => group.span_open(),
            (_, Some(second)) => second.span(),
            (TokenTree::Literal(literal), None) => literal.span(),
            _ => colon.span(),
        };
        let end = end_of(tokens).unwrap_or(inner);
        let fit = placed(quote!(#editor::#place.fit()), inner);
        let given = [
            enclosed(Delimiter::Parenthesis, fit, first.span()),
            enclosed(Delimiter::Parenthesis, TokenStream::new(), end),
        ];
        let given: TokenStream = given.into_iter().map(TokenTree::from).collect();
        let check = quote!(#editor::field(#field).takes(#given));
        self.checks.borrow_mut().push(check);
    }

    /// Returns the struct that contains the first name of a reference, if only fields and indices follow the name.
    fn values_of(&self, reference: &Reference) -> Option<TokenStream> {
        let is_plain = |hop: &Hop| matches!(hop, Hop::Field(..) | Hop::Index(..) | Hop::Key(..));
        let root = text_of(&reference.root);
        if self.bound.contains(&root) || !reference.hops.iter().all(is_plain) {
            None
        } else if self.steps.contains(&root) {
            Some(quote!(steps))
        } else {
            self.known.contains(&root).then(|| quote!(inputs))
        }
    }
}

/// Returns `true` for a string literal.
fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(text) if matches!(text.lit, Lit::Str(_)))
}

/// Returns `true` for a number, a `bool` or a `char`.
fn is_scalar(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(literal) => matches!(
            literal.lit,
            Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Char(_) | Lit::Byte(_)
        ),
        Expr::Unary(negative) => matches!(negative.op, UnOp::Neg(_)) && is_scalar(&negative.expr),
        _ => false,
    }
}
