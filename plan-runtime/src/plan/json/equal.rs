//! Equality of plans: equal plans have equal JSON, apart from the notation of their references.

use super::write::InPlan;
use crate::plan::{Plan, Reference, Template};
use serde::Serialize;

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (InPlan::new(self, self), InPlan::new(other, other));
        have_equal_json(a.without_notation(), b.without_notation())
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        have_equal_json(self, other)
    }
}

impl PartialEq for Reference {
    fn eq(&self, other: &Self) -> bool {
        have_equal_json(self, other)
    }
}

/// Returns `true` if both parts have JSON, and equal JSON.
fn have_equal_json(a: impl Serialize, b: impl Serialize) -> bool {
    let json = serde_json::to_string(&a).ok();
    json.is_some() && json == serde_json::to_string(&b).ok()
}
