//! What other languages and engines write in place of attributes and steps.

use super::braced;
use super::token_text::value_text;
use crate::scan::tokens::Tokens;
use crate::scan::value::{ValueKind, ValueTokens};
use plan_graph::StepAttribute;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;

/// Returns the attribute that a step has in place of an attribute with this name, and the help.
pub(super) fn meant(name: &str) -> Option<(Option<StepAttribute>, &'static str)> {
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
            "write `#[concurrency(3)]` for the elements of a `for`; steps run beside each other anyway",
        ),
        "every" | "interval" | "poll" => (
            Some(StepAttribute::AtMost),
            "write `#[at_most(100, every = \"3s\")]` for the rounds of a `loop`",
        ),
        "attempts" | "tries" | "repeat" => (Some(StepAttribute::Retry), "write `#[retry(3)]`"),
        "time_limit" | "max_time" | "ttl" | "within" => (
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

/// The keyword of a statement that a plan does not have, and what it has instead.
pub(super) fn statement(tokens: &TokenStream) -> Option<(Ident, String)> {
    let mut trees = tokens.clone().into_iter();
    let Some(TokenTree::Ident(keyword)) = trees.next() else {
        return None;
    };
    let next = trees.next();
    let has_braces = next.as_ref().is_some_and(|next| braced(next).is_some());
    let is_alone = !matches!(next, Some(TokenTree::Punct(_) | TokenTree::Group(_)));
    let message = match keyword.to_string().as_str() {
        "break" | "continue" => format!(
            "a plan has no `{keyword}`: all its steps run, each as soon as it can\n\
             help: write `if condition {{ … }}` around what may be left out"
        ),
        "if" => {
            let word = ending(tokens)?;
            return Some((word.clone(), format!(
                "a plan has no early `{word}`: all its steps run, each as soon as it can\n\
                 help: write `step name = if condition {{ Tool {{ … }} }};` for what may be left out"
            )));
        }
        "throw" | "raise" | "bail" | "fail" if is_alone => format!(
            "a plan has no `{keyword}`: it fails when a step fails\n\
             help: write `step name: Type = Err(\"…\")?;`, which fails"
        ),
        "yield" | "emit" => format!(
            "a plan has no `{keyword}`: it has one output, its last expression\n\
             help: an `Observer` of the run sees what each step gives"
        ),
        "fn" | "struct" | "enum" | "const" | "static" | "use" | "impl" | "mod" | "type" if next.is_some() => format!(
            "a plan has no items: it consists of steps\nhelp: write this `{keyword}` before `plan!`"
        ),
        "async" | "pub" if next.is_none() => format!(
            "a step has no `{keyword}`\nhelp: remove it"
        ),
        word if has_braces && is_concurrent(word) => CONCURRENT.to_owned(),
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

const CONCURRENT: &str = "steps run concurrently, unless one refers to another\n\
     help: write each call as a step of its own: `step name = Tool { … };`";

/// What other languages and libraries begin concurrent work with.
fn is_concurrent(word: &str) -> bool {
    const WORDS: [&str; 12] = [
        "spawn",
        "parallel",
        "par",
        "concurrent",
        "concurrently",
        "join",
        "try_join",
        "join_all",
        "all",
        "fork",
        "go",
        "task",
    ];
    WORDS.contains(&word)
}

/// What is in place of the call of a step where its author wants concurrent calls, or the first of several.
pub(super) fn concurrent(tokens: &TokenStream) -> Option<(Span, String)> {
    // Nearly every step begins with a tool, and each is asked.
    if let Some(TokenTree::Ident(tool)) = tokens.clone().into_iter().next()
        && tool.to_string().starts_with(char::is_uppercase)
    {
        return None;
    }
    let mut at = None;
    let mut name = String::new();
    let mut before = ' ';
    for tree in tokens.clone() {
        match &tree {
            // `tokio::spawn`
            TokenTree::Ident(_) if name.is_empty() || before == ':' => {
                name = tree.to_string();
                at = at.or(Some(tree.span()));
                before = ' ';
            }
            TokenTree::Punct(punct) if !name.is_empty() && matches!(punct.as_char(), ':' | '!') => {
                before = punct.as_char();
            }
            other => {
                let has_call = match other {
                    TokenTree::Group(group) => has_call(&group.stream()),
                    TokenTree::Ident(_) => true,
                    _ => false,
                };
                if !has_call {
                    return None;
                }
                break;
            }
        }
    }
    let at = at?;
    match name.as_str() {
        "race" | "select" | "race_ok" | "any" | "select_ok" => Some((
            at,
            format!(
                "a plan has no `{name}`: a call that has begun is not dropped because another was faster\n\
                 help: a tool may call others, and give the first answer"
            ),
        )),
        word if is_concurrent(word) => Some((at, CONCURRENT.to_owned())),
        _ => None,
    }
}

/// Whether there is `Tool { … }` in tokens.
fn has_call(tokens: &TokenStream) -> bool {
    let mut is_tool = false;
    tokens.clone().into_iter().any(|tree| {
        let was_tool = is_tool;
        is_tool = matches!(&tree, TokenTree::Ident(name) if name.to_string().starts_with(char::is_uppercase));
        match &tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && was_tool => true,
            TokenTree::Group(group) if group.delimiter() != Delimiter::None => has_call(&group.stream()),
            _ => false,
        }
    })
}

/// The `break`, `continue` or `return` that is a statement among tokens, or in an `if` among them.
pub(super) fn ending(tokens: &TokenStream) -> Option<Ident> {
    let (mut is_start, mut is_if) = (true, false);
    for tree in tokens.clone() {
        let was_start = std::mem::replace(&mut is_start, false);
        match tree {
            TokenTree::Ident(word) if was_start => {
                let is_ending = word == "break" || word == "continue" || word == "return";
                if is_ending {
                    return Some(word);
                }
                is_if = word == "if" || is_if && word == "else";
            }
            TokenTree::Punct(punct) => {
                is_start = punct.as_char() == ';';
                is_if &= !is_start;
            }
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

/// Says what a `for` has in place of such a word.
pub(super) fn ending_of_for(word: &Ident) -> String {
    format!(
        "a `for` has no `{word}`: it goes through its whole list, concurrently\n\
         help: write `for x in list.iter().take(3) {{ … }}` for a part of the list, or `if` in the braces"
    )
}

/// Says what a loop has in its place.
pub(super) fn ending_of_loop(word: &Ident) -> String {
    format!(
        "a loop has no `{word}`: it ends by its condition\nhelp: write it after `while`: `loop {{ … }} while condition`"
    )
}

/// What is wrong with `{ Tool { … } Other { … } }`, where a block is meant, and where.
pub(super) fn calls(tokens: &TokenStream) -> Option<(Span, String)> {
    let parser = |input: ParseStream<'_>| {
        let path = input.call(syn::Path::parse_mod_style)?;
        let arguments: Group = input.parse()?;
        Ok((path, arguments, input.parse::<TokenStream>()?))
    };
    let (path, arguments, rest) = parser.parse2(tokens.clone()).ok()?;
    let call = quote!(#path #arguments);
    let written = value_text(&call);
    (has_call(&call) && has_call(&rest)).then(|| {
        (
            path.span(),
            format!(
                "braces contain one call, or steps and a last expression\nhelp: write `step name = {written};`"
            ),
        )
    })
}

/// The `?` or `??` after a value, if the tokens after it make it an operator of other languages, and what Rust has instead.
pub(super) fn choice(item: &ValueTokens) -> Option<(TokenStream, String)> {
    if item.extra.is_empty() {
        return None;
    }
    let (before, signs) = asked(item)?;
    let mut extra = Tokens::new(item.extra.clone());
    let is_colon = |tokens: &Tokens| tokens.is_punct(0, ':') && !tokens.is_punct(1, ':');
    let first = extra.take_until(is_colon);
    let has_colon = extra.next().is_some();
    let rest = extra.rest();
    let [before, first, rest] = [before, first, rest].map(|tokens| value_text(&tokens));
    if has_colon && !first.is_empty() && signs.clone().into_iter().count() == 1 {
        let message =
            format!("Rust has no `? :`\nhelp: write `if {before} {{ {first} }} else {{ {rest} }}`");
        return Some((signs, message));
    }
    let (sign, other) = if has_colon {
        ("?:", rest)
    } else {
        ("??", first)
    };
    let is_text = other.ends_with('"');
    let other = if is_text {
        format!("{other}.to_owned()")
    } else {
        other
    };
    let is_default = signs.clone().into_iter().count() == 2 || has_colon;
    let message = format!("Rust has no `{sign}`\nhelp: write `{before}.unwrap_or({other})`");
    is_default.then_some((signs, message))
}

/// The value before the `?` or `??` that a value ends with, and these signs.
fn asked(item: &ValueTokens) -> Option<(TokenStream, TokenStream)> {
    let (ValueKind::Reference(_, tokens) | ValueKind::Expr(_, tokens)) = &item.kind else {
        return None;
    };
    let mut trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_sign =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == '?');
    let end = trees.iter().rposition(|tree| !is_sign(tree))? + 1;
    let signs = trees.split_off(end);
    (!signs.is_empty()).then(|| (trees.into_iter().collect(), signs.into_iter().collect()))
}

/// A name with hyphens, such as `my-room`.
pub(super) struct HyphenatedName {
    pub(super) tokens: TokenStream,
    /// The words after the first hyphen.
    pub(super) parts: Vec<Ident>,
    meant: String,
}

impl HyphenatedName {
    /// Reads the name that begins with this word, if the tokens after the word are hyphens and words before a `=` or a `:`.
    pub(super) fn new(first: &Ident, rest: &TokenStream) -> Option<Self> {
        let mut name = Self {
            tokens: quote!(#first),
            parts: Vec::new(),
            meant: first.to_string(),
        };
        let mut trees = rest.clone().into_iter();
        while let Some(TokenTree::Punct(sign)) = trees.next() {
            if matches!(sign.as_char(), '=' | ':') && !name.parts.is_empty() {
                return Some(name);
            }
            let Some(TokenTree::Ident(part)) = trees.next().filter(|_| sign.as_char() == '-')
            else {
                return None;
            };
            name.meant += &format!("_{part}");
            name.tokens.extend(quote!(#sign #part));
            name.parts.push(part);
        }
        None
    }

    pub(super) fn message(&self) -> String {
        format!(
            "a name consists of letters, digits and `_`\nhelp: write `{}`",
            self.meant
        )
    }
}
