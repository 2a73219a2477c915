//! `#[shape(secret)]`, and the search for secrets inside a type.

use crate::docs::text_of;
use crate::parse::owned;
use crate::report::Report;
use crate::syntax::tokens::mentions;
use crate::{json, options};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit::{self, Visit};
use syn::{Attribute, GenericParam, Generics, Ident, Meta, Type};

/// The number of types behind an alias that the search visits. If an alias hides more types, and a type has no `Shape`,
/// the whole value is secret.
const HIDDEN: usize = 4;

/// Reports an invalid attribute of a field.
pub(crate) fn check(attr: &Attribute, report: &mut Report) {
    if !attr.path().is_ident("shape") {
        return;
    }
    match &attr.meta {
        Meta::List(list) if is_for_serde(list.tokens.clone()) => report.error(
            attr,
            "the only option of a field is `#[shape(secret)]`\nhelp: to change the JSON, use `#[serde(…)]`",
        ),
        Meta::List(list) if !list.tokens.is_empty() => {
            options::read(list.tokens.clone(), &["secret"], report, |_, _| Ok(()));
        }
        _ => report.error(attr, "expected `#[shape(secret)]`"),
    }
}

/// Returns `true` if an option is not similar to `secret`.
fn is_for_serde(tokens: TokenStream) -> bool {
    let first = tokens.into_iter().next().map(|token| token.to_string());
    first
        .is_some_and(|first| plan_graph::similar(&first, ["secret"]).is_none() && first != "secret")
}

/// Returns `true` if one of the attributes is `#[shape(secret)]`.
pub(crate) fn is_marked(attrs: &[Attribute]) -> bool {
    let mut attrs = attrs.iter();
    attrs.any(|attr| options::has_word(attr, "shape", "secret"))
}

/// Writes a function that describes the secrets inside a type. Returns `None` for a type without secrets. `around` contains
/// the parameters of the enclosing type.
pub(crate) fn inside(ty: &Type, around: &Generics, check: &TokenStream) -> Option<TokenStream> {
    may_be_inside(ty).then(|| function(ty, &ty.to_token_stream(), around, check))
}

/// Writes the constant of a tool that describes the secrets of its output, if the type `ty` may have secrets. `around`
/// contains the parameters of the tool.
pub(crate) fn of_output(ty: &Type, around: &Generics, check: &TokenStream) -> Option<TokenStream> {
    may_be_inside(ty).then(|| {
        let output = quote!(<Self as #check::Tool>::Output);
        let inside = function(ty, &output, around, check);
        quote!(const OUTPUT: fn() -> #check::Inside = #inside;)
    })
}

/// Writes a function that describes the secrets in a value of the type `ty`, which has the name `name`.
pub(crate) fn of_value(ty: &Type, name: &TokenStream, check: &TokenStream) -> TokenStream {
    if may_be_inside(ty) {
        function(ty, name, &Generics::default(), check)
    } else {
        quote!(#check::Inside::named::<#name>)
    }
}

/// Writes the search for secrets in the output and the arguments of a tool that a plan calls. The plan's crate determines the types of all
/// parameters and all shapes.
pub(crate) fn of_tool(tool: &TokenStream, at: Span, check: &TokenStream) -> TokenStream {
    let output = quote_spanned!(at=> <#tool as #check::IsTool>::Output);
    Question {
        name: &output,
        others: vec![tool.clone()],
        steps: depth(tool.clone()) + HIDDEN,
        is_generic: false,
        named: TokenStream::new(),
        // The error for a type with two shapes points here.
        at: Span::call_site().located_at(at),
    }
    .expand(check)
}

/// Returns `true` if a type with these tokens may contain secrets.
pub(crate) fn may_be_inside(ty: &Type) -> bool {
    // The user's crate may have a type with the name of a type of serde_json.
    let is_value = |token: &TokenTree| matches!(token, TokenTree::Ident(name) if name == "Value");
    json::is_checked(ty) || mentions(&ty.to_token_stream(), &is_value)
}

/// Writes the function of [`inside`] for a type with the tokens `name`.
fn function(ty: &Type, name: &TokenStream, around: &Generics, check: &TokenStream) -> TokenStream {
    let mut hidden = HiddenIn {
        around,
        parameters: Vec::new(),
        named: Vec::new(),
        count: 0,
        is_hidden: false,
    };
    hidden.visit_type(ty);
    let is_generic = depends(&ty.to_token_stream(), around);
    let mut named = TokenStream::new();
    if is_generic {
        for (ty, ident) in &hidden.named {
            let ident = text_of(ident);
            named.extend(quote!(__types.named(::core::any::type_name::<#ty>, #ident);));
        }
    }
    let others = hidden.parameters.iter().map(ToTokens::to_token_stream);
    Question {
        name,
        others: others.collect(),
        steps: hidden.count + HIDDEN,
        is_generic,
        named,
        at: Span::call_site(),
    }
    .expand(check)
}

/// The search for secrets in a type.
struct Question<'a> {
    name: &'a TokenStream,
    /// Types that may occur inside the type.
    others: Vec<TokenStream>,
    /// The number of types to visit.
    steps: usize,
    is_generic: bool,
    /// Statements that record the names of generic types.
    named: TokenStream,
    at: Span,
}

impl Question<'_> {
    fn expand(&self, check: &TokenStream) -> TokenStream {
        let Self {
            name,
            is_generic,
            named,
            at,
            ..
        } = self;
        let others = self.others.iter().rfold(
            quote!(#check::Nil),
            |rest, other| quote!(#check::Cons<#other, #rest>),
        );
        let step = quote_spanned!(*at=> let __rest = __rest.step(&mut __types););
        let steps = (0..self.steps).map(|_| &step);
        quote_spanned! {*at=>
            || {
                #[allow(unused_imports)]
                use #check::StepDeclared as _;
                let mut __types = #check::Types::new(::core::module_path!(), #is_generic);
                let __rest = #check::Of::<#check::Cons<#name, #others>>::NEW;
                #(#steps)*
                let _ = __rest;
                #named
                __types.inside(::core::any::type_name::<#name>)
            }
        }
    }
}

/// A visitor of the parameters of a type of another crate.
struct HiddenIn<'a> {
    around: &'a Generics,
    parameters: Vec<&'a Type>,
    /// The types with parameters, and their names.
    named: Vec<(&'a Type, &'a Ident)>,
    /// The number of types to visit.
    count: usize,
    is_hidden: bool,
}

impl<'a> Visit<'a> for HiddenIn<'a> {
    fn visit_type(&mut self, ty: &'a Type) {
        self.count += 1;
        if self.is_hidden && json::is_checked(ty) && !may_be_constant(ty, self.around) {
            self.parameters.push(ty);
            self.count += 1;
        }
        let around = self.is_hidden;
        if let Some(last) = owned::last_segment(ty) {
            self.is_hidden = !owned::is_container(last);
            if self.is_hidden && !last.arguments.is_empty() {
                self.named.push((ty, &last.ident));
            }
        }
        visit::visit_type(self, ty);
        self.is_hidden = around;
    }
}

/// Returns `true` if a parameter that looks like a type may be a constant: `N` in `ArrayVec<Card, N>`.
fn may_be_constant(ty: &Type, around: &Generics) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(name) = path.path.segments.last().map(|last| &last.ident) else {
        return false;
    };
    let is_type = path.path.is_ident(name) && around.type_params().any(|it| it.ident == *name);
    !is_type && !name.to_string().contains(char::is_lowercase)
}

/// Returns the number of type arguments in these tokens: each follows a `<` or a `,`.
fn depth(tokens: TokenStream) -> usize {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => depth(group.stream()),
            TokenTree::Punct(punct) if punct.as_char() == '<' || punct.as_char() == ',' => 1,
            _ => 0,
        })
        .sum()
}

/// Returns `true` for the tokens of a type that depends on the parameters of the enclosing type.
pub(super) fn depends(tokens: &TokenStream, generics: &Generics) -> bool {
    let is_parameter = |name: &Ident| {
        generics.params.iter().any(|param| match param {
            GenericParam::Type(param) => param.ident == *name,
            GenericParam::Const(param) => param.ident == *name,
            GenericParam::Lifetime(_) => false,
        })
    };
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    let depends = |token: &TokenTree| matches!(token, TokenTree::Ident(name) if name == "Self" || is_parameter(name));
    !generics.params.iter().all(is_lifetime) && mentions(tokens, &depends)
}
