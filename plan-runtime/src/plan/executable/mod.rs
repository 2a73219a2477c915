//! Checked plans, with all the data that their runs need.

mod check;
mod graph;
mod template;

pub(crate) use graph::{Converted, Graph, number};

use super::Plan;
use std::sync::Arc;

/// A plan with all the data that its runs need: the dependencies of each step, and the reason if the plan cannot run.
///
/// Each run of a [`Plan`] creates an `Executable`. If a plan runs often, create it once, so that the plan is checked only once.
/// A `plan!` and a [`Document`](crate::dynamic::Document) store their `Executable`.
///
/// A plan that was built in Rust may be invalid. Then [`mistake`](Self::mistake) returns the reason, and each run fails with that
/// message.
///
/// ```
/// use plan_runtime::plan::{Action, Executable, Step, Template};
/// use plan_runtime::Plan;
///
/// let mut plan = Plan::new("hello");
/// plan.steps = vec![Step::new("sent", Action::call("send", Template::Null))];
/// assert_eq!(Executable::new(&plan).mistake(), None);
///
/// plan.steps[0].after = vec![0];
/// assert_eq!(Executable::new(&plan).mistake(), Some("steps wait for each other: `sent` → `sent`"));
/// ```
#[derive(Clone, Debug)]
pub struct Executable<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) graph: Checked,
    /// `true` for the plan of a `plan!`, which a compiler has checked and its author has read.
    pub(crate) is_source: bool,
}

/// The graph of a plan, or the reason why the plan cannot run.
pub(crate) type Checked = Result<Arc<Graph>, Arc<str>>;

impl<'p> Executable<'p> {
    /// Checks a plan.
    pub fn new(plan: &'p Plan) -> Self {
        let graph = Graph::checked(plan);
        Self {
            plan,
            graph,
            is_source: false,
        }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// Returns the reason why the plan cannot run: for example, a reference to a missing step or input, a dependency cycle, or two
    /// steps with one ID. Returns `None` for a plan that can run.
    pub fn mistake(&self) -> Option<&str> {
        self.graph.as_ref().err().map(|mistake| &**mistake)
    }
}

impl<'p> From<&'p Plan> for Executable<'p> {
    fn from(plan: &'p Plan) -> Self {
        Self::new(plan)
    }
}

impl<'p> From<&Executable<'p>> for Executable<'p> {
    fn from(plan: &Executable<'p>) -> Self {
        plan.clone()
    }
}
