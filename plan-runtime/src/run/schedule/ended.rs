//! What follows from a step that has ended, or never will.

use super::super::on_failure::OnFailure;
use super::Schedule;
use super::block_run::BlockRun;
use super::body_state::{BodyState, Failed};
use super::step_state::StepState;
use super::task::Task;
use super::waiting::waits_for_value;
use crate::error::StepError;
use crate::plan::{Catch, Optional, number};
use crate::resolve::StoredValue;
use serde_json::Value;
use std::time::Duration;

impl<'x> Schedule<'x> {
    /// A step has its output, which is taken if anyone is to read it.
    #[inline(always)]
    pub(super) fn end(&mut self, step: usize, output: &mut StoredValue) {
        self.open -= 1;
        self.stop_time(step);
        self.complete(step, output);
        self.release(step);
    }

    /// A step has failed, maybe at one of its elements.
    #[cold]
    pub(super) fn end_failed(&mut self, step: usize, failed: Failed) {
        self.open -= 1;
        self.stop_time(step);
        let recovered = if self.is_over(step, &failed.element, &failed.error) {
            Err(failed)
        } else {
            self.recover(step, failed)
        };
        match recovered {
            Ok(mut output) => self.complete(step, &mut output),
            Err(failed) => {
                // The fallback may have been too large.
                self.is_over(step, &failed.element, &failed.error);
                let first = self.failed.is_empty();
                self.steps.states[step] = StepState::Failed(number(self.failed.len()));
                self.failed.push((step, failed));
                self.watch_end(step);
                if self.ending.is_some() {
                    return self.release(step);
                }
                self.block(step);
                match self.run.options.on_failure {
                    OnFailure::Continue => {}
                    OnFailure::Stop if first => {
                        (0..self.plan.steps.len()).for_each(|it| self.cut(it));
                    }
                    OnFailure::Stop => {}
                    OnFailure::Cancel => self.cancel_calls(),
                }
            }
        }
        self.release(step);
    }

    /// A step has its output, for which others may have waited.
    #[inline(always)]
    fn complete(&mut self, step: usize, output: &mut StoredValue) {
        self.steps.states[step] = StepState::Completed;
        if self.options.capture_outputs {
            self.capture_output(step, output);
        }
        // It is taken in any case, so that nothing is left to be dropped.
        let output = output.take();
        if self.readers[step] > 0 {
            self.held.add(output.bytes());
            self.outputs[step] = Some(output);
        }
        if self.watched {
            self.watch_end(step);
        }
        for &dependent in self.graph.dependents.of(step) {
            let dependent = dependent as usize;
            self.waits[dependent] -= 1;
            if self.waits[dependent] == 0 {
                if self.graph.has_waits && waits_for_value(self.plan, dependent) {
                    self.next_waits.insert(dependent);
                } else {
                    self.ready.insert(dependent);
                }
                if self.watched {
                    self.watch_ready(dependent);
                }
            }
        }
    }

    /// Whether a failure of a step ends there: it is caught, or something else replaces the output.
    pub(super) fn absorbs(&self, step: usize, error: &StepError) -> bool {
        let policy = &self.plan.steps[step].policy;
        let replaces = policy.optional == Optional::Whole || policy.fallback.is_some();
        !self.is_cut() && (policy.catch == Catch::Whole || replaces && !error.leaves_work())
    }

    /// Whether the work was ended before its time, so that nothing makes up for a failure.
    pub(super) fn is_cut(&self) -> bool {
        let is_over = self.winding.is_some() || self.interrupts.happened().is_some();
        self.ending.is_none() && is_over
    }

    /// The output that replaces that of a failed step, if the step is optional or has a fallback.
    fn recover(&mut self, step: usize, failed: Failed) -> Result<StoredValue, Failed> {
        let policy = &self.plan.steps[step].policy;
        let Failed {
            element,
            error,
            attempts,
        } = &failed;
        let instead = |error| Failed {
            element: element.clone(),
            error,
            attempts: *attempts,
        };
        let output = match &policy.fallback {
            _ if !self.absorbs(step, error) => return Err(failed),
            _ if policy.catch == Catch::Whole => {
                let caught = self.caught(step, element, error, *attempts);
                let left = self.left_by(step, &failed);
                self.left.add(left);
                StoredValue::json(caught)
            }
            Some(fallback) => match self.fallback(step, fallback) {
                Ok((output, bytes)) => StoredValue::weighed(output, bytes),
                Err(error @ StepError::Panic(_)) => return Err(instead(error)),
                Err(_) if self.interrupts.happened().is_some() => return Err(failed),
                Err(error) => return Err(instead(error)),
            },
            None => StoredValue::json(Value::Null),
        };
        self.note_made_up((step, &[]), &failed.element, failed.attempts);
        self.steps.more(step).recovered = Some(failed);
        Ok(output)
    }

    /// Marks all that needs a failed step. Of several failures, the step that comes first in the plan is named, whenever it failed.
    pub(super) fn block(&mut self, by: usize) {
        let mut from = vec![by];
        while let Some(step) = from.pop() {
            for place in 0..self.graph.dependents.of(step).len() {
                let dependent = self.graph.dependents.of(step)[place] as usize;
                match self.steps.states[dependent] {
                    StepState::Waiting => {
                        self.steps.states[dependent] = StepState::Blocked(number(by));
                        self.watch_end(dependent);
                        self.release(dependent);
                    }
                    StepState::Blocked(other) if number(by) < other => {
                        self.steps.states[dependent] = StepState::Blocked(number(by));
                    }
                    _ => continue,
                }
                from.push(dependent);
            }
        }
    }

    /// Drops all that runs.
    pub(super) fn cancel(&mut self) {
        self.leave_blocks(None);
        // One that has ended, but was not heard of yet, did not finish as far as the run is concerned.
        self.abandon(|_| true);
        for step in 0..self.plan.steps.len() {
            if self.steps.states[step] == StepState::Running {
                let left = self.steps.flow(step).map(BodyState::left);
                self.left.add(left.unwrap_or_default());
                self.drop_flow(step);
                self.drop_step(step);
            }
        }
    }

    /// A step that has started will not be finished.
    pub(super) fn drop_step(&mut self, step: usize) {
        self.open -= 1;
        self.steps.states[step] = StepState::Cancelled;
        self.stop_time(step);
        self.watch_end(step);
        self.release(step);
    }

    #[inline]
    fn stop_time(&mut self, step: usize) {
        if let Some((_, ended)) = self.times.get_mut(step) {
            *ended = Some(self.clock.now());
        }
    }

    pub(super) fn times(&self, step: usize) -> (Option<Duration>, Option<Duration>) {
        self.times.get(step).copied().unwrap_or_default()
    }

    /// Drops all calls and waits.
    pub(super) fn abandon_all(&mut self) {
        self.abandon(|_| true);
    }

    /// Drops calls and waits.
    pub(super) fn abandon(&mut self, which: impl Fn(&Task<'x>) -> bool) {
        let (mut calls, mut asked, mut bytes, mut permits) = (0, 0, 0, 0);
        let in_writing = &mut self.in_writing;
        self.running.abandon(|task| {
            let fits = which(task);
            asked += usize::from(fits && task.asks());
            if fits {
                bytes += task.block().map_or(0, BlockRun::bytes);
            }
            if fits && task.is_call() {
                calls += 1;
                in_writing.remove(&(task.step, task.job));
                bytes += task.bytes;
                match task.context() {
                    Some(context) => context.stop_counting(),
                    None => permits += 1,
                }
            }
            fits
        });
        self.calls = self.calls.saturating_sub(calls);
        self.asking = self.asking.saturating_sub(asked);
        self.held.remove(bytes);
        if self.is_shared {
            self.run.permits.give_back(permits);
        }
    }

    /// The step will read nothing any more.
    #[inline(always)]
    fn release(&mut self, step: usize) {
        for &read in self.graph.reads().of(step) {
            let read = read as usize;
            self.readers[read] -= 1;
            if self.readers[read] == 0
                && let Some(output) = &self.outputs[read]
            {
                self.held.remove(output.bytes());
                self.outputs[read] = None;
            }
        }
    }
}
