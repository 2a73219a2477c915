//! Doc comments and names as strings.

use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, Meta, Path};

/// Returns the doc comments among `attrs`, without the first space of each line and without empty lines at both ends.
pub(crate) fn text(attrs: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attr in attrs {
        if let Meta::NameValue(meta) = &attr.meta
            && meta.path.is_ident("doc")
            && let Expr::Lit(ExprLit {
                lit: Lit::Str(doc), ..
            }) = &meta.value
        {
            let doc = doc.value();
            lines.extend(
                doc.split('\n')
                    .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()),
            );
        }
    }
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Returns a name without its `r#`.
pub(crate) fn text_of(name: &Ident) -> String {
    name.unraw().to_string()
}

/// Returns the names of a path, without its arguments.
pub(crate) fn names_of(path: &Path) -> String {
    let names = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string());
    names.collect::<Vec<_>>().join("::")
}

/// Returns the last name of a path.
pub(crate) fn last_name(path: &Path) -> String {
    let last = path.segments.last();
    last.map(|last| text_of(&last.ident)).unwrap_or_default()
}

/// Returns `true` if a list contains the path of an attribute.
pub(crate) fn is_named(attr: &Attribute, names: &str) -> bool {
    is_among(&names_of(attr.path()), names)
}

/// Returns `true` if a list contains this name. Spaces separate the names in the list.
pub(crate) fn is_among(text: &(impl PartialEq<str> + ?Sized), words: &str) -> bool {
    words.split(' ').any(|word| text == word)
}
