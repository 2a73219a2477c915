//! Wrong forms of `pub Name(input: Type) -> Output { … }`.

use super::HyphenatedName;
use crate::docs::{is_among, names_of};
use crate::report::{Mistake, mistake};
use crate::syntax::HeadTokens;
use crate::syntax::text::tidy;
use crate::syntax::tokens::{end_of, first, is_sign, parse_start};
use plan_graph::similar;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use std::convert::Infallible;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Lit, Meta, Path, Token, Type, parse_quote};

/// Returns the error of the words before the name of a plan. Returns `Err` if the words begin another item of Rust.
pub(crate) fn before_name(source: &HeadTokens) -> Result<Option<Mistake>, Mistake> {
    let Some(keyword) = source.keywords.first() else {
        return Ok(None);
    };
    let message = if keyword == "pub" && source.vis.is_empty() {
        "expected `pub` before the name of the plan".to_owned()
    } else if keyword == "pub" {
        "a plan has one `pub`: remove this one".to_owned()
    } else if similar(&keyword.to_string(), ["pub"]).is_some() {
        format!("expected `pub`, found `{keyword}`")
    } else {
        let message = "a plan starts with its name: `Name(input: Type) -> Output { … }`";
        return Err(Mistake::new(keyword, message));
    };
    Ok(Some(Mistake::new(keyword, message)))
}

/// Returns the error of a plan without a name.
pub(crate) fn no_name(at: Span, has_inputs: bool) -> Mistake {
    let missing = if has_inputs {
        "only a named plan has inputs: expected its name before this"
    } else {
        "expected the name of the plan"
    };
    let help = "help: `plan! { pub Name(input: Type) -> Output { step … } }`";
    Mistake::at(at, format!("{missing}\n{help}"))
}

/// Returns the errors between the name of a plan and the type of its output.
pub(crate) fn before_output(source: &HeadTokens, name: &Ident) -> Vec<Mistake> {
    let at = source.braced_inputs;
    let parentheses = at.or_else(|| source.inputs.is_none().then(|| name.span()));
    let parentheses = parentheses.map(|at| {
        Mistake::at(at, format!("expected the inputs in parentheses, even if the plan has none: `{name}(input: Type)`, `{name}()`"))
    });
    let extra: Vec<TokenTree> = source.extra.clone().into_iter().take(2).collect();
    let colon = match &*extra {
        [first, second] if is_sign(first, '=') && is_sign(second, '>') => {
            let sign: TokenStream = extra.iter().cloned().collect();
            let message = "expected `->` before the type of the output, found `=>`";
            Some(Mistake::new(sign, message))
        }
        [colon, ..] if is_sign(colon, ':') && source.braces => {
            let message = "expected `->` before the type of the output, found `:`";
            Some(Mistake::new(colon, message))
        }
        _ => None,
    };
    parentheses.into_iter().chain(colon).collect()
}

/// Returns the errors between the type of the output and the end of the plan.
pub(crate) fn after_output(source: &HeadTokens) -> Vec<Mistake> {
    let extra = first(&source.extra);
    let no_steps = (!source.braces || extra.is_some()).then(|| {
        let at = extra.map_or(source.end, |tree| tree.span());
        Mistake::at(at, "expected `{` and the steps of the plan")
    });
    let after = (!source.after.is_empty()).then(|| {
        let message = "expected nothing after the plan: each `plan!` contains one plan";
        Mistake::new(&source.after, message)
    });
    no_steps.into_iter().chain(after).collect()
}

/// Takes the derives that `what`, a plan or a tool, has already out of an attribute, and returns an error for each of them.
pub(crate) fn repeated_derives(attr: &mut Attribute, what: &str) -> Vec<Mistake> {
    let parser = Punctuated::<Path, Token![,]>::parse_terminated;
    let paths = match &attr.meta {
        Meta::List(list) if attr.path().is_ident("derive") => list.parse_args_with(parser),
        _ => return Vec::new(),
    };
    const OWN: &str = "Serialize Deserialize Shape serde::Serialize serde::Deserialize plan_runtime::Shape plan_runtime::Tool";
    let is_repeated = |path: &Path| is_among(&*names_of(path), OWN);
    let (repeated, rest): (Vec<Path>, Vec<Path>) =
        paths.into_iter().flatten().partition(is_repeated);
    if !repeated.is_empty() {
        *attr = parse_quote!(#[derive(#(#rest),*)]);
    }
    let repeated = repeated.into_iter().map(|path| {
        let name = tidy(&path);
        mistake!(path, "{what} derives `{name}` already\nhelp: remove it")
    });
    repeated.collect()
}

/// Returns the error of tokens instead of an input.
pub(crate) fn not_an_input(tokens: TokenStream, error: syn::Error) -> syn::Error {
    // The parser always returns an error. Otherwise, `syn` would report the unread tokens in brackets as a further error.
    let parser = |input: ParseStream<'_>| match wrong_input(input, error) {
        Ok(mistake) => Err(mistake.into()),
        Err(error) => Err(error),
    };
    let read: syn::Result<Infallible> = parse_start(tokens, parser);
    match read {
        Err(error) => error,
    }
}

fn type_after_colon(input: ParseStream<'_>) -> String {
    let is_type = input.parse::<Token![:]>().is_ok();
    let ty = is_type.then(|| input.parse::<Type>().ok()).flatten();
    ty.map_or_else(|| "Type".to_owned(), tidy)
}

fn wrong_input(input: ParseStream<'_>, error: syn::Error) -> syn::Result<Mistake> {
    let first = [
        (
            input.peek(Token![self]) || input.peek(Token![&]),
            "a plan cannot have `self`: its inputs are `name: Type`",
        ),
        (
            input.peek(Token![mut]),
            "inputs cannot be mutable: write `name: Type`",
        ),
        (
            input.peek(Token![pub]),
            "inputs have the visibility of their plan: write `name: Type`",
        ),
    ];
    if let Some((_, message)) = first.into_iter().find(|(is_here, _)| *is_here) {
        return Err(input.error(message));
    }
    if !input.peek(Ident::peek_any) {
        let next: TokenTree = input.parse()?;
        return Ok(Mistake::at(next.span(), "expected an input: `name: Type`"));
    }
    let name = Ident::parse_any(input)?;
    if let Some(name) = HyphenatedName::new(&name, &input.fork().parse()?) {
        return Ok(name.mistake);
    }
    if input.peek(Token![?]) {
        let (question, ty) = (input.parse::<Token![?]>()?, type_after_colon(input));
        let message =
            format!("an optional input is an `Option`\nhelp: write `{name}: Option<{ty}>`");
        return Ok(Mistake::new(question, message));
    }
    let colon: Option<Token![:]> = input.parse()?;
    if colon.is_none() || input.is_empty() || input.peek(Token![,]) {
        let message = format!("the input `{name}` needs a type: `{name}: Type`");
        return Ok(Mistake::at(name.span(), message));
    }
    let last = end_of(&input.fork().parse()?);
    let ty = match input.parse::<Type>() {
        Ok(ty) => tidy(ty),
        Err(error) => {
            // syn has no span for a token that is missing at the end.
            let last = last.filter(|_| input.is_empty());
            return Ok(Mistake::at(
                last.unwrap_or_else(|| error.span()),
                format!("the type of the input `{name}` is not valid: write `{name}: Type`"),
            ));
        }
    };
    if input.peek(Token![=]) {
        let (equals, value) = (input.parse::<Token![=]>()?, input.parse::<TokenStream>()?);
        let is_text = matches!(syn::parse2(value.clone()), Ok(Lit::Str(_))) && ty == "String";
        let to_owned = if is_text { ".to_owned()" } else { "" };
        let value = tidy(&value);
        let message = format!(
            "an input has no default value\nhelp: write `{name}: Option<{ty}>`, and `{name}.unwrap_or({value}{to_owned})` in the plan"
        );
        return Ok(Mistake::new(equals, message));
    }
    if input.is_empty() {
        return Err(error);
    }
    Err(input.error("expected `,` or the end of the inputs"))
}
