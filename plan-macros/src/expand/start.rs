//! What starts the actions of a plan, and what they ask of an application.

use super::value::ends;
use super::{Context, flow, reference, step, types};
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
        let Leaf { step: of, path, ty } = leaf;
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
        } else if let Some(ty) = ty {
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
    leaves(&cx.plan.steps, cx, &mut start);
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
    /// The type of the value that is computed.
    ty: Option<TokenStream>,
}

/// Hands over the actions and blocks, in the order of their numbers: a block comes before what is in it.
fn leaves<'a>(steps: &'a [Step], cx: &Context<'_>, f: &mut impl FnMut(Leaf<'a>)) {
    for step in steps {
        let mut within = Leaves { step, tools: 0, cx };
        within.visit(&step.body, step::declared(step, cx), f);
    }
}

/// The actions and blocks of a step.
struct Leaves<'a, 'c> {
    step: &'a Step,
    /// The number of the tools that were handed over.
    tools: usize,
    cx: &'c Context<'c>,
}

impl<'a> Leaves<'a, '_> {
    /// Hands over those of a body. A value has the type `ty`.
    fn visit(&mut self, body: &'a Body, ty: Option<TokenStream>, f: &mut impl FnMut(Leaf<'a>)) {
        let step = self.step;
        let leaf = |path, ty| Leaf { step, path, ty };
        match body {
            Body::Call(literal) => {
                f(leaf(Some((&literal.path, self.tools)), None));
                self.tools += 1;
            }
            Body::Compute(_) => f(leaf(None, ty)),
            Body::Broken(_) => f(leaf(None, None)),
            Body::Await(_) => {}
            Body::If(branches) => {
                let ty = types::of_branches(step, self.tools, branches).map(|(ty, _)| ty);
                for branch in branches {
                    self.visit(&branch.body, ty.clone(), f);
                }
            }
            Body::For(repeat) => self.visit(&repeat.body, None, f),
            Body::Block(block) => {
                f(leaf(None, None));
                leaves(&block.steps, self.cx, f);
            }
            Body::Loop(repeat) => {
                f(leaf(None, None));
                leaves(&repeat.round.steps, self.cx, f);
            }
        }
    }
}

/// What the plan asks of an application: each of its tools, beside the first, which is asked about before the others. A bound names its tool by the
/// alias of the tool's type, so that rustc has one thing to say of a path that leads nowhere.
pub(super) fn bounds(cx: &Context<'_>) -> Vec<TokenStream> {
    let bound = |((start, end), arguments): ((Span, Span), Ident)| {
        let calls = reference::path(&["HasTool"], start, end);
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
