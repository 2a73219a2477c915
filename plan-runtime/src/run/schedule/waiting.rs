//! Steps that wait for a value from outside of the run.

use super::super::StepError;
use super::super::context::CallContext;
use super::super::report::Attempt;
use super::super::signals::{Inbox, Signals, Waiting};
use super::super::timer::Sleep;
use super::super::trace::Span;
use super::super::weights::CALL;
use super::body_state::{OutputSlot, ValueWait, WaitOutcome};
use super::task::CallState;
use super::{Schedule, Start};
use crate::error::Elements;
use crate::plan::{Await, Body, Plan, Role};
use std::future::poll_fn;
use std::sync::{Arc, PoisonError};
use std::task::Poll;

/// The number of a wait in events, since it is not a job.
const NO_JOB: usize = usize::MAX;

/// Whether a step waits for a value.
pub(super) fn waits_for_value(plan: &Plan, step: usize) -> bool {
    matches!(plan.steps[step].body, Body::Await(_))
}

impl<'x> Schedule<'x> {
    /// What sends values to the steps of the run, or of the plan that it is.
    pub(in crate::run) fn signals(&self) -> Signals {
        match (&self.outer, &self.run.options.inbox) {
            (Some(outer), _) => outer.signals(),
            (None, Some(inbox)) => Signals::new(Arc::clone(inbox), None),
            (None, None) => Signals::to_nobody(false),
        }
    }

    /// Starts the steps that wait for values. They are not calls, and need no place among those.
    #[inline]
    pub(super) fn start_waits(&mut self, start: Start<'_, 'x>) {
        while self.has_waits_to_start()
            && let Some(step) = self.next_waits.pop_first()
        {
            self.note_start(step);
            self.start_flow(step, start);
        }
    }

    /// Whether there is one.
    #[inline]
    pub(super) fn has_waits_to_start(&self) -> bool {
        !self.next_waits.is_empty()
            && self.ending.is_none()
            && !self.is_stopping()
            && self.interrupts.happened().is_none()
    }

    /// Begins to wait for a value.
    #[cold]
    pub(super) fn wait_for_value(
        &mut self,
        step: usize,
        wait: &'x Await,
        place: OutputSlot,
        frame: Option<usize>,
    ) {
        if !self.has_room(CALL) {
            let error = StepError::arguments(self.full());
            return self.fail(step, place, frame, error, 0);
        }
        self.hold(step, CALL);
        let now = self.clock.now();
        let element = self.flow(step).elements(place);
        let span = self.watch_attempt(step, NO_JOB);
        let outcome = WaitOutcome::default();
        let log = self.options.record.then(|| {
            self.held.add(size_of::<Attempt>());
            let log = &mut self.steps.more(step).log;
            log.push(Attempt::of_value(element.clone(), now));
            log.len() - 1
        });
        let flow = self.flow(step);
        flow.active += 1;
        flow.waits.push(ValueWait {
            place,
            frame,
            log,
            outcome: Arc::clone(&outcome),
            is_over: false,
        });
        let number = flow.waits.len() - 1;
        let Some(inbox) = self.inbox(step) else {
            let error = Err(StepError::NoSignals);
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            return self.end_wait(step, number, Some(&span));
        };
        let ending = self.recorded_wait(step, &element, wait, &outcome, || {
            let path = self.path(step, &element);
            let waiting = Waiting::new(inbox, path, wait.clone());
            ending(waiting, self.limit_of_wait(step), Arc::clone(&outcome))
        });
        let more = Some(CallState::receiving(span, ending));
        self.running.push((step, number), None, more, 0);
    }

    /// Where the values of a step come from. None come for what runs after the work.
    fn inbox(&self, step: usize) -> Option<Arc<Inbox>> {
        let is_last = |outer: &CallContext| outer.is_last();
        if self.plan.steps[step].role != Role::Work || self.outer.as_ref().is_some_and(is_last) {
            return None;
        }
        self.run.options.inbox.clone()
    }

    /// The path of a step, or of an element of it, in the whole run.
    pub(super) fn path(&self, step: usize, element: &[usize]) -> String {
        let mut path = String::new();
        if let Some(outer) = &self.outer {
            path = outer.path();
            path.push('.');
        }
        let step = &self.plan.steps[step].id;
        path + step + &Elements(element).to_string()
    }

    /// The first of the time limits of a step, each of which is for the whole wait, and its error.
    pub(super) fn limit_of_wait(&self, step: usize) -> Option<(Sleep, StepError)> {
        let policy = self.policy(step);
        let timeout = policy.timeout.map(|it| (it, StepError::Timeout(it)));
        let deadline = policy.deadline.map(|it| (it, StepError::Deadline(it)));
        let limits = timeout.into_iter().chain(deadline);
        let (limit, error) = limits.min_by_key(|(limit, _)| *limit)?;
        Some((self.clock.sleep(limit), error))
    }

    /// A wait has ended.
    #[cold]
    pub(super) fn received(&mut self, step: usize, number: usize, span: Option<&Span>) {
        if self.steps.flow(step).is_some() {
            self.end_wait(step, number, span);
            self.settle(step);
        }
    }

    fn end_wait(&mut self, step: usize, number: usize, span: Option<&Span>) {
        let flow = self.flow(step);
        let Some(wait) = flow.waits.get_mut(number) else {
            return;
        };
        let (place, frame, log) = (wait.place, wait.frame, wait.log);
        let mut outcome = wait.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(result) = outcome.take() else { return };
        drop(outcome);
        wait.is_over = true;
        flow.active -= 1;
        let result = match result {
            Ok(sent) if !self.has_room(sent.bytes) => Err(self.no_room()),
            result => result,
        };
        self.watch_tried(step, NO_JOB, result.as_ref().err(), span);
        let now = self.clock.now();
        if let Some(attempt) = self.logged(step, log) {
            attempt.end(now, result.as_ref().err());
        }
        match result {
            Ok(sent) => {
                self.hold(step, sent.bytes);
                self.flow(step).made += sent.bytes;
                self.deliver(step, place, frame, sent.value.clone());
            }
            Err(error) => self.fail(step, place, frame, error, 1),
        }
    }

    /// Waits no more for the values of a step. Whether it did.
    pub(super) fn drop_waits(&mut self, step: usize) -> bool {
        let flow = self.flow(step);
        let open = flow.waits.iter_mut().filter(|wait| !wait.is_over);
        let count = open.map(|wait| wait.is_over = true).count();
        if count == 0 {
            return false;
        }
        flow.active -= count;
        self.abandon(|task| task.step == step && task.receives());
        true
    }
}

/// Ends with the value, or when no more can come, or at the time limit.
fn ending(waiting: Waiting, mut limit: Option<(Sleep, StepError)>, outcome: WaitOutcome) -> Sleep {
    let has_limit = limit.is_some();
    Box::pin(async move {
        let result = poll_fn(|cx| {
            if let Poll::Ready(sent) = waiting.poll(cx, has_limit) {
                return Poll::Ready(sent.ok_or(StepError::NoSignals));
            }
            match &mut limit {
                Some((sleep, error)) => sleep.as_mut().poll(cx).map(|()| Err(error.clone())),
                None => Poll::Pending,
            }
        });
        let result = result.await;
        *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    })
}
