//! Functions of the author's own, in serde's attributes, that read or write an argument.

use super::tidy;
use crate::report::Report;
use heck::ToUpperCamelCase;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, Type};

/// Those that read an argument: a value of its type may not be what they expect.
pub(crate) const READ: &[&str] = &["with", "deserialize_with"];

/// Those that read or write an input.
pub(crate) const READ_OR_WRITE: &[&str] = &["with", "deserialize_with", "serialize_with"];

/// Reports such functions, at the attribute of each, and says whether there are none. `what` is an argument or an input.
pub(crate) fn refuse(
    attrs: &[Attribute],
    what: &str,
    name: &str,
    ty: &Type,
    functions: &[&str],
    report: &mut Report,
) -> bool {
    let before = report.len();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // Other mistakes in it are for the derives of serde to report.
        let _ = attr.parse_nested_meta(|meta| {
            let value = value(&meta)?;
            let name_of = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
            if functions.contains(&&*name_of) {
                let function = match value {
                    Some(value) if name_of != "serialize_with" => {
                        format!("{name_of} = {}", tidy(&value.to_token_stream()))
                    }
                    _ => "with = …".to_owned(),
                };
                let shown = tidy(&ty.to_token_stream());
                let mut new = name.to_upper_camel_case();
                if shown.contains(&new) {
                    new.push_str("Json");
                }
                report.error(&meta.path, format_args!(
                    "with `{name_of}`, the JSON of the {what} `{name}` is not that of its type `{shown}`: rustc would accept values that fail in the run\nhelp: write a type that has this JSON: `#[derive(Serialize, Deserialize, Shape)] struct {new}(#[serde({function})] {shown});`",
                ));
            }
            Ok(())
        });
    }
    report.len() == before
}

/// What is after the name of an option.
fn value(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<Expr>> {
    if let Ok(value) = meta.value() {
        return value.parse().map(Some);
    }
    if meta.input.peek(syn::token::Paren) {
        meta.input.parse::<proc_macro2::Group>()?;
    }
    Ok(None)
}
