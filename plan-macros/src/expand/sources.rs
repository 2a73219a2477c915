//! The steps and inputs that computed values mention.

use super::builder::Builder;
use crate::ast::Computed;
use crate::names::Source;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The steps and inputs that a computed value mentions, each with its name.
pub(super) type Sources<'c> = Vec<(Source, &'c Ident)>;

/// Returns the steps and inputs that a computed value mentions, in order.
pub(super) fn sources<'c>(computed: &Computed, builder: &Builder<'c>) -> Sources<'c> {
    let names = builder.cx.names.names_in(computed).sources.iter();
    let mut sources: Vec<_> = names
        .filter_map(|name| Some((builder.source(name)?, name)))
        .collect();
    sources.sort_by_key(|(source, _)| *source);
    sources
}

/// Binds the names of sources to values of their types, in code that is only type-checked.
pub(super) fn any_values(sources: &Sources<'_>, builder: &Builder<'_>) -> TokenStream {
    let values = sources.iter().map(|(source, name)| {
        let ty = builder.type_of(*source);
        quote!(#[allow(unused_variables)] let #name: &#ty = __plan::any();)
    });
    values.collect()
}
