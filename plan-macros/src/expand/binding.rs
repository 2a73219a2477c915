//! What `for` and `if let` bind: the names for rustc, and the value that holds them all at run time.

use super::computed::starts_at;
use super::local;
use super::reference::path;
use super::tokens::located;
use super::value::Builder;
use crate::ast::Computed;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

/// What a header binds.
#[derive(Clone, Copy)]
pub(super) enum Binds {
    /// The names of a `for`, of each element.
    Each,
    /// The names of a pattern, together.
    Together,
    /// The one name of `Some(…)`, `Ok(…)` or `Err(…)`, as the whole value in it.
    One,
}

/// What `for` or `if let` binds while what is inside it is expanded.
pub(super) struct LocalFrame {
    /// The binding of its place.
    pub(super) place: Ident,
    /// The names that are bound.
    pub(super) names: Vec<Ident>,
    /// Whether they are bound together, each to a part; if not, the one name is bound to the whole.
    pub(super) together: bool,
}

impl LocalFrame {
    /// An expression for the place of a part, or of the whole.
    pub(super) fn part(&self, part: Option<usize>) -> TokenStream {
        let place = &self.place;
        match part {
            Some(part) => part_of(place, part, self.names.len()),
            None => quote!(#place),
        }
    }

    /// An expression for the place of a name, if it is bound here.
    fn place_of(&self, name: &Ident) -> Option<TokenStream> {
        let part = self.names.iter().rposition(|bound| bound == name)?;
        let place = &self.place;
        Some(if self.together {
            part_of(place, part, self.names.len())
        } else {
            quote!(#place)
        })
    }
}

/// One of `count` names that are bound together.
fn part_of(place: &Ident, part: usize, count: usize) -> TokenStream {
    let holes = (0..count).map(|other| {
        if other == part {
            quote!(__x)
        } else {
            quote!(_)
        }
    });
    quote!(__plan::part(#place, |(#(#holes,)*)| __x))
}

/// What a `for` goes through, if the type of this place is known.
fn known(place: &TokenStream, expr: TokenStream) -> TokenStream {
    let mut spans = expr.clone().into_iter().map(|tree| tree.span());
    let start = spans.next().unwrap_or_else(Span::call_site);
    let end = spans.last().unwrap_or(start);
    let known = path(&["known"], start, end);
    known
        .parens(quote!(#place, #expr).into(), end)
        .into_token_stream()
}

impl Builder<'_> {
    /// Leaves the innermost frame: a name that it bound has the meaning again that it had before.
    pub(super) fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for name in frame.names {
            let outer = self
                .frames
                .iter()
                .rev()
                .find_map(|outer| outer.place_of(&name));
            let place = match (outer, self.source(&name)) {
                (Some(place), _) => place,
                (None, Some(source)) => {
                    self.rebound.insert(source);
                    let ty = self.type_of(source);
                    quote!(__plan::root::<#ty>())
                }
                (None, None) => continue,
            };
            self.bindings
                .extend(quote!(#[allow(unused_variables)] let #name = #place;));
        }
    }

    /// Expands `for … in …` or `if let …`, of which only the header is Rust's, into a value that holds what is bound, and binds
    /// the names. The header is written twice: where the types of the names are taken from, and where it is evaluated. One mistake is one
    /// error: the types are taken from code that is never reached, which is not borrow-checked, and where they are unknown because of a
    /// mistake, so is what a `for` goes through.
    pub(super) fn bind(
        &mut self,
        computed: &Computed,
        header: impl Fn(&TokenStream) -> TokenStream,
        bound: &[Ident],
        kind: Binds,
    ) {
        let many = matches!(kind, Binds::Each);
        let place = self.fresh("f");
        let sources = self.sources(computed);
        let values = sources.iter().map(|(source, name)| {
            let ty = self.type_of(*source);
            quote!(let #name: &#ty = __plan::any();)
        });
        let outer = computed
            .locals
            .iter()
            .map(|(name, _)| quote!(let #name = __plan::at_place(#name);));
        let expr = &computed.expr;
        let written = header(&quote!(#expr));
        let (bind, none, some): (_, _, fn(TokenStream) -> TokenStream) = if computed.asks {
            let none = quote!(::core::result::Result::Ok(::core::option::Option::None));
            (
                quote!(bound_or_failed),
                none,
                |all| quote!(::core::result::Result::Ok(::core::option::Option::Some(#all))),
            )
        } else {
            (
                quote!(bound),
                quote!(::core::option::Option::None),
                |all| quote!(::core::option::Option::Some(#all)),
            )
        };
        let all = some(quote!((#(__plan::own(&#bound).plan_owned(),)*)));
        self.bindings.extend(quote! {
            #[allow(clippy::never_loop, unused_variables)]
            let #place = __plan::#bind(&|| {
                return #none;
                #(#values)*
                #(#outer)*
                #written {
                    return #all;
                }
                #none
            });
        });
        let binding = {
            // Null would say that the pattern does not match.
            let collect = match bound {
                [] => quote!(__plan::encode(&true)),
                bound => {
                    // Where a name is bound, rustc says that JSON cannot hold its value; all at one place, so that it says it once.
                    let at = bound[0].span();
                    let values = bound.iter().map(|name| located(name.clone(), at));
                    quote_spanned!(at=> __plan::encode(&(#(__plan::bound_value(&#values),)*)))
                }
            };
            let (scope, all) = (local("scope", 0), local("all", 0));
            let (look, locals, refs, values) = self.reads(computed, &sources, &scope);
            let evaluate = if many {
                let known = bound
                    .iter()
                    .enumerate()
                    .fold(quote!(#expr), |expr, (part, _)| {
                        known(&part_of(&place, part, bound.len()), expr)
                    });
                let known = header(&known);
                quote! {
                    let mut #all = __plan::Vec::new();
                    #known { #all.push(#collect?); }
                    ::core::result::Result::Ok(__plan::serde_json::Value::Array(#all))
                }
            } else {
                quote! {
                    #written { return #collect; }
                    ::core::result::Result::Ok(__plan::serde_json::Value::Null)
                }
            };
            let at = starts_at(&computed.written);
            let binding = Ident::new("binding", at);
            let arguments = quote!(#locals, #look, #place, |#scope, #refs, #place| { let _ = #scope; #values #evaluate });
            let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
            arguments.set_span(at);
            quote_spanned!(at=> __plan::#binding #arguments)
        };
        let parts = bound.iter().enumerate().map(|(part, name)| {
            let place = part_of(&place, part, bound.len());
            quote!(#[allow(unused_variables)] let #name = #place;)
        });
        self.bindings.extend(quote!(#(#parts)*));
        self.test(computed);
        self.computed_data(computed, &sources, &binding);
        self.written_fields(computed);
        let (place, together) = match (kind, bound) {
            (Binds::One, [name]) => {
                let one = self.fresh_at("f", name.span());
                self.bindings
                    .extend(quote!(#[allow(unused_variables)] let #one = #name;));
                (one, false)
            }
            _ => (place, true),
        };
        self.frames.push(LocalFrame {
            place,
            names: bound.to_vec(),
            together,
        });
    }
}
