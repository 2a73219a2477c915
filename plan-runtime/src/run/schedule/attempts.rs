//! Attempts, waits and time limits of steps: what a run with a journal writes down of them, and takes from there.

use super::super::catch::catch;
use super::super::context::CallContext;
use super::super::durable::{self, LATE, Recorded};
use super::super::engine::{self, Engine};
use super::super::lasting::Undone;
use super::super::recorded::{self, held_back, unusable};
use super::super::report::Attempt;
use super::super::signals::Sent;
use super::super::start::{Request, Started, StepFuture, StepResult};
use super::super::storing::once;
use super::super::timer::Sleep;
use super::super::trace::Span;
use super::body_state::{AttemptRecord, WaitOutcome, Work};
use super::task::CallState;
use super::{Schedule, Start};
use crate::error::{Elements, StepError};
use crate::journal::JournalError;
use crate::plan::{Action, Await};
use crate::resolve::{Meter, StoredValue, bytes_of, resolve, settle};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

impl<'x> Schedule<'x> {
    /// Takes an attempt from its record, if it has one.
    #[inline]
    pub(super) fn replays(&mut self, step: usize, job: usize, start: Start<'_, 'x>) -> bool {
        self.run.durable.is_some() && self.takes_record(step, job, start)
    }

    /// Why a recorded output is not of the type that the action has now.
    fn misfit(
        &self,
        step: usize,
        (action, number): (&'x Action, usize),
        recorded: &Recorded,
        start: Start<'_, 'x>,
    ) -> Option<String> {
        let value = recorded.result.as_ref().ok()?;
        let scope = self.scope();
        match start(number, Request::new(&scope, action).recorded(value)) {
            Started::Ended(Err(error)) => Some(match self.hushed(step, error) {
                StepError::Output(error) => error.to_string(),
                error => error.to_string(),
            }),
            _ => None,
        }
    }

    /// Captures the arguments of a call that is not made again, if the report shows arguments. The arguments follow from the records.
    fn capture_again(&mut self, step: usize, job: usize, action: &Action) {
        if !self.options.capture || action.tool.is_none() {
            return;
        }
        let at = &self.flow(step).jobs[job];
        let (frame, number, log) = (at.frame, at.number, at.log);
        let captured = {
            let meter = Meter::new(self.room(), None);
            let flow = self.steps.flow(step);
            let locals = flow.map_or_else(Vec::new, |flow| flow.locals(frame));
            let scope = self.scope().with_locals(&locals).metered(&meter);
            catch(|| resolve(&action.args, &scope).ok()).ok().flatten()
        };
        let Some(mut arguments) = captured else {
            return; // The call had the same, and that is why it has failed.
        };
        if let Some(secrecy) = &self.secrecy {
            secrecy.arguments(number).mask_in(&mut arguments);
        }
        self.held.add(bytes_of(&arguments));
        if let Some(attempt) = self.logged(step, log) {
            attempt.arguments = Some(arguments);
        }
    }

    #[cold]
    fn takes_record(&mut self, step: usize, job: usize, start: Start<'_, 'x>) -> bool {
        let Some(durable) = self.run.durable.clone() else {
            return false;
        };
        let at = &self.flow(step).jobs[job];
        let (place, number, attempt) = (at.place, at.number, at.attempts + 1);
        let Work::Action(action) = at.work else {
            return false;
        };
        if action.tool.is_none() && !action.args.has_code() {
            return false;
        }
        let key = self.key_of_attempt(step, job, attempt);
        let found = match durable.find(&key) {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.flow(step).jobs[job].record = AttemptRecord::Due(key);
                return false;
            }
            // The run is over.
            Err(()) => return true,
        };
        let recorded = match durable::decode(&found.body) {
            Err(error) => Err(unusable(&key, error)),
            Ok(recorded) => match self.misfit(step, (action, number), &recorded, start) {
                None => Ok(recorded),
                Some(why) => {
                    let place = self.flow(step).jobs[job].place;
                    let element = self.flow(step).elements(place);
                    let outer = self.outer.as_ref();
                    let prefix = outer.map_or_else(String::new, |outer| outer.path() + ".");
                    let (id, elements) = (&self.plan.steps[step].id, Elements(&element));
                    let what = format!("the recorded output of step `{prefix}{id}{elements}`");
                    Err(JournalError::Misfit { what, why })
                }
            },
        };
        let Recorded {
            started,
            ended,
            result,
            undone,
        } = match recorded {
            Ok(recorded) => recorded,
            Err(error) => {
                durable.fail(error);
                return true;
            }
        };
        // The plans inside the call do not run again.
        self.run.take_undone(undone);
        // A failure closes open questions, which only runs with gates have.
        if durable.is_viewed() && (result.is_err() || durable.looks_for_gates()) {
            let _ = self.recorded_answer(step, job);
        }
        let started = self.clock.in_here(started);
        let at = &mut self.flow(step).jobs[job];
        at.is_next = false;
        at.waits = None;
        if at.attempts == 0 && at.started.is_zero() {
            at.started = started;
        }
        at.attempts = attempt;
        at.tried = started;
        at.record = AttemptRecord::None;
        let is_counted = std::mem::replace(&mut at.is_counted, true);
        let frame = at.frame;
        if let Some(error) = self.charge(action, !is_counted) {
            self.fail(step, place, frame, error, attempt);
            return true;
        }
        if self.options.record {
            self.held.add(size_of::<Attempt>());
            let element = self.flow(step).elements(place);
            let log = &mut self.steps.more(step).log;
            let entry = Some(log.len());
            log.push(Attempt::new(element, attempt, started, action.tool.clone()));
            self.flow(step).jobs[job].log = entry;
            self.capture_again(step, job, action);
        }
        let span = self.watch_attempt(step, job);
        let room = self.room().of_one();
        let result =
            result.and_then(|value| StoredValue::made(value, room).map_err(StepError::output));
        let replay = durable.replay(found.number, ended);
        self.push_replayed((step, job), replay, result, span);
        true
    }

    /// Adds a call that ends when its record has its turn.
    fn push_replayed(
        &mut self,
        (step, job): (usize, usize),
        turn: Sleep,
        result: StepResult,
        span: Span,
    ) {
        let future: StepFuture<'x> = once(async move {
            turn.await;
            result
        });
        let mut context = None;
        if self.has_run_plan((step, job)) {
            // The plan gave the permit back, so the call has a context that counts no permit.
            self.share_permits();
            let (element, attempt) = {
                let flow = self.flow(step);
                let at = &flow.jobs[job];
                (flow.elements(at.place), at.attempts)
            };
            context = Some(self.context((step, job), element, attempt, None, None));
        } else {
            self.has_permit = false;
        }
        self.in_writing.insert((step, job));
        self.calls += 1;
        self.flow(step).active += 1;
        let more = CallState::of(span, None, context);
        self.running.push((step, job), Some(future), more, 0);
    }

    /// A call that is to be recorded. The call is held back as long as the run replays.
    #[inline]
    pub(super) fn recorded(&self, future: StepFuture<'x>) -> StepFuture<'x> {
        match &self.run.durable {
            None => future,
            Some(durable) => once(held_back(Arc::clone(durable), future)),
        }
    }

    /// A wait before the start of a call. The wait is held back as long as the run replays.
    pub(super) fn held_back(&self, wait: Sleep) -> Sleep {
        match &self.run.durable {
            None => wait,
            Some(durable) => Box::pin(held_back(Arc::clone(durable), wait)),
        }
    }

    /// Returns `true` if a record shows that an attempt had begun before a crash. `Err` means that the run is over.
    pub(super) fn has_begun(&self, step: usize, job: usize, attempt: u32) -> Result<bool, ()> {
        match &self.run.durable {
            Some(durable) if !durable.is_live() => {
                durable.has_begun(&self.key_of_attempt(step, job, attempt))
            }
            _ => Ok(false),
        }
    }

    /// Returns `true` if a call had run a plan inside it before a crash.
    pub(super) fn has_run_plan(&self, (step, job): (usize, usize)) -> bool {
        let (Some(durable), Some(flow)) = (&self.run.durable, self.steps.flow(step)) else {
            return false;
        };
        durable.has_plan_inside(&self.key_of_attempt(step, job, flow.jobs[job].attempts))
    }

    /// Returns the number of the record of a job's next attempt; a number after all records if only something in the attempt has a record. `Err` means that the run is over.
    pub(super) fn begun_as(&mut self, step: usize, job: usize) -> Result<Option<u64>, ()> {
        let Some(durable) = self.run.durable.clone() else {
            return Ok(None);
        };
        let attempt = self.flow(step).jobs[job].attempts + 1;
        let found = durable.find(&self.key_of_attempt(step, job, attempt))?;
        match found {
            Some(found) => Ok(Some(found.number)),
            None => Ok(self.has_begun(step, job, attempt)?.then_some(u64::MAX)),
        }
    }

    /// The wait before the next attempt of a job.
    pub(super) fn wait_before(&self, step: usize, job: usize, wait: Duration) -> Sleep {
        let (Some(durable), Some(flow)) = (&self.run.durable, self.steps.flow(step)) else {
            return self.clock.sleep(wait);
        };
        let attempt = self.key_of_attempt(step, job, flow.jobs[job].attempts + 1);
        recorded::wait_before(durable, &attempt, wait, || self.clock.sleep(wait))
    }

    /// The time limit of an attempt.
    pub(super) fn limit(&self, step: usize, job: usize, limit: Duration) -> Sleep {
        let flow = self.steps.flow(step);
        if flow.is_some_and(|flow| matches!(flow.jobs[job].work, Work::Action(_))) {
            return self.clock.sleep_live(limit);
        }
        self.limit_inside(step, job, limit)
    }

    /// The time limit of an attempt that is a block or a plan. The end of the time is recorded, since later work in the attempt depends on it.
    pub(super) fn limit_inside(&self, step: usize, job: usize, limit: Duration) -> Sleep {
        let (Some(durable), Some(flow)) = (&self.run.durable, self.steps.flow(step)) else {
            return self.clock.sleep(limit);
        };
        let key = self.key_of_attempt(step, job, flow.jobs[job].attempts) + LATE;
        let found = durable.find(&key);
        recorded::time(durable, (key, found), || self.clock.sleep(limit))
    }

    /// The sleep that ends the wait of an element for a value. The end is recorded, or a record ends the wait.
    pub(super) fn recorded_wait(
        &self,
        step: usize,
        element: &[usize],
        awaited: &'x Await,
        outcome: &WaitOutcome,
        wait: impl FnOnce() -> Sleep,
    ) -> Sleep {
        if let Some(engine) = &self.run.engine {
            return self.wait_on(&**engine, (step, element), awaited, outcome);
        }
        let Some(durable) = &self.run.durable else {
            return wait();
        };
        let inbox = self
            .run
            .options
            .inbox
            .clone()
            .zip(Some(self.path(step, element)));
        let key = format!("{}@1", self.key(step, element));
        let (durable, outcome) = (Arc::clone(durable), Arc::clone(outcome));
        let found = match durable.find(&key) {
            Ok(found) => found,
            Err(()) => return Box::pin(std::future::pending()),
        };
        let set = |outcome: &WaitOutcome, result| {
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        };
        if let Some(found) = found {
            let recorded = durable::decode(&found.body);
            return Box::pin(async move {
                match recorded {
                    Ok(recorded) => {
                        durable.replay(found.number, recorded.ended).await;
                        let sent = recorded.result.map(|value| {
                            let bytes = bytes_of(&value);
                            Arc::new(Sent { value, bytes })
                        });
                        // A further attempt gets the same one.
                        if let (Ok(sent), Some((inbox, path))) = (&sent, inbox) {
                            inbox.keep(path, sent);
                        }
                        set(&outcome, sent);
                    }
                    Err(error) => {
                        durable.fail(unusable(&key, error));
                        std::future::pending::<()>().await;
                    }
                }
            });
        }
        let started = self.clock.in_all(self.clock.now());
        let wait = wait();
        Box::pin(async move {
            durable.live().await;
            wait.await;
            let now = durable.time();
            let body = {
                let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                let times = (started, now);
                match &*outcome {
                    Some(Ok(sent)) => durable::encode(times, Ok(&sent.value)),
                    Some(Err(error)) => durable::encode(times, Err(error)),
                    None => return,
                }
            };
            match body {
                Ok(body) => durable.write(key, body, now).await,
                Err(error) => {
                    durable.fail(JournalError::storage(error));
                    std::future::pending::<()>().await;
                }
            }
        })
    }

    /// A wait for a value that an engine receives.
    #[cold]
    fn wait_on(
        &self,
        engine: &dyn Engine,
        (step, element): (usize, &[usize]),
        awaited: &'x Await,
        outcome: &WaitOutcome,
    ) -> Sleep {
        let path = self.path(step, element);
        let (value, limit) = (engine.receive(&path), self.limit_of_wait(step));
        let (outcome, awaited) = (Arc::clone(outcome), awaited.clone());
        Box::pin(async move {
            let received = engine::before(value, limit).await.and_then(|value| {
                let value = match awaited.receive(&value) {
                    None => value,
                    Some(received) => {
                        let received = received
                            .map_err(|why| StepError::output(serde::de::Error::custom(why)))?;
                        settle(&value, received)
                    }
                };
                let bytes = bytes_of(&value);
                Ok(Arc::new(Sent { value, bytes }))
            });
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(received);
        })
    }

    /// A value was computed, or a call could not be made.
    pub(super) fn computed(
        &mut self,
        step: usize,
        job: usize,
        action: &Action,
        result: StepResult,
        span: Span,
    ) {
        let at = &mut self.flow(step).jobs[job];
        if matches!(at.record, AttemptRecord::Due(_)) {
            // The code in an argument may do otherwise after a crash.
            if action.tool.is_none() || action.args.has_code() {
                let more = CallState::of(span, None, None);
                return self.ends_in_turn((step, job), result, more);
            }
            // It can be made no better after a crash.
            at.record = AttemptRecord::None;
        }
        self.tried(step, job, result, Some(&span));
    }

    /// Records the end of a call that was not made. The end counts when the record has its turn.
    pub(super) fn ends_in_turn(
        &mut self,
        (step, job): (usize, usize),
        result: StepResult,
        more: Option<Box<CallState<'x>>>,
    ) {
        self.calls += 1;
        self.has_permit = false;
        self.flow(step).active += 1;
        self.record_call((step, job), result, more);
    }

    /// Returns `true` if the record of an ended call is due.
    pub(super) fn is_to_record(&self, step: usize, job: usize) -> bool {
        let job = self.steps.flow(step).and_then(|flow| flow.jobs.get(job));
        job.is_some_and(|job| matches!(job.record, AttemptRecord::Due(_)))
    }

    /// Writes the record of a call that has ended. The call counts as a running call until the record has its turn. Otherwise, another call could start that does not start after a
    /// crash.
    #[cold]
    pub(super) fn record_call(
        &mut self,
        (step, job): (usize, usize),
        result: StepResult,
        more: Option<Box<CallState<'x>>>,
    ) {
        let context = more.as_ref().and_then(|more| more.context.as_ref());
        let undone = context.map(CallContext::undone_inside).unwrap_or_default();
        // If the run ended without the record, nothing waits for the turn of the record.
        if !self.run.durable.as_ref().is_some_and(|it| it.is_closed()) {
            self.in_writing.insert((step, job));
        }
        let future: StepFuture<'x> = match self.record(step, job, &result, &undone) {
            Some(write) => once(async move {
                write.await;
                result
            }),
            None => once(std::future::ready(result)),
        };
        let more = more.map(CallState::writing);
        self.running.push((step, job), Some(future), more, 0);
    }

    /// Writes the record of an attempt, if it is to have one.
    fn record(
        &mut self,
        step: usize,
        job: usize,
        result: &StepResult,
        undone: &Undone,
    ) -> Option<Sleep> {
        let durable = self.run.durable.clone()?;
        let tried = self.flow(step).jobs[job].tried;
        let now = self.clock.in_all(self.clock.time());
        let times = (self.clock.in_all(tried), now);
        let record = std::mem::take(&mut self.flow(step).jobs[job].record);
        let AttemptRecord::Due(key) = record else {
            return None;
        };
        if result
            .as_ref()
            .is_err_and(|error| error.exceeded().is_some())
        {
            // It ends the run, and would not if it were taken from a record.
            return None;
        }
        let body = match result {
            Ok(output) => match output.as_json() {
                Ok(json) => {
                    self.note_undo_call(step);
                    durable::encode_call(times, Ok(json), undone)
                }
                // It fails where the output is read.
                Err(_) => return None,
            },
            // The record has the error as the report shows it, so that the error is the same after a crash.
            Err(error) => {
                let error = self.hushed(step, error.clone());
                durable::encode_call(times, Err(&error), undone)
            }
        };
        let body = match body {
            Ok(body) => body,
            Err(error) => {
                durable.fail(JournalError::storage(error));
                return Some(Box::pin(std::future::pending()));
            }
        };
        Some(durable.write(key, body, now))
    }
}
