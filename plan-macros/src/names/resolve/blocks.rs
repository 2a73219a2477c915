//! Blocks and loops: their last values, and the names from outside that they mention.

use super::super::frames::Frame;
use super::super::{Meaning, Source};
use super::Resolver;
use crate::ast::{Block, BlockTail, Capture, Captured, Hop, Local, Loop, Role, Value};
use crate::docs::text_of;
use quote::ToTokens;
use syn::Ident;
use syn::ext::IdentExt;

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

impl Resolver<'_> {
    pub(super) fn block(&mut self, block: &mut Block, then: impl FnOnce(&mut Self)) {
        let around = std::mem::replace(&mut self.frames.scope, block.scope);
        let open = OpenBlock::new(block.scope, self.frames.count());
        self.blocks.push(open);
        for step in &mut block.steps {
            self.step(step);
            let mentions = step.mentions.iter();
            let outside =
                mentions.filter(|mention| self.names.scope_of(mention.source) != block.scope);
            self.mentions.extend(outside.cloned());
        }
        self.tail(block);
        then(self);
        self.frames.scope = around;
        let open = self.blocks.pop();
        block.captures = open.map_or_else(Vec::new, |open| open.captures);
    }

    /// Resolves the loop of the step with this name and number.
    pub(super) fn repeat(
        &mut self,
        repeat: &mut Loop,
        name: &Ident,
        number: usize,
        collects: bool,
    ) {
        let scope = repeat.round.scope;
        // The value of the round before is unknown if the block does not end with a value of its own.
        let mut is_broken = matches!(repeat.round.tail, BlockTail::Broken);
        if let BlockTail::Name(tail) = &repeat.round.tail {
            let is_missing = self.names.own(scope, tail).is_none();
            is_broken = is_missing || self.names.is_broken(scope, tail);
            let is_last = |last: &Ident| tail.unraw() == last.unraw();
            if is_missing && repeat.last.as_ref().is_some_and(is_last) {
                self.report.error(tail, outside(&text_of(tail)));
                repeat.round.tail = BlockTail::Broken;
            }
        }
        if let Some(last) = &repeat.last {
            let names = vec![(text_of(last), None)];
            self.frames.enter(Frame::new(names, is_broken));
        }
        let (again, again_scope, last) = (&mut repeat.again, repeat.scope, &repeat.last);
        let mut mentions = Vec::new();
        self.block(&mut repeat.round, |resolver| {
            resolver.frames.scope = again_scope;
            let before = resolver.mentions.len();
            resolver.truth(again);
            resolver.round_before(again, last, name, collects);
            mentions = resolver.mentions.split_off(before);
        });
        // The value of the round before is the first input.
        if let Some(last) = &repeat.last
            && let Meaning::Local(last) = self.names.find(last, &self.frames)
        {
            let is_other = |capture: &Capture| capture.of != Captured::Local(last);
            repeat.round.captures.sort_by_key(is_other);
        }
        let text = text_of(name);
        for mention in mentions {
            if self.names.scope_of(mention.source) != scope {
                self.mentions.push(mention);
            } else if collects && text_of(&mention.name) == text {
                self.report.error(
                    &mention.name,
                    format!("`{text}` is the list of all rounds, incomplete here\nhelp: use a step of the block"),
                );
                repeat.again = Value::Broken;
            } else {
                repeat.mentions.push(mention);
            }
        }
        self.refuse_own(Source::Step(number), &text);
        if let Some(last) = &repeat.last {
            self.leave(&syn::parse_quote!(#last));
        }
        if is_broken {
            repeat.last = None;
        }
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
        again: &mut Value,
        last: &Option<Ident>,
        step: &Ident,
        collects: bool,
    ) {
        let found = match &*again {
            Value::Reference(reference) => match reference.hops.first() {
                Some(Hop::Field(_, member)) => Some((reference.root.clone(), member.clone())),
                _ => None,
            },
            Value::Computed(computed) => {
                let is_local =
                    |name: &Ident| computed.locals.iter().any(|(local, _)| local == name);
                computed
                    .fields
                    .iter()
                    .find(|(name, _)| is_local(name))
                    .cloned()
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
        *again = Value::Broken;
    }

    /// Resolves the name at the end of a block, which is the name of a step in the block.
    fn tail(&mut self, block: &mut Block) {
        let BlockTail::Name(name) = &block.tail else {
            return;
        };
        if self.names.own(block.scope, name).is_some() {
            return;
        }
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
        block.tail = BlockTail::Broken;
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
