//! `#[tool]` and `#[derive(Tool)]`.

mod contract;
mod function;
mod misplaced;
mod signature;

pub(crate) use contract::derive;

use proc_macro2::TokenStream;
use syn::Item;

/// `#[tool]`.
pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Item::Fn(item)) => function::expand(options, item),
        Ok(item) => misplaced::expand(&item),
        // rustc says what is wrong with the item.
        Err(_) => item,
    }
}
