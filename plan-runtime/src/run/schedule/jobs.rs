//! What a step with branches, elements or attempts does next.

use super::super::StepError;
use super::super::catch::catch;
use super::super::deciding::AS_IT_IS;
use super::super::making::{bind, items};
use super::super::on_failure::OnFailure;
use super::super::report::Attempt;
use super::super::start::{Request, Started, StepResult};
use super::super::throttle::LONGEST_CLOSED;
use super::super::trace::Span;
use super::super::weights::{CALL, LIST};
use super::body_state::{BodyState, Failed, Job, OutputSlot, Work, note, outcome};
use super::decisions::{Decision, What};
use super::task::CallState;
use super::{Schedule, Start};
use crate::error::Elements;
use crate::failure::Failure;
use crate::plan::{Body, Branch, Catch, Condition, ERR, OK, Optional, Template};
use crate::resolve::{Meter, ResolveError, Scope, StoredValue, bytes_of, resolve};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

impl<'x> Schedule<'x> {
    /// Starts what comes next in a step: another attempt, or another element.
    pub(super) fn advance(&mut self, step: usize, start: Start<'_, 'x>) {
        let Some(flow) = self.steps.flow_mut(step) else {
            return;
        };
        flow.queued = false;
        if let Some(Reverse(job)) = flow.again.pop() {
            self.seeing(step, |it| it.attempt(step, job, start));
        } else if let Some((each, number, place, frame)) = flow.next_element() {
            self.seeing(step, |it| {
                it.enter(step, &each.body, number, place, Some(frame), start);
            });
        }
        self.settle(step);
    }

    /// Does a body, as far as it does not have to wait for a call. Its first action has this number.
    pub(super) fn enter(
        &mut self,
        step: usize,
        mut body: &'x Body,
        mut number: usize,
        place: OutputSlot,
        mut frame: Option<usize>,
        start: Start<'_, 'x>,
    ) {
        // How many `if`s are around it, each right in a branch of another.
        let mut depth = 0;
        loop {
            match body {
                Body::Action(action) => {
                    let work = Work::Action(action);
                    return self.begin_job(step, work, number, place, frame, start);
                }
                Body::Block(block) => {
                    let work = Work::Block(block);
                    return self.begin_job(step, work, number, place, frame, start);
                }
                Body::Loop(repeat) => return self.start_loop(step, repeat, number, start),
                Body::Await(wait) => return self.wait_for_value(step, wait, place, frame),
                Body::If(branches) => {
                    match self.choose((step, place, number, depth), branches, &mut frame) {
                        Err(_) if self.interrupts.happened().is_some() => return,
                        Ok(Some(chosen)) => {
                            let before = branches[..chosen].iter();
                            number += before.map(|branch| branch.body.count()).sum::<usize>();
                            body = &branches[chosen].body;
                            depth += 1;
                        }
                        Ok(None) => {
                            self.steps.more(step).skipped |= !place.is_element();
                            return self.deliver(step, place, frame, Value::Null);
                        }
                        Err(error) => return self.fail(step, place, frame, error, 0),
                    }
                }
                Body::For(each) => {
                    let at = Decision::new(step, place, number, What::List);
                    let items = self.decide(at, frame, &each.list, |scope| {
                        items(resolve(&each.list, scope)?, &each.list)
                    });
                    let room = |bytes: usize, length: usize| {
                        let all = LIST.1.saturating_mul(length).saturating_add(LIST.0);
                        let all = all.saturating_add(bytes);
                        if self.has_room(all) {
                            Ok(all)
                        } else {
                            Err(StepError::arguments(self.full()))
                        }
                    };
                    let items = items.and_then(|(items, bytes)| {
                        let bytes = room(bytes, items.len())?;
                        let counted = self.allowance.list(items.len());
                        counted.map_err(StepError::arguments)?;
                        Ok((items, bytes))
                    });
                    match items {
                        Err(_) if self.interrupts.happened().is_some() => {}
                        Ok((items, bytes)) => {
                            self.hold(step, bytes);
                            self.watch_list(step, place, items.len());
                            if items.is_empty() {
                                self.deliver(step, place, frame, Value::Array(items));
                            } else {
                                self.flow(step).push_list(each, number, items, place, frame);
                            }
                        }
                        Err(error) => self.fail_whole(step, place, error, 0),
                    }
                    return;
                }
            }
        }
    }

    fn begin_job(
        &mut self,
        step: usize,
        work: Work<'x>,
        number: usize,
        place: OutputSlot,
        frame: Option<usize>,
        start: Start<'_, 'x>,
    ) {
        if !self.has_room(CALL) {
            let error = StepError::arguments(self.full());
            return self.fail(step, place, frame, error, 0);
        }
        self.hold(step, CALL);
        let job = self
            .flow(step)
            .push_job(Job::new(work, number, place, frame));
        self.attempt(step, job, start);
    }

    /// The place of the first branch whose conditions hold. The frame gets the values that they bind.
    fn choose(
        &mut self,
        (step, slot, number, depth): (usize, OutputSlot, usize, usize),
        branches: &'x [Branch],
        frame: &mut Option<usize>,
    ) -> Result<Option<usize>, StepError> {
        let around = *frame;
        for (place, branch) in branches.iter().enumerate() {
            let at = Decision::new(step, slot, number, What::Branch { depth, place });
            if self.all_hold(at, &branch.conditions, frame)? {
                return Ok(Some(place));
            }
            let left = self.flow(step).leave(*frame, around);
            self.held.remove(left);
            *frame = around;
        }
        Ok(None)
    }

    /// Whether all of these hold. They are tested up to the first that does not.
    fn all_hold(
        &mut self,
        mut at: Decision,
        conditions: &'x [Condition],
        frame: &mut Option<usize>,
    ) -> Result<bool, StepError> {
        let step = at.step;
        for (place, condition) in conditions.iter().enumerate() {
            at.condition = place;
            let holds = match condition {
                Condition::Holds(test) => {
                    let (holds, _) = self.decide(at, *frame, test, |scope| resolve(test, scope))?;
                    holds
                }
                Condition::Let { pattern, value } => {
                    let read = |scope: &Scope<'_>| bind(pattern, value, scope);
                    let (bound, bytes) = self.decide(at, *frame, value, read)?;
                    if let Some(value) = bound {
                        self.hold(step, bytes);
                        let bound = StoredValue::weighed(value, bytes);
                        *frame = Some(self.flow(step).push_frame(bound, *frame));
                        true
                    } else {
                        false
                    }
                }
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is decided in a step by a value. What Rust code decides stays so after a crash.
    fn decide<T: Serialize + DeserializeOwned>(
        &self,
        at: Decision,
        frame: Option<usize>,
        by: &Template,
        read: impl FnOnce(&Scope<'_>) -> Result<T, ResolveError>,
    ) -> Result<(T, usize), StepError> {
        let step = at.step;
        let has_code = self.run.is_kept() && by.has_code();
        let bytes = Cell::new(0);
        let key = || {
            let flow = self.steps.flow(step);
            let element = flow.map_or_else(Vec::new, |flow| flow.elements(at.slot));
            self.key_of_decision(step, &element, &at.name(self.graph.actions[step] as usize))
        };
        let decided = self.decided(
            has_code,
            key,
            || {
                let (made, made_of) = self.locally(step, frame, read)?;
                bytes.set(made_of);
                Ok(made)
            },
            AS_IT_IS,
        );
        match decided {
            Some(made) => Ok((made?, bytes.get())),
            None => Err(self.stopped()),
        }
    }

    fn locally<T>(
        &self,
        step: usize,
        frame: Option<usize>,
        read: impl FnOnce(&Scope<'_>) -> Result<T, ResolveError>,
    ) -> Result<(T, usize), StepError> {
        let locals = match self.steps.flow(step) {
            Some(flow) => flow.locals(frame),
            None => Vec::new(),
        };
        let (made, bytes) = self.metered_in(&locals, read)?;
        let made = made.map_err(|error| self.hushed(step, StepError::arguments(error)));
        Ok((made?, bytes))
    }

    /// Puts an output where it belongs.
    pub(super) fn deliver(
        &mut self,
        step: usize,
        place: OutputSlot,
        frame: Option<usize>,
        value: Value,
    ) {
        self.put(step, place, frame, (value, false));
    }

    /// Puts a value where it belongs, with a flag for a caught failure.
    fn put(&mut self, step: usize, place: OutputSlot, frame: Option<usize>, value: (Value, bool)) {
        let Some(mut flow) = self.steps.take_flow(step) else {
            return;
        };
        let watched = self.run.is_observed();
        let stored = flow.stored;
        let catches = self.plan.steps[step].policy.catch == Catch::Each;
        flow.deliver(place, frame, value, catches, &mut |flow, place| {
            if watched {
                self.watch_element(step, &flow.elements(place));
            }
        });
        self.held.remove(stored - flow.stored);
        self.steps.more(step).flow = Some(flow);
    }

    /// Makes the first or a further attempt of a job.
    pub(super) fn attempt(&mut self, step: usize, job: usize, start: Start<'_, 'x>) {
        if self.must_wait(step, job, start) || self.replays(step, job, start) {
            return;
        }
        let attempt = self.flow(step).jobs[job].attempts + 1;
        let Ok(has_begun) = self.has_begun(step, job, attempt) else {
            return;
        };
        // A call is made now, whenever its step has begun, unless it goes on.
        let decided = self.clock.now();
        let is_late = self.clock.is_durable && !has_begun;
        let now = match self.flow(step).jobs[job].work {
            Work::Action(_) if is_late => self.clock.time(),
            Work::Action(_) | Work::Block(_) | Work::Round(_) => decided,
        };
        let policy = Arc::clone(self.policy(step));
        let at = &mut self.flow(step).jobs[job];
        at.is_next = false;
        // A round has the time at which its loop started, which may be that of the run.
        let is_round = matches!(at.work, Work::Round(_));
        if at.attempts == 0 && at.started.is_zero() && !is_round {
            at.started = now;
        }
        let until = policy
            .deadline
            .map(|deadline| at.started.saturating_add(deadline));
        let left = until.map(|until| until.saturating_sub(now));
        let (place, frame, work, number) = (at.place, at.frame, at.work, at.number);
        let waited = at
            .waits
            .take()
            .filter(|_| left.is_some_and(|it| it.is_zero()));
        let attempts = at.attempts;
        at.attempts += 1;
        at.tried = now;
        if let Some(error) = waited {
            // The time that a crash took is no reason to fail before others that had ended.
            if until.is_some_and(|until| decided < until) && self.is_to_record(step, job) {
                self.flow(step).jobs[job].log = None;
                return self.ends_in_turn((step, job), Err(error), None);
            }
            return self.fail(step, place, frame, error, attempts);
        }
        let attempt = at.attempts;
        let is_counted = std::mem::replace(&mut at.is_counted, true);
        if let Work::Action(action) = work
            && let Some(error) = self.charge(action, !is_counted)
        {
            return self.fail(step, place, frame, error, attempt);
        }
        let limit = match (policy.timeout, left) {
            (Some(timeout), left) if left.is_none_or(|left| timeout <= left) => {
                Some((timeout, StepError::Timeout(timeout)))
            }
            (_, Some(left)) => Some((left, StepError::Deadline(policy.deadline.unwrap_or(left)))),
            (_, None) => None,
        };
        let until = limit.as_ref().map(|(limit, _)| now.saturating_add(*limit));
        let time = limit.as_ref().map(|(limit, _)| *limit);
        let limit = limit.map(|(limit, error)| (self.limit(step, job, limit), error));
        if self.options.record {
            if !self.has_room(size_of::<Attempt>()) {
                let error = StepError::arguments(self.full());
                return self.fail(step, place, frame, error, attempt);
            }
            self.held.add(size_of::<Attempt>());
            let element = self.flow(step).elements(place);
            let log = &mut self.steps.more(step).log;
            let entry = Some(log.len());
            log.push(Attempt::new(element, attempt, now, work.tool().cloned()));
            self.flow(step).jobs[job].log = entry;
        }
        let span = self.watch_attempt(step, job);
        let action = match work {
            Work::Action(action) => action,
            Work::Block(block) => {
                return self.start_block(step, job, block, span, limit, until);
            }
            Work::Round(repeat) => {
                return self.start_block(step, job, &repeat.round, span, limit, until);
            }
        };
        let captured = Cell::new(None);
        let late = Cell::new(false);
        // What is given away is not there for a further attempt.
        let is_last = attempt >= policy.attempts && self.flow(step).jobs[job].question.is_none();
        let given = self.give(step, is_last);
        let (result, bytes) = {
            let stop = || {
                let is_late = |until| until <= self.clock.now();
                late.set(!self.clock.is_durable && until.is_some_and(is_late));
                self.interrupts.look(&self.clock) || late.get()
            };
            let meter = Meter::new(self.room(), Some(&stop));
            let flow = self.steps.flow(step);
            let locals = flow.map_or_else(Vec::new, |flow| flow.locals(frame));
            let scope = self.scope().with_locals(&locals).metered(&meter);
            let context = |is_plan: bool| {
                let element = flow.map_or_else(Vec::new, |flow| flow.elements(place));
                self.context(
                    (step, job),
                    element,
                    attempt,
                    until,
                    is_plan.then_some(number),
                )
            };
            let question = flow.and_then(|flow| flow.jobs[job].question.as_ref());
            let shown = question.map(|question| &question.arguments);
            let secrecy = self.secrecy.as_deref();
            let request = Request::new(&scope, action)
                .hiding(secrecy.map(|secrecy| secrecy.arguments(number)))
                .shown(shown)
                .handing(given.as_ref(), self.keep(step))
                .capturing(self.options.capture.then_some(&captured))
                .within(&context)
                .on(self.run.engine.as_ref());
            let result = catch(|| span.in_scope(|| start(number, request)));
            (result, meter.spent())
        };
        self.take_back(given);
        self.count_json(step);
        let log = self.flow(step).jobs[job].log;
        let mut captured = captured.take();
        if let (Some(arguments), Some(secrecy)) = (&mut captured, &self.secrecy) {
            secrecy.arguments(number).mask_in(arguments);
        }
        if let Some(arguments) = &captured {
            self.held.add(bytes_of(arguments));
        }
        if let Some(attempt) = self.logged(step, log) {
            attempt.arguments = captured;
        }
        match result {
            Ok(Started::InContext(future, context)) => {
                let future = self.recorded(future);
                self.held.add(bytes);
                self.flow(step).active += 1;
                context.keep(self.flow(step).jobs[job].turn.take());
                self.push_in_context((step, job), future, span, limit, context, bytes);
            }
            Ok(Started::Plan(plan, context)) => {
                let at = &mut self.flow(step).jobs[job];
                at.tried = decided;
                if attempt == 1 {
                    at.started = decided;
                }
                let limit = limit.zip(time);
                let limit =
                    limit.map(|((_, error), time)| (self.limit_inside(step, job, time), error));
                self.start_plan((step, job), *plan, context, span, limit, bytes);
            }
            Ok(Started::Running(future)) => {
                let future = self.recorded(future);
                self.calls += 1;
                self.has_permit = false;
                self.held.add(bytes);
                self.flow(step).active += 1;
                let more = CallState::of(span, limit, None);
                self.running.push((step, job), Some(future), more, bytes);
            }
            Ok(Started::Ended(Err(_))) if self.interrupts.happened().is_some() => {}
            Ok(Started::Ended(Err(error))) if late.get() => {
                let error = limit.map_or(error, |(_, late)| late);
                self.tried(step, job, Err(error), Some(&span));
            }
            Ok(Started::Ended(result)) => self.computed(step, job, action, result, span),
            Ok(Started::Asks(_)) => self.tried(step, job, Err(StepError::Unknown), Some(&span)),
            // Of code, it may be otherwise after a crash.
            Err(panic) => self.computed(step, job, action, Err(panic), span),
        }
    }

    /// A job's call has ended.
    pub(super) fn called(
        &mut self,
        step: usize,
        job: usize,
        result: StepResult,
        span: Option<&Span>,
    ) {
        let Some(flow) = self.steps.flow_mut(step) else {
            return;
        };
        flow.active -= 1;
        self.tried(step, job, result, span);
        self.settle(step);
    }

    /// An attempt has ended.
    pub(super) fn tried(
        &mut self,
        step: usize,
        job: usize,
        result: StepResult,
        span: Option<&Span>,
    ) {
        let now = self.clock.now();
        let result = result.map_err(|error| {
            let error = error.of_call(|| {
                let at = &self.flow(step).jobs[job];
                let (place, attempt) = (at.place, at.attempts);
                let element = self.flow(step).elements(place);
                self.block_place(step, element, attempt)
            });
            self.hushed(step, error)
        });
        self.watch_tried(step, job, result.as_ref().err(), span);
        let at = &self.flow(step).jobs[job];
        let (place, frame, attempts, started) = (at.place, at.frame, at.attempts, at.started);
        let log = at.log;
        if let Some(attempt) = self.logged(step, log) {
            attempt.end(now, result.as_ref().err());
        }
        let mut not_before = Duration::ZERO;
        if let Err(error) = &result
            && let Some(wait) = error.retry_delay()
        {
            not_before = wait.min(LONGEST_CLOSED);
            self.close_throttles(step, job, not_before);
        }
        self.flow(step).jobs[job].turn = None;
        let error = match result {
            Ok(output) if self.has_room(output.bytes()) => {
                self.forget_question(step, job);
                self.hold(step, output.bytes());
                self.flow(step).made += output.bytes();
                let bytes = output.bytes();
                if output.is_whole() {
                    // Only the call that a step is gives one, and so its output is that of the step.
                    self.flow(step).output = Some(output);
                    return;
                }
                let output = match output.into_json() {
                    Ok(output) => output,
                    Err(error) => {
                        let error = StepError::output(error);
                        return self.fail(step, place, frame, error, attempts);
                    }
                };
                if let Work::Round(repeat) = self.flow(step).jobs[job].work {
                    return self.round_ended((step, job), repeat, output, bytes);
                }
                return self.deliver(step, place, frame, output);
            }
            Ok(_) => self.no_room(),
            Err(error) => error,
        };
        let policy = Arc::clone(self.policy(step));
        let failed = self.flow(step).failed.is_some();
        if failed || self.is_stopping() || attempts >= policy.attempts || !error.is_transient() {
            return self.fail(step, place, frame, error, attempts);
        }
        let mut wait = policy.wait_after(attempts);
        if policy.jitter {
            wait = wait.mul_f64(self.random.f64());
        }
        wait = wait.max(not_before);
        if policy
            .deadline
            .is_some_and(|deadline| now.saturating_add(wait) >= started.saturating_add(deadline))
        {
            return self.fail(step, place, frame, error, attempts);
        }
        self.watch_retry(step, job, wait);
        self.flow(step).jobs[job].waits = Some(error);
        if wait == Duration::ZERO {
            self.flow(step).again.push(Reverse(job));
        } else {
            let sleep = self.wait_before(step, job, wait);
            self.running
                .push((step, job), None, Some(CallState::wait(sleep)), 0);
        }
    }

    /// A job's wait is over.
    pub(super) fn waited(&mut self, step: usize, job: usize) {
        let Some(flow) = self.steps.flow_mut(step) else {
            return;
        };
        if flow.jobs[job].waits.is_some() || flow.jobs[job].is_next {
            flow.again.push(Reverse(job));
            self.settle(step);
        }
    }

    /// What belongs at this place will not come.
    pub(super) fn fail(
        &mut self,
        step: usize,
        place: OutputSlot,
        frame: Option<usize>,
        error: StepError,
        attempts: u32,
    ) {
        let error = self.hushed(step, error);
        let policy = &self.plan.steps[step].policy;
        let is_caught = policy.catch == Catch::Each;
        let is_optional = policy.optional == Optional::Each && !error.leaves_work();
        if (is_caught || is_optional) && place.is_element() && !self.is_cut() {
            let element = self.flow(step).elements(place);
            if !self.is_over(step, &element, &error) {
                let output = if is_caught {
                    self.caught(step, &element, &error, attempts)
                } else {
                    Value::Null
                };
                self.note_made_up((step, &element), &element, attempts);
                let failed = Failed {
                    element,
                    error,
                    attempts,
                };
                if is_caught {
                    let left = self.left_by(step, &failed);
                    self.left.add(left);
                }
                drop(note(&mut self.flow(step).missed, failed));
                return self.put(step, place, frame, (output, true));
            }
        }
        self.fail_whole(step, place, error, attempts);
    }

    /// The output of a step, or of an element of it, whose failure is caught.
    pub(super) fn caught(
        &self,
        step: usize,
        element: &[usize],
        error: &StepError,
        attempts: u32,
    ) -> Value {
        let failure = self.failure(step, element, error, attempts);
        outcome(ERR, serde_json::to_value(failure).unwrap_or_default())
    }

    /// The failure of a step, or of an element of it, as a value.
    pub(super) fn failure(
        &self,
        step: usize,
        element: &[usize],
        error: &StepError,
        attempts: u32,
    ) -> Failure {
        let path = format!("{}{}", self.plan.steps[step].id, Elements(element));
        Failure::of_step(path, error, attempts)
    }

    /// The step has failed, and starts nothing more.
    fn fail_whole(&mut self, step: usize, place: OutputSlot, error: StepError, attempts: u32) {
        let element = self.flow(step).elements(place);
        let is_over = self.is_over(step, &element, &error);
        let flow = self.flow(step);
        let failed = Failed {
            element,
            error,
            attempts,
        };
        flow.note_failed(failed);
        // What waits for another attempt has failed, too, and may be the first.
        for job in flow.cut() {
            let (place, attempts) = (flow.jobs[job].place, flow.jobs[job].attempts);
            if let Some(error) = flow.jobs[job].waits.take() {
                let failed = Failed {
                    element: flow.elements(place),
                    error,
                    attempts,
                };
                flow.note_failed(failed);
            }
        }
        self.drop_questions(step, None);
        if is_over || self.run.options.on_failure == OnFailure::Cancel {
            self.flow(step).active = self.end_blocks(step, !is_over);
        }
    }

    /// Starts nothing more of a step that runs: what waits for another attempt has failed.
    pub(super) fn cut(&mut self, step: usize) {
        let Some(flow) = self.steps.flow_mut(step) else {
            return;
        };
        for job in flow.cut() {
            let flow = self.flow(step);
            let at = &mut flow.jobs[job];
            let (place, frame, attempts) = (at.place, at.frame, at.attempts);
            if let Some(error) = at.waits.take() {
                self.fail(step, place, frame, error, attempts);
            }
        }
        let has_questions = !self.drop_questions(step, None).is_empty();
        let has_waits = self.drop_waits(step);
        self.flow(step).cut |= has_questions || has_waits;
        self.settle(step);
    }

    /// Ends a step that has its output or will have none; else, lines it up if there is something to start.
    pub(super) fn settle(&mut self, step: usize) {
        if self.undoes_elements(step) {
            return;
        }
        let limit = self.policy(step).concurrency;
        let Some(flow) = self.steps.flow_mut(step) else {
            return;
        };
        if flow.active == 0
            && let Some(failed) = flow.failed.take()
        {
            self.drop_flow(step);
            return self.end_failed(step, failed);
        }
        if flow.failed.is_none()
            && let Some(output) = flow.output.take()
        {
            let (missed, made) = (flow.missed.take(), flow.made);
            self.keep_for_good(step);
            self.drop_flow(step);
            self.steps.more(step).recovered = missed;
            let output = match self.plan.steps[step].policy.catch {
                Catch::Whole => StoredValue::json(match output.into_json() {
                    Ok(output) => outcome(OK, output),
                    Err(error) => self.caught(step, &[], &StepError::output(error), 1),
                }),
                Catch::No | Catch::Each => output,
            };
            return self.end(step, &mut output.weighing(made));
        }
        if flow.active == 0 && flow.cut {
            self.drop_flow(step);
            return self.drop_step(step);
        }
        if !flow.queued
            && !flow.deferred
            && flow.has_more()
            && limit.is_none_or(|limit| flow.active < limit.max(1))
        {
            flow.queued = true;
            self.ready.insert(step);
        }
    }

    pub(super) fn logged(&mut self, step: usize, place: Option<usize>) -> Option<&mut Attempt> {
        self.steps.more_mut(step)?.log.get_mut(place?)
    }

    pub(super) fn flow(&mut self, step: usize) -> &mut BodyState<'x> {
        let flow = self.steps.flow_mut(step);
        flow.expect("a step that is more than one call has its state while it runs")
    }
}
