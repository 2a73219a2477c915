//! `#[serde(with = "…")]` and similar attributes: the author's functions that convert an argument.

use super::tidy;
use crate::report::Report;
use heck::ToUpperCamelCase;
use proc_macro2::Ident;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, Path, Type};

/// Functions that read an argument, and that may reject values of its type.
pub(crate) const READ: &[&str] = &["with", "deserialize_with"];

/// Functions that read or write an input.
pub(crate) const READ_OR_WRITE: &[&str] = &["with", "deserialize_with", "serialize_with"];

/// Reports such functions, each at its attribute, and returns `true` if there are none. `what` is "argument" or
/// "input".
pub(crate) fn refuse(
    attrs: &[Attribute],
    what: &str,
    name: &str,
    ty: &Type,
    functions: &[&str],
    report: &mut Report,
) -> bool {
    let before = report.len();
    each_of_serde(attrs, |path, value| {
        let name_of = path.get_ident().map(Ident::to_string).unwrap_or_default();
        if functions.contains(&&*name_of) {
            let function = match value {
                Some(value) if name_of != "serialize_with" => {
                    format!("{name_of} = {}", tidy(value))
                }
                _ => "with = …".to_owned(),
            };
            let shown = tidy(ty);
            let mut new = name.to_upper_camel_case();
            if shown.contains(&new) {
                new.push_str("Json");
            }
            report.error(path, format_args!(
                "`#[serde({name_of})]` changes the JSON of the {what} `{name}`, so rustc would accept values that fail at run time\nhelp: write a type that has this JSON: `#[derive(Serialize, Deserialize, Shape)] struct {new}(#[serde({function})] {shown});`",
            ));
        }
    });
    report.len() == before
}

/// Hands over each option of serde, with its value. The derives of serde report errors in the attributes.
pub(crate) fn each_of_serde(attrs: &[Attribute], mut f: impl FnMut(&Path, Option<&Expr>)) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        let _ = attr.parse_nested_meta(|meta| {
            let value = value(&meta)?;
            f(&meta.path, value.as_ref());
            Ok(())
        });
    }
}

/// Reads the value of an option.
fn value(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<Expr>> {
    if let Ok(value) = meta.value() {
        return value.parse().map(Some);
    }
    if meta.input.peek(syn::token::Paren) {
        meta.input.parse::<proc_macro2::Group>()?;
    }
    Ok(None)
}
