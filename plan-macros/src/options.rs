//! `key = value` pairs in an attribute.

use crate::docs::is_among;
use crate::host;
use crate::report::Report;
use plan_graph::similar;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, Ident, LitStr, Meta, Path, Token, Type};

/// The options that are a name without a value.
const FLAGS: &[&str] = &["read_only", "secret"];

/// Returns `true` for an attribute with this name that contains one of the words.
pub(crate) fn has_word(attr: &Attribute, name: &str, words: &str) -> bool {
    let is_word = |token| matches!(token, TokenTree::Ident(word) if is_among(&word, words));
    match &attr.meta {
        Meta::List(list) if list.path.is_ident(name) => {
            list.tokens.clone().into_iter().any(is_word)
        }
        _ => false,
    }
}

/// Reads the `key = value` pairs of an attribute and passes each known key to `value`, which parses the tokens after
/// the `=`. A flag (`read_only`) is a key alone. An error in one pair does not affect the other pairs.
pub(crate) fn read(
    tokens: TokenStream,
    known: &[&str],
    report: &mut Report,
    mut value: impl FnMut(&str, ParseStream) -> syn::Result<()>,
) {
    let pairs = |input: ParseStream| {
        let mut seen = Vec::new();
        while !input.is_empty() {
            if let Err(error) = pair(input, known, &mut seen, &mut value) {
                report.push(error);
                skip_to_comma(input);
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = pairs.parse2(tokens) {
        report.push(error);
    }
}

fn pair(
    input: ParseStream,
    known: &[&str],
    seen: &mut Vec<String>,
    value: &mut impl FnMut(&str, ParseStream) -> syn::Result<()>,
) -> syn::Result<()> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error(format_args!("expected {}", forms(known))));
    }
    let key = input.call(Ident::parse_any)?;
    let name = key.to_string();
    let is_flag = FLAGS.contains(&name.as_str());
    let wrong = if !known.contains(&name.as_str()) {
        Some(unknown(&name, known))
    } else if seen.contains(&name) {
        Some(format!("`{name}` is given more than once"))
    } else if is_flag && input.peek(Token![=]) {
        Some(format!(
            "`{name}` takes no value\nhelp: write `{name}` alone, or leave it out"
        ))
    } else if !is_flag && !input.peek(Token![=]) {
        Some(format!("`{name}` needs a value: `{name} = …`"))
    } else {
        None
    };
    seen.push(name.clone());
    if let Some(message) = wrong {
        skip_value(input);
        return Err(syn::Error::new(key.span(), message));
    }
    let equals = input.parse::<Option<Token![=]>>()?;
    if let (Some(equals), true) = (equals, input.is_empty()) {
        return Err(syn::Error::new(
            equals.span,
            format_args!("`{name}` needs a value after `=`"),
        ));
    }
    value(&name, input)?;
    if !input.is_empty() && !input.peek(Token![,]) {
        return Err(input.error("expected `,`"));
    }
    Ok(())
}

/// Parses the string literal of `key`, which must not be empty.
pub(crate) fn string(key: &str, input: ParseStream) -> syn::Result<LitStr> {
    if !input.peek(LitStr) {
        return Err(input.error(format_args!("`{key}` takes a string: `{key} = \"…\"`")));
    }
    let literal: LitStr = input.parse()?;
    if literal.value().is_empty() {
        return Err(syn::Error::new(
            literal.span(),
            format_args!("`{key}` must not be empty"),
        ));
    }
    Ok(literal)
}

/// Parses the name of a type.
pub(crate) fn ident(key: &str, input: ParseStream) -> syn::Result<Ident> {
    if !input.peek(Ident) {
        return Err(input.error(format_args!(
            "`{key}` takes a name without quotes: `{key} = Name`"
        )));
    }
    input.parse()
}

/// Returns the path of the runtime crate: the path given by `option`, or the path of the dependency. A missing crate is
/// reported here once, since each use of the crate would be an error.
pub(crate) fn path(given: Option<Path>, option: &str, report: &mut Report) -> Option<Path> {
    if given.is_some() {
        return given;
    }
    if host::is_dependency() {
        return Some(host::runtime());
    }
    report.error_at(
        Span::call_site(),
        format_args!(
            "`plan_runtime` is not a dependency of this crate\nhelp: add `plan-runtime` to its `Cargo.toml`, or name the crate that re-exports it: `{option}`"
        ),
    );
    None
}

/// Parses the path of a crate.
pub(crate) fn krate(input: ParseStream) -> syn::Result<Path> {
    if input.peek(LitStr) {
        return Err(input.error("write the path without quotes: `crate = ::plan_runtime`"));
    }
    input.call(Path::parse_mod_style)
}

fn unknown(name: &str, known: &[&str]) -> String {
    match similar(name, known.iter().copied()) {
        Some(similar) => format!(
            "unknown option `{name}`\nhelp: an option with a similar name exists: `{similar}`"
        ),
        None => {
            let plural = if known.len() == 1 { " is" } else { "s are" };
            let known = joined(known.iter().map(|known| format!("`{known}`")), "and");
            format!("unknown option `{name}`\nhelp: the option{plural} {known}")
        }
    }
}

/// Describes the expected options with their values.
fn forms(known: &[&str]) -> String {
    let form = |name: &&str| {
        let value = if FLAGS.contains(name) { "" } else { " = …" };
        format!("`{name}{value}`")
    };
    joined(known.iter().map(form), "or")
}

/// Joins the parts with commas, and with a word before the last part.
fn joined(parts: impl Iterator<Item = String>, word: &str) -> String {
    let parts: Vec<String> = parts.collect();
    match parts.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} {word} {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}

fn skip_value(input: ParseStream) {
    if input.parse::<Token![=]>().is_ok() && input.fork().parse::<Type>().is_ok() {
        let _ = input.parse::<Type>();
    } else if input.fork().parse::<Expr>().is_ok() {
        let _ = input.parse::<Expr>();
    }
}

fn skip_to_comma(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _ = input.parse::<TokenTree>();
    }
}
