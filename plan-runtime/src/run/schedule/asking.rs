//! What a run does while gates decide about its calls.

use super::super::StepError;
use super::super::catch::catch;
use super::super::context::{Decision, Question};
use super::super::start::{Request, Started};
use super::task::CallState;
use super::{Schedule, Start};
use crate::plan::Action;
use crate::resolve::Meter;
use std::cmp::Reverse;

impl<'x> Schedule<'x> {
    /// Whether somebody decides about the calls of this action.
    #[inline]
    pub(super) fn is_gated(&self, action: &Action) -> bool {
        !self.gates.is_empty() && action.tool.is_some()
    }

    /// Whether a job has to wait: it is asked about it, or has failed before that.
    pub(super) fn must_wait(&mut self, step: usize, job: usize, start: Start<'_, 'x>) -> bool {
        let flow = self.flow(step);
        let at = &flow.jobs[job];
        let action = at.action;
        let is_decided = flow.allowed.contains(&at.number) || at.question.is_some();
        if is_decided || !self.is_gated(action) {
            return false;
        }
        let flow = self.flow(step);
        let at = &flow.jobs[job];
        let (place, frame, number) = (at.place, at.frame, at.number);
        let (started, bytes) = {
            let stop = || self.interrupts.look(&self.clock);
            let meter = Meter::new(self.room(), Some(&stop));
            let flow = self.steps.flow(step);
            let locals = flow.map_or_else(Vec::new, |flow| flow.locals(frame));
            let scope = self.scope().with_locals(&locals).metered(&meter);
            let context = |is_plan| {
                let element = flow.map_or_else(Vec::new, |flow| flow.elements(place));
                self.context(step, element, 1, None, is_plan)
            };
            let request = Request::new(&scope, action).within(&context).asking();
            (catch(|| start(number, request)), meter.spent())
        };
        match started {
            Ok(Started::Asks(Some(call))) => {
                // The question has a copy.
                let bytes = bytes.saturating_mul(2);
                if !self.has_room(bytes) {
                    let error = StepError::arguments(self.full());
                    self.fail(step, place, frame, error);
                    return true;
                }
                let (question, answer) = Question::ask(self.gates.clone(), *call, bytes);
                self.hold(step, bytes);
                self.asking += 1;
                let flow = self.flow(step);
                flow.active += 1;
                flow.jobs[job].asks = true;
                flow.jobs[job].question = Some(Box::new(question));
                let wait = Some(CallState::asking(answer));
                self.running.push((step, job), None, wait, 0);
            }
            // A plan: its own calls are asked for.
            Ok(Started::Asks(None)) => return false,
            Ok(Started::Ended(Err(_))) if self.interrupts.happened().is_some() => {}
            Ok(Started::Ended(Err(error))) | Err(error) => self.fail(step, place, frame, error),
            Ok(Started::Ended(Ok(_)) | Started::Running(_) | Started::InContext(..)) => {
                self.fail(step, place, frame, StepError::Unknown);
            }
        }
        true
    }

    /// The gates have decided about a job.
    pub(super) fn answered(&mut self, step: usize, job: usize) {
        self.asking -= 1;
        let Some(flow) = self.steps.flow_mut(step) else {
            return;
        };
        let at = &mut flow.jobs[job];
        let (place, frame) = (at.place, at.frame);
        let Some(question) = at.question.as_ref().filter(|_| at.asks) else {
            return;
        };
        let answer = question.take_answer();
        at.asks = false;
        flow.active -= 1;
        match answer {
            Some(Decision::Refuse(reason)) => {
                self.forget_question(step, job);
                self.fail(step, place, frame, StepError::Refused(reason.into()));
            }
            Some(Decision::Allow) => flow.again.push(Reverse(job)),
            Some(Decision::AllowStep) => {
                let number = at.number;
                flow.allowed.push(number);
                flow.again.push(Reverse(job));
                for job in self.drop_questions(step, Some(number)) {
                    self.flow(step).again.push(Reverse(job));
                }
            }
            None => {
                let reason = "the gate gave no answer".into();
                self.fail(step, place, frame, StepError::Refused(reason));
            }
        }
        self.settle(step);
    }

    /// Asks no more about the calls of a step, or of one of its actions. Returns those that were asked about.
    pub(super) fn drop_questions(&mut self, step: usize, number: Option<usize>) -> Vec<usize> {
        let flow = self.flow(step);
        let fits = |job: &usize| {
            let job = &flow.jobs[*job];
            job.asks && number.is_none_or(|number| job.number == number)
        };
        let asked: Vec<usize> = (0..flow.jobs.len()).filter(fits).collect();
        if asked.is_empty() {
            return asked;
        }
        flow.active -= asked.len();
        self.abandon(|task| task.step == step && task.asks() && asked.contains(&task.job));
        for &job in &asked {
            self.flow(step).jobs[job].asks = false;
            self.forget_question(step, job);
        }
        asked
    }

    /// What a job was asked about is needed no more.
    pub(super) fn forget_question(&mut self, step: usize, job: usize) {
        let flow = self.flow(step);
        if let Some(question) = flow.jobs[job].question.take() {
            flow.stored -= question.bytes;
            self.held.remove(question.bytes);
        }
    }
}
