use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::fmt::Display;
use syn::Error;

/// Collects every mistake that the stages find, so that all of them are reported in one pass.
#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<Error>,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Records a mistake that covers the tokens of `spanned`.
    pub(crate) fn error(&mut self, spanned: impl ToTokens, message: impl Display) {
        self.errors.push(Error::new_spanned(spanned, message));
    }

    /// Records a mistake at one place.
    pub(crate) fn error_at(&mut self, span: Span, message: impl Display) {
        self.errors.push(Error::new(span, message));
    }

    /// Records what a parser of `syn` found.
    pub(crate) fn push(&mut self, error: Error) {
        self.errors.push(error);
    }

    /// Takes over what another report holds.
    pub(crate) fn extend(&mut self, other: Report) {
        self.errors.extend(other.errors);
    }

    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.errors.iter().map(Error::to_compile_error).collect()
    }
}
