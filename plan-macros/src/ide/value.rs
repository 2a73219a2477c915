//! Values as plain Rust: the author's tokens, with a wrapper around each value that may have another type than
//! expected.

use super::IdeExpansion;
use crate::docs::{last_name, text_of};
use crate::syntax::tokens::{Tokens, enclosed, is_sign};
use crate::syntax::value::{self as syntax, FieldKind, FieldTokens, Piece, ValueKind, ValueTokens};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};

impl IdeExpansion {
    /// Returns the author's tokens, with each inner value wrapped separately.
    pub(super) fn value(&self, tokens: TokenStream) -> TokenStream {
        self.expanded(tokens, |_| false)
    }

    /// Writes a value that may differ from the expected type.
    pub(super) fn argument(&self, tokens: TokenStream) -> TokenStream {
        self.expanded(tokens, |_| true)
    }

    /// Writes a value with a given type. A plain expression has exactly that type.
    pub(super) fn typed(&self, tokens: TokenStream) -> TokenStream {
        self.expanded(tokens, |kind| match kind {
            ValueKind::Expr(_, tokens) | ValueKind::Broken(tokens, _) => !is_computed(tokens),
            _ => true,
        })
    }

    fn expanded(
        &self,
        tokens: TokenStream,
        is_wrapped: impl Fn(&ValueKind) -> bool,
    ) -> TokenStream {
        let (item, rest) = syntax::value(tokens);
        let item = self.item(&item, is_wrapped(&item.kind));
        quote!(#item #rest)
    }

    fn item(&self, item: &ValueTokens, is_wrapped: bool) -> TokenStream {
        let (value, extra) = (self.unwrapped(&item.kind), &item.extra);
        if is_wrapped {
            quote!((#value).__plan_arg() #extra)
        } else {
            quote!(#value #extra)
        }
    }

    fn unwrapped(&self, value: &ValueKind) -> TokenStream {
        let editor = &self.editor;
        let mut tokens = TokenStream::new();
        match value {
            ValueKind::List(bracket, pieces) => {
                bracket.surround(&mut tokens, |inner| inner.extend(self.pieces(pieces)));
            }
            ValueKind::Tuple(paren, pieces) => {
                paren.surround(&mut tokens, |inner| inner.extend(self.pieces(pieces)));
            }
            ValueKind::Paren(paren, item) => {
                paren.surround(&mut tokens, |inner| inner.extend(self.item(item, false)));
            }
            ValueKind::Struct(path, brace, fields) => {
                path.to_tokens(&mut tokens);
                brace.surround(&mut tokens, |inner| {
                    inner.extend(fields.iter().map(|field| self.field(path, field)));
                });
            }
            ValueKind::Variant(path, paren, pieces, _) => {
                let values = self.pieces(pieces);
                if pieces.iter().all(|(_, comma)| comma.is_none()) {
                    path.to_tokens(&mut tokens);
                    paren.surround(&mut tokens, |inner| inner.extend(values));
                } else {
                    // After a comma, another value can begin, which would be one too many in a call.
                    let values = enclosed(Delimiter::Bracket, values, paren.span.join());
                    tokens = quote!({ let _ = #path; #values.__plan_arg() });
                }
            }
            ValueKind::Macro(call) => {
                let name = call.path.segments.last().map(|last| &last.ident);
                tokens = if last_name(&call.path) == "json" {
                    let json = self.json(&mut Tokens::new(call.tokens.clone()));
                    quote!({ use #editor::#name as _; #editor::json_value(#json) })
                } else {
                    let last = call.to_token_stream().into_iter().last();
                    quote!(#editor::#name! #last)
                };
            }
            ValueKind::Reference(_, written)
            | ValueKind::Expr(_, written)
            | ValueKind::Broken(written, _) => {
                tokens = elements(written.clone());
            }
        }
        tokens
    }

    /// Values with commas between them. After the last comma, another can begin.
    fn pieces(&self, pieces: &[Piece]) -> TokenStream {
        let mut tokens = TokenStream::new();
        for (item, comma) in pieces {
            let item = self.item(item, true);
            tokens.extend(quote!(#item #comma));
        }
        if pieces.last().is_none_or(|(_, comma)| comma.is_some()) {
            tokens.extend(quote!(().__plan_arg()));
        }
        tokens
    }

    /// Writes a field of a literal.
    fn field(&self, literal: &syn::Path, field: &FieldTokens) -> TokenStream {
        let editor = &self.editor;
        let comma = &field.comma;
        match &field.kind {
            FieldKind::Value(name, colon, item) => {
                self.check(literal, name, colon, item);
                let value = self.item(item, true);
                quote!(#name #colon #value #comma)
            }
            FieldKind::Name(name)
                if self.known.contains(&text_of(name)) || self.bound.contains(&text_of(name)) =>
            {
                quote!(#name: #name.__plan_arg() #comma)
            }
            FieldKind::Rest(dots, rest) if rest.is_empty() => quote!(#dots #editor::any()),
            // The name of a half-typed field is written once, unchanged.
            FieldKind::Name(name) => quote!(#name #comma),
            FieldKind::Rest(dots, rest) => quote!(#dots #rest),
            FieldKind::Broken(tokens) => {
                let mut tokens = Tokens::new(tokens.clone());
                // A value whose name is not typed yet.
                if tokens.is_punct(0, ':') {
                    let (colon, value) = (tokens.next(), self.argument(tokens.rest()));
                    return quote!(#colon #value #comma);
                }
                let tokens = tokens.rest();
                quote!(#tokens #comma)
            }
        }
    }

    /// Writes the content of `json!(…)`, up to a comma. Objects and lists become tuples, whose elements may differ in
    /// type.
    fn json(&self, tokens: &mut Tokens) -> TokenStream {
        let is_whole = tokens.peek(1).is_none() || tokens.is_punct(1, ',');
        match tokens.peek(0).cloned() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                tokens.next();
                let members = self.members(group.stream(), |tokens| {
                    let key = tokens.take_until(|tokens| tokens.is_punct(0, ':'));
                    tokens.next();
                    let value = self.json(tokens);
                    quote!((#key, #value))
                });
                quote!((#members))
            }
            Some(TokenTree::Group(group))
                if is_whole && group.delimiter() == Delimiter::Bracket =>
            {
                tokens.next();
                let elements = self.members(group.stream(), |tokens| self.json(tokens));
                quote!((#elements))
            }
            Some(TokenTree::Ident(null)) if is_whole && null == "null" => {
                tokens.next();
                quote!(())
            }
            _ => {
                let (item, rest) = syntax::value(tokens.rest());
                *tokens = Tokens::new(rest);
                self.item(&item, true)
            }
        }
    }

    /// Returns the members between commas. A new member can begin after the last comma.
    fn members(
        &self,
        content: TokenStream,
        each: impl Fn(&mut Tokens) -> TokenStream,
    ) -> TokenStream {
        let mut tokens = Tokens::new(content);
        let mut members = TokenStream::new();
        loop {
            members.extend(each(&mut tokens));
            let extra = tokens.take_until(|tokens| tokens.is_punct(0, ','));
            let comma = tokens.next();
            members.extend(quote!(#extra #comma));
            if comma.is_none() {
                return members;
            }
        }
    }
}

/// `inbox.data[..].subject` leads on into the elements, as a field of a slice would not.
fn elements(tokens: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_reference = trees.iter().all(|tree| match tree {
        TokenTree::Punct(punct) => matches!(punct.as_char(), '.' | '?'),
        _ => true,
    });
    let is_dot = |at: usize| trees.get(at).is_some_and(|tree| is_sign(tree, '.'));
    let is_call = |at: usize| matches!(trees.get(at), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
    let trees = trees.iter().enumerate().map(|(at, tree)| {
        let TokenTree::Group(group) = tree else {
            return tree.clone();
        };
        if group.delimiter() == Delimiter::Bracket && at > 0 && is_every(group) {
            let leads_on = is_dot(at + 1) && !is_dot(at + 2) && !is_call(at + 3);
            if leads_on || is_reference && at + 1 == trees.len() {
                return Group::new(Delimiter::Bracket, quote!(0)).into();
            }
            return tree.clone();
        }
        enclosed(group.delimiter(), elements(group.stream()), group.span()).into()
    });
    trees.collect()
}

/// Returns `true` if the brackets belong to `[..]`.
fn is_every(group: &Group) -> bool {
    let trees: Vec<TokenTree> = group.stream().into_iter().collect();
    trees.len() == 2 && trees.iter().all(|tree| is_sign(tree, '.'))
}

/// Returns `true` if the tokens contain an operator or a call.
fn is_computed(tokens: &TokenStream) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_call = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(name), TokenTree::Group(group)] => {
            let leads = *name == "get" || *name == "pointer";
            group.delimiter() == Delimiter::Parenthesis && !leads && !syntax::is_type_name(name)
        }
        _ => false,
    };
    let is_operator = |tree: &TokenTree| match tree {
        TokenTree::Punct(punct) => !matches!(punct.as_char(), '.' | ':' | '?' | '!'),
        _ => false,
    };
    trees.windows(2).any(is_call) || trees.iter().skip(1).any(is_operator)
}
