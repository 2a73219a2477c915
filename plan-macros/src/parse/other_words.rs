//! What other languages and engines write in place of attributes and steps.

use super::braced;
use proc_macro2::{Ident, TokenStream, TokenTree};

/// The attribute that a step has in place of one of this name, if it is one, and how to write it.
pub(super) fn meant(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "finally" | "ensure" | "defer" | "cleanup" | "on_exit" => ("always", "write `#[always]`"),
        "compensate" | "compensation" | "rollback" | "revert" | "reverses" => (
            "undo",
            "write `#[undo(paid)]` on the step that undoes `paid`",
        ),
        "on_error" | "on_failure" | "on_err" | "rescue" | "except" | "recover" => (
            "catch",
            "write `#[catch]` to have the failure as a value, or `#[fallback(value)]` to replace it",
        ),
        "ignore_errors" | "allow_failure" | "continue_on_error" => (
            "optional",
            "write `#[optional]`, and the output is an `Option`",
        ),
        "max" | "limit" | "max_rounds" | "max_iterations" | "rounds" | "times" => (
            "at_most",
            "write `#[at_most(100)]` for the rounds of a `loop`, `#[retry(3)]` for attempts, or `#[concurrency(3)]` for elements that run at one time",
        ),
        "parallel" | "max_parallel" | "parallelism" => (
            "concurrency",
            "write `#[concurrency(3)]` for the elements of a `for`; steps run beside each other anyway",
        ),
        "attempts" | "tries" | "repeat" => ("retry", "write `#[retry(3)]`"),
        "time_limit" | "max_time" | "ttl" | "within" => (
            "timeout",
            "write `#[timeout(\"10s\")]` for each attempt, or `#[deadline(\"1m\")]` for all",
        ),
        "needs" | "depends_on" | "depends" | "requires" => (
            "after",
            "write `#[after(name)]`; a step that refers to another waits for it anyway",
        ),
        "default" | "or_else" | "otherwise" => ("fallback", "write `#[fallback(value)]`"),
        "when" | "only_if" | "skip_if" | "condition" => {
            ("if", "write `step name = if condition { Tool { … } };`")
        }
        _ => return None,
    })
}

/// The keyword of a statement that a plan does not have, and what it has instead.
pub(super) fn statement(tokens: &TokenStream) -> Option<(Ident, String)> {
    let mut trees = tokens.clone().into_iter();
    let Some(TokenTree::Ident(keyword)) = trees.next() else {
        return None;
    };
    let has_braces = trees.next().is_some_and(|next| braced(&next).is_some());
    let message = match keyword.to_string().as_str() {
        "while" | "loop" => format!(
            "`{keyword}` is a part of a step: `#[at_most(100)] step name = loop {{ Tool {{ … }} }} while condition;`"
        ),
        _ if !has_braces => return None,
        "do" => "a loop is a part of a step: `#[at_most(100)] step name = loop { Tool { … } } while condition;`".to_owned(),
        "try" => "a plan has no `try`: a failure ends the run, unless the step says otherwise\n\
                  help: write `#[catch]` on a step whose failure is a value, and `#[always]` on one that runs in any case"
            .to_owned(),
        "finally" | "defer" => {
            format!("a plan has no `{keyword}`\nhelp: write `#[always] step name = Tool {{ … }};`")
        }
        "catch" => "a plan has no `catch`\nhelp: write `#[catch]` on a step, and its failure is a value".to_owned(),
        _ => return None,
    };
    Some((keyword, message))
}
