//! `{ steps tail }`: a plan inside a step, whose inputs are the names from outside that it mentions.
//!
//! rustc checks a block where it checks the step around it, with the author's names. Only the data and the code that runs know of the inputs.

use super::binding::LocalFrame;
use super::types;
use super::value::Builder;
use crate::ast::{Block, BlockTail, Captured, Local, Loop, Step};
use crate::docs::text_of;
use crate::names::{Reader, Source};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The plan, or a block in it, while it is expanded.
pub(super) struct Level {
    /// Which block it is; 0 is the plan.
    pub(super) scope: usize,
    /// Where names are looked up: in the condition of a loop, there is one more than in its block.
    names: usize,
    /// What the step in it is for.
    pub(super) reader: Reader,
    /// How many frames are around it.
    frames: usize,
    /// Its inputs.
    captures: Vec<Captured>,
}

impl Level {
    /// The plan itself.
    pub(super) fn plan() -> Self {
        Self {
            scope: 0,
            names: 0,
            reader: Reader::Work,
            frames: 0,
            captures: Vec::new(),
        }
    }

    /// The input that a block has for what is around it.
    fn input(&self, of: Captured) -> Source {
        let input = self.captures.iter().position(|known| *known == of);
        Source::Input(input.expect("a block has an input for all that it mentions"))
    }
}

/// Where a local value is when a plan or a block runs.
pub(super) enum LocalPlace {
    /// This many frames of the plan or the block are around it.
    Frame(usize),
    /// It is an input of the block.
    Input(Source),
}

impl Builder<'_> {
    pub(super) fn level(&self) -> &Level {
        let level = self.levels.last();
        level.expect("the plan itself is always there")
    }

    /// The step or the input that a name means here.
    pub(super) fn source(&self, name: &Ident) -> Option<Source> {
        self.cx.names.get_in(self.level().names, name)
    }

    /// What the step is for that is here, in the plan or the block of a source.
    pub(super) fn reader(&self, source: Source) -> Reader {
        let scope = self.cx.names.scope_of(source);
        let level = self.levels.iter().find(|level| level.scope == scope);
        level.map_or(Reader::Work, |level| level.reader)
    }

    /// Where a step or an input is when this plan or block runs.
    pub(super) fn place(&self, source: Source) -> Source {
        let level = self.level();
        match source {
            source if self.cx.names.scope_of(source) != level.scope => {
                level.input(Captured::Source(source))
            }
            Source::Step(number) => Source::Step(self.cx.names.place_of(number)),
            Source::Input(input) => Source::Input(input),
        }
    }

    /// The same for a local value.
    pub(super) fn place_of_local(&self, local: Local) -> LocalPlace {
        let level = self.level();
        match local.frame.checked_sub(level.frames) {
            Some(frame) => LocalPlace::Frame(frame),
            None => LocalPlace::Input(level.input(Captured::Local(local))),
        }
    }

    /// Binds the name of a step or an input, if it is not bound yet.
    pub(super) fn bind_root(&mut self, source: Source, name: &Ident) -> Ident {
        if self.cx.names.scope_of(source) == 0 {
            let bound = self.roots.entry(source);
            return bound.or_insert_with(|| name.clone()).clone();
        }
        // Steps of blocks beside each other may have the same name.
        if let Some(bound) = self.inner_roots.get(&source) {
            return bound.clone();
        }
        let ty = self.type_of(source);
        self.bindings
            .extend(quote!(#[allow(unused_variables)] let #name = __plan::root::<#ty>();));
        self.inner_roots.insert(source, name.clone());
        name.clone()
    }

    /// Writes a block as data, and checks it. A value at its end has the type `ty`.
    pub(super) fn block(&mut self, block: &Block, ty: Option<&(TokenStream, Span)>) {
        self.data.tag('B');
        self.enter(block, false, None);
        match (&block.tail, ty) {
            (BlockTail::Value(value), Some((ty, at))) => {
                self.value_of(value, ty, *at);
                self.inner_roots.clear();
            }
            _ => self.value_of_step(block),
        }
        self.levels.pop();
    }

    /// Writes a loop as data, and checks it.
    pub(super) fn looped(&mut self, repeat: &Loop) {
        // The type of a round has a name, and so has that of `last`.
        let ty = types::type_of_round(repeat).unwrap_or_else(|| quote!(__plan::Unknown));
        let last = repeat.last.as_ref().map(|name| {
            let place = self.fresh_at("f", name.span());
            self.bindings.extend(quote! {
                #[allow(unused_variables)]
                let #place = __plan::root::<::core::option::Option<#ty>>();
                #[allow(unused_variables)]
                let #name = #place;
            });
            self.frames.push(LocalFrame {
                place,
                names: vec![name.clone()],
                together: false,
            });
            Local {
                frame: self.frames.len() - 1,
                part: None,
            }
        });
        self.data.tag('L');
        self.enter(&repeat.round, true, last);
        self.value_of_step(&repeat.round);
        if let Some(level) = self.levels.last_mut() {
            level.names = repeat.scope;
        }
        let check = self.arriving("Holds", |builder| builder.value(&repeat.again));
        self.bindings
            .extend(quote!(let _ = || -> ::core::primitive::bool { #check };));
        self.inner_roots.clear();
        self.levels.pop();
        if last.is_some() {
            self.leave();
        }
    }

    /// Writes what a block reads, and its steps. The level is that of the block then. `last` is an input that is null at first.
    fn enter(&mut self, block: &Block, is_loop: bool, last: Option<Local>) {
        let is_last = |of: Captured| last.is_some_and(|last| of == Captured::Local(last));
        if is_loop {
            let mut captures = block.captures.iter();
            let has_last = captures.any(|capture| is_last(capture.of));
            self.data.tag(if has_last { '1' } else { '0' });
        }
        self.data.number(block.captures.len());
        for capture in &block.captures {
            let name = text_of(&capture.name);
            self.data.text(&name);
            if is_last(capture.of) {
                self.data.tag('n');
                continue;
            }
            self.data.tag('r');
            match capture.of {
                Captured::Source(source) => {
                    let place = self.place(source);
                    self.data.source(place).text(&name);
                }
                Captured::Local(local) => self.local_data(local, &name),
            }
            self.data.tag(';');
        }
        self.levels.push(Level {
            scope: block.scope,
            names: block.scope,
            reader: Reader::Work,
            frames: self.frames.len(),
            captures: block.captures.iter().map(|capture| capture.of).collect(),
        });
        self.data.number(block.steps.len());
        for step in &block.steps {
            self.data.text(&text_of(&step.name));
        }
        for step in &block.steps {
            self.inner_step(step);
        }
        // What comes after the steps sees them as the work does.
        if let Some(level) = self.levels.last_mut() {
            level.reader = Reader::Work;
        }
    }

    /// Writes the value of a block that ends with a step.
    fn value_of_step(&mut self, block: &Block) {
        match block.value() {
            Some(step) => {
                let place = self.place(Source::Step(step.number));
                let name = text_of(&step.name);
                self.data.tag('r').source(place).text(&name).tag(';');
            }
            None => {
                self.data.tag('n');
            }
        }
    }

    fn inner_step(&mut self, step: &Step) {
        let is_json = self.is_json.take();
        self.inner_roots.clear();
        self.step(step);
        self.inner_roots.clear();
        self.is_json = is_json;
    }

    /// Writes where a local value is, and the way to it.
    pub(super) fn local_data(&mut self, local: Local, written: &str) {
        if let Some(part) = self.source_data(local, written) {
            self.data.tag('#').number(part).tag('!');
        }
    }

    /// Writes where a local value is, and gives its place among those that are bound together, if there are several.
    pub(super) fn source_data(&mut self, local: Local, written: &str) -> Option<usize> {
        match self.place_of_local(local) {
            LocalPlace::Frame(frame) => {
                self.data.local(frame).text(written);
                local.part
            }
            // The block is given the part alone.
            LocalPlace::Input(input) => {
                self.data.source(input).text(written);
                None
            }
        }
    }
}
