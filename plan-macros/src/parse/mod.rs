//! From tokens to [`ast`](crate::ast). Every stage of it records what is wrong and goes on with what follows.

mod format;
mod head;
mod json;
mod reference;
mod step;
mod tokens;
mod value;

pub(crate) use reference::is_source_name;
pub(crate) use step::path_text;

use crate::ast::{Plan, Tail};
use crate::report::Report;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use tokens::Tokens;

/// Reads all that stands in `plan!`.
pub(crate) fn parse(input: TokenStream, report: &mut Report) -> Plan {
    let mut tokens = Tokens::new(input);
    let krate = head::krate(&mut tokens, report);
    let start = tokens.clone();
    let (head, body) = match head::head(&mut tokens, report) {
        Some((head, body)) => (Some(head), body),
        None => (None, start),
    };
    let (steps, tail) = body_of(body, report);
    Plan {
        krate,
        head,
        steps,
        tail,
    }
}

fn body_of(mut tokens: Tokens, report: &mut Report) -> (Vec<crate::ast::Step>, Option<Tail>) {
    let mut steps = Vec::new();
    let mut tail: Option<Tail> = None;
    while !tokens.is_empty() {
        if tokens.eat_punct(';') {
            continue;
        }
        let statement = step::statement(&mut tokens);
        let is_step = step::is_step(&statement.tokens);
        if is_step
            && let Some(tail) = tail.take()
            && !matches!(tail.value, crate::ast::Value::Broken)
        {
            report.error(
                tail.tokens,
                "a plan's output is its last expression: move it behind the last step, or make it a step\n\
                 help: `step name: Type = …;` is a computed step",
            );
        }
        if is_step {
            steps.extend(step::parse(statement, report));
        } else {
            let value = step::tail(statement, report);
            if let (Some(_), Some(second)) = (&tail, &value) {
                report.error(
                    &second.tokens,
                    "a plan has one output, its last expression; this is a second one",
                );
                continue;
            }
            tail = value;
        }
    }
    (steps, tail)
}

/// The tokens of a brace group.
fn braced(tree: &TokenTree) -> Option<TokenStream> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}
