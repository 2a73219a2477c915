//! What starts the actions of a plan, and what they ask of an application.

use super::value::ends;
use super::{Context, flow, policy, reference};
use crate::ast::Body;
use crate::json;
use crate::names::Source;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::{BTreeSet, HashMap, HashSet};

/// How each action is started, by its number in the plan.
pub(super) fn steps(ty: &TokenStream, cx: &Context<'_>) -> TokenStream {
    let kept = kept(cx);
    // One arm for all that start in the same way, which most steps of a long plan do.
    let mut arms: Vec<(Vec<usize>, TokenStream)> = Vec::new();
    let mut known = HashMap::new();
    let mut call_index = 0;
    for (index, step) in cx.plan.steps.iter().enumerate() {
        // The Rust value of an action is that of the step only if nothing is around the action.
        let keep = kept.contains(&Source::Step(index))
            && !matches!(step.body, Body::If(_) | Body::For(_))
            && policy::is_plain(step);
        let mut tools = cx.tools[index].iter().enumerate();
        for path in flow::actions(&step.body) {
            if let Some((path, (number, tool))) = path.and_then(|path| Some((path, tools.next()?)))
            {
                let arm = *known.entry((tool, keep)).or_insert_with(|| {
                    let arguments = flow::arguments(index, number, path);
                    let start = quote!(<__App as __plan::HasTool<#arguments, _>>::start(__app, __request, #keep));
                    arms.push((Vec::new(), start));
                    arms.len() - 1
                });
                arms[arm].0.push(call_index);
            } else if let (Some(ty), Body::Compute(_)) = (&step.ty, &step.body) {
                let (_, ty) = json::checked_alias(ty, &cx.type_of(Source::Step(index)));
                arms.push((vec![call_index], quote!(__request.compute::<#ty>(#keep))));
            }
            call_index += 1;
        }
    }
    let starts = arms
        .iter()
        .map(|(call_indices, start)| quote!(#(#call_indices)|* => #start,));
    let bounds = bounds(cx);
    quote! {
        #[doc(hidden)]
        impl<__App> __plan::RunsOn<__App> for #ty
        where
            __App: ?::core::marker::Sized + ::core::marker::Sync,
            #(#bounds,)*
        {
            fn start<'__app>(__call_index: ::core::primitive::usize, __request: __plan::Request<'_>, __app: &'__app __App) -> __plan::Started<'__app> {
                match __call_index {
                    #(#starts)*
                    _ => __request.unknown(),
                }
            }
        }
    }
}

/// What the plan asks of an application: each of its tools, beside the first if there are several. A bound names its tool by the alias
/// of the tool's type, so that rustc has one thing to say of a path that leads nowhere.
pub(super) fn bounds(cx: &Context<'_>) -> Vec<TokenStream> {
    let mut seen = HashSet::new();
    let mut tools = Vec::new();
    for (index, step) in cx.plan.steps.iter().enumerate() {
        let paths = flow::actions(&step.body).into_iter().flatten();
        for (number, (path, text)) in paths.zip(&cx.tools[index]).enumerate() {
            if seen.insert(text) {
                tools.push((ends(path), flow::arguments(index, number, path)));
            }
        }
    }
    let first = tools.first().filter(|_| tools.len() > 1);
    let first = first.map(|(_, arguments)| quote!(, #arguments));
    let bound = |((start, end), arguments): &((Span, Span), Ident)| {
        let calls = reference::path(&["HasTool"], *start, *end);
        quote_spanned!(*end=> __App: #calls<#arguments #first>)
    };
    tools.iter().map(bound).collect()
}

/// What computed values mention: its Rust value is kept beside the JSON.
pub(super) fn kept(cx: &Context<'_>) -> BTreeSet<Source> {
    let mentions = cx.plan.mentions().filter(|mention| mention.computed);
    mentions
        .filter_map(|mention| cx.names.get(&mention.name))
        .collect()
}
