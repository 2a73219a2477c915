//! The undo steps that a question to the gates names, and the allowed calls that may be undone.

use super::super::task::Site;
use super::Admitting;
use crate::machine::ScopeId;
use crate::plan::Role;

impl Admitting<'_, '_> {
    /// Returns the names of the tools in the undo steps of a call: of its step, and of the steps around.
    pub(super) fn undone_by(&self, of: &Site) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (scope, step) in self.steps_around(of) {
            let plan = self.scene.values.scope(scope).plan;
            let undo = self.scene.machine.view().undo_of(scope, step);
            let actions = undo.map_or_else(Vec::new, |undo| plan.steps[undo].actions());
            for tool in actions.iter().filter_map(|action| action.tool.as_ref()) {
                if !names.contains(&tool.name) {
                    names.push(tool.name.clone());
                }
            }
        }
        names
    }

    /// Returns the path of the step that a call undoes, if gates have allowed a call of that step.
    pub(super) fn undoes(&self, of: &Site) -> Option<String> {
        self.steps_around(of).find_map(|(scope, step)| {
            let it = self.scene.values.scope(scope);
            let Role::Undo(undone) = it.plan.steps[step].role else {
                return None;
            };
            let is_allowed = it.allowed.contains(&undone);
            is_allowed.then(|| self.scene.path_around(scope) + &it.plan.steps[undone].id)
        })
    }

    /// Notes that gates have allowed a call.
    pub(super) fn note_allowed(&mut self, of: &Site) {
        let around: Vec<_> = self.steps_around(of).collect();
        for (scope, step) in around {
            let has_undo = self.scene.machine.view().undo_of(scope, step).is_some();
            let allowed = &mut self.scene.values.scope_mut(scope).allowed;
            if has_undo && !allowed.contains(&step) {
                allowed.push(step);
            }
        }
    }

    /// Returns the step of a call and the steps around it, from the inside to the outside.
    fn steps_around(&self, of: &Site) -> impl Iterator<Item = (ScopeId, usize)> + '_ {
        std::iter::successors(Some((of.scope, of.step)), |(scope, _)| {
            let owner = self.scene.values.scope(*scope).owner.as_ref()?;
            Some((owner.at.of.scope, owner.at.of.step))
        })
    }
}
