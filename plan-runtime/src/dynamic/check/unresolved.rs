//! Why a path leads nowhere.

use crate::dynamic::schema::Type;
use crate::plan::Selector;

/// The part of a path that leads nowhere.
#[derive(Clone)]
pub(super) struct Unresolved<'a> {
    /// The segment that leads nowhere.
    pub(super) segment: usize,
    /// What it is looked for in.
    pub(super) inside: Type<'a>,
    pub(super) why: UnresolvedReason,
    /// When that is so, if only the plan's own value leads nowhere: `` `a` is missing ``.
    pub(super) when: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnresolvedReason {
    NoField,
    /// The list has at most this number of elements.
    NoElement(usize),
    NoList,
    /// Fields are of an element, and this is a list.
    List,
    /// It has no parts.
    Scalar,
}

/// The index that a part is in a list.
pub(super) fn index_of(selector: &Selector) -> Option<usize> {
    match selector {
        Selector::Key(key) => crate::plan::index(key),
        Selector::Index(index) => Some(*index),
        Selector::Each => None,
    }
}
