//! The options of a tool.

use crate::docs::names_of;
use crate::options;
use crate::parse::tidy;
use crate::report::Report;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, ItemFn, LitStr, Meta, Path, Type};

#[derive(Default)]
pub(super) struct ToolOptions {
    pub(super) krate: Option<Path>,
    pub(super) name: Option<String>,
    pub(super) read_only: bool,
    pub(super) output: Option<Type>,
    /// The name of the struct of the arguments.
    pub(super) ident: Option<Ident>,
}

impl ToolOptions {
    pub(super) fn read(tokens: TokenStream, known: &[&str], report: &mut Report) -> Self {
        let mut read = Self::default();
        options::read(tokens, known, report, |key, input| {
            match key {
                "output" => read.output = Some(output_type(input)?),
                "name" => read.name = Some(options::string(key, input)?.value()),
                "read_only" => read.read_only = true,
                "struct" => read.ident = Some(options::ident(key, input)?),
                _ => read.krate = Some(options::krate(input)?),
            }
            Ok(())
        });
        read
    }
}

fn output_type(input: ParseStream) -> syn::Result<Type> {
    if input.peek(LitStr) {
        let quoted: LitStr = input.parse()?;
        let value = quoted.value();
        let message = format!("`output` takes a type without quotes: `output = {value}`");
        return Err(syn::Error::new(quoted.span(), message));
    }
    input.parse()
}

/// Takes each further `#[tool]` off the function, reports it, and returns the options of all. `tool` may be an attribute of another crate if
/// the author wrote the first one otherwise.
pub(super) fn with_repeated(
    mut options: TokenStream,
    item: &mut ItemFn,
    report: &mut Report,
) -> TokenStream {
    let written = Span::call_site().source_text().unwrap_or_default();
    let is_tool = |attr: &mut Attribute| {
        let name = names_of(attr.path());
        name == "plan_runtime::tool" || name == "tool" && written.starts_with("#[tool")
    };
    for attr in item.attrs.extract_if(.., is_tool) {
        if let Meta::List(list) = &attr.meta {
            let comma = (!options.is_empty()).then(|| quote!(,));
            let more = &list.tokens;
            options.extend(quote!(#comma #more));
        }
        let all = match tidy(&options) {
            all if all.is_empty() => String::new(),
            all => format!("({all})"),
        };
        report.error(
            attr,
            format_args!("a tool has one `#[tool]`\nhelp: write `#[tool{all}]` once"),
        );
    }
    options
}
