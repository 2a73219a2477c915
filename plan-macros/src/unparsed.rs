//! Structs and enums with a syntax error. rustc reports the error before it calls a derive, so the derives only prevent
//! further errors at the uses of the type.

use crate::options;
use crate::repeated::is_repeated_type;
use crate::report::Report;
use crate::syntax::tokens::parse_start;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::token::{Brace, Paren};
use syn::{
    Attribute, Data, DataEnum, DataStruct, DeriveInput, Field, Fields, FieldsNamed, FieldsUnnamed,
    Generics, Path, Token, Variant, Visibility, braced, parenthesized, parse_quote,
};

/// A type with a derive.
pub(crate) enum ParsedType {
    /// A type without a syntax error.
    Whole(DeriveInput),
    /// The whole type. Only separators are missing or wrong, and rustc has parsed all fields as well.
    Separators(DeriveInput),
    /// A struct without its fields, or an enum whose fields are not known, and the struct or a variant that rustc cannot read.
    Fields(DeriveInput, Path),
}

impl ParsedType {
    pub(crate) fn read(item: TokenStream) -> Option<Self> {
        if let Ok(input) = syn::parse2(item.clone()) {
            return Some(Self::Whole(input));
        }
        let parser = |input: ParseStream<'_>| {
            let attrs = input.call(Attribute::parse_outer)?;
            let vis: Visibility = input.parse()?;
            let is_enum = input.peek(Token![enum]);
            let keyword: Ident = input.call(Ident::parse_any)?;
            let ident: Ident = input.parse()?;
            let mut generics: Generics = input.parse()?;
            generics.where_clause = input.parse()?;
            let is_generic = !generics.params.is_empty();
            let body: TokenStream = input.parse()?;
            let (data, unread) = if is_enum {
                let known = variants.parse2(body.clone());
                let broken = known.is_err().then(|| broken_variant(body));
                let data = DataEnum {
                    enum_token: Token![enum](keyword.span()),
                    brace_token: Brace::default(),
                    variants: known.unwrap_or_default(),
                };
                let broken = broken.transpose()?;
                (Data::Enum(data), broken.map(|it| parse_quote!(#ident::#it)))
            } else {
                let fields = fields.parse2(body);
                let unread = fields.is_err().then(|| ident.clone().into());
                let data = DataStruct {
                    struct_token: Token![struct](keyword.span()),
                    fields: fields.unwrap_or(Fields::Unit),
                    semi_token: None,
                };
                (Data::Struct(data), unread)
            };
            let input = DeriveInput {
                attrs,
                vis,
                ident,
                generics,
                data,
            };
            Ok(match unread {
                None => Some(Self::Separators(input)),
                Some(unread) => (!is_generic).then_some(Self::Fields(input, unread)),
            })
        };
        parser.parse2(item).ok().flatten()
    }

    /// Returns `true` for a second type of this name, whose implementations would be for the first.
    pub(crate) fn is_repeated(&self) -> bool {
        let (Self::Whole(input) | Self::Separators(input) | Self::Fields(input, _)) = self;
        is_repeated_type(&input.ident)
    }
}

/// Reads the fields of a struct. The separator between fields may be missing or wrong.
fn fields(input: ParseStream<'_>) -> syn::Result<Fields> {
    let content;
    if input.peek(Paren) {
        let paren_token = parenthesized!(content in input);
        input.parse::<Option<Token![;]>>()?;
        let unnamed = all(&content, Field::parse_unnamed)?;
        return Ok(Fields::Unnamed(FieldsUnnamed {
            paren_token,
            unnamed,
        }));
    }
    let brace_token = braced!(content in input);
    let named = all(&content, Field::parse_named)?;
    Ok(Fields::Named(FieldsNamed { brace_token, named }))
}

fn variants(input: ParseStream<'_>) -> syn::Result<Punctuated<Variant, Token![,]>> {
    let content;
    braced!(content in input);
    all(&content, variant)
}

/// Reads a variant. The separator between its fields may be missing or wrong.
fn variant(input: ParseStream<'_>) -> syn::Result<Variant> {
    let attrs = input.call(Attribute::parse_outer)?;
    let ident = input.parse()?;
    let has_fields = input.peek(Brace) || input.peek(Paren);
    let fields = has_fields.then(|| fields(input)).transpose()?;
    let equals: Option<Token![=]> = input.parse()?;
    let value = equals.map(|equals| syn::Result::Ok((equals, input.parse()?)));
    Ok(Variant {
        attrs,
        ident,
        fields: fields.unwrap_or(Fields::Unit),
        discriminant: value.transpose()?,
    })
}

/// Returns the first variant with named fields that cannot be parsed.
fn broken_variant(body: TokenStream) -> syn::Result<Ident> {
    let parser = |input: ParseStream<'_>| {
        let content;
        braced!(content in input);
        let mut broken = None;
        while !content.is_empty() {
            let mut written = TokenStream::new();
            while !content.is_empty() && !content.peek(Token![,]) {
                written.extend(content.parse::<TokenTree>());
            }
            content.parse::<Option<Token![,]>>()?;
            if broken.is_none() && variant.parse2(written.clone()).is_err() {
                let name = |input: ParseStream<'_>| {
                    input.call(Attribute::parse_outer)?;
                    let name = input.parse::<Ident>()?;
                    Ok(input.peek(Brace).then_some(name))
                };
                broken = Some(parse_start(written, name)?);
            }
        }
        broken
            .flatten()
            .ok_or_else(|| content.error("no variant is broken"))
    };
    parser.parse2(body)
}

fn all<T>(
    input: ParseStream<'_>,
    one: fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<Punctuated<T, Token![,]>> {
    let mut found = Punctuated::new();
    while !input.is_empty() {
        found.push(input.call(one)?);
        if input.peek(Token![,]) || input.peek(Token![;]) {
            input.parse::<TokenTree>()?;
        }
    }
    Ok(found)
}

/// Returns code that is an error unless rustc has found a syntax error in the struct or the variant: rustc does not check patterns of such a struct.
/// The code keeps out structs that only rustc can read.
pub(crate) fn silent(ident: &Ident, unread: &Path) -> TokenStream {
    quote_spanned!(ident.span()=> let _ = |__it: #ident| match __it { #unread { unreadable_fields: _, .. } => {}, #[allow(unreachable_patterns)] _ => {} };)
}

/// Writes the shape of a type without its fields.
pub(crate) fn shape(input: &DeriveInput, unread: &Path) -> TokenStream {
    let is_shape = |attr: &Attribute| attr.path().is_ident("shape");
    let krate = options::path(None, "#[shape(crate = …)]", &mut Report::default());
    // `crate` and `remote` are rare.
    let (false, Some(krate)) = (input.attrs.iter().any(is_shape), krate) else {
        return TokenStream::new();
    };
    let ident = &input.ident;
    let silent = silent(ident, unread);
    let serde = serde(input, &krate, [true; 2]);
    quote! {
        #serde

        #[automatically_derived]
        impl #krate::Shape for #ident {
            const SHAPE: #krate::check::TypeShape = {
                #silent
                #krate::check::TypeShape::Opaque
            };
        }
    }
}

/// Returns implementations that replace missing implementations of serde's derives. Without them, each use of the type
/// would be an error.
pub(crate) fn serde(
    input: &DeriveInput,
    krate: &Path,
    [no_serialize, no_deserialize]: [bool; 2],
) -> TokenStream {
    let ident = &input.ident;
    let serde = quote!(#krate::check::serde);
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let mut reading = input.generics.clone();
    reading.params.insert(0, parse_quote!('__de));
    let (read_generics, ..) = reading.split_for_impl();
    let serialize = no_serialize.then(|| {
        quote! {
            #[automatically_derived]
            impl #impl_generics #serde::Serialize for #ident #type_generics #where_clause {
                fn serialize<__S: #serde::Serializer>(&self, _: __S) -> ::core::result::Result<__S::Ok, __S::Error> {
                    ::core::unreachable!()
                }
            }
        }
    });
    let deserialize = no_deserialize.then(|| {
        quote! {
            #[automatically_derived]
            impl #read_generics #serde::Deserialize<'__de> for #ident #type_generics #where_clause {
                fn deserialize<__D: #serde::Deserializer<'__de>>(_: __D) -> ::core::result::Result<Self, __D::Error> {
                    ::core::unreachable!()
                }
            }
        }
    });
    quote!(#serialize #deserialize)
}

#[cfg(test)]
mod tests {
    use crate::shape;

    fn derived(item: &str) -> String {
        let expansion = shape::derive(item.parse().unwrap());
        expansion.to_string().replace(' ', "")
    }

    /// A future rustc may accept types that syn cannot read. Such types must not get a shape without an error.
    #[test]
    fn no_type_that_only_rustc_can_read_has_a_shape() {
        let pattern = "Hold{unreadable_fields:_,..}";
        assert!(derived("pub struct Hold { unsafe cents: u64 }").contains(pattern));
        assert!(!derived("pub struct Hold { cents: u64; id: u64 }").contains(pattern));
        let pattern = "Way::Card{unreadable_fields:_,..}";
        assert!(derived("pub enum Way { Cash, Card { unsafe cents: u64 } }").contains(pattern));
        let known = derived("pub enum Way { Cash, Card(u64 u64) }");
        assert!(known.contains("\"Card\"") && !known.contains("unreadable_fields"));
        assert_eq!(derived("pub enum Way { Cash, Card(unsafe u64) }"), "");
    }
}
