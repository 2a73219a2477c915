//! The compile-time choice for warnings about effects without an order. `plan-macros/src/expand/unordered.rs` describes the warnings.

use crate::Tool;

/// Returns `true` if the tool is not read-only.
pub const fn may_change<T: Tool>() -> bool {
    !T::READ_ONLY
}

/// Selects one of two types.
pub struct Select<const FIRST: bool>;

/// The type that [`Select`] selects.
pub trait Selected<First, Second> {
    /// The selected type.
    type Type;
}

impl<First, Second> Selected<First, Second> for Select<true> {
    type Type = First;
}

impl<First, Second> Selected<First, Second> for Select<false> {
    type Type = Second;
}
