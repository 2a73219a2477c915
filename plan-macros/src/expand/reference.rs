use super::{Context, text};
use crate::ast::{Hop, Local, Reference};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Lit, Member};

/// A reference, expanded.
pub(super) struct Expanded {
    /// Binds the cursor: `let __r0 = …;`
    pub(super) binding: TokenStream,
    /// The reference as data.
    pub(super) data: TokenStream,
}

/// Expands a reference into a cursor of this name and its data; `root` is its first name with the hygiene of the root's binding.
///
/// The author's tokens keep their spans, and what stands around them takes the span of its neighbours, so that rustc's
/// messages point at the author's text. The names of the chain's own variables take the hygiene of the reference's first token.
pub(super) fn expand(
    reference: &Reference,
    root: &Ident,
    name: &Ident,
    cx: &Context<'_>,
) -> Expanded {
    let mut chain = TokenStream::new();
    let mut segments = Vec::new();
    let links: usize = reference
        .hops
        .iter()
        .filter(|hop| matches!(hop, Hop::Field(..) | Hop::Optional(_)))
        .count();
    let mut linked = 0;
    for (index, hop) in reference.hops.iter().enumerate() {
        let anchor = |span: Span| span.resolved_at(root.span());
        // The cursor behind the field or the `?` that is looked at: one step back for each that follows.
        let mut back = |at: Span| {
            linked += 1;
            let steps = std::iter::repeat_n(quote_spanned!(at=> .back()), links - linked);
            let mut name = name.clone();
            name.set_span(anchor(at));
            quote_spanned!(at=> #name #(#steps)*)
        };
        let last = index + 1 == reference.hops.len();
        match hop {
            Hop::Field(dot, member) => {
                let (at, ident) = match member {
                    Member::Named(ident) => (ident.span(), ident.unraw().to_string()),
                    Member::Unnamed(index) => (index.span, index.index.to_string()),
                };
                let (c, x) = (Ident::new("__c", anchor(at)), Ident::new("__x", anchor(at)));
                let present = present(&c, dot.spans[0], at);
                chain.extend(quote_spanned!(at=> let #c = __plan::Shaped::field(#present, |#x| &(*#x) #dot #member);));
                let behind = back(at);
                segments.push(quote_spanned!(at=> #behind.key(#ident, #last)));
            }
            Hop::Index(bracket, index) => {
                let at = bracket.span.join();
                let (c, x) = (Ident::new("__c", anchor(at)), Ident::new("__x", anchor(at)));
                let present = present(&c, at, at);
                let indexed = indexed(&x, bracket, index.to_token_stream());
                chain.extend(quote_spanned!(at=> let #c = #present.index(|#x| &#indexed);));
                let number: usize = index.base10_parse().unwrap_or(usize::MAX);
                segments.push(quote!(__plan::Segment::Index(#number, __plan::Absent::Error)));
            }
            Hop::Key(bracket, key) => {
                let at = bracket.span.join();
                let (c, x) = (Ident::new("__c", anchor(at)), Ident::new("__x", anchor(at)));
                let present = present(&c, at, at);
                let indexed = indexed(&x, bracket, key.to_token_stream());
                chain.extend(quote_spanned!(at=> let #c = #present.index(|#x| &#indexed);));
                let key = text(&key.value());
                segments.push(quote!(__plan::Segment::Key(#key, __plan::Absent::Error)));
            }
            Hop::Each(bracket) => {
                let at = bracket.span.join();
                let c = Ident::new("__c", anchor(at));
                let present = present(&c, at, at);
                chain.extend(
                    quote_spanned!(at=> let #c = #present; let #c = __plan::Elements::each(#c);),
                );
                segments.push(quote!(__plan::Segment::Each));
            }
            Hop::Optional(question) => {
                let at = question.span;
                let c = Ident::new("__c", anchor(at));
                chain.extend(quote_spanned!(at=> let #c = __plan::OrAbsent::or_absent(#c);));
                let behind = back(at);
                segments.push(quote_spanned!(at=> #behind.optional()));
            }
            Hop::Get(dot, method, key) => {
                let at = method.span();
                let (c, x) = (Ident::new("__c", anchor(at)), Ident::new("__x", anchor(at)));
                let present = present(&c, dot.spans[0], at);
                chain.extend(
                    quote_spanned!(at=> let #c = #present.get(|#x| (*#x) #dot #method(#key));),
                );
                segments.push(match key {
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
                let (c, x) = (Ident::new("__c", anchor(at)), Ident::new("__x", anchor(at)));
                let present = present(&c, dot.spans[0], at);
                chain.extend(quote_spanned!(at=> let #c = #present.pointer(|#x| (*#x) #dot #method(#pointer));));
                let asked = matches!(reference.hops.get(index + 1), Some(Hop::Optional(_)));
                let absent = if asked { quote!(Stop) } else { quote!(Error) };
                segments.extend(tokens.iter().map(|token| {
                    let token = text(token);
                    quote!(__plan::Segment::Key(#token, __plan::Absent::#absent))
                }));
            }
        }
    }
    let start = Ident::new("__c", root.span());
    let binding = quote! {
        let #name = __plan::typed(&|| { let #start = #root; #chain #start });
    };
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
    Expanded { binding, data }
}

/// The cursor, if it is no `Option`: the message else points at what looks into it.
fn present(cursor: &Ident, start: Span, end: Span) -> TokenStream {
    let path = path(&["Present", "present"], start, end);
    let mut start_cursor = cursor.clone();
    start_cursor.set_span(start.resolved_at(cursor.span()));
    quote_spanned!(end=> #path(#start_cursor.kind()))
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

fn indexed(x: &Ident, bracket: &syn::token::Bracket, index: TokenStream) -> TokenStream {
    let mut group = proc_macro2::Group::new(proc_macro2::Delimiter::Bracket, index);
    group.set_span(bracket.span.join());
    let start = bracket.span.open();
    quote_spanned!(start=> (*#x) #group)
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
