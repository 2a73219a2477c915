//! Keywords of other languages and engines instead of attributes, statements and calls.
//!
//! In a message, `{word}` is the word, and `{step}` is the name of the step.

use super::foreign;
use crate::report::{Mistake, mistake};
use crate::syntax::has_steps;
use crate::syntax::text::value_text;
use crate::syntax::tokens::{Tokens, braces, first_word, is_sign, last, parse_start};
use crate::syntax::value::is_type_name;
use plan_graph::StepAttribute;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::Path;

/// Returns the attribute of a step that replaces an attribute of this name, and the way to write it.
pub(crate) fn attribute(name: &str) -> Option<(Option<StepAttribute>, &'static str)> {
    Some(match name {
        "finally" | "ensure" | "defer" | "cleanup" | "on_exit" => {
            (Some(StepAttribute::Always), "write `#[always]`")
        }
        "compensate" | "compensation" | "rollback" | "revert" | "reverses" => (
            Some(StepAttribute::Undo),
            "write `#[undo(paid)]` on the step that undoes `paid`",
        ),
        "on_error" | "on_failure" | "on_err" | "rescue" | "except" | "recover" => (
            Some(StepAttribute::Catch),
            "write `#[catch]` to have the failure as a value, or `#[fallback(value)]` to replace it",
        ),
        "ignore_errors" | "allow_failure" | "continue_on_error" => (
            Some(StepAttribute::Optional),
            "write `#[optional]`, and the output is an `Option`",
        ),
        "max" | "limit" | "max_rounds" | "max_iterations" | "rounds" | "times" => (
            Some(StepAttribute::AtMost),
            "write `#[at_most(100)]` for the rounds of a `loop`, `#[retry(3)]` for attempts, or `#[concurrency(3)]` for elements that run at one time",
        ),
        "parallel" | "max_parallel" | "parallelism" => (
            Some(StepAttribute::Concurrency),
            "write `#[concurrency(3)]` for the elements of a `for`; steps run concurrently anyway",
        ),
        "every" | "interval" | "poll" => (
            Some(StepAttribute::AtMost),
            "write `#[at_most(100, every = \"3s\")]` for the rounds of a `loop`",
        ),
        "attempts" | "tries" | "repeat" => (Some(StepAttribute::Retry), "write `#[retry(3)]`"),
        "timeout_seconds" | "timeout_minutes" | "timeout_ms" | "time_limit" | "max_time"
        | "ttl" | "within" => (
            Some(StepAttribute::Timeout),
            "write `#[timeout(\"10s\")]` for each attempt, or `#[deadline(\"1m\")]` for all",
        ),
        "needs" | "depends_on" | "depends" | "requires" => (
            Some(StepAttribute::After),
            "write `#[after(name)]`; a step that refers to another waits for it anyway",
        ),
        "default" | "or_else" | "otherwise" => {
            (Some(StepAttribute::Fallback), "write `#[fallback(value)]`")
        }
        "when" | "only_if" | "skip_if" | "condition" => {
            (None, "write `step name = if condition { Tool { … } };`")
        }
        _ => return None,
    })
}

/// Returns the error of `@retry(3)`, an attribute of other languages.
fn decorator(tokens: &TokenStream) -> Option<Mistake> {
    let mut tokens = Tokens::of(tokens);
    if !tokens.eat_punct('@') {
        return None;
    }
    let at = tokens.last();
    let name = tokens.next_ident()?;
    let arguments = tokens.peek_group(0, Delimiter::Parenthesis);
    let arguments = arguments.map(ToString::to_string).unwrap_or_default();
    Some(Mistake::at(
        at,
        format!("an attribute is written `#[…]`\nhelp: write `#[{name}{arguments}]`"),
    ))
}

/// Returns the error of a statement that a plan does not have.
pub(crate) fn statement(tokens: &TokenStream) -> Option<Mistake> {
    if let Some(decorator) = decorator(tokens) {
        return Some(decorator);
    }
    let (word, next) = (first_word(tokens)?, tokens.clone().into_iter().nth(1));
    if word == "if" {
        let word = ending(tokens)?;
        return Some(mistake(
            &word,
            "a plan has no early `{word}`: all its steps run, each as soon as it can\n\
             help: write `step name = if condition { Tool { … } };` for what may be left out",
        ));
    }
    let has_braces = next.as_ref().and_then(braces).is_some();
    // A word with nothing after it, or with an operator, may be a name of the plan.
    let has_operand = match &next {
        Some(TokenTree::Ident(operator)) => operator != "as",
        Some(TokenTree::Literal(_)) => true,
        _ => false,
    };
    let message = match &*word.to_string() {
        "break" | "continue" => {
            "a plan has no `{word}`: all its steps run, each as soon as it can\n\
             help: write `if condition { … }` around what may be left out"
        }
        "throw" | "raise" | "bail" | "fail" if has_operand => {
            "a plan has no `{word}`: it fails when a step fails\n\
             help: write `step name: Type = Err(\"…\")?;`, which fails"
        }
        "yield" | "emit" if has_operand || word == "yield" => {
            "a plan has no `{word}`: it has one output, its last expression\n\
             help: an `Observer` of the run sees what each step gives"
        }
        "fn" | "struct" | "enum" | "const" | "static" | "use" | "impl" | "mod" | "type"
            if next.is_some() =>
        {
            "a plan has no items: it consists of steps\nhelp: write this `{word}` before `plan!`"
        }
        "async" | "pub" if next.is_none() => "a step has no `{word}`\nhelp: remove it",
        "while" | "loop" => {
            "`{word}` is a part of a step: `#[at_most(100)] step name = loop { Tool { … } } while condition;`"
        }
        _ if !has_braces => return None,
        word if is_concurrent(word) => CONCURRENT,
        "do" => {
            "a loop is a part of a step: `#[at_most(100)] step name = loop { Tool { … } } while condition;`"
        }
        "try" => {
            "a plan has no `try`: a failure ends the run, unless the step says otherwise\n\
             help: write `#[catch]` on a step whose failure is a value, and `#[always]` on one that runs in any case"
        }
        "finally" | "defer" => {
            "a plan has no `{word}`\nhelp: write `#[always] step name = Tool { … };`"
        }
        "catch" => {
            "a plan has no `catch`\nhelp: write `#[catch]` on a step, and its failure is a value"
        }
        _ => return None,
    };
    Some(mistake(&word, message))
}

/// Returns the error of a word and a block instead of the call of a step.
pub(super) fn block(tokens: &TokenStream, step: &Ident) -> Option<Mistake> {
    let mut tokens = Tokens::of(tokens);
    let word = tokens.next_ident()?;
    let is_plan = word == "plan" && tokens.eat_punct('!');
    if word == "async" && tokens.is_ident(0, "move") {
        tokens.next();
    }
    let TokenTree::Group(block) = tokens.next()? else {
        return None;
    };
    let is_block = block.delimiter() == Delimiter::Brace;
    let has_steps = || is_block && has_steps(&block);
    let message = match &*word.to_string() {
        "plan" if is_plan => {
            "steps inside a step are a block\nhelp: write the braces alone: `step {step} = { … };`"
        }
        "do" if is_block => {
            "a loop begins with `loop`\nhelp: write `#[at_most(100)] step {step} = loop { Tool { … } } while condition;`"
        }
        "try" if is_block && !tokens.is_empty() => {
            "a step has no `try`: the run fails if the step fails\nhelp: write `#[catch] step {step} = Tool { … };`, and the failure is a value"
        }
        "async" | "unsafe" if has_steps() => {
            "a block has no `{word}`\nhelp: write the braces alone: `step {step} = { … };`"
        }
        "try" if has_steps() => {
            "a block has no `try`: the run fails if one of its steps fails\nhelp: write `#[catch] step {step} = { … };`, and the failure is a value"
        }
        _ => return None,
    };
    Some(mistake_in_step(&word, message, step))
}

/// Returns the error of Rust's control flow instead of the call of a step.
pub(super) fn control_flow(tokens: &TokenStream, step: &Ident) -> Option<Mistake> {
    let word = first_word(tokens)?;
    let arms = last(tokens).as_ref().and_then(braces).cloned();
    if word == "match"
        && let Some(arm) = arms.as_ref().and_then(foreign::wrong_arm)
    {
        return Some(arm);
    }
    let message = match &*word.to_string() {
        "match" => {
            "a `match` between calls compares with variants without fields, numbers or truth values, and has at least two arms\n\
             help: for other patterns, write `if let … { … } else if … { … } else { … }`\n\
             help: to compute a value with `match`, give the step a type: `step {step}: Type = match … { … };`"
        }
        "while" => {
            "a step repeats calls with `loop`, whose condition is evaluated after each round\n\
             help: write `#[at_most(100)] step {step} = loop { Tool { … } } while condition;`"
        }
        "async" | "try" | "unsafe" => {
            "a step has no `{word}`: write the call alone: the run awaits it, and fails if it fails"
        }
        "return" => "a step has no `{word}`: write the call without the `return`",
        _ => return None,
    };
    Some(mistake_in_step(&word, message, step))
}

fn mistake(word: &Ident, message: &str) -> Mistake {
    Mistake::new(word, message.replace("{word}", &word.to_string()))
}

fn mistake_in_step(word: &Ident, message: &str, step: &Ident) -> Mistake {
    mistake(word, &message.replace("{step}", &step.to_string()))
}

const CONCURRENT: &str = "steps run concurrently, unless one refers to another\n\
     help: write each call as a step of its own: `step name = Tool { … };`";

/// Returns `true` for the words that other languages and libraries begin concurrent work with.
fn is_concurrent(word: &str) -> bool {
    matches!(
        word,
        "spawn"
            | "parallel"
            | "par"
            | "concurrent"
            | "concurrently"
            | "join"
            | "try_join"
            | "join_all"
            | "all"
            | "fork"
            | "go"
            | "task"
    )
}

/// Returns the error of concurrent calls, or of the first of several calls, instead of the call of a step.
pub(super) fn concurrent(tokens: &TokenStream) -> Option<Mistake> {
    let mut function: Option<(Ident, Ident)> = None;
    let mut before = ' ';
    for tree in tokens.clone() {
        match (&tree, &mut function) {
            (TokenTree::Ident(word), None) => function = Some((word.clone(), word.clone())),
            // `tokio::spawn`
            (TokenTree::Ident(word), Some((_, last))) if before == ':' => {
                *last = word.clone();
                before = ' ';
            }
            (TokenTree::Punct(sign), Some(_)) if matches!(sign.as_char(), ':' | '!') => {
                before = sign.as_char();
            }
            (TokenTree::Ident(_), _) => break,
            (TokenTree::Group(group), _) if has_call(&group.stream()) => break,
            _ => return None,
        }
    }
    let (at, word) = function?;
    match &*word.to_string() {
        name @ ("race" | "select" | "race_ok" | "any" | "select_ok") => Some(mistake!(
            at,
            "a plan has no `{name}`: a call that has begun is not dropped because another was faster\n\
                 help: a tool may call others, and give the first answer"
        )),
        word if is_concurrent(word) => Some(Mistake::new(at, CONCURRENT)),
        _ => None,
    }
}

/// Returns `true` if `Tool { … }` is among tokens.
fn has_call(tokens: &TokenStream) -> bool {
    let mut is_tool = false;
    tokens.clone().into_iter().any(|tree| {
        let was_tool = is_tool;
        is_tool = matches!(&tree, TokenTree::Ident(name) if is_type_name(name));
        match &tree {
            TokenTree::Group(_) if was_tool && braces(&tree).is_some() => true,
            TokenTree::Group(group) if group.delimiter() != Delimiter::None => {
                has_call(&group.stream())
            }
            _ => false,
        }
    })
}

/// Returns the error of `{ Tool { … } Other { … } }`, which should be a block.
pub(super) fn calls(tokens: &TokenStream) -> Option<Mistake> {
    let parser = |input: syn::parse::ParseStream<'_>| {
        let path = input.call(Path::parse_mod_style)?;
        Ok((path, input.parse::<Group>()?, input.parse::<TokenStream>()?))
    };
    let (path, arguments, rest) = parse_start(tokens.clone(), parser).ok()?;
    let call = quote!(#path #arguments);
    if !has_call(&call) || !has_call(&rest) {
        return None;
    }
    let written = value_text(&call);
    Some(Mistake::at(
        syn::spanned::Spanned::span(&path),
        format!(
            "braces contain one call, or steps and a last expression\nhelp: write `step name = {written};`"
        ),
    ))
}

/// Returns `true` for the words that end a loop or a function early.
pub(super) fn is_ending(word: &Ident) -> bool {
    word == "break" || word == "continue" || word == "return"
}

/// Returns the `break`, `continue` or `return` that is a statement among tokens, or in an `if` among them.
fn ending(tokens: &TokenStream) -> Option<Ident> {
    let (mut is_start, mut is_if) = (true, false);
    for tree in tokens.clone() {
        let was_start = std::mem::replace(&mut is_start, false);
        if is_sign(&tree, ';') {
            (is_start, is_if) = (true, false);
            continue;
        }
        match &tree {
            TokenTree::Ident(word) if was_start && is_ending(word) => return Some(word.clone()),
            TokenTree::Ident(word) if was_start => is_if = word == "if" || is_if && word == "else",
            TokenTree::Group(group) if is_if && group.delimiter() == Delimiter::Brace => {
                if let Some(word) = ending(&group.stream()) {
                    return Some(word);
                }
                is_start = true;
            }
            _ => {}
        }
    }
    None
}

/// Returns the error of a `break` or a `continue` that is a statement in the braces of a `for` or a `loop`.
pub(crate) fn early_end(braces: &Group, of: fn(&Ident) -> Mistake) -> Option<Mistake> {
    let word = ending(&braces.stream()).filter(|word| word != "return");
    word.as_ref().map(of)
}

/// Returns the error of a word that ends a `for` early.
pub(crate) fn in_for(word: &Ident) -> Mistake {
    mistake(
        word,
        "a `for` has no `{word}`: it goes through its whole list, concurrently\n\
         help: write `for x in list.iter().take(3) { … }` for a part of the list, or `if` in the braces",
    )
}

/// Returns the error of a word that ends a loop early.
pub(crate) fn in_loop(word: &Ident) -> Mistake {
    mistake(
        word,
        "a loop has no `{word}`: it ends by its condition\nhelp: write it after `while`: `loop { … } while condition`",
    )
}
