//! The amounts of policies that inputs give.

use super::super::StepError;
use super::super::making::{part, take};
use super::Schedule;
use crate::plan::Policy;
use crate::resolve::ResolveError;
use std::sync::Arc;

impl Schedule<'_> {
    /// The policy of a step, with the amounts that it was given when it started.
    pub(super) fn policy(&self, step: usize) -> &Arc<Policy> {
        let given = self.steps.more_of(step);
        let given = given.and_then(|more| more.policy.as_ref());
        given.unwrap_or(&self.plan.steps[step].policy)
    }

    /// Resolves the amounts of a policy that are given when the step starts.
    pub(super) fn take_amounts(&mut self, step: usize) -> Result<(), StepError> {
        let policy = &self.plan.steps[step].policy;
        if policy.given.is_empty() {
            return Ok(());
        }
        let mut resolved = (**policy).clone();
        for (amount, template) in &policy.given {
            let (taken, _) = self.metered(|scope| take(&mut resolved, *amount, template, scope))?;
            taken.map_err(|error| {
                self.hushed(step, StepError::arguments(error.of_part(part(*amount))))
            })?;
        }
        let is_given = |asked| policy.gives(asked).is_some();
        let named = &policy.named;
        let is_asked = |asked| is_given(asked) || named.iter().any(|(amount, _)| *amount == asked);
        if let Some((amount, why)) = resolved.contradiction(is_asked) {
            let error = ResolveError::new(format!("it is {why}")).of_part(part(amount));
            return Err(self.hushed(step, StepError::arguments(error)));
        }
        self.steps.more(step).policy = Some(Arc::new(resolved));
        Ok(())
    }
}
