//! Keywords of other languages and engines instead of statements and calls.

use super::table::{WordKind, about};
use crate::report::{Mistake, mistake};
use crate::syntax::has_steps;
use crate::syntax::text::value_text;
use crate::syntax::tokens::{Tokens, braces, first_word, is_sign, last, only, parse_start};
use crate::syntax::value::is_type_name;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::Path;

/// Returns the error of `@retry(3)`, an attribute of other languages.
fn decorator(tokens: &TokenStream) -> Option<Mistake> {
    let mut tokens = Tokens::new(tokens.clone());
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
        (WordKind::Statement, true),
        (WordKind::Operand, has_operand || word == "yield"),
        (WordKind::Item, next.is_some()),
        (WordKind::Alone, next.is_none()),
        (WordKind::Concurrent, has_braces),
        (WordKind::Braces, has_braces),
    ];
    let message = first_of(&places, &text)?;
    Some(mistake(&word, message))
}

/// Returns the error of a word and a block instead of the call of a step.
pub(super) fn block(tokens: &TokenStream, step: &Ident) -> Option<Mistake> {
    let mut tokens = Tokens::new(tokens.clone());
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
        (WordKind::Macro, is_plan),
        (WordKind::Block, is_block),
        (WordKind::Continued, is_block && !tokens.is_empty()),
        (WordKind::Steps, is_block && has_steps(&block)),
    ];
    let message = first_of(&places, &word.to_string())?;
    Some(mistake_in_step(&word, message, step))
}

/// Returns the error of Rust's control flow instead of the call of a step.
pub(super) fn control_flow(tokens: &TokenStream, step: &Ident) -> Option<Mistake> {
    let word = first_word(tokens)?;
    let arms = last(tokens).as_ref().and_then(braces).cloned();
    if word == "match"
        && let Some(arm) = arms.as_ref().and_then(wrong_arm)
    {
        return Some(arm);
    }
    let message = about(WordKind::Work, &word.to_string())?;
    Some(mistake_in_step(&word, message, step))
}

/// Returns the first message about a word, among the positions with `true`.
fn first_of(places: &[(WordKind, bool)], word: &str) -> Option<&'static str> {
    let mut places = places.iter().filter(|(_, holds)| *holds);
    places.find_map(|(place, _)| about(*place, word))
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
    let message = about(WordKind::Race, &word).or_else(|| about(WordKind::Concurrent, &word))?;
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

/// Returns the error of the first arm of a `match` with a guard, or with one name as its pattern.
fn wrong_arm(arms: &Group) -> Option<Mistake> {
    let mut tokens = Tokens::new(arms.stream());
    while !tokens.is_empty() {
        let is_arrow = |it: &Tokens| it.is_punct(0, '=') && it.is_punct(1, '>');
        let pattern = tokens.take_until(|it| is_arrow(it) || it.is_ident(0, "if"));
        if let Some(guard) = tokens.peek_ident(0) {
            return Some(mistake!(
                guard,
                "a `match` between calls has no conditions in its arms\nhelp: write `if … {{ … }} else if … {{ … }} else {{ … }}`"
            ));
        }
        if let Some(TokenTree::Ident(name)) = only(&pattern) {
            let wrong = bare_name(&name);
            if wrong.is_some() {
                return wrong;
            }
        }
        tokens.next();
        tokens.next();
        if tokens.next_braces().is_none() {
            tokens.take_until(|it| it.is_punct(0, ','));
        }
        tokens.eat_punct(',');
    }
    None
}

/// Returns the error of a name alone as the pattern of an arm.
fn bare_name(name: &Ident) -> Option<Mistake> {
    let text = name.to_string();
    if matches!(&*text, "None" | "_" | "true" | "false") {
        return None;
    }
    if let Some(message) = about(WordKind::Arm, &text) {
        return Some(Mistake::new(name, message));
    }
    let help = if !text.starts_with(char::is_uppercase) {
        "write `_`, and refer to the value after `match`".to_owned()
    } else if text.len() > 1 && !text.contains(char::is_lowercase) {
        format!("write the constant with its module: `self::{name}`")
    } else {
        format!("write the variant with its enum: `Type::{name}`")
    };
    Some(mistake!(
        name,
        "`{name}` alone is a new name, which has any value\nhelp: {help}"
    ))
}
