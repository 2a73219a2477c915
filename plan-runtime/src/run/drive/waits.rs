//! Waits for values from outside, and timers.

use super::super::StepError;
use super::super::engine::EngineFuture;
use super::super::signals::{Sent, Waiting};
use super::super::throttle::LONGEST_CLOSED;
use super::calls::Calls;
use super::recording::{timed, unlimit};
use super::task::{Of, Wait};
use crate::error::Elements;
use crate::machine::{CallId, Event, Part, Pause, ScopeId, StepPlace};
use crate::plan::{Await, Body, Role};
use crate::resolve::{bytes_of, settle};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl Calls<'_> {
    /// Begins to wait for a value.
    pub(super) fn wait(&mut self, call: CallId, place: StepPlace) {
        let scope = self.scene.machine.view().scope_of(place.slot);
        let slot = place.slot.index();
        let part = self.scene.machine.view().part(call);
        let part = part.expect("a wait that starts has a part");
        let (body, _) = self.scene.values.inside(scope, slot).bodies[part.body as usize];
        let of = Of {
            call,
            scope,
            part: Some(part),
        };
        if let Err(error) = self.scene.values.hold_call(slot) {
            return self.call_failed(of, error);
        }
        if let Err(error) = self.scene.watching().begin(&of, 1, None) {
            return self.call_failed(of, error);
        }
        let step = self.scene.values.place_of(scope, slot);
        let (Body::Await(wait), Some(path)) = (body, self.path_of_wait(scope, step, &part)) else {
            return self.call_failed(of, StepError::NoSignals);
        };
        let wait: &Await = wait;
        if let Some(engine) = &self.scene.run.engine {
            let received = received_by(engine.receive(&path), wait.clone());
            let wait = Wait::Elsewhere(Box::pin(received));
            return self.tasks.push_wait((call, scope), part, wait);
        }
        let Some(inbox) = self.scene.run.options.inbox.clone() else {
            return self.call_failed(of, StepError::NoSignals);
        };
        if let Some(records) = &self.records {
            let of = (scope, part);
            let receiving = records.receiving(&self.scene, of, (&inbox, &path, wait));
            let wait = Wait::Elsewhere(receiving);
            return self.tasks.push_wait((call, scope), part, wait);
        }
        let policy = self.scene.values.policy(scope, slot);
        let has_limit = policy.timeout.is_some() || policy.deadline.is_some();
        let waiting = Waiting::new(inbox, path, wait.clone());
        let wait = Wait::Value(waiting, has_limit);
        self.tasks.push_wait((call, scope), part, wait);
    }

    /// The path of a wait. Nothing can be sent to steps that run after the work.
    fn path_of_wait(&self, scope: ScopeId, step: usize, part: &Part) -> Option<String> {
        let it = self.scene.values.scope(scope);
        let outer = self.scene.outer(scope);
        let is_last = outer.is_some_and(|outer| outer.is_last());
        if it.plan.steps[step].role != Role::Work || is_last {
            return None;
        }
        let prefix = outer.map_or_else(String::new, |outer| outer.path() + ".");
        let element = self.scene.element(part);
        let element = Elements(&element);
        Some(format!("{prefix}{}{element}", it.plan.steps[step].id))
    }

    /// Starts a timer.
    pub(super) fn sleep(&mut self, timer: CallId, pause: Pause, place: StepPlace) {
        let scope = self.scene.machine.view().scope_of(place.slot);
        let slot = place.slot.index();
        let part = self.scene.machine.view().part(timer);
        let part = part.expect("a timer that starts has a part");
        if let Some(records) = &mut self.records
            && pause != Pause::Backoff
        {
            let of = (scope, part);
            return records
                .times
                .keep_timer(&mut self.scene, (timer, pause), of);
        }
        let policy = self.scene.values.policy(scope, slot);
        let time = match pause {
            Pause::Backoff => {
                if self.records.is_some() {
                    unlimit(&mut self.scene, &mut self.tasks, (scope, &part));
                }
                let mut wait = policy.wait_after(place.attempt - 1);
                if policy.jitter {
                    wait = wait.mul_f64(self.random.f64());
                }
                let timed = if self.records.is_some() {
                    timed(&mut self.scene, scope, &part)
                } else {
                    part.element
                };
                let inside = self.scene.values.inside(scope, slot);
                let deadline = inside.deadlines.get(&timed).copied();
                let view = self.scene.machine.view();
                let asked = view
                    .waits_after(timer)
                    .and_then(|failures| self.scene.errors.retry_delay(view, failures));
                let wait = wait.max(asked.unwrap_or_default().min(LONGEST_CLOSED));
                // An attempt that would start after the time limit is not waited for.
                if let Some((deadline, until)) = deadline
                    && self.scene.clock.now().saturating_add(wait) >= until
                {
                    self.drop_call(deadline);
                    return self.scene.machine.handle(Event::Fired(deadline));
                }
                self.scene.watching().retry(&part, wait);
                Some(wait)
            }
            Pause::Every => policy.every,
            Pause::Timeout => policy.timeout,
            Pause::Deadline => {
                let limit = policy.deadline.unwrap_or(Duration::MAX);
                let until = self.scene.clock.now().saturating_add(limit);
                let inside = self.scene.values.inside(scope, slot);
                inside.deadlines.insert(part.element, (timer, until));
                policy.deadline
            }
        };
        let time = time.unwrap_or_default();
        if time.is_zero() && matches!(pause, Pause::Backoff | Pause::Every) {
            return self.scene.machine.handle(Event::Fired(timer));
        }
        let sleep = match &self.records {
            None => self.scene.clock.sleep(time),
            Some(records) => {
                let of = (scope, &part);
                records.times.wait_before_attempt(&self.scene, of, time)
            }
        };
        self.tasks
            .push_wait((timer, scope), part, Wait::Timer(sleep, pause));
    }
}

/// Returns the value that an engine receives, as a value of the type that the wait has.
async fn received_by(value: EngineFuture<Value>, wait: Await) -> Result<Arc<Sent>, StepError> {
    let value = value.await;
    let value = match wait.receive(&value) {
        None => value,
        Some(received) => {
            let received =
                received.map_err(|why| StepError::output(serde::de::Error::custom(why)))?;
            settle(&value, received)
        }
    };
    let bytes = bytes_of(&value);
    Ok(Arc::new(Sent { value, bytes }))
}
