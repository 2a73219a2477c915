//! Wrong forms, and the right form for each. `parse` hands over tokens that the grammar does not allow, and gets a
//! [`Mistake`](crate::report::Mistake).

mod call;
pub(crate) mod flow;
pub(crate) mod foreign;
pub(crate) mod head;
pub(crate) mod step;
mod table;
pub(crate) mod tail;
pub(crate) mod value;
mod words;

pub(crate) use call::{
    as_step, is_call, lowercase, not_a_call, tool_path, unnamed, variant, without_waiting,
};
pub(crate) use foreign::pattern_of_for;
pub(crate) use step::HyphenatedName;
pub(crate) use table::{WordKind, about, attribute};
pub(crate) use words::{early_end, in_for, in_loop, statement};

use crate::report::{Mistake, mistake};
use crate::syntax::is_keyword;
use crate::syntax::tokens::first_word;
use proc_macro2::{Ident, TokenStream};

/// Returns the error of tokens instead of a call, if the tokens begin with another word than a tool.
pub(crate) fn in_place_of_call(
    tokens: &TokenStream,
    position: Position,
    step_name: &Ident,
) -> Option<Mistake> {
    // Nearly every call begins with a tool.
    if first_word(tokens).is_some_and(|tool| tool.to_string().starts_with(char::is_uppercase)) {
        return None;
    }
    foreign::without_type(tokens, position, step_name)
        .or_else(|| flow::label(tokens))
        .or_else(|| step::unfinished(tokens))
        .or_else(|| words::block(tokens, step_name))
        .or_else(|| foreign::flow(tokens, step_name))
        .or_else(|| foreign::comprehension(tokens, step_name))
        .or_else(|| words::concurrent(tokens))
}

/// Returns the error of a keyword as a name.
pub(crate) fn keyword(name: &Ident, kind: &str) -> Option<Mistake> {
    if name == "_" || !is_keyword(name) {
        return None;
    }
    let raw = format!("r#{name}");
    // rustc warns of a type with a raw name.
    let help = match syn::parse_str::<Ident>(&raw) {
        Ok(_) if kind != "plan" => format!("write `{raw}`, or choose another name"),
        _ => "choose another name".to_owned(),
    };
    Some(mistake!(
        name,
        "`{name}` is a Rust keyword, so it cannot be the name of this {kind}\nhelp: {help}"
    ))
}

/// The position of the work of a step.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Position {
    /// After the `=` of the step, before a `;`.
    Statement,
    /// In the braces of an `if`, a `for`, a `loop` or a block.
    Braces,
}

impl Position {
    /// Returns the sign after the work.
    pub(crate) fn end(self) -> &'static str {
        match self {
            Self::Statement => "`;`",
            Self::Braces => "`}`",
        }
    }
}
