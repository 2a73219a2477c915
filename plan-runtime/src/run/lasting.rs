//! The parts of idempotency keys that are not places of calls.

use super::context::CallContext;
use super::durable::Segment;
use super::hash::StableHasher;
use crate::plan::Plan;
use crate::resolve::StoredValue;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::sync::Arc;

/// The counts of undone steps, by the lasting paths of the steps.
pub(crate) type Undone = BTreeMap<String, u32>;

/// The path of the run itself in [`Undone`]. Its count says how often the run was retried.
pub(crate) const RUN: &str = "";

/// The path of a call, with the counts of the parts that were undone.
#[derive(Clone)]
pub(super) struct LastingPaths {
    /// A path that all attempts of the call share, and all attempts of the plans and blocks around the call.
    pub(super) all: String,
    /// A path for this attempt alone.
    pub(super) this: String,
}

/// Returns the name of a plan that a tool runs inside its call. A tool may run plans in any order, and in another order when the tool is called again. So the names of the plans and their
/// inputs tell the plans apart. Plans with equal names and inputs are told apart by their order.
pub(super) fn beside(outer: &CallContext, plan: &Plan, inputs: &[StoredValue]) -> Arc<str> {
    let mut hasher = StableHasher::new();
    for input in inputs {
        // A value that JSON cannot hold fails where a step reads the value.
        if let Ok(json) = input.as_json() {
            hasher.json(json);
        }
        hasher.text(",");
    }
    let name = Segment(&plan.name);
    outer.beside(format!("#{name}-{:016x}", hasher.finish()))
}
