//! What a step does, as an expression, and its output type.

use super::IdeExpansion;
use crate::scan::tokens::Tokens;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

/// What a step does.
enum IdeFlow {
    /// `if … { … } else { … }`: keywords and conditions, each with the braces after it.
    If {
        branches: Vec<(TokenStream, Option<TokenTree>)>,
        /// Whether the last of them is an `else`.
        exhaustive: bool,
    },
    For {
        pattern: TokenStream,
        list: TokenStream,
        body: Option<TokenTree>,
    },
    Call(TokenStream),
}

impl IdeFlow {
    fn new(tokens: TokenStream) -> Self {
        let mut queue = Tokens::new(tokens.clone());
        let keyword = queue.peek_ident(0).map(ToString::to_string);
        match keyword.as_deref() {
            Some("if") => Self::conditional(&mut queue),
            Some("for") => Self::repeated(&mut queue),
            _ => Self::Call(tokens),
        }
    }

    fn conditional(tokens: &mut Tokens) -> Self {
        let mut branches = Vec::new();
        let mut header = TokenStream::new();
        loop {
            header.extend(tokens.take_until(|tokens| {
                let ends = tokens.peek(1).is_none() || tokens.is_ident(1, "else");
                ends && tokens.peek_group(0, Delimiter::Brace).is_some()
            }));
            branches.push((std::mem::take(&mut header), tokens.next()));
            // `else`
            header.extend(tokens.next());
            let goes_on = tokens.is_ident(0, "if");
            if header.is_empty() || !goes_on {
                let exhaustive = !header.is_empty();
                if exhaustive {
                    branches.push((header, tokens.next()));
                }
                return Self::If {
                    branches,
                    exhaustive,
                };
            }
        }
    }

    fn repeated(tokens: &mut Tokens) -> Self {
        // `for`
        tokens.next();
        let pattern = tokens.take_until(|tokens| tokens.is_ident(0, "in"));
        // `in`
        tokens.next();
        let is_last = |tokens: &Tokens| {
            tokens.peek(1).is_none() && tokens.peek_group(0, Delimiter::Brace).is_some()
        };
        let list = tokens.take_until(is_last);
        Self::For {
            pattern,
            list,
            body: tokens.next(),
        }
    }

    /// Whether its output is an `Option` because it may be skipped.
    fn may_be_absent(&self) -> bool {
        match self {
            Self::If {
                branches,
                exhaustive,
            } => {
                !exhaustive
                    || branches
                        .first()
                        .is_some_and(|(_, body)| Self::within(body.as_ref()).may_be_absent())
            }
            _ => false,
        }
    }

    fn is_loop(&self) -> bool {
        matches!(self, Self::For { .. })
    }

    /// The content of the braces.
    fn within(body: Option<&TokenTree>) -> Self {
        match body {
            Some(TokenTree::Group(group)) => Self::new(group.stream()),
            _ => Self::Call(TokenStream::new()),
        }
    }
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
        let flow = IdeFlow::new(tokens);
        let body = self.expression(&flow, policy);
        if policy.optional && !flow.may_be_absent() {
            quote!(#editor::optional(#body))
        } else {
            body
        }
    }

    fn expression(&self, flow: &IdeFlow, policy: IdePolicy) -> TokenStream {
        let editor = &self.editor;
        match flow {
            IdeFlow::If {
                branches,
                exhaustive,
            } => {
                let absent = branches
                    .first()
                    .is_some_and(|(_, body)| IdeFlow::within(body.as_ref()).may_be_absent());
                let branches = branches.iter().map(|(header, body)| {
                    let body = self.expression(&IdeFlow::within(body.as_ref()), policy);
                    quote!(#header { #body })
                });
                match (*exhaustive, absent) {
                    (true, _) => quote!(#(#branches)*),
                    (false, true) => quote!({ #(#branches)* else { #editor::any() } }),
                    (false, false) => {
                        quote!(#editor::optional(#(#branches)* else { #editor::any() }))
                    }
                }
            }
            IdeFlow::For {
                pattern,
                list,
                body,
            } => {
                let list = self.value(list.clone());
                let list = quote!(#editor::elements(&(#list)).owned());
                let flow = IdeFlow::within(body.as_ref());
                let body = self.expression(&flow, policy);
                if policy.each && !flow.is_loop() && !flow.may_be_absent() {
                    quote!(#list.each(|#pattern| #editor::optional(#body)))
                } else {
                    quote!(#list.each(|#pattern| #body))
                }
            }
            IdeFlow::Call(call) => {
                let call = self.value(call.clone());
                quote!(#editor::call((#call)))
            }
        }
    }

    /// The output type of a step.
    pub(super) fn output(&self, tokens: TokenStream, policy: IdePolicy) -> TokenStream {
        let flow = IdeFlow::new(tokens);
        let ty = self.type_of(&flow, policy);
        if policy.optional && !flow.may_be_absent() {
            quote!(::core::option::Option<#ty>)
        } else {
            ty
        }
    }

    fn type_of(&self, flow: &IdeFlow, policy: IdePolicy) -> TokenStream {
        let editor = &self.editor;
        match flow {
            IdeFlow::If {
                branches,
                exhaustive,
            } => {
                let first = IdeFlow::within(branches.first().and_then(|(_, body)| body.as_ref()));
                let ty = self.type_of(&first, policy);
                if *exhaustive || first.may_be_absent() {
                    ty
                } else {
                    quote!(::core::option::Option<#ty>)
                }
            }
            IdeFlow::For { body, .. } => {
                let flow = IdeFlow::within(body.as_ref());
                let ty = self.type_of(&flow, policy);
                if policy.each && !flow.is_loop() && !flow.may_be_absent() {
                    quote!(::std::vec::Vec<::core::option::Option<#ty>>)
                } else {
                    quote!(::std::vec::Vec<#ty>)
                }
            }
            IdeFlow::Call(call) => {
                let mut tokens = Tokens::new(call.clone());
                let path =
                    tokens.take_until(|tokens| tokens.peek_group(0, Delimiter::Brace).is_some());
                quote!(<#path as #editor::Tool>::Output)
            }
        }
    }
}
