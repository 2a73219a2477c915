//! The part of a path that the check cannot resolve, and the reason.

use crate::dynamic::schema::Type;
use crate::plan::Selector;

/// The part of a path that leads nowhere.
#[derive(Clone)]
pub(super) struct Unresolved<'a> {
    /// The segment that leads nowhere.
    pub(super) segment: usize,
    /// The type without the segment.
    pub(super) inside: Type<'a>,
    pub(super) why: UnresolvedReason,
    /// The condition of a replacement that leads nowhere: `` `a` is missing ``.
    pub(super) when: Option<String>,
}

/// The part of a reference that may make a run fail, and the reason.
#[derive(Clone)]
pub(super) struct Break {
    pub(super) at: usize,
    pub(super) why: String,
    /// The part is missing, and not inside of null.
    pub(super) is_missing: bool,
}

/// A property that no schema states, with its path in the value; the path of the whole value is empty.
#[derive(Clone)]
pub(super) enum Unstated {
    Type(String),
    Presence(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnresolvedReason {
    NoField,
    /// The list has at most this number of elements.
    NoElement(usize),
    NoList,
    /// A field of a list, whose elements have the fields.
    List,
    /// A value without parts.
    Scalar,
}

/// Returns the index of a part in a list.
pub(super) fn index_of(selector: &Selector) -> Option<usize> {
    match selector {
        Selector::Key(key) => crate::plan::index(key),
        Selector::Index(index) => Some(*index),
        Selector::Each => None,
    }
}
