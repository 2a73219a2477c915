use crate::report::Report;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Item, Meta, parse_quote};

/// `#[tool]` on what is no function.
pub(super) fn expand(options: &TokenStream, mut item: Item) -> TokenStream {
    let mut report = Report::new();
    match &mut item {
        // `#[tool(…)]` above `#[derive(Tool)]` is seen as this macro; below it, it is an option of the derive.
        Item::Struct(item) if derives_tool(&item.attrs) => {
            item.attrs.push(parse_quote!(#[tool(#options)]));
        }
        Item::Struct(item) => report.error(
            &item.ident,
            format_args!(
                "`#[tool]` alone makes tools of functions only\nhelp: write `#[derive(Tool)]` above the `#[tool(…)]` of `{}`",
                item.ident
            ),
        ),
        other => report.error(
            &*other,
            "a tool is an `async fn`, or a struct with `#[derive(Tool)]`",
        ),
    }
    let errors = report.into_compile_errors();
    quote!(#errors #item)
}

fn derives_tool(attrs: &[Attribute]) -> bool {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("derive"))
        .any(|attr| match &attr.meta {
            Meta::List(list) => list
                .tokens
                .to_token_stream()
                .into_iter()
                .any(|token| token.to_string() == "Tool"),
            _ => false,
        })
}
