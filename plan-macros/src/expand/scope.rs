//! The meaning of names in an item: steps, inputs, and the names that `for` and `if let` bind.

use super::builder::Builder;
use super::frame::{Level, LocalFrame};
use super::table::{TypeId, TypeKey};
use super::{Context, View};
use crate::ast::Computed;
use crate::names::{Captured, Local, Reader, Source};
use plan_graph::notation::SourceData;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

impl Builder<'_> {
    pub(super) fn level(&self) -> &Level {
        let level = self.levels.last();
        level.expect("the plan itself is always there")
    }

    pub(super) fn set_reader(&mut self, reader: Reader) {
        if let Some(level) = self.levels.last_mut() {
            level.reader = reader;
        }
    }

    /// Returns the step or the input that a name means here.
    pub(super) fn source(&self, name: &Ident) -> Option<Source> {
        self.cx.names.get_in(self.level().names, name)
    }

    /// Returns the role of the current step in the plan or the block of a source.
    fn reader(&self, source: Source) -> Reader {
        let scope = self.cx.names.scope_of(source);
        let level = self.levels.iter().find(|level| level.scope == scope);
        level.map_or(Reader::Work, |level| level.reader)
    }

    /// Returns the type of a step or an input, as the current step sees the type.
    pub(super) fn type_of(&self, source: Source) -> TokenStream {
        self.cx.type_seen(source, self.reader(source))
    }

    /// Returns the number of that type.
    pub(super) fn type_id(&mut self, source: Source) -> TypeId {
        let key = self.cx.type_key(source);
        let ty = self.table.type_id(key);
        match self.cx.view(source, self.reader(source)) {
            View::Output => ty,
            view => self.table.type_id(TypeKey::Seen(view, ty)),
        }
    }

    /// Returns the source of a step's or an input's value in a run of this plan or block.
    pub(super) fn place(&self, source: Source) -> SourceData {
        let level = self.level();
        match source {
            source if self.cx.names.scope_of(source) != level.scope => {
                level.input(Captured::Source(source))
            }
            Source::Step(number) => SourceData::Step(self.cx.names.place_of(number)),
            Source::Input(input) => SourceData::Input(input),
        }
    }

    /// Returns the source of a local value in a run of this plan or block.
    pub(super) fn place_of_local(&self, local: Local) -> SourceData {
        let level = self.level();
        match local.frame.checked_sub(level.frames) {
            Some(frame) => SourceData::Local(frame),
            None => level.input(Captured::Local(local)),
        }
    }

    /// Returns the source of a local value and, if several names are bound together, the part of the value.
    pub(super) fn part_of_local(&self, local: Local) -> (SourceData, Option<usize>) {
        match self.place_of_local(local) {
            place @ SourceData::Local(_) => (place, local.part),
            // The input of a block is the part alone.
            place => (place, None),
        }
    }

    /// Binds the name of a step or an input, unless the name is bound already.
    pub(super) fn bind_root(&mut self, source: Source, name: &Ident) -> Ident {
        if self.cx.names.scope_of(source) == 0 {
            let bound = self.roots.entry(source);
            return bound.or_insert_with(|| name.clone()).clone();
        }
        // Steps of separate blocks may share a name.
        if let Some(bound) = self.inner_roots.get(&source) {
            return bound.clone();
        }
        let ty = self.type_of(source);
        self.bind_name(name, &quote!(__plan::root::<#ty>()));
        self.inner_roots.insert(source, name.clone());
        name.clone()
    }

    /// Binds a name that the author may not use.
    pub(super) fn bind_name(&mut self, name: &Ident, value: &TokenStream) {
        self.bind(quote!(#[allow(unused_variables)] let #name = #value;));
    }

    /// Enters a frame that binds one name as a whole.
    pub(super) fn enter_one(&mut self, place: Ident, name: &Ident) {
        self.bind_name(name, &quote!(#place));
        self.frames.push(LocalFrame {
            place,
            names: vec![name.clone()],
            together: false,
        });
    }

    /// Leaves the innermost frame: a name that the frame bound has its previous meaning again.
    pub(super) fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for name in frame.names {
            let mut frames = self.frames.iter().rev();
            let outer = frames.find_map(|outer| outer.place_of(&name));
            let place = match (outer, self.source(&name)) {
                (Some(place), _) => place,
                (None, Some(source)) => {
                    self.rebound.insert(source);
                    let ty = self.type_of(source);
                    quote!(__plan::root::<#ty>())
                }
                (None, None) => continue,
            };
            self.bind_name(&name, &place);
        }
    }
}

impl Context<'_> {
    /// Returns an expression for a source.
    pub(super) fn source(source: SourceData) -> TokenStream {
        match source {
            SourceData::Step(index) => quote!(__plan::Source::Step(#index)),
            SourceData::Input(index) => quote!(__plan::Source::Input(#index)),
            SourceData::Local(frame) => quote!(__plan::Source::Local(#frame)),
        }
    }
}

/// The steps and inputs that a computed value mentions, each with its name.
pub(super) type Sources<'c> = Vec<(Source, &'c Ident)>;

/// Returns the steps and inputs that a computed value mentions, in order.
pub(super) fn sources<'c>(computed: &Computed, builder: &Builder<'c>) -> Sources<'c> {
    let names = builder.cx.names.names_in(computed).sources.iter();
    let mut sources: Vec<_> = names
        .filter_map(|name| Some((builder.source(name)?, name)))
        .collect();
    sources.sort_by_key(|(source, _)| *source);
    sources
}

/// Binds the names of sources to values of their types, in code that is only type-checked.
pub(super) fn any_values(sources: &Sources<'_>, builder: &Builder<'_>) -> TokenStream {
    let values = sources.iter().map(|(source, name)| {
        let ty = builder.type_of(*source);
        quote!(#[allow(unused_variables)] let #name: &#ty = __plan::any();)
    });
    values.collect()
}
