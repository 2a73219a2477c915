//! The macros of `plan-runtime`, which re-exports them; use them from there.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod ast;
mod computed;
mod expand;
mod graph;
mod names;
mod parse;
mod report;

use proc_macro::TokenStream;

/// todo
#[proc_macro]
pub fn plan(input: TokenStream) -> TokenStream {
    expand_plan(input.into()).into()
}

fn expand_plan(input: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let mut report = report::Report::new();
    let mut plan = parse::parse(input, &mut report);
    let names = names::Names::new(&plan, &mut report);
    names::resolve(&mut plan, &names, &mut report);
    let graph = graph::Graph::new(&plan, &names);
    expand::expand(&plan, &names, &graph, report)
}

/// todo
#[proc_macro_attribute]
pub fn tool(_a: TokenStream, _i: TokenStream) -> TokenStream { TokenStream::new() }
/// todo
#[proc_macro_derive(Shape, attributes(serde, shape))]
pub fn shape(_i: TokenStream) -> TokenStream { TokenStream::new() }
/// todo
#[proc_macro_derive(Tool, attributes(tool))]
pub fn derive_tool(_i: TokenStream) -> TokenStream { TokenStream::new() }
