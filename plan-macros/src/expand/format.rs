//! `format!`, placeholder by placeholder.

use super::reference::path;
use super::value::{Builder, Expanded, it};
use super::{slice, text};
use crate::ast::{Computed, Format, FormatPart, Value};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::LitStr;

impl Builder<'_> {
    /// Expands `format!`: each placeholder is checked and written on its own.
    pub(super) fn format(&mut self, format: &Format) -> Expanded {
        let parts: Vec<TokenStream> = format
            .parts
            .iter()
            .map(|part| self.part(format, part))
            .collect();
        let parts = slice(&parts);
        let at = format.template.span();
        let from = path(&["FromText", "formatted"], at, at);
        Expanded {
            check: quote_spanned!(at=> #from()),
            data: quote!(__plan::Template::Text(#parts)),
        }
    }

    fn part(&mut self, format: &Format, part: &FormatPart) -> TokenStream {
        let (arg, spec) = match part {
            FormatPart::Text(literal) => {
                let literal = text(literal);
                return quote!(__plan::Part::Literal(#literal));
            }
            FormatPart::Placeholder { arg, spec } => (&format.args[*arg], spec),
        };
        let placeholder = if spec.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{:{spec}}}")
        };
        let placeholder = LitStr::new(&placeholder, format.template.span());
        let spec_text = text(spec);
        match arg {
            Value::Reference(reference) => {
                let (way, data) = self.reference(reference);
                let (start, end) = (reference.root.span(), reference.end);
                let shown = path(&["Shown", "shown"], start, end);
                let it = it(&way, end);
                let slot = self.fresh_at("s", start);
                self.bindings
                    .extend(quote_spanned!(end=> let #slot = __plan::shown(&|| #shown(#it));));
                let value = proc_macro2::Ident::new("__value", start);
                let show = proc_macro2::Ident::new("show", end);
                let star = quote_spanned!(start=> *);
                let shown = quote_spanned!(end=> #star #value.#show());
                let at = format.template.span();
                let written = quote_spanned!(at=> __plan::format!(#placeholder, #shown));
                quote! {
                    __plan::Part::Value {
                        value: #data,
                        spec: #spec_text,
                        show: ::core::option::Option::Some(&__plan::show(#slot, |#value| #written)),
                    }
                }
            }
            other => {
                let data = self.formatted(other, &placeholder);
                quote! {
                    __plan::Part::Value {
                        value: #data,
                        spec: #spec_text,
                        show: ::core::option::Option::Some(&__plan::Formatted),
                    }
                }
            }
        }
    }

    /// A computed value that writes itself.
    fn formatted(&mut self, value: &Value, placeholder: &LitStr) -> TokenStream {
        let format = |expr: &TokenStream| quote!(__plan::format!(#placeholder, #expr));
        let (computed, expr) = match value {
            Value::Computed(computed) => {
                let expr = computed.expr.to_token_stream();
                return self.compute(computed, format(&expr)).1;
            }
            Value::Scalar(scalar) => {
                let (minus, lit) = (&scalar.minus, &scalar.lit);
                let written = quote!(#minus #lit);
                (syn::parse2(written.clone()), written)
            }
            _ => return quote!(__plan::Template::Null),
        };
        match computed {
            Ok(expression) => {
                let computed = Computed {
                    written: expr.clone(),
                    expr: expression,
                    names: Vec::new(),
                    locals: Vec::new(),
                };
                self.compute(&computed, format(&expr)).1
            }
            Err(_) => quote!(__plan::Template::Null),
        }
    }
}
