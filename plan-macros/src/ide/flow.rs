//! What a step does, as an expression, and its output type.

use super::fit::enclosed;
use super::{IdeExpansion, before};
use crate::scan::tokens::{Tokens, placed};
use crate::scan::{BranchTokens, FlowTokens};
use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::quote;

impl FlowTokens {
    /// Whether its output is an `Option` because it may be skipped.
    fn may_be_absent(&self) -> bool {
        match self {
            Self::If(branches, _) => !is_exhaustive(branches) || first(branches).may_be_absent(),
            Self::For(_) | Self::Call(_) => false,
        }
    }

    fn is_loop(&self) -> bool {
        matches!(self, Self::For(_))
    }
}

/// Whether the last branch is an `else`.
fn is_exhaustive(branches: &[BranchTokens]) -> bool {
    branches.last().is_some_and(|last| last.condition.is_none())
}

/// What the first branch does.
fn first(branches: &[BranchTokens]) -> FlowTokens {
    FlowTokens::within(branches.first().and_then(|branch| branch.block.as_ref()))
}

/// How the output of a step is another than that of its calls.
#[derive(Clone, Copy, Default)]
pub(super) struct IdePolicy {
    /// `#[optional]`
    pub(super) optional: bool,
    /// `#[optional(each)]`
    pub(super) each: bool,
}

impl IdeExpansion {
    /// What a step without a type does, as an expression.
    pub(super) fn body(&self, tokens: TokenStream, policy: IdePolicy) -> TokenStream {
        let editor = &self.editor;
        let flow = FlowTokens::new(tokens);
        let body = self.expression(&flow, policy, Span::call_site());
        if policy.optional && !flow.may_be_absent() {
            quote!(#editor::optional(#body))
        } else {
            body
        }
    }

    /// All that is around a call is at one place, and none of it has the span of a token. Where the branches of an `if` differ, an editor
    /// underlines the block, which is all in the plan then.
    fn expression(&self, flow: &FlowTokens, policy: IdePolicy, at: Span) -> TokenStream {
        let editor = &self.editor;
        match flow {
            FlowTokens::If(branches, _) => {
                let (exhaustive, absent) =
                    (is_exhaustive(branches), first(branches).may_be_absent());
                let branches = branches.iter().map(|branch| {
                    let (keywords, condition) = (&branch.keywords, &branch.condition);
                    let block = branch.block.as_ref();
                    let at = block.map_or_else(Span::call_site, |block| before(block.span_open()));
                    let body = self.expression(&FlowTokens::within(block), policy, at);
                    let at = block.map_or(at, Group::span);
                    let block = enclosed(Delimiter::Brace, body, at);
                    quote!(#(#keywords)* #condition #block)
                });
                match (exhaustive, absent) {
                    (true, _) => quote!(#(#branches)*),
                    (false, true) => quote!({ #(#branches)* else { #editor::any() } }),
                    (false, false) => {
                        quote!(#editor::optional(#(#branches)* else { #editor::any() }))
                    }
                }
            }
            FlowTokens::For(repeat) => {
                let (pattern, list) = (&repeat.pattern, self.value(repeat.list.clone()));
                let list = quote!(#editor::elements(&(#list)).owned());
                let flow = FlowTokens::within(repeat.block.as_ref());
                let body = self.expression(&flow, policy, Span::call_site());
                if policy.each && !flow.is_loop() && !flow.may_be_absent() {
                    quote!(#list.each(|#pattern| #editor::optional(#body)))
                } else {
                    quote!(#list.each(|#pattern| #body))
                }
            }
            FlowTokens::Call(call) => {
                let call = enclosed(Delimiter::Parenthesis, self.value(call.clone()), at);
                let given = enclosed(Delimiter::Parenthesis, call, at);
                let function = placed(quote!(#editor::call), at);
                quote!(#function #given)
            }
        }
    }

    /// The output type of a step.
    pub(super) fn output(&self, tokens: TokenStream, policy: IdePolicy) -> TokenStream {
        let flow = FlowTokens::new(tokens);
        let ty = self.type_of(&flow, policy);
        if policy.optional && !flow.may_be_absent() {
            quote!(::core::option::Option<#ty>)
        } else {
            ty
        }
    }

    fn type_of(&self, flow: &FlowTokens, policy: IdePolicy) -> TokenStream {
        let editor = &self.editor;
        match flow {
            FlowTokens::If(branches, _) => {
                let first = first(branches);
                let ty = self.type_of(&first, policy);
                if is_exhaustive(branches) || first.may_be_absent() {
                    ty
                } else {
                    quote!(::core::option::Option<#ty>)
                }
            }
            FlowTokens::For(repeat) => {
                let flow = FlowTokens::within(repeat.block.as_ref());
                let ty = self.type_of(&flow, policy);
                if policy.each && !flow.is_loop() && !flow.may_be_absent() {
                    quote!(::std::vec::Vec<::core::option::Option<#ty>>)
                } else {
                    quote!(::std::vec::Vec<#ty>)
                }
            }
            FlowTokens::Call(call) => {
                let mut tokens = Tokens::new(call.clone());
                let path = tokens.take_until(|tokens| tokens.is_braces(0));
                quote!(<#path as #editor::Tool>::Output)
            }
        }
    }
}
