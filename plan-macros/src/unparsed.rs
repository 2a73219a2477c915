//! Structs and enums with a syntax error. rustc reports the error before it calls a derive, so the derives only keep rustc from further errors where
//! the type is used.

use crate::options;
use crate::report::Report;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Data, DataStruct, DeriveInput, Fields, Generics, Token, Visibility};

/// The type without its fields, unless it is generic.
pub(crate) fn header(item: TokenStream) -> Option<DeriveInput> {
    let parser = |input: ParseStream<'_>| {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        let keyword: Ident = input.call(syn::ext::IdentExt::parse_any)?;
        let ident = input.parse()?;
        let is_generic = input.peek(Token![<]);
        while !input.is_empty() {
            input.parse::<TokenTree>()?;
        }
        let data = DataStruct {
            struct_token: Token![struct](keyword.span()),
            fields: Fields::Unit,
            semi_token: None,
        };
        let header = DeriveInput {
            attrs,
            vis,
            ident,
            generics: Generics::default(),
            data: Data::Struct(data),
        };
        Ok((!is_generic).then_some(header))
    };
    parser.parse2(item).ok().flatten()
}

/// Code in a constant that rustc does not evaluate, and about which rustc says nothing: rustc reports no unknown field of a struct with a syntax
/// error.
pub(crate) fn silent(ident: &Ident) -> TokenStream {
    quote_spanned! {ident.span()=>
        let _ = |__it: &#ident| __it.syntax;
        ::core::panic! { "this type cannot be parsed" }
    }
}

/// What `#[derive(Shape)]` and the derives of serde implement, since the derives of serde cannot parse the type either.
pub(crate) fn shape(item: TokenStream) -> TokenStream {
    let Some(input) = header(item) else {
        return TokenStream::new();
    };
    let is_shape = |attr: &Attribute| attr.path().is_ident("shape");
    let krate = options::path(None, "#[shape(crate = …)]", &mut Report::default());
    // `crate` and `remote` are rare.
    let (false, Some(krate)) = (input.attrs.iter().any(is_shape), krate) else {
        return TokenStream::new();
    };
    let ident = &input.ident;
    let silent = silent(ident);
    let serde = quote!(#krate::check::serde);
    quote! {
        #[automatically_derived]
        impl #serde::Serialize for #ident {
            fn serialize<__S: #serde::Serializer>(&self, _: __S) -> ::core::result::Result<__S::Ok, __S::Error> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl<'de> #serde::Deserialize<'de> for #ident {
            fn deserialize<__D: #serde::Deserializer<'de>>(_: __D) -> ::core::result::Result<Self, __D::Error> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #krate::Shape for #ident {
            const SHAPE: #krate::check::TypeShape = { #silent };
        }
    }
}
