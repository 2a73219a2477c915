//! The expression of a reference: a chain of the author's own tokens, with methods of the runtime between them.

use super::tokens::{Tokens, located};
use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

/// The current position of a reference.
pub(super) enum Position {
    /// The first name, which is a `Way`.
    Root,
    /// A value, which this expression is.
    Value { value: Tokens, end: Span },
    /// A value behind a `?`, a `[..]` or a final method. The expression is a `Way`.
    Wrapped(TokenStream),
}

/// The expression of a reference as far as the reference was expanded.
pub(super) struct Way {
    /// The reference's first name, with the hygiene of its binding.
    pub(super) root: Ident,
    pub(super) position: Position,
}

impl Way {
    /// Returns a name of the macro's own with a span of the author's.
    pub(super) fn name(&self, name: &str, at: Span) -> Ident {
        Ident::new(name, at.resolved_at(self.root.span()))
    }

    /// Returns an expression whose methods reveal the kind of the position.
    pub(super) fn receiver(&self) -> Tokens {
        match &self.position {
            Position::Root => self.root.clone().into(),
            // The expression has the span of the reference so far, so messages point at the reference.
            Position::Value { value, .. } => {
                let at = self.root.span();
                let reference = Tokens::default().operator("&", at).and(value.clone());
                Tokens::default().parens(reference, at)
            }
            Position::Wrapped(way) => way.clone().into(),
        }
    }

    /// Returns an expression for the position as a `Way`.
    pub(super) fn way(&self) -> TokenStream {
        match &self.position {
            Position::Root => self.root.to_token_stream(),
            Position::Value { value, end } => {
                let here = path(&["here"], self.root.span(), *end);
                let end = *end;
                quote_spanned!(end=> #here(&#value))
            }
            Position::Wrapped(way) => way.clone(),
        }
    }

    /// Enters a part of the value so far. `into` makes the part from an expression for the value.
    /// The tokens of `how` are between `start` and `end`.
    pub(super) fn enter(
        &mut self,
        start: Span,
        end: Span,
        how: Look<'_>,
        into: impl FnOnce(Tokens) -> Tokens,
    ) {
        let value = match &self.position {
            Position::Root => look(self.root.clone(), start, end, how),
            Position::Value { value, .. } => {
                let c = self.name("__c", end);
                let block = Tokens::default()
                    .name("let", end)
                    .with(c.clone())
                    .operator("=", end)
                    .operator("&", end)
                    .and(value.clone())
                    .operator(";", end)
                    .and(look(c, start, end, how));
                Tokens::default().group(Delimiter::Brace, block, end)
            }
            Position::Wrapped(_) => {
                return self.call("to", start, end, how, |value| {
                    Tokens::default().operator("&", end).and(into(value))
                });
            }
        };
        let value = Tokens::default().operator("*", end).and(value);
        let value = into(Tokens::default().parens(value, end));
        self.position = Position::Value { value, end };
    }

    /// Calls a method of the way. `into` makes the argument from an expression for the value so far.
    pub(super) fn call(
        &mut self,
        method: &str,
        start: Span,
        end: Span,
        how: Look<'_>,
        into: impl FnOnce(Tokens) -> Tokens,
    ) {
        let (way, c) = (self.way(), self.name("__c", end));
        let method = Ident::new(method, end);
        let look = look(c.clone(), start, end, how);
        let value = Tokens::default().operator("*", end).and(look);
        let value = into(Tokens::default().parens(value, end));
        self.position =
            Position::Wrapped(quote_spanned!(end=> { let #c = #way; #c.#method(#value) }));
    }
}

/// A way to look into a value.
#[derive(Clone, Copy)]
pub(super) enum Look<'a> {
    /// For a field.
    Field,
    /// For a field of a type that this takes.
    See(&'a Ident),
    /// For an element of a list whose length this takes.
    Element(&'a Ident),
    /// For anything else.
    Other,
}

/// The value at the end of a way. That has a name, since rustc would else point at the reference so far where the value may be
/// absent.
fn look(way: Ident, start: Span, end: Span, how: Look<'_>) -> Tokens {
    let kind = call(
        Tokens::from(located(way, start))
            .operator(".", end)
            .name("plan_kind", end),
        end,
    );
    let (name, value) = match how {
        Look::Field => ("field", kind),
        Look::See(known) => ("see", kind.operator(",", end).with(known.clone())),
        Look::Element(_) | Look::Other => ("look", kind),
    };
    let value = path(&["Reachable", name], start, end).parens(value, end);
    match how {
        Look::Element(length) => {
            let length = Tokens::default().with(length.clone());
            let value = value.operator(".", end).name("plan_length", end);
            value.parens(length, end)
        }
        Look::Field | Look::See(_) => path(&["HasFields", "of"], start, end).parens(value, end),
        Look::Other => value,
    }
}

/// Calls the function without arguments.
fn call(function: Tokens, at: Span) -> Tokens {
    function.parens(Tokens::default(), at)
}

/// `__plan::a::b`, from the one place to the other: as an expression it covers all between them.
pub(super) fn path(names: &[&str], start: Span, end: Span) -> Tokens {
    let path = Tokens::default().name("__plan", start);
    names
        .iter()
        .fold(path, |path, name| path.operator("::", end).name(name, end))
}

/// Returns the call that hands over the value.
pub(super) fn it(of: Tokens, end: Span) -> Tokens {
    let it = of.operator(".", end).name("plan_value", end);
    it.parens(Tokens::default(), end)
}

/// Returns the first and the last place of a path.
pub(super) fn ends(path: &Path) -> (Span, Span) {
    // Asking for tokens costs much, and nearly all paths are names alone.
    if let (None, Some(first), Some(last)) = (
        path.leading_colon,
        path.segments.first(),
        path.segments.last(),
    ) && last.arguments.is_none()
    {
        return (first.ident.span(), last.ident.span());
    }
    let mut spans = path.to_token_stream().into_iter().map(|tree| tree.span());
    let start = spans.next().unwrap_or_else(|| path.span());
    (start, spans.last().unwrap_or(start))
}
