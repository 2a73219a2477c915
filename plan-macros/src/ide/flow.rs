//! What a step does, as an expression, and its output type.

use super::fit::enclosed;
use super::{IdeExpansion, before};
use crate::scan::tokens::{Tokens, placed};
use crate::scan::{BranchTokens, FlowTokens, StepTokens};
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
    /// The step's own.
    pub(super) whole: Wrap,
    /// That of each element of a `for`.
    pub(super) each: Wrap,
}

/// What is around an output.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Wrap {
    #[default]
    Nothing,
    /// `#[optional]`
    Option,
    /// `#[catch]`
    Result,
}

impl Wrap {
    /// What is left of it around an output that may be `None` already.
    fn around(self, may_be_absent: bool) -> Self {
        match self {
            Self::Option if may_be_absent => Self::Nothing,
            wrap => wrap,
        }
    }

    fn value(self, editor: &TokenStream, value: TokenStream) -> TokenStream {
        match self {
            Self::Nothing => value,
            Self::Option => quote!(#editor::optional(#value)),
            Self::Result => quote!(#editor::caught(#value)),
        }
    }

    /// The type of the output.
    pub(super) fn ty(self, editor: &TokenStream, ty: TokenStream) -> TokenStream {
        match self {
            Self::Nothing => ty,
            Self::Option => quote!(::core::option::Option<#ty>),
            Self::Result => quote!(::core::result::Result<#ty, #editor::Failure>),
        }
    }
}

impl IdePolicy {
    /// What is around each element of a list that this makes.
    fn around(self, element: &FlowTokens) -> Wrap {
        if element.is_loop() {
            Wrap::Nothing
        } else {
            self.each.around(element.may_be_absent())
        }
    }
}

impl IdeExpansion {
    /// What a step without a type does, as an expression.
    pub(super) fn body(&self, tokens: TokenStream, policy: IdePolicy) -> TokenStream {
        let editor = &self.editor;
        let flow = FlowTokens::new(tokens);
        let body = self.expression(&flow, policy, Span::call_site());
        let wrap = policy.whole.around(flow.may_be_absent());
        wrap.value(editor, body)
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
                let body = policy.around(&flow).value(editor, body);
                quote!(#list.each(|#pattern| #body))
            }
            FlowTokens::Call(call) => {
                let call = enclosed(Delimiter::Parenthesis, self.value(call.clone()), at);
                let given = enclosed(Delimiter::Parenthesis, call, at);
                let function = placed(quote!(#editor::call), at);
                quote!(#function #given)
            }
        }
    }

    /// Whether a step may be skipped.
    pub(super) fn may_be_absent(&self, step: &StepTokens) -> bool {
        step.ty.is_none() && FlowTokens::new(step.value.clone()).may_be_absent()
    }

    /// The output type of a step.
    pub(super) fn output(&self, tokens: TokenStream, policy: IdePolicy) -> TokenStream {
        let flow = FlowTokens::new(tokens);
        let ty = self.type_of(&flow, policy);
        let wrap = policy.whole.around(flow.may_be_absent());
        wrap.ty(&self.editor, ty)
    }

    fn type_of(&self, flow: &FlowTokens, policy: IdePolicy) -> TokenStream {
        let krate = &self.krate;
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
                let ty = policy.around(&flow).ty(&self.editor, ty);
                quote!(::std::vec::Vec<#ty>)
            }
            FlowTokens::Call(call) => {
                let mut tokens = Tokens::new(call.clone());
                let path = tokens.take_until(|tokens| tokens.is_braces(0));
                quote!(<#path as #krate::Tool>::Output)
            }
        }
    }
}
