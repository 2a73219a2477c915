//! The plan behind a tool.

use super::Plan;
use std::fmt;
use std::ops::Deref;

/// The plan behind a tool, if the tool is a plan. The name of the tool determines the plan, so all values of this type
/// are equal.
#[derive(Clone, Copy, Default)]
pub(crate) struct InnerPlan(Option<&'static AnyPlan>);

type AnyPlan = dyn Deref<Target = Plan> + Send + Sync;

impl InnerPlan {
    pub(crate) fn of<P: Deref<Target = Plan> + Send + Sync>(plan: Option<&'static P>) -> Self {
        Self(plan.map(|plan| plan as &AnyPlan))
    }

    /// Returns `true` if the tool is a plan, without creating the plan.
    pub(crate) fn is_some(self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn plan(self) -> Option<&'static Plan> {
        self.0.map(|plan| &**plan)
    }
}

impl PartialEq for InnerPlan {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for InnerPlan {}

impl fmt::Debug for InnerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.is_some())
    }
}
