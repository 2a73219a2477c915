//! The output types of the bodies of a step.

use super::flow::tool;
use super::value::ends;
use crate::ast::{
    Block, BlockTail, Body, Branch, Catch, Literal, Loop, Optional, Policy, Step, is_value, typed,
};
use crate::scan::tokens::placed;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// The output types of a step's bodies. They are written with the aliases of the step's tools: the author's path to a tool is
/// written once, so that rustc has one message about it.
pub(super) struct Types {
    step: usize,
    tools: usize,
    /// What each element of a `for` is wrapped in, and whether that is so of an `Option`, too.
    each: Option<(TokenStream, bool)>,
    /// Whether a loop gives the values of all rounds.
    collects: bool,
    /// Checks that all branches give the same.
    pub(super) checks: TokenStream,
}

impl Types {
    /// Those of a step with this policy.
    pub(super) fn new(step: usize, policy: &Policy) -> Self {
        Self {
            step,
            tools: 0,
            collects: policy.collect.is_some(),
            each: match (&policy.optional, policy.catch) {
                (_, Catch::Each(_)) => Some((quote!(__plan::Caught), true)),
                (Optional::Each(_), _) => Some((quote!(::core::option::Option), false)),
                _ => None,
            },
            checks: TokenStream::new(),
        }
    }

    /// The output type of a body.
    pub(super) fn of(&mut self, body: &Body) -> Option<TokenStream> {
        match body {
            Body::Call(Literal { path, .. }) => {
                let tool = tool(self.step, self.tools, path);
                self.tools += 1;
                let at = tool.span();
                Some(quote_spanned!(at=> <#tool as __plan::IsTool>::Output))
            }
            Body::Broken(Some(path)) => {
                let at = ends(path).0;
                Some(quote_spanned!(at=> <#path as __plan::IsTool>::Output))
            }
            Body::Compute(_) | Body::Await(_) | Body::Broken(None) => None,
            Body::Block(block) => type_of_block(block),
            Body::Loop(repeat) => {
                let round = type_of_round(repeat)?;
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
                    let (first, ty) = (placed(first.clone(), at), placed(ty, at));
                    self.checks.extend(
                        quote_spanned!(at=> let _ = <#ty as __plan::SameTypeAs<#first>>::joins;),
                    );
                }
                let exhaustive = branches.iter().any(|branch| branch.conditions.is_empty());
                // An `Option` already: null has either reason.
                let nested = typed(branches).is_some_and(may_be_absent);
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
                        if innermost && (*again || !may_be_absent(&repeat.body)) =>
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

/// Returns the type of the values among these branches, and where it is declared: the other branches have it. `tools` is the number of the
/// step's tools before the branches.
pub(super) fn of_branches(
    step: &Step,
    tools: usize,
    branches: &[Branch],
) -> Option<(TokenStream, Span)> {
    if !branches.iter().any(is_value) {
        return None;
    }
    let body = typed(branches)?;
    let mut types = Types {
        tools,
        ..Types::new(step.number, &step.policy)
    };
    Some((types.of(body)?, place(body)))
}

/// The output type of the first block that a body is, or that a branch of it is.
pub(super) fn of_block_in(body: &Body) -> Option<TokenStream> {
    match body {
        Body::Block(block) => type_of_block(block),
        Body::If(branches) => branches.iter().find_map(|it| of_block_in(&it.body)),
        _ => None,
    }
}

fn type_of_block(block: &Block) -> Option<TokenStream> {
    match (&block.tail, block.value()) {
        (BlockTail::None, _) => Some(quote!(())),
        (_, Some(step)) => Some(type_of_step(step).into_token_stream()),
        (_, None) => None,
    }
}

/// The type of a loop's round.
pub(super) fn type_of_round(repeat: &Loop) -> Option<TokenStream> {
    type_of_block(&repeat.round)
}

/// The name of the type of a step. Its span is where the type is written.
pub(super) fn type_of_step(step: &Step) -> Ident {
    format_ident!("__PlanStep{}", step.number, span = super::step::place(step))
}

/// Whether the output type of a body is an `Option` because no branch may be taken. Another reason for an `Option` does not wrap it
/// again: null has either reason.
pub(super) fn may_be_absent(body: &Body) -> bool {
    let branches = match body {
        Body::If(branches) => branches,
        Body::Block(block) => {
            let value = block.value();
            return value.is_some_and(|step| {
                let is_optional = matches!(step.policy.optional, Optional::Whole);
                is_optional && step.policy.fallback.is_none() || may_be_absent(&step.body)
            });
        }
        _ => return false,
    };
    !branches
        .last()
        .is_some_and(|last| last.conditions.is_empty())
        || typed(branches).is_some_and(may_be_absent)
}

/// Whether what a body gives, or an element of that, is an `Option` because no branch may be taken.
pub(super) fn has_absent(body: &Body) -> bool {
    match body {
        Body::For(repeat) => has_absent(&repeat.body),
        body => may_be_absent(body),
    }
}

/// Where a body declares its type.
pub(super) fn place(body: &Body) -> Span {
    match body {
        Body::Call(Literal { path, .. }) | Body::Broken(Some(path)) => ends(path).0,
        Body::If(branches) => typed(branches).map_or_else(Span::call_site, place),
        Body::For(repeat) => place(&repeat.body),
        Body::Block(block) => block.value().map_or(block.end, super::step::place),
        Body::Loop(repeat) => {
            let value = repeat.round.value();
            value.map_or(repeat.keyword, super::step::place)
        }
        Body::Await(at) => *at,
        Body::Compute(_) | Body::Broken(None) => Span::call_site(),
    }
}
