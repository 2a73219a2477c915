//! What starts the actions of a plan, and what they ask of an application.

use super::value::ends;
use super::{Context, flow, step, way};
use crate::ast::{Body, Mention, Step};
use crate::lossless;
use crate::names::Source;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::{BTreeSet, HashMap, HashSet};

/// How each action is started, by its number in the plan, and how the plan begins, if it can be a step of another one.
pub(super) fn steps(ty: &TokenStream, begin: &TokenStream, cx: &Context<'_>) -> TokenStream {
    let handed = handed(cx);
    // One arm for all that start in the same way, which most steps of a long plan do.
    let mut arms: Vec<(Vec<usize>, TokenStream)> = Vec::new();
    let mut known = HashMap::new();
    let mut call_index = 0;
    let mut start = |leaf: Leaf<'_>| {
        let Leaf { step: of, path } = leaf;
        let index = of.number;
        if let Some((path, number)) = path {
            let tool = &cx.tools[index][number];
            let arm = *known.entry(tool).or_insert_with(|| {
                let arguments = flow::arguments(index, number, path);
                let start =
                    quote!(<__App as __plan::HasTool<#arguments, _>>::start(__app, __request));
                arms.push((Vec::new(), start));
                arms.len() - 1
            });
            arms[arm].0.push(call_index);
        } else if let (Some(ty), Body::Compute(_)) = (step::declared(of, cx), &of.body) {
            let hand_over = if handed.contains(&Source::Step(index)) {
                lossless::hand_over(&ty, &quote!(__plan))
            } else {
                quote!(::core::option::Option::None)
            };
            let start = quote!(__request.compute::<#ty>(#hand_over));
            arms.push((vec![call_index], start));
        }
        call_index += 1;
    };
    leaves(&cx.plan.steps, &mut start);
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

/// What has a number in a plan: an action, or a block.
struct Leaf<'a> {
    step: &'a Step,
    /// The tool that is called, and which of the step's tools it is.
    path: Option<(&'a syn::Path, usize)>,
}

/// Hands over the actions and blocks, in the order of their numbers: a block comes before what is in it.
fn leaves<'a>(steps: &'a [Step], f: &mut impl FnMut(Leaf<'a>)) {
    for step in steps {
        leaves_in(&step.body, step, &mut 0, f);
    }
}

fn leaves_in<'a>(body: &'a Body, step: &'a Step, tools: &mut usize, f: &mut impl FnMut(Leaf<'a>)) {
    match body {
        Body::Call(literal) => {
            let path = Some((&literal.path, *tools));
            *tools += 1;
            f(Leaf { step, path });
        }
        Body::Compute(_) | Body::Broken(_) => f(Leaf { step, path: None }),
        Body::Await(_) => {}
        Body::If(branches) => branches
            .iter()
            .for_each(|branch| leaves_in(&branch.body, step, tools, f)),
        Body::For(repeat) => leaves_in(&repeat.body, step, tools, f),
        Body::Block(block) => {
            f(Leaf { step, path: None });
            leaves(&block.steps, f);
        }
        Body::Loop(repeat) => {
            f(Leaf { step, path: None });
            leaves(&repeat.round.steps, f);
        }
    }
}

/// What the plan asks of an application: each of its tools, beside the first, which is asked about before the others. A bound names its tool by the
/// alias of the tool's type, so that rustc has one thing to say of a path that leads nowhere.
pub(super) fn bounds(cx: &Context<'_>) -> Vec<TokenStream> {
    let bound = |((start, end), arguments): ((Span, Span), Ident)| {
        let calls = way::path(&["HasTool"], start, end);
        quote_spanned!(end=> __App: #calls<#arguments, __PlanFirst>)
    };
    tools(cx).into_iter().map(bound).collect()
}

/// The alias of the first tool.
pub(super) fn first(cx: &Context<'_>) -> Option<Ident> {
    tools(cx).into_iter().next().map(|(_, tool)| tool)
}

/// The type by which an application is asked about the first tool before all others. Of one tool alone, rustc says all that it knows.
pub(super) fn first_type(cx: &Context<'_>) -> Option<TokenStream> {
    let tools = tools(cx);
    let (_, tool) = tools.first()?;
    let one = match tools.len() {
        1 => quote!(false),
        _ => quote!({ __plan::Kind::<#tool>::ONE_APPLICATION }),
    };
    Some(quote!(type __PlanFirst = __plan::First<#tool, #one>;))
}

/// The tools, each once: where it is named, and its alias.
fn tools(cx: &Context<'_>) -> Vec<((Span, Span), Ident)> {
    let mut seen = HashSet::new();
    let mut tools = Vec::new();
    for (index, step) in cx.steps.iter().enumerate() {
        let paths = flow::actions(&step.body).into_iter().flatten();
        for (number, (path, text)) in paths.zip(&cx.tools[index]).enumerate() {
            if seen.insert(text) {
                tools.push((ends(path), flow::arguments(index, number, path)));
            }
        }
    }
    tools
}

/// What may be handed over, since all of its value is used.
pub(super) fn handed(cx: &Context<'_>) -> BTreeSet<Source> {
    let mut handed = BTreeSet::new();
    let mut keep = |mentions: &[Mention], scope: usize| {
        let own = mentions
            .iter()
            .filter(|mention| mention.whole && cx.names.scope_of(mention.source) == scope);
        handed.extend(own.map(|mention| mention.source));
    };
    for step in &cx.steps {
        keep(&step.mentions, cx.names.scope_of(Source::Step(step.number)));
        if let Body::Loop(repeat) = &step.body {
            keep(&repeat.mentions, repeat.round.scope);
        }
    }
    if let Some(tail) = &cx.plan.tail {
        keep(&tail.mentions, 0);
    }
    handed
}
