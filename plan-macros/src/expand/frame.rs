//! The names that `for` and `if let` bind.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The names that a `for` or an `if let` binds, while its braces are lowered.
pub(super) struct LocalFrame {
    /// The binding of its place.
    pub(super) place: Ident,
    /// The names that are bound.
    pub(super) names: Vec<Ident>,
    /// `true` if each name is bound to a part, and `false` if one name is bound to the whole.
    pub(super) together: bool,
}

impl LocalFrame {
    /// Returns an expression for the place of a part, or of the whole.
    pub(super) fn part(&self, part: Option<usize>) -> TokenStream {
        let place = &self.place;
        match part {
            Some(part) => part_of(place, part, self.names.len()),
            None => quote!(#place),
        }
    }

    /// Returns an expression for the place of a name that is bound here.
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
