//! The list of mistakes, to which `parse` and `names` add.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use std::fmt::Display;

/// The mistakes found so far: every stage that finds one adds it, so that one pass reports them all.
#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<syn::Error>,
    /// The places of the mistakes that leave no doubt about the tokens around them.
    contained: Vec<usize>,
}

impl Report {
    /// Adds a mistake at the span of all of `tokens`.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.errors.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds a mistake at `span`.
    pub(crate) fn error_at(&mut self, span: Span, message: impl Display) {
        self.errors.push(syn::Error::new(span, message));
    }

    /// Adds a mistake that leaves no doubt about the tokens around it.
    pub(crate) fn contained(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.contained.push(self.errors.len());
        self.error(tokens, message);
    }

    /// Adds the errors that a parser of syn found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    /// Of the mistakes that were added since there were `before`, keeps those up to the first that makes all after it look wrong.
    /// Says whether there is one.
    pub(crate) fn keep_first(&mut self, before: usize) -> bool {
        let unclear = (before..self.errors.len()).find(|at| !self.contained.contains(at));
        if let Some(at) = unclear {
            self.errors.truncate(at + 1);
            self.contained.retain(|contained| *contained < at);
        }
        unclear.is_some()
    }

    /// Drops the mistakes that were added since there were `before`.
    pub(crate) fn drop_since(&mut self, before: usize) {
        self.errors.truncate(before);
        self.contained.retain(|contained| *contained < before);
    }

    /// Of the mistakes that were added since there were `before`, keeps one of those that say the same.
    pub(crate) fn keep_one_of_each(&mut self, before: usize) {
        let mut said = std::collections::HashSet::new();
        let mut at = 0;
        self.errors.retain(|error| {
            at += 1;
            at <= before || said.insert(error.to_string())
        });
    }

    /// Adds the mistakes of another report.
    pub(crate) fn extend(&mut self, other: Self) {
        let before = self.errors.len();
        let contained = other.contained.into_iter().map(|at| at + before);
        self.contained.extend(contained);
        self.errors.extend(other.errors);
    }

    pub(crate) fn len(&self) -> usize {
        self.errors.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The first mistake.
    pub(crate) fn first(&self) -> Option<TokenStream> {
        self.errors.first().map(syn::Error::to_compile_error)
    }

    /// The mistakes as calls of `compile_error!`, for an expression.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.errors
            .iter()
            .map(syn::Error::to_compile_error)
            .collect()
    }

    /// The mistakes as an item.
    pub(crate) fn into_item(self) -> TokenStream {
        as_item(&self.into_compile_errors())
    }
}

/// An item with calls of `compile_error!`. If such a call is itself an item of a module, rustc reports no unknown name of the module.
pub(crate) fn as_item(errors: &TokenStream) -> TokenStream {
    if errors.is_empty() {
        return TokenStream::new();
    }
    quote!(const _: () = { #errors };)
}
