//! `key = value` pairs in an attribute.

use crate::report::Report;
use plan_graph::similar;
use proc_macro2::{Span, TokenStream, TokenTree};
use std::sync::OnceLock;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, LitStr, Path, Token, Type, parse_quote};

/// The options that are a name without a value.
const FLAGS: &[&str] = &["read_only", "secret"];

/// Reads the `key = value` pairs of an attribute and hands each known one to `value`, which parses what follows the `=`.
/// A flag (`read_only`) is a key alone. Whatever is wrong with one pair, the others are still read.
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

/// The path of the runtime crate where no option says it: `::plan_runtime`, or the name that the user's crate gives to that dependency.
/// rustc, in whose process this runs, has the names of dependencies as arguments: `--extern flows=…/libplan_runtime-….rmeta`.
fn runtime() -> Path {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let name =
        NAME.get_or_init(|| renamed(std::env::args_os().map(|it| it.to_string_lossy().into())));
    let name = name.as_deref().unwrap_or("plan_runtime");
    let name = Ident::new(name, Span::call_site());
    parse_quote!(::#name)
}

/// The path of the runtime crate: the one that `option` gave, or that of the dependency. Where there is none, all that uses it would be an
/// error, so this is the only one.
pub(crate) fn path(given: Option<Path>, option: &str, report: &mut Report) -> Option<Path> {
    if given.is_some() {
        return given;
    }
    if is_dependency() {
        return Some(runtime());
    }
    report.error_at(
        Span::call_site(),
        format_args!(
            "`plan_runtime` is not a dependency of this crate\nhelp: add `plan-runtime` to its `Cargo.toml`, or name the crate that re-exports it: `{option}`"
        ),
    );
    None
}

fn is_dependency() -> bool {
    static MISSING: OnceLock<bool> = OnceLock::new();
    let missing = MISSING.get_or_init(|| {
        let arguments: Vec<String> = std::env::args_os()
            .map(|it| it.to_string_lossy().into())
            .collect();
        is_missing(&arguments, |root| std::fs::read_to_string(root).ok())
    });
    !missing
}

/// Whether rustc was called with dependencies of which none is the runtime crate. Another crate may have its name, if the root of the crate,
/// which `read` gives the text of, has an `extern crate`.
fn is_missing(arguments: &[String], read: impl FnOnce(&str) -> Option<String>) -> bool {
    let externs: Vec<&String> = arguments
        .windows(2)
        .filter(|pair| pair[0] == "--extern")
        .map(|pair| &pair[1])
        .collect();
    let has_it = |argument: &&String| argument.contains("plan_runtime");
    let is_root = |argument: &&String| argument.ends_with(".rs");
    !externs.is_empty()
        && !externs.iter().any(has_it)
        && arguments
            .iter()
            .find(is_root)
            .and_then(|root| read(root))
            .is_some_and(|root| !root.contains("plan_runtime"))
}

/// The name of the dependency, if it is not its own.
fn renamed(arguments: impl Iterator<Item = String>) -> Option<String> {
    let mut names = arguments.filter_map(|argument| {
        let (name, path) = argument.rsplit_once('=')?;
        let file = path.rsplit(['/', '\\']).next()?;
        let is_runtime =
            file.starts_with("libplan_runtime-") || file.starts_with("libplan_runtime.");
        let (options, name) = name.rsplit_once(':').unwrap_or(("", name));
        // Without the prelude, no path can begin with the name.
        if !is_runtime || options.contains("noprelude") {
            return None;
        }
        syn::parse_str::<Ident>(name)
            .is_ok()
            .then(|| name.to_owned())
    });
    let first = names.next()?;
    let own = first == "plan_runtime" || names.any(|name| name == "plan_runtime");
    (!own).then_some(first)
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
        None => format!("unknown option `{name}`\nhelp: there is {}", list(known)),
    }
}

fn list(known: &[&str]) -> String {
    let quoted: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
    match quoted.split_last() {
        Some((last, [_, ..])) => {
            format!("{} and {last}", quoted[..quoted.len() - 1].join(", "))
        }
        _ => quoted.concat(),
    }
}

/// The options with their values, of which one is expected.
fn forms(known: &[&str]) -> String {
    let form = |name: &&str| {
        let value = if FLAGS.contains(name) { "" } else { " = …" };
        format!("`{name}{value}`")
    };
    let forms: Vec<_> = known.iter().map(form).collect();
    match forms.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} or {last}", rest.join(", ")),
        _ => forms.concat(),
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

#[cfg(test)]
mod tests {
    use super::renamed;

    fn of(arguments: &[&str]) -> Option<String> {
        renamed(arguments.iter().map(|&it| it.to_owned()))
    }

    #[test]
    fn a_missing_dependency() {
        let facade = "facade=/target/deps/libfacade-0a1b.rmeta";
        let own = "plan_runtime=/target/deps/libplan_runtime-0a1b.rmeta";
        let flows = "flows=/target/deps/libplan_runtime-0a1b.rmeta";
        let is_missing = |arguments: &[&str], root: Option<&str>| {
            let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
            super::is_missing(&arguments, |_| root.map(str::to_owned))
        };
        let root = Some("use facade::plan;");
        assert!(is_missing(&["src/lib.rs", "--extern", facade], root));
        assert!(!is_missing(
            &["src/lib.rs", "--extern", facade, "--extern", own],
            root
        ));
        assert!(!is_missing(&["src/lib.rs", "--extern", flows], root));
        let named = Some("extern crate facade as plan_runtime;");
        assert!(!is_missing(&["src/lib.rs", "--extern", facade], named));
        // The text is not known, or the dependencies are in a file.
        assert!(!is_missing(&["-", "--extern", facade], root));
        assert!(!is_missing(&["src/lib.rs", "--extern", facade], None));
        assert!(!is_missing(&["src/lib.rs", "@/target/arguments"], root));
    }

    #[test]
    fn a_renamed_dependency() {
        let flows = "flows=/target/deps/libplan_runtime-0a1b.rmeta";
        let own = "plan_runtime=/target/deps/libplan_runtime-0a1b.rmeta";
        let other = "serde=/target/deps/libserde-0a1b.rmeta";
        assert_eq!(
            of(&["--extern", other, "--extern", flows]).as_deref(),
            Some("flows")
        );
        let private = "priv:flows=C:\\deps\\libplan_runtime-0a1b.rlib";
        assert_eq!(of(&["--extern", private]).as_deref(), Some("flows"));
        assert_eq!(of(&["--extern", &format!("noprelude:{flows}")]), None);
        assert_eq!(of(&["--extern", own, "--extern", flows]), None);
        assert_eq!(of(&["--extern", flows, "--extern", own]), None);
        assert_eq!(
            of(&["--extern", other, "-L", "dependency=/target/deps"]),
            None
        );
    }
}
