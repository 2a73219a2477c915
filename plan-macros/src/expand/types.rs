//! The output types of the bodies of a step.

use super::way::ends;
use crate::ast::{Block, BlockTail, Body, Branch, Extent, Literal, Policy, Step, is_value, typed};
use crate::names::Names;
use crate::parse;
use crate::syntax::tokens::placed;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

/// The output types of a step's bodies, written with the aliases of the step's tools. The author's path to a tool
/// occurs once, so that rustc reports an unknown path once.
pub(super) struct OutputTypes<'t> {
    /// The tools of the step that are not in the types so far.
    tools: std::slice::Iter<'t, Tool<'t>>,
    names: &'t Names<'t>,
    /// The wrapper of each element of a `for`, and whether an `Option` is wrapped as well.
    each: Option<(TokenStream, bool)>,
    /// `true` if a loop returns the values of all rounds.
    collects: bool,
    /// Checks that all branches have one type.
    pub(super) checks: TokenStream,
}

impl<'t> OutputTypes<'t> {
    /// Creates the types of a step with these tools and this policy.
    pub(super) fn new(tools: &'t [Tool<'t>], policy: &Policy, names: &'t Names<'t>) -> Self {
        Self {
            tools: tools.iter(),
            names,
            collects: policy.collects(),
            each: match (policy.optional, policy.catch) {
                (_, Extent::Each) => Some((quote!(__plan::Caught), true)),
                (Extent::Each, _) => Some((quote!(::core::option::Option), false)),
                _ => None,
            },
            checks: TokenStream::new(),
        }
    }

    /// Returns the output type of a body.
    pub(super) fn of(&mut self, body: &Body) -> Option<TokenStream> {
        let names = self.names;
        match names.body(body) {
            Body::Call(_) => {
                let tool = &self.tools.next()?.alias;
                let at = tool.span();
                Some(quote_spanned!(at=> <#tool as __plan::IsTool>::Output))
            }
            Body::Broken(Some(path)) => {
                let at = ends(path).0;
                Some(quote_spanned!(at=> <#path as __plan::IsTool>::Output))
            }
            Body::Compute(_) | Body::Await(_) | Body::Broken(None) => None,
            Body::Block(block) => type_of_block(block, names),
            Body::Loop(repeat) => {
                let round = type_of_block(&repeat.round, names)?;
                Some(if self.collects {
                    quote!(__plan::Vec<#round>)
                } else {
                    round
                })
            }
            Body::If(branches) => {
                let bodies = branches.iter().filter(|branch| !is_value(branch));
                let types: Vec<_> = bodies
                    .map(|branch| (self.of(&branch.body), place(&branch.body)))
                    .collect();
                let mut types = types.into_iter();
                let first = types.next()?.0?;
                for (ty, at) in types {
                    let Some(ty) = ty else { continue };
                    let ty = placed(ty, at);
                    self.checks.extend(
                        quote_spanned!(at=> let _ = <#ty as __plan::SameTypeAs<#first>>::joins;),
                    );
                }
                let exhaustive = branches.iter().any(|branch| branch.conditions.is_empty());
                // The type of the branches is an `Option` already, so null can also mean that no branch was taken.
                let nested = typed(branches).is_some_and(Body::may_be_absent);
                Some(if exhaustive || nested {
                    first
                } else {
                    quote!(::core::option::Option<#first>)
                })
            }
            Body::For(repeat) => {
                let innermost = !matches!(repeat.body, Body::For(_));
                let element = self.of(&repeat.body)?;
                let element = match &self.each {
                    Some((each, again))
                        if innermost && (*again || !repeat.body.may_be_absent()) =>
                    {
                        quote!(#each<#element>)
                    }
                    _ => element,
                };
                Some(quote!(__plan::Vec<#element>))
            }
        }
    }
}

/// Returns the type of the values among these branches, and where it is declared: the other branches have it. `tools` are the step's
/// tools from the first tool of the branches on.
pub(super) fn of_branches(
    step: &Step,
    tools: &[Tool<'_>],
    branches: &[Branch],
    names: &Names<'_>,
) -> Option<(TokenStream, Span)> {
    if !branches.iter().any(is_value) {
        return None;
    }
    let body = typed(branches)?;
    let ty = OutputTypes::new(tools, &step.policy, names).of(body)?;
    Some((ty, place(body)))
}

/// Returns the output type of the first block in a body or its branches.
pub(super) fn of_block_in(body: &Body, names: &Names<'_>) -> Option<TokenStream> {
    match body {
        Body::Block(block) => type_of_block(block, names),
        Body::If(branches) => {
            let mut branches = branches.iter();
            branches.find_map(|it| of_block_in(&it.body, names))
        }
        _ => None,
    }
}

/// Returns the output type of a block.
pub(super) fn type_of_block(block: &Block, names: &Names<'_>) -> Option<TokenStream> {
    match (&block.tail, block.value()) {
        (BlockTail::None, _) => Some(quote!(())),
        (_, Some(step)) => Some(type_of_step(step, names).into_token_stream()),
        (_, None) => None,
    }
}

/// Returns the name of the type of a step, with the span of the written type.
pub(super) fn type_of_step(step: &Step, names: &Names<'_>) -> Ident {
    let number = names.number(step);
    format_ident!("__PlanStep{number}", span = place_of_step(step))
}

/// Returns the span of the type that a body declares.
pub(super) fn place(body: &Body) -> Span {
    match body {
        Body::Call(Literal { path, .. }) | Body::Broken(Some(path)) => ends(path).0,
        Body::If(branches) => typed(branches).map_or_else(Span::call_site, place),
        Body::For(repeat) => place(&repeat.body),
        Body::Block(block) => block.value().map_or(block.end, place_of_step),
        Body::Loop(repeat) => {
            let value = repeat.round.value();
            value.map_or(repeat.keyword, place_of_step)
        }
        Body::Await(at) => *at,
        Body::Compute(_) | Body::Broken(None) => Span::call_site(),
    }
}

/// Returns the span at which rustc reports errors about a step's type.
pub(super) fn place_of_step(step: &Step) -> Span {
    match (&step.body, &step.ty) {
        (_, Some(ty)) => ty.span(),
        (Body::Broken(None) | Body::Compute(_) | Body::Await(_), None) => step.name.span(),
        (body, None) => place(body),
    }
}

/// A tool that a step calls.
pub(super) struct Tool<'p> {
    pub(super) path: &'p Path,
    /// The path as a string.
    pub(super) text: String,
    /// The name of the type of the tool.
    pub(super) alias: Ident,
    /// The alias for the arguments in a struct literal. The author's path is used once as a literal, because rustc
    /// words an unknown path in a literal differently from one in a type.
    pub(super) arguments: Ident,
}

impl<'p> Tool<'p> {
    /// Returns the tools of a step in order, without the tools of steps in its blocks.
    pub(super) fn all_of(step: &'p Step, names: &'p Names<'p>) -> Vec<Self> {
        let (mut tools, number) = (Vec::new(), names.number(step));
        step.body.each(&mut |body| {
            if let Body::Call(Literal { path, .. }) = names.body(body) {
                let (index, at) = (tools.len(), ends(path).0);
                tools.push(Self {
                    path,
                    text: parse::tidy(path),
                    alias: Ident::new(&format!("__PlanTool{number}_{index}"), at),
                    arguments: Ident::new(&format!("__PlanArguments{number}_{index}"), at),
                });
            }
        });
        tools
    }
}
