//! `{ steps tail }`: steps inside a step.

use super::super::tail::{called_macro, no_step};
use super::super::token_text::value_text;
use super::super::{awaited, call, is_source_name, other_words, value};
use super::step;
use crate::ast::{Block, BlockTail, Body, Policy, Role, Step};
use crate::report::Report;
use crate::scan::{self, Statement, StatementKind};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::ExprPath;
use syn::spanned::Spanned;

/// Whether braces in the place of a step's work are a block, rather than a Rust expression.
pub(super) fn is_block(group: &Group) -> bool {
    let mut statements = scan::block(group.stream()).into_iter();
    statements.any(|statement| {
        let Some(step) = statement.step() else {
            return false;
        };
        match &step.keyword {
            Some(keyword) => keyword == "step" || keyword == "let" && is_work(&step.value),
            None => step.equals.is_some() && is_work(&step.value),
        }
    })
}

/// Whether braces contain what a step may do.
pub(super) fn is_call(group: &Group) -> bool {
    is_work(&group.stream())
}

/// Whether tokens are a call, an `if` or a `for`.
fn is_work(tokens: &TokenStream) -> bool {
    let first = tokens.clone().into_iter().next();
    if let Some(TokenTree::Ident(word)) = &first
        && (word == "if" || word == "for" || word == "match")
    {
        return true;
    }
    let path = |input: syn::parse::ParseStream<'_>| {
        let path: ExprPath = input.parse()?;
        value::drain(input);
        Ok(path)
    };
    let path = syn::parse::Parser::parse2(path, tokens.clone());
    let last = path.ok().and_then(|it| {
        let last = it.path.segments.last()?;
        Some(last.ident.to_string())
    });
    last.is_some_and(|name| name.starts_with(char::is_uppercase))
}

/// Reads what the braces of a loop contain: a block, or one call.
pub(super) fn round(group: &Group, name: &Ident, report: &mut Report) -> Block {
    if scan::has_steps(group) || ends_by_word(group) {
        return steps(group, Ends::Typed, name, report);
    }
    let body = super::inner(group, name, report);
    let mut block = empty(group);
    block.end_with(body, group.span());
    block
}

/// Whether something in braces is meant to end a loop.
fn ends_by_word(group: &Group) -> bool {
    let mut trees = group.stream().into_iter();
    trees.any(|tree| matches!(tree, TokenTree::Ident(word) if is_ending(&word)))
}

fn is_ending(word: &Ident) -> bool {
    word == "break" || word == "continue" || word == "return"
}

/// Reads the steps of a block, and its tail. The name is that of the step around it.
pub(super) fn block(group: &Group, ends: Ends, name: &Ident, report: &mut Report) -> Body {
    Body::Block(Box::new(steps(group, ends, name, report)))
}

/// How a block may end.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ends {
    /// With what has a type of its own.
    Typed,
    /// With any value, since another branch has the type.
    AsOthers,
}

/// Returns the last expression of a block.
pub(super) fn last(group: &Group) -> Option<TokenStream> {
    match scan::block(group.stream()).pop()?.kind {
        StatementKind::Other(tokens) => Some(tokens),
        StatementKind::Step(_) => None,
    }
}

fn empty(group: &Group) -> Block {
    Block {
        end: group.span_close(),
        steps: Vec::new(),
        tail: BlockTail::None,
        broken: Vec::new(),
        scope: 0,
        captures: Vec::new(),
        mentions: Vec::new(),
    }
}

fn steps(group: &Group, ends: Ends, name: &Ident, report: &mut Report) -> Block {
    let mut block = empty(group);
    let statements = scan::block(group.stream());
    let keywords = scan::keywords(&statements);
    let count = statements.len();
    let mut is_unclear = false;
    for (place, statement) in statements.into_iter().enumerate() {
        let (before, steps_before) = (report.len(), block.steps.len());
        let is_unreadable = statement.mentions(&keywords);
        let Statement {
            attrs,
            kind,
            semicolon,
            end,
        } = statement;
        match kind {
            StatementKind::Step(step) => {
                let has_attrs = !attrs.is_empty();
                let mut read = step::step(attrs, step, semicolon, end, &mut block.broken, report);
                if is_unclear {
                    read.iter_mut().for_each(Step::forget_type);
                }
                // After a doubled `step`, the attributes are those of the next step.
                is_unclear = read.is_none() && has_attrs && !semicolon;
                block.steps.extend(read);
            }
            StatementKind::Other(tokens) => {
                let is_last = place + 1 == count;
                let tail = Tail {
                    attrs,
                    tokens,
                    semicolon,
                    is_last,
                    ends,
                    end: group.span_close(),
                };
                tail.read(name, &mut block, report);
            }
        }
        if is_unreadable {
            report.drop_since(before);
            block.steps[steps_before..]
                .iter_mut()
                .for_each(Step::forget);
            if matches!(block.tail, BlockTail::Name(_)) {
                block.tail = BlockTail::Broken;
            }
        }
    }
    block
}

impl Block {
    /// Makes what a step may do the last expression.
    fn end_with(&mut self, body: Body, at: Span) {
        self.tail = if matches!(body, Body::Broken(None)) {
            BlockTail::Broken
        } else {
            BlockTail::Step
        };
        self.steps.push(Step {
            intent: String::new(),
            role: Role::Work,
            after: Vec::new(),
            policy: Policy::default(),
            name: Ident::new("_", at),
            ty: None,
            body,
            mentions: Vec::new(),
            number: 0,
            is_tail: true,
        });
    }
}

/// What is not a step, in a block.
struct Tail {
    attrs: TokenStream,
    tokens: TokenStream,
    semicolon: bool,
    is_last: bool,
    ends: Ends,
    end: Span,
}

impl Tail {
    fn read(self, around: &Ident, block: &mut Block, report: &mut Report) {
        let Self {
            attrs,
            tokens,
            semicolon,
            is_last,
            ends,
            end,
        } = self;
        block.tail = BlockTail::Broken;
        if !attrs.is_empty() {
            report.error(attrs, no_step(&tokens, semicolon));
            return;
        }
        if tokens.is_empty() {
            return;
        }
        let first = tokens.clone().into_iter().next();
        if let Some(TokenTree::Ident(word)) = first
            && is_ending(&word)
        {
            let message = if word == "return" {
                "a block has no `return`: its last expression is its value\nhelp: write the name of a step at its end".to_owned()
            } else {
                other_words::ending_of_loop(&word)
            };
            report.error(word, message);
            return;
        }
        if let Some((keyword, message)) = other_words::statement(&tokens) {
            report.error(keyword, message);
            return;
        }
        if !is_last || semicolon {
            if semicolon && let Some((name, message)) = called_macro(&tokens) {
                report.error(name, message);
                return;
            }
            let help = if is_last && is_value(&tokens) {
                "help: remove the `;` to make this the block's value".to_owned()
            } else {
                call::as_step(&tokens)
            };
            report.error(
                tokens,
                format!("a block consists of steps, and of a last expression without `;` that is its value\n{help}"),
            );
            return;
        }
        if let Some(message) = variant(&tokens) {
            report.error(tokens, message);
            return;
        }
        if let Some(TokenTree::Ident(word)) = alone(&tokens)
            && word == "await"
        {
            return awaited::inside(word.span(), report);
        }
        if is_work(&tokens) {
            let at = tokens.clone().span();
            let body = super::body(tokens, end, "`}`", around, report);
            block.end_with(body, at);
            return;
        }
        match alone(&tokens) {
            Some(TokenTree::Ident(name)) if is_source_name(&name) => {
                block.tail = BlockTail::Name(name);
            }
            _ if ends == Ends::AsOthers && super::value_of(&tokens).is_some() => {
                let value = value::all(tokens, end, "`}`", report);
                block.tail = BlockTail::Value(Box::new(value));
            }
            _ => {
                if let Some((path, message)) = call::lowercase(&tokens) {
                    report.error(path, message);
                    return;
                }
                let value = value_text(&tokens);
                report.error(
                    tokens,
                    format!(
                        "a block ends with a call, an `if`, a `for`, or the name of one of its steps\n\
                         help: write `step value: Type = {value};`, then `value`"
                    ),
                );
            }
        }
    }
}

/// Says that `None`, `Some(…)` and `Ok(…)` are values, which end no block.
fn variant(tokens: &TokenStream) -> Option<String> {
    let mut trees = tokens.clone().into_iter();
    let TokenTree::Ident(name) = trees.next()? else {
        return None;
    };
    let inside = match trees.next() {
        None => None,
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            Some(group.stream())
        }
        Some(_) => return None,
    };
    let value = value_text(tokens);
    match (&*name.to_string(), inside) {
        ("None", None) | ("Some" | "Err", Some(_)) => {}
        ("Ok", Some(inside)) => {
            let inside = value_text(&inside);
            return Some(format!(
                "a block gives the value of its last expression, without `Ok`\nhelp: write `{inside}`"
            ));
        }
        _ => return None,
    }
    trees.next().is_none().then(|| {
        format!("`{name}` is not a tool\nhelp: write `step value: Type = {value};`, then `value`")
    })
}

/// Whether tokens may be the value of a block.
fn is_value(tokens: &TokenStream) -> bool {
    is_work(tokens) || alone(tokens).is_some()
}

/// The token that is all there is.
fn alone(tokens: &TokenStream) -> Option<TokenTree> {
    let mut trees = tokens.clone().into_iter();
    let first = trees.next()?;
    trees.next().is_none().then_some(first)
}
