//! The failed steps that other steps need.

use super::ids::{ScopeId, StepId};
use super::state::MachineState;
use super::view::MachineView;
use std::collections::BTreeMap;

impl MachineState {
    /// Finds the blockers of the blocked steps of a scope whose work has ended.
    pub(super) fn find_blockers(&mut self, scope: ScopeId) {
        if self.scopes[scope].failures.len() > 1 {
            self.scopes[scope].blocked = self.view().blockers(scope);
        }
    }
}

impl MachineView<'_> {
    /// Returns the blocked steps of a scope, each with a failed step that it needs. If a step needs several failed steps, the result contains the
    /// failed step that is first in the plan. The order of the failures in time does not matter.
    pub(super) fn blockers(self, scope: ScopeId) -> BTreeMap<StepId, StepId> {
        let it = &self.0.scopes[scope];
        let mut blockers = BTreeMap::new();
        if it.blocked.is_empty() {
            return blockers;
        }
        for &by in it.failures.keys() {
            let mut open = vec![by];
            while let Some(step) = open.pop() {
                for &reader in self.0.tables.readers(step) {
                    if it.blocked.contains_key(&reader) && !blockers.contains_key(&reader) {
                        blockers.insert(reader, by);
                        open.push(reader);
                    }
                }
            }
        }
        blockers
    }
}
