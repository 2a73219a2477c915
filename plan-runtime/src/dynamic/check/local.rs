//! A local value, which a `for` or a pattern binds.

use super::path::Given;
use crate::plan::Bound;

/// A local value, with those around it.
pub(super) struct Local<'a, 'c> {
    pub(super) given: Given<'a>,
    pub(super) pattern: &'a str,
    pub(super) bound: Bound,
    /// The number of enclosing local values.
    pub(super) depth: usize,
    pub(super) around: Option<&'c Self>,
}
