//! `#[tool]` where it is not allowed.

use crate::report::Report;
use proc_macro2::TokenStream;
use quote::quote;
use syn::Item;

/// `#[tool]` on an item that is not a function.
pub(super) fn expand(item: &Item) -> TokenStream {
    let mut report = Report::default();
    match item {
        Item::Struct(item) => report.error(
            &item.ident,
            "`#[tool]` on a struct needs `#[derive(Tool)]`\nhelp: write `#[derive(Serialize, Deserialize, Shape, Tool)]` above the struct, and `#[tool(output = Type)]` below the derive",
        ),
        other => report.error(
            other,
            "a tool is an `async fn`, or a struct with `#[derive(Tool)]`",
        ),
    }
    let errors = report.into_item();
    quote!(#errors #item)
}
