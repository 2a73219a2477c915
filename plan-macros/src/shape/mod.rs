//! `#[derive(Shape)]`: the form of a type's JSON, derived from its serde attributes.

mod doubled;
mod fields;
mod parts;
mod remote;
pub(crate) mod secret;

use crate::docs::text_of;
use crate::lossless::{Contained, container};
use crate::options;
use crate::parse::owned;
use crate::report::Report;
use crate::unparsed::{self, ParsedType};
use heck::ToUpperCamelCase;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use serde_derive_internals::Derive;
use serde_derive_internals::ast::{Container, Data, Variant};
use serde_derive_internals::attr::TagType;
use syn::{DeriveInput, Ident, Meta, Path, Type};

/// `#[derive(Shape)]`.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    match ParsedType::read(item).filter(|parsed| !parsed.is_repeated()) {
        Some(ParsedType::Whole(input)) => described(&input, false),
        Some(ParsedType::Separators(input)) => described(&input, true),
        Some(ParsedType::Fields(input, unread)) => unparsed::shape(&input, &unread),
        None => TokenStream::new(),
    }
}

/// Writes the shape of a type. The derives of serde may implement nothing for a type that they cannot parse.
fn described(input: &DeriveInput, is_serde_unparsed: bool) -> TokenStream {
    let mut report = Report::default();
    let Options { krate, remote } = options(input, &mut report);
    let Some(krate) = krate else {
        return report.into_item();
    };
    if let Some(remote) = remote {
        return remote::derive(input, &krate, remote, report);
    }
    remote::report_serde_alone(input, &mut report);
    let fields = input_fields(input);
    if fields.fold(false, |any, field| {
        any | !owned::is_sized(&field.ty, &mut report)
    }) {
        // rustc would report the type once more for each use.
        return refused(input, &krate, report);
    }
    let containers = containers(input);
    // serde has no derive for a union.
    let is_union = matches!(input.data, syn::Data::Union(_));
    let is_wrong = |(_, wrong): &Contained<'_>| is_serde_unparsed || !is_union && !wrong.is_empty();
    let serde = unparsed::serde(input, &krate, containers.each_ref().map(is_wrong));
    let Shaped {
        shape,
        lossless,
        parts,
    } = shape(input, containers, &krate, false, &mut report).unwrap_or_else(|| Shaped {
        shape: quote!(#krate::check::TypeShape::Opaque),
        lossless: TokenStream::new(),
        parts: parts::derive_opaque(input, &krate),
    });
    let errors = report.into_item();

    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let closed = is_of_units(input).then(|| {
        quote! {
            #[automatically_derived]
            #[allow(deprecated)]
            impl #impl_generics #krate::check::Closed for #ident #type_generics #where_clause {
                fn is_closed() -> ::core::primitive::bool {
                    #[allow(unused_imports)]
                    use #krate::check::OpenEnum as _;
                    #krate::check::ClosedEnum::<Self>::is_closed()
                }

                fn has_enum() -> ::core::primitive::bool {
                    true
                }
            }

            #[automatically_derived]
            #[allow(deprecated)]
            impl #impl_generics #krate::check::NeverNull for #ident #type_generics #where_clause {}
        }
    });
    let no_text = no_text(input, &krate);
    quote! {
        #errors
        #serde
        #closed
        #no_text
        #lossless
        #parts

        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #krate::Shape for #ident #type_generics #where_clause {
            const SHAPE: #krate::check::TypeShape = {
                #[allow(unused_imports)]
                use #krate::check::NotProbed as _;
                #shape
            };
        }
    }
}

/// Writes the shape of an unsized type, which has no values.
fn refused(input: &DeriveInput, krate: &Path, report: Report) -> TokenStream {
    let (errors, ident) = (report.into_item(), &input.ident);
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #errors
        #[automatically_derived]
        impl #impl_generics #krate::Shape for #ident #type_generics #where_clause {}
    }
}

/// Returns `true` for an enum without fields, whose variants are distinct in JSON.
fn is_of_units(input: &DeriveInput) -> bool {
    match &input.data {
        syn::Data::Enum(data) => {
            let mut variants = data.variants.iter();
            !data.variants.is_empty() && variants.all(|it| it.fields.is_empty())
        }
        _ => false,
    }
}

/// Derives the error for a string in place of an enum value.
fn no_text(input: &DeriveInput, krate: &Path) -> Option<TokenStream> {
    let is_plain = input.generics.params.is_empty();
    if !is_plain || !matches!(input.data, syn::Data::Enum(_)) {
        return None;
    }
    let ident = &input.ident;
    // With the span of the enum, rustc gives no advice about the derived code.
    let [takes_text, variant] = ["TakesTextAs", "VariantOf"].map(|word| {
        let name = format!("{word}{}", text_of(ident).to_upper_camel_case());
        Ident::new(&name, ident.span())
    });
    let import = quote!(use #krate::check::{TakesText as #takes_text, VariantOf as #variant};);
    Some(quote_spanned! {ident.span()=>
        #[allow(deprecated)]
        const _: () = {
            #import
            #[automatically_derived]
            impl #variant<#ident> for #ident {}
            #[automatically_derived]
            impl #takes_text for #ident where for<'text> &'text ::core::primitive::str: #variant<#ident> {}
        };
    })
}

/// The options in `#[shape(…)]` on a type.
struct Options {
    /// The path of the runtime crate, if there is one.
    krate: Option<Path>,
    /// The type described by this one, for `#[shape(remote = …)]`. The inner `None` means an invalid name.
    remote: Option<Option<Type>>,
}

fn options(input: &DeriveInput, report: &mut Report) -> Options {
    let (mut krate, mut remote) = (None, None);
    for attr in &input.attrs {
        if !attr.path().is_ident("shape") {
            continue;
        }
        match &attr.meta {
            Meta::List(list) if secret::is_marked(std::slice::from_ref(attr)) => report.error(
                &list.tokens,
                "`secret` is for fields\nhelp: write `#[shape(secret)]` before each secret field",
            ),
            Meta::List(list) => {
                let known = ["crate", "remote"];
                options::read(list.tokens.clone(), &known, report, |key, input| {
                    if key == "crate" {
                        krate = Some(options::krate(input)?);
                    } else {
                        remote = Some(None);
                        remote = Some(Some(remote::ty(input)?));
                    }
                    Ok(())
                });
            }
            other => report.error(other, "expected `#[shape(crate = ::plan_runtime)]`"),
        }
    }
    for field in input_fields(input) {
        for attr in &field.attrs {
            secret::check(attr, report);
        }
    }
    if let syn::Data::Enum(data) = &input.data {
        for attr in data.variants.iter().flat_map(|variant| &variant.attrs) {
            if attr.path().is_ident("shape") {
                report.error(
                    attr,
                    "a variant has no `#[shape(…)]`\nhelp: for a secret, write `#[shape(secret)]` before each of its fields",
                );
            }
        }
    }
    Options {
        krate: options::path(krate, "#[shape(crate = …)]", report),
        remote,
    }
}

fn input_fields(input: &DeriveInput) -> Box<dyn Iterator<Item = &syn::Field> + '_> {
    match &input.data {
        syn::Data::Struct(data) => Box::new(data.fields.iter()),
        syn::Data::Enum(data) => Box::new(data.variants.iter().flat_map(|v| &v.fields)),
        syn::Data::Union(data) => Box::new(data.fields.named.iter()),
    }
}

/// The parts of the derived code that depend on serde's attributes.
struct Shaped {
    /// The value of `SHAPE`.
    shape: TokenStream,
    /// The implementation of `Lossless`.
    lossless: TokenStream,
    /// The implementation that lists the types of the fields.
    parts: TokenStream,
}

/// Returns the type as serde's derives write and read it.
fn containers(input: &DeriveInput) -> [Contained<'_>; 2] {
    [Derive::Serialize, Derive::Deserialize].map(|derive| container(input, derive))
}

/// Reads the attributes with the rules of serde's derives.
///
/// For the shape of another type, serde's own `remote` is ignored: that type does not use the derived code of this one.
fn shape(
    input: &DeriveInput,
    [(output, wrong), (argument, also_wrong)]: [Contained<'_>; 2],
    krate: &Path,
    is_remote: bool,
    report: &mut Report,
) -> Option<Shaped> {
    if let syn::Data::Union(data) = &input.data {
        report.error(
            data.union_token,
            "serde cannot read or write a union, so it cannot have a `Shape`\nhelp: use a struct or an enum",
        );
        return None;
    }
    if is_remote {
        remote::report_serde(input, wrong, also_wrong, report);
    }
    let (output, argument) = (output?, argument?);
    doubled::report(&output, &argument, report);

    let attrs = &output.attrs;
    let converted = attrs.type_into().is_some()
        || attrs.type_from().is_some()
        || attrs.type_try_from().is_some()
        || attrs.remote().is_some() && !is_remote;
    if converted {
        return None;
    }

    let check = quote!(#krate::check);
    let lossless = crate::lossless::derive(input, &output, &argument, &check);
    let shape = match (&output.data, &argument.data) {
        (Data::Struct(style, output_fields), Data::Struct(_, argument_fields)) => {
            let fields = fields::ShapeFields {
                check: &check,
                output: &output,
                style: *style,
                variant: None,
            };
            let fields = fields.expand(output_fields, argument_fields);
            Some(quote!(#check::TypeShape::Struct(&[#(#fields),*])))
        }
        (Data::Enum(variants), Data::Enum(_)) => {
            let tagging = match attrs.tag() {
                TagType::External => quote!(External),
                TagType::Internal { tag } => quote!(Internal(#tag)),
                TagType::Adjacent { tag, content } => quote!(Adjacent(&[#tag, #content])),
                TagType::None => quote!(Untagged),
            };
            let variants = variants.iter().map(|it| variant(it, &output, &check));
            Some(quote! {
                #check::TypeShape::Enum(#check::Tagging::#tagging, &[#(#variants),*])
            })
        }
        _ => None,
    };
    Some(Shaped {
        shape: shape?,
        lossless,
        parts: parts::derive(input, &output, krate),
    })
}

fn variant(variant: &Variant<'_>, output: &Container<'_>, check: &TokenStream) -> TokenStream {
    let ident = text_of(&variant.ident);
    let attrs = &variant.attrs;
    let argument = if attrs.skip_deserializing() {
        let reason = fields::skipped(&variant.original.attrs, "skip_deserializing");
        quote!(::core::result::Result::Err(#reason))
    } else {
        let name = &attrs.name().deserialize_name().value;
        quote!(::core::result::Result::Ok(#name))
    };
    let untagged = attrs.untagged();
    let fields = fields::ShapeFields {
        check,
        output,
        style: variant.style,
        variant: Some(variant),
    };
    let fields = fields.expand(&variant.fields, &variant.fields);
    quote! {
        #check::Variant::new(#ident, #argument, &[#(#fields),*]).untagged(#untagged)
    }
}
