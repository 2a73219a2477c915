//! References: a chain for rustc to check, and the pointer as data.

use super::{Context, text};
use crate::ast::{Hop, Local, Reference};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Lit, Member};

/// A reference, expanded.
pub(super) struct Expanded {
    /// What has to be bound before: `let __t0 = …;`
    pub(super) bindings: TokenStream,
    /// An expression for the way that it goes, in code that is only type-checked.
    pub(super) way: TokenStream,
    /// The reference as data.
    pub(super) data: TokenStream,
}

/// A reference as far as it was expanded.
struct Chain<'a> {
    /// Its first name, with the hygiene of what that is bound to.
    root: &'a Ident,
    /// An expression for the way so far.
    way: TokenStream,
    /// Whether that is its first name alone.
    is_root: bool,
    /// Whether what is around the value is still to be said: a `?` or a `[..]`, or the method that the way ends with.
    wrapped: bool,
    bindings: TokenStream,
    segments: Vec<TokenStream>,
}

impl Chain<'_> {
    /// A name of the macro's own at a place of the author's.
    fn name(&self, name: &str, at: Span) -> Ident {
        Ident::new(name, at.resolved_at(self.root.span()))
    }

    /// Goes on to a place in the value so far: `into` makes it of an expression for that value, and `known` takes the value's type.
    /// What looks into the value stands from `start` to `end`.
    fn enter(
        &mut self,
        start: Span,
        end: Span,
        known: Option<&Ident>,
        into: impl FnOnce(TokenStream) -> TokenStream,
    ) {
        if self.wrapped {
            self.call("to", start, end, known, |value| {
                let value = into(value);
                quote_spanned!(end=> &#value)
            });
        } else {
            let here = path(&["here"], self.root.span(), end);
            let value = if self.is_root {
                let look = look(self.root.clone(), start, end, known);
                quote_spanned!(end=> (*#look))
            } else {
                let (way, c) = (&self.way, self.name("__c", end));
                let look = look(c.clone(), start, end, known);
                quote_spanned!(end=> (*{ let #c = #way; #look }))
            };
            let value = into(value);
            self.way = quote_spanned!(end=> #here(&#value));
            self.is_root = false;
        }
    }

    /// Goes on with a method of the way, whose argument `into` makes of an expression for the value so far.
    fn call(
        &mut self,
        method: &str,
        start: Span,
        end: Span,
        known: Option<&Ident>,
        into: impl FnOnce(TokenStream) -> TokenStream,
    ) {
        let (way, c) = (&self.way, self.name("__c", end));
        let method = Ident::new(method, end);
        let look = look(c.clone(), start, end, known);
        let value = into(quote_spanned!(end=> (*#look)));
        self.way = quote_spanned!(end=> { let #c = #way; #c.#method(#value) });
        (self.is_root, self.wrapped) = (false, true);
    }
}

/// The value at the end of a way. That has a name, since rustc would else point at the reference so far where the value may be
/// absent.
fn look(mut way: Ident, start: Span, end: Span, known: Option<&Ident>) -> TokenStream {
    way.set_span(start.resolved_at(way.span()));
    let name = if known.is_some() { "see" } else { "look" };
    let look = path(&["Present", name], start, end);
    let known = known.map(|known| quote_spanned!(end=> , #known));
    quote_spanned!(end=> #look(#way.kind() #known))
}

/// Expands a reference; `root` is its first name with the hygiene of the root's binding, and `fresh` makes names that nothing
/// else has.
///
/// The author's tokens keep their spans, and what stands around them takes the span of its neighbours, so that rustc's
/// messages point at the author's text. The names of the chain's own variables take the hygiene of the reference's first token.
pub(super) fn expand(
    reference: &Reference,
    root: &Ident,
    mut fresh: impl FnMut(Span) -> Ident,
    cx: &Context<'_>,
) -> Expanded {
    let mut chain = Chain {
        root,
        way: root.to_token_stream(),
        is_root: true,
        wrapped: false,
        bindings: TokenStream::new(),
        segments: Vec::new(),
    };
    for (index, hop) in reference.hops.iter().enumerate() {
        let last = index + 1 == reference.hops.len();
        match hop {
            Hop::Field(dot, member) => {
                let (at, ident) = match member {
                    Member::Named(ident) => (ident.span(), ident.unraw().to_string()),
                    Member::Unnamed(index) => (index.span, index.index.to_string()),
                };
                let field = |value| quote_spanned!(at=> #value #dot #member);
                let known = match cx
                    .names
                    .get(root)
                    .filter(|_| index == 0 && reference.local.is_none())
                {
                    // The type of a step or an input has a name.
                    Some(source) => {
                        chain.enter(dot.spans[0], at, None, field);
                        let mut ty = cx.type_of(source);
                        ty.set_span(at.resolved_at(ty.span()));
                        quote_spanned!(at=> <#ty as __plan::Shaped>::KNOWN)
                    }
                    None => {
                        let known = fresh(at.resolved_at(root.span()));
                        chain.bindings.extend(
                            quote_spanned!(at=> let #known = <_ as __plan::Shaped>::KNOWN;),
                        );
                        chain.enter(dot.spans[0], at, Some(&known), field);
                        known.into_token_stream()
                    }
                };
                chain
                    .segments
                    .push(quote_spanned!(at=> #known.key(#ident, #last)));
            }
            Hop::Index(bracket, index) => {
                let at = bracket.span.join();
                chain.enter(at, at, None, |value| {
                    indexed(&value, bracket, index.to_token_stream())
                });
                let number: usize = index.base10_parse().unwrap_or(usize::MAX);
                chain
                    .segments
                    .push(quote!(__plan::Segment::Index(#number, __plan::Absent::Error)));
            }
            Hop::Key(bracket, key) => {
                let at = bracket.span.join();
                chain.enter(at, at, None, |value| {
                    indexed(&value, bracket, key.to_token_stream())
                });
                let key = text(&key.value());
                chain
                    .segments
                    .push(quote!(__plan::Segment::Key(#key, __plan::Absent::Error)));
            }
            Hop::Each(bracket) => {
                let at = bracket.span.join();
                chain.call("to", at, at, None, |value| quote_spanned!(at=> &#value));
                let way = &chain.way;
                chain.way = quote_spanned!(at=> __plan::Elements::each(#way));
                chain.segments.push(quote!(__plan::Segment::Each));
            }
            Hop::Optional(question) => {
                let at = question.span;
                let asked = fresh(at.resolved_at(root.span()));
                chain
                    .bindings
                    .extend(quote_spanned!(at=> let #asked = __plan::root();));
                let (way, c) = (&chain.way, chain.name("__c", at));
                chain.way = quote_spanned!(at=> { let #c = #way; __plan::OrAbsent::or_absent(#c).asked(#asked) });
                (chain.is_root, chain.wrapped) = (false, true);
                chain.segments.push(quote_spanned!(at=> #asked.optional()));
            }
            Hop::Get(dot, method, key) => {
                let at = method.span();
                chain.call(
                    "get",
                    dot.spans[0],
                    at,
                    None,
                    |value| quote_spanned!(at=> #value #dot #method(#key)),
                );
                chain.segments.push(match key {
                    Lit::Int(index) => {
                        let number: usize = index.base10_parse().unwrap_or(usize::MAX);
                        quote!(__plan::Segment::Index(#number, __plan::Absent::Null))
                    }
                    Lit::Str(key) => {
                        let key = text(&key.value());
                        quote!(__plan::Segment::Key(#key, __plan::Absent::Null))
                    }
                    _ => quote!(__plan::Segment::Same),
                });
            }
            Hop::Pointer(dot, method, pointer, tokens) => {
                let at = method.span();
                chain.call(
                    "pointer",
                    dot.spans[0],
                    at,
                    None,
                    |value| quote_spanned!(at=> #value #dot #method(#pointer)),
                );
                let asked = matches!(reference.hops.get(index + 1), Some(Hop::Optional(_)));
                let absent = if asked { quote!(Stop) } else { quote!(Error) };
                chain.segments.extend(tokens.iter().map(|token| {
                    let token = text(token);
                    quote!(__plan::Segment::Key(#token, __plan::Absent::#absent))
                }));
            }
        }
    }
    let Chain {
        mut way,
        wrapped,
        bindings,
        mut segments,
        ..
    } = chain;
    if wrapped {
        let whole = path(&["whole"], root.span(), reference.end);
        let at = reference.end;
        way = quote_spanned!(at=> #whole(#way));
    }
    let source = match reference.local {
        Some(Local { frame, part }) => {
            if let Some(part) = part {
                segments.insert(
                    0,
                    quote!(__plan::Segment::Index(#part, __plan::Absent::Error)),
                );
            }
            Some(quote!(__plan::Source::Local(#frame)))
        }
        None => cx.names.get(root).map(Context::source),
    };
    let path = super::slice(&segments);
    let written = text(&written(reference));
    let data = quote! {
        __plan::Reference { source: #source, path: #path, written: #written }
    };
    Expanded {
        bindings,
        way,
        data,
    }
}

/// `__plan::a::b`, from the one place to the other: as an expression it covers all between them.
pub(super) fn path(names: &[&str], start: Span, end: Span) -> TokenStream {
    let mut tokens = quote_spanned!(start=> __plan);
    for name in names {
        let name = Ident::new(name, end);
        tokens.extend(quote_spanned!(end=> ::#name));
    }
    tokens
}

fn indexed(value: &TokenStream, bracket: &syn::token::Bracket, index: TokenStream) -> TokenStream {
    let mut group = proc_macro2::Group::new(proc_macro2::Delimiter::Bracket, index);
    group.set_span(bracket.span.join());
    quote!(#value #group)
}

/// The reference as its author wrote it.
pub(super) fn written(reference: &Reference) -> String {
    let mut written = reference.root.unraw().to_string();
    for hop in &reference.hops {
        match hop {
            Hop::Field(_, Member::Named(ident)) => written.push_str(&format!(".{}", ident.unraw())),
            Hop::Field(_, Member::Unnamed(index)) => written.push_str(&format!(".{}", index.index)),
            Hop::Index(_, index) => written.push_str(&format!("[{}]", index.base10_digits())),
            Hop::Key(_, key) => written.push_str(&format!("[{}]", key.to_token_stream())),
            Hop::Each(_) => written.push_str("[..]"),
            Hop::Optional(_) => written.push('?'),
            Hop::Get(_, _, key) => written.push_str(&format!(".get({})", key.to_token_stream())),
            Hop::Pointer(_, _, pointer, _) => {
                written.push_str(&format!(".pointer({})", pointer.to_token_stream()));
            }
        }
    }
    written
}
