//! `{ steps tail }`: steps inside a step.

use super::step::StepReader;
use crate::ast::{Block, BlockTail, Body, Policy, Role, Step};
use crate::mistakes::{self, Position};
use crate::report::Report;
use crate::syntax::reference::is_source_name;
use crate::syntax::tokens::only;
use crate::syntax::{self, Statement, StatementKind, is_work};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;

/// Reads what the braces of a loop contain: a block, or one call.
pub(super) fn round(group: &Group, name: &Ident, report: &mut Report) -> Block {
    if syntax::has_steps(group) || mistakes::flow::has_ending(group) {
        return block(group, name, report);
    }
    let body = super::inner(group, name, report);
    let mut block = empty(group);
    block.end_with(body, group.span());
    block
}

fn empty(group: &Group) -> Block {
    Block {
        end: group.span_close(),
        steps: Vec::new(),
        tail: BlockTail::None,
        broken: Vec::new(),
        scope: 0,
        captures: Vec::new(),
    }
}

/// Reads the steps of a block, and its tail. The name is that of the step around it.
pub(super) fn block(group: &Group, name: &Ident, report: &mut Report) -> Block {
    let mut block = empty(group);
    let mut steps = StepReader::default();
    let statements = syntax::block(group.stream());
    let keywords = syntax::keywords(&statements);
    let count = statements.len();
    for (place, mut statement) in statements.into_iter().enumerate() {
        let (before, steps_before) = (report.len(), block.steps.len());
        let is_unreadable = statement.mentions(&keywords);
        match statement.take_kind() {
            StatementKind::Step(step) => {
                block.steps.extend(steps.read(&statement, step, report));
            }
            StatementKind::Other(tokens) => {
                block.tail = BlockTail::Broken;
                let is_last = place + 1 == count;
                if is_tail(&statement, &tokens, is_last, report) {
                    block.read_tail(tokens, name, report);
                }
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
    block.broken = steps.broken;
    block
}

/// Returns `true` for tokens that may be the value of a block, and reports all other tokens.
fn is_tail(
    statement: &Statement,
    tokens: &TokenStream,
    is_last: bool,
    report: &mut Report,
) -> bool {
    let semicolon = statement.semicolon;
    let mistake = if !statement.attrs.is_empty() {
        let attrs = statement.attrs.clone();
        Some(mistakes::tail::attributes(attrs, tokens, semicolon))
    } else if tokens.is_empty() {
        return false;
    } else {
        mistakes::tail::in_block(tokens, semicolon, is_last)
    };
    let is_tail = mistake.is_none();
    report.extend(mistake);
    is_tail
}

impl Block {
    fn read_tail(&mut self, tokens: TokenStream, around: &Ident, report: &mut Report) {
        if is_work(&tokens) {
            let at = tokens.span();
            let body = super::body(tokens, self.end, Position::Braces, around, report);
            return self.end_with(body, at);
        }
        match only(&tokens) {
            Some(TokenTree::Ident(name)) if is_source_name(&name) => {
                self.tail = BlockTail::Name(name);
            }
            _ => report.push(mistakes::tail::value_of_block(&tokens)),
        }
    }

    /// Makes the work of a step the last expression.
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
