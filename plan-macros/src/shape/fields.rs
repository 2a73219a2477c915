//! The fields of a struct or of a variant.

use super::secret;
use crate::docs::text_of;
use crate::options::has_word;
use proc_macro2::TokenStream;
use quote::quote;
use serde_derive_internals::Derive;
use serde_derive_internals::ast::{Container, Field, Style, Variant};
use serde_derive_internals::attr::Default;
use syn::{Attribute, Member};

/// The common facts about the fields of a struct or of a variant.
pub(super) struct ShapeFields<'a> {
    pub(super) check: &'a TokenStream,
    pub(super) output: &'a Container<'a>,
    pub(super) style: Style,
    pub(super) variant: Option<&'a Variant<'a>>,
}

impl ShapeFields<'_> {
    /// Writes a `Field` for each field. `output` contains the fields read for serializing, `argument` the fields read
    /// for deserializing.
    pub(super) fn expand(&self, output: &[Field], argument: &[Field]) -> Vec<TokenStream> {
        let unsteady = output
            .iter()
            .position(|field| field.attrs.skip_serializing_if().is_some());
        let (mut next_output, mut next_argument) = (0, 0);
        let fields = output.iter().zip(argument).enumerate();
        let fields = fields.map(|(i, (field, argument))| {
            let moves = matches!(self.style, Style::Tuple)
                && unsteady.is_some_and(|first| first <= i && first + 1 < output.len());
            let output = if moves && !field.attrs.skip_serializing() {
                self.left_out("#[serde(skip_serializing_if)] in a tuple struct")
            } else {
                self.place(field, Derive::Serialize, &mut next_output)
            };
            let argument = self.place(argument, Derive::Deserialize, &mut next_argument);
            self.field(field, &output, &argument)
        });
        fields.collect()
    }

    fn field(&self, field: &Field, output: &TokenStream, argument: &TokenStream) -> TokenStream {
        let check = self.check;
        let ident = match &field.member {
            Member::Named(ident) => text_of(ident),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let required = self.required(field);
        let omitted = self.omitted(field);
        let opaque = field.attrs.serialize_with().is_some()
            || self
                .variant
                .is_some_and(|v| v.attrs.serialize_with().is_some());
        let opaque_argument = field.attrs.borrowed_lifetimes().is_empty()
            && field.attrs.deserialize_with().is_some()
            || self
                .variant
                .is_some_and(|v| v.attrs.deserialize_with().is_some());
        let secret = if secret::is_marked(&field.original.attrs) {
            quote!(.secret(true))
        } else {
            let inside = secret::inside(field.ty, self.output.generics, check);
            inside.map_or_else(TokenStream::new, |inside| quote!(.inside(#inside)))
        };
        quote! {
            #check::Field::new(#ident, #output)
                .argument(#argument)
                .required(#required)
                .omitted(#omitted)
                .opaque(#opaque)
                .opaque_argument(#opaque_argument)
                #secret
        }
    }

    /// Returns the name or index of a field in JSON. `next` is the next index of a tuple.
    fn place(&self, field: &Field, derive: Derive, next: &mut usize) -> TokenStream {
        let (check, attrs) = (self.check, &field.attrs);
        let (is_skipped, side, name) = match derive {
            Derive::Serialize => {
                let name = attrs.name().serialize_name();
                (attrs.skip_serializing(), "skip_serializing", name)
            }
            Derive::Deserialize => {
                let name = attrs.name().deserialize_name();
                (attrs.skip_deserializing(), "skip_deserializing", name)
            }
        };
        if self.variant.is_none() && self.output.attrs.transparent() {
            if attrs.transparent() {
                return quote!(#check::FieldPlace::Inner);
            }
            if !is_skipped {
                return self.left_out("#[serde(transparent)]");
            }
        }
        // serde writes and reads the field of a newtype struct even where it is to be skipped.
        if matches!(self.style, Style::Newtype) && (!is_skipped || self.variant.is_none()) {
            return quote!(#check::FieldPlace::Inner);
        }
        if is_skipped {
            return self.left_out(&skipped(&field.original.attrs, side));
        }
        if matches!(self.style, Style::Tuple) {
            let index = *next;
            *next += 1;
            return quote!(#check::FieldPlace::Index(#index));
        }
        if attrs.flatten() {
            quote!(#check::FieldPlace::Flattened)
        } else {
            let name = &name.value;
            quote!(#check::FieldPlace::Key(#name))
        }
    }

    fn left_out(&self, reason: &str) -> TokenStream {
        let check = self.check;
        quote!(#check::FieldPlace::LeftOut(#reason))
    }

    /// Writes the constant that marks a required field. serde reads a missing field as `None`, unless the author's own
    /// function reads the field.
    fn required(&self, field: &Field) -> TokenStream {
        let attrs = &field.attrs;
        let has_default = !attrs.default().is_none() || !self.container_default().is_none();
        if attrs.skip_deserializing() || has_default && !attrs.flatten() {
            return quote!(false);
        }
        let named = matches!(self.style, Style::Struct) && !attrs.transparent();
        if !named || attrs.deserialize_with().is_some() {
            return quote!(true);
        }
        let check = self.check;
        let ty = field.ty;
        quote!(!#check::Probe::<#ty>::IS_OPTION)
    }

    fn omitted(&self, field: &Field) -> TokenStream {
        let check = self.check;
        let attrs = &field.attrs;
        let never = quote!(#check::Omitted::Never);
        let named = matches!(self.style, Style::Struct);
        if attrs.skip_serializing_if().is_none()
            || attrs.skip_serializing()
            || attrs.skip_deserializing()
            || attrs.flatten()
            || self.variant.is_some()
            || !named
        {
            return never;
        }
        let ty = field.ty;
        let own_functions = attrs.serialize_with().is_some() || attrs.deserialize_with().is_some();
        let member = &field.member;
        match (attrs.default(), self.container_default()) {
            (Default::None, Default::None) if own_functions => quote!(#check::Omitted::Required),
            (Default::None, Default::None) => quote!(#check::Probe::<#ty>::OMITTED_OPTION),
            (Default::Default, _) if own_functions => quote! {
                if #check::Probe::<#ty>::IS_OPTION { #check::Omitted::Null } else { #never }
            },
            _ if own_functions => never,
            (Default::Default, _) => quote! {
                if #check::Probe::<#ty>::IS_OPTION {
                    #check::Omitted::Null
                } else {
                    #check::Probe::<#ty>::OMITTED_DEFAULT
                }
            },
            (Default::Path(path), _) => self.omitted_value(
                &quote!(#check::Probe::<#ty>::IS_SERIALIZE),
                &quote!(#check::Probe::<#ty>::json(&#path())),
            ),
            (Default::None, Default::Path(path)) => self.omitted_value(
                &quote!(#check::Probe::<#ty>::IS_SERIALIZE),
                &quote! {{
                    let whole: Self = #path();
                    #check::Probe::<#ty>::json(&{ whole.#member })
                }},
            ),
            (Default::None, Default::Default) => self.omitted_value(
                &quote! {
                    #check::Probe::<#ty>::IS_SERIALIZE && #check::Probe::<Self>::IS_DEFAULT
                },
                &quote! {
                    match #check::Probe::<Self>::default_value() {
                        ::core::option::Option::Some(whole) => {
                            #check::Probe::<#ty>::json(&{ whole.#member })
                        }
                        ::core::option::Option::None => {
                            ::core::default::Default::default()
                        }
                    }
                },
            ),
        }
    }

    fn omitted_value(&self, known: &TokenStream, value: &TokenStream) -> TokenStream {
        let check = self.check;
        quote! {
            if #known {
                #check::Omitted::Default(|| #value)
            } else {
                #check::Omitted::Never
            }
        }
    }

    fn container_default(&self) -> &Default {
        match self.variant {
            None => self.output.attrs.default(),
            Some(_) => &Default::None,
        }
    }
}

/// Returns the attribute that skips a field or a variant, as written.
pub(super) fn skipped(attrs: &[Attribute], side: &str) -> String {
    let both = attrs.iter().any(|attr| has_word(attr, "serde", "skip"));
    let name = if both { "skip" } else { side };
    format!("#[serde({name})]")
}
