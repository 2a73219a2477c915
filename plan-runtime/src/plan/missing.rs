//! The tools that a plan calls and that the application or toolbox lacks.

use super::{Plan, ToolInfo};
use crate::print::some_of;
use std::any::TypeId;
use std::collections::{HashMap, HashSet};

/// The match of a tool in an application or a toolbox.
pub(crate) enum Has {
    /// The tool.
    Tool,
    /// All or some tools of this plan, since the tool is a plan.
    Plan(&'static Plan),
    /// No match for the name. Tools with one name are one tool, unless their types differ.
    NoName,
    /// No match for this type.
    NoType(Option<TypeId>),
}

/// A tool that is missing, and the paths of the steps that call it.
pub(crate) struct MissingTool<'p> {
    pub(crate) tool: &'p ToolInfo,
    pub(crate) steps: Vec<String>,
}

impl MissingTool<'_> {
    /// Writes "step `a` calls", or "steps `a` and `b` call".
    pub(crate) fn callers(&self) -> String {
        let steps = some_of(&self.steps);
        match self.steps.len() {
            1 => format!("step {steps} calls"),
            _ => format!("steps {steps} call"),
        }
    }
}

/// Returns the missing tools of a plan, each once, in the order of the calls. Each plan inside is visited once.
pub(crate) fn missing_tools<'p>(
    plan: &'p Plan,
    has: &dyn Fn(&'p ToolInfo) -> Has,
) -> Vec<MissingTool<'p>> {
    let mut search = MissingSearch {
        has,
        seen: HashSet::new(),
        places: HashMap::new(),
        found: Vec::new(),
    };
    search.plan(plan, "");
    search.found
}

struct MissingSearch<'s, 'p> {
    has: &'s dyn Fn(&'p ToolInfo) -> Has,
    /// The visited plans.
    seen: HashSet<*const Plan>,
    /// The index of a tool in `found`.
    places: HashMap<(&'p str, Option<TypeId>), usize>,
    found: Vec<MissingTool<'p>>,
}

impl<'p> MissingSearch<'_, 'p> {
    fn plan(&mut self, plan: &'p Plan, around: &str) {
        if !self.seen.insert(plan) {
            return;
        }
        plan.calls(&mut |tool, path| {
            let path = format!("{around}{path}");
            let of = match (self.has)(tool) {
                Has::Tool => return,
                Has::Plan(inner) => return self.plan(inner, &format!("{path}.")),
                Has::NoName => None,
                Has::NoType(of) => of,
            };
            let found = &mut self.found;
            let place = *self.places.entry((&tool.name, of)).or_insert_with(|| {
                found.push(MissingTool {
                    tool,
                    steps: Vec::new(),
                });
                found.len() - 1
            });
            let steps = &mut found[place].steps;
            if steps.last() != Some(&path) {
                steps.push(path);
            }
        });
    }
}
