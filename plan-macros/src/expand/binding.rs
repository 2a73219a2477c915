//! The bindings of `for` and `if let`: the names for rustc, and the value that holds them all at run time.

use super::builder::{Builder, TemplateData};
use super::computed::{self, Reads, starts_at};
use super::frame::{LocalFrame, part_of};
use super::scope::Sources;
use super::tokens::located;
use super::way::path;
use super::{local, test};
use crate::ast::Computed;
use crate::syntax::tokens::enclosed;
use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

/// The kind of a header's bindings.
#[derive(Clone, Copy)]
pub(super) enum Binds {
    /// The names of a `for`, of each element.
    Each,
    /// The names of a pattern, together.
    Together,
    /// The only name in `Some(…)`, `Ok(…)` or `Err(…)`, bound to the whole inner value.
    One,
}

/// Writes the list of a `for` by `check::known`, which hides its type after an error in the type of `place`.
fn known(place: &TokenStream, expr: TokenStream) -> TokenStream {
    let mut spans = expr.clone().into_iter().map(|tree| tree.span());
    let start = spans.next().unwrap_or_else(Span::call_site);
    let end = spans.last().unwrap_or(start);
    let known = path(&["known"], start, end);
    known
        .parens(quote!(#place, #expr).into(), end)
        .into_token_stream()
}

/// Lowers `for … in …` or `if let …`, in which only the header is Rust, into a value that contains the bound values,
/// and binds the names. The header is in the code twice: for the types of the names, and for evaluation. rustc reports
/// each error once, because the types come from unreachable code, which rustc does not borrow-check. If an error makes
/// the types unknown, the type of a `for`'s list is unknown as well.
pub(super) fn bind(
    computed: &Computed,
    header: impl Fn(&TokenStream) -> TokenStream,
    bound: &[Ident],
    kind: Binds,
    builder: &mut Builder<'_>,
) -> TemplateData {
    let expr = builder.cx.names.expr(computed);
    let written = header(&quote!(#expr));
    let scope = local("scope", 0);
    let Reads {
        sources,
        look,
        locals,
        refs,
        values,
    } = computed::reads(computed, &scope, builder);
    let place = bind_types(computed, &sources, &written, bound, builder);
    let evaluate = match kind {
        Binds::Each => {
            let parts = 0..bound.len();
            let known = parts.fold(quote!(#expr), |expr, part| {
                known(&part_of(&place, part, bound.len()), expr)
            });
            let (known, collect, all) = (header(&known), collect(bound, &scope), local("all", 0));
            quote! {
                let mut #all = __plan::Vec::new();
                #known { #all.push(#collect?); }
                ::core::result::Result::Ok(__plan::serde_json::Value::Array(#all))
            }
        }
        Binds::Together | Binds::One => {
            let collect = collect(bound, &scope);
            quote! {
                #written { return #collect; }
                ::core::result::Result::Ok(__plan::serde_json::Value::Null)
            }
        }
    };
    let at = starts_at(&computed.written);
    let binding = Ident::new("binding", at);
    let arguments = quote!(#locals, #look, #place, |#scope, #refs, #place| { #values #evaluate });
    let arguments = enclosed(Delimiter::Parenthesis, arguments, at);
    let binding = quote_spanned!(at=> __plan::#binding #arguments);
    for (part, name) in bound.iter().enumerate() {
        builder.bind_name(name, &part_of(&place, part, bound.len()));
    }
    let test = test::lower(computed, builder);
    let data = computed::data(computed, &sources, &binding, builder);
    computed::written_fields(computed, builder);
    let (place, together) = match (kind, bound) {
        (Binds::One, [name]) => {
            let one = builder.fresh_at("f", name.span());
            builder.bind_name(&one, &quote!(#name));
            (one, false)
        }
        _ => (place, true),
    };
    builder.frames.push(LocalFrame {
        place,
        names: bound.to_vec(),
        together,
    });
    test::with(test, data)
}

/// Binds a variable whose type is the types of the bound names.
fn bind_types(
    computed: &Computed,
    sources: &Sources<'_>,
    written: &TokenStream,
    bound: &[Ident],
    builder: &mut Builder<'_>,
) -> Ident {
    let place = builder.fresh("f");
    let values = sources.iter().map(|(source, name)| {
        let ty = builder.type_of(*source);
        quote!(let #name: &#ty = __plan::any();)
    });
    let names = builder.cx.names.names_in(computed);
    let outer = names
        .locals
        .iter()
        .map(|(name, _)| quote!(let #name = __plan::at_place(#name);));
    let all = quote!(::core::option::Option::Some((#(__plan::own(&#bound).plan_owned(),)*)));
    let none = quote!(::core::option::Option::None);
    let (bind, all, none) = if names.asks {
        let ok = |value| quote!(::core::result::Result::Ok(#value));
        (quote!(bound_or_failed), ok(all), ok(none))
    } else {
        (quote!(bound), all, none)
    };
    let bind = quote! {
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
    };
    builder.bind(bind);
    place
}

/// Returns an expression for the JSON of the bound names, which the limits count. Null would mean that the pattern does not match.
fn collect(bound: &[Ident], scope: &Ident) -> TokenStream {
    let Some(first) = bound.first() else {
        return quote!(__plan::encode(#scope, &true));
    };
    // rustc reports values that are not serializable to JSON. All names have one span, so rustc merges the reports.
    let at = first.span();
    let values = bound.iter().map(|name| located(name.clone(), at));
    quote_spanned!(at=> __plan::encode(#scope, &(#(__plan::bound_value(&#values),)*)))
}
