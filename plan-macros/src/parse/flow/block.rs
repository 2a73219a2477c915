//! `{ steps tail }`: steps inside a step.

use super::branch::{Ends, is_value};
use super::step::StepReader;
use super::{WorkReader, value};
use crate::ast::{Block, BlockTail, Body, Step};
use crate::mistakes::{Position, flow, tail};
use crate::report::Mistake;
use crate::syntax::reference::is_source_name;
use crate::syntax::tokens::only;
use crate::syntax::{self, Statement, StatementKind, is_work};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;

impl WorkReader<'_> {
    /// Reads the content of the braces of a loop: a block, or one call.
    pub(super) fn round(&mut self, group: &Group) -> Block {
        if syntax::has_steps(group) || flow::has_ending(group) {
            return self.block(group, Ends::Typed);
        }
        let body = self.inner(group);
        let mut block = empty(group);
        block.end_with(body, group.span());
        block
    }

    /// Reads the steps of a block, and its tail.
    pub(super) fn block(&mut self, group: &Group, ends: Ends) -> Block {
        let mut block = empty(group);
        let mut steps = StepReader::default();
        let statements = syntax::block(group.stream());
        let keywords = syntax::keywords(&statements);
        let count = statements.len();
        for (place, statement) in statements.iter().enumerate() {
            let (before, steps_before) = (self.report.len(), block.steps.len());
            let is_unreadable = statement.mentions(&keywords);
            match &statement.kind {
                StatementKind::Step(step) => {
                    let read = steps.read(statement, step, self.report);
                    block.steps.extend(read);
                }
                StatementKind::Other(tokens) => {
                    let wrong = not_a_tail(statement, tokens, place + 1 == count);
                    block.tail = BlockTail::Broken;
                    if wrong.is_none() && !tokens.is_empty() {
                        self.tail(tokens.clone(), ends, &mut block);
                    }
                    self.report.extend(wrong);
                }
            }
            if is_unreadable {
                self.report.drop_since(before);
                let read = &mut block.steps[steps_before..];
                read.iter_mut().for_each(Step::forget);
                if matches!(block.tail, BlockTail::Name(_)) {
                    block.tail = BlockTail::Broken;
                }
            }
        }
        block.broken = steps.broken;
        block
    }

    fn tail(&mut self, tokens: TokenStream, ends: Ends, block: &mut Block) {
        if is_work(&tokens) {
            let at = tokens.span();
            let body = self.work(tokens, block.end, Position::Braces);
            return block.end_with(body, at);
        }
        match only(&tokens) {
            Some(TokenTree::Ident(name)) if is_source_name(&name) => {
                block.tail = BlockTail::Name(name);
            }
            _ if ends == Ends::AsOthers && is_value(&tokens) => {
                let value = value::all(tokens, block.end, Position::Braces.end(), self.report);
                block.tail = BlockTail::Value(Box::new(value));
            }
            _ => self.report.push(tail::value_of_block(&tokens)),
        }
    }
}

/// Returns the error of tokens that cannot be the value of a block.
fn not_a_tail(statement: &Statement, tokens: &TokenStream, is_last: bool) -> Option<Mistake> {
    if !statement.attrs.is_empty() {
        let attrs = statement.attrs.clone();
        return Some(tail::attributes(attrs, statement, tokens));
    }
    let is_tail = !tokens.is_empty();
    is_tail
        .then(|| tail::in_block(statement, tokens, is_last))
        .flatten()
}

fn empty(group: &Group) -> Block {
    Block {
        end: group.span_close(),
        steps: Vec::new(),
        tail: BlockTail::None,
        broken: Vec::new(),
    }
}

impl Block {
    /// Moves the work of a step to the last expression.
    fn end_with(&mut self, body: Body, at: Span) {
        self.tail = if matches!(body, Body::Broken(None)) {
            BlockTail::Broken
        } else {
            BlockTail::Step
        };
        let is_tail = true;
        self.steps.push(Step {
            is_tail,
            ..Step::new(at, body)
        });
    }
}
