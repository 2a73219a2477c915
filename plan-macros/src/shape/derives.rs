//! Serde's derives for the struct of a plan or a tool.

use crate::lossless::container;
use crate::report::as_item;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use serde_derive_internals::Derive;
use syn::{Attribute, DeriveInput};

/// Returns the derives of serde that accept the attributes of a struct, and items in place of the others: the errors, and implementations,
/// without which each use of the struct would be an error. `attrs` are the attributes of the author, and `structure` gives the struct.
pub(crate) fn serde_derives<'a>(
    name: &Ident,
    attrs: impl IntoIterator<Item = &'a Attribute>,
    structure: &TokenStream,
    krate: &TokenStream,
) -> (TokenStream, TokenStream) {
    let serde = quote!(#krate::check::serde);
    let (mut derives, mut instead) = (TokenStream::new(), TokenStream::new());
    // Most structs have no attribute that serde could refuse.
    let mut attrs = attrs.into_iter();
    let has_serde = attrs.any(|attr| attr.path().is_ident("serde"));
    let input: Option<DeriveInput> = match has_serde {
        true => syn::parse2(structure.clone()).ok(),
        false => None,
    };
    let refused = |derive| {
        input
            .as_ref()
            .map_or_else(Vec::new, |it| container(it, derive).1)
    };
    let serialize = quote! {
        impl #serde::Serialize for #name {
            fn serialize<S: #serde::Serializer>(&self, _: S) -> ::core::result::Result<S::Ok, S::Error> {
                loop {}
            }
        }
    };
    let deserialize = quote! {
        impl<'de> #serde::Deserialize<'de> for #name {
            fn deserialize<D: #serde::Deserializer<'de>>(_: D) -> ::core::result::Result<Self, D::Error> {
                loop {}
            }
        }
    };
    for (derive, path, implementation) in [
        (Derive::Serialize, quote!(#serde::Serialize,), serialize),
        (
            Derive::Deserialize,
            quote!(#serde::Deserialize,),
            deserialize,
        ),
    ] {
        let refused = refused(derive);
        if refused.is_empty() {
            derives.extend(path);
        } else {
            let errors = refused.iter().map(syn::Error::to_compile_error);
            instead.extend(as_item(&errors.collect()));
            instead.extend(implementation);
        }
    }
    (derives, instead)
}
