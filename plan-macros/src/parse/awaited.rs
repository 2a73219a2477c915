//! `step reply: Reply = await;`, and what is easily written instead.

use super::call;
use super::token_text::value_text;
use crate::ast::{Body, Role};
use crate::report::Report;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};

/// The `await` that a value begins with.
pub(super) fn keyword(tokens: &TokenStream) -> Option<Ident> {
    match tokens.clone().into_iter().next() {
        Some(TokenTree::Ident(word)) if word == "await" => Some(word),
        _ => None,
    }
}

/// Reads the value of a step with a type, if it begins with `await`.
pub(super) fn typed(tokens: &TokenStream, name: &Ident, report: &mut Report) -> Option<Body> {
    let keyword = keyword(tokens)?;
    let Some(extra) = tokens.clone().into_iter().nth(1) else {
        return Some(Body::Await(keyword.span()));
    };
    let call: TokenStream = tokens.clone().into_iter().skip(1).collect();
    if call::is_call(&call) {
        report.error(keyword, without(&call, name));
        return Some(Body::Broken(None));
    }
    report.error(
        extra,
        format!(
            "`await` is written alone: the value comes from outside of the run\nhelp: write `step {name}: Type = await;`"
        ),
    );
    Some(Body::Broken(None))
}

/// Reports an `await` where a step without a type calls a tool.
pub(super) fn untyped(
    tokens: &TokenStream,
    is_inner: bool,
    name: &Ident,
    report: &mut Report,
) -> bool {
    let Some(keyword) = keyword(tokens) else {
        return false;
    };
    let call: TokenStream = tokens.clone().into_iter().skip(1).collect();
    if !call.is_empty() {
        report.error(keyword, without(&call, name));
    } else if is_inner {
        report.error(
            keyword,
            "a value from outside needs a type\nhelp: write `step reply: Type = await;` in the braces, then `reply`",
        );
    } else {
        report.error(
            keyword,
            format!("a value from outside needs a type\nhelp: write `step {name}: Type = await;`"),
        );
    }
    true
}

/// Says that a call needs no `await`.
fn without(call: &TokenStream, name: &Ident) -> String {
    let call = value_text(call);
    format!(
        "a step calls its tool without `await`: the run awaits the tool, and fails if the tool fails\nhelp: write `step {name} = {call};`"
    )
}

/// Reports each wait in what a step of this kind does, which comes after the work.
pub(super) fn late(body: &Body, kind: &str, report: &mut Report) {
    if let Body::Await(at) = body {
        let message = format!("{kind} cannot wait for a value\nhelp: wait in a step before");
        report.error_at(*at, message);
    }
    body.blocks(&mut |block| {
        // The others were looked at already.
        let work = block
            .steps
            .iter()
            .filter(|step| matches!(step.role, Role::Work));
        work.for_each(|step| late(&step.body, kind, report));
    });
}

/// The first `await` that is not after a dot.
pub(super) fn alone(trees: &[TokenTree]) -> Option<Span> {
    let mut is_after_dot = false;
    trees.iter().find_map(|tree| {
        let was_after_dot = is_after_dot;
        is_after_dot = matches!(tree, TokenTree::Punct(dot) if dot.as_char() == '.');
        match tree {
            TokenTree::Ident(word) if word == "await" && !was_after_dot => Some(word.span()),
            TokenTree::Group(group) => alone(&group.stream().into_iter().collect::<Vec<_>>()),
            _ => None,
        }
    })
}

/// Reports an `await` in a value that is not all that a step does.
pub(super) fn inside(at: Span, report: &mut Report) {
    report.error_at(
        at,
        "only a step waits for a value\nhelp: write `step reply: Type = await;`, and refer to `reply`",
    );
}
