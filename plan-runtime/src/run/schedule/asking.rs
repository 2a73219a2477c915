//! What a run does while calls wait for gates and throttles.

use super::super::StepError;
use super::super::admission::MOST_QUESTIONS;
use super::super::answered::RecordedAnswer;
use super::super::catch::catch;
use super::super::context::{Decision, Question};
use super::super::start::{Request, Started};
use super::super::throttle::Turn;
use super::super::timer::Sleep;
use super::body_state::{AttemptRecord, WaitsFor, Work};
use super::task::CallState;
use super::{Schedule, Start};
use crate::plan::Action;
use crate::resolve::Meter;
use std::cmp::Reverse;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The reason of a refusal without an answer.
const NO_ANSWER: &str = "the gate gave no answer";

impl<'x> Schedule<'x> {
    /// Whether a call may have to wait before it starts.
    #[inline]
    pub(super) fn has_to_wait(&self, action: &Action) -> bool {
        let waits = !self.gates.is_empty() || !self.throttles.is_empty() || self.is_viewed();
        waits && action.tool.is_some()
    }

    /// Whether a job has to wait before its next attempt, or has failed before that.
    pub(super) fn must_wait(&mut self, step: usize, job: usize, start: Start<'_, 'x>) -> bool {
        let flow = self.flow(step);
        let at = &flow.jobs[job];
        let (work, has_turn) = (at.work, at.turn.is_some());
        let is_decided = flow.allowed.contains(&at.number) || at.is_allowed;
        let Work::Action(action) = work else {
            return false;
        };
        let Some(tool) = action.tool.as_ref().filter(|_| self.has_to_wait(action)) else {
            return false;
        };
        // The run is over.
        let Ok(begun) = self.begun_as(step, job) else {
            return true;
        };
        // Who looks at a run sees what its gates have decided, and has none.
        let mut must_ask = !is_decided && (!self.gates.is_empty() || self.is_viewed());
        let mut answer = None;
        if must_ask {
            match self.recorded_answer(step, job) {
                Err(()) => return true,
                // An answer that came after the call is about other elements.
                Ok(found) => answer = found.filter(|at| begun.is_none_or(|it| at.number < it)),
            }
            let is_asked = begun.is_none() && !self.gates.is_empty();
            must_ask = answer.is_some() || is_asked;
        }
        let throttled = begun.is_none() && self.throttles.iter().any(|it| it.has(&tool.name));
        let needs_turn = !has_turn && throttled;
        if (must_ask || needs_turn) && self.asking >= MOST_QUESTIONS {
            let flow = self.flow(step);
            flow.again.push(Reverse(job));
            flow.deferred = true;
            self.deferred.push(step);
            return true;
        }
        if let Some(answer) = answer {
            self.answer_in_turn(step, job, answer);
            return true;
        }
        if must_ask && self.is_answered(step, job, &Decision::AllowStep) {
            self.wait_asking(step, job, WaitsFor::Gates, Box::pin(pending()));
            return true;
        }
        if must_ask && self.ask(step, job, action, start) {
            return true;
        }
        if needs_turn {
            self.queue(step, job, &tool.name);
        }
        needs_turn
    }

    /// The gates have answered before a crash: the answer counts when its record has its turn, since others had ended before.
    fn answer_in_turn(&mut self, step: usize, job: usize, recorded: RecordedAnswer) {
        let RecordedAnswer {
            answer,
            number,
            time,
        } = recorded;
        let Some(durable) = self.run.durable.clone() else {
            return;
        };
        if self.is_answered(step, job, &answer) {
            return self.wait_asking(step, job, WaitsFor::Gates, Box::pin(pending()));
        }
        let turn = durable.replay(number, time);
        self.wait_asking(step, job, WaitsFor::Answer(answer), turn);
    }

    /// Returns `true` if the same answer about all elements has a record whose turn another job waits for.
    fn is_answered(&mut self, step: usize, job: usize, answer: &Decision) -> bool {
        let flow = self.flow(step);
        let number = flow.jobs[job].number;
        let mut others = flow.jobs.iter().filter(|it| it.number == number);
        *answer == Decision::AllowStep
            && others.any(|it| matches!(it.waits_for, WaitsFor::Answer(Decision::AllowStep)))
    }

    /// Asks no more about the calls that the answer about a job allows. They wait for the turn of its record.
    fn stop_asking(&mut self, step: usize, job: usize) {
        let flow = self.flow(step);
        let number = flow.jobs[job].number;
        let jobs = flow.jobs.iter().enumerate();
        let others = jobs.filter(|(other, it)| {
            *other != job && it.number == number && matches!(it.waits_for, WaitsFor::Gates)
        });
        let others: Vec<usize> = others.map(|(other, _)| other).collect();
        flow.active -= others.len();
        self.abandon(|task| task.step == step && task.asks() && others.contains(&task.job));
        for other in others {
            self.wait_asking(step, other, WaitsFor::Gates, Box::pin(pending()));
        }
    }

    /// Records the answer of the gates. `false` if that is no answer, or has no record.
    fn records_answer(&mut self, step: usize, job: usize) -> bool {
        if self.run.durable.is_none() || self.steps.flow(step).is_none() {
            return false;
        }
        let at = &mut self.flow(step).jobs[job];
        if !matches!(at.waits_for, WaitsFor::Gates) {
            return false;
        }
        let answer = at.question.as_ref().and_then(|it| it.take_answer());
        let answer = answer.unwrap_or_else(|| Decision::Refuse(NO_ANSWER.into()));
        if answer == Decision::AllowStep {
            self.stop_asking(step, job);
        }
        let (waits_for, wait) = if self.is_answered(step, job, &answer) {
            (WaitsFor::Gates, Box::pin(pending()) as Sleep)
        } else {
            let wait = self.record_answer(step, job, &answer);
            (WaitsFor::Answer(answer), wait)
        };
        self.flow(step).jobs[job].waits_for = waits_for;
        let wait = Some(CallState::asking(wait));
        self.running.push((step, job), None, wait, 0);
        true
    }

    /// Waits for the turn of a call among those to the same tools.
    fn queue(&mut self, step: usize, job: usize, tool: &str) {
        let slot = Arc::new(Mutex::new(None));
        let coming = Turn::new(&self.throttles, tool).come(Arc::clone(&self.run.options.timer));
        let come = Arc::clone(&slot);
        let wait = async move {
            let turn = coming.await;
            *come.lock().unwrap_or_else(PoisonError::into_inner) = Some(turn);
        };
        self.wait_for(step, job, WaitsFor::Turn(slot), Box::pin(wait));
    }

    fn wait_for(&mut self, step: usize, job: usize, what: WaitsFor, wait: Sleep) {
        let wait = self.held_back(wait);
        self.wait_asking(step, job, what, wait);
    }

    fn wait_asking(&mut self, step: usize, job: usize, what: WaitsFor, wait: Sleep) {
        self.asking += 1;
        let flow = self.flow(step);
        flow.active += 1;
        flow.jobs[job].waits_for = what;
        let wait = Some(CallState::asking(wait));
        self.running.push((step, job), None, wait, 0);
    }

    /// Asks the gates about a job. Whether it has to wait for them, or has failed.
    fn ask(&mut self, step: usize, job: usize, action: &'x Action, start: Start<'_, 'x>) -> bool {
        let at = &self.flow(step).jobs[job];
        let (place, frame, number) = (at.place, at.frame, at.number);
        // So that nobody is asked about more calls than may be made.
        if !at.is_counted
            && let Err(error) = self.held.call()
        {
            self.fail(step, place, frame, StepError::arguments(error), 0);
            return true;
        }
        self.flow(step).jobs[job].is_counted = true;
        let (started, bytes) = {
            let stop = || self.interrupts.look(&self.clock);
            let meter = Meter::new(self.room(), Some(&stop));
            let flow = self.steps.flow(step);
            let locals = flow.map_or_else(Vec::new, |flow| flow.locals(frame));
            let scope = self.scope().with_locals(&locals).metered(&meter);
            let context = |is_plan: bool| {
                let element = flow.map_or_else(Vec::new, |flow| flow.elements(place));
                self.context((step, job), element, 1, None, is_plan.then_some(number))
            };
            let request = Request::new(&scope, action).within(&context).asking();
            (catch(|| start(number, request)), meter.spent())
        };
        match started {
            Ok(Started::Asks(Some(mut call))) => {
                if let Some(secrecy) = &self.secrecy {
                    call.hide(secrecy.arguments(number));
                }
                // The question has a copy, and maybe one without secrets.
                let bytes = bytes.saturating_mul(2 + usize::from(self.secrecy.is_some()));
                if !self.has_room(bytes) {
                    let error = StepError::arguments(self.full());
                    self.fail(step, place, frame, error, 0);
                    return true;
                }
                let (question, answer) = Question::ask(self.gates.clone(), *call, bytes);
                self.hold(step, bytes);
                self.flow(step).jobs[job].question = Some(Box::new(question));
                self.wait_for(step, job, WaitsFor::Gates, answer);
            }
            // A plan: its own calls are asked for.
            Ok(Started::Asks(None)) => return false,
            Ok(Started::Ended(Err(_))) if self.interrupts.happened().is_some() => {}
            Ok(Started::Ended(Err(error))) | Err(error) => self.fail(step, place, frame, error, 0),
            Ok(
                Started::Ended(Ok(_))
                | Started::Running(_)
                | Started::InContext(..)
                | Started::Plan(..),
            ) => {
                self.fail(step, place, frame, StepError::Unknown, 0);
            }
        }
        true
    }

    /// What a job has waited for is there.
    pub(super) fn answered(&mut self, step: usize, job: usize) {
        if self.records_answer(step, job) {
            return;
        }
        self.asking -= 1;
        let Some(flow) = self.steps.flow_mut(step) else {
            return;
        };
        let at = &mut flow.jobs[job];
        let (place, frame, number) = (at.place, at.frame, at.number);
        let answer = match std::mem::replace(&mut at.waits_for, WaitsFor::Nothing) {
            WaitsFor::Nothing => return,
            WaitsFor::Turn(slot) => {
                at.turn = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                Some(Decision::Allow)
            }
            WaitsFor::Gates => at.question.as_ref().and_then(|it| it.take_answer()),
            WaitsFor::Answer(answer) => Some(answer),
        };
        at.is_allowed |= matches!(answer, Some(Decision::Allow | Decision::AllowStep));
        flow.active -= 1;
        match answer {
            Some(Decision::Allow) => flow.again.push(Reverse(job)),
            Some(Decision::AllowStep) => {
                flow.allowed.push(number);
                flow.again.push(Reverse(job));
                for job in self.drop_questions(step, Some(number)) {
                    self.flow(step).again.push(Reverse(job));
                }
            }
            Some(Decision::Refuse(reason)) => {
                self.forget_question(step, job);
                self.fail(step, place, frame, StepError::Refused(reason.into()), 0);
            }
            None => {
                let reason = NO_ANSWER.into();
                self.fail(step, place, frame, StepError::Refused(reason), 0);
            }
        }
        self.settle(step);
    }

    /// Lines up the steps whose next call had to wait, if there is room for further questions.
    #[inline]
    pub(super) fn resume_deferred(&mut self) {
        if self.deferred.is_empty() || self.asking >= MOST_QUESTIONS {
            return;
        }
        for step in std::mem::take(&mut self.deferred) {
            if let Some(flow) = self.steps.flow_mut(step) {
                flow.deferred = false;
                self.settle(step);
            }
        }
    }

    /// Waits no more for the calls of a step, or asks no more about one of its actions. Returns the jobs that waited.
    pub(super) fn drop_questions(&mut self, step: usize, number: Option<usize>) -> Vec<usize> {
        let flow = self.flow(step);
        let fits = |job: &usize| {
            let job = &flow.jobs[*job];
            match job.waits_for {
                WaitsFor::Nothing => false,
                WaitsFor::Gates => number.is_none_or(|number| job.number == number),
                WaitsFor::Turn(_) | WaitsFor::Answer(_) => number.is_none(),
            }
        };
        let mut asked: Vec<usize> = (0..flow.jobs.len()).filter(fits).collect();
        if number.is_none() {
            asked.extend(self.unanswered(step));
        }
        if asked.is_empty() {
            return asked;
        }
        self.flow(step).active -= asked.len();
        self.abandon(|task| {
            task.step == step && (task.asks() || task.is_call()) && asked.contains(&task.job)
        });
        for &job in &asked {
            self.flow(step).jobs[job].waits_for = WaitsFor::Nothing;
            self.forget_question(step, job);
        }
        asked
    }

    /// Returns the calls of a viewed step whose questions to the gates are open. A view has no gates, so it started these calls, which have no records.
    fn unanswered(&mut self, step: usize) -> Vec<usize> {
        let durable = self.run.durable.as_ref();
        if !durable.is_some_and(|durable| durable.is_viewed() && durable.is_gated()) {
            return Vec::new();
        }
        let calls: Vec<usize> = self.running.calls_of(step).collect();
        let unanswered = calls.into_iter().filter(|job| {
            let at = &self.flow(step).jobs[*job];
            let is_held = matches!(at.record, AttemptRecord::Due(_)) && at.work.tool().is_some();
            is_held && matches!(self.recorded_answer(step, *job), Ok(None))
        });
        let unanswered: Vec<usize> = unanswered.collect();
        for &job in &unanswered {
            let at = &mut self.flow(step).jobs[job];
            at.record = AttemptRecord::None;
            let log = at.log.take();
            if let Some(attempt) = self.logged(step, log) {
                attempt.withdraw();
            }
        }
        unanswered
    }

    /// What a job was asked about is needed no more.
    pub(super) fn forget_question(&mut self, step: usize, job: usize) {
        let flow = self.flow(step);
        if let Some(question) = flow.jobs[job].question.take() {
            flow.stored -= question.bytes;
            self.held.remove(question.bytes);
        }
    }

    /// The tool of a job says that nobody is to call it for this time.
    #[cold]
    pub(super) fn close_throttles(&mut self, step: usize, job: usize, time: Duration) {
        if let Some(tool) = self.flow(step).jobs[job].work.tool() {
            let now = self.run.options.timer.now();
            for throttle in &self.throttles {
                throttle.close(&tool.name, now, time);
            }
        }
    }
}
