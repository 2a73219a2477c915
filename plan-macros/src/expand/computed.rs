//! Rust expressions over the values of a plan.

use super::builder::{Builder, TemplateData};
use super::reference::field_name;
use super::scope::{Sources, any_values, sources};
use super::table::CheckKey;
use super::{Context, local, test};
use crate::ast::Computed;
use crate::names::Local;
use crate::parse::value_text;
use crate::syntax::tokens::enclosed;
use plan_graph::notation::SourceData;
use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

/// Binds the slot of a computed value.
pub(super) fn lower(computed: &Computed, builder: &mut Builder<'_>) -> (Ident, TemplateData) {
    let test = test::lower(computed, builder);
    let expr = builder.cx.names.expr(computed);
    let (name, data) = compute(computed, quote!(#expr), builder);
    (name, test::with(test, data))
}

/// Binds a slot that `expr`, which mentions the names of `computed`, fills.
pub(super) fn compute(
    computed: &Computed,
    expr: TokenStream,
    builder: &mut Builder<'_>,
) -> (Ident, TemplateData) {
    let name = builder.fresh("k");
    builder.bind(quote!(let #name = __plan::slot();));
    let scope = local("scope", 0);
    let Reads {
        sources,
        look,
        locals,
        refs,
        values,
    } = reads(computed, &scope, builder);
    // A panic reports the span of the call, so the call has a span of the author.
    let at = starts_at(&computed.written);
    let names = builder.cx.names.names_in(computed);
    let asks = names.asks;
    let made = if asks {
        quote!({ #values ::core::result::Result::Ok(#expr) })
    } else {
        quote!({ #values #expr })
    };
    let parameter = parameter(&sources, &scope);
    let method = |plain: &str, asking: &str| Ident::new(if asks { asking } else { plain }, at);
    let (with, arguments) = if !names.locals.is_empty() {
        let with = method("within", "asking_within").into_token_stream();
        (with, quote!(#locals, #look, |#parameter, #refs| #made))
    } else {
        let with = match &builder.is_json {
            Some(is_json) => {
                let with = method("with_declared", "asking_declared");
                quote!(#with::<{ #is_json }>)
            }
            None => method("with", "asking").into_token_stream(),
        };
        (with, quote!(#look, |#parameter| #made))
    };
    let arguments = enclosed(Delimiter::Parenthesis, arguments, at);
    let filled = quote!(#name.#with #arguments);
    // Only the expression form needs the types.
    if names.locals.is_empty() && builder.cx.plan.head.is_none() {
        let values = any_values(&sources, builder);
        builder.types.extend(if asks {
            quote!(let _ = || {
                #values
                __plan::checked(#name.of(#expr))
            };)
        } else {
            quote!(let _ = || #name.of({ #values #expr });)
        });
    }
    let data = data(computed, &sources, &filled, builder);
    written_fields(computed, builder);
    (name, data)
}

/// Checks that the fields of steps and inputs that a computed value names are part of their JSON.
pub(super) fn written_fields(computed: &Computed, builder: &mut Builder<'_>) {
    for (name, member) in &builder.cx.names.names_in(computed).fields {
        let mut frames = builder.frames.iter();
        let is_local = frames.any(|frame| frame.names.contains(name));
        let Some(source) = builder.source(name).filter(|_| !is_local) else {
            continue;
        };
        let (at, ident) = field_name(member);
        let check = CheckKey::Computed(builder.type_id(source), ident.clone());
        if builder.table.is_new_check(check) {
            let ty = builder.type_of(source);
            builder.evaluate(
                quote_spanned!(at=> __plan::written(__plan::Probe::<#ty>::WRITTEN, #ident);),
            );
        }
    }
}

/// The values that a computed value mentions.
pub(super) struct Reads<'c> {
    pub(super) sources: Sources<'c>,
    /// The closure that looks for the values.
    pub(super) look: TokenStream,
    /// The sources of bound names.
    pub(super) locals: TokenStream,
    /// The pattern that names the bound values.
    pub(super) refs: TokenStream,
    /// The statements that name the other values.
    pub(super) values: TokenStream,
}

pub(super) fn reads<'c>(computed: &Computed, scope: &Ident, builder: &Builder<'c>) -> Reads<'c> {
    let sources = sources(computed, builder);
    let typed = sources.iter().map(|(source, name)| {
        let place = Context::source(builder.place(*source));
        (builder.type_of(*source), place, name)
    });
    let typed: Vec<_> = typed.collect();
    let looks = typed
        .iter()
        .map(|(ty, place, _)| quote!(#scope.value_of::<#ty>(#place)?;));
    let parameter = parameter(&sources, scope);
    let look = quote!(|#parameter| { #(#looks)* ::core::result::Result::Ok(()) });
    // In the tokens of a macro, a name may be a mere word.
    let values = typed.iter().map(|(ty, place, name)| {
        quote!(#[allow(unused_variables)] let #name: &#ty = #scope.known::<#ty>(#place);)
    });
    let values = values.collect();
    let (locals, refs) = locals(&builder.cx.names.names_in(computed).locals, builder);
    Reads {
        sources,
        look,
        locals,
        refs,
        values,
    }
}

fn parameter(sources: &Sources<'_>, scope: &Ident) -> TokenStream {
    if sources.is_empty() {
        quote!(_)
    } else {
        quote!(#scope)
    }
}

/// Returns the sources of bound names, and the pattern that names their values.
fn locals(mentions: &[(Ident, Local)], builder: &Builder<'_>) -> (TokenStream, TokenStream) {
    let (mut locals, mut refs) = (quote!(()), quote!(()));
    for (depth, frame) in builder.frames.iter().enumerate().rev() {
        let mentioned = mentions.iter().filter(|(_, local)| local.frame == depth);
        let mentioned: Vec<_> = mentioned.collect();
        let Some((_, first)) = mentioned.first() else {
            continue;
        };
        let source = builder.place_of_local(*first);
        if !matches!(source, SourceData::Local(_)) {
            // Each is an input of the block.
            for (name, local) in mentioned {
                let input = Context::source(builder.place_of_local(*local));
                let part = frame.part(local.part);
                locals = quote!((__plan::at(#part, #input), #locals));
                refs = quote!((#name, #refs));
            }
            continue;
        }
        let (place, source) = (&frame.place, Context::source(source));
        locals = quote!((__plan::at(#place, #source), #locals));
        let named = |part: Option<usize>| {
            let mut mentioned = mentioned.iter();
            let named = mentioned.find(|(_, local)| local.part == part);
            named.map(|(name, _)| name)
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
    (locals, refs)
}

/// Returns a computed value as data.
pub(super) fn data(
    computed: &Computed,
    sources: &Sources<'_>,
    compute: &TokenStream,
    builder: &mut Builder<'_>,
) -> TemplateData {
    let locals = builder.cx.names.names_in(computed).locals.iter();
    let locals = locals.map(|(_, local)| builder.place_of_local(*local));
    let sources = sources.iter().map(|(source, _)| builder.place(*source));
    let mut reads: Vec<SourceData> = sources.chain(locals).collect();
    reads.sort_unstable();
    // Several names may be bound together.
    reads.dedup();
    let constant = builder.constant(quote!(__plan::Constant::Compute(&#compute)));
    TemplateData::Computed(reads, value_text(&computed.written), constant)
}

/// Returns the span of the author's first token.
pub(super) fn starts_at(written: &TokenStream) -> Span {
    let first = written.clone().into_iter().next();
    first.map_or_else(Span::mixed_site, |tree| tree.span())
}
