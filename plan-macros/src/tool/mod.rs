//! `#[tool]` and `#[derive(Tool)]`.

mod broken;
mod contract;
mod function;
mod misplaced;
mod parameters;
mod signature;

pub(crate) use contract::derive;

use proc_macro2::TokenStream;
use syn::Item;

/// `#[tool]`.
pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Item::Fn(item)) => function::expand(options, item, None),
        Ok(Item::Struct(item)) => misplaced::on_struct(&options, item),
        // A function without a body, which rustc reports.
        Ok(Item::Verbatim(item)) => item,
        Ok(item) => misplaced::on_other(&item),
        Err(_) => broken::expand(options, item),
    }
}
