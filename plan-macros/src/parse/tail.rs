//! The last expression of a plan, its output.

use super::value;
use crate::ast::Tail;
use crate::report::Report;
use proc_macro2::{Span, TokenStream, TokenTree};

/// Reads the final expression.
pub(super) fn tail(
    attrs: TokenStream,
    tokens: TokenStream,
    semicolon: bool,
    end: Span,
    report: &mut Report,
) -> Option<Tail> {
    if !attrs.is_empty() {
        report.error(
            attrs,
            "only steps have attributes and doc comments; expected `step name = …;` after this",
        );
    }
    if tokens.is_empty() {
        return None;
    }
    if semicolon {
        let returns = matches!(tokens.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == "return");
        let one = tokens.clone().into_iter().count() == 1;
        let help = if returns {
            "help: write it without the `return` and without the `;`".to_owned()
        } else if one {
            "help: remove the `;` to make this the plan's output".to_owned()
        } else {
            format!("help: a step is `step name = {};`", tokens)
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
    let value = value::all(tokens.clone(), end, "the end of the plan", report);
    let mentions = Vec::new();
    Some(Tail {
        value,
        mentions,
        tokens,
    })
}
