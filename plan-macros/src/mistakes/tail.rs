//! Wrong forms of the last expression of a plan or a block, and of tokens between steps.

use super::{as_step, foreign, is_call, words};
use crate::report::{Mistake, mistake};
use crate::syntax::text::{tidy, value_text};
use crate::syntax::tokens::{braces, first, first_word, last, only};
use crate::syntax::{Statement, has_steps, is_work};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::{Expr, ExprIf, Macro};

/// Returns the error of attributes that are before these tokens, and not before a step.
pub(crate) fn attributes(
    attrs: TokenStream,
    statement: &Statement,
    tokens: &TokenStream,
) -> Mistake {
    const ONLY: &str = "only steps have attributes and doc comments";
    if is_call(tokens) || statement.semicolon && !tokens.is_empty() {
        return mistake!(attrs, "{ONLY}\n{}", as_step(tokens));
    }
    if statement.semicolon {
        let attribute = value_text(&attrs);
        return mistake!(
            attrs,
            "the attributes of a step are before `step`\nhelp: write `{attribute} step name = …;`"
        );
    }
    mistake!(attrs, "{ONLY}; expected `step name = …;` after this")
}

/// Returns the last of some attributes.
pub(crate) fn last_attribute(attrs: &TokenStream) -> TokenStream {
    let attrs: Vec<TokenTree> = attrs.clone().into_iter().collect();
    let is_hash = |tree: &TokenTree| matches!(tree, TokenTree::Punct(_));
    let last = attrs.iter().rposition(is_hash).unwrap_or_default();
    attrs.into_iter().skip(last).collect()
}

/// Returns the error about tokens instead of a plan's output, if the tokens may be a value.
pub(crate) fn in_plan(statement: &Statement, tokens: &TokenStream) -> Option<Mistake> {
    if let Some(mistake) = part_of_step(statement, tokens) {
        return Some(mistake);
    }
    let first = first(tokens)?;
    if let Some(group) = braces(&first).filter(|group| has_steps(group)) {
        let message = "a block is what a step does\nhelp: write `step name = { … };`";
        return Some(Mistake::at(group.span_open(), message));
    }
    if statement.semicolon {
        let help = || {
            if first.to_string() == "return" {
                "help: write it without the `return` and without the `;`".to_owned()
            } else if only(tokens).is_some() {
                "help: remove the `;` to make this the plan's output".to_owned()
            } else {
                as_step(tokens)
            }
        };
        let message =
            "a plan consists of steps, and of a last expression without `;` that is its output";
        let statement = || mistake!(tokens, "{message}\n{}", help());
        return Some(called_macro(tokens).unwrap_or_else(statement));
    }
    let (_, inside) = constructor(tokens).filter(|(name, _)| name == "Ok")?;
    let value = tidy(inside?);
    Some(mistake!(
        tokens,
        "a plan's output is the value of its last expression, and `run` adds the `Result`\nhelp: write `{value}`"
    ))
}

/// Returns the name and the content of `Name` and `Name(…)`, if that is all of the tokens.
fn constructor(tokens: &TokenStream) -> Option<(Ident, Option<TokenStream>)> {
    let mut trees = tokens.clone().into_iter();
    match (trees.next()?, trees.next(), trees.next()) {
        (TokenTree::Ident(name), None, None) => Some((name, None)),
        (TokenTree::Ident(name), Some(TokenTree::Group(group)), None)
            if group.delimiter() == Delimiter::Parenthesis =>
        {
            Some((name, Some(group.stream())))
        }
        _ => None,
    }
}

/// Returns the error of the call of a macro that is all of the tokens.
fn called_macro(tokens: &TokenStream) -> Option<Mistake> {
    let call: Macro = syn::parse2(tokens.clone()).ok()?;
    let name = &call.path.segments.last()?.ident;
    Some(mistake!(
        name,
        "a plan has no statements, so it cannot call `{name}!` here\nhelp: a tool may do this, or an `Observer` of the run; a value is a step with a type: `step name: Type = …;`"
    ))
}

/// Returns the error about an `if`, a loop or similar instead of a step.
fn part_of_step(statement: &Statement, tokens: &TokenStream) -> Option<Mistake> {
    let Some(keyword) = first_word(tokens) else {
        return words::statement(tokens);
    };
    let usage = match &*keyword.to_string() {
        "for" => "step name = for x in list { Tool { … } };",
        "if" => {
            let is_value = !statement.semicolon && syn::parse2::<Expr>(tokens.clone()).is_ok();
            let ends_with_braces = braces(&last(tokens)?).is_some();
            if is_value && !(ends_with_braces && has_no_else(tokens)) {
                return None;
            }
            if let Some(early) = words::statement(tokens) {
                return Some(early);
            }
            "step name = if ready { Tool { … } } else { … };"
        }
        _ => return words::statement(tokens),
    };
    Some(mistake!(
        &keyword,
        "`{keyword}` is a part of a step: `{usage}`"
    ))
}

/// Returns `true` for an `if` without `else`, which has no value.
fn has_no_else(tokens: &TokenStream) -> bool {
    matches!(
        syn::parse2(tokens.clone()),
        Ok(Expr::If(ExprIf {
            else_branch: None,
            ..
        }))
    )
}

/// Returns the error of tokens in a block that are no step, if they cannot be the value of the block.
pub(crate) fn in_block(
    statement: &Statement,
    tokens: &TokenStream,
    is_last: bool,
) -> Option<Mistake> {
    if let Some(word) = first_word(tokens).filter(words::is_ending) {
        return Some(if word == "return" {
            Mistake::new(
                word,
                "a block has no `return`: its last expression is its value\nhelp: write the name of a step at its end",
            )
        } else {
            words::in_loop(&word)
        });
    }
    if let Some(mistake) = words::statement(tokens) {
        return Some(mistake);
    }
    if is_last && !statement.semicolon {
        return variant(tokens).or_else(|| foreign::alone(tokens));
    }
    let called = statement.semicolon.then(|| called_macro(tokens));
    Some(called.flatten().unwrap_or_else(|| {
        let is_value = is_last && (is_work(tokens) || only(tokens).is_some());
        let help = if is_value {
            "help: remove the `;` to make this the block's value".to_owned()
        } else {
            as_step(tokens)
        };
        mistake!(tokens, "a block consists of steps, and of a last expression without `;` that is its value\n{help}")
    }))
}

/// Returns the error of `None`, `Some(…)` and `Ok(…)`, which are values and end no block.
fn variant(tokens: &TokenStream) -> Option<Mistake> {
    let (name, inside) = constructor(tokens)?;
    let message = match (&*name.to_string(), inside) {
        ("Ok", Some(inside)) => {
            let inside = value_text(inside);
            format!(
                "a block gives the value of its last expression, without `Ok`\nhelp: write `{inside}`"
            )
        }
        ("None", None) | ("Some" | "Err", Some(_)) => {
            let value = value_text(tokens);
            format!(
                "`{name}` is not a tool\nhelp: write `step value: Type = {value};`, then `value`"
            )
        }
        _ => return None,
    };
    Some(Mistake::new(tokens, message))
}

/// Returns the error of a value at the end of a block.
pub(crate) fn value_of_block(tokens: &TokenStream) -> Mistake {
    super::lowercase(tokens).unwrap_or_else(|| {
        let value = value_text(tokens);
        mistake!(
            tokens,
            "a block ends with a call, an `if`, a `for`, or the name of one of its steps\n\
                 help: write `step value: Type = {value};`, then `value`"
        )
    })
}

/// Returns `true` for tokens between two steps that may be a part of a step: they start with brackets.
pub(crate) fn is_part(tokens: &TokenStream) -> bool {
    matches!(first(tokens), Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::Parenthesis)
}
