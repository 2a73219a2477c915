//! Loops: one round after the other.

use super::super::StepError;
use super::body_state::{Job, OutputSlot, Rounds, Work};
use super::task::CallState;
use super::{Schedule, Start};
use crate::plan::Loop;
use serde_json::Value;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

impl<'x> Schedule<'x> {
    /// Starts the first round of the loop that a step is.
    pub(super) fn start_loop(
        &mut self,
        step: usize,
        repeat: &'x Loop,
        number: usize,
        start: Start<'_, 'x>,
    ) {
        let started = self.clock.now();
        self.flow(step).rounds = Some(Rounds {
            started,
            ..Rounds::default()
        });
        if let Some(job) = self.add_round(step, repeat, number, 0, None) {
            self.attempt(step, job, start);
        }
    }

    /// The job of a round, unless there may be no more of them. It takes the place of the job of the round before, which has ended: a loop may have millions of
    /// rounds.
    fn add_round(
        &mut self,
        step: usize,
        repeat: &'x Loop,
        number: usize,
        round: usize,
        before: Option<usize>,
    ) -> Option<usize> {
        let place = OutputSlot::round(round);
        // A round may make no call, and still takes time.
        if let Err(error) = self.allowance.list(1) {
            self.fail(step, place, None, StepError::arguments(error), 0);
            return None;
        }
        let flow = self.flow(step);
        let started = flow.rounds.as_ref().map_or(Duration::ZERO, |it| it.started);
        let mut job = Job::new(Work::Round(repeat), number, place, None);
        job.started = started;
        match before {
            Some(before) => {
                flow.jobs[before] = job;
                Some(before)
            }
            None => Some(flow.push_job(job)),
        }
    }

    /// A round has ended, with its value and whether there is another.
    pub(super) fn round_ended(
        &mut self,
        (step, job): (usize, usize),
        repeat: &'x Loop,
        output: Value,
        bytes: usize,
    ) {
        let policy = Arc::clone(self.policy(step));
        let (value, again) = match output {
            Value::Array(mut pair) if pair.len() == 2 => {
                let again = pair.pop() == Some(Value::Bool(true));
                (pair.pop().unwrap_or_default(), again)
            }
            value => (value, false),
        };
        let flow = self.flow(step);
        let at = &flow.jobs[job];
        let (place, number, attempts, tried) = (at.place, at.number, at.attempts, at.tried);
        let element = flow.elements(place);
        let Some(rounds) = &mut flow.rounds else {
            return;
        };
        let mut left = 0;
        if policy.collect {
            if again {
                rounds.last = value.clone();
            }
            rounds.all.push(value);
        } else {
            rounds.last = value;
            left = std::mem::replace(&mut rounds.bytes, bytes);
        }
        let started = rounds.started;
        flow.stored -= left;
        flow.made -= left;
        self.held.remove(left);
        if self.run.is_observed() {
            self.watch_element(step, &element);
        }
        if !again {
            let rounds = self.flow(step).rounds.take().unwrap_or_default();
            let output = if policy.collect {
                Value::Array(rounds.all)
            } else {
                rounds.last
            };
            return self.deliver(step, OutputSlot::WHOLE, None, output);
        }
        let round = element.first().map_or(0, |round| round + 1);
        let most = policy.at_most.unwrap_or(1);
        if u32::try_from(round).is_ok_and(|round| round >= most) {
            let error = StepError::TooManyRounds(most);
            return self.fail(step, place, None, error, attempts);
        }
        if self.is_stopping() {
            self.flow(step).cut = true;
            return;
        }
        let Some(next) = self.add_round(step, repeat, number, round, Some(job)) else {
            return;
        };
        self.flow(step).jobs[next].is_next = true;
        let now = self.clock.now();
        let mut wait = policy.every.map_or(Duration::ZERO, |every| {
            tried.saturating_add(every).saturating_sub(now)
        });
        if let Some(deadline) = policy.deadline {
            wait = wait.min(started.saturating_add(deadline).saturating_sub(now));
        }
        if wait.is_zero() {
            self.flow(step).again.push(Reverse(next));
        } else {
            let sleep = self.wait_before(step, next, wait);
            let wait = CallState::wait(sleep);
            self.running.push((step, next), None, Some(wait), 0);
        }
    }
}
