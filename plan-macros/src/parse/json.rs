//! `json!(…)`.

use super::value;
use crate::ast::{Json, Value};
use crate::report::Report;
use proc_macro2::{Span, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Macro, Token, braced, bracketed, token};

/// Reads `json!(…)` as `serde_json` does; `None` if it has keys that are not string literals, which makes it a computed value.
pub(super) fn parse(call: &Macro, report: &mut Report) -> Option<Value> {
    let end = call.delimiter.span().close();
    let mut inner = Report::default();
    let parser = |input: ParseStream<'_>| {
        let json = json(input, end, &mut inner)?;
        if !input.is_empty() {
            return Err(input.error("expected the end of `json!(…)`"));
        }
        Ok(json)
    };
    match parser.parse2(call.tokens.clone()) {
        Ok(None) => None,
        Ok(Some(json)) => {
            report.extend(inner);
            Some(Value::Json(call.path.span(), json))
        }
        Err(error) => {
            report.extend(inner);
            report.push(error);
            Some(Value::Broken)
        }
    }
}

fn json(input: ParseStream<'_>, end: Span, report: &mut Report) -> syn::Result<Option<Json>> {
    if input.is_empty() {
        return Err(syn::Error::new(end, "expected a value before this"));
    }
    if input.peek(token::Brace) {
        let content;
        let brace = braced!(content in input);
        return object(&content, brace.span.close(), report);
    }
    if input.peek(token::Bracket) && ends_value(input) {
        let content;
        let bracket = bracketed!(content in input);
        let mut elements = Vec::new();
        while !content.is_empty() {
            match json(&content, bracket.span.close(), report)? {
                Some(element) => elements.push(element),
                None => {
                    content.parse::<proc_macro2::TokenStream>()?;
                    return Ok(None);
                }
            }
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        return Ok(Some(Json::List(elements)));
    }
    if input.peek(Ident) && input.fork().parse::<Ident>()? == "null" {
        input.parse::<Ident>()?;
        return Ok(Some(Json::Null));
    }
    Ok(Some(Json::Value(Box::new(value::value(
        input, end, report,
    )))))
}

/// Whether the bracket group here is all of the value: `[a]`, not `[a].len()`.
fn ends_value(input: ParseStream<'_>) -> bool {
    let fork = input.fork();
    fork.parse::<proc_macro2::TokenTree>().is_ok() && (fork.is_empty() || fork.peek(Token![,]))
}

fn object(content: ParseStream<'_>, end: Span, report: &mut Report) -> syn::Result<Option<Json>> {
    let mut members: Vec<(LitStr, Json)> = Vec::new();
    while !content.is_empty() {
        if !(content.peek(LitStr) && content.peek2(Token![:])) {
            let is_text = content.peek(LitStr);
            // A name alone is a key that lacks its quotes; any other expression computes one.
            let is_computed = content.peek(token::Paren)
                || content.peek(Ident) && !content.peek2(Token![:]) && !content.peek2(Token![,]);
            let first = content.fork().parse::<proc_macro2::TokenTree>()?;
            content.parse::<proc_macro2::TokenStream>()?;
            if is_computed {
                return Ok(None);
            }
            let message = if is_text {
                format!("expected `:` and a value after the key: `{first}: value`")
            } else if matches!(first, TokenTree::Punct(_)) {
                "expected a key before this: `\"key\": value`".to_owned()
            } else {
                format!("the keys of `json!` are strings: `\"{first}\"`")
            };
            return Err(syn::Error::new(first.span(), message));
        }
        let key: LitStr = content.parse()?;
        content.parse::<Token![:]>()?;
        let Some(value) = json(content, end, report)? else {
            content.parse::<proc_macro2::TokenStream>()?;
            return Ok(None);
        };
        if members
            .iter()
            .any(|(earlier, _)| earlier.value() == key.value())
        {
            report.error(
                &key,
                format!("the key \"{}\" is given more than once", key.value()),
            );
        }
        members.push((key, value));
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(Some(Json::Object(members)))
}
