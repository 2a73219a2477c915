//! The options of a tool.

use crate::options;
use crate::report::Report;
use proc_macro2::TokenStream;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Path, Type};

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
