//! The last expression of a plan, its output.

use super::{braced, other_words, value};
use crate::ast::{Tail, Value};
use crate::report::Report;
use crate::scan::has_steps;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::{Expr, ExprIf};

/// Reads the final expression.
pub(super) fn tail(
    attrs: TokenStream,
    tokens: TokenStream,
    semicolon: bool,
    end: Span,
    report: &mut Report,
) -> Option<Tail> {
    if !attrs.is_empty() {
        let attrs: Vec<TokenTree> = attrs.into_iter().collect();
        let is_hash = |tree: &TokenTree| matches!(tree, TokenTree::Punct(_));
        let last = attrs.iter().rposition(is_hash).unwrap_or_default();
        report.error(
            TokenStream::from_iter(attrs.into_iter().skip(last)),
            no_step(&tokens, semicolon),
        );
        // A call and a statement are no output.
        let is_output = !tokens.is_empty() && !semicolon && !super::call::is_call(&tokens);
        return is_output.then(|| Tail {
            value: Value::Broken,
            mentions: Vec::new(),
            tokens,
        });
    }
    if tokens.is_empty() {
        return None;
    }
    if let Some((keyword, message)) = statement(&tokens, semicolon) {
        report.error(keyword, message);
        return None;
    }
    if let Some(TokenTree::Group(group)) = tokens.clone().into_iter().next()
        && group.delimiter() == Delimiter::Brace
        && has_steps(&group)
    {
        report.error_at(
            group.span_open(),
            "a block is what a step does\nhelp: write `step name = { … };`",
        );
        return None;
    }
    if semicolon {
        if let Some((name, message)) = called_macro(&tokens) {
            report.error(name, message);
            return None;
        }
        let returns = matches!(tokens.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == "return");
        let one = tokens.clone().into_iter().count() == 1;
        let help = if returns {
            "help: write it without the `return` and without the `;`".to_owned()
        } else if one {
            "help: remove the `;` to make this the plan's output".to_owned()
        } else {
            super::call::as_step(&tokens)
        };
        report.error(&tokens, format!("a plan consists of steps, and of a last expression without `;` that is its output\n{help}"));
        return None;
    }
    let mut trees = tokens.clone().into_iter();
    if let (Some(TokenTree::Ident(word)), Some(TokenTree::Group(value)), None) =
        (trees.next(), trees.next(), trees.next())
        && word == "Ok"
    {
        let value = super::tidy(&value.stream());
        report.error(
            tokens,
            format!("a plan's output is the value of its last expression, and `run` adds the `Result`\nhelp: write `{value}`"),
        );
        return None;
    }
    let before = report.len();
    let mut value = value::all(tokens.clone(), end, "the end of the plan", report);
    if report.keep_first(before) {
        value = Value::Broken;
    }
    let mentions = Vec::new();
    Some(Tail {
        value,
        mentions,
        tokens,
    })
}

/// The message about attributes that are not before a step, but before these tokens.
pub(super) fn no_step(tokens: &TokenStream, semicolon: bool) -> String {
    const ONLY: &str = "only steps have attributes and doc comments";
    if super::call::is_call(tokens) || semicolon && !tokens.is_empty() {
        return format!("{ONLY}\n{}", super::call::as_step(tokens));
    }
    format!("{ONLY}; expected `step name = …;` after this")
}

/// The name of the macro that is called, which is all of the tokens, and what is wrong with it.
pub(super) fn called_macro(tokens: &TokenStream) -> Option<(Ident, String)> {
    let call: syn::Macro = syn::parse2(tokens.clone()).ok()?;
    let name = call.path.segments.last()?.ident.clone();
    let message = format!(
        "a plan has no statements, so it cannot call `{name}!` here\nhelp: a tool may do this, or an `Observer` of the run; a value is a step with a type: `step name: Type = …;`"
    );
    Some((name, message))
}

/// The keyword of an `if`, a loop or the like in place of a step, and what a plan has instead.
fn statement(tokens: &TokenStream, semicolon: bool) -> Option<(Ident, String)> {
    let mut trees = tokens.clone().into_iter();
    let Some(TokenTree::Ident(keyword)) = trees.next() else {
        return None;
    };
    let usage = match keyword.to_string().as_str() {
        "for" => "step name = for x in list { Tool { … } };",
        "if" => {
            let is_value = !semicolon && syn::parse2::<Expr>(tokens.clone()).is_ok();
            let ends_with_braces = braced(&tokens.clone().into_iter().last()?).is_some();
            if is_value && !(ends_with_braces && has_no_else(tokens)) {
                return None;
            }
            if let Some(early) = other_words::statement(tokens) {
                return Some(early);
            }
            "step name = if ready { Tool { … } } else { … };"
        }
        _ => return other_words::statement(tokens),
    };
    let message = format!("`{keyword}` is a part of a step: `{usage}`");
    Some((keyword, message))
}

/// An `if` without `else` has no value, so it cannot be the output of a plan.
fn has_no_else(tokens: &TokenStream) -> bool {
    matches!(
        syn::parse2(tokens.clone()),
        Ok(Expr::If(ExprIf {
            else_branch: None,
            ..
        }))
    )
}
