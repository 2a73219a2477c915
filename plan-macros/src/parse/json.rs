//! `json!(…)`.

use super::value;
use crate::ast::{Json, Value};
use crate::mistakes::value::not_a_key;
use crate::report::Report;
use crate::syntax::tokens::{in_braces, in_brackets, is_word};
use proc_macro2::{Span, TokenTree};
use std::collections::HashSet;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Macro, Token, token};

/// Reads `json!(…)` as `serde_json` does; `None` for keys that are not string literals, which make the call a computed value.
pub(super) fn parse(call: &Macro, report: &mut Report) -> Option<Value> {
    let end = call.delimiter.span().close();
    let mut reader = JsonReader {
        report: Report::default(),
        is_computed: false,
    };
    let parser = |input: ParseStream<'_>| {
        let json = reader.json(input, end)?;
        if !input.is_empty() {
            return Err(input.error("expected the end of `json!(…)`"));
        }
        Ok(json)
    };
    let json = parser.parse2(call.tokens.clone());
    if reader.is_computed {
        return None;
    }
    report.extend(reader.report);
    let json = report.ok(json);
    Some(json.map_or(Value::Broken, |json| Value::Json(call.path.span(), json)))
}

struct JsonReader {
    report: Report,
    /// `true` after a key that an expression computes, which ends the reader.
    is_computed: bool,
}

impl JsonReader {
    fn json(&mut self, input: ParseStream<'_>, end: Span) -> syn::Result<Json> {
        if input.is_empty() {
            return Err(syn::Error::new(end, "expected a value before this"));
        }
        // A macro of the author may have captured the value.
        let is_captured = input.peek(token::Group);
        if input.peek(token::Brace) && !is_captured {
            let (brace, content) = in_braces(input)?;
            return self.object(&content, brace.span.close());
        }
        if input.peek(token::Bracket) && !is_captured && ends_value(input) {
            let (bracket, content) = in_brackets(input)?;
            let mut elements = Vec::new();
            while !content.is_empty() {
                elements.push(self.json(&content, bracket.span.close())?);
                comma(&content)?;
            }
            return Ok(Json::List(elements));
        }
        if input.peek(Ident) && is_word(&input.fork().parse()?, "null") {
            input.parse::<Ident>()?;
            return Ok(Json::Null);
        }
        let value = value::value(input, end, &mut self.report);
        Ok(Json::Value(Box::new(value)))
    }

    fn object(&mut self, content: ParseStream<'_>, end: Span) -> syn::Result<Json> {
        let mut members: Vec<(LitStr, Json)> = Vec::new();
        let mut keys = HashSet::new();
        while !content.is_empty() {
            if !(content.peek(LitStr) && content.peek2(Token![:])) {
                // A name alone is a key that lacks its quotes; any other expression computes one.
                self.is_computed = content.peek(token::Paren)
                    || content.peek(Ident)
                        && !content.peek2(Token![:])
                        && !content.peek2(Token![,]);
                let is_text = content.peek(LitStr);
                return Err(not_a_key(&content.parse()?, is_text).into());
            }
            let key: LitStr = content.parse()?;
            content.parse::<Token![:]>()?;
            let value = self.json(content, end)?;
            if !keys.insert(key.value()) {
                let message = format!("the key \"{}\" is given more than once", key.value());
                self.report.error(&key, message);
            }
            members.push((key, value));
            comma(content)?;
        }
        Ok(Json::Object(members))
    }
}

/// Reads a comma, unless nothing follows.
fn comma(content: ParseStream<'_>) -> syn::Result<()> {
    if !content.is_empty() {
        content.parse::<Token![,]>()?;
    }
    Ok(())
}

/// Returns `true` if the next brackets are the whole value: `[a]`, and not `[a].len()`.
fn ends_value(input: ParseStream<'_>) -> bool {
    let fork = input.fork();
    fork.parse::<TokenTree>().is_ok() && (fork.is_empty() || fork.peek(Token![,]))
}
