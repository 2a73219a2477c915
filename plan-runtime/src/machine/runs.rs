//! Runs of steps that are not plain: their elements and rounds, from the start of the step to its end.

use super::engine::Core;
use super::event::{CallError, StepStatus};
use super::failures::Cutoff;
use super::ids::{AttemptId, BodyId, RunId, StepSlot};
use super::nodes::Recovery;
use super::parts::{Activity, Attempt, AttemptPhase, RunFlags, StepRun, WHOLE};
use super::rows::OpenQuestion;
use super::state::{Todo, Turn};
use super::tables::StepBody;
use std::sync::Arc;

impl Core {
    /// Handles the value that replaces a failure, or the failure of the driver to make the value.
    pub(super) fn fallback_made(
        &mut self,
        run: RunId,
        element: u32,
        result: Result<u32, CallError>,
    ) {
        let it = &mut self.state.runs[run];
        if element != WHOLE {
            let absorbed = it.absorbed.remove(&element);
            let Err(error) = result else {
                it.outstanding -= 1;
                return;
            };
            let attempts = absorbed.map_or(1, |it| it.attempts());
            let failures = self.state.view().error_in(run, element, attempts, error);
            return self.fail_run(run, element, failures);
        }
        let Some(failed) = it.failed.take() else {
            return;
        };
        it.is.ended = true;
        let (scope, slot, left) = (it.scope, it.slot, std::mem::take(&mut it.left));
        let (element, mut old) = *failed;
        old.add(left);
        let Err(error) = result else {
            self.state.scopes[scope].left.add_absorbed(old);
            return self.finish_step(scope, slot, StepStatus::Recovered, None);
        };
        let view = self.state.view();
        let mut failures = view.error_in(run, element, old.attempts(), error);
        failures.add(old.of_undo_steps());
        self.finish_step(scope, slot, StepStatus::Failed, Some(failures));
    }

    /// Starts a step that is not plain.
    pub(super) fn start_run(&mut self, slot: StepSlot, turn: Turn) {
        let tables = Arc::clone(&self.state.tables);
        let hot = &mut self.state.hot[slot];
        let scope = hot.scope();
        let it = &mut self.state.scopes[scope];
        let step = it.step(slot);
        debug_assert!(hot.is_ready() && !(hot.is_work() && it.is_stopping));
        let cold = tables.cold_of(it.row, step);
        let cold = cold.expect("a step that is not plain");
        hot.start();
        let of = &tables.colds[cold];
        let run = self
            .state
            .open_run(StepRun::new(scope, slot, step, cold, of.amounts));
        let it = &mut self.state.scopes[scope];
        let first = tables.rows[it.row].colds.start as usize;
        it.runs[cold.index() - first] = Some(run);
        self.todo.push_back(Todo::Run(run));
        if of.timing.amounts {
            self.state.ask(OpenQuestion::Amounts(run));
        } else {
            self.enter(run, of.body, WHOLE, turn);
        }
    }

    /// Does a body, up to the next call, scope or question.
    pub(super) fn enter(&mut self, run: RunId, body: BodyId, element: u32, turn: Turn) {
        let mut element = element;
        match self.state.tables.bodies[body] {
            StepBody::If(..) | StepBody::For(_) => {
                return self.state.ask(OpenQuestion::Body { run, body, element });
            }
            StepBody::Loop(_) => {
                if !self.state.count_elements(run, element, 1) {
                    return;
                }
                element = self.state.runs[run].add_element(element, 0);
                self.state.limit_loop(run);
            }
            StepBody::Call
            | StepBody::Value
            | StepBody::Open(_)
            | StepBody::Await
            | StepBody::Scope(_) => {}
        }
        let it = &mut self.state.runs[run];
        let tried = Attempt::new(body, element, 1, it.pending.jobs);
        it.pending.jobs += 1;
        self.begin_attempt(run, tried, turn);
    }

    pub(super) fn body_answered(
        &mut self,
        run: RunId,
        body: BodyId,
        element: u32,
        number: Result<u32, CallError>,
    ) {
        let tables = Arc::clone(&self.state.tables);
        let it = &mut self.state.runs[run];
        match (tables.bodies[body], number) {
            (StepBody::If(first, count), Ok(branch)) if (1..=count).contains(&branch) => {
                self.enter(run, tables.branch(first, branch - 1), element, Turn::InLine);
            }
            (StepBody::For(inner), Ok(length)) => {
                if !self.state.count_elements(run, element, length) {
                    return;
                }
                let it = &mut self.state.runs[run];
                it.outstanding = it.outstanding - 1 + length;
                let first = it.elements.len() as u32 + 1;
                for place in 0..length {
                    it.add_element(element, place);
                }
                // The first element of a list starts first, even in a nested list.
                let new = (first..first + length).rev();
                new.for_each(|element| it.pending.queue.push_front((inner, element)));
            }
            (_, Ok(_)) => {
                it.outstanding -= 1;
                it.is.skipped |= element == WHOLE;
            }
            (of, Err(error)) => {
                let failures = self.state.view().error_in(run, element, 0, error);
                if matches!(of, StepBody::For(_)) {
                    self.fail_run(run, element, failures);
                } else {
                    self.fail(run, body, element, failures);
                }
            }
        }
    }

    /// Starts further elements, or ends the step. If the step fails or is cut, its elements are undone first.
    pub(super) fn settle_run(&mut self, run: RunId) {
        let it = &mut self.state.runs[run];
        if it.is.ended {
            return;
        }
        debug_assert!(it.pending.queue.is_empty() || !self.state.scopes[it.scope].stops_work());
        // Waits for values need no permit.
        while let Some(&(body, element)) = self.state.runs[run].pending.queue.front()
            && self.state.tables.bodies[body] == StepBody::Await
            && self.state.runs[run].may_go_on(self.state.extra)
        {
            self.state.runs[run].pending.queue.pop_front();
            self.enter(run, body, element, Turn::Now);
        }
        self.state.line_up_run(run);
        let it = &mut self.state.runs[run];
        if it.running > 0 || !it.questions.is_empty() || !it.pending.queue.is_empty() {
            return;
        }
        let (scope, slot) = (it.scope, it.slot);
        // Time limits exclude undo steps.
        self.state.unlimit_loop(run);
        let it = &mut self.state.runs[run];
        if it.failed.is_some() || it.outstanding > 0 {
            if self.undo_run(run) {
                self.end_failed(run);
            }
            return;
        }
        it.is.ended = true;
        let status = match it.is {
            RunFlags { skipped: true, .. } => StepStatus::Skipped,
            RunFlags {
                recovered: true, ..
            } => StepStatus::Recovered,
            _ => StepStatus::Completed,
        };
        if !self.state.hot[slot].is_work() {
            // A successful undo step or always step is never undone, so its kept scopes can be released.
            let left = self.state.view().absorbed_in(run);
            let it = &mut self.state.runs[run];
            it.left = left;
            it.kept.clear();
            for id in 0..it.attempts.rows.len() {
                let tried = &mut self.state.runs[run].attempts.rows[id];
                if let Some(scope) = tried.kept() {
                    tried.phase = AttemptPhase::Over;
                    self.state.release(scope);
                }
            }
        }
        self.finish_step(scope, slot, status, None);
    }

    /// Returns `true` if the scope around a step was cut, or if the step had failed before another step ended its work. No value replaces a failure of the
    /// step.
    pub(super) fn is_doomed(&self, run: RunId) -> bool {
        let it = &self.state.runs[run];
        let is_cut = self.state.scopes[it.scope].cutoff.is_some();
        it.is.doomed || is_cut && self.state.hot[it.slot].is_work()
    }

    /// Ends a step after a failure or a cut. The elements of the step are already undone.
    fn end_failed(&mut self, run: RunId) {
        let is_doomed = self.is_doomed(run);
        let it = &mut self.state.runs[run];
        let cold = &self.state.tables.colds[it.cold];
        let is_absorbed = match (&it.failed, cold.recovery) {
            (None, _) => false,
            _ if is_doomed => false,
            (_, Recovery::Catch) => true,
            (Some(failed), Recovery::Replace) => !failed.1.is_lasting() && !it.left.is_lasting(),
            (_, Recovery::No) => false,
        };
        if is_absorbed && cold.timing.fallback {
            let element = WHOLE;
            return self.state.ask(OpenQuestion::Fallback { run, element });
        }
        it.is.ended = true;
        let (scope, slot) = (it.scope, it.slot);
        let left = std::mem::take(&mut it.left);
        let Some(failed) = it.failed.take() else {
            self.state.scopes[scope].left.add(left);
            return self.finish_step(scope, slot, StepStatus::Cancelled, None);
        };
        let mut failures = failed.1;
        failures.add(left);
        if is_absorbed {
            self.state.scopes[scope].left.add_absorbed(failures);
            self.finish_step(scope, slot, StepStatus::Recovered, None);
        } else {
            self.finish_step(scope, slot, StepStatus::Failed, Some(failures));
        }
    }

    /// Stops a step: waits end, no attempt follows another, and no other element starts.
    pub(super) fn stop_run(&mut self, run: RunId) {
        if self.state.runs[run].is.ended {
            return;
        }
        // Two questions stay open: the condition of a loop after a round, and the value that replaces an earlier failure.
        let dropped = self.state.drop_questions(run, |asked| {
            !matches!(
                asked,
                OpenQuestion::Again { .. } | OpenQuestion::Fallback { .. }
            )
        });
        let it = &mut self.state.runs[run];
        it.is.stopped |= dropped || !it.pending.queue.is_empty();
        it.pending.queue.clear();
        for attempt in it.attempts.in_order() {
            let it = &mut self.state.runs[run];
            if !it.attempts.runs(attempt) {
                continue;
            }
            let tried = &mut it.attempts[attempt];
            if !tried.waits() {
                continue;
            }
            let (body, element, failed) = (tried.body, tried.element, tried.failed.take());
            it.is.stopped |= failed.is_none();
            self.state.end_attempt(run, attempt);
            if let Some(failed) = failed {
                self.fail(run, body, element, *failed);
            }
        }
        self.todo.push_back(Todo::Run(run));
    }

    /// Drops the calls of a step, because another step has failed or the scope was ended before its time.
    pub(super) fn cut_run(&mut self, run: RunId, cutoff: Cutoff) {
        if self.state.runs[run].is.ended {
            return;
        }
        // If the elements of the step are undone, or the driver was about to replace the failure of the step, the failure stays: the step has
        // failed before.
        let asked = self.state.drop_questions(run, |asked| {
            matches!(asked, OpenQuestion::Fallback { element: WHOLE, .. })
        });
        let it = &mut self.state.runs[run];
        let mut attempts = it.attempts.rows.iter();
        it.is.doomed |= asked || attempts.any(|it| it.phase == AttemptPhase::Undoing);
        let waits = it.failed.is_none();
        let is_doomed = it.is.doomed;
        if let Some(failed) = it.failed.take_if(|it| !is_doomed && !it.1.is_lasting()) {
            it.left.add(failed.1.of_undo_steps());
        }
        self.cut_attempts(run, cutoff, waits);
    }

    /// Undoes the kept scopes of a step: elements concurrently, rounds from the last to the first. Returns `true` if
    /// none is left.
    pub(super) fn undo_run(&mut self, run: RunId) -> bool {
        let tables = Arc::clone(&self.state.tables);
        loop {
            let it = &mut self.state.runs[run];
            let Some(at) = it.kept.last() else {
                break;
            };
            let tried = &mut it.attempts[*at];
            let most = if tables.is_loop(tried.body) {
                1
            } else {
                it.amounts.at_once.max(1)
            };
            if it.running >= most {
                break;
            }
            it.kept.pop();
            if let Some(scope) = tried.inside() {
                it.running += 1;
                tried.phase = AttemptPhase::Undoing;
                self.state.scopes[scope].is_reopened = true;
                self.begin_undo(scope);
            }
        }
        self.state.runs[run].running == 0
    }

    /// Ends the undo phase of a kept scope, and continues with the next kept scope of the step.
    pub(super) fn undone_inside(&mut self, run: RunId, attempt: AttemptId) {
        let tried = &self.state.runs[run].attempts[attempt];
        let (Activity::Scope(inner), AttemptPhase::Undoing) = (tried.activity, tried.phase) else {
            return;
        };
        let left = self.state.view().undoing(inner).of_undo_steps();
        let it = &mut self.state.runs[run];
        it.attempts[attempt].phase = AttemptPhase::Over;
        it.running -= 1;
        it.left.add(left);
        let (scope, step, has_ended) = (it.scope, it.step, it.is.ended);
        self.state.release(inner);
        if has_ended {
            self.undo_inside(scope, step);
        } else if self.undo_run(run) {
            self.end_failed(run);
        }
    }

    /// Begins the next round of a loop.
    pub(super) fn next_round(&mut self, run: RunId, attempt: AttemptId, is_kept: bool) {
        let element = self.state.runs[run].attempts[attempt].element;
        if !self.state.count_elements(run, element, 1) {
            return;
        }
        let it = &mut self.state.runs[run];
        let tried = &mut it.attempts[attempt];
        let (body, mut element, every) = (tried.body, tried.element, tried.every.take());
        let job = tried.job;
        // If no round can be undone, only the last round has rows.
        if is_kept {
            let before = it.elements[element as usize - 1];
            element = it.add_element(before.around, before.place + 1);
        } else {
            it.elements[element as usize - 1].place += 1;
            it.attempts.release(attempt);
        }
        let mut next = Attempt::new(body, element, 1, job);
        let Some(timer) = every else {
            return self.begin_attempt(run, next, Turn::InLine);
        };
        next.activity = Activity::Every;
        next.every = Some(timer);
        self.add_attempt(run, next);
    }
}
