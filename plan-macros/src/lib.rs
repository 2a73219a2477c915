//! The macros of `plan-runtime`.
use proc_macro::TokenStream;
/// todo
#[proc_macro]
pub fn plan(_i: TokenStream) -> TokenStream {
    TokenStream::new()
}
/// todo
#[proc_macro_attribute]
pub fn tool(_a: TokenStream, _i: TokenStream) -> TokenStream {
    TokenStream::new()
}
/// todo
#[proc_macro_derive(Shape, attributes(serde, shape))]
pub fn shape(_i: TokenStream) -> TokenStream {
    TokenStream::new()
}
/// todo
#[proc_macro_derive(Tool, attributes(tool))]
pub fn derive_tool(_i: TokenStream) -> TokenStream {
    TokenStream::new()
}
