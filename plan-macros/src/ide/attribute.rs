//! The attributes of a step, as expressions.

use super::IdeExpansion;
use crate::ast::{Extent, Role, Step};
use crate::docs::text_of;
use crate::parse;
use crate::report::Report;
use crate::syntax::tokens::{Tokens, enclosed};
use crate::syntax::{Statement, StepTokens};
use plan_graph::{StepAttribute, Takes};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

/// The changes of a step's attributes to its output.
#[derive(Clone, Copy, Default)]
pub(super) struct IdePolicy {
    /// The wrapper of the step's output.
    pub(super) whole: Wrap,
    /// The wrapper of the output of each element of a `for`.
    pub(super) each: Wrap,
    /// `true` if a loop returns the values of all rounds.
    pub(super) collects: bool,
}

/// The wrapper of an output.
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
    /// Returns the rest of the wrapper, for an output that may be `None` already.
    pub(super) fn around(self, may_be_absent: bool) -> Self {
        match self {
            Self::Option if may_be_absent => Self::Nothing,
            wrap => wrap,
        }
    }

    pub(super) fn value(self, editor: &TokenStream, value: TokenStream) -> TokenStream {
        match self {
            Self::Nothing => value,
            Self::Option => quote!(#editor::optional(#value)),
            Self::Result => quote!(#editor::caught(#value)),
        }
    }

    /// Returns the type of the output.
    pub(super) fn ty(self, editor: &TokenStream, ty: TokenStream) -> TokenStream {
        match self {
            Self::Nothing => ty,
            Self::Option => quote!(::core::option::Option<#ty>),
            Self::Result => quote!(::core::result::Result<#ty, #editor::Failure>),
        }
    }
}

impl IdeExpansion {
    /// Writes the content of an attribute's brackets: its name as a path, followed by its arguments.
    pub(super) fn attribute(&self, attribute: TokenStream) -> TokenStream {
        let editor = &self.editor;
        let mut tokens = Tokens::new(attribute);
        let name = tokens
            .peek_ident(0)
            .map(ToString::to_string)
            .unwrap_or_default();
        let path = tokens.next();
        let group = tokens.peek_group(0, Delimiter::Parenthesis);
        let given = group.map(Group::stream).unwrap_or_default();
        let known = StepAttribute::named(&name);
        match known.map(|known| (known.takes(), known.arguments())) {
            Some((Takes::Amounts, [_, _, ..])) => {
                let options = self.options(&path, given);
                quote!(#editor::attribute::#path; #options)
            }
            Some((Takes::Amounts, _)) => {
                let value = self.amount(given);
                quote!(#editor::attribute::#path; #value;)
            }
            Some((Takes::Each, _)) if group.is_some() => {
                let module = Ident::new(&name, Span::call_site());
                quote!(#editor::attribute::#path; #editor::attribute::#module::#given;)
            }
            Some((Takes::Names, _)) => quote!(#editor::attribute::#path; (#given);),
            Some((Takes::Value, _)) => {
                let value = self.argument(given);
                quote!(#editor::attribute::#path; #value;)
            }
            _ => quote!(#editor::attribute::#path;),
        }
    }

    /// Returns the amounts of an attribute with options.
    fn options(&self, path: &Option<TokenTree>, given: TokenStream) -> TokenStream {
        let editor = &self.editor;
        let mut given = Tokens::new(given);
        let mut options = TokenStream::new();
        loop {
            let option = given.take_until(|given| given.is_punct(0, ','));
            let mut option = Tokens::new(option);
            let is_key = match option.peek_ident(0) {
                // A name that begins no amount is an incomplete option.
                Some(name) => {
                    let text = text_of(name);
                    let is_value =
                        self.known.contains(&text) || text.starts_with(char::is_uppercase);
                    option.is_punct(1, '=') || !is_value
                }
                None => option.is_empty(),
            };
            // Nothing is completed in a literal.
            let is_literal = matches!(option.peek(0), Some(TokenTree::Literal(_)));
            if !is_key && !is_literal {
                let value = self.amount(option.rest());
                options.extend(quote!(#value;));
            } else if is_key {
                let key = option.next();
                option.eat_punct('=');
                let value = self.amount(option.rest());
                options.extend(quote!(#editor::attribute::#path::#key; #value;));
            }
            if given.next().is_none() {
                return options;
            }
        }
    }

    /// Writes a number or a duration of a policy.
    fn amount(&self, tokens: TokenStream) -> TokenStream {
        match tokens.clone().into_iter().next() {
            None | Some(TokenTree::Literal(_)) => quote!((#tokens)),
            Some(_) => {
                let value = self.value(tokens);
                quote!((#value))
            }
        }
    }
}

/// Returns `true` if the content of an attribute's brackets is a doc comment.
pub(super) fn is_doc(attribute: &TokenStream) -> bool {
    Tokens::new(attribute.clone()).is_ident(0, "doc")
}

/// Returns a step with the doc comment and the attributes of a statement alone.
pub(super) fn step(statement: &Statement) -> Step {
    parse::attributes(statement.attrs.clone(), &mut Report::default())
}

/// Returns the effects of the attributes on the output of a step.
pub(super) fn policy(statement: &Statement) -> IdePolicy {
    let policy = step(statement).policy;
    let wrap = |extent| match (policy.catch, policy.optional) {
        (catch, _) if catch == extent => Wrap::Result,
        (_, optional) if optional == extent => Wrap::Option,
        _ => Wrap::Nothing,
    };
    IdePolicy {
        whole: wrap(Extent::Whole),
        each: wrap(Extent::Each),
        collects: policy.collects(),
    }
}

impl IdeExpansion {
    /// Returns the tokens of such a step's value, with calls around the names of steps whose outputs have another form
    /// here.
    pub(super) fn seen(&self, step: &StepTokens, role: &Role, source: &[Statement]) -> TokenStream {
        if matches!(role, Role::Work) {
            return step.value.clone();
        }
        let editor = &self.editor;
        let view = |name: &Ident| {
            let text = text_of(name);
            let is_named = |step: &Ident| text_of(step) == text;
            let mut steps = source.iter();
            let statement = steps.find(|statement| statement.name().is_some_and(is_named))?;
            let step = statement.step()?;
            let whole = policy(statement).whole;
            match role {
                Role::Always if whole != Wrap::Result => Some(quote!(#editor::caught(#name))),
                Role::Undo(undone)
                    if text_of(undone) == text
                        && (whole != Wrap::Nothing || self.may_be_absent(step)) =>
                {
                    Some(quote!(#name.unwrap()))
                }
                _ => None,
            }
        };
        with_views(step.value.clone(), false, &view)
    }
}

/// Replaces the first names of references. In the braces of a literal, a name alone is a field as well.
fn with_views(
    tokens: TokenStream,
    in_braces: bool,
    view: &dyn Fn(&Ident) -> Option<TokenStream>,
) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let sign = |at: Option<usize>| match at.and_then(|at| trees.get(at)) {
        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
        _ => None,
    };
    let mut seen = TokenStream::new();
    for (at, tree) in trees.iter().enumerate() {
        let (before, after) = (sign(at.checked_sub(1)), sign(Some(at + 1)));
        match tree {
            TokenTree::Ident(name) => {
                let is_path = after == Some(':') && sign(Some(at + 2)) == Some(':')
                    || before == Some(':') && sign(at.checked_sub(2)) == Some(':');
                let is_key = after == Some(':');
                let is_alone = in_braces
                    && matches!(before, None | Some(','))
                    && (after == Some(',') || at + 1 == trees.len());
                let may_be_one = before != Some('.') && !is_path && !is_key && !is_alone;
                let view = may_be_one.then(|| view(name)).flatten();
                seen.extend(view.unwrap_or_else(|| tree.clone().into()));
            }
            TokenTree::Group(group) => {
                let in_braces = group.delimiter() == Delimiter::Brace;
                let inner = with_views(group.stream(), in_braces, view);
                let whole = enclosed(group.delimiter(), inner, group.span());
                seen.extend([TokenTree::Group(whole)]);
            }
            _ => seen.extend([tree.clone()]),
        }
    }
    seen
}
