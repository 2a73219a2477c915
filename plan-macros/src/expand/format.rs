//! `format!`, placeholder by placeholder.

use super::reference::path;
use super::value::{Builder, it};
use crate::ast::{Computed, Format, FormatPart, Value};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, LitStr};

impl Builder<'_> {
    /// Expands `format!`: each placeholder is checked and written on its own.
    pub(super) fn format(&mut self, format: &Format) -> TokenStream {
        self.data.tag('x').number(format.parts.len());
        for part in &format.parts {
            self.part(format, part);
        }
        let at = format.template.span();
        let from = path(&["TakesText", "formatted"], at, at);
        quote_spanned!(at=> #from())
    }

    fn part(&mut self, format: &Format, part: &FormatPart) {
        let (arg, spec) = match part {
            FormatPart::Text(literal) => {
                self.data.tag('s').text(literal);
                return;
            }
            FormatPart::Placeholder { arg, spec } => (&format.args[*arg], spec),
        };
        let placeholder = if spec.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{:{spec}}}")
        };
        let placeholder = LitStr::new(&placeholder, format.template.span());
        self.data.tag('v').text(spec);
        match arg {
            Value::Reference(reference) => {
                self.data.tag('-');
                let way = self.reference(reference);
                let (start, end) = (reference.root.span(), reference.end);
                let it = it(way, end);
                // `{:?}` shows what may be absent, too.
                let shown: TokenStream = if spec.ends_with('?') {
                    quote_spanned!(end=> #it.value())
                } else {
                    let shown = path(&["ShownInText", "shown"], start, end);
                    quote_spanned!(end=> #shown(#it))
                };
                let slot = self.fresh_at("s", start);
                self.bindings
                    .extend(quote_spanned!(end=> let #slot = __plan::shown(&|| #shown);));
                let value = proc_macro2::Ident::new("__value", start);
                let show = proc_macro2::Ident::new("show", end);
                let star = quote_spanned!(start=> *);
                let shown = quote_spanned!(end=> #star #value.#show());
                let at = format.template.span();
                let written = quote_spanned!(at=> __plan::format!(#placeholder, #shown));
                let show = quote!(__plan::Constant::Show(&__plan::show(#slot, |#value| #written)));
                let show = self.constant(show);
                self.data.number(show);
            }
            other => {
                self.data.tag('=');
                self.formatted(other, &placeholder);
            }
        }
    }

    /// A computed value that writes itself.
    fn formatted(&mut self, value: &Value, placeholder: &LitStr) {
        let format = |expr: &dyn ToTokens| quote!(__plan::format!(#placeholder, #expr));
        match value {
            Value::Computed(computed) => {
                self.compute(computed, format(&computed.expr));
            }
            Value::Scalar(scalar) => {
                let (minus, lit) = (&scalar.minus, &scalar.lit);
                let expr = quote!(#minus #lit);
                let computed = Computed::new(expr.clone(), Expr::Verbatim(expr.clone()));
                self.compute(&computed, format(&expr));
            }
            _ => {
                self.data.tag('n');
            }
        }
    }
}
