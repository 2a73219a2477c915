//! What a run does while calls wait for gates and throttles.

use super::super::StepError;
use super::super::catch::catch;
use super::super::context::{Decision, Question};
use super::super::start::{Request, Started};
use super::super::throttle::Turn;
use super::super::timer::Sleep;
use super::body_state::{AttemptRecord, WaitsFor, Work};
use super::decisions::Answer;
use super::task::CallState;
use super::{MOST_QUESTIONS, Schedule, Start};
use crate::plan::Action;
use crate::resolve::Meter;
use std::cmp::Reverse;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
        let is_decided = flow.allowed.contains(&at.number) || at.question.is_some();
        let Work::Action(action) = work else {
            return false;
        };
        let Some(tool) = action.tool.as_ref().filter(|_| self.has_to_wait(action)) else {
            return false;
        };
        // Who looks at a run sees what its gates have decided, and has none.
        let must_ask = !is_decided && (!self.gates.is_empty() || self.is_viewed());
        let needs_turn = !has_turn && self.throttles.iter().any(|it| it.has(&tool.name));
        if (must_ask || needs_turn) && self.asking >= MOST_QUESTIONS {
            let flow = self.flow(step);
            flow.again.push(Reverse(job));
            flow.deferred = true;
            self.deferred.push(step);
            return true;
        }
        if must_ask {
            match self.recorded_answer(step, job) {
                // The run is over.
                Err(()) => return true,
                Ok(Some((Answer::Allow, _))) => {}
                Ok(Some((Answer::AllowStep, _))) => {
                    let number = self.flow(step).jobs[job].number;
                    self.flow(step).allowed.push(number);
                }
                Ok(Some((Answer::Refuse(reason), number))) => {
                    self.refuse_in_turn(step, job, reason, number);
                    return true;
                }
                Ok(None) if self.gates.is_empty() => {}
                Ok(None) if self.ask(step, job, action, start) => return true,
                Ok(None) => {}
            }
        }
        if needs_turn {
            self.queue(step, job, &tool.name);
        }
        needs_turn
    }

    /// A job was refused before a crash: it fails when that has its turn, since others had ended before.
    fn refuse_in_turn(&mut self, step: usize, job: usize, reason: String, number: u64) {
        let Some(durable) = &self.run.durable else {
            return;
        };
        let turn = durable.replay(number, Duration::ZERO);
        self.wait_asking(step, job, WaitsFor::Refusal(reason), Box::pin(turn));
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
        self.asking -= 1;
        self.resume_deferred();
        let Some(flow) = self.steps.flow_mut(step) else {
            return;
        };
        let at = &mut flow.jobs[job];
        let (place, frame, number) = (at.place, at.frame, at.number);
        let is_gate = matches!(at.waits_for, WaitsFor::Gates);
        let answer = match std::mem::replace(&mut at.waits_for, WaitsFor::Nothing) {
            WaitsFor::Nothing => return,
            WaitsFor::Turn(slot) => {
                at.turn = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                Some(Decision::Allow)
            }
            WaitsFor::Gates => at.question.as_ref().and_then(|it| it.take_answer()),
            WaitsFor::Refusal(reason) => Some(Decision::Refuse(reason)),
        };
        flow.active -= 1;
        if is_gate {
            self.note_answer(step, job, answer.as_ref());
        }
        let flow = self.flow(step);
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
                let reason = "the gate gave no answer".into();
                self.fail(step, place, frame, StepError::Refused(reason), 0);
            }
        }
        self.settle(step);
    }

    /// There is room for further calls that have to wait.
    fn resume_deferred(&mut self) {
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
                WaitsFor::Turn(_) | WaitsFor::Refusal(_) => number.is_none(),
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
