//! The enclosing parts of a value: the plan and its blocks, and the names that `for` and `if let` bind.

use crate::ast::Block;
use crate::names::{Captured, Names, Reader};
use plan_graph::notation::SourceData;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The names that a `for` or an `if let` binds, while its braces are lowered.
pub(super) struct LocalFrame {
    /// The variable that contains the source of the bound value.
    pub(super) place: Ident,
    /// The names that are bound.
    pub(super) names: Vec<Ident>,
    /// `true` if each name is bound to a part, and `false` if one name is bound to the whole.
    pub(super) together: bool,
}

impl LocalFrame {
    /// Returns an expression for the source of a part, or of the whole value.
    pub(super) fn part(&self, part: Option<usize>) -> TokenStream {
        let place = &self.place;
        match part {
            Some(part) => part_of(place, part, self.names.len()),
            None => quote!(#place),
        }
    }

    /// Returns an expression for the source of a name of this frame.
    pub(super) fn place_of(&self, name: &Ident) -> Option<TokenStream> {
        let part = self.names.iter().rposition(|bound| bound == name)?;
        let place = &self.place;
        Some(if self.together {
            part_of(place, part, self.names.len())
        } else {
            quote!(#place)
        })
    }
}

/// Returns an expression for one of `count` parts.
pub(super) fn part_of(place: &Ident, part: usize, count: usize) -> TokenStream {
    let holes = (0..count).map(|other| {
        if other == part {
            quote!(__x)
        } else {
            quote!(_)
        }
    });
    quote!(__plan::part(#place, |(#(#holes,)*)| __x))
}

/// The plan, or a block in it, while its steps are lowered.
pub(super) struct Level {
    /// The number of the block; 0 is the plan.
    pub(super) scope: usize,
    /// The scope of names: the condition of a loop has one more than the loop's block.
    pub(super) names: usize,
    /// The role of the current step.
    pub(super) reader: Reader,
    /// The number of enclosing frames.
    pub(super) frames: usize,
    /// The inputs of the block.
    captures: Vec<Captured>,
}

impl Level {
    /// Returns the level of the plan itself.
    pub(super) fn plan() -> Self {
        Self {
            scope: 0,
            names: 0,
            reader: Reader::Work,
            frames: 0,
            captures: Vec::new(),
        }
    }

    pub(super) fn of(block: &Block, frames: usize, names: &Names<'_>) -> Self {
        let (scope, captures) = (names.scope(block), names.captures(block).iter());
        Self {
            scope,
            names: scope,
            frames,
            captures: captures.map(|capture| capture.of).collect(),
            ..Self::plan()
        }
    }

    /// Returns the input of the block for a captured name.
    pub(super) fn input(&self, of: Captured) -> SourceData {
        let input = self.captures.iter().position(|known| *known == of);
        SourceData::Input(input.expect("a block has an input for all that it mentions"))
    }
}
