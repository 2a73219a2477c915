//! Undo steps and always steps. An always step sees the outputs of other steps as `Result`s, and an undo step sees the unwrapped output of its step.

use super::IdeExpansion;
use super::attribute::{self, Wrap};
use crate::ast::Role;
use crate::docs::text_of;
use crate::syntax::{Statement, StepTokens};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;

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
            let whole = attribute::policy(statement).whole;
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
                let mut whole = Group::new(group.delimiter(), inner);
                whole.set_span(group.span());
                seen.extend([TokenTree::Group(whole)]);
            }
            _ => seen.extend([tree.clone()]),
        }
    }
    seen
}
