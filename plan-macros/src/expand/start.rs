//! The code that starts the actions of a plan, and its bounds on an application.

use super::table::Action;
use super::types::Tool;
use super::way::ends;
use super::{Context, way};
use crate::ast::Body;
use crate::lossless;
use crate::names::{Mention, Source};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Returns the code that starts each action by its number in the plan, and `begin`, the code that begins the plan as a step of another plan.
pub(super) fn steps(
    ty: &TokenStream,
    begin: &TokenStream,
    actions: &[Action],
    cx: &Context<'_>,
) -> TokenStream {
    let handed = handed(cx);
    // Steps that start in one form share an arm, as most steps of a long plan do.
    let mut arms: Vec<(Vec<usize>, TokenStream)> = Vec::new();
    let mut known = HashMap::new();
    for (call_index, action) in actions.iter().enumerate() {
        match action {
            Action::Call(step, tool) => {
                let Tool {
                    text, arguments, ..
                } = &cx.tools[*step][*tool];
                let arm = *known.entry(text).or_insert_with(|| {
                    let start =
                        quote!(<__App as __plan::HasTool<#arguments, _>>::start(__app, __request));
                    arms.push((Vec::new(), start));
                    arms.len() - 1
                });
                arms[arm].0.push(call_index);
            }
            Action::Compute(step, ty) => {
                let hand_over = if handed.contains(&Source::Step(*step)) {
                    lossless::hand_over(ty, &quote!(__plan))
                } else {
                    quote!(::core::option::Option::None)
                };
                let start = quote!(__request.compute::<#ty>(#hand_over));
                arms.push((vec![call_index], start));
            }
            Action::Other => {}
        }
    }
    let starts = arms
        .iter()
        .map(|(call_indices, start)| quote!(#(#call_indices)|* => #start,));
    let bounds = bounds(cx);
    let lacks = first(cx).map(|tool| {
        quote! {
            fn lacks(__app: &__App, __plan: &__plan::Plan) -> __plan::Vec<__plan::String> {
                <__App as __plan::HasTool<#tool, __PlanFirst>>::lacks(__app, __plan)
            }
        }
    });
    quote! {
        #[doc(hidden)]
        impl<__App> __plan::RunsOn<__App> for #ty
        where
            __App: ?::core::marker::Sized,
            #(#bounds,)*
        {
            #lacks
            fn start<'__app>(__call_index: ::core::primitive::usize, __request: __plan::Request<'_>, __app: &'__app __App) -> __plan::Started<'__app> {
                match __call_index {
                    #(#starts)*
                    _ => __request.unknown(),
                }
            }
            #begin
        }
    }
}

/// Returns a bound for each tool that an application must have. The bound of the first tool is checked before the
/// others. A bound names its tool by the alias of the tool's type, so that rustc reports an unknown path once.
pub(super) fn bounds(cx: &Context<'_>) -> Vec<TokenStream> {
    let bound = |tool: &Tool<'_>| {
        let (start, end) = ends(tool.path);
        let (calls, arguments) = (way::path(&["HasTool"], start, end), &tool.arguments);
        quote_spanned!(end=> __App: #calls<#arguments, __PlanFirst>)
    };
    tools(cx).into_iter().map(bound).collect()
}

/// Returns the alias of the first tool.
pub(super) fn first<'c>(cx: &'c Context<'_>) -> Option<&'c Ident> {
    cx.tools.iter().flatten().next().map(|tool| &tool.arguments)
}

/// Returns the type by which rustc checks the first tool of an application before the others. With a single tool, rustc
/// reports all details.
pub(super) fn first_type(cx: &Context<'_>) -> Option<TokenStream> {
    let tools = tools(cx);
    let tool = &tools.first()?.arguments;
    let one = match tools.len() {
        1 => quote!(false),
        _ => quote!({ __plan::Kind::<#tool>::ONE_APPLICATION }),
    };
    Some(quote!(type __PlanFirst = __plan::First<#tool, #one>;))
}

/// Returns each tool once.
fn tools<'c>(cx: &'c Context<'_>) -> Vec<&'c Tool<'c>> {
    let mut seen = HashSet::new();
    let tools = cx.tools.iter().flatten();
    tools.filter(|tool| seen.insert(&tool.text)).collect()
}

/// Returns the sources whose values may be passed on as Rust values, because a step uses the whole value.
pub(super) fn handed(cx: &Context<'_>) -> BTreeSet<Source> {
    let mut handed = BTreeSet::new();
    let mut keep = |mentions: &[Mention], scope: usize| {
        let own = mentions
            .iter()
            .filter(|mention| mention.whole && cx.names.scope_of(mention.source) == scope);
        handed.extend(own.map(|mention| mention.source));
    };
    for step in cx.steps {
        keep(
            cx.names.mentions(step),
            cx.names.scope_of(cx.names.source(step)),
        );
        if let Body::Loop(repeat) = &step.body {
            let round = &repeat.round;
            keep(cx.names.mentions_after(round), cx.names.scope(round));
        }
    }
    keep(&cx.names.facts.output, 0);
    handed
}
