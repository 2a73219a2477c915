//! Forms of other languages, and of asynchronous functions, as the work of a step.

use super::table::{WordKind, about};
use super::{Position, is_call};
use crate::report::{Mistake, mistake};
use crate::syntax::text::value_text;
use crate::syntax::tokens::{Tokens, braces, first_word, is_sign, is_word, last, only};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

/// Returns the error of `switch value { … }`, `foreach x in list { … }` and the like.
pub(super) fn flow(tokens: &TokenStream, step: &Ident) -> Option<Mistake> {
    let word = first_word(tokens)?;
    let block = last(tokens).as_ref().and_then(braces).cloned()?;
    let mut between: Vec<TokenTree> = tokens.clone().into_iter().skip(1).collect();
    between.pop();
    let between = value_text(TokenStream::from_iter(between));
    if between.is_empty() || between.starts_with(['.', ':', '!', '=']) {
        return None;
    }
    let help = about(WordKind::Flow, &word.to_string())?
        .replace("{step}", &step.to_string())
        .replace("{place}", unwrapped(&between))
        .replace("{between}", &between)
        .replace("{inside}", &value_text(block.stream()));
    Some(mistake!(
        &word,
        "Rust has no `{word}`\nhelp: write `{help}`"
    ))
}

/// Removes parentheses around the whole string.
fn unwrapped(text: &str) -> &str {
    let inside = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    inside.filter(|it| !it.contains(['(', ')'])).unwrap_or(text)
}

/// Returns the error of `[Tool { … } for x in list]`.
pub(super) fn comprehension(tokens: &TokenStream, step: &Ident) -> Option<Mistake> {
    let list = only(tokens)?;
    let TokenTree::Group(list) = &list else {
        return None;
    };
    if list.delimiter() != Delimiter::Bracket {
        return None;
    }
    let mut inside = Tokens::new(list.stream());
    let element = inside.take_until(|tokens| tokens.is_ident(0, "for"));
    let keyword = inside.next()?;
    let head = inside.rest();
    let has_in = head.clone().into_iter().any(|tree| is_word(&tree, "in"));
    (has_in && !element.is_empty()).then(|| {
        let [element, head] = [element, head].map(value_text);
        mistake!(
            keyword,
            "Rust has no `for` in a list\nhelp: write `step {step} = for {head} {{ {element} }};`"
        )
    })
}

/// Returns the error of a pattern of a `for` that cannot be read.
pub(crate) fn pattern_of_for(pattern: &TokenStream, error: syn::Error) -> Mistake {
    match first_word(pattern).filter(|word| word == "await") {
        Some(word) => mistake!(
            word,
            "a `for` has no `await`: it begins when its list is there\nhelp: remove it"
        ),
        None => error.into(),
    }
}

/// Returns the error of a value of a step with a type that begins with `await`, and does not end there.
pub(crate) fn with_type(tokens: &TokenStream, step: &Ident) -> Option<Mistake> {
    let (keyword, rest) = split(tokens)?;
    let extra = rest.clone().into_iter().next()?;
    if is_call(&rest) {
        return Some(without(&keyword, &rest, step));
    }
    Some(mistake!(
        extra,
        "`await` is written alone: the value comes from outside of the run\nhelp: write `step {step}: Type = await;`"
    ))
}

/// Returns the error of an `await` where a step without a type calls a tool.
pub(super) fn without_type(
    tokens: &TokenStream,
    position: Position,
    step: &Ident,
) -> Option<Mistake> {
    let (keyword, rest) = split(tokens)?;
    if !rest.is_empty() {
        return Some(without(&keyword, &rest, step));
    }
    let help = match position {
        Position::Braces => {
            "write `step reply: Type = await;` in the braces, then `reply`".to_owned()
        }
        Position::Statement => format!("write `step {step}: Type = await;`"),
    };
    Some(mistake!(
        keyword,
        "a value from outside needs a type\nhelp: {help}"
    ))
}

/// Returns the `await` that tokens begin with, and the tokens after it.
fn split(tokens: &TokenStream) -> Option<(Ident, TokenStream)> {
    let mut tokens = Tokens::new(tokens.clone());
    let keyword = tokens.next_ident().filter(|word| word == "await")?;
    Some((keyword, tokens.rest()))
}

fn without(keyword: &Ident, call: &TokenStream, step: &Ident) -> Mistake {
    let call = value_text(call);
    mistake!(
        keyword,
        "a step calls its tool without `await`: the run awaits the tool, and fails if the tool fails\nhelp: write `step {step} = {call};`"
    )
}

/// Returns the error of an `await` that is all of the tokens.
pub(super) fn alone(tokens: &TokenStream) -> Option<Mistake> {
    let word = only(tokens).filter(|word| is_word(word, "await"))?;
    Some(mistake(&word))
}

/// Returns the error of the first `await` in a value that is not after a dot.
pub(super) fn inside_value(tokens: TokenStream) -> Option<Mistake> {
    let mut is_after_dot = false;
    tokens.into_iter().find_map(|tree| {
        let was_after_dot = std::mem::replace(&mut is_after_dot, is_sign(&tree, '.'));
        match tree {
            TokenTree::Group(group) => inside_value(group.stream()),
            word => (is_word(&word, "await") && !was_after_dot).then(|| mistake(&word)),
        }
    })
}

fn mistake(word: &TokenTree) -> Mistake {
    Mistake::at(
        word.span(),
        "only a step waits for a value\nhelp: write `step reply: Type = await;`, and refer to `reply`",
    )
}
