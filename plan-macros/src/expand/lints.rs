//! Generated code that makes rustc warn the author.

use super::Context;
use super::tokens::located;
use crate::ast::Body;
use crate::docs::{is_named, text_of};
use crate::names::{Names, Source};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::BTreeSet;

/// Writes code by which rustc warns of unused inputs, computed steps and bound names, and of strings that look like
/// `format!`.
pub(super) fn unused(cx: &Context<'_>) -> TokenStream {
    if cx.error.is_some() {
        // The part with the error may contain the only use of a name.
        return TokenStream::new();
    }
    let used = used(cx);
    let inputs = cx.names.inputs.iter().enumerate();
    let inputs = inputs.map(|(index, it)| (Source::Input(index), &it.name, &it.attrs[..]));
    let steps = cx.steps.iter().enumerate();
    let steps = steps.filter(|(_, step)| matches!(step.body, Body::Compute(_)));
    let steps = steps.map(|(index, step)| (Source::Step(index), &step.name, &[][..]));
    let names: Vec<TokenStream> = inputs
        .chain(steps)
        .filter(|(it, name, _)| !used.contains(it) && !text_of(name).starts_with('_'))
        .map(|(_, name, attrs)| {
            let attrs = attrs.iter().filter(|it| is_named(it, "allow expect cfg"));
            quote!(#(#attrs)* #name: ())
        })
        .collect();
    let unused = (!names.is_empty()).then(|| quote!(fn __plan_unused(#(#names),*) {}));
    // A name may be bound more than once.
    let bound = cx.names.facts.unused.iter().map(|(name, is_field)| {
        // rustc gives other advice for a field than for a variable.
        let (pattern, parameter) = if *is_field {
            let pattern = quote!(struct __PlanPattern { #name: () });
            (pattern, quote!(__PlanPattern { #name }: __PlanPattern))
        } else {
            (TokenStream::new(), quote!(#name: ()))
        };
        quote!(const _: () = { #pattern fn __plan_unused(#parameter) {} };)
    });
    let warnings = cx
        .names
        .facts
        .braces
        .iter()
        .enumerate()
        .map(|(index, (at, _))| {
            let text = braces_name(index, *at);
            let of = cx.plan.head.as_ref().map(|head| {
                let name = located(head.name.clone(), *at);
                quote_spanned!(*at=> #name::)
            });
            quote_spanned!(*at=> const _: () = #of #text;)
        });
    let texts = cx.plan.head.is_none().then(|| braces(cx.names));
    quote!(#unused #(#bound)* #texts #(#warnings)*)
}

/// Returns the inputs and steps that a part of the plan uses.
pub(super) fn used(cx: &Context<'_>) -> BTreeSet<Source> {
    let mut used: BTreeSet<Source> = cx
        .names
        .all_mentions()
        .map(|mention| mention.source)
        .collect();
    for step in cx.steps {
        let scope = cx.names.scope_of(cx.names.source(step));
        let named = step.after.iter().chain(step.role.undone());
        used.extend(named.filter_map(|name| cx.names.own(scope, name)));
        step.body.blocks(&mut |block| {
            used.extend(block.value().map(|step| cx.names.source(step)));
        });
    }
    used
}

/// Writes deprecated constants for strings with names in braces. Only the warning about a deprecated constant can
/// contain the macro's own message.
pub(super) fn braces(names: &Names<'_>) -> TokenStream {
    let texts = names.facts.braces.iter().enumerate().map(|(index, (at, call))| {
        let name = braces_name(index, *at);
        let note = format!(
            "`format!` puts values into a text: write `{call}`, or `String::from(…)` if the braces are part of the text"
        );
        quote!(#[deprecated(note = #note)] const #name: () = ();)
    });
    quote!(#(#texts)*)
}

fn braces_name(index: usize, at: Span) -> Ident {
    numbered("PLAIN_TEXT_WITH_BRACES", index, at)
}

/// Returns the name of the constant with this index in a list.
pub(super) fn numbered(name: &str, index: usize, at: Span) -> Ident {
    let number = (index > 0).then(|| format!("_{}", index + 1));
    Ident::new(&format!("{name}{}", number.unwrap_or_default()), at)
}

/// Lets rustc warn of the case of a name where it is declared, and not where it is used.
pub(super) fn case(cx: &Context<'_>) -> Option<TokenStream> {
    let names = cx.steps.iter().map(|step| &step.name);
    let names: Vec<&Ident> = names
        .chain(&cx.names.facts.bound)
        .filter(|name| text_of(name).contains(char::is_uppercase))
        .collect();
    (cx.error.is_none() && !names.is_empty()).then(|| {
        quote! {
            #[allow(dead_code, unused_variables)]
            const _: () = { #(const _: () = { fn name(#names: ()) {} };)* };
        }
    })
}
