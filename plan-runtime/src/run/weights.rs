//! The bytes that the parts of a run count toward its limits, besides values.

use crate::Plan;

/// The bytes of a call with its attempts, of a block and of a wait, in steps that are more than a single call.
pub(super) const CALL: usize = 408;

/// The bytes of a list without its elements, and of each of its outputs.
pub(super) const LIST: (usize, usize) = (128, 32);

/// Returns the bytes of a block or a called plan without its values.
pub(super) fn of_scope(plan: &Plan) -> usize {
    plan.steps.len().saturating_mul(128).saturating_add(1_720)
}
