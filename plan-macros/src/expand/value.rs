//! Values: as an expression for rustc to check, and as a template.

use super::builder::{Builder, Lowered, TemplateData};
use super::test::form_of_scalar;
use super::tokens::{TokenList, located};
use super::way::{ends, it, path};
use super::{computed, literal, reference};
use crate::ast::{Computed, Format, FormatPart, Json, Reference, Scalar, Value};
use crate::names::Outcome;
use plan_graph::notation::{PartData, ShownData};
use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Lit, LitStr};

impl Builder<'_> {
    /// Lowers a value with an expected type.
    pub(super) fn value(&mut self, value: &Value) -> Lowered {
        match self.cx.names.value(value) {
            Value::Scalar(scalar) => Lowered::new(self::scalar(scalar), scalar_data(scalar)),
            Value::None(none) => {
                let at = none.span();
                let from = path(&["TakesNone", "none"], at, at);
                Lowered::new(from.parens(TokenList::default(), at), TemplateData::NULL)
            }
            Value::Some(some, paren, value) => {
                let Lowered { check, data } =
                    self.arriving("FitsIntoSome", |builder| builder.value(value));
                let (start, end) = (some.span(), paren.span.close());
                let inner = path(&["inner"], start, end).parens(check, end);
                let some = path(&["TakesSome", "some"], start, end).parens(inner, end);
                Lowered::new(some, data)
            }
            Value::List(bracket, values) => {
                let (checks, data) =
                    self.arriving("FitsInto", |builder| builder.elements(values, Self::value));
                let (start, end) = (bracket.span.open(), bracket.span.close());
                let elements = quote!(#(#checks),*).into();
                let elements =
                    TokenList::default().group(Delimiter::Bracket, elements, bracket.span.join());
                let list = path(&["TakesList", "list"], start, end);
                Lowered::new(list.parens(elements, end), data)
            }
            Value::Tuple(paren, values) if values.is_empty() => {
                let unit = TokenList::default().parens(TokenList::default(), paren.span.join());
                Lowered::new(unit, TemplateData::NULL)
            }
            Value::Tuple(paren, values) => {
                let (checks, data) =
                    self.arriving("FitsInto", |builder| builder.elements(values, Self::value));
                let at = paren.span.join();
                Lowered::new(quote_spanned!(at=> (#(#checks,)*)), data)
            }
            Value::Literal(literal) => {
                let (start, end) = ends(&literal.path);
                let (name, data) = literal::nested(literal, self);
                let name = located(name, start);
                let is_result = ["Ok", "Err"].iter().any(|it| literal.path.is_ident(it));
                let takes = if is_result { "Takes" } else { "TakesStruct" };
                let check = self.fits(takes, it(name.into(), end), start, end);
                Lowered::new(check, data)
            }
            Value::Json(at, json) => {
                let data = self.json(json);
                let untyped = quote_spanned!(*at=> __plan::untyped());
                Lowered::new(self.fits("Takes", untyped.into(), *at, *at), data)
            }
            Value::Format(format) => formatted(format, self),
            Value::Reference(reference) => {
                let Lowered { check, data } = reference::lower(reference, self);
                let (start, end) = (reference.root.span(), reference.end);
                let place = match self.cx.names.outcome(reference) {
                    Outcome::None => "Takes",
                    Outcome::One => "TakesOutcome",
                    Outcome::Each => "TakesOutcomes",
                };
                Lowered::new(self.fits(place, it(check, end), start, end), data)
            }
            Value::Computed(computed) => {
                let (name, data) = computed::lower(computed, self);
                Lowered::new(quote!(#name.value()), data)
            }
            Value::Broken => Lowered::new(quote!(__plan::any()), TemplateData::NULL),
        }
    }

    /// Lowers a value with the type that is declared at the given span.
    pub(super) fn value_of(
        &mut self,
        value: &Value,
        (ty, at): &(TokenStream, Span),
    ) -> TemplateData {
        let Lowered { check, data } = self.value(value);
        self.check_type(*at, ty, check);
        data
    }

    /// Lowers a condition.
    pub(super) fn holds(&mut self, value: &Value) -> TemplateData {
        let Lowered { check, data } = self.arriving("Holds", |builder| builder.value(value));
        self.check_type(Span::call_site(), quote!(::core::primitive::bool), check);
        data
    }

    /// Lowers the elements of a list or a tuple.
    pub(super) fn elements(
        &mut self,
        values: &[Value],
        lower: fn(&mut Self, &Value) -> Lowered,
    ) -> (Vec<TokenList>, TemplateData) {
        let lowered = values.iter().map(|value| {
            let Lowered { check, data } = lower(self, value);
            (check, data)
        });
        let (checks, data) = lowered.unzip();
        (checks, TemplateData::List(data))
    }

    /// Returns a check that a value fits the expected type.
    fn fits(&self, place: &str, it: TokenList, start: Span, end: Span) -> TokenList {
        let present = path(&[self.arrival, "present"], start, end).parens(it, end);
        path(&[place, "fit"], start, end).parens(present, end)
    }

    /// Lowers a value without an expected type: the value determines the type.
    pub(super) fn inferred(&mut self, value: &Value) -> Lowered {
        match self.cx.names.value(value) {
            Value::Reference(reference) => {
                let Lowered { check, data } = reference::lower(reference, self);
                let end = reference.end;
                let it = it(check, end);
                Lowered::new(quote_spanned!(end=> #it.value()), data)
            }
            Value::Literal(literal) => {
                let (name, data) = literal::nested(literal, self);
                Lowered::new(quote!(#name.value()), data)
            }
            Value::Scalar(scalar) if !matches!(scalar.lit, Lit::Str(_)) => {
                let (minus, lit) = (&scalar.minus, &scalar.lit);
                Lowered::new(quote!(#minus #lit), scalar_data(scalar))
            }
            Value::Scalar(_) | Value::Format(_) => {
                let data = self.value(value).data;
                Lowered::new(quote!(__plan::any::<__plan::String>()), data)
            }
            Value::Json(_, json) => {
                let data = self.json(json);
                Lowered::new(quote!(__plan::any::<__plan::serde_json::Value>()), data)
            }
            Value::Some(some, _, value) => {
                let Lowered { check, data } = self.inferred(value);
                let at = some.span();
                let some = quote_spanned!(at=> ::core::option::Option::Some(#check));
                Lowered::new(some, data)
            }
            Value::List(_, values) => {
                let (checks, data) = self.elements(values, Self::inferred);
                Lowered::new(quote!(__plan::vec![#(#checks),*]), data)
            }
            Value::Tuple(_, values) if !values.is_empty() => {
                let (checks, data) = self.elements(values, Self::inferred);
                Lowered::new(quote!((#(#checks,)*)), data)
            }
            Value::Broken => {
                let ty = self.cx.unknown_type();
                Lowered::new(quote!(__plan::any::<#ty>()), TemplateData::NULL)
            }
            Value::None(_) | Value::Tuple(..) | Value::Computed(_) => self.value(value),
        }
    }

    /// Lowers a value for an argument that accepts any JSON.
    fn untyped(&mut self, value: &Value) -> TemplateData {
        match self.cx.names.value(value) {
            Value::Some(_, _, value) => self.untyped(value),
            Value::List(_, values) | Value::Tuple(_, values) => {
                TemplateData::List(values.iter().map(|value| self.untyped(value)).collect())
            }
            Value::Reference(reference) => {
                let Lowered { check, data } = reference::lower(reference, self);
                let it = it(check, reference.end);
                self.bind(quote!(let _ = || { let _ = #it; };));
                data
            }
            other => self.value(other).data,
        }
    }

    fn json(&mut self, json: &Json) -> TemplateData {
        match json {
            Json::Null => TemplateData::NULL,
            Json::Value(value) => self.untyped(value),
            Json::List(elements) => {
                TemplateData::List(elements.iter().map(|element| self.json(element)).collect())
            }
            Json::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, member)| (key.value(), self.json(member)));
                TemplateData::Object(members.collect())
            }
        }
    }
}

/// Returns a scalar as data.
pub(super) fn scalar_data(scalar: &Scalar) -> TemplateData {
    TemplateData::Scalar(form_of_scalar(scalar))
}

fn scalar(scalar: &Scalar) -> TokenList {
    let Scalar { minus, lit } = scalar;
    let at = lit.span();
    let start = minus.map_or(at, |minus| minus.span);
    let from = match lit {
        Lit::Str(_) => path(&["TakesText", "from_text"], at, at),
        _ if minus.is_some() => path(&["TakesNegative", "from_negative"], start, at),
        Lit::Int(int) if int.suffix().is_empty() => path(&["TakesInteger", "from_integer"], at, at),
        Lit::Float(float) if float.suffix().is_empty() => {
            path(&["TakesFloat", "from_float"], at, at)
        }
        _ => path(&["TakesLiteral", "from_literal"], start, at),
    };
    from.parens(quote!(#minus #lit).into(), at)
}

/// Lowers `format!`: each placeholder is checked and written on its own.
fn formatted(format: &Format, builder: &mut Builder<'_>) -> Lowered {
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
