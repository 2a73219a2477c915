//! The time limits of steps.

use super::super::StepError;
use super::super::clock::Clock;
use super::task::Of;
use super::values::Values;
use crate::machine::{CallId, Part, ScopeId};
use crate::plan::Body;
use std::time::Duration;

impl Values<'_> {
    /// The time that a call has left, and the error after that time.
    pub(super) fn limit_of_call(&self, of: &Of, now: Duration) -> Option<(Duration, StepError)> {
        let part = of.part?;
        self.limit(of.scope, &part, part.element, now)
    }

    /// The end of the time of an attempt that begins now, and the error after that.
    pub(super) fn limit_here(
        &self,
        clock: &Clock,
        scope: ScopeId,
        part: &Part,
    ) -> Option<(Duration, StepError)> {
        let policy = self.policy(scope, part.slot.index());
        let has_limit = policy.timeout.is_some() || policy.deadline.is_some();
        if !has_limit {
            return None;
        }
        let step = self.place_of(scope, part.slot.index());
        // All rounds of a loop share one deadline.
        let timed = match self.scope(scope).plan.steps[step].body {
            Body::Loop(_) => Part::WHOLE,
            _ => part.element,
        };
        let now = clock.now();
        let (left, error) = self.limit(scope, part, timed, now)?;
        Some((now.saturating_add(left), error))
    }

    /// The time of a step or of an element begins with its first attempt.
    pub(super) fn begin_time(&mut self, of: &Of, attempt: u32, started: impl FnOnce() -> Duration) {
        let Some(part) = of.part.filter(|_| attempt == 1) else {
            return;
        };
        let slot = part.slot.index();
        if let Some(limit) = self.policy(of.scope, slot).deadline {
            let until = started().saturating_add(limit);
            let inside = self.inside(of.scope, slot);
            inside.deadlines.insert(part.element, (CallId::NONE, until));
        }
    }

    /// The time that an attempt has left, and the error after that time. An element may share its time with others.
    pub(super) fn limit(
        &self,
        scope: ScopeId,
        part: &Part,
        timed: u32,
        now: Duration,
    ) -> Option<(Duration, StepError)> {
        let slot = part.slot.index();
        let policy = self.policy(scope, slot);
        let inside = self.step(slot);
        let until = inside.and_then(|inside| inside.deadlines.get(&timed));
        let left = until.map(|(_, until)| until.saturating_sub(now));
        let left = left.or(policy.deadline);
        match (policy.timeout, left) {
            (Some(timeout), left) if left.is_none_or(|left| timeout <= left) => {
                Some((timeout, StepError::Timeout(timeout)))
            }
            (_, Some(left)) => Some((left, StepError::Deadline(policy.deadline.unwrap_or(left)))),
            (_, None) => None,
        }
    }
}

/// Returns the error of a value whose time was over before it was made.
pub(super) fn late(error: StepError, limit: Option<(Duration, StepError)>) -> StepError {
    match limit {
        Some((_, late)) if error.is_interrupted() => late,
        _ => error,
    }
}
