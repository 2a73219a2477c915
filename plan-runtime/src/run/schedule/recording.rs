//! What a run with a journal writes down, and what it takes from there.

use super::super::calling::refused_by;
use super::super::context::{CallContext, Decision as Decided};
use super::super::durable::{self, Durable, Recorded, Replay};
use super::super::engine::{self, Engine};
use super::super::hash::StableHasher;
use super::super::report::Attempt;
use super::super::shared::SharedRun;
use super::super::signals::{Sent, SignalError, Signals};
use super::super::start::{Request, Started, StepFuture, StepResult};
use super::super::timer::Sleep;
use super::super::trace::Span;
use super::body_state::{AttemptRecord, OutputSlot, WaitOutcome, Work};
use super::task::CallState;
use super::{Schedule, Start};
#[cfg(feature = "sqlite")]
use crate::error::{Cause, RunError};
use crate::error::{Elements, Interrupt, StepError};
use crate::journal::{JournalError, Message};
use crate::plan::{Action, Await, Plan, Template};
use crate::resolve::{StoredValue, bytes_of, resolve, settle};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::Cell;
use std::fmt::Display;
use std::future::Future;
use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::Context;
use std::time::Duration;

/// What the key of the inputs of a plan that is called ends with, if code has made them.
const INPUTS: &str = "!inputs";

/// The key of the record of an interrupt, which ends a run before its time.
const INTERRUPT: &str = "!interrupt";

/// The key of the end of the time for what comes then.
const GRACE: &str = "!grace";

/// What gates have decided about a call, as it is recorded.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Allow,
    AllowStep,
    Refuse(String),
}

/// What is sent to the run from outside.
pub(super) struct Messages {
    signals: Signals,
    watch: Sleep,
    /// The number of the last one.
    last: u64,
    /// Those for paths at which no step waits yet.
    early: Vec<(String, Value)>,
}

impl Messages {
    fn new(durable: &Durable, signals: Signals) -> Self {
        Self {
            signals,
            watch: durable.watch(0),
            last: 0,
            early: Vec::new(),
        }
    }

    /// Takes what is new. Whether the run is to end.
    fn poll(&mut self, durable: &Durable, cx: &mut Context<'_>) -> bool {
        let mut is_cancelled = false;
        // What was sent before the step waited is tried again.
        let signals = &self.signals;
        self.early
            .retain(|(path, value)| is_early(durable, path, signals.send(path, value)));
        while self.watch.as_mut().poll(cx).is_ready() {
            let messages = match durable.messages(self.last) {
                Ok(messages) => messages,
                Err(()) => return false,
            };
            for (number, message) in messages {
                self.last = self.last.max(number);
                durable.has_seen(self.last);
                match message {
                    Message::Cancel => is_cancelled = true,
                    Message::Signal { path, body } => {
                        // Only somebody else writes what is not JSON.
                        if let Ok(value) = serde_json::from_str::<Value>(&body)
                            && is_early(durable, &path, self.signals.send(&path, &value))
                        {
                            self.early.push((path, value));
                        }
                    }
                }
            }
            self.watch = durable.watch(self.last);
        }
        is_cancelled
    }
}

/// Whether a value was sent to a step that does not wait for one yet. One that the step cannot take stops the run: it would wait forever.
fn is_early(durable: &Durable, path: &str, sent: Result<(), SignalError>) -> bool {
    let why = match sent {
        Err(SignalError::Unknown { .. }) => return true,
        Ok(()) | Err(SignalError::Second { .. } | SignalError::Ended | SignalError::Journal(_)) => {
            return false;
        }
        Err(SignalError::Type { message, .. }) => message,
        Err(error @ SignalError::Value { .. }) => error.to_string(),
    };
    durable.fail(JournalError::Misfit {
        what: format!("the value that was sent to step `{path}`"),
        why,
    });
    false
}

/// Something that a step decides.
#[derive(Clone, Copy)]
pub(super) struct Decision {
    pub(super) step: usize,
    pub(super) slot: OutputSlot,
    /// The number of the first action after it.
    number: usize,
    what: What,
    /// Which condition of the branch it is.
    pub(super) condition: usize,
}

#[derive(Clone, Copy)]
pub(super) enum What {
    List,
    /// A branch, in an `if` that is right in this many branches of others.
    Branch {
        depth: usize,
        place: usize,
    },
}

impl Decision {
    pub(super) fn new(step: usize, slot: OutputSlot, number: usize, what: What) -> Self {
        Self {
            step,
            slot,
            number,
            what,
            condition: 0,
        }
    }

    /// A name that nothing else has which the step decides there. `first` is the number of its first action.
    pub(super) fn name(&self, first: usize) -> String {
        let number = self.number - first;
        match self.what {
            What::List => format!("list{number}"),
            What::Branch { depth, place } => {
                format!("if{number}.{depth}.{place}.{}", self.condition)
            }
        }
    }
}

/// What had ended a plan before a crash, whose keys begin with this prefix. Nothing ends one that is a step or a block, but what is around it.
pub(super) fn interrupt(run: &SharedRun, prefix: Option<&str>) -> Option<(Replay, Interrupt)> {
    interrupt_of(run, prefix, INTERRUPT)
}

fn interrupt_of(run: &SharedRun, prefix: Option<&str>, key: &str) -> Option<(Replay, Interrupt)> {
    let durable = run.durable.as_ref()?;
    let key = &format!("{}{key}", prefix?);
    let found = durable.find(key).ok()??;
    let unreadable = |error: serde_json::Error| {
        durable.fail(JournalError::storage(format!(
            "the record `{key}`: {error}"
        )));
    };
    let recorded = durable::decode(&found.body).map_err(unreadable).ok()?;
    let interrupt = match recorded.result {
        Ok(value) if value.is_null() => Interrupt::Cancelled,
        Ok(value) => Interrupt::Deadline(serde_json::from_value(value).map_err(unreadable).ok()?),
        Err(_) => return None,
    };
    let replay = durable.replay(found.number, recorded.ended);
    Some((replay, interrupt))
}

/// The name of a plan that a tool runs inside its call. A tool may run plans in any order, and in another one when it is called again, so that they are known by their
/// names and inputs. Those that have the same are told apart by their order.
pub(super) fn beside(outer: &CallContext, plan: &Plan, inputs: &[StoredValue]) -> Arc<str> {
    let mut hasher = StableHasher::new();
    for input in inputs {
        // What JSON cannot hold fails where it is used.
        if let Ok(json) = input.as_json() {
            hasher.json(json);
        }
        hasher.text(",");
    }
    let name = durable::Segment(&plan.name);
    outer.beside(format!("#{name}-{:016x}", hasher.finish()))
}

/// The inputs of a plan that a step calls, as they were before a crash.
pub(super) fn recorded_inputs(
    run: &SharedRun,
    outer: &CallContext,
    inputs: Vec<StoredValue>,
) -> Vec<StoredValue> {
    let Some(durable) = &run.durable else {
        return inputs;
    };
    let key = outer.key_inside(None) + INPUTS;
    let failed = |error: &dyn Display| {
        durable.fail(JournalError::storage(format!(
            "the record `{key}`: {error}"
        )));
    };
    match durable.find(&key) {
        // The run is over.
        Err(()) => {}
        Ok(Some(found)) => match durable::read_values(&found.body) {
            Ok(recorded) if recorded.len() == inputs.len() => {
                return recorded.into_iter().map(StoredValue::json).collect();
            }
            Ok(recorded) => failed(&format!("it has {} inputs", recorded.len())),
            Err(error) => failed(&error),
        },
        Ok(None) => {
            let values: Result<Vec<&Value>, _> = inputs.iter().map(StoredValue::as_json).collect();
            // What JSON cannot hold fails where it is used.
            if let Ok(values) = values {
                match serde_json::to_string(&values) {
                    Ok(body) => durable.note(key, body),
                    Err(error) => failed(&error),
                }
            }
        }
    }
    inputs
}

impl<'x> Schedule<'x> {
    /// Records which plan a call runs, or compares it with the one that it has run.
    pub(super) fn record_plan(&self) {
        if let (Some(durable), Some(_)) = (&self.run.durable, &self.outer) {
            durable.enter(&self.prefix, self.plan);
        }
    }

    /// Whether its journal cannot be used, which is still to end the run.
    #[cold]
    pub(super) fn has_no_journal(&self) -> bool {
        let durable = self.run.durable.as_ref();
        durable.is_some_and(|durable| durable.failure().is_some())
    }

    /// Whether a call has ended whose record is being written, which will be.
    #[cold]
    pub(super) fn is_writing(&self) -> bool {
        self.in_writing.load(Ordering::Relaxed) > 0 && !self.has_no_journal()
    }

    /// Ends the run if its journal cannot be used. The outermost plan has notes written.
    #[cold]
    pub(super) fn look_at_journal(&mut self, cx: &mut Context<'_>) {
        let Some(durable) = self.run.durable.clone() else {
            return;
        };
        if self.outer.is_none() {
            durable.poll(cx);
            self.receive(cx);
        }
        if let Some(error) = durable.failure() {
            self.interrupts.happen(Interrupt::Journal(error));
        }
    }

    /// Why the run's journal cannot be used, if it cannot.
    #[cfg(feature = "sqlite")]
    pub(in crate::run) fn journal_failure(&self) -> Option<RunError> {
        let error = self.run.durable.as_ref()?.failure()?;
        let cause = Cause::Interrupted(Interrupt::Journal(error));
        Some(RunError::new(self.plan, cause, Vec::new()))
    }

    /// Whether only its records are looked at.
    pub(super) fn is_viewed(&self) -> bool {
        let durable = self.run.durable.as_ref();
        durable.is_some_and(|durable| durable.is_viewed())
    }

    /// Takes what was sent to the run from outside.
    fn receive(&mut self, cx: &mut Context<'_>) {
        let Some(durable) = self.run.durable.clone() else {
            return;
        };
        if !durable.is_live() {
            return;
        }
        let mut messages = match self.messages.take() {
            Some(messages) => messages,
            None => Box::new(Messages::new(&durable, self.signals())),
        };
        if messages.poll(&durable, cx) {
            self.interrupts.happen(Interrupt::Cancelled);
        }
        self.messages = Some(messages);
    }

    /// Whether the outermost plan, which has nothing to do, is to replay what is recorded next, or to make the calls that it held back; or whether it
    /// has something to do by now, since it was handed a permit.
    #[cold]
    pub(super) fn goes_on_replaying(&self) -> bool {
        match &self.run.durable {
            Some(_) if self.applicant.has_come() => true,
            Some(durable) if self.outer.is_none() && !self.running.has_woken() => durable.go_on(),
            _ => false,
        }
    }

    /// Writes down that the run was cancelled, or has passed its deadline.
    #[cold]
    pub(super) fn note_interrupt(&mut self) {
        let Some(durable) = &self.run.durable else {
            return;
        };
        let in_grace = self.ending.as_ref().is_some_and(|it| it.is_in_grace());
        let key = if in_grace || self.winding.is_some() {
            GRACE
        } else {
            INTERRUPT
        };
        if self.own_prefix().is_none() || self.interrupt_record == Some(key) {
            return;
        }
        // A cancellation has no limit.
        let limit = match self.interrupts.happened() {
            Some(Interrupt::Cancelled) => Ok(Value::Null),
            Some(Interrupt::Deadline(limit)) => serde_json::to_value(limit),
            _ => return,
        };
        let now = durable.now();
        if !self.interrupts.is_replayed() {
            match limit.and_then(|limit| durable::encode((now, now), Ok(&limit))) {
                Ok(body) => durable.note(format!("{}{key}", self.prefix), body),
                Err(error) => durable.fail(JournalError::storage(error)),
            }
        }
        self.interrupt_record = Some(key);
    }

    /// What its keys begin with, if it has a deadline and a cancellation of its own.
    fn own_prefix(&self) -> Option<&str> {
        (self.outer.is_none() || self.beside.is_some()).then_some(&*self.prefix)
    }

    /// What had ended the time for undo steps and always steps before a crash.
    pub(super) fn end_of_grace(&self) -> Option<(Replay, Interrupt)> {
        interrupt_of(&self.run, self.own_prefix(), GRACE)
    }

    /// The key of a job's records, without the attempt.
    fn key(&self, step: usize, element: &[usize]) -> String {
        durable::of_element(&self.prefix, &self.plan.steps[step].id, element)
    }

    /// The key of an attempt of a job.
    fn key_of_attempt(&self, step: usize, job: usize, attempt: u32) -> String {
        let flow = self.steps.flow(step);
        let element = flow.map_or_else(Vec::new, |flow| flow.elements(flow.jobs[job].place));
        format!("{}@{attempt}", self.key(step, &element))
    }

    /// Takes an attempt from its record, if it has one.
    #[inline]
    pub(super) fn replays(&mut self, step: usize, job: usize, start: Start<'_, 'x>) -> bool {
        self.run.durable.is_some() && self.takes_record(step, job, start)
    }

    /// Why a recorded output is not of the type that the action has now.
    fn misfit(
        &self,
        (action, number): (&'x Action, usize),
        recorded: &Recorded,
        start: Start<'_, 'x>,
    ) -> Option<String> {
        let value = recorded.result.as_ref().ok()?;
        let scope = self.scope();
        match start(number, Request::new(&scope, action).recorded(value)) {
            Started::Ended(Err(StepError::Output(error))) => Some(error.to_string()),
            Started::Ended(Err(error)) => Some(error.to_string()),
            _ => None,
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
            Err(error) => Err(JournalError::storage(format!(
                "the record `{key}`: {error}"
            ))),
            Ok(recorded) => match self.misfit((action, number), &recorded, start) {
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
        } = match recorded {
            Ok(recorded) => recorded,
            Err(error) => {
                durable.fail(error);
                return true;
            }
        };
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
        }
        let span = self.watch_attempt(step, job);
        let room = self.room().of_one();
        let result =
            result.and_then(|value| StoredValue::made(value, room).map_err(StepError::output));
        let replay = durable.replay(found.number, ended);
        let future: StepFuture<'x> = Box::pin(async move {
            replay.await;
            result
        });
        self.calls += 1;
        self.has_permit = false;
        self.flow(step).active += 1;
        let more = CallState::of(span, None, None);
        self.running.push((step, job), Some(future), more, 0);
        true
    }

    /// A call that is to be recorded. It is held back as long as the run replays.
    #[inline]
    pub(super) fn recorded(&self, future: StepFuture<'x>) -> StepFuture<'x> {
        match &self.run.durable {
            None => future,
            Some(durable) => Box::pin(held_back(Arc::clone(durable), future)),
        }
    }

    /// The same for what a call waits for before it starts.
    pub(super) fn held_back(&self, wait: Sleep) -> Sleep {
        match &self.run.durable {
            None => wait,
            Some(durable) => Box::pin(held_back(Arc::clone(durable), wait)),
        }
    }

    /// Whether an attempt had begun before a crash, as far as something in it is recorded. `Err` means that the run is over.
    pub(super) fn has_begun(&self, step: usize, job: usize, attempt: u32) -> Result<bool, ()> {
        match &self.run.durable {
            Some(durable) if !durable.is_live() => {
                durable.has_begun(&self.key_of_attempt(step, job, attempt))
            }
            _ => Ok(false),
        }
    }

    /// The wait before the next attempt of a job. Where that had begun before a crash, the wait is over.
    pub(super) fn wait_before(&self, step: usize, job: usize, wait: Duration) -> Sleep {
        let attempt = self
            .steps
            .flow(step)
            .map_or(1, |flow| flow.jobs[job].attempts + 1);
        match (self.has_begun(step, job, attempt), &self.run.durable) {
            (Ok(true), Some(durable)) => durable.wait_again(durable.now().saturating_add(wait)),
            (Err(()), _) => Box::pin(std::future::pending()),
            _ => self.clock.sleep(wait),
        }
    }

    /// The time limit of an attempt.
    pub(super) fn limit(&self, step: usize, job: usize, limit: Duration) -> Sleep {
        let flow = self.steps.flow(step);
        if flow.is_some_and(|flow| matches!(flow.jobs[job].work, Work::Action(_))) {
            return self.clock.sleep_live(limit);
        }
        self.limit_inside(step, job, limit)
    }

    /// The time limit of an attempt that is a block or a plan. What is done in it once its time is over depends on that.
    pub(super) fn limit_inside(&self, step: usize, job: usize, limit: Duration) -> Sleep {
        let (Some(durable), Some(flow)) = (&self.run.durable, self.steps.flow(step)) else {
            return self.clock.sleep(limit);
        };
        let key = self.key_of_attempt(step, job, flow.jobs[job].attempts) + "!late";
        match durable.find(&key) {
            Err(()) => Box::pin(std::future::pending()),
            Ok(Some(found)) => match durable::decode(&found.body) {
                Ok(recorded) => Box::pin(durable.replay(found.number, recorded.ended)),
                Err(error) => {
                    durable.fail(JournalError::storage(format!(
                        "the record `{key}`: {error}"
                    )));
                    Box::pin(std::future::pending())
                }
            },
            Ok(None) => {
                let (durable, sleep) = (Arc::clone(durable), self.clock.sleep(limit));
                Box::pin(async move {
                    sleep.await;
                    let now = durable.now();
                    match durable::encode((now, now), Ok(&Value::Null)) {
                        Ok(body) => durable.note(key, body),
                        Err(error) => durable.fail(JournalError::storage(error)),
                    }
                })
            }
        }
    }

    /// What the gates decided about a job before a crash, if they did. `Err` means that the run is over.
    #[cold]
    pub(super) fn recorded_answer(
        &self,
        step: usize,
        job: usize,
    ) -> Result<Option<(Answer, u64)>, ()> {
        let Some(durable) = &self.run.durable else {
            return Ok(None);
        };
        // What was decided about all elements comes first.
        let mut key = self.key_of_answers(step, job);
        let mut found = durable.find(&key)?;
        if found.is_none() {
            key = self.key_of_answer(step, job);
            found = durable.find(&key)?;
        }
        let answer = found.map(|found| Ok((serde_json::from_str(&found.body)?, found.number)));
        answer.transpose().map_err(|error: serde_json::Error| {
            durable.fail(JournalError::storage(format!(
                "the record `{key}`: {error}"
            )));
        })
    }

    /// Writes down what the gates have decided about a job.
    pub(super) fn note_answer(&self, step: usize, job: usize, decision: Option<&Decided>) {
        let Some(durable) = &self.run.durable else {
            return;
        };
        let answer = match decision {
            Some(Decided::Allow) => Answer::Allow,
            Some(Decided::AllowStep) => Answer::AllowStep,
            Some(Decided::Refuse(reason)) => Answer::Refuse(reason.clone()),
            None => return,
        };
        let key = match answer {
            Answer::AllowStep => self.key_of_answers(step, job),
            Answer::Allow | Answer::Refuse(_) => self.key_of_answer(step, job),
        };
        if let Ok(body) = serde_json::to_string(&answer) {
            durable.note(key, body);
        }
    }

    /// The key of a decision about all elements of a job's step that make the same call.
    fn key_of_answers(&self, step: usize, job: usize) -> String {
        let number = self
            .steps
            .flow(step)
            .map_or(0, |flow| flow.jobs[job].number);
        let number = number - self.graph.actions[step] as usize;
        self.key_of_decision(step, &[], &format!("gate{number}"))
    }

    fn key_of_answer(&self, step: usize, job: usize) -> String {
        let flow = self.steps.flow(step);
        let element = flow.map_or_else(Vec::new, |flow| flow.elements(flow.jobs[job].place));
        self.key_of_decision(step, &element, "gate")
    }

    /// What ends the wait of an element for a value. It is recorded, or what is recorded ends it.
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
                        let error = format!("the record `{key}`: {error}");
                        durable.fail(JournalError::storage(error));
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
            let body = {
                let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                let times = (started, durable.time());
                match &*outcome {
                    Some(Ok(sent)) => durable::encode(times, Ok(&sent.value)),
                    Some(Err(error)) => durable::encode(times, Err(error)),
                    None => return,
                }
            };
            match body {
                Ok(body) => durable.write(key, body).await,
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
        span: &Span,
    ) {
        let at = &mut self.flow(step).jobs[job];
        if matches!(at.record, AttemptRecord::Due(_)) {
            // The code in an argument may do otherwise after a crash.
            if action.tool.is_none() || action.args.has_code() {
                self.flow(step).active += 1;
                return self.called(step, job, result, Some(span));
            }
            // It can be made no better after a crash.
            at.record = AttemptRecord::None;
        }
        self.tried(step, job, result, Some(span));
    }

    /// Whether a call that has ended is to be recorded.
    pub(super) fn is_to_record(&self, step: usize, job: usize) -> bool {
        let job = self.steps.flow(step).and_then(|flow| flow.jobs.get(job));
        job.is_some_and(|job| matches!(job.record, AttemptRecord::Due(_)))
    }

    /// A call has ended: its record is written, and nothing goes on before it is durable. Until then, the call has its place among those that run: else another
    /// could start that would not have started a moment later, when it is known how this one has ended, and does not start after a crash.
    #[cold]
    pub(super) fn record_call(
        &mut self,
        (step, job): (usize, usize),
        result: StepResult,
        more: Option<Box<CallState<'x>>>,
    ) {
        let future: StepFuture<'x> = match self.record(step, job, &result) {
            Some(write) => {
                let writing = InWriting::new(&self.in_writing);
                Box::pin(async move {
                    write.await;
                    drop(writing);
                    result
                })
            }
            None => Box::pin(std::future::ready(result)),
        };
        let more = more.map(CallState::writing);
        self.running.push((step, job), Some(future), more, 0);
    }

    /// A value was computed: its record is written, and nothing goes on before it is durable. What goes on now is given back.
    #[cold]
    pub(super) fn writes(
        &mut self,
        step: usize,
        job: usize,
        result: StepResult,
    ) -> Option<StepResult> {
        match self.record(step, job, &result) {
            Some(write) => {
                self.flow(step).jobs[job].record = AttemptRecord::Writing(Box::new(result));
                let wait = Some(CallState::wait(write));
                self.running.push((step, job), None, wait, 0);
                None
            }
            None => Some(result),
        }
    }

    /// Writes the record of an attempt, if it is to have one.
    fn record(&mut self, step: usize, job: usize, result: &StepResult) -> Option<Sleep> {
        let durable = self.run.durable.clone()?;
        let tried = self.flow(step).jobs[job].tried;
        let now = self.clock.time();
        let times = (self.clock.in_all(tried), self.clock.in_all(now));
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
                Ok(json) => durable::encode(times, Ok(json)),
                // It fails where the output is read.
                Err(_) => return None,
            },
            Err(error) => durable::encode(times, Err(error)),
        };
        let body = match body {
            Ok(body) => body,
            Err(error) => {
                durable.fail(JournalError::storage(error));
                return Some(Box::pin(std::future::pending()));
            }
        };
        Some(durable.write(key, body))
    }

    /// What Rust code decides, once and for all: what it has decided before a crash, if it has. `None` means that the run is over.
    /// That it failed is recorded, too, as the error of a step.
    pub(super) fn decided<T, E>(
        &self,
        has_code: bool,
        key: impl FnOnce() -> String,
        decide: impl FnOnce() -> Result<T, E>,
        (error_of, made_of): Errors<E>,
    ) -> Option<Result<T, E>>
    where
        T: Serialize + DeserializeOwned,
    {
        let Some(keeper) = self.keeper().filter(|_| has_code) else {
            return Some(decide());
        };
        let key = key();
        let fail = |error: serde_json::Error| match keeper {
            Keeper::Journal(durable) => durable.fail(JournalError::storage(format!(
                "the record `{key}`: {error}"
            ))),
            Keeper::Engine(_) => {
                let error = engine::misfit(&key, &error);
                self.interrupts.happen(Interrupt::Journal(error));
            }
        };
        if let Some(body) = keeper.find(&key).ok()? {
            let recorded = durable::decode(&body).map_err(fail).ok()?;
            return match recorded.result {
                Ok(value) => serde_json::from_value(value).map_err(fail).ok().map(Ok),
                Err(error) => Some(Err(made_of(error))),
            };
        }
        let decided = decide();
        let now = keeper.now();
        let body = match &decided {
            Ok(value) => {
                let value = serde_json::to_value(value).map_err(fail).ok()?;
                durable::encode((now, now), Ok(&value))
            }
            Err(error) => match error_of(error) {
                // What ends the run decides nothing.
                Some(error)
                    if error.exceeded().is_none() && self.interrupts.happened().is_none() =>
                {
                    durable::encode((now, now), Err(error))
                }
                _ => return Some(decided),
            },
        };
        let body = body.map_err(fail).ok()?;
        Some(match keeper.keep(key, body) {
            Ok(()) => decided,
            Err(error) => Err(made_of(error)),
        })
    }

    /// What keeps the decisions of the run, if anything does.
    fn keeper(&self) -> Option<Keeper<'_>> {
        match (&self.run.durable, &self.run.engine) {
            (Some(durable), _) => Some(Keeper::Journal(durable)),
            (None, Some(engine)) => Some(Keeper::Engine(&**engine)),
            (None, None) => None,
        }
    }

    /// The error of a decision that is not made, since the journal cannot be used. It is seen nowhere: that ends the run.
    #[cold]
    pub(super) fn stopped(&self) -> StepError {
        if let Some(error) = self
            .run
            .durable
            .as_ref()
            .and_then(|durable| durable.failure())
        {
            self.interrupts.happen(Interrupt::Journal(error));
        }
        StepError::Unknown
    }

    /// The value that replaces the output of a step which has failed.
    pub(super) fn fallback(
        &self,
        step: usize,
        fallback: &Template,
    ) -> Result<(Value, usize), StepError> {
        let bytes = Cell::new(0);
        let has_code = self.run.is_kept() && fallback.has_code();
        let key = || self.key_of_decision(step, &[], "fallback");
        let decided = self.decided(
            has_code,
            key,
            || match self.metered(|scope| resolve::<Value>(fallback, scope)) {
                Ok((Ok(value), spent)) => {
                    bytes.set(spent);
                    Ok(value)
                }
                Ok((Err(error), _)) => Err(self.hushed(step, StepError::fallback(error))),
                Err(panic) => Err(panic),
            },
            AS_IT_IS,
        );
        match decided {
            None => Err(self.stopped()),
            Some(value) => Ok((value?, bytes.get())),
        }
    }

    /// The key of a decision at the end of a plan or a block.
    pub(super) fn key_of_end(&self, what: &str) -> String {
        format!("{}?{what}", self.prefix)
    }

    /// The key of a decision at a place of a step.
    pub(super) fn key_of_decision(&self, step: usize, element: &[usize], what: &str) -> String {
        format!("{}?{what}", self.key(step, element))
    }
}

/// What keeps the decisions of a run.
#[derive(Clone, Copy)]
enum Keeper<'r> {
    Journal(&'r Durable),
    Engine(&'r dyn Engine),
}

impl Keeper<'_> {
    /// What was decided before. `Err` means that the run is over.
    fn find(self, key: &str) -> Result<Option<String>, ()> {
        match self {
            Self::Journal(durable) => Ok(durable.find(key)?.map(|found| found.body)),
            Self::Engine(engine) => Ok(engine.recall(key)),
        }
    }

    /// Keeps what was decided. `Err` takes its place.
    fn keep(self, key: String, body: String) -> Result<(), StepError> {
        match self {
            Self::Journal(durable) => durable.note(key, body),
            Self::Engine(engine) => {
                if let Err(error) = engine.remember(key.clone(), body) {
                    return Err(refused_by(engine, key, error));
                }
            }
        }
        Ok(())
    }

    /// When it is decided. An engine keeps no times of decisions.
    fn now(self) -> Duration {
        match self {
            Self::Journal(durable) => durable.now(),
            Self::Engine(_) => Duration::ZERO,
        }
    }
}

/// The error of a step that an error is recorded as, if it is, and what is made of that error again.
type Errors<E> = (fn(&E) -> Option<&StepError>, fn(StepError) -> E);

/// Errors of steps are recorded as they are.
pub(super) const AS_IT_IS: Errors<StepError> = (|error| Some(error), |error| error);

async fn held_back<T>(durable: Arc<Durable>, future: impl Future<Output = T>) -> T {
    durable.live().await;
    let _busy = durable.run();
    future.await
}

/// A call that has ended, whose record is being written.
struct InWriting(Arc<AtomicUsize>);

impl InWriting {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for InWriting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
