//! `#[tool]` and `#[derive(Tool)]`.

mod broken;
mod contract;
mod function;
mod misplaced;
mod options;
mod parameters;
mod signature;
mod types;

pub(crate) use contract::derive;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Item;

/// `#[tool]`.
pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Item::Fn(item)) => function::expand(options, item, None),
        Ok(Item::Struct(item)) => misplaced::on_struct(&options, item),
        // A function without a body, which may be in a trait.
        Ok(Item::Verbatim(item)) => misplaced::without_body(&item),
        Ok(item) => misplaced::on_other(&item),
        Err(_) => broken::expand(options, item),
    }
}

/// Returns the constants of a tool.
fn constants(name: &str, description: &str, is_read_only: bool) -> TokenStream {
    let read_only = is_read_only.then(|| quote! { const READ_ONLY: bool = true; });
    quote! {
        const NAME: &'static str = #name;
        const DESCRIPTION: &'static str = #description;
        #read_only
    }
}
