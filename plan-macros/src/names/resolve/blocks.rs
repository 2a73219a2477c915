//! Blocks and loops: their last values, and the names from outside that they mention.

use super::super::facts::{BlockFacts, ComputedFacts, Mention};
use super::super::frames::Frame;
use super::super::{Capture, Captured, Local, Meaning, Source};
use super::Resolver;
use crate::ast::{Block, BlockTail, Hop, Loop, Role, Step, Value};
use crate::docs::text_of;
use quote::ToTokens;
use syn::Ident;

/// A block around a value, or the plan.
pub(super) struct OpenBlock {
    scope: usize,
    /// The role of the innermost step of the block.
    pub(super) role: Role,
    /// The number of frames around the block.
    frames: usize,
    captures: Vec<Capture>,
}

impl OpenBlock {
    pub(super) fn new(scope: usize, frames: usize) -> Self {
        Self {
            scope,
            role: Role::Work,
            frames,
            captures: Vec::new(),
        }
    }
}

/// Returns the role of the step around a value, in the block with this scope.
pub(super) fn role_in(blocks: &[OpenBlock], scope: usize) -> &Role {
    let block = blocks.iter().find(|block| block.scope == scope);
    &block.unwrap_or(&blocks[0]).role
}

impl<'t> Resolver<'_, 't> {
    /// Resolves a block. `then` resolves the parts that see the block's names, and returns the mentions of these names.
    pub(super) fn block(&mut self, block: &'t Block, then: impl FnOnce(&mut Self) -> Vec<Mention>) {
        let scope = self.names.scope(block);
        let around = std::mem::replace(&mut self.frames.scope, scope);
        let open = OpenBlock::new(scope, self.frames.count());
        self.blocks.push(open);
        for step in &block.steps {
            self.step(step);
            let mentions = self.names.facts.mentions[self.names.number(step)].iter();
            let outside = mentions.filter(|mention| self.names.scope_of(mention.source) != scope);
            self.mentions.extend(outside.cloned());
        }
        let mut mentions = self.tail(block);
        mentions.extend(then(self));
        self.frames.scope = around;
        let open = self.blocks.pop();
        let captures = open.map_or_else(Vec::new, |open| open.captures);
        let facts = BlockFacts { captures, mentions };
        self.names.facts.blocks.insert(block, facts);
    }

    /// Resolves the loop of a step.
    pub(super) fn repeat(&mut self, repeat: &'t Loop, step: &'t Step, collects: bool) {
        if let Some(last) = &repeat.last {
            let names = vec![(text_of(last), None)];
            self.frames.enter(Frame::new(names, false));
        }
        self.block(&repeat.round, |resolver| {
            resolver.frames.scope = resolver.names.scope_of_condition(repeat);
            resolver.again(repeat, &step.name, collects)
        });
        // The value of the round before is the first input.
        if let Some(last) = &repeat.last
            && let Meaning::Local(last) = self.names.find(last, &self.frames)
            && let Some(round) = self.names.facts.blocks.get_mut(&repeat.round)
        {
            let is_other = |capture: &Capture| capture.of != Captured::Local(last);
            round.captures.sort_by_key(is_other);
        }
        self.refuse_own(self.names.source(step), &text_of(&step.name));
        if let Some(last) = &repeat.last {
            self.leave(&syn::parse_quote!(#last));
        }
    }

    /// Resolves the condition of a loop, and returns the mentions of steps of the loop's block.
    fn again(&mut self, repeat: &'t Loop, name: &Ident, collects: bool) -> Vec<Mention> {
        let (scope, text) = (self.names.scope(&repeat.round), text_of(name));
        let before = self.mentions.len();
        self.truth(&repeat.again);
        self.round_before(&repeat.again, &repeat.last, name, collects);
        let mut own = Vec::new();
        for mention in self.mentions.split_off(before) {
            if self.names.scope_of(mention.source) != scope {
                self.mentions.push(mention);
            } else if collects && text_of(&mention.name) == text {
                self.report.error(
                    &mention.name,
                    format!("`{text}` is the list of all rounds, incomplete here\nhelp: use a step of the block"),
                );
                self.names.facts.broken.insert(&repeat.again, ());
            } else {
                own.push(mention);
            }
        }
        own
    }

    /// Reports the first mention of a loop in itself.
    fn refuse_own(&mut self, own: Source, text: &str) {
        let mut mentions = self.mentions.iter();
        if let Some(mention) = mentions.find(|mention| mention.source == own) {
            self.report.error(
                &mention.name,
                format!(
                    "`{text}` is what the loop gives when it has ended\n\
                     help: name the value of the round before: `loop |last| {{ … }} while …`, and write `last?` here"
                ),
            );
        }
        self.mentions.retain(|mention| mention.source != own);
    }

    /// Reports a field of the value of the round before in the condition of a loop: in the first round, there is no such value.
    fn round_before(
        &mut self,
        again: &'t Value,
        last: &Option<Ident>,
        step: &Ident,
        collects: bool,
    ) {
        let found = match self.names.value(again) {
            Value::Reference(reference) => match reference.hops.first() {
                Some(Hop::Field(_, member)) => Some((reference.root.clone(), member.clone())),
                _ => None,
            },
            Value::Computed(computed) => {
                let facts = self.names.facts.computed.get(computed);
                facts.and_then(|ComputedFacts { names, .. }| {
                    let is_local = |name| names.locals.iter().any(|(local, _)| local == name);
                    let mut fields = names.fields.iter();
                    fields.find(|(name, _)| is_local(name)).cloned()
                })
            }
            _ => None,
        };
        let Some((name, member)) = found.filter(|(name, _)| last.as_ref() == Some(name)) else {
            return;
        };
        let (text, member) = (text_of(&name), member.to_token_stream());
        let this = if collects {
            "a step of the block".to_owned()
        } else {
            format!("`{}.{member}`", text_of(step))
        };
        self.report.error(
            name,
            format!("`{text}` is the value of the round before, an `Option`, since the first round has none\nhelp: for the value of this round, write {this}"),
        );
        self.names.facts.broken.insert(again, ());
    }

    /// Resolves the end of a block, and returns the mentions of steps of the block in a value there.
    fn tail(&mut self, block: &'t Block) -> Vec<Mention> {
        let scope = self.names.scope(block);
        match &block.tail {
            BlockTail::Value(value) => {
                let before = self.mentions.len();
                self.value(value);
                let mentions = self.mentions.split_off(before).into_iter();
                let is_own = |mention: &Mention| self.names.scope_of(mention.source) == scope;
                let (own, outside): (Vec<_>, Vec<_>) = mentions.partition(is_own);
                self.mentions.extend(outside);
                return own;
            }
            BlockTail::Name(name) if self.names.own(scope, name).is_none() => {
                match self.names.find(name, &self.frames) {
                    Meaning::Broken => {}
                    Meaning::Local(_) | Meaning::Source(_) => {
                        self.report.error(name, outside(&text_of(name)));
                    }
                    Meaning::Unknown => {
                        let (message, _) = self.names.unknown(name, &self.frames);
                        self.report.error(name, message);
                    }
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Adds the name to the captures of each enclosing block, up to the block for which `is_in` is `true`.
    fn capture(&mut self, name: &Ident, of: Captured, is_in: impl Fn(&OpenBlock) -> bool) {
        for block in self.blocks.iter_mut().rev() {
            if is_in(block) {
                return;
            }
            if block.captures.iter().all(|known| known.of != of) {
                let name = name.clone();
                block.captures.push(Capture { name, of });
            }
        }
    }

    pub(super) fn capture_source(&mut self, name: &Ident, source: Source) {
        let scope = self.names.scope_of(source);
        self.capture(name, Captured::Source(source), |block| block.scope == scope);
    }

    pub(super) fn capture_local(&mut self, name: &Ident, local: Local) {
        self.capture(name, Captured::Local(local), |block| {
            local.frame >= block.frames
        });
    }
}

/// Returns the message about a block that ends with a name from outside.
fn outside(name: &str) -> String {
    format!(
        "`{name}` is outside this block, which ends with a step of its own\n\
         help: write `step value: Type = {name};`, then `value`"
    )
}
