//! Checks that types can be serialized to JSON. rustc reports each unsuitable type once.

use crate::docs::{is_among, text_of};
use crate::options::has_word;
use crate::parse::owned::{self, KNOWN, type_arguments};
use crate::parse::tidy;
use crate::syntax::tokens::{mentions, no_parameters, placed};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Type};

/// Returns the parts of a type that only rustc can check for JSON: `Email` in `Vec<Email>`.
fn unknown_parts(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Tuple(tuple) => tuple.elems.iter().flat_map(unknown_parts).collect(),
        // The content of a `Box`.
        Type::Slice(slice) => unknown_parts(&slice.elem),
        Type::Array(array) if is_short(&array.len) => unknown_parts(&array.elem),
        Type::Path(_) => match owned::last_segment(ty) {
            Some(last) if is_among(&last.ident, KNOWN) || is_full_result(ty) => {
                let values =
                    owned::parameters(&last.ident).map_or(usize::MAX, |(values, _)| values);
                let values = type_arguments(last).take(values);
                values.flat_map(unknown_parts).collect()
            }
            _ => vec![ty],
        },
        // The placeholder from `unknown`.
        Type::Verbatim(_) => Vec::new(),
        _ => vec![ty],
    }
}

/// Returns `true` if JSON can hold an array of this length.
fn is_short(length: &Expr) -> bool {
    match length {
        Expr::Lit(ExprLit {
            lit: Lit::Int(length),
            ..
        }) => length.base10_parse::<usize>().is_ok_and(|it| it <= 32),
        _ => false,
    }
}

/// Returns `true` for the `Result` of the standard library, with both parameters, and `false` for an alias with a fixed
/// error.
fn is_full_result(ty: &Type) -> bool {
    owned::result(ty).is_some_and(|types| types.len() == 2)
}

/// Returns `true` for a `Result` whose output is serializable to JSON.
pub(crate) fn is_known_result(ty: &Type) -> bool {
    let output = owned::result(ty).and_then(|types| types.first().copied());
    output.is_some_and(|output| unknown_parts(output).is_empty())
}

/// Returns the type of the output in a function's return type, if the return type is a `Result`.
pub(crate) fn output_of(ty: &Type) -> &Type {
    let output = owned::result(ty).and_then(|types| types.first().copied());
    output.unwrap_or(ty)
}

/// Returns items by which rustc reports a type that is not serializable to JSON, and a type without further errors.
/// `written` contains the tokens of the type, and `prefix` starts the names of the items.
pub(crate) fn checked(ty: &Type, written: TokenStream, prefix: &str) -> (TokenStream, TokenStream) {
    let parts = unknown_parts(ty);
    if parts.is_empty() {
        return (TokenStream::new(), written);
    }
    // The spans are equal to the spans of the attribute below, so that rustc merges both errors into one.
    let checks = checks(&parts, &quote!(__plan), "json");
    let is_json = is_json(prefix);
    (
        quote!(const #is_json: ::core::primitive::bool = #checks;),
        quote_spanned!(ty.span()=> <#written as __plan::Checked<{ #is_json }>>::Itself),
    )
}

/// Returns the span of the last name of a path, at which rustc reports a type missing from a module.
fn place(ty: &Type) -> Span {
    let last = owned::last_segment(ty);
    last.map_or_else(|| ty.span(), |last| last.ident.span())
}

/// Returns `true` if [`checked`] writes a constant.
pub(crate) fn is_checked(ty: &Type) -> bool {
    !unknown_parts(ty).is_empty()
}

/// Returns the name of the constant that [`checked`] writes.
pub(crate) fn is_json(prefix: &str) -> Ident {
    format_ident!("{prefix}IsJson")
}

/// Like [`checked`], for an alias of the type: rustc words an unknown type differently if the alias contains more than
/// the type.
pub(crate) fn checked_alias(ty: &Type, name: &Ident) -> (TokenStream, TokenStream) {
    let mut written = format_ident!("{name}Written");
    written.set_span(name.span());
    let (items, checked) = checked(ty, written.to_token_stream(), &name.to_string());
    if items.is_empty() {
        return (items, ty.to_token_stream());
    }
    let no_parameters = no_parameters(name.span());
    (quote!(type #written #no_parameters = #ty; #items), checked)
}

/// Returns a placeholder for a type that was rejected with this error. The placeholder causes no second error.
pub(crate) fn unknown(error: &TokenStream, check: &TokenStream) -> TokenStream {
    quote!(<() as #check::Checked<{ #error true }>>::Itself)
}

/// The struct of a field whose type JSON has to hold.
pub(crate) struct Holder<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) check: &'a TokenStream,
}

impl Holder<'_> {
    /// Returns the attribute of a field by which serde's derives assume that its type is serializable to JSON. rustc
    /// then reports the type once, and not for each use in the derived code. `json` is the function that checks the
    /// type. The items before the struct place the errors of a type with several parts, since all tokens of a string
    /// literal have one span.
    pub(crate) fn granted(
        &self,
        field: &Ident,
        ty: &Type,
        attrs: &[Attribute],
        json: &str,
    ) -> (TokenStream, TokenStream) {
        let nothing = || (TokenStream::new(), TokenStream::new());
        if self.says_other(ty, attrs) {
            return nothing();
        }
        let (check, parts) = (tidy(self.check), unknown_parts(ty));
        let (items, place, bound) = match &*parts {
            [] => return nothing(),
            [part] => {
                let written = tidy(part);
                let bound = format!(
                    "for<'__json> {written}: {check}::Json<'__json, {{ {check}::{json}::<{written}>() }}>"
                );
                (TokenStream::new(), place(part), bound)
            }
            parts => {
                let at = ty.span();
                let name = format!("__TypeOf{}In{}", text_of(field), text_of(self.ident));
                let (alias, is_json) = (Ident::new(&name, at), is_json(&name));
                let checks = checks(parts, &self.check.to_token_stream(), json);
                let no_parameters = no_parameters(at);
                let items = quote! {
                    #[allow(dead_code, non_camel_case_types)]
                    type #alias #no_parameters = #ty;
                    #[allow(dead_code, non_upper_case_globals)]
                    const #is_json: ::core::primitive::bool = #checks;
                };
                let bound =
                    format!("for<'__json> {alias}: {check}::Json<'__json, {{ {is_json} }}>");
                (items, at, bound)
            }
        };
        let bound = LitStr::new(&bound, place);
        // The attribute is absent for rustdoc, which would show the bound.
        (items, quote!(#[cfg_attr(not(doc), serde(bound = #bound))]))
    }

    /// Returns `true` for a field whose JSON depends on more than its type, or whose type cannot be written in a string
    /// literal.
    fn says_other(&self, ty: &Type, attrs: &[Attribute]) -> bool {
        const OTHER: &str = "with serialize_with deserialize_with skip skip_serializing skip_deserializing bound from try_from into remote";
        let says_other = |attr: &Attribute| has_word(attr, "serde", OTHER);
        // A recursive struct would assume its own bound, and `$crate` has no meaning in a string literal.
        let cannot_say = |token: &TokenTree| match token {
            TokenTree::Ident(name) => name == self.ident || name == "Self",
            TokenTree::Punct(punct) => punct.as_char() == '$',
            _ => false,
        };
        mentions(&ty.to_token_stream(), &cannot_say)
            || attrs.iter().chain(self.attrs).any(says_other)
    }
}

/// Checks that JSON can hold each of these types, at the span of the type.
fn checks(parts: &[&Type], check: &TokenStream, json: &str) -> TokenStream {
    let checks = parts.iter().map(|part| {
        let at = place(part);
        let (part, check) = (
            placed(part.to_token_stream(), at),
            placed(check.clone(), at),
        );
        let json = Ident::new(json, at);
        quote_spanned!(at=> #check::#json::<#part>())
    });
    quote!(#(#checks)&*)
}
