//! Words of other languages and engines, and words of Rust in the wrong place.

use super::foreign;
use crate::report::Mistake;
use crate::syntax::has_steps;
use crate::syntax::text::value_text;
use crate::syntax::tokens::{Tokens, braces, first_word, is_sign, last, parse_start};
use crate::syntax::value::is_type_name;
use plan_graph::StepAttribute;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::Path;

/// The position of a word.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// The name of an attribute.
    Attribute,
    /// The start of a statement.
    Statement,
    /// A statement that is the word alone.
    Alone,
    /// The start of a statement with an operand after the word.
    Operand,
    /// The start of a statement with any token after the word.
    Item,
    /// The start of a statement with braces after the word.
    Braces,
    /// The name of a function or of braces that run calls concurrently.
    Concurrent,
    /// The name of a function that drops the slower calls.
    Race,
    /// The name of a macro in place of the work of a step.
    Macro,
    /// Before braces that are the work of a step.
    Block,
    /// Before braces and further tokens that are the work of a step.
    Continued,
    /// Before braces with steps that are the work of a step.
    Steps,
    /// The start of the work of a step.
    Work,
    /// The start of a branch or a loop that is the work of a step.
    Flow,
    /// The pattern of the last arm of a `match`.
    Arm,
    /// Between the branches of an `if`.
    Else,
    /// An operator of a condition.
    Operator,
    /// Between a value and its default.
    Default,
    /// Between the pattern and the list of a `for`.
    In,
    /// Before the condition of a loop.
    While,
    /// The function of a type that creates a value.
    Constructor,
    /// A value.
    Value,
    /// A name of the value of the round before.
    RoundBefore,
    /// The first part of a path to a value.
    Context,
    /// The part of a path between a step and its fields.
    Output,
}

macro_rules! words {
    ($($place:ident $($word:literal)|+ $(=> $text:literal)?;)*) => {
        /// Returns the text about a word: a message, a part of a message, or the right word. In a message, `{word}` is the word, and `{step}` is the
        /// name of the step.
        pub(crate) fn text(place: Place, word: &str) -> Option<&'static str> {
            match (place, word) {
                $((Place::$place, $($word)|+) => Some(concat!($($text)?)),)*
                _ => None,
            }
        }
    };
}

words! {
    Attribute "finally" | "ensure" | "defer" | "cleanup" | "on_exit" => "write `#[always]`";
    Attribute "compensate" | "compensation" | "rollback" | "revert" | "reverses" => "write `#[undo(paid)]` on the step that undoes `paid`";
    Attribute "on_error" | "on_failure" | "on_err" | "rescue" | "except" | "recover" => "write `#[catch]` to have the failure as a value, or `#[fallback(value)]` to replace it";
    Attribute "ignore_errors" | "allow_failure" | "continue_on_error" => "write `#[optional]`, and the output is an `Option`";
    Attribute "max" | "limit" | "max_rounds" | "max_iterations" | "rounds" | "times" => "write `#[at_most(100)]` for the rounds of a `loop`, `#[retry(3)]` for attempts, or `#[concurrency(3)]` for elements that run at one time";
    Attribute "parallel" | "max_parallel" | "parallelism" => "write `#[concurrency(3)]` for the elements of a `for`; steps run concurrently anyway";
    Attribute "every" | "interval" | "poll" => "write `#[at_most(100, every = \"3s\")]` for the rounds of a `loop`";
    Attribute "attempts" | "tries" | "repeat" => "write `#[retry(3)]`";
    Attribute "timeout_seconds" | "timeout_minutes" | "timeout_ms" | "time_limit" | "max_time" | "ttl" | "within" => "write `#[timeout(\"10s\")]` for each attempt, or `#[deadline(\"1m\")]` for all";
    Attribute "needs" | "depends_on" | "depends" | "requires" => "write `#[after(name)]`; a step that refers to another waits for it anyway";
    Attribute "default" | "or_else" | "otherwise" => "write `#[fallback(value)]`";
    Attribute "when" | "only_if" | "skip_if" | "condition" => "write `step name = if condition { Tool { … } };`";
    Statement "break" | "continue" => "a plan has no `{word}`: all its steps run, each as soon as it can\nhelp: write `if condition { … }` around what may be left out";
    Operand "throw" | "raise" | "bail" | "fail" => "a plan has no `{word}`: it fails when a step fails\nhelp: write `step name: Type = Err(\"…\")?;`, which fails";
    Operand "yield" | "emit" => "a plan has no `{word}`: it has one output, its last expression\nhelp: an `Observer` of the run sees what each step gives";
    Item "fn" | "struct" | "enum" | "const" | "static" | "use" | "impl" | "mod" | "type" => "a plan has no items: it consists of steps\nhelp: write this `{word}` before `plan!`";
    Alone "async" | "pub" => "a step has no `{word}`\nhelp: remove it";
    Statement "while" | "loop" => "`{word}` is a part of a step: `#[at_most(100)] step name = loop { Tool { … } } while condition;`";
    Braces "do" => "a loop is a part of a step: `#[at_most(100)] step name = loop { Tool { … } } while condition;`";
    Braces "try" => "a plan has no `try`: a failure ends the run, unless the step says otherwise\nhelp: write `#[catch]` on a step whose failure is a value, and `#[always]` on one that runs in any case";
    Braces "finally" | "defer" => "a plan has no `{word}`\nhelp: write `#[always] step name = Tool { … };`";
    Braces "catch" => "a plan has no `catch`\nhelp: write `#[catch]` on a step, and its failure is a value";
    Concurrent "spawn" | "parallel" | "par" | "concurrent" | "concurrently" | "join" | "try_join" | "join_all" | "all" | "fork" | "go" | "task" => "steps run concurrently, unless one refers to another\nhelp: write each call as a step of its own: `step name = Tool { … };`";
    Race "race" | "select" | "race_ok" | "any" | "select_ok" => "a plan has no `{word}`: a call that has begun is not dropped because another was faster\nhelp: a tool may call others, and give the first answer";
    Macro "plan" => "steps inside a step are a block\nhelp: write the braces alone: `step {step} = { … };`";
    Block "do" => "a loop begins with `loop`\nhelp: write `#[at_most(100)] step {step} = loop { Tool { … } } while condition;`";
    Continued "try" => "a step has no `try`: the run fails if the step fails\nhelp: write `#[catch] step {step} = Tool { … };`, and the failure is a value";
    Steps "async" | "unsafe" => "a block has no `{word}`\nhelp: write the braces alone: `step {step} = { … };`";
    Steps "try" => "a block has no `try`: the run fails if one of its steps fails\nhelp: write `#[catch] step {step} = { … };`, and the failure is a value";
    Work "match" => "a `match` between calls compares with variants without fields, numbers or truth values, and has at least two arms\nhelp: for other patterns, write `if let … { … } else if … { … } else { … }`\nhelp: to compute a value with `match`, give the step a type: `step {step}: Type = match … { … };`";
    Work "while" => "a step repeats calls with `loop`, whose condition is evaluated after each round\nhelp: write `#[at_most(100)] step {step} = loop { Tool { … } } while condition;`";
    Work "async" | "try" | "unsafe" => "a step has no `{word}`: write the call alone: the run awaits it, and fails if it fails";
    Work "return" => "a step has no `{word}`: write the call without the `return`";
    Flow "switch" | "case" | "when" => "step {step} = match {place} { 0 => Tool { … }, _ => Tool { … } };";
    Flow "foreach" | "forall" | "forEach" | "for_each" => "step {step} = for {between} { {inside} };";
    Flow "unless" => "step {step} = if !({place}) { {inside} };";
    Arm "default" | "otherwise" | "other" | "else" => "the last arm, for all other values, is written `_`\nhelp: write `_ => …`";
    Else "elif" | "elsif" | "elseif" => "else if";
    Operator "and" => "&&";
    Operator "or" => "||";
    Default "or" => "Rust has no `or`\nhelp: write `{before}.unwrap_or({other})`, or `||` between two conditions";
    In "of" => "expected `in`, found `of`";
    While "until" => "a loop goes on while its condition is true\nhelp: write `while !…`";
    Constructor "new" | "default" | "from" | "create" | "call" | "run" | "invoke";
    Value "none" | "null" | "nil" | "undefined" => "write `None`";
    RoundBefore "last" | "previous" | "prev" | "before";
    Context "steps" | "inputs" | "input" | "needs" | "jobs" | "nodes" | "tasks";
    Output "outputs" | "output" | "result";
}

/// Returns the attribute of a step that replaces an attribute of this name, and the way to write it.
pub(crate) fn attribute(name: &str) -> Option<(Option<StepAttribute>, &'static str)> {
    let help = text(Place::Attribute, name)?;
    let written = help
        .split_once("#[")
        .and_then(|(_, after)| after.split(['(', ']']).next());
    Some((written.and_then(StepAttribute::named), help))
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
    let text = word.to_string();
    let places = [
        (Place::Statement, true),
        (Place::Operand, has_operand || word == "yield"),
        (Place::Item, next.is_some()),
        (Place::Alone, next.is_none()),
        (Place::Concurrent, has_braces),
        (Place::Braces, has_braces),
    ];
    let message = first_of(&places, &text)?;
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
    let places = [
        (Place::Macro, is_plan),
        (Place::Block, is_block),
        (Place::Continued, is_block && !tokens.is_empty()),
        (Place::Steps, is_block && has_steps(&block)),
    ];
    let message = first_of(&places, &word.to_string())?;
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
    let message = text(Place::Work, &word.to_string())?;
    Some(mistake_in_step(&word, message, step))
}

/// Returns the first text about a word in one of the places for which the condition holds.
fn first_of(places: &[(Place, bool)], word: &str) -> Option<&'static str> {
    let mut places = places.iter().filter(|(_, holds)| *holds);
    places.find_map(|(place, _)| text(*place, word))
}

fn mistake(word: &Ident, message: &str) -> Mistake {
    Mistake::new(word, message.replace("{word}", &word.to_string()))
}

fn mistake_in_step(word: &Ident, message: &str, step: &Ident) -> Mistake {
    mistake(word, &message.replace("{step}", &step.to_string()))
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
    let word = word.to_string();
    let message = text(Place::Race, &word).or_else(|| text(Place::Concurrent, &word))?;
    Some(Mistake::new(at, message.replace("{word}", &word)))
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
