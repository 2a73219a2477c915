//! The ends of calls, waits and timers; waits for values from outside, and the time limits of steps.

use super::super::StepError;
use super::super::admission::LONGEST_CLOSED;
use super::super::clock::Clock;
use super::super::engine::EngineFuture;
use super::super::report::WaitReason;
use super::super::signals::{Sent, Waiting};
use super::super::start::StepResult;
use super::calls::Calls;
use super::recording::CallRecords;
use super::scene::Scene;
use super::task::{Site, Ticket, Wait};
use super::values::Values;
use crate::error::BlockPlace;
use crate::machine::{
    CallEnd, CallError, CallId, Event, Part, Pause, ScopeId, StepPlace, StepStatus,
};
use crate::plan::{Await, Body, Policy, Role};
use crate::resolve::{StoredValue, bytes_of, settle};
use serde_json::Value;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

impl Calls<'_> {
    /// Drops a call, a wait or a timer.
    pub(super) fn drop_call(&mut self, call: CallId) {
        self.late.retain(|(of, _)| of.call != call);
        if let Some(admission) = &mut self.admission {
            admission.drop_wait(&mut self.scene.values, call);
        }
        let mut has_begun = true;
        if let Some(records) = &mut self.records {
            has_begun = records.forget(call);
        }
        let watched = self.scene.watch.is_some();
        let of = watched.then(|| self.tasks.of(call, &self.scene.values));
        let (bytes, is_new) = self.tasks.drop_call(call);
        self.scene.values.held.remove(bytes);
        if let Some(of) = of.flatten().filter(|_| is_new || !has_begun) {
            self.scene.tell(|it| it.watch.has_not_begun(of.spot()));
        }
        if call.is_plain() {
            let scope = self.scene.machine.view().scope_of_plain(call);
            let step = self.scene.values.of_plain(call, scope).step;
            self.scene
                .tell(|it| it.settle((scope, step), StepStatus::Cancelled, None));
            self.scene.values.release(scope, call.index());
        }
    }

    /// Handles the end of a task that is no plain call, or that has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn ended(&mut self, slot: usize, result: Option<StepResult>) {
        let (of, wait, ticket, bytes) = self.tasks.take(slot, &self.scene.values);
        self.scene.values.held.remove(bytes);
        if let Some(result) = result {
            if let Some((result, ticket)) = self.recorded(of, result, ticket) {
                self.tasks.call_ended(Some(&ticket));
                self.counted(of, result);
            }
            return;
        }
        match wait {
            Some(Wait::Admission(_)) => {
                let admitting = self.admitting();
                let ended = admitting.map(|mut admitting| admitting.has_waited(of.call));
                if let Some(Err(error)) = ended {
                    self.call_failed(of, error);
                }
            }
            Some(Wait::Received(received)) => self.received(of, received),
            _ if self.ends_limit(&of) => {}
            Some(Wait::Timer(_, pause)) if self.limits_call(&of, pause) => {
                self.late.push_back((of, pause));
            }
            Some(Wait::Timer(_, pause)) => self.fired(&of, pause),
            Some(Wait::Value(_)) | None => {}
        }
    }

    /// Returns `true` if the driver ignores the end of a time limit for now. With a journal, the end takes effect at the turn of its record, and does not affect an attempt
    /// whose work has ended.
    fn ends_limit(&mut self, of: &Site) -> bool {
        let Some(records) = &mut self.records else {
            return false;
        };
        let inside = of.inside();
        let works = |scope| self.scene.machine.view().works(scope);
        records.times.records_limit(&mut self.tasks, of)
            || inside.is_some_and(|scope| !works(scope))
    }

    /// Applies a time limit that has passed for a call. The driver calls this method after it has handled all calls that were ready by then. Returns
    /// `false` if no time limit has passed.
    pub(super) fn pass_limit(&mut self) -> bool {
        let late = self.late.pop_front();
        late.inspect(|(of, limit)| self.fired(of, *limit)).is_some()
    }

    fn fired(&mut self, of: &Site, pause: Pause) {
        let policy = self.scene.values.policy(of);
        let error = match pause {
            Pause::Timeout => StepError::Timeout(policy.timeout.unwrap_or_default()),
            Pause::Deadline => StepError::Deadline(policy.deadline.unwrap_or_default()),
            Pause::Backoff | Pause::Every => {
                return self.scene.machine.handle(Event::Fired(of.call));
            }
        };
        self.scene.tell(|it| it.late(of, &error));
        self.time_out(of.call, error);
    }

    /// Passes the end of a time limit to the machine.
    pub(super) fn time_out(&mut self, timer: CallId, error: StepError) {
        let CallError { error, .. } = self.scene.keep(error);
        self.scene.machine.handle(Event::TimedOut(timer, error));
    }

    /// Returns `true` for the timer of a call or a wait, and `false` for the timer of a block or a loop.
    fn limits_call(&mut self, of: &Site, pause: Pause) -> bool {
        let part = self.scene.machine.view().part(of.call);
        if part.is_none_or(|part| part.inside.is_some()) {
            return false;
        }
        let (body, _) = self.scene.values.body(&Site { part, ..*of });
        matches!(body, Body::Action(_) | Body::Await(_))
            && matches!(pause, Pause::Timeout | Pause::Deadline)
    }

    /// Handles the end of a wait.
    pub(super) fn received(&mut self, of: Site, received: Result<Arc<Sent>, StepError>) {
        match received {
            Ok(sent) => self.made(of, StoredValue::weighed(sent.value.clone(), sent.bytes)),
            Err(error) => self.call_failed(of, error),
        }
    }

    /// Handles the value of a call or a wait.
    fn made(&mut self, of: Site, value: StoredValue) {
        self.scene.tell(|it| it.end(&of, None));
        match self.scene.take_made(&of, value) {
            Ok(()) => self.done(of.call),
            Err(error) => self.call_failed(of, error),
        }
    }

    #[inline(always)]
    fn done(&mut self, call: CallId) {
        self.scene.machine.handle(Event::Ended(call, CallEnd::Done));
    }

    /// Handles the output of a plain call.
    #[inline(always)]
    pub(super) fn plain_called(&mut self, (call, scope): (CallId, ScopeId), output: StoredValue) {
        if self.scene.watch.is_some() {
            let of = self.scene.values.of_plain(call, scope);
            self.scene.tell(|it| it.plain_called(&of, &output));
        }
        if self.scene.values.held.has_room(output.bytes()) {
            self.scene.values.complete(scope, call.index(), output);
            self.done(call);
        } else {
            let of = self.scene.values.of_plain(call, scope);
            self.call_failed(of, self.scene.values.held.no_room());
        }
    }

    /// Handles the end of a call.
    #[inline(never)]
    pub(super) fn called(&mut self, of: Site, result: StepResult) {
        if let Some((result, _)) = self.recorded(of, result, Ticket::none()) {
            self.counted(of, result);
        }
    }

    /// Returns the end of a call, unless the end counts at the turn of its record.
    fn recorded(
        &mut self,
        of: Site,
        result: StepResult,
        ticket: Ticket,
    ) -> Option<(StepResult, Ticket)> {
        match &mut self.records {
            None => Some((result, ticket)),
            Some(records) => {
                let (scene, tasks) = (&mut self.scene, &mut self.tasks);
                records.calls.records(scene, tasks, of, result, ticket)
            }
        }
    }

    /// Handles the end of a call whose end counts now.
    #[inline]
    pub(super) fn counted(&mut self, of: Site, result: StepResult) {
        match (result, of.part) {
            (Ok(output), None) => self.plain_called((of.call, of.scope), output),
            (Ok(output), Some(_)) => self.part_called(of, output),
            (Err(error), _) => self.call_failed(of, error),
        }
    }

    #[cold]
    fn part_called(&mut self, of: Site, output: StoredValue) {
        if let Some(admission) = &mut self.admission {
            admission.forget_question(&mut self.scene.values, &of);
        }
        self.made(of, output);
    }

    #[cold]
    pub(super) fn call_failed(&mut self, of: Site, error: StepError) {
        if self.scene.is_interrupted() {
            return;
        }
        let error = error.of_call(|| BlockPlace {
            step: self.scene.values.step_of(&of).id.clone(),
            element: self.scene.element(&of),
            attempt: of.attempt(),
        });
        let error = self.scene.values.hushed(&of, error);
        self.scene.tell(|it| it.end(&of, Some(&error)));
        if self.scene.exceeds(&of, &error) {
            let CallError { error, .. } = self.scene.keep(error);
            let end = CallEnd::Exceeds(error);
            return self.scene.machine.handle(Event::Ended(of.call, end));
        }
        if self.records.is_some() {
            CallRecords::keep_failure(&mut self.scene.values, &of, &error);
        }
        if let (Some(_), Some(delay)) = (of.part, error.retry_delay())
            && let Some(admission) = &self.admission
        {
            admission.close_throttles(&mut self.scene, &of, delay.min(LONGEST_CLOSED));
        }
        self.failed(of.call, error);
    }

    /// Passes the failure of a call to the machine.
    pub(super) fn failed(&mut self, call: CallId, error: StepError) {
        let end = CallEnd::Failed(self.scene.keep(error));
        self.scene.machine.handle(Event::Ended(call, end));
    }

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
                let records = self.records.as_ref();
                let has_begun = records.is_some_and(|it| it.times.has_begun(&self.scene, &of));
                // The run does not wait for an attempt that would start after the time limit.
                if let Some((deadline, until)) = self.deadline_of(&of)
                    && !has_begun
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
    Some(scene.path_of(of))
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
