//! Rust expressions over what a plan has.

use super::block::LocalPlace;
use super::reference::field_name;
use super::value::Builder;
use super::{Context, local};
use crate::ast::Computed;
use crate::names::Source;
use crate::parse::value_text;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

impl Builder<'_> {
    /// Binds a computed value's slot.
    pub(super) fn computed(&mut self, computed: &Computed) -> Ident {
        let expr = &computed.expr;
        self.test(computed);
        self.compute(computed, quote!(#expr))
    }

    /// Binds a slot that `expr`, which mentions the names of `computed`, fills.
    pub(super) fn compute(&mut self, computed: &Computed, expr: TokenStream) -> Ident {
        let name = self.fresh("k");
        self.bindings.extend(quote!(let #name = __plan::slot();));
        let sources = self.sources(computed);
        let scope = local("scope", 0);
        let (look, locals, refs, values) = self.reads(computed, &sources, &scope);
        let parameter = if sources.is_empty() {
            quote!(_)
        } else {
            quote!(#scope)
        };
        // A panic names the place of the call, so it is the author's.
        let at = starts_at(&computed.written);
        let made = if computed.asks {
            quote!({ #values ::core::result::Result::Ok(#expr) })
        } else {
            quote!({ #values #expr })
        };
        let method =
            |plain: &str, asking: &str| Ident::new(if computed.asks { asking } else { plain }, at);
        let (with, arguments) = if computed.locals.is_empty() {
            let with = match &self.is_json {
                Some(is_json) => {
                    let with = method("with_declared", "asking_declared");
                    quote!(#with::<{ #is_json }>)
                }
                None => method("with", "asking").into_token_stream(),
            };
            (with, quote!(#look, |#parameter| #made))
        } else {
            let with = method("within", "asking_within").into_token_stream();
            (with, quote!(#locals, #look, |#parameter, #refs| #made))
        };
        let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
        arguments.set_span(at);
        let filled = quote!(#name.#with #arguments);
        if computed.locals.is_empty() {
            let values = sources.iter().map(|(source, name)| {
                let ty = self.type_of(*source);
                quote!(#[allow(unused_variables)] let #name: &#ty = __plan::any();)
            });
            self.types.extend(if computed.asks {
                quote!(let _ = || {
                    #(#values)*
                    __plan::checked(#name.of(#expr))
                };)
            } else {
                quote!(let _ = || #name.of({ #(#values)* #expr });)
            });
        }
        self.computed_data(computed, &sources, &filled);
        self.written_fields(computed);
        name
    }

    /// Checks that the fields of steps and inputs that a computed value names are part of their JSON.
    pub(super) fn written_fields(&mut self, computed: &Computed) {
        for (name, member) in &computed.fields {
            let is_local = self.frames.iter().any(|frame| frame.names.contains(name));
            let Some(source) = self.source(name).filter(|_| !is_local) else {
                continue;
            };
            let (at, ident) = field_name(member);
            let same = self.cx.same_type_seen(source, self.reader(source));
            if self.data.is_new_check(format!("{same}.{ident} computed")) {
                let ty = self.type_of(source);
                self.constants.check(
                    quote_spanned!(at=> __plan::written(__plan::Probe::<#ty>::WRITTEN, #ident);),
                );
            }
        }
    }

    /// The steps and inputs that a computed value mentions, in order.
    pub(super) fn sources<'c>(&self, computed: &'c Computed) -> Vec<(Source, &'c Ident)> {
        let names = computed.names.iter();
        let mut sources: Vec<_> = names
            .filter_map(|name| Some((self.source(name)?, name)))
            .collect();
        sources.sort_by_key(|(source, _)| *source);
        sources
    }

    /// How a computed value comes by what it mentions: the closure that looks for it, the places of bound names, the pattern that
    /// names them, and the statements that name the rest.
    pub(super) fn reads(
        &self,
        computed: &Computed,
        sources: &[(Source, &Ident)],
        scope: &Ident,
    ) -> (TokenStream, TokenStream, TokenStream, TokenStream) {
        let looks = sources.iter().map(|(source, _)| {
            let ty = self.type_of(*source);
            let source = Context::source(self.place(*source));
            quote!(#scope.value_of::<#ty>(#source)?;)
        });
        let parameter = if sources.is_empty() {
            quote!(_)
        } else {
            quote!(#scope)
        };
        let look = quote!(|#parameter| { #(#looks)* ::core::result::Result::Ok(()) });
        let values = sources.iter().map(|(source, name)| {
            let ty = self.type_of(*source);
            let source = Context::source(self.place(*source));
            // In the tokens of a macro, a name may be a mere word.
            quote!(#[allow(unused_variables)] let #name: &#ty = #scope.known::<#ty>(#source);)
        });
        let (mut locals, mut refs) = (quote!(()), quote!(()));
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            let mentioned: Vec<_> = computed
                .locals
                .iter()
                .filter(|(_, local)| local.frame == depth)
                .collect();
            if mentioned.is_empty() {
                continue;
            }
            let place = &frame.place;
            let LocalPlace::Frame(depth) = self.place_of_local(mentioned[0].1) else {
                // Each is an input of the block.
                for (name, local) in mentioned {
                    let LocalPlace::Input(input) = self.place_of_local(*local) else {
                        continue;
                    };
                    let (part, input) = (frame.part(local.part), Context::source(input));
                    locals = quote!((__plan::at(#part, #input), #locals));
                    refs = quote!((#name, #refs));
                }
                continue;
            };
            locals = quote!((__plan::at(#place, __plan::Source::Local(#depth)), #locals));
            let named = |part: Option<usize>| {
                mentioned
                    .iter()
                    .find(|(_, local)| local.part == part)
                    .map(|(name, _)| name)
            };
            refs = if frame.together {
                let parts = (0..frame.names.len()).map(|part| match named(Some(part)) {
                    Some(name) => quote!(#name),
                    None => quote!(_),
                });
                quote!(((#(#parts,)*), #refs))
            } else {
                let name = named(None);
                quote!((#name, #refs))
            };
        }
        (look, locals, refs, quote!(#(#values)*))
    }

    /// Writes a computed value as data.
    pub(super) fn computed_data(
        &mut self,
        computed: &Computed,
        sources: &[(Source, &Ident)],
        compute: &TokenStream,
    ) {
        let mut places: Vec<Source> = sources
            .iter()
            .map(|(source, _)| self.place(*source))
            .collect();
        let mut frames = Vec::new();
        for (_, local) in &computed.locals {
            match self.place_of_local(*local) {
                LocalPlace::Frame(frame) => frames.push(frame),
                LocalPlace::Input(input) => places.push(input),
            }
        }
        places.sort_unstable();
        frames.sort_unstable();
        frames.dedup();
        self.data.tag('c').number(places.len() + frames.len());
        for place in places {
            self.data.source(place);
        }
        for frame in frames {
            self.data.local(frame);
        }
        self.data.text(&value_text(&computed.written));
        let constant = self.constant(quote!(__plan::Constant::Compute(&#compute)));
        self.data.number(constant);
    }
}

/// Where the author's text begins.
pub(super) fn starts_at(written: &TokenStream) -> Span {
    let first = written.clone().into_iter().next();
    first.map_or_else(Span::mixed_site, |tree| tree.span())
}
