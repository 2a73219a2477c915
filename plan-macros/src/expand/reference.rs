//! References: a chain for rustc to check, and the pointer as data.

use super::value::Builder;
use crate::ast::{Hop, Local, Reference};
use crate::names::Source;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Lit, LitInt, Member, Token};

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
    /// What says that another reference is at a place of the same type.
    same: String,
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

impl Builder<'_> {
    /// Writes a reference as data, and gives the way that it goes, which the code that is only type-checked must hold.
    ///
    /// The author's tokens keep their spans, and what stands around them takes the span of its neighbours, so that rustc's
    /// messages point at the author's text. The names of the chain's own variables take the hygiene of the reference's first token.
    pub(super) fn reference(&mut self, reference: &Reference) -> TokenStream {
        let mut root = reference.root.clone();
        let source = match reference.local {
            Some(_) => None,
            None => self.cx.names.get(&root),
        };
        if let Some(source) = source {
            let bound = self.roots.entry(source).or_insert_with(|| root.clone());
            root.set_span(root.span().resolved_at(bound.span()));
        }
        self.data.tag('r');
        let same = match (reference.local, source) {
            (Some(Local { frame, part }), _) => {
                self.data.local(frame);
                self.data.text(&written(reference));
                if let Some(part) = part {
                    self.data.tag('#');
                    self.data.number(part);
                    self.data.tag('!');
                }
                self.frames
                    .get(frame)
                    .map(|frame| format!("local {} {} {part:?}", self.part, frame.place))
            }
            (None, Some(source)) => {
                self.data.source(source);
                self.data.text(&written(reference));
                Some(self.cx.same_type(source))
            }
            (None, None) => None,
        };
        let mut chain = Chain {
            root: &root,
            way: root.to_token_stream(),
            is_root: true,
            wrapped: false,
            same: same.unwrap_or_default(),
        };
        for (index, hop) in reference.hops.iter().enumerate() {
            self.hop(&mut chain, hop, source, &reference.hops[index + 1..]);
        }
        self.data.tag(';');
        let Chain {
            mut way, wrapped, ..
        } = chain;
        if wrapped {
            let whole = path(&["whole"], root.span(), reference.end);
            let at = reference.end;
            way = quote_spanned!(at=> #whole(#way));
        }
        way
    }

    /// Goes on by one hop, behind which there are these.
    fn hop(&mut self, chain: &mut Chain<'_>, hop: &Hop, source: Option<Source>, rest: &[Hop]) {
        match hop {
            Hop::Field(dot, member) => self.field(chain, dot, member, source, rest.is_empty()),
            Hop::Index(bracket, index) => {
                let at = bracket.span.join();
                chain.enter(at, at, None, |value| {
                    indexed(&value, bracket, index.to_token_stream())
                });
                chain.same.push_str("[0]");
                self.index(index, '!');
            }
            Hop::Key(bracket, key) => {
                let at = bracket.span.join();
                chain.enter(at, at, None, |value| {
                    indexed(&value, bracket, key.to_token_stream())
                });
                chain.same.push_str("[key]");
                self.key(&key.value(), '!');
            }
            Hop::Each(bracket) => {
                let at = bracket.span.join();
                chain.call("to", at, at, None, |value| quote_spanned!(at=> &#value));
                let way = &chain.way;
                chain.way = quote_spanned!(at=> __plan::Elements::each(#way));
                chain.same.push_str("[..]");
                self.data.tag('*');
            }
            Hop::Optional(question) => {
                let at = question.span;
                let same = format!("asked {}", chain.same);
                chain.same.push('?');
                let asked = self.fresh_at("t", at.resolved_at(chain.root.span()));
                let mut is_new = false;
                let number = self.shared_constant(&same, || {
                    is_new = true;
                    quote_spanned!(at=> #asked.optional())
                });
                self.data.tag('?');
                self.data.number(number);
                let asked = is_new.then(|| {
                    self.bindings
                        .extend(quote_spanned!(at=> let #asked = __plan::root();));
                    quote_spanned!(at=> .asked(#asked))
                });
                let asked = asked.unwrap_or_else(|| quote_spanned!(at=> .asked(__plan::root())));
                let (way, c) = (&chain.way, chain.name("__c", at));
                chain.way =
                    quote_spanned!(at=> { let #c = #way; __plan::OrAbsent::or_absent(#c)#asked });
                (chain.is_root, chain.wrapped) = (false, true);
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
                match key {
                    Lit::Int(index) => {
                        chain.same.push_str(".get(0)");
                        self.index(index, '?');
                    }
                    Lit::Str(key) => {
                        chain.same.push_str(".get(key)");
                        self.key(&key.value(), '?');
                    }
                    _ => {
                        chain.same.push_str(".get(other)");
                        self.data.tag('=');
                    }
                }
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
                chain.same.push_str(".pointer(key)");
                let asked = matches!(rest.first(), Some(Hop::Optional(_)));
                for token in tokens {
                    self.key(token, if asked { '^' } else { '!' });
                }
            }
        }
    }

    /// Goes on into a field. Which name it has in JSON is looked up once for all references to it.
    fn field(
        &mut self,
        chain: &mut Chain<'_>,
        dot: &Token![.],
        member: &Member,
        source: Option<Source>,
        last: bool,
    ) {
        let (at, ident) = match member {
            Member::Named(ident) => (ident.span(), ident.unraw().to_string()),
            Member::Unnamed(index) => (index.span, index.index.to_string()),
        };
        // Its type may not be looked into where the way ends with it.
        let check = format!("{}.{ident}{}", chain.same, if last { " last" } else { "" });
        let is_new_check = self.data.is_new_check(check);
        let known = self.fresh_at("t", at.resolved_at(chain.root.span()));
        let mut is_new = is_new_check;
        let number = self.shared_constant(&format!("shape {}", chain.same), || {
            is_new = true;
            quote_spanned!(at=> #known.shape())
        });
        self.data.tag('.');
        self.data.number(number);
        self.data.text(&ident);
        let field = |value| quote_spanned!(at=> #value #dot #member);
        if is_new {
            let ty = match source.filter(|_| chain.is_root) {
                // The type of a step or an input has a name.
                Some(source) => {
                    let mut ty = self.cx.type_of(source);
                    ty.set_span(at.resolved_at(ty.span()));
                    ty.into_token_stream()
                }
                None => quote_spanned!(at=> _),
            };
            self.bindings
                .extend(quote_spanned!(at=> let #known = <#ty as __plan::Shaped>::KNOWN;));
        }
        let see = (is_new && !(chain.is_root && source.is_some())).then_some(&known);
        chain.enter(dot.spans[0], at, see, field);
        if is_new_check {
            self.constants
                .check(quote_spanned!(at=> #known.check(#ident, #last);));
        }
        chain.same.push('.');
        chain.same.push_str(&ident);
    }

    fn index(&mut self, index: &LitInt, absence: char) {
        self.data.tag('#');
        self.data
            .number(index.base10_parse::<usize>().unwrap_or(usize::MAX));
        self.data.tag(absence);
    }

    fn key(&mut self, key: &str, absence: char) {
        self.data.tag('k');
        self.data.text(key);
        self.data.tag(absence);
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
                written.push_str(&format!(".pointer({})", pointer.to_token_stream()))
            }
        }
    }
    written
}
