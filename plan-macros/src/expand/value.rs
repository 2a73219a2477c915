//! Values: as an expression for rustc to check, and as a template.

use super::binding::Frame;
use super::reference::{self, path};
use super::{Context, slice, text};
use crate::ast::{Json, Reference, Scalar, Value};
use crate::names::Source;
use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{BTreeMap, HashSet};
use syn::spanned::Spanned;
use syn::{Lit, Path};

/// The body of one `const`: what a step's arguments, or the plan's output, become.
pub(super) struct Builder<'a> {
    pub(super) cx: &'a Context<'a>,
    /// The bindings and checks so far, in order: a name that a loop binds may mean something else before and behind it.
    pub(super) bindings: TokenStream,
    /// Constants that check it apart: where one fails, nothing that uses the step fails after it.
    pub(super) apart: TokenStream,
    /// The roots that the body uses, each with the name that first mentions it.
    pub(super) roots: BTreeMap<Source, Ident>,
    /// What the `for`s and `if let`s around bind.
    pub(super) frames: Vec<Frame>,
    /// What was bound again behind a loop that gave its name to an element; its root may then not be read.
    pub(super) rebound: HashSet<Source>,
    /// What gives the slots of computed values their types where the data, which does so too, is not beside them.
    pub(super) types: TokenStream,
    count: usize,
}

/// A value, expanded.
pub(super) struct Expanded {
    /// An expression that stands where the value stands, in code that is only type-checked.
    pub(super) check: TokenStream,
    /// The value as data.
    pub(super) data: TokenStream,
}

impl<'a> Builder<'a> {
    pub(super) fn new(cx: &'a Context<'a>) -> Self {
        Self {
            cx,
            bindings: TokenStream::new(),
            apart: TokenStream::new(),
            roots: BTreeMap::new(),
            frames: Vec::new(),
            rebound: HashSet::new(),
            types: TokenStream::new(),
            count: 0,
        }
    }

    /// A name of the macro's own.
    pub(super) fn fresh(&mut self, prefix: &str) -> Ident {
        self.fresh_at(prefix, Span::mixed_site())
    }

    /// A name at a place of the author's. It has that place's hygiene, since all of an expression must have one if rustc is
    /// to point at it.
    pub(super) fn fresh_at(&mut self, prefix: &str, span: Span) -> Ident {
        self.count += 1;
        Ident::new(&format!("__{prefix}{}", self.count - 1), span)
    }

    /// All bindings and checks, with the roots first.
    pub(super) fn bindings(&self) -> TokenStream {
        let roots = self.roots.iter().map(|(source, name)| {
            let ty = self.cx.type_of(*source);
            let unread = self.rebound.contains(source);
            let allow = unread.then(|| quote!(#[allow(unused_variables)]));
            quote!(#allow let #name = __plan::root::<#ty>();)
        });
        let bindings = &self.bindings;
        quote!(#(#roots)* #bindings)
    }

    /// Expands a value that stands where rustc knows which type it needs.
    pub(super) fn value(&mut self, value: &Value) -> Expanded {
        match value {
            Value::Scalar(scalar) => Expanded {
                check: self::scalar(scalar),
                data: scalar_data(scalar),
            },
            Value::None(none) => {
                let at = none.span();
                Expanded {
                    check: {
                        let from = path(&["FromNone", "none"], at, at);
                        quote_spanned!(at=> #from())
                    },
                    data: quote!(__plan::Template::Null),
                }
            }
            Value::Some(some, paren, value) => {
                let Expanded { check, data } = self.value(value);
                let end = paren.span.close();
                let from = path(&["FromSome", "some"], some.span(), end);
                Expanded {
                    check: quote_spanned!(end=> #from(#check)),
                    data,
                }
            }
            Value::List(bracket, values) => {
                let values: Vec<Expanded> = values.iter().map(|value| self.value(value)).collect();
                let (check, data) = unzip(values);
                let (start, end) = (bracket.span.open(), bracket.span.close());
                let list = path(&["List", "list"], start, end);
                let mut elements = Group::new(proc_macro2::Delimiter::Bracket, quote!(#(#check),*));
                elements.set_span(bracket.span.join());
                let data = slice(&data);
                Expanded {
                    check: quote_spanned!(end=> #list(#elements)),
                    data: quote!(__plan::Template::List(#data)),
                }
            }
            Value::Tuple(paren, values) => {
                let at = paren.span.join();
                let values: Vec<Expanded> = values.iter().map(|value| self.value(value)).collect();
                let (check, data) = unzip(values);
                let elements = slice(&data);
                let data = if data.is_empty() {
                    quote!(__plan::Template::Null)
                } else {
                    quote!(__plan::Template::List(#elements))
                };
                Expanded {
                    check: quote_spanned!(at=> (#(#check,)*)),
                    data,
                }
            }
            Value::Literal(literal) => {
                let (name, data) = self.literal(literal);
                let (start, end) = ends(&literal.path);
                let mut name = name;
                name.set_span(start.resolved_at(name.span()));
                Expanded {
                    check: fits(it(&name, end), start, end),
                    data,
                }
            }
            Value::Json(at, json) => {
                let data = self.json(json);
                let untyped = quote_spanned!(*at=> __plan::untyped());
                Expanded {
                    check: fits(untyped, *at, *at),
                    data,
                }
            }
            Value::Format(format) => self.format(format),
            Value::Reference(reference) => {
                let (way, data) = self.reference(reference);
                let (start, end) = (reference.root.span(), reference.end);
                Expanded {
                    check: fits(it(&way, end), start, end),
                    data,
                }
            }
            Value::Computed(computed) => {
                let (name, data) = self.computed(computed);
                Expanded {
                    check: quote!(#name.value()),
                    data,
                }
            }
            Value::Broken => Expanded {
                check: quote!(__plan::any()),
                data: quote!(__plan::Template::Null),
            },
        }
    }

    /// Expands a value that gives its place its type: an expression of that type, and the value as data.
    pub(super) fn inferred(&mut self, value: &Value) -> (TokenStream, TokenStream) {
        match value {
            Value::Reference(reference) => {
                let (way, data) = self.reference(reference);
                let end = reference.end;
                let it = it(&way, end);
                (quote_spanned!(end=> #it.value()), data)
            }
            Value::Literal(literal) => {
                let (name, data) = self.literal(literal);
                (quote!(#name.value()), data)
            }
            Value::Scalar(scalar) if !matches!(scalar.lit, Lit::Str(_)) => {
                let (minus, lit) = (&scalar.minus, &scalar.lit);
                (quote!(#minus #lit), scalar_data(scalar))
            }
            Value::Scalar(_) | Value::Format(_) => {
                let data = self.value(value).data;
                (quote!(__plan::any::<__plan::String>()), data)
            }
            Value::Json(_, json) => (
                quote!(__plan::any::<__plan::serde_json::Value>()),
                self.json(json),
            ),
            Value::Some(some, _, value) => {
                let (check, data) = self.inferred(value);
                let at = some.span();
                (
                    quote_spanned!(at=> ::core::option::Option::Some(#check)),
                    data,
                )
            }
            Value::List(_, values) => {
                let (check, data): (Vec<_>, Vec<_>) =
                    values.iter().map(|value| self.inferred(value)).unzip();
                let data = slice(&data);
                (
                    quote!(__plan::vec![#(#check),*]),
                    quote!(__plan::Template::List(#data)),
                )
            }
            Value::Tuple(_, values) if !values.is_empty() => {
                let (check, data): (Vec<_>, Vec<_>) =
                    values.iter().map(|value| self.inferred(value)).unzip();
                let data = slice(&data);
                (quote!((#(#check,)*)), quote!(__plan::Template::List(#data)))
            }
            Value::Broken => {
                // As a type, the message says that there is none, so that nothing else is said; it is shown once.
                let ty = self.cx.error.clone().unwrap_or_else(|| quote!(_));
                (quote!(__plan::any::<#ty>()), quote!(__plan::Template::Null))
            }
            Value::None(_) | Value::Tuple(..) | Value::Computed(_) => {
                let Expanded { check, data } = self.value(value);
                (check, data)
            }
        }
    }

    /// Expands a value that stands where any JSON can stand.
    pub(super) fn untyped(&mut self, value: &Value) -> TokenStream {
        match value {
            Value::Some(_, _, value) => self.untyped(value),
            Value::List(_, values) | Value::Tuple(_, values) => {
                let values: Vec<TokenStream> =
                    values.iter().map(|value| self.untyped(value)).collect();
                let values = slice(&values);
                quote!(__plan::Template::List(#values))
            }
            Value::Reference(reference) => {
                let (way, data) = self.reference(reference);
                self.bindings.extend(quote!(let _ = || { let _ = #way; };));
                data
            }
            other => self.value(other).data,
        }
    }

    fn json(&mut self, json: &Json) -> TokenStream {
        match json {
            Json::Null => quote!(__plan::Template::Null),
            Json::Value(value) => self.untyped(value),
            Json::List(elements) => {
                let elements: Vec<TokenStream> =
                    elements.iter().map(|element| self.json(element)).collect();
                let elements = slice(&elements);
                quote!(__plan::Template::List(#elements))
            }
            Json::Object(members) => {
                let members = members.iter().map(|(key, member)| {
                    let key = text(&key.value());
                    let value = self.json(member);
                    quote!(__plan::Entry { key: __plan::Key::Name(#key), value: #value })
                });
                let members = slice(&members.collect::<Vec<_>>());
                quote!(__plan::Template::Object(#members))
            }
        }
    }

    /// Expands a reference: the way that it goes, which the code that is only type-checked must hold, and its data.
    pub(super) fn reference(&mut self, reference: &Reference) -> (TokenStream, TokenStream) {
        let mut root = reference.root.clone();
        if reference.local.is_none()
            && let Some(source) = self.cx.names.get(&root)
        {
            let bound = self.roots.entry(source).or_insert_with(|| root.clone());
            root.set_span(root.span().resolved_at(bound.span()));
        }
        let cx = self.cx;
        let reference::Expanded {
            bindings,
            way,
            data,
        } = reference::expand(reference, &root, |at| self.fresh_at("t", at), cx);
        self.bindings.extend(bindings);
        (way, quote!(__plan::Template::Reference(#data)))
    }
}

/// Calls what hands over what something is.
pub(super) fn it(of: &impl ToTokens, end: Span) -> TokenStream {
    let call = Ident::new("it", end);
    quote_spanned!(end=> #of.#call())
}

/// Checks that something fits where it stands.
pub(super) fn fits(it: TokenStream, start: Span, end: Span) -> TokenStream {
    let present = path(&["NotAbsent", "present"], start, end);
    let fit = path(&["Fits", "fit"], start, end);
    quote_spanned!(end=> #fit(#present(#it)))
}

/// The first and the last place of a path.
pub(super) fn ends(path: &Path) -> (Span, Span) {
    let mut spans = path.to_token_stream().into_iter().map(|tree| tree.span());
    let start = spans.next().unwrap_or_else(|| path.span());
    (start, spans.last().unwrap_or(start))
}

pub(super) fn unzip(values: Vec<Expanded>) -> (Vec<TokenStream>, Vec<TokenStream>) {
    values
        .into_iter()
        .map(|Expanded { check, data }| (check, data))
        .unzip()
}

fn scalar(scalar: &Scalar) -> TokenStream {
    let Scalar { minus, lit } = scalar;
    let at = lit.span();
    let start = minus.map_or(at, |minus| minus.span);
    match lit {
        Lit::Str(_) => {
            let from = path(&["FromText", "from_text"], at, at);
            quote_spanned!(at=> #from(#lit))
        }
        _ if minus.is_some() => {
            let from = path(&["FromNegative", "from_negative"], start, at);
            quote_spanned!(at=> #from(#minus #lit))
        }
        _ => {
            let from = path(&["FromLiteral", "from_literal"], start, at);
            quote_spanned!(at=> #from(#minus #lit))
        }
    }
}

fn scalar_data(scalar: &Scalar) -> TokenStream {
    let negative = scalar.minus.is_some();
    match &scalar.lit {
        Lit::Str(string) => {
            let string = text(&string.value());
            quote!(__plan::Template::String(#string))
        }
        Lit::Char(char) => {
            let string = text(&char.value().to_string());
            quote!(__plan::Template::String(#string))
        }
        Lit::Bool(bool) => quote!(__plan::Template::Bool(#bool)),
        Lit::Byte(byte) => {
            let byte = u64::from(byte.value());
            quote!(__plan::Template::Number(__plan::Number::Unsigned(#byte)))
        }
        Lit::Int(int) if negative && int.base10_digits() != "0" => {
            let value: i64 = format!("-{}", int.base10_digits())
                .parse()
                .unwrap_or_default();
            quote!(__plan::Template::Number(__plan::Number::Signed(#value)))
        }
        Lit::Int(int) => {
            let value: u64 = int.base10_digits().parse().unwrap_or_default();
            quote!(__plan::Template::Number(__plan::Number::Unsigned(#value)))
        }
        Lit::Float(float) => {
            let value: f64 = float.base10_digits().parse().unwrap_or_default();
            let value = if negative { -value } else { value };
            quote!(__plan::Template::Number(__plan::Number::Float(#value)))
        }
        _ => quote!(__plan::Template::Null),
    }
}
