//! The list of errors. `parse`, `names` and `graph` add to the list.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::HashSet;
use std::fmt::Display;

/// An error in the author's tokens, with its fix after `help:`.
pub(crate) struct Mistake {
    error: syn::Error,
    /// `true` if the tokens around the error have only one meaning.
    is_certain: bool,
}

impl Mistake {
    /// Creates an error at the span of all of `tokens`.
    pub(crate) fn new(tokens: impl ToTokens, message: impl Display) -> Self {
        syn::Error::new_spanned(tokens, message).into()
    }

    /// Creates an error at `span`.
    pub(crate) fn at(span: Span, message: impl Display) -> Self {
        syn::Error::new(span, message).into()
    }

    /// Marks an error that leaves no doubt about the tokens around it.
    pub(crate) fn certain(self) -> Self {
        let is_certain = true;
        Self { is_certain, ..self }
    }
}

/// Creates an error at the span of all tokens, with a formatted message.
macro_rules! mistake {
    ($tokens:expr, $($message:tt)+) => {
        $crate::report::Mistake::new($tokens, format_args!($($message)+))
    };
}
pub(crate) use mistake;

impl From<syn::Error> for Mistake {
    fn from(error: syn::Error) -> Self {
        let is_certain = false;
        Self { error, is_certain }
    }
}

impl From<Mistake> for syn::Error {
    fn from(mistake: Mistake) -> Self {
        mistake.error
    }
}

/// The errors of all stages, so that one pass reports all errors.
#[derive(Default)]
pub(crate) struct Report {
    mistakes: Vec<Mistake>,
}

impl Report {
    /// Adds an error at the span of all of `tokens`.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(Mistake::new(tokens, message));
    }

    /// Adds an error at `span`.
    pub(crate) fn error_at(&mut self, span: Span, message: impl Display) {
        self.push(Mistake::at(span, message));
    }

    /// Adds an error, such as an error of syn.
    pub(crate) fn push(&mut self, mistake: impl Into<Mistake>) {
        self.mistakes.push(mistake.into());
    }

    /// Adds the error of a result, and returns the value of the result.
    pub(crate) fn ok<T>(&mut self, result: Result<T, impl Into<Mistake>>) -> Option<T> {
        result.map_err(|mistake| self.push(mistake)).ok()
    }

    /// Drops the errors after the first uncertain error that was added since `before`, because they may follow from that error. Returns `true` if
    /// an uncertain error exists.
    pub(crate) fn drop_cascade(&mut self, before: usize) -> bool {
        let mut added = self.mistakes[before..].iter();
        let unclear = added.position(|mistake| !mistake.is_certain);
        if let Some(at) = unclear {
            self.mistakes.truncate(before + at + 1);
        }
        unclear.is_some()
    }

    /// Drops all errors after the first `before` errors.
    pub(crate) fn drop_since(&mut self, before: usize) {
        self.mistakes.truncate(before);
    }

    /// Drops errors with equal messages after the first `before` errors.
    pub(crate) fn keep_one_of_each(&mut self, before: usize) {
        let mut said = HashSet::new();
        let mut at = 0;
        self.mistakes.retain(|mistake| {
            at += 1;
            at <= before || said.insert(mistake.error.to_string())
        });
    }

    /// Adds several errors, for example from another report.
    pub(crate) fn extend(&mut self, mistakes: impl IntoIterator<Item = Mistake>) {
        self.mistakes.extend(mistakes);
    }

    pub(crate) fn len(&self) -> usize {
        self.mistakes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.mistakes.is_empty()
    }

    /// Returns the first error.
    pub(crate) fn first(&self) -> Option<TokenStream> {
        let first = self.mistakes.first();
        first.map(|first| first.error.to_compile_error())
    }

    /// Returns the errors as calls of `compile_error!`, for an expression.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        let mistakes = self.mistakes.iter();
        mistakes
            .map(|mistake| mistake.error.to_compile_error())
            .collect()
    }

    /// Returns the errors as an item.
    pub(crate) fn into_item(self) -> TokenStream {
        as_item(&self.into_compile_errors())
    }
}

impl From<Mistake> for Report {
    fn from(mistake: Mistake) -> Self {
        let mistakes = vec![mistake];
        Self { mistakes }
    }
}

impl IntoIterator for Report {
    type Item = Mistake;
    type IntoIter = std::vec::IntoIter<Mistake>;

    fn into_iter(self) -> Self::IntoIter {
        self.mistakes.into_iter()
    }
}

/// Writes an item with calls of `compile_error!`. If such a call is itself an item of a module, rustc reports no
/// unknown name of the module.
pub(crate) fn as_item(errors: &TokenStream) -> TokenStream {
    if errors.is_empty() {
        return TokenStream::new();
    }
    quote!(const _: () = { #errors };)
}
