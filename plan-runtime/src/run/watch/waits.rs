//! The waits of calls and of `await` steps.

use super::super::report::{WaitReason, WaitReport};
use super::Watch;
use super::log::{Spot, StepLog};
use std::collections::BTreeMap;
use std::time::Duration;

/// The waits of a step. Times count from the start of the scope.
#[derive(Default)]
pub(super) struct Waits {
    ended: Vec<WaitReport>,
    /// The waits that have not ended, by elements.
    open: BTreeMap<u32, WaitReport>,
}

impl Waits {
    fn begin(&mut self, element: u32, wait: WaitReport) {
        self.end(element, wait.started);
        let continues = |last: &mut WaitReport| {
            last.reason == wait.reason
                && last.element == wait.element
                && last.ended == Some(wait.started)
        };
        let wait = self.ended.pop_if(continues).unwrap_or(wait);
        self.open.insert(element, wait);
    }

    pub(super) fn end(&mut self, element: u32, now: Duration) {
        if let Some(wait) = self.open.remove(&element)
            && wait.started < now
        {
            self.ended.push(WaitReport {
                ended: Some(now),
                ..wait
            });
        }
    }

    pub(super) fn end_all(&mut self, now: Duration) {
        while let Some((&element, _)) = self.open.first_key_value() {
            self.end(element, now);
        }
    }

    /// Returns `true` if all open calls, of these elements, wait for answers or values from outside.
    pub(super) fn are_all<'e>(&self, mut open: impl Iterator<Item = &'e u32>) -> bool {
        let mut waits = self.open.values();
        !self.open.is_empty()
            && waits.all(|wait| wait.reason.is_outside())
            && open.all(|element| self.open.contains_key(element))
    }

    /// Returns all waits. The waits that have not ended come last.
    pub(super) fn take(self) -> Vec<WaitReport> {
        let mut all = self.ended;
        all.extend(self.open.into_values());
        all
    }
}

impl Watch<'_> {
    /// Records the start of a wait. A wait for the reason of the open wait continues that wait.
    pub(in crate::run) fn wait(
        &mut self,
        spot: Spot,
        element: Vec<usize>,
        reason: WaitReason,
        now: Duration,
    ) {
        let Some((step, began)) = self.reported(spot) else {
            return;
        };
        let open = step.waits.open.get(&spot.element);
        if open.is_none_or(|open| open.reason != reason) {
            let wait = WaitReport {
                element,
                reason,
                started: now.saturating_sub(began),
                ended: None,
            };
            step.waits.begin(spot.element, wait);
        }
    }

    /// Records the end of a wait, if a wait is open.
    pub(in crate::run) fn waited(&mut self, spot: Spot, now: Duration) {
        if let Some((step, began)) = self.reported(spot) {
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
