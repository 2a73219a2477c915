//! `#[derive(Tool)]`, which writes the contract of a tool: its name, its description, its arguments and its output.

use super::options::ToolOptions;
use super::types;
use crate::docs::{self, text_of};
use crate::options::{self, has_word};
use crate::parse::{functions, tidy};
use crate::report::{Report, as_item};
use crate::shape::secret;
use crate::unparsed::{self, ParsedType};
use crate::{json, lossless};
use heck::ToSnakeCase;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Data, DeriveInput, Field, Fields, FieldsUnnamed, GenericParam, Generics, Ident, Meta, Path,
    Type, WherePredicate, parse_quote,
};

/// Expands `#[derive(Tool)]`.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let (input, silent) = match ParsedType::read(item).filter(|parsed| !parsed.is_repeated()) {
        Some(ParsedType::Whole(input) | ParsedType::Separators(input)) => (input, None),
        Some(ParsedType::Fields(input, unread)) => {
            let silent = unparsed::silent(&input.ident, &unread);
            (input, Some(silent))
        }
        None => return TokenStream::new(),
    };
    contract(&input, Report::default(), silent)
}

/// Writes the contract of a struct, with the errors of the report. For a struct with a syntax error, `silent` contains
/// a constant that prevents further errors.
pub(super) fn contract(
    input: &DeriveInput,
    mut report: Report,
    silent: Option<TokenStream>,
) -> TokenStream {
    let is_known = report.is_empty() && silent.is_none();
    let ident = &input.ident;
    let options = self::options(input, &mut report);
    let Some(krate) = options::path(options.krate, "#[tool(crate = …)]", &mut report) else {
        return report.into_item();
    };
    let is_sound = check_fields(input, &mut report) && is_known;
    if options.output.is_none() && report.is_empty() && silent.is_none() {
        report.error(
            ident,
            format_args!(
                "`{ident}` does not declare its output\nhelp: write `#[tool(output = Receipt)]` below the derive, with the tool's own type in place of `Receipt`, or `()` if it has no output"
            ),
        );
    }
    let output_is_known = match &options.output {
        Some(output) => types::is_owned_in_struct(output, &mut report),
        None => false,
    };
    let errors = silent.unwrap_or_else(|| report.into_compile_errors());

    let output = options.output.filter(|_| output_is_known);
    let output = output.unwrap_or_else(|| parse_quote!(()));
    let name = options
        .name
        .unwrap_or_else(|| text_of(ident).to_snake_case());
    let constants = super::constants(&name, &docs::text(&input.attrs), options.read_only);

    let check = quote!(#krate::check);
    let inside = secret::of_output(&output, &input.generics, &check);
    // A generic struct cannot have a `static` for each instance of its parameters.
    let is_generic = !input.generics.params.is_empty();
    let hand_over = (!is_generic).then(|| lossless::of_output(&quote!(Self::Output), &check));
    let (output_check, output_type) = if !output_is_known {
        // Without this output, an implementation of `Call` would have a wrong output.
        (TokenStream::new(), json::unknown(&errors, &check))
    } else if is_generic || !is_sound {
        (TokenStream::new(), output.to_token_stream())
    } else {
        let prefix = format!("__Output{}", text_of(ident));
        json::checked(&output, output.to_token_stream(), &prefix)
    };
    let refused = (!is_sound).then_some(&errors);
    let generics = bounded(input, &output, &krate, refused);
    // In all other cases, the bounds and the output report the errors.
    let errors = (is_sound && output_is_known).then(|| as_item(&errors));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let tool = quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #krate::Tool for #ident #type_generics #where_clause {
            type Output = #output_type;
            #constants
            #inside
            #hand_over
        }
    };
    if output_check.is_empty() {
        return quote!(#errors #tool);
    }
    quote! {
        #errors
        const _: () = {
            use #check as __plan;
            #[allow(non_upper_case_globals)]
            #output_check
            #tool
        };
    }
}

/// Returns the parameters of the struct with the bounds of the contract. `refused` are the errors about its fields.
fn bounded(
    input: &DeriveInput,
    output: &Type,
    krate: &Path,
    refused: Option<&TokenStream>,
) -> Generics {
    let (ident, check) = (&input.ident, quote!(#krate::check));
    let serde = quote!(#check::serde);
    let (_, type_generics, _) = input.generics.split_for_impl();
    let mut params = input.generics.params.iter();
    let depends = params.any(|param| !matches!(param, GenericParam::Lifetime(_)));
    let mut bounds: Vec<WherePredicate> = Vec::new();
    if depends {
        bounds.push(parse_quote! {
            Self: #serde::Serialize + #serde::de::DeserializeOwned + #krate::Shape
        });
        bounds.push(parse_quote! {
            #output: #serde::Serialize + #serde::de::DeserializeOwned + ::core::marker::Send + 'static
        });
    } else if input.generics.params.is_empty() && refused.is_none() {
        // rustc reports missing derives of the struct once.
        bounds.push(parse_quote! {
            for<'__tool> #ident: #check::ToolStruct<'__tool, { #check::tool_struct::<#ident>() }>
        });
    }
    if refused.is_some() {
        // Without this check, rustc would report borrowed fields with a less helpful message.
        bounds.push(parse_quote! {
            for<'__tool> #ident #type_generics: #check::ToolStruct<'__tool, { #refused true }>
        });
    }
    let mut generics = input.generics.clone();
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    generics
}

/// Reports arguments that a tool cannot have. Returns `true` if serde can read the types of all arguments.
fn check_fields(input: &DeriveInput, report: &mut Report) -> bool {
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            report.error(
                data.enum_token,
                "a tool is the struct of its arguments, so an enum cannot be one\nhelp: put the enum into a field of a struct",
            );
            return true;
        }
        Data::Union(data) => {
            report.error(
                data.union_token,
                "a tool is the struct of its arguments, so a union cannot be one",
            );
            return true;
        }
    };
    if let Fields::Unnamed(fields) = fields {
        report.error(fields, unnamed(&input.ident, fields));
    }
    let mut are_owned = true;
    for field in fields {
        if let Some(name) = field.ident.as_ref().map(text_of) {
            let (attrs, refused) = (&field.attrs, functions::READ);
            functions::refuse(attrs, "argument", &name, &field.ty, refused, report);
        }
        if is_read(field) {
            are_owned &= types::is_owned_in_struct(&field.ty, report);
        }
    }
    are_owned
}

/// Returns the error for a tuple struct.
fn unnamed(ident: &Ident, fields: &FieldsUnnamed) -> String {
    let fields = fields.unnamed.iter().map(|field| {
        let Field { vis, ty, .. } = field;
        format!("{} …: {}", tidy(vis), tidy(ty))
            .trim_start()
            .to_owned()
    });
    let fields: Vec<String> = fields.collect();
    format!(
        "the arguments of a tool have names, which plans use\nhelp: write `struct {ident} {{ {} }}`, with names in place of `…`",
        fields.join(", ")
    )
}

fn options(input: &DeriveInput, report: &mut Report) -> ToolOptions {
    let mut tokens = TokenStream::new();
    for attr in &input.attrs {
        if !attr.path().is_ident("tool") {
            continue;
        }
        match &attr.meta {
            Meta::List(list) => {
                let list = &list.tokens;
                tokens.extend(quote!(#list,));
            }
            other => report.error(other, "expected `#[tool(output = Receipt)]`"),
        }
    }
    ToolOptions::read(tokens, &["output", "name", "read_only", "crate"], report)
}

/// Returns `true` if serde writes and reads a field, so that its type must be owned.
fn is_read(field: &Field) -> bool {
    let mut attrs = field.attrs.iter();
    !attrs.any(|attr| has_word(attr, "serde", "skip skip_deserializing"))
}
