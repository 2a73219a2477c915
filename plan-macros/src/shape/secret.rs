//! `#[shape(secret)]`, and what finds the secrets inside of a type.

use crate::json;
use crate::options;
use crate::report::Report;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Meta, Type};

/// How often a type may be wrapped by aliases that its tokens do not show.
const HIDDEN: usize = 2;

/// Reports what is wrong with an attribute of a field.
pub(crate) fn check(attr: &Attribute, report: &mut Report) {
    if !attr.path().is_ident("shape") {
        return;
    }
    match &attr.meta {
        Meta::List(list) if is_for_serde(list.tokens.clone()) => report.error(
            attr,
            "a field has `#[shape(secret)]` and no other option\nhelp: for what serde reads and writes, use `#[serde(…)]`",
        ),
        Meta::List(list) if !list.tokens.is_empty() => {
            options::read(list.tokens.clone(), &["secret"], report, |_, _| Ok(()));
        }
        _ => report.error(attr, "expected `#[shape(secret)]`"),
    }
}

/// Whether an option is not even similar to `secret`.
fn is_for_serde(tokens: TokenStream) -> bool {
    let first = tokens.into_iter().next().map(|token| token.to_string());
    first
        .is_some_and(|first| plan_graph::similar(&first, ["secret"]).is_none() && first != "secret")
}

/// Whether one of the attributes is `#[shape(secret)]`.
pub(crate) fn is_marked(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("shape") => list
            .tokens
            .clone()
            .into_iter()
            .any(|token| matches!(token, TokenTree::Ident(ident) if ident == "secret")),
        _ => false,
    })
}

/// A function that says what is inside of a type; `None` if it is known to have no secrets.
pub(crate) fn inside(ty: &Type, check: &TokenStream) -> Option<TokenStream> {
    json::is_checked(ty).then(|| function(ty, &ty.to_token_stream(), check))
}

/// The constant of a tool that says what is inside of its output, where its type, `ty`, may have secrets.
pub(crate) fn of_output(ty: &Type, check: &TokenStream) -> Option<TokenStream> {
    (json::is_checked(ty) && !json::is_known_result(ty)).then(|| {
        let inside = function(ty, &quote!(<Self as #check::Tool>::Output), check);
        quote!(const OUTPUT: fn() -> #check::Inside = #inside;)
    })
}

/// The same of a type that is named like this.
fn function(ty: &Type, name: &TokenStream, check: &TokenStream) -> TokenStream {
    let open = (0..depth(ty.to_token_stream()) + HIDDEN).map(|_| quote!(.open()));
    quote! {
        || {
            #[allow(unused_imports)]
            use #check::{InsideElsewhere as _, NotInside as _};
            #check::of::<#name>() #(#open)* .end()
        }
    }
}

/// How often something is opened in the tokens of a type.
fn depth(tokens: TokenStream) -> usize {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => 1 + depth(group.stream()),
            TokenTree::Punct(punct) if punct.as_char() == '<' => 1,
            _ => 0,
        })
        .sum()
}
