//! The events for observers and the subscriber of `tracing`.

use super::super::catch::catch;
use super::super::report::Totals;
use super::super::{Status, StepError};
use super::log::{Logs, NewAttempt, OpenAttempt, ScopeLog, Spot};
use super::observe::{Observer, Observers, StepRef};
use super::trace::{self, Span};
use crate::machine::ScopeId;
use crate::plan::ToolInfo;
use std::time::Duration;

/// Notifies the subscriber of `tracing`. The subscriber may panic, and so may the errors of tools that it writes.
pub(super) fn quietly<T>(instead: impl FnOnce() -> T, tell: impl FnOnce() -> T) -> T {
    catch(tell).unwrap_or_else(|_| instead())
}

impl ScopeLog<'_> {
    fn whole(&self, step: usize) -> StepRef<'_> {
        let path = self.path.as_ref();
        StepRef::whole(self.plan, step, path.map(|path| path as _))
    }

    fn element<'e>(&'e self, step: usize, element: &'e [usize]) -> StepRef<'e> {
        self.part(step, element, self.plan.steps[step].tool())
    }

    pub(super) fn part<'e>(
        &'e self,
        step: usize,
        element: &'e [usize],
        tool: Option<&'e ToolInfo>,
    ) -> StepRef<'e> {
        StepRef {
            element,
            tool,
            ..self.whole(step)
        }
    }
}

/// Returns `true` if an observer or a subscriber of `tracing` receives the events of a run.
pub(in crate::run) fn is_heard(observers: &Observers) -> bool {
    observers.listen() || trace::is_on()
}

/// The observers of a run, and the subscriber of `tracing`.
pub(in crate::run) struct Listeners {
    pub(super) observers: Observers,
    /// `true` if an observer or a subscriber listens.
    pub(super) is_heard: bool,
}

impl Listeners {
    /// Checks for listeners, since subscribers of `tracing` may change while the run waits.
    pub(in crate::run) fn look(&mut self) {
        self.is_heard = is_heard(&self.observers);
    }

    /// Returns the log of a scope, if an observer or a subscriber receives its events.
    fn told<'l, 'x>(&self, logs: &'l Logs<'x>, scope: ScopeId) -> Option<&'l ScopeLog<'x>> {
        logs.log(scope).filter(|_| self.is_heard)
    }

    /// Notifies the observers of an event in a scope, if there are any.
    fn tell(&self, logs: &Logs<'_>, scope: ScopeId, tell: impl Fn(&ScopeLog<'_>, &dyn Observer)) {
        if let Some(log) = self.told(logs, scope) {
            self.observers.tell(|observer| tell(log, observer));
        }
    }

    pub(super) fn open(&self, logs: &Logs<'_>, scope: ScopeId) {
        self.tell(logs, scope, |log, observer| {
            if log.path.is_none() {
                observer.plan_started(log.plan);
            }
            for (place, step) in log.steps.iter().enumerate() {
                if step.needs == 0 {
                    observer.step_ready(&log.whole(place));
                }
            }
        });
    }

    pub(super) fn ready(&self, logs: &Logs<'_>, scope: ScopeId, step: usize) {
        self.tell(logs, scope, |log, observer| {
            observer.step_ready(&log.whole(step));
        });
    }

    pub(super) fn start(&self, logs: &Logs<'_>, scope: ScopeId, step: usize, was_ready: bool) {
        self.tell(logs, scope, |log, observer| {
            if !was_ready {
                observer.step_ready(&log.whole(step));
            }
            observer.step_started(&log.whole(step));
        });
    }

    /// Reports a list that a step, or an element of a step, iterates over.
    pub(super) fn list(&self, logs: &Logs<'_>, spot: Spot, element: &[usize], length: usize) {
        self.tell(logs, spot.scope, |log, observer| {
            observer.list_started(&log.element(spot.step, element), length);
        });
    }

    pub(super) fn element(&self, logs: &Logs<'_>, spot: Spot, element: &[usize]) {
        self.tell(logs, spot.scope, |log, observer| {
            observer.element_finished(&log.element(spot.step, element));
        });
    }

    /// Returns the span of an attempt.
    pub(super) fn span_of(&self, logs: &Logs<'_>, spot: Spot, begun: &NewAttempt) -> Span {
        let Some(log) = self.told(logs, spot.scope) else {
            return Span::none();
        };
        let part = log.part(spot.step, &begun.element, begun.tool.as_deref());
        quietly(Span::none, || Span::attempt(&log.span, &part, begun.number))
    }

    pub(super) fn begun(&self, logs: &Logs<'_>, spot: Spot) {
        self.tell(logs, spot.scope, |log, observer| {
            if let Some(OpenAttempt { begun, .. }) = log.steps[spot.step].open.get(&spot.element) {
                let part = log.part(spot.step, &begun.element, begun.tool.as_deref());
                observer.attempt_started(&part, begun.number);
            }
        });
    }

    pub(super) fn end(
        &self,
        logs: &Logs<'_>,
        spot: Spot,
        attempt: &OpenAttempt,
        error: Option<&StepError>,
        now: Duration,
    ) {
        let Some(log) = self.told(logs, spot.scope) else {
            return;
        };
        quietly(|| (), || attempt.span.outcome(error));
        let begun = &attempt.begun;
        let part = log.part(spot.step, &begun.element, begun.tool.as_deref());
        let took = now.saturating_sub(attempt.started);
        self.observers.tell(|observer| match error {
            None => observer.attempt_completed(&part, begun.number, took),
            Some(error) => observer.attempt_failed(&part, begun.number, error, took),
        });
    }

    /// Reports the wait before a further attempt.
    pub(in crate::run) fn retry(
        &self,
        logs: &Logs<'_>,
        spot: Spot,
        (element, attempt): (&[usize], u32),
        tool: Option<&ToolInfo>,
        wait: Duration,
    ) {
        let Some(log) = self.told(logs, spot.scope) else {
            return;
        };
        let part = log.part(spot.step, element, tool);
        quietly(|| (), || log.span.retrying(&part, attempt, wait));
        self.observers
            .tell(|observer| observer.retrying(&part, attempt, wait));
    }

    pub(super) fn settled(&self, logs: &Logs<'_>, scope: ScopeId, step: usize, by: Option<usize>) {
        let Some(log) = self.told(logs, scope) else {
            return;
        };
        let (whole, it) = (log.whole(step), &log.steps[step]);
        let status = it.status(false);
        quietly(|| (), || log.span.step(&whole, status.name()));
        self.observers.tell(|observer| match (&status, by) {
            (Status::Skipped, _) => observer.step_skipped(&whole),
            (Status::Blocked { .. }, Some(by)) => {
                observer.step_blocked(&whole, &log.plan.steps[by]);
            }
            _ => {
                let (started, ended) = (it.started.unwrap_or_default(), it.ended);
                let took = ended.unwrap_or_default().saturating_sub(started);
                observer.step_finished(&whole, &status, took);
            }
        });
    }

    pub(super) fn over(&self, logs: &Logs<'_>, scope: ScopeId, totals: &Totals) {
        let Some(log) = self.told(logs, scope) else {
            return;
        };
        let took = log.took.unwrap_or_default();
        quietly(|| (), || log.span.finished(totals, took));
        if log.path.is_none() {
            self.observers
                .tell(|observer| observer.plan_finished(log.plan, totals, took));
        }
    }
}
