//! The types inside a type, for the search for secrets.

use super::secret;
use crate::docs::{is_among, names_of};
use crate::parse::functions::each_of_serde;
use crate::parse::owned::{each_type, last_segment};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use serde_derive_internals::ast::{Container, Field};
use std::collections::BTreeMap;
use syn::{
    DeriveInput, Expr, ExprLit, Generics, Lit, Path, Type, TypePath, Visibility, WherePredicate,
    parse_quote,
};

/// Writes the implementations for a type. The parts of a generic type are the parameters in its JSON, and the types
/// that depend on them: `T` and `T::Item`.
pub(super) fn derive(input: &DeriveInput, output: &Container<'_>, krate: &Path) -> TokenStream {
    let known = quote!(#krate::check::KnownType::Shape(<Self as #krate::Shape>::SHAPE));
    implementations(input, &parts(&input.generics, output), &known, krate)
}

/// Like `derive`, for a type with the JSON of other types, by `#[serde(into)]`, `from` or `try_from`.
pub(super) fn derive_opaque(input: &DeriveInput, krate: &Path) -> TokenStream {
    let check = &quote!(#krate::check);
    let mut known = TokenStream::new();
    if super::input_fields(input).any(|field| secret::is_marked(&field.attrs)) {
        known.extend(quote!(#check::KnownType::Secret,));
    }
    each_of_serde(&input.attrs, |path, value| {
        if is_among(&names_of(path), "into from try_from")
            && let Some(Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            })) = value
            && let Ok(ty) = text.parse::<Type>()
            && let Some(inside) = secret::inside(&ty, &input.generics, check)
        {
            known.extend(quote!(#check::KnownType::Asked(#inside),));
        }
    });
    if known.is_empty() {
        known = quote!(#check::KnownType::Members(&[]));
    }
    let params = input.generics.type_params().map(|param| &param.ident);
    let parts: Vec<Type> = params.map(|param| parse_quote!(#param)).collect();
    implementations(input, &parts, &known, krate)
}

/// Returns the implementations for a type with this known content.
fn implementations(
    input: &DeriveInput,
    parts: &[Type],
    known: &TokenStream,
    krate: &Path,
) -> TokenStream {
    let check = &quote!(#krate::check);
    let ident = &input.ident;
    let mut bounded = input.generics.clone();
    if !parts.is_empty() {
        let bounds = parts
            .iter()
            .map(|part| -> WherePredicate { parse_quote!(#part: #check::Searchable) });
        bounded.make_where_clause().predicates.extend(bounds);
    }
    let alone = quote!(#check::TypeTree::new::<Self>(&[#known]));
    let with =
        (!parts.is_empty()).then(|| quote!(.with(&[#(&<#parts as #check::Searchable>::TREE),*])));
    let (impl_generics, type_generics, bounds) = bounded.split_for_impl();
    let searchable = quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #check::Searchable for #ident #type_generics #bounds {
            const TREE: #check::TypeTree = #alone #with;
        }
    };
    if parts.is_empty() {
        return searchable;
    }
    // The trait of `T::Item` may be private, and rustc rejects a private trait in the interface of a public type. The
    // content of `T::Item` is then unknown.
    let is_private = matches!(input.vis, Visibility::Inherited);
    let is_parameter = |part: &Type| matches!(part, Type::Path(path) if path.qself.is_none() && path.path.segments.len() == 1);
    let parts = parts.iter().filter(|part| is_private || is_parameter(part));
    let list = parts.rfold(
        quote!(__Rest),
        |rest, part| quote!(#check::Cons<#part, #rest>),
    );
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #searchable

        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #check::HasParts for #ident #type_generics #where_clause {
            type Parts<__Rest> = #list;
            const ALONE: #check::TypeTree = #alone;
        }
    }
}

/// Returns the types whose content depends on a parameter.
fn parts(generics: &Generics, output: &Container<'_>) -> Vec<Type> {
    let mut parts = BTreeMap::new();
    for field in output.data.all_fields().filter(|field| is_in_json(field)) {
        each_type(field.ty, &mut |ty| {
            let Type::Path(TypePath { qself, path, .. }) = ty else {
                return true;
            };
            let depends = match (qself, path.segments.first()) {
                (None, Some(first)) => generics.type_params().any(|it| it.ident == first.ident),
                _ => secret::depends(&ty.to_token_stream(), generics),
            };
            if depends {
                parts.insert(ty.to_token_stream().to_string(), ty.clone());
            }
            !depends && last_segment(ty).is_none_or(|last| last.ident != "PhantomData")
        });
    }
    parts.into_values().collect()
}

fn is_in_json(field: &Field<'_>) -> bool {
    let attrs = &field.attrs;
    !(attrs.skip_serializing() && attrs.skip_deserializing()
        || secret::is_marked(&field.original.attrs))
}
