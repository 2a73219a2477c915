//! Passing values between tools as Rust values, for types that a round trip through JSON does not change.

use crate::docs::is_named;
use crate::parse::owned::last_segment;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use serde_derive_internals::ast::{Container, Data, Field, Style, Variant};
use serde_derive_internals::attr::{Default, TagType};
use serde_derive_internals::name::Name;
use serde_derive_internals::{Ctxt, Derive};
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Attribute, DeriveInput, GenericParam, Generics, Member, Type, TypeParamBound, WherePredicate,
    parse_quote,
};

/// Writes an expression for the `HandOver` of a type, whose value is `None` if the type is not lossless.
pub(crate) fn hand_over(ty: &TokenStream, check: &TokenStream) -> TokenStream {
    quote!({
        #[allow(unused_imports)]
        use #check::NotHandedOver as _;
        static KNOWN: #check::Known = #check::Known::new();
        #check::Hand::<#ty>::NEW.over(&KNOWN, #check::Hand::<#ty>::CLONE)
    })
}

/// Writes the tool's method that returns how its outputs, of this type, are passed on.
pub(crate) fn of_output(ty: &TokenStream, check: &TokenStream) -> TokenStream {
    let hand_over = hand_over(ty, check);
    quote! {
        fn hand_over() -> ::core::option::Option<#check::HandOver<#ty>> {
            #hand_over
        }
    }
}

/// Returns `true` if the attributes contain one of serde or a `cfg`, which may change the names of fields.
pub(crate) fn are_renamed<'a>(attrs: impl IntoIterator<Item = &'a Attribute>) -> bool {
    let mut attrs = attrs.into_iter();
    attrs.any(|attr| is_named(attr, "serde cfg cfg_attr"))
}

/// Writes the tool's method that builds its arguments from values in Rust. The tuple contains the field, its name in
/// JSON, and its type.
pub(crate) fn take<'a>(
    fields: impl Iterator<Item = (&'a Ident, String, &'a Type)>,
    check: &TokenStream,
) -> TokenStream {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    let (mut made, mut locals) = (Vec::new(), Vec::new());
    for (index, (field, name, ty)) in fields.enumerate() {
        let local = format_ident!("__made{index}");
        made.push(quote!(__failed.note(#name, #check::Hand::<#ty>::NEW.field(__arguments, #name))));
        values.push(quote!(#field: #local));
        locals.push(local);
        names.push(name);
    }
    if names.is_empty() {
        return TokenStream::new();
    }
    quote! {
        fn take(__arguments: &#check::Arguments<'_>) -> ::core::result::Result<Self, #check::ResolveError> {
            #[allow(unused_imports)]
            use #check::NotHandedOver as _;
            if !__arguments.are_handed(&[#(#names),*]) {
                return #check::Hand::<Self>::NEW.all(__arguments);
            }
            let mut __failed = __arguments.failed();
            match (#(#made,)*) {
                (#(::core::option::Option::Some(#locals),)*) => ::core::result::Result::Ok(Self { #(#values),* }),
                _ => ::core::result::Result::Err(__failed.error()),
            }
        }
    }
}

/// Like [`take`], for a struct whose fields may have other names in serde. `None` if serde transforms or skips a field.
pub(crate) fn take_as_read(input: &DeriveInput, check: &TokenStream) -> Option<TokenStream> {
    let (container, wrong) = container(input, Derive::Deserialize);
    let Container { data, attrs, .. } = container.as_ref().filter(|_| wrong.is_empty())?;
    let Data::Struct(Style::Struct, fields) = data else {
        return None;
    };
    let converted = attrs.type_from().is_some()
        || attrs.type_try_from().is_some()
        || attrs.remote().is_some()
        || attrs.transparent()
        || !matches!(attrs.tag(), TagType::External);
    let is_read = |field: &Field| {
        !field.attrs.skip_deserializing()
            && field.attrs.deserialize_with().is_none()
            && !field.attrs.flatten()
            && !field.original.attrs.iter().any(|it| is_named(it, "cfg"))
    };
    let is_generic = !input.generics.params.is_empty();
    if is_generic || converted || !fields.iter().all(is_read) {
        return None;
    }
    let fields = fields.iter().filter_map(|field| match &field.member {
        Member::Named(ident) => {
            let name = field.attrs.name().deserialize_name().value.clone();
            Some((ident, name, field.ty))
        }
        Member::Unnamed(_) => None,
    });
    Some(take(fields, check))
}

/// Returns the implementation of `Lossless` for a type, if serde writes and reads all of its fields.
pub(crate) fn derive(
    input: &DeriveInput,
    output: &Container<'_>,
    argument: &Container<'_>,
    check: &TokenStream,
) -> TokenStream {
    let has_lifetimes = input.generics.lifetimes().next().is_some();
    // An unsized value is never passed on as a Rust value.
    let is_unsized = has_unsized_parameter(&input.generics);
    let has_tag = !matches!(output.attrs.tag(), TagType::External);
    let mut types = Types::default();
    let all_fit = match (&output.data, &argument.data) {
        (Data::Struct(style, written), Data::Struct(_, read)) => {
            types.has_default = !argument.attrs.default().is_none();
            types.fields(*style, written, read)
        }
        (Data::Enum(written), Data::Enum(read)) => types.variants(written, read),
        _ => false,
    };
    if has_lifetimes || is_unsized || has_tag || !all_fit {
        return TokenStream::new();
    }
    let inner = match &output.data {
        Data::Struct(Style::Newtype, fields) => fields.first().map(|field| field.ty),
        Data::Struct(_, fields) if output.attrs.transparent() => {
            let inner = fields.iter().find(|field| field.attrs.transparent());
            inner.map(|field| field.ty)
        }
        _ => None,
    };
    let is_unit = matches!(output.data, Data::Struct(Style::Unit, _));
    // A transparent struct answers like the type of its only field.
    let question = |method: &str| {
        let method = Ident::new(method, Span::call_site());
        let answer = match inner {
            _ if is_unit => quote!(true),
            Some(ty) => quote!(__seen.is_new::<Self>() && #check::Hand::<#ty>::NEW.#method(__seen)),
            None => return TokenStream::new(),
        };
        quote! {
            fn #method(__seen: &mut #check::Seen) -> ::core::primitive::bool {
                #[allow(unused_imports)]
                use #check::NotHandedOver as _;
                #answer
            }
        }
    };
    let (null, small) = (question("may_be_null"), question("is_small"));
    let (options, collections) = (types.options.values(), types.collections.values());
    let types = types.all.values();
    let mut generics = input.generics.clone();
    for param in &mut generics.params {
        if let GenericParam::Type(param) = param {
            param.bounds.push(parse_quote!(#check::Lossless));
        }
    }
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #check::Lossless for #ident #type_generics #where_clause {
            fn is_lossless(__seen: &mut #check::Seen) -> ::core::primitive::bool {
                #[allow(unused_imports)]
                use #check::{NotHandedOver as _, NotProbed as _};
                !__seen.is_new::<Self>() || (
                    true
                    #(&& #check::Probe::<#options>::IS_OPTION)*
                    #(&& #check::Hand::<#collections>::IS_EMPTY_BY_DEFAULT)*
                    #(&& #check::Hand::<#types>::NEW.is_lossless(__seen))*
                )
            }
            #null
            #small
        }
    }
}

/// Returns `true` if a type parameter is `?Sized`.
fn has_unsized_parameter(generics: &Generics) -> bool {
    let predicates = generics.where_clause.iter().flat_map(|it| &it.predicates);
    let clauses = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => Some(&predicate.bounds),
        _ => None,
    });
    let params = generics.type_params().map(|param| &param.bounds);
    let mut bounds = params.chain(clauses).flatten();
    bounds.any(|bound| matches!(bound, TypeParamBound::Trait(bound) if bound.maybe.is_some()))
}

fn text(ty: &Type) -> String {
    ty.to_token_stream().to_string()
}

/// The types of the fields of a type, each once.
#[derive(Default)]
struct Types<'a> {
    all: BTreeMap<String, &'a Type>,
    /// The fields that must be an `Option`.
    options: BTreeMap<String, &'a Type>,
    /// The fields that must be empty by default.
    collections: BTreeMap<String, &'a Type>,
    /// `true` if serde takes missing fields from a default of the whole type.
    has_default: bool,
}

impl<'a> Types<'a> {
    /// Returns `true` if serde reads these fields as it writes them.
    fn fields(&mut self, style: Style, written: &[Field<'a>], read: &[Field<'a>]) -> bool {
        let mut names = BTreeSet::new();
        written.iter().zip(read).all(|(written, read)| {
            let attrs = &written.attrs;
            let may_be_left_out = match attrs.skip_serializing_if() {
                None => true,
                // The following fields would move into the gap.
                Some(_) if matches!(style, Style::Tuple) => false,
                Some(test) => self.is_restored(written, &test.to_token_stream().to_string()),
            };
            self.all.insert(text(written.ty), written.ty);
            let is_named = matches!(style, Style::Struct) && !attrs.transparent();
            let name = attrs.name().serialize_name();
            may_be_left_out
                && !attrs.skip_serializing()
                && !attrs.skip_deserializing()
                && !attrs.flatten()
                && attrs.serialize_with().is_none()
                && attrs.deserialize_with().is_none()
                && (!is_named || are_new(name, read.attrs.aliases(), &mut names))
        })
    }

    /// Returns `true` if a field omitted by `skip_serializing_if` keeps its value when read.
    fn is_restored(&mut self, field: &Field<'a>, test: &str) -> bool {
        match (field.attrs.default(), test.split_once(" :: ")) {
            (Default::None, _) if self.has_default => false,
            (Default::None | Default::Default, Some(("Option", "is_none"))) => {
                self.options.insert(text(field.ty), field.ty);
                true
            }
            (Default::Default, Some((ty, "is_empty"))) => {
                self.collections.insert(text(field.ty), field.ty);
                last_segment(field.ty).is_some_and(|last| last.ident == ty)
            }
            _ => false,
        }
    }

    /// Like `fields`, for variants.
    fn variants(&mut self, written: &[Variant<'a>], read: &[Variant<'a>]) -> bool {
        let mut names = BTreeSet::new();
        written.iter().zip(read).all(|(written, read)| {
            let attrs = &written.attrs;
            let name = attrs.name().serialize_name();
            !attrs.skip_serializing()
                && !attrs.skip_deserializing()
                && !attrs.other()
                && !attrs.untagged()
                && attrs.serialize_with().is_none()
                && attrs.deserialize_with().is_none()
                && are_new(name, read.attrs.aliases(), &mut names)
                && self.fields(written.style, &written.fields, &read.fields)
        })
    }
}

/// Adds the aliases to the names. Returns `true` if the name is an alias, and all aliases are new.
fn are_new(name: &Name, aliases: &BTreeSet<Name>, names: &mut BTreeSet<String>) -> bool {
    aliases.iter().any(|alias| alias.value == name.value)
        && aliases
            .iter()
            .all(|alias| names.insert(alias.value.clone()))
}

/// A type as serde reads it, and the errors in its serde attributes.
pub(crate) type Contained<'a> = (Option<Container<'a>>, Vec<syn::Error>);

pub(crate) fn container(input: &DeriveInput, derive: Derive) -> Contained<'_> {
    let context = Ctxt::new();
    let private = Ident::new("__private", Span::call_site());
    let container = Container::from_ast(&context, input, derive, &private);
    let wrong = match context.check() {
        Ok(()) => Vec::new(),
        Err(wrong) => wrong.into_iter().collect(),
    };
    (container, wrong)
}
