//! `format!`, placeholder by placeholder.

use super::builder::{Builder, Lowered, TemplateData};
use super::way::{it, path};
use super::{computed, reference};
use crate::ast::{Computed, Format, FormatPart, Reference, Value};
use plan_graph::notation::{PartData, ShownData};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, LitStr};

/// Lowers `format!`: each placeholder is checked and written on its own.
pub(super) fn lower(format: &Format, builder: &mut Builder<'_>) -> Lowered {
    let parts = format.parts.iter().map(|part| match part {
        FormatPart::Text(text) => PartData::Text(text.clone()),
        FormatPart::Placeholder { arg, spec } => {
            let shown = placeholder(format, &format.args[*arg], spec, builder);
            PartData::Placeholder(spec.clone(), shown)
        }
    });
    let data = TemplateData::Format(parts.collect());
    let at = format.template.span();
    let from = path(&["TakesText", "formatted"], at, at);
    Lowered::new(quote_spanned!(at=> #from()), data)
}

fn placeholder(
    format: &Format,
    arg: &Value,
    spec: &str,
    builder: &mut Builder<'_>,
) -> ShownData<String> {
    let text = if spec.is_empty() {
        "{}".to_owned()
    } else {
        format!("{{:{spec}}}")
    };
    let placeholder = LitStr::new(&text, format.template.span());
    let formatted = |expr: &dyn ToTokens| quote!(__plan::format!(#placeholder, #expr));
    ShownData::Text(match builder.cx.names.value(arg) {
        Value::Reference(reference) => {
            return shown(reference, &placeholder, spec, builder);
        }
        Value::Computed(computed) => {
            let expr = builder.cx.names.expr(computed);
            computed::compute(computed, formatted(expr), builder).1
        }
        Value::Scalar(scalar) => {
            let (minus, lit) = (&scalar.minus, &scalar.lit);
            let expr = quote!(#minus #lit);
            let computed = Computed::new(expr.clone(), Expr::Verbatim(expr.clone()));
            computed::compute(&computed, formatted(&expr), builder).1
        }
        _ => TemplateData::NULL,
    })
}

/// Lowers a reference that Rust formats.
fn shown(
    reference: &Reference,
    placeholder: &LitStr,
    spec: &str,
    builder: &mut Builder<'_>,
) -> ShownData<String> {
    let Lowered { check, data } = reference::lower(reference, builder);
    let (start, end) = (reference.root.span(), reference.end);
    let it = it(check, end);
    // `{:?}` shows optional values as well.
    let shown: TokenStream = if spec.ends_with('?') {
        quote_spanned!(end=> #it.value())
    } else {
        let shown = path(&["ShownInText", "shown"], start, end);
        quote_spanned!(end=> #shown(#it))
    };
    let slot = builder.fresh_at("s", start);
    builder.bind(quote_spanned!(end=> let #slot = __plan::shown(&|| #shown);));
    let value = Ident::new("__value", start);
    let show = Ident::new("show", end);
    let star = quote_spanned!(start=> *);
    let shown = quote_spanned!(end=> #star #value.#show());
    let at = placeholder.span();
    let written = quote_spanned!(at=> __plan::format!(#placeholder, #shown));
    let show = quote!(__plan::Constant::Show(&__plan::show(#slot, |#value| #written)));
    ShownData::By(data, builder.constant(show))
}
