//! The expression of a reference: a chain of the author's own tokens, with methods of the runtime between them.

use super::tokens::{TokenList, located};
use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

/// The current position of a reference.
pub(super) enum WayState {
    /// The first name, which is a `Way`.
    Root,
    /// A value, which this expression is.
    Value { value: TokenList, end: Span },
    /// A value behind a `?`, a `[..]` or a final method. The expression is a `Way`.
    Wrapped(TokenStream),
}

/// The expression of a reference as far as the reference was expanded.
pub(super) struct Way {
    /// The reference's first name, with the hygiene of its binding.
    pub(super) root: Ident,
    pub(super) position: WayState,
}

impl Way {
    /// Returns a name of the macro's own with a span of the author's.
    pub(super) fn name(&self, name: &str, at: Span) -> Ident {
        Ident::new(name, at.resolved_at(self.root.span()))
    }

    /// Returns an expression whose methods reveal the kind of the position.
    pub(super) fn receiver(&self) -> TokenList {
        match &self.position {
            WayState::Root => self.root.clone().into(),
            // The expression has the span of the reference so far, so messages point at the reference.
            WayState::Value { value, .. } => {
                let at = self.root.span();
                let reference = TokenList::default().operator("&", at).and(value.clone());
                TokenList::default().parens(reference, at)
            }
            WayState::Wrapped(way) => way.clone().into(),
        }
    }

    /// Returns an expression for the position as a `Way`.
    pub(super) fn way(&self) -> TokenStream {
        match &self.position {
            WayState::Root => self.root.to_token_stream(),
            WayState::Value { value, end } => {
                let here = path(&["here"], self.root.span(), *end);
                let end = *end;
                quote_spanned!(end=> #here(&#value))
            }
            WayState::Wrapped(way) => way.clone(),
        }
    }

    /// Enters a part of the value so far. `into` makes the part from an expression for the value.
    /// The tokens of `how` are between `start` and `end`.
    pub(super) fn enter(
        &mut self,
        start: Span,
        end: Span,
        how: Look<'_>,
        into: impl FnOnce(TokenList) -> TokenList,
    ) {
        let value = match &self.position {
            WayState::Root => look(self.root.clone(), start, end, how),
            WayState::Value { value, .. } => {
                let c = self.name("__c", end);
                let block = TokenList::default()
                    .name("let", end)
                    .with(c.clone())
                    .operator("=", end)
                    .operator("&", end)
                    .and(value.clone())
                    .operator(";", end)
                    .and(look(c, start, end, how));
                TokenList::default().group(Delimiter::Brace, block, end)
            }
            WayState::Wrapped(_) => {
                return self.call("to", start, end, how, |value| {
                    TokenList::default().operator("&", end).and(into(value))
                });
            }
        };
        let value = into(how.place(value, end));
        self.position = WayState::Value { value, end };
    }

    /// Calls a method of the way. `into` makes the argument from an expression for the value so far.
    pub(super) fn call(
        &mut self,
        method: &str,
        start: Span,
        end: Span,
        how: Look<'_>,
        into: impl FnOnce(TokenList) -> TokenList,
    ) {
        let (way, c) = (self.way(), self.name("__c", end));
        let method = Ident::new(method, end);
        let value = into(how.place(look(c.clone(), start, end, how), end));
        self.position =
            WayState::Wrapped(quote_spanned!(end=> { let #c = #way; #c.#method(#value) }));
    }
}

/// A way to look into a value.
#[derive(Clone, Copy)]
pub(super) enum Look<'a> {
    /// For a field.
    Field,
    /// For a field. The variable with this name gets the known facts about the type.
    See(&'a Ident),
    /// For an element of a list. The variable with this name gets the length of the list.
    Element(&'a Ident),
    /// For anything else.
    Other,
}

impl Look<'_> {
    /// Dereferences the result of a lookup. The lookup of a field returns a value, which needs no dereference.
    fn place(self, value: TokenList, at: Span) -> TokenList {
        match self {
            Self::Field | Self::See(_) => value,
            Self::Element(_) | Self::Other => {
                let value = TokenList::default().operator("*", at).and(value);
                TokenList::default().parens(value, at)
            }
        }
    }
}

/// Returns the value at the end of a way. The way has a name, because rustc would otherwise point at the whole
/// reference before an optional value.
fn look(way: Ident, start: Span, end: Span, how: Look<'_>) -> TokenList {
    let kind = call(
        TokenList::from(located(way, start))
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
            let length = TokenList::default().with(length.clone());
            let value = value.operator(".", end).name("plan_length", end);
            value.parens(length, end)
        }
        Look::Field | Look::See(_) => path(&["HasFields", "of"], start, end).parens(value, end),
        Look::Other => value,
    }
}

/// Calls the function without arguments.
fn call(function: TokenList, at: Span) -> TokenList {
    function.parens(TokenList::default(), at)
}

/// Writes `__plan::a::b` from `start` to `end`. An expression made of the path spans all tokens between both.
pub(super) fn path(names: &[&str], start: Span, end: Span) -> TokenList {
    let path = TokenList::default().name("__plan", start);
    names
        .iter()
        .fold(path, |path, name| path.operator("::", end).name(name, end))
}

/// Writes the call that returns the value.
pub(super) fn it(of: TokenList, end: Span) -> TokenList {
    let it = of.operator(".", end).name("plan_value", end);
    it.parens(TokenList::default(), end)
}

/// Returns the first and the last span of a path.
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
