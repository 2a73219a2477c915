//! One step: the name of its `const`, its types, and checks of its output.

use super::way::ends;
use super::{Context, policy, types};
use crate::ast::{Body, Extent, Step, Value};
use crate::json;
use crate::names::Source;
use crate::parse::tidy;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// Returns the name of the `const` of a step. Messages of rustc mention the name.
pub(super) fn name(index: usize, cx: &Context<'_>) -> Ident {
    let step = &cx.steps[index].name;
    let span = step.span();
    if cx.names.get(step) == Some(Source::Step(index)) {
        format_ident!("check_of_step_{}", step.unraw(), span = span)
    } else {
        format_ident!("check_of_step_{index}", span = span)
    }
}

/// Returns the declared type of a step, as an alias if there is one. The author's tokens occur once, so that rustc
/// reports errors in them once.
pub(super) fn declared(step: &Step, cx: &Context<'_>) -> Option<TokenStream> {
    let name = cx.type_of(cx.names.source(step));
    let ty = step.ty.as_ref()?;
    Some(if policy::wraps(step) {
        json::checked_alias(ty, &name).1
    } else {
        name.into_token_stream()
    })
}

/// Writes the type aliases of a step: for its output, and for its tools.
pub(super) fn types(index: usize, step: &Step, cx: &Context<'_>) -> TokenStream {
    let output = cx.type_of(Source::Step(index));
    let tools = &cx.tools[index];
    let mut types = types::OutputTypes::new(tools, &step.policy, cx.names);
    let mut items = TokenStream::new();
    let ty = match &step.ty {
        Some(ty) => {
            let (checks, checked) = json::checked_alias(ty, &output);
            items = checks;
            Some(checked)
        }
        // A call without a wrapper needs only the path itself.
        None => match cx.names.body(&step.body) {
            Body::Call(literal) => {
                let (path, at) = (&literal.path, ends(&literal.path).0);
                // In an `Option`, rustc would report an unknown tool in other words, and so twice.
                let tool = if policy::wraps(step) {
                    tools[0].arguments.to_token_stream()
                } else {
                    path.to_token_stream()
                };
                Some(quote_spanned!(at=> <#tool as __plan::IsTool>::Output))
            }
            body => types.of(body),
        },
    };
    let checks = types.checks;
    let ty = if checks.is_empty() {
        ty
    } else {
        // If the types of the branches differ, rustc reports no errors that depend on them.
        let joins = format_ident!("{output}Joins");
        items = quote!(const #joins: ::core::primitive::bool = { #checks true };);
        ty.map(|ty| quote!(<#ty as __plan::Checked<{ #joins }>>::Itself))
    };
    let ty = policy::with_policy(ty.unwrap_or_else(|| cx.unknown_type()), step);
    let aliases = tools.iter().map(|tool| {
        let (path, alias, arguments) = (tool.path, &tool.alias, &tool.arguments);
        let at = alias.span();
        // The output type of a step that is only a call names `IsTool` already.
        let is_inside = !matches!(cx.names.body(&step.body), Body::Call(_));
        let tool = is_inside
            .then(|| quote_spanned!(at=> type #alias = <#path as __plan::IsTool>::Itself;));
        quote_spanned!(at=> #tool type #arguments = #path;)
    });
    let at = types::place_of_step(step);
    quote_spanned!(at=> #items type #output = #ty; #(#aliases)*)
}

/// Checks that a step with a type, whose value is a literal of that type, does not call a tool.
pub(super) fn is_no_call(step: &Step, cx: &Context<'_>) -> Option<TokenStream> {
    let (Some(ty), Body::Compute(value)) = (&step.ty, &step.body) else {
        return None;
    };
    let Value::Literal(literal) = cx.names.value(value) else {
        return None;
    };
    let path = tidy(&literal.path);
    if tidy(ty) != path {
        return None;
    }
    let (at, name) = (literal.path.span(), step.name.unraw().to_string());
    Some(quote_spanned! {at=>
        { use __plan::IsValue as _; __plan::value_of(__plan::ValueOf::<#ty>::IS_TOOL, #name, #path) };
    })
}

/// Checks that a step with an optional output can also have a value, if another step reads the output. The JSON of `()`
/// is null, like the JSON of `None`.
pub(super) fn is_ever_some(step: &Step, cx: &Context<'_>) -> Option<TokenStream> {
    let index = cx.names.number(step);
    if step.policy.optional == Extent::Nothing && !step.body.has_absent() {
        return None;
    }
    let mut mentions = cx.names.all_mentions();
    let mention = mentions.find(|it| it.source == Source::Step(index))?;
    let output = match cx.names.body(&step.body) {
        Body::Call(_) => cx.type_of(Source::Step(index)).to_token_stream(),
        Body::Block(block) => {
            let value = types::type_of_step(block.value()?, cx.names);
            quote!(::core::option::Option<#value>)
        }
        _ => {
            let tool = &cx.tools[index].first()?.alias;
            quote!(::core::option::Option<<#tool as __plan::IsTool>::Output>)
        }
    };
    let at = mention.name.span();
    Some(
        quote_spanned!(at=> let _ = || __plan::EverSome::check(__plan::Probe::<#output>::NEW.presence());),
    )
}
