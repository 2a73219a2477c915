//! Parameters with a syntax error.

use crate::docs::is_among;
use crate::parse::owned::KNOWN;
use crate::syntax::is_keyword;
use crate::syntax::tokens::{Tokens, enclosed};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{FnArg, Token, Type, parse_quote};

/// The parameters without their attributes.
pub(super) struct Parameters {
    bare: Group,
    /// `true` if a parameter has no name.
    pub(super) is_nameless: bool,
}

impl Parameters {
    /// Reads the parameters that have a name. If the type of a parameter cannot be parsed, the type is `_`.
    pub(super) fn read(parameters: &Group) -> (Punctuated<FnArg, Token![,]>, Self) {
        let mut tokens = Tokens::new(parameters.stream());
        let (mut inputs, mut is_nameless) = (Punctuated::new(), false);
        while !tokens.is_empty() {
            let part = tokens.take_type(|tokens| tokens.is_punct(0, ','));
            let is_whole = syn::parse2::<FnArg>(part.clone()).is_ok();
            is_nameless |= !is_whole && is_type(&part);
            let mut part = Tokens::new(part);
            while !part.is_empty() {
                // A comma may be missing, or `>` before it.
                let mut one = part.attributes();
                one.extend(part.next());
                one.extend(part.next());
                one.extend(part.take_until(|tokens| !is_whole && tokens.is_key()));
                inputs.extend(parameter(one, inputs.is_empty()));
            }
            tokens.next();
        }
        let bare = without_attributes(parameters.stream());
        // A parameter may lack its type at the end.
        let bare = enclosed(Delimiter::Parenthesis, bare, parameters.span_close());
        (inputs, Self { bare, is_nameless })
    }

    /// Returns code for a constant. rustc does not evaluate the constant, since the type of a parameter is unknown, and reports the syntax error only
    /// once.
    pub(super) fn silent(&self, check: &TokenStream) -> TokenStream {
        let parameters = &self.bare;
        quote! {
            #check::editor::items! { fn __unparsed #parameters {} }
            let _ = __unparsed as *const ();
            ::core::assert! { false, "the parameters cannot be parsed" }
        }
    }
}

/// Returns `true` for a parameter that is only a type.
fn is_type(tokens: &TokenStream) -> bool {
    let mut tokens = Tokens::new(tokens.clone());
    tokens.attributes();
    match syn::parse2(tokens.rest()) {
        Ok(Type::Path(path)) => match path.path.get_ident() {
            Some(name) => is_among(name, KNOWN) || name.to_string().starts_with(char::is_uppercase),
            None => true,
        },
        Ok(Type::Infer(_)) | Err(_) => false,
        Ok(_) => true,
    }
}

fn parameter(tokens: TokenStream, is_first: bool) -> Option<FnArg> {
    if let Ok(parsed) = syn::parse2(tokens.clone()) {
        return Some(parsed);
    }
    let mut tokens = Tokens::new(tokens);
    tokens.attributes();
    if tokens.is_ident(0, "mut") {
        tokens.next();
    }
    let name = not_a_keyword(tokens.next_ident()?)?;
    let is_reference = |tree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == '&');
    // The application is not among the arguments.
    let is_application = is_first && tokens.rest().into_iter().any(is_reference);
    (!is_application).then(|| parse_quote!(#name: _))
}

/// Returns the parameters without the errors that rustc reports and then ignores, and `true` if the body has the types of these parameters. Returns `None` if
/// a parameter has another error.
pub(super) fn corrected(parameters: &Group) -> Option<(Punctuated<FnArg, Token![,]>, bool)> {
    let mut tokens = Tokens::new(parameters.stream());
    let (mut inputs, mut is_body_valid) = (Punctuated::new(), true);
    while !tokens.is_empty() {
        let part = tokens.take_type(|it| it.is_punct(0, ',') || it.is_punct(0, ';'));
        let input = syn::parse2(part.clone()).ok();
        inputs.push(input.or_else(|| corrected_parameter(part, &mut is_body_valid))?);
        tokens.next();
    }
    Some((inputs, is_body_valid))
}

/// Corrects `let name: Type`, `type: Type`, `name?: Type`, `name: #[attribute] Type` and `name: Type = default`.
fn corrected_parameter(part: TokenStream, is_body_valid: &mut bool) -> Option<FnArg> {
    let mut tokens = Tokens::new(part);
    let mut attributes = tokens.attributes();
    if tokens.is_ident(0, "let") {
        tokens.next();
    }
    let mutable = tokens.is_ident(0, "mut").then(|| tokens.next());
    let name = not_a_keyword(tokens.next_ident()?)?;
    let is_optional = tokens.eat_punct('?');
    if !tokens.eat_punct(':') {
        return None;
    }
    attributes.extend(tokens.attributes());
    let ty = tokens.take_type(|tokens| tokens.is_punct(0, '='));
    syn::parse2::<Type>(ty.clone()).ok()?;
    *is_body_valid &= !is_optional;
    let ty = if is_optional {
        quote!(::core::option::Option<#ty>)
    } else {
        ty
    };
    let mutable = mutable.flatten();
    syn::parse2(quote!(#attributes #mutable #name: #ty)).ok()
}

/// Returns the name, with `r#` if the name is a keyword.
fn not_a_keyword(name: Ident) -> Option<Ident> {
    if name == "_" || !is_keyword(&name) {
        return Some(name);
    }
    let mut raw: Ident = syn::parse_str(&format!("r#{name}")).ok()?;
    raw.set_span(name.span());
    Some(raw)
}

/// Removes the attributes of parameters, which belong to the struct of the arguments.
fn without_attributes(parameters: TokenStream) -> TokenStream {
    let mut tokens = Tokens::new(parameters);
    let mut rest = TokenStream::new();
    while !tokens.is_empty() {
        if tokens.is_punct(0, '#') && tokens.peek_group(1, Delimiter::Bracket).is_some() {
            tokens.next();
            tokens.next();
        } else {
            rest.extend(tokens.next());
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use crate::tool;
    use quote::quote;

    #[test]
    fn parameters_with_an_error_of_rustc_keep_their_types() {
        for (parameter, field) in [
            (quote!(type: u64), "r#type : u64"),
            (quote!(limit: Vec<u64> = vec![1]), "limit : Vec < u64 >"),
            (
                quote!(limit?: u64),
                "limit : :: core :: option :: Option < u64 >",
            ),
            (quote!(let mut limit: u64), "limit : u64"),
            (quote!(limit: u64; name: String), "limit : u64"),
            (
                quote!(limit: #[serde(default)] u64),
                "# [serde (default)] pub limit : u64",
            ),
        ] {
            let tool = quote!(pub async fn find(#parameter) -> Result<u64> { Ok(1) });
            let expansion = tool::attribute(quote!(), tool).to_string();
            assert!(expansion.contains(field), "{expansion}");
            assert!(!expansion.contains("cannot be parsed"), "{expansion}");
        }
    }

    #[test]
    fn unreadable_parameters_have_names() {
        for (parameters, field) in [
            (quote!(type u64), "r#type"),
            (quote!([serde(default)] mut limit: u64), "limit"),
            (quote!(crate: u64, limit u64), "limit"),
        ] {
            let tool = quote!(async fn find(#parameters) -> Result<u64> { Ok(1) });
            let expansion = tool::attribute(quote!(), tool).to_string();
            let (_, structure) = expansion.split_once("struct Find").expect("a struct");
            let fields = structure.split_once('}').expect("fields").0;
            assert!(fields.contains(&format!("{field} :")), "{fields}");
        }
    }
}
