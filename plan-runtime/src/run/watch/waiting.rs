//! The starts and ends of waits.

use super::super::report::{WaitReason, WaitReport};
use super::Watch;
use super::log::{Spot, StepLog};
use std::time::Duration;

impl Watch<'_> {
    /// Records the start of a wait. A wait for the reason of the open wait continues that wait. Returns `true` for a new wait in the report.
    pub(in crate::run) fn wait(
        &mut self,
        spot: Spot,
        element: Vec<usize>,
        reason: WaitReason,
        now: Duration,
    ) -> bool {
        let Some((step, began)) = self.reported(spot) else {
            return false;
        };
        let wait = WaitReport {
            element,
            reason,
            started: now.saturating_sub(began),
            ended: None,
        };
        step.waits.begin(spot.element, wait)
    }

    /// Records the end of a wait, if a wait is open.
    pub(in crate::run) fn waited(&mut self, spot: Spot, now: Duration) {
        if let Some((step, began)) = self.reported(spot) {
            step.waits.end(spot.element, now.saturating_sub(began));
        }
    }

    /// Records the end of a wait for an answer, which began at the time `since` or later.
    pub(in crate::run) fn answered(&mut self, spot: Spot, since: Duration, now: Duration) {
        if let Some((step, began)) = self.reported(spot) {
            step.waits
                .shorten(spot.element, since.saturating_sub(began));
            step.waits.end(spot.element, now.saturating_sub(began));
        }
    }

    /// Returns the log of a step for the report, and the start of its scope.
    fn reported(&mut self, spot: Spot) -> Option<(&mut StepLog, Duration)> {
        if !self.keeps.report {
            return None;
        }
        let log = self.logs.log_mut(spot.scope)?;
        let began = log.began;
        Some((log.steps.get_mut(spot.step)?, began))
    }

    /// Turns an attempt that was not made into a wait for an answer.
    pub(in crate::run) fn withdraw(&mut self, spot: Spot) {
        let Some(step) = self.logs.step(spot.scope, spot.step) else {
            return;
        };
        let Some(attempt) = step.open.remove(&spot.element) else {
            return;
        };
        if let Some(kept) = attempt.log.and_then(|at| step.attempts.get_mut(at)) {
            kept.attempt.withdraw();
        }
        let element = attempt.begun.element;
        self.wait(spot, element, WaitReason::Answer, attempt.started);
    }
}
