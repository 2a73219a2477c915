//! The action of a step as an expression, and its output type.

use super::attribute::{self, IdePolicy, Wrap};
use super::{IdeExpansion, before};
use crate::docs::text_of;
use crate::syntax::tokens::{Tokens, enclosed, placed};
use crate::syntax::{
    self, BranchTokens, FlowTokens, LoopTokens, Statement, StatementKind, StepTokens,
};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use std::collections::BTreeSet;

/// The output of the work of a step.
struct Output {
    ty: TokenStream,
    /// `true` if the output is an `Option` because the work may be skipped.
    may_be_absent: bool,
}

impl Output {
    fn of(ty: TokenStream) -> Self {
        Self {
            ty,
            may_be_absent: false,
        }
    }
}

/// The last expression of a block.
enum BlockEnd {
    /// A call, an `if` or a `for`.
    Work(FlowTokens),
    /// The name of this step.
    Step(Statement),
}

fn tail(group: &Group) -> Option<BlockEnd> {
    let mut statements = syntax::block(group.stream());
    let last = statements.pop()?;
    let StatementKind::Other(tokens) = last.kind else {
        return None;
    };
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Ident(name)), None) if syntax::is_source_name(&name) => {
            let is_named = |step: &Ident| text_of(step) == text_of(&name);
            let mut steps = statements.into_iter().rev();
            let step = steps.find(|statement| statement.name().is_some_and(is_named));
            step.map(BlockEnd::Step)
        }
        _ => Some(BlockEnd::Work(FlowTokens::new(tokens))),
    }
}

/// Finds the names of the steps in blocks.
pub(super) fn names_in_blocks(tokens: &TokenStream, names: &mut BTreeSet<String>) {
    for tree in tokens.clone() {
        let TokenTree::Group(group) = tree else {
            continue;
        };
        if group.delimiter() == Delimiter::Brace && syntax::has_steps(&group) {
            let steps = syntax::block(group.stream());
            names.extend(steps.iter().filter_map(Statement::name).map(text_of));
        }
        names_in_blocks(&group.stream(), names);
    }
}

/// Returns `true` if the last branch is an `else`.
fn is_exhaustive(branches: &[BranchTokens]) -> bool {
    branches.last().is_some_and(|last| last.condition.is_none())
}

/// Returns the work of the first branch.
fn first(branches: &[BranchTokens]) -> FlowTokens {
    FlowTokens::within(branches.first().and_then(|branch| branch.block.as_ref()))
}

/// Returns the wrapper of each element of a list that a `for` makes.
fn around_each(element: &FlowTokens, output: &Output, policy: IdePolicy) -> Wrap {
    match element {
        FlowTokens::For(_) => Wrap::Nothing,
        _ => policy.each.around(output.may_be_absent),
    }
}

impl IdeExpansion {
    /// Returns the work of a step without a type, as an expression.
    pub(super) fn body(&self, tokens: TokenStream, policy: IdePolicy) -> TokenStream {
        let flow = FlowTokens::new(tokens);
        let body = self.expression(&flow, policy, Span::call_site());
        let may_be_absent = self.output_of(&flow, policy).may_be_absent;
        policy.whole.around(may_be_absent).value(&self.editor, body)
    }

    fn call(&self, tokens: TokenStream, at: Span) -> TokenStream {
        let editor = &self.editor;
        let call = enclosed(Delimiter::Parenthesis, self.value(tokens), at);
        let given = enclosed(Delimiter::Parenthesis, call, at);
        let function = placed(quote!(#editor::call), at);
        quote!(#function #given)
    }

    /// All tokens around a call have one span, and none of them has the span of a token. If the branches of an `if`
    /// differ, an editor underlines the whole block.
    fn expression(&self, flow: &FlowTokens, policy: IdePolicy, at: Span) -> TokenStream {
        let editor = &self.editor;
        match flow {
            FlowTokens::If(branches, _) => {
                let first = self.output_of(&first(branches), policy);
                let (exhaustive, absent) = (is_exhaustive(branches), first.may_be_absent);
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
                let output = self.output_of(&flow, policy);
                let body = around_each(&flow, &output, policy).value(editor, body);
                quote!(#list.each(|#pattern| #body))
            }
            FlowTokens::Loop(repeat) => self.rounds(repeat, None, policy),
            FlowTokens::Block(group, after) if syntax::has_steps(group) => {
                let (body, last) = self.block(group, policy, at);
                let block = enclosed(Delimiter::Brace, quote!(#body #last), group.span());
                quote!(#block #after)
            }
            FlowTokens::Block(group, after) => self.call(quote!(#group #after), at),
            FlowTokens::Call(call) => self.call(call.clone(), at),
        }
    }

    /// Returns the steps of a block, and its value.
    fn block(&self, group: &Group, policy: IdePolicy, at: Span) -> (TokenStream, TokenStream) {
        let (body, last) = if syntax::has_steps(group) {
            self.statements(&syntax::block(group.stream()))
        } else {
            (TokenStream::new(), group.stream())
        };
        let mut trees = last.clone().into_iter();
        let is_name = matches!(trees.next(), Some(TokenTree::Ident(_)));
        let last = if is_name && trees.next().is_none() || last.is_empty() {
            last
        } else {
            self.expression(&FlowTokens::new(last), policy, at)
        };
        let last = self.gap(&last);
        (body, last)
    }

    /// Writes the rounds of a loop as a closure. In the loop's condition, the step's name refers to the value of a
    /// round.
    pub(super) fn rounds(
        &self,
        repeat: &LoopTokens,
        name: Option<&Ident>,
        policy: IdePolicy,
    ) -> TokenStream {
        let editor = &self.editor;
        let LoopTokens {
            last,
            extra,
            block,
            condition,
            ..
        } = repeat;
        let (body, value) = match block {
            Some(group) => self.block(group, IdePolicy::default(), group.span()),
            None => (TokenStream::new(), quote!(())),
        };
        let condition = self.value(condition.clone());
        let parameter = match last {
            Some((_, last)) if !last.is_empty() => last.clone(),
            _ => quote!(_),
        };
        let closure = match name {
            Some(name) if !policy.collects => {
                quote!(|#parameter| { #body let #name = #value; let _ = #condition; #name })
            }
            _ => quote!(|#parameter| { #body let __value = #value; let _ = #condition; __value }),
        };
        let rounds = quote!(#editor::rounds(#closure));
        let rounds = if policy.collects {
            quote!(#editor::all_rounds(#rounds))
        } else {
            rounds
        };
        quote!({ #extra #rounds })
    }

    /// Returns `true` for a step that may be skipped.
    pub(super) fn may_be_absent(&self, step: &StepTokens) -> bool {
        let flow = FlowTokens::new(step.value.clone());
        step.ty.is_none() && self.output_of(&flow, IdePolicy::default()).may_be_absent
    }

    /// Returns the output of a step without a type.
    fn output(&self, tokens: TokenStream, policy: IdePolicy) -> Output {
        let Output { ty, may_be_absent } = self.output_of(&FlowTokens::new(tokens), policy);
        Output {
            ty: policy.whole.around(may_be_absent).ty(&self.editor, ty),
            may_be_absent: may_be_absent || policy.whole == Wrap::Option,
        }
    }

    /// Returns the type of the output of a step.
    pub(super) fn type_of_step(&self, step: &StepTokens, statement: &Statement) -> TokenStream {
        let policy = attribute::policy(statement);
        match &step.ty {
            Some((_, ty)) => policy.whole.ty(&self.editor, ty.clone()),
            None => self.output(step.value.clone(), policy).ty,
        }
    }

    fn output_of(&self, flow: &FlowTokens, policy: IdePolicy) -> Output {
        let krate = &self.krate;
        match flow {
            FlowTokens::If(branches, _) => {
                let Output { ty, may_be_absent } = self.output_of(&first(branches), policy);
                if is_exhaustive(branches) || may_be_absent {
                    return Output { ty, may_be_absent };
                }
                Output {
                    ty: quote!(::core::option::Option<#ty>),
                    may_be_absent: true,
                }
            }
            FlowTokens::For(repeat) => {
                let flow = FlowTokens::within(repeat.block.as_ref());
                let output = self.output_of(&flow, policy);
                let ty = around_each(&flow, &output, policy).ty(&self.editor, output.ty);
                Output::of(quote!(::std::vec::Vec<#ty>))
            }
            FlowTokens::Loop(repeat) => {
                let round = repeat.block.clone().map(|block| {
                    let block = FlowTokens::Block(block, TokenStream::new());
                    self.output_of(&block, IdePolicy::default()).ty
                });
                let round = round.unwrap_or_else(|| quote!(()));
                Output::of(if policy.collects {
                    quote!(::std::vec::Vec<#round>)
                } else {
                    round
                })
            }
            FlowTokens::Block(group, _) => match tail(group) {
                Some(BlockEnd::Work(work)) => self.output_of(&work, policy),
                Some(BlockEnd::Step(statement)) => self.output_of_step(&statement),
                None => Output::of(quote!(())),
            },
            FlowTokens::Call(call) => {
                let mut tokens = Tokens::new(call.clone());
                let path = tokens.take_until(|tokens| tokens.is_braces(0));
                Output::of(quote!(<#path as #krate::Tool>::Output))
            }
        }
    }

    fn output_of_step(&self, statement: &Statement) -> Output {
        let policy = attribute::policy(statement);
        match statement.step() {
            Some(StepTokens {
                ty: Some((_, ty)), ..
            }) => Output {
                ty: ty.clone(),
                may_be_absent: policy.whole == Wrap::Option,
            },
            Some(step) => self.output(step.value.clone(), policy),
            None => Output::of(quote!(())),
        }
    }
}
