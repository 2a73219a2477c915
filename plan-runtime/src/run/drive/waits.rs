//! Waits for values from outside, timers, and the time limits of steps.

use super::super::StepError;
use super::super::clock::Clock;
use super::super::engine::EngineFuture;
use super::super::report::WaitReason;
use super::super::signals::{Sent, Waiting};
use super::super::throttle::LONGEST_CLOSED;
use super::calls::Calls;
use super::scene::Scene;
use super::task::{Site, Wait};
use super::values::Values;
use crate::error::Elements;
use crate::machine::{CallId, Event, Part, Pause, StepPlace};
use crate::plan::{Await, Body, Policy, Role};
use crate::resolve::{bytes_of, settle};
use serde_json::Value;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

impl Calls<'_> {
    /// Begins to wait for a value.
    pub(super) fn wait(&mut self, call: CallId, place: StepPlace) {
        let of = self.scene.of(call, place);
        match self.wait_for(&of) {
            Ok(wait) => self.tasks.push_wait(of, wait),
            Err(error) => self.call_failed(of, error),
        }
    }

    fn wait_for(&mut self, of: &Site) -> Result<Wait, StepError> {
        let scene = &mut self.scene;
        let (body, _) = scene.values.body(of);
        scene.values.hold_call(of.slot())?;
        scene.tell(|it| it.begin(of)).transpose()?;
        scene.tell(|it| it.wait(of, WaitReason::Value));
        let (Body::Await(wait), Some(path)) = (body, path_of_wait(scene, of)) else {
            return Err(StepError::NoSignals);
        };
        let wait: &Await = wait;
        if let Some(engine) = &scene.run.engine {
            let received = received_by(engine.receive(&path), wait.clone());
            return Ok(Wait::Value(Box::pin(received)));
        }
        let inbox = scene.run.inbox.clone();
        let inbox = inbox.ok_or(StepError::NoSignals)?;
        if let Some(records) = &self.records {
            let receiving = records.receiving(scene, of, (&inbox, &path, wait));
            return Ok(Wait::Value(receiving));
        }
        let policy = scene.values.policy(of);
        let has_limit = policy.timeout.is_some() || policy.deadline.is_some();
        let waiting = Waiting::new(inbox, path, wait.clone());
        Ok(Wait::Value(Box::pin(async move {
            let sent = poll_fn(|cx| waiting.poll(cx, has_limit)).await;
            sent.ok_or(StepError::NoSignals)
        })))
    }

    /// Starts a timer.
    pub(super) fn sleep(&mut self, timer: CallId, pause: Pause, place: StepPlace) {
        let of = self.scene.of(timer, place);
        if let Some(records) = &mut self.records
            && pause != Pause::Backoff
        {
            return records.times.keep_timer(&mut self.scene, of, pause);
        }
        let policy = self.scene.values.policy(&of);
        let time = match pause {
            Pause::Backoff => {
                let wait = self.wait_between(&of, &policy);
                // The run does not wait for an attempt that would start after the time limit.
                if let Some((deadline, until)) = self.deadline_of(&of)
                    && self.scene.clock.now().saturating_add(wait) >= until
                {
                    self.drop_call(deadline);
                    let limit = policy.deadline.unwrap_or_default();
                    return self.time_out(deadline, StepError::Deadline(limit));
                }
                self.scene.tell(|it| it.retry(&of, wait));
                Some(wait)
            }
            Pause::Every => policy.every,
            Pause::Timeout => policy.timeout,
            Pause::Deadline => {
                let limit = policy.deadline.unwrap_or(Duration::MAX);
                let until = self.scene.clock.now().saturating_add(limit);
                let inside = self.scene.values.inside(&of);
                inside.deadlines.insert(of.element(), (timer, until));
                policy.deadline
            }
        };
        let time = time.unwrap_or_default();
        if time.is_zero() && matches!(pause, Pause::Backoff | Pause::Every) {
            return self.scene.machine.handle(Event::Fired(timer));
        }
        let sleep = match &self.records {
            None => self.scene.clock.sleep(time),
            Some(records) => records.times.wait_before_attempt(&self.scene, &of, time),
        };
        self.tasks.push_wait(of, Wait::Timer(sleep, pause));
    }

    /// Returns the wait between the previous attempt and this attempt.
    fn wait_between(&mut self, of: &Site, policy: &Policy) -> Duration {
        let mut wait = policy.wait_after(of.attempt() - 1);
        if policy.jitter {
            wait = wait.mul_f64(self.random.f64());
        }
        let view = self.scene.machine.view();
        let failures = view.waits_after(of.call);
        let asked = failures.and_then(|it| self.scene.errors.retry_delay(it));
        wait.max(asked.unwrap_or_default().min(LONGEST_CLOSED))
    }

    /// Returns the timer and the end of the time of an element. With a journal, the timer of an attempt that has ended does not run.
    fn deadline_of(&mut self, of: &Site) -> Option<(CallId, Duration)> {
        if let Some(records) = &mut self.records {
            let times = &mut records.times;
            times.unlimit(&mut self.scene, &mut self.tasks, of);
        }
        let timed = self.scene.values.timed(of);
        let inside = self.scene.values.inside(of);
        inside.deadlines.get(&timed).copied()
    }
}

/// Returns the path of a wait. Steps that run after the work receive no signals.
fn path_of_wait(scene: &Scene<'_>, of: &Site) -> Option<String> {
    let step = scene.values.step_of(of);
    let outer = scene.outer(of.scope);
    let is_last = outer.is_some_and(|outer| outer.is_last());
    if step.role != Role::Work || is_last {
        return None;
    }
    let prefix = outer.map_or_else(String::new, |outer| outer.path() + ".");
    let element = scene.element(of);
    Some(format!("{prefix}{}{}", step.id, Elements(&element)))
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

impl Values<'_> {
    /// Returns the end of the time of an attempt that begins now, and the error after that.
    pub(super) fn limit_here(&self, clock: &Clock, of: &Site) -> Option<(Duration, StepError)> {
        let policy = self.policy(of);
        policy.timeout.or(policy.deadline)?;
        let now = clock.now();
        let (left, error) = self.limit(of, now)?;
        Some((now.saturating_add(left), error))
    }

    /// Returns the element whose time limit is the limit of an element. All rounds of a loop share one time limit.
    pub(super) fn timed(&self, of: &Site) -> u32 {
        match self.step_of(of).body {
            Body::Loop(_) => Part::WHOLE,
            _ => of.element(),
        }
    }

    /// Begins the time of a step or of an element with its first attempt.
    pub(super) fn begin_time(&mut self, of: &Site, started: impl FnOnce() -> Duration) {
        if of.part.is_some()
            && of.attempt() == 1
            && let Some(limit) = self.policy(of).deadline
        {
            let until = (CallId::NONE, started().saturating_add(limit));
            self.inside(of).deadlines.insert(of.element(), until);
        }
    }

    /// Returns the time that an attempt has left, and the error after that time. An element may share its time with
    /// others.
    pub(super) fn limit(&self, of: &Site, now: Duration) -> Option<(Duration, StepError)> {
        let policy = self.policy(of);
        let inside = self.step(of.slot());
        let until = inside.and_then(|inside| inside.deadlines.get(&self.timed(of)));
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
