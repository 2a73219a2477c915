//! The lasting paths of calls for idempotency keys: paths with the number of times that each part was undone.

use std::collections::BTreeMap;

/// The counts of undone steps, by the lasting paths of the steps.
pub(crate) type Undone = BTreeMap<String, u32>;

/// The path of the run itself in [`Undone`], whose count is the number of retries of the run.
pub(crate) const RUN: &str = "";

/// The path of a call, with the counts of the parts that were undone.
#[derive(Clone)]
pub(super) struct LastingPaths {
    /// A path that all attempts of the call share, and all attempts of the plans and blocks around the call.
    pub(super) all: String,
    /// A path for this attempt alone.
    pub(super) this: String,
}
