//! Recorded calls that a resumed run has not reached.

use super::super::super::durable::Segment;
use super::super::scene::Scene;
use crate::error::elements;
use crate::machine::{MachineView, Outlook, ScopeId, opened};

impl Scene<'_> {
    /// Lets a call start beyond the bounds if a recorded call waits for a permit. Returns `true` if a call may start, and the key of a recorded effect that the
    /// run can no longer reach.
    ///
    /// A recorded failure comes before the undo steps that follow it, so a call that is ready counts first.
    pub(in super::super) fn reach(&mut self, untaken: &[(String, bool)]) -> Result<bool, String> {
        let mut lost = None;
        for (key, has_effect) in untaken {
            match outlook(self, key) {
                Outlook::Ready => {
                    self.loosen(self.machine.extra() + 1);
                    return Ok(self.machine.first().is_some());
                }
                Outlook::Ended if *has_effect => lost = lost.or(Some(key)),
                Outlook::Open | Outlook::Ended => {}
            }
        }
        lost.map_or(Ok(false), |key| Err(key.clone()))
    }

    /// Lets this number of calls start beyond the bounds.
    pub(in super::super) fn loosen(&mut self, extra: u32) {
        let before = self.machine.extra();
        if extra == before {
            return;
        }
        self.machine.loosen(extra);
        let permits = &self.run.permits;
        permits.take_back(before.saturating_sub(extra) as usize);
        permits.give_back(extra.saturating_sub(before) as usize);
    }
}

/// Returns whether the run may still reach the call with this key.
fn outlook(scene: &Scene<'_>, mut key: &str) -> Outlook {
    let (machine, mut scope) = (scene.machine.view(), ScopeId::ROOT);
    loop {
        let steps = &scene.values.scope(scope).plan.steps;
        let mut steps = steps.iter().enumerate();
        let found = steps.find_map(|(place, step)| {
            let rest = key.strip_prefix(&*Segment(&step.id).to_string())?;
            let is_its = rest.starts_with(['@', '[', '?', '!']);
            is_its.then_some((place, rest))
        });
        let Some((step, rest)) = found else {
            return Outlook::Ended;
        };
        let outlook = Outlook::of(machine, scope, step);
        match inside(machine, (scope, step), rest) {
            Some(inner) if outlook == Outlook::Open => (scope, key) = inner,
            _ => return outlook,
        }
    }
}

/// Returns the open scope of a step whose key has this rest, and the key inside the scope.
fn inside<'k>(
    machine: MachineView<'_>,
    step: (ScopeId, usize),
    rest: &'k str,
) -> Option<(ScopeId, &'k str)> {
    let (element, rest) = elements(rest)?;
    let (attempt, inside) = rest.strip_prefix('@')?.split_once('.')?;
    let scope = opened(machine, step, &element, attempt.parse().ok()?)?;
    Some((scope, inside))
}
