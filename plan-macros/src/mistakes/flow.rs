//! Wrong forms of `if`, `for` and `loop`.

use super::table::{WordKind, about};
use super::words;
use crate::docs::is_among;
use crate::report::{Mistake, mistake};
use crate::syntax::pattern::names_in;
use crate::syntax::text::value_text;
use crate::syntax::tokens::{
    Tokens, braces, first, first_word, is_sign, is_word, only, parse_start, start,
};
use crate::syntax::value::{is_type_name, split};
use crate::syntax::{ForTokens, LoopTokens};
use plan_graph::similar;
use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parser;
use syn::{Expr, ExprLet, Pat};

/// The form of a `for`.
pub(crate) const FOR: &str = "a loop is written `for x in list { Tool { … } }`";

/// The form of a `loop`.
pub(crate) const LOOP: &str = "a loop is written `loop { … } while condition`";

/// Returns the error of the `'label:` that tokens begin with.
pub(super) fn label(tokens: &TokenStream) -> Option<Mistake> {
    let label: TokenStream = tokens.clone().into_iter().take(2).collect();
    let is_label = !label.is_empty() && is_sign(&first(&label)?, '\'');
    is_label.then(|| {
        Mistake::new(
            label,
            "a step has no label: nothing ends it from inside\nhelp: remove the label",
        )
    })
}

/// Returns the error of braces that contain several calls or an attribute instead of steps.
pub(crate) fn content(tokens: &TokenStream) -> Option<Mistake> {
    words::calls(tokens).or_else(|| attribute(tokens))
}

/// Returns the error of an attribute in front of a call in braces.
fn attribute(tokens: &TokenStream) -> Option<Mistake> {
    let mut trees = tokens.clone().into_iter();
    let hash = trees.next().filter(|hash| is_sign(hash, '#'))?;
    let TokenTree::Group(attribute) = trees.next()? else {
        return None;
    };
    let (attribute, call) = (
        attribute.to_string().replace(' ', ""),
        value_text(TokenStream::from_iter(trees)),
    );
    Some(mistake!(
        hash,
        "only steps have attributes\nhelp: write `#{attribute} step name = {call};`, then `name`, or the attribute on the step around it"
    ))
}

/// Returns the error about tokens between the braces of two branches, which were read as a part of the condition.
pub(crate) fn missing_else(condition: &TokenStream, block: Option<&Group>) -> Option<Mistake> {
    let trees: Vec<TokenTree> = condition.clone().into_iter().collect();
    let word = trees.windows(2).find_map(|pair| match pair {
        [block, TokenTree::Ident(word)] if braces(block).is_some() => Some(word),
        _ => None,
    });
    if let Some(word) = word {
        let name = word.to_string();
        let written = about(WordKind::Else, &name).or_else(|| similar(&name, ["else"]))?;
        return Some(mistake!(word, "`{word}` is written `{written}`"));
    }
    let second = trees.last().and_then(braces).and(block)?;
    Some(Mistake::at(
        second.span_open(),
        "expected `else` before these braces: `else { … }`",
    ))
}

/// Returns the error about tokens that resemble an operator of Rust.
pub(crate) fn operator(tokens: &TokenStream) -> Option<Mistake> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let punct = |at: Option<usize>| match at.and_then(|at| trees.get(at)) {
        Some(TokenTree::Punct(punct)) => Some(punct),
        _ => None,
    };
    let joins = |punct: &Punct| punct.spacing() == Spacing::Joint;
    let alone = |at: usize, sign: char| {
        let after = punct(Some(at + 1)).is_some_and(|next| "=&>".contains(next.as_char()));
        punct(Some(at)).is_some_and(|punct| punct.as_char() == sign && !(joins(punct) && after))
            && !punct(at.checked_sub(1)).is_some_and(joins)
    };
    let has_let = has_let(tokens);
    // Before an operator or an index, `not` is a name. After `let`, the other words are names.
    let negates = |next: &TokenTree| match next {
        TokenTree::Ident(word) => word != "as",
        TokenTree::Group(group) => group.delimiter() != Delimiter::Bracket,
        TokenTree::Literal(_) => true,
        TokenTree::Punct(_) => false,
    };
    let binds = |before: &TokenTree| matches!(before, TokenTree::Ident(word) if is_among(word, "let mut ref"));
    if let Some(strict) = super::value::strict_equality(&trees) {
        return Some(strict);
    }
    (0..trees.len()).find_map(|at| {
        let found = &trees[at];
        let is_operand = at > 0 && punct(Some(at - 1)).is_none() && !binds(&trees[at - 1]);
        let written = match found {
            TokenTree::Ident(word)
                if at == 0 && word == "not" && trees.get(1).is_some_and(negates) =>
            {
                "!"
            }
            TokenTree::Ident(word) if is_operand => about(WordKind::Operator, &word.to_string())?,
            TokenTree::Punct(_) if is_operand && alone(at, '&') => "&&",
            TokenTree::Punct(_) if is_operand && alone(at, '=') && !has_let => "==",
            TokenTree::Punct(_) if at + 1 == trees.len() && alone(at, '=') => {
                return Some(Mistake::new(found, "expected a value after `=`"));
            }
            TokenTree::Punct(equals)
                if is_operand
                    && equals.as_char() == '='
                    && joins(equals)
                    && after_let(&trees[..at]) =>
            {
                let message = "a pattern of `let` is followed by `=`, not by `==`";
                return Some(Mistake::new(equals, message));
            }
            _ => return None,
        };
        Some(mistake!(
            found,
            "in a condition, `{found}` is written `{written}`"
        ))
    })
}

/// Returns the pattern before a `=` in a condition without `let`, and the part of the condition that needs a `let`.
pub(crate) fn without_let(tokens: &TokenStream) -> Option<(Pat, String)> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |at: usize, signs: &str| matches!(trees.get(at), Some(TokenTree::Punct(punct)) if signs.contains(punct.as_char()));
    let joins = |at: &usize| is(*at, "&") && is(at + 1, "&");
    (1..trees.len()).find_map(|at| {
        if !is(at, "=") || is(at + 1, "=>") || is(at - 1, "=<>!+-*/%^&|") {
            return None;
        }
        let start = (0..at).rev().find(joins).map_or(0, |joins| joins + 2);
        let end = (at..trees.len()).find(joins).unwrap_or(trees.len());
        let pattern = pattern(&trees[start..at])?;
        let path = match &pattern {
            Pat::TupleStruct(pattern) => &pattern.path,
            Pat::Struct(pattern) => &pattern.path,
            _ => return None,
        };
        let written = value_text(TokenStream::from_iter(trees[start..end].iter().cloned()));
        is_type_name(&path.segments.last()?.ident).then_some((pattern, written))
    })
}

fn pattern(trees: &[TokenTree]) -> Option<Pat> {
    let pattern = trees.iter().cloned().collect();
    Pat::parse_multi.parse2(pattern).ok()
}

/// Returns `true` if these tokens are `let` and a pattern.
fn after_let(trees: &[TokenTree]) -> bool {
    let at = trees.iter().rposition(|tree| is_word(tree, "let"));
    at.is_some_and(|at| pattern(&trees[at + 1..]).is_some())
}

pub(crate) fn has_let(tokens: &TokenStream) -> bool {
    let mut trees = tokens.clone().into_iter();
    trees.any(|tree| is_word(&tree, "let"))
}

/// Returns the names bound by `let`s in an unreadable condition. References to these names are no errors.
pub(crate) fn names_of_lets(tokens: &TokenStream) -> Vec<Ident> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let lets = (0..trees.len()).filter(|at| is_word(&trees[*at], "let"));
    let patterns = lets.filter_map(|at| {
        let after = trees[at + 1..].iter().cloned().collect();
        parse_start(after, Pat::parse_multi).ok()
    });
    patterns.flat_map(|pat| names_in(&pat)).collect()
}

/// Returns the error of a `for` without `in`.
pub(crate) fn no_in(source: &ForTokens) -> Mistake {
    let after = split(&source.pattern, Pat::parse_single);
    match after.and_then(|(_, after)| first(&after)) {
        Some(next) => match about(WordKind::In, &next.to_string()) {
            Some(message) => mistake!(next, "{message}: {FOR}"),
            None => before_in(start(&next)),
        },
        None => Mistake::new(&source.keyword, FOR),
    }
}

/// Returns the error of a token between the pattern of a `for` and its `in`.
pub(crate) fn before_in(at: Span) -> Mistake {
    Mistake::at(at, format!("expected `in` before this: {FOR}"))
}

/// Returns the error of `list if test`, after the pattern of a `for`.
pub(crate) fn filter(pattern: &Pat, list: &TokenStream) -> Option<Mistake> {
    let mut tokens = Tokens::new(list.clone());
    let list = tokens.take_until(|tokens| tokens.is_ident(0, "if"));
    let keyword = tokens.next()?;
    syn::parse2::<Expr>(list.clone()).ok()?;
    let [pattern, list, test] = [pattern.to_token_stream(), list, tokens.rest()].map(value_text);
    Some(mistake!(
        keyword,
        "a `for` has no condition of its own: its braces may contain an `if`\nhelp: `for {pattern} in {list} {{ if {test} {{ Tool {{ … }} }} }}`"
    ))
}

/// Returns the error of an `else` after the braces of a `for`.
pub(crate) fn for_else(list: &TokenStream) -> Option<Mistake> {
    let trees: Vec<TokenTree> = list.clone().into_iter().collect();
    let at = trees.len().checked_sub(2)?;
    let is_after = braces(&trees[at]).is_some() && is_word(&trees[at + 1], "else");
    is_after.then(|| {
        mistake!(
            &trees[at + 1],
            "a `for` has no `else`\nhelp: write `if list.is_empty() {{ … }} else {{ for … }}`"
        )
    })
}

/// Returns `true` for braces with a word that ends a loop.
pub(crate) fn has_ending(block: &Group) -> bool {
    let mut trees = block.stream().into_iter();
    trees.any(|tree| matches!(tree, TokenTree::Ident(word) if words::is_ending(&word)))
}

/// Returns the error of a `loop` before its braces.
pub(crate) fn before_round(source: &LoopTokens) -> Option<Mistake> {
    let extra = &source.extra;
    let bars = |name: TokenStream| {
        mistake!(
            extra,
            "the name of the value of the round before is between bars\nhelp: write `loop |{name}| {{ … }} while condition`"
        )
    };
    Some(match first(extra)? {
        TokenTree::Group(name) if name.delimiter() == Delimiter::Parenthesis => bars(name.stream()),
        TokenTree::Ident(word) if word == "while" => {
            let condition = value_text(TokenStream::from_iter(extra.clone().into_iter().skip(1)));
            mistake!(
                word,
                "the condition of a loop is after its braces\nhelp: write `loop {{ … }} while {condition}`"
            )
        }
        TokenTree::Ident(_) if only(extra).is_some() => bars(extra.clone()),
        _ => mistake!(extra, "expected `{{` before this: {LOOP}"),
    })
}

/// Returns the error of the tokens between the bars of a loop.
pub(crate) fn between_bars(bar: Span, tokens: TokenStream) -> Mistake {
    let message = "between the bars is a name for the value of the round before: `loop |last| { … } while condition`";
    if tokens.is_empty() {
        let help = "help: remove the bars if no round looks at the one before";
        return Mistake::at(bar, format!("{message}\n{help}"));
    }
    Mistake::new(tokens, message)
}

/// Returns the error about a token instead of the `while` after these braces.
pub(crate) fn no_while(found: Option<&TokenTree>, braces: &Group) -> Option<Mistake> {
    Some(match found {
        None => Mistake::at(
            braces.span_close(),
            format!("expected `while` and a condition after this: {LOOP}"),
        ),
        Some(word) if is_word(word, "while") => return None,
        Some(word) => match about(WordKind::While, &word.to_string()) {
            Some(message) => Mistake::new(word, message),
            None => Mistake::at(start(word), format!("expected `while` before this: {LOOP}")),
        },
    })
}

/// Returns the error of a loop's condition that is not a Rust expression.
pub(crate) fn condition_of_loop(condition: &TokenStream) -> Option<Mistake> {
    let word = first_word(condition).filter(|word| word == "let");
    let word = word.map(ToTokens::into_token_stream);
    let pattern = || without_let(condition).map(|(pattern, _)| pattern.to_token_stream());
    match word.or_else(pattern) {
        Some(at) => Some(Mistake::new(
            at,
            "the condition of a loop is a `bool`, and binds nothing\nhelp: write `matches!(value, pattern)`, or `value.is_some()`",
        )),
        None => operator(condition),
    }
}

/// Returns the error of tokens with `let` that end too early.
pub(crate) fn not_a_condition(tokens: &TokenStream, keyword: Span) -> Mistake {
    Mistake::at(
        first(tokens).map_or(keyword, |first| first.span()),
        "this is not a condition: write `ready`, or `let Some(x) = maybe`, with `&&` between them",
    )
}

/// Returns the error of a `loop` in braces.
pub(crate) fn loop_in_braces(source: &LoopTokens) -> Mistake {
    Mistake::new(
        &source.keyword,
        "a loop is all that a step does, since its attributes are about the loop\n\
         help: write `step name = loop { … } while …;` in the braces, then `name`",
    )
}

/// Returns the error of a `let` that is only a part of a condition.
pub(crate) fn misplaced_let(test: &Expr, lets: &[&ExprLet]) -> Option<Mistake> {
    let first = lets.first()?;
    Some(match test {
        Expr::Range(range) => Mistake::new(
            range.limits,
            "`let` takes no range: one dot leads to a field",
        ),
        _ => Mistake::new(
            first.let_token,
            "`let` must be a separate condition, joined with `&&`",
        ),
    })
}
