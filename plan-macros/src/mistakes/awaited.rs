//! Wrong forms of `step reply: Reply = await;`.

use super::{Position, is_call};
use crate::report::{Mistake, mistake};
use crate::syntax::text::value_text;
use crate::syntax::tokens::{Tokens, is_sign, is_word, only};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};

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
    let mut tokens = Tokens::of(tokens);
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

/// Returns the error of the first `await` in a value that is not after a dot.
pub(super) fn inside(tokens: &TokenStream) -> Option<Mistake> {
    find(tokens.clone()).map(mistake)
}

/// Returns the error of an `await` that is all of the tokens.
pub(super) fn alone(tokens: &TokenStream) -> Option<Mistake> {
    let word = only(tokens).filter(|word| is_word(word, "await"))?;
    Some(mistake(word.span()))
}

fn find(tokens: TokenStream) -> Option<Span> {
    let mut is_after_dot = false;
    tokens.into_iter().find_map(|tree| {
        let was_after_dot = std::mem::replace(&mut is_after_dot, is_sign(&tree, '.'));
        match tree {
            TokenTree::Group(group) => find(group.stream()),
            word => (is_word(&word, "await") && !was_after_dot).then(|| word.span()),
        }
    })
}

fn mistake(at: Span) -> Mistake {
    Mistake::at(
        at,
        "only a step waits for a value\nhelp: write `step reply: Type = await;`, and refer to `reply`",
    )
}
