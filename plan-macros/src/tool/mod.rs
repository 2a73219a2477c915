//! `#[tool]` and `#[derive(Tool)]`.

mod broken;
mod contract;
mod function;
mod options;
mod parameters;
mod signature;
mod types;

pub(crate) use contract::derive;

use crate::report::{Mistake, Report};
use crate::syntax::tokens::{is_sign, is_word};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Item, ItemStruct, parse_quote};

/// `#[tool]`.
pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Item::Fn(item)) => function::expand(options, item, None),
        Ok(Item::Struct(item)) => on_struct(&options, item),
        // A function without a body, which may be in a trait.
        Ok(Item::Verbatim(item)) => without_body(&item),
        Ok(item) => on_other(&item),
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

/// `#[tool]` on a struct without `#[derive(Tool)]`. The struct has a contract, so that plans find the tool.
fn on_struct(options: &TokenStream, item: ItemStruct) -> TokenStream {
    let mistake = Mistake::new(
        &item.ident,
        "`#[tool]` on a struct needs `#[derive(Tool)]`\nhelp: write `#[derive(Serialize, Deserialize, Shape, Tool)]` above the struct, and `#[tool(output = Type)]` below the derive",
    );
    let mut input = DeriveInput::from(item.clone());
    if !options.is_empty() {
        input.attrs.push(parse_quote!(#[tool(#options)]));
    }
    let contract = contract::contract(&input, mistake.into(), None);
    quote!(#item #contract)
}

/// Expands `#[tool]` on a function without a body. The expansion adds a body, so that rustc reports no second error.
fn without_body(item: &TokenStream) -> TokenStream {
    if !item.clone().into_iter().any(|tree| is_word(&tree, "fn")) {
        return item.clone();
    }
    let signature = item.clone().into_iter();
    let signature = signature.filter(|tree| !is_sign(tree, ';'));
    let mistake = Mistake::new(
        item,
        "a tool is a function with a body\nhelp: end the function with `{ … }`; in a trait, move it out, and take the application as the first parameter: `app: &App`",
    );
    let errors = Report::from(mistake).into_compile_errors();
    quote!(#(#signature)* { #errors ::core::unimplemented!() })
}

/// `#[tool]` on another item.
fn on_other(item: &Item) -> TokenStream {
    let message = "a tool is an `async fn`, or a struct with `#[derive(Tool)]`";
    let errors = Report::from(Mistake::new(item, message)).into_item();
    quote!(#errors #item)
}
