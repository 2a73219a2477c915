//! The data of a checked plan.

use crate::machine::{BadNodes, Tables};
use crate::plan::masked::without_secrets;
use crate::plan::{CalledTools, Handing, Plan, Role, Secrecy, Template};
use plan_graph::Graph as Edges;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The data of a plan for its runs, in a few flat lists. Step numbers have 32 bits, so that more of the graph fits a
/// cache.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// For each step, its dependencies.
    pub(super) needs: Edges,
    /// For each step, the dependencies that it reads. `None` if each step reads all its dependencies, as in nearly all
    /// plans.
    pub(super) reads: Option<Edges>,
    /// For each step, its dependents, computed for the first run with listeners.
    dependents: OnceLock<Edges>,
    /// For each step, the number of readers of its output. The plan's own output counts as a reader.
    pub(crate) readers: Vec<u32>,
    /// For each step, the number of its first action. Actions are numbered over the whole plan, in the order of their notation.
    pub(crate) actions: Vec<u32>,
    /// For each step, `true` if it is a single call with one attempt, without a time limit, in the plan's work.
    pub(crate) simple: Vec<bool>,
    /// The steps that run once the work has ended, if there are any.
    pub(crate) last: Option<Box<LastSteps>>,
    /// `true` if a part lacks its code from `plan!`.
    pub(crate) lacks_code: bool,
    /// `true` if a step waits for a value from outside.
    pub(crate) has_waits: bool,
    /// The paths of the waiting steps, with those of plans inside, computed at the first use.
    pub(crate) awaited: OnceLock<Box<[String]>>,
    /// The secrets of the plan, if it has any.
    pub(crate) secrecy: Option<Arc<Secrecy>>,
    /// The blocks of its steps, by their numbers, if there are any.
    pub(crate) blocks: Option<HashMap<u32, Arc<Self>>>,
    /// The number of actions and blocks in the plan, including the content of blocks.
    pub(crate) count: usize,
    /// The plan itself, for the reports of its runs.
    shared: OnceLock<Arc<Plan>>,
    /// The plan as JSON, for the journals of its callers.
    document: OnceLock<Arc<str>>,
    /// The values to hand over, computed for the first run of a `plan!`.
    handing: OnceLock<Option<Arc<Handing>>>,
    /// The tools that the plan calls, computed at the first use.
    called: OnceLock<Arc<CalledTools>>,
    /// The tables of the plan for the machine, once a run has made them; and the tables of runs whose driver decides when calls start.
    tables: [OnceLock<Result<Arc<Converted>, BadNodes>>; 2],
}

/// The tables of a plan for the machine.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) tables: Arc<Tables>,
    /// The plans in the order of the machine's list of plans: the address of each plan, and the label of its first step.
    pub(crate) plans: Vec<(usize, u32)>,
}

/// The steps that run once the work of a plan has ended.
#[derive(Debug, Default)]
pub(crate) struct LastSteps {
    /// For each step, its undo step.
    pub(crate) undone_by: Vec<Option<u32>>,
    /// The always steps, each with the always steps that it waits for.
    pub(crate) always: Vec<(u32, Vec<u32>)>,
    /// The steps whose outputs the undo steps and always steps read.
    pub(crate) seen: Vec<u32>,
}

impl Graph {
    /// Returns the plan as JSON.
    pub(crate) fn document(&self, plan: &Plan) -> serde_json::Result<Arc<str>> {
        if let Some(document) = self.document.get() {
            return Ok(Arc::clone(document));
        }
        let document = serde_json::to_string(plan)?;
        Ok(Arc::clone(self.document.get_or_init(|| document.into())))
    }

    /// Returns the dependencies of each step of the work.
    pub(crate) fn needs(&self) -> &Edges {
        &self.needs
    }

    /// Returns the dependents of each step of the work.
    pub(crate) fn dependents(&self) -> &Edges {
        self.dependents.get_or_init(|| self.needs.reversed())
    }

    /// Returns the graph's plan without secrets, in one copy for all owners.
    pub(crate) fn shared(&self, plan: &Plan) -> Arc<Plan> {
        let copy = || Arc::new(without_secrets(plan).unwrap_or_else(|| plan.clone()));
        Arc::clone(self.shared.get_or_init(copy))
    }

    /// Returns the values to hand over in the graph's plan. `again` is the condition of a loop if the plan is a round, and `Some(None)` for any other
    /// block.
    pub(crate) fn handing(
        &self,
        plan: &Plan,
        block: Option<Option<&Template>>,
    ) -> Option<Arc<Handing>> {
        let of = || Handing::of(plan, block.is_some(), block.flatten());
        self.handing.get_or_init(of).clone()
    }

    /// Returns the tools that the plan of this graph calls.
    #[inline]
    pub(crate) fn called(&self, plan: &Plan) -> &Arc<CalledTools> {
        let of = || Arc::new(CalledTools::of(plan));
        self.called.get_or_init(of)
    }

    /// Returns the tables of the plan of which this graph was made.
    pub(crate) fn tables(
        &self,
        admits: bool,
        make: impl FnOnce() -> Result<Converted, BadNodes>,
    ) -> Result<Arc<Converted>, BadNodes> {
        let tables = &self.tables[usize::from(admits)];
        tables.get_or_init(|| make().map(Arc::new)).clone()
    }

    /// Returns the steps that each step reads.
    #[inline]
    pub(crate) fn reads(&self) -> &Edges {
        self.reads.as_ref().unwrap_or(&self.needs)
    }

    /// Returns `true` if steps of the plan, or of blocks in it, run after the end of the work.
    pub(crate) fn has_last(&self) -> bool {
        let mut blocks = self.blocks.iter().flat_map(HashMap::values);
        self.last.is_some() || blocks.any(|block| block.has_last())
    }

    /// Records an undo step or an always step, which needs the steps in `needs`.
    pub(super) fn keep_for_last(&mut self, plan: &Plan, place: usize, needs: &[usize]) {
        let last = self.last.get_or_insert_default();
        match plan.steps[place].role {
            Role::Work => {}
            Role::Undo(undone) => {
                last.undone_by.resize(plan.steps.len(), None);
                if let Some(by) = last.undone_by.get_mut(undone) {
                    *by = Some(number(place));
                }
            }
            Role::Always => {
                let is_always = |need: &&usize| {
                    plan.steps
                        .get(**need)
                        .is_some_and(|it| it.role == Role::Always)
                };
                let waits = needs.iter().filter(is_always).map(|need| number(*need));
                last.always.push((number(place), waits.collect()));
                last.seen.extend(needs.iter().map(|need| number(*need)));
            }
        }
    }
}

/// Converts a number of steps, actions or dependencies, which the limits keep below 2^32.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a graph has no more steps than that"
)]
#[inline]
pub(crate) fn number(steps: usize) -> u32 {
    steps as u32
}

#[cfg(test)]
mod tests {
    use crate::Plan;
    use crate::plan::{Action, Executable, Step, Template};
    use std::sync::Arc;

    #[test]
    fn the_json_of_a_plan_is_made_once() {
        let mut plan = Plan::new("p");
        plan.steps = vec![Step::new("s", Action::call("t", Template::Null))];
        let graph = Executable::new(&plan).graph.unwrap();
        let document = graph.document(&plan).unwrap();
        assert_eq!(&*document, serde_json::to_string(&plan).unwrap());
        assert!(Arc::ptr_eq(&document, &graph.document(&plan).unwrap()));
    }
}
