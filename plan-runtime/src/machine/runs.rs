//! Runs of steps that are not plain: their elements and rounds, from the start of the step to its end.

use super::attempt::{Activity, Attempt, AttemptPhase, Attempts};
use super::core::{Core, Todo, Turn};
use super::describe::Recovery;
use super::event::CallError;
use super::failures::{Cutoff, Failures, Reason};
use super::ids::{BodyId, Id, RunId, StepSlot};
use super::lookup::Lookup;
use super::rows::{OpenQuestion, QuestionList};
use super::state::{Pending, RunFlags, StepRun, WHOLE};
use super::tables::StepBody;
use super::word::StepStatus;
use std::sync::Arc;

impl Core {
    /// The driver has made the value that replaces a failure, or has failed to.
    pub(super) fn fallback_made(
        &mut self,
        run: RunId,
        element: u32,
        result: Result<u32, CallError>,
    ) {
        let it = &mut self.dispatcher.runs[run];
        if element != WHOLE {
            let place = it.absorbed.iter().position(|it| it.0 == element);
            let absorbed = place.map(|place| it.absorbed.remove(place).1);
            let Err(error) = result else {
                it.outstanding -= 1;
                return;
            };
            let failed = absorbed
                .as_ref()
                .and_then(|failures| failures.steps.first());
            let attempts = failed.map_or(1, |it| it.attempts);
            let mut failure =
                Lookup(self).failure(run, element, attempts, Reason::Error(error.error));
            failure.transient = error.transient;
            return self.fail_run(run, element, Failures::of(failure));
        }
        let Some(failed) = it.failed.take() else {
            return;
        };
        it.is.ended = true;
        let (scope, slot, left) = (it.scope, it.slot, std::mem::take(&mut it.left));
        let (element, mut old) = *failed;
        old.add(left);
        let Err(error) = result else {
            self.arena.scopes[scope].left.add_absorbed(old);
            return self.finish_step(scope, slot, StepStatus::Recovered, None);
        };
        let attempts = old.steps.first().map_or(1, |it| it.attempts);
        let failure = Lookup(self).failure(run, element, attempts, Reason::Error(error.error));
        let mut failures = Failures::of(error.mark(failure));
        failures.add(old.of_undo_steps());
        self.finish_step(scope, slot, StepStatus::Failed, Some(failures));
    }

    /// Starts a step that is not plain.
    pub(super) fn start_run(&mut self, slot: StepSlot, turn: Turn) {
        let tables = Arc::clone(&self.arena.tables);
        let hot = &mut self.arena.hot[slot.index()];
        let scope = hot.scope();
        let it = &mut self.arena.scopes[scope];
        let step = it.step(slot);
        if hot.status() != StepStatus::Waiting {
            return;
        }
        // The step was ready, and then its scope failed.
        if hot.is_work() && it.is_stopping {
            return;
        }
        let Some(cold) = tables.cold_of(it.row, step) else {
            return;
        };
        hot.start();
        let of = &tables.colds[cold];
        let new = StepRun {
            scope,
            slot,
            step,
            cold,
            amounts: of.amounts,
            attempts: Attempts::default(),
            elements: Vec::new(),
            pending: Pending::default(),
            running: 0,
            asking: 0,
            active: 0,
            questions: QuestionList::default(),
            outstanding: 1,
            failed: None,
            absorbed: Vec::new(),
            left: Failures::default(),
            deadline: None,
            kept: Vec::new(),
            is: RunFlags::default(),
        };
        let run = self.dispatcher.runs.open(new);
        let first = tables.rows[it.row].colds.start as usize;
        it.runs[cold.place() - first] = Some(run);
        self.todo.push_back(Todo::Run(run));
        if of.timing.amounts {
            self.dispatcher.ask(run, OpenQuestion::Amounts(run));
        } else {
            self.enter(run, of.body, WHOLE, turn);
        }
    }

    /// Does a body, up to the next call, scope or question.
    pub(super) fn enter(&mut self, run: RunId, body: BodyId, element: u32, turn: Turn) {
        let mut element = element;
        match self.arena.tables.bodies[body] {
            StepBody::If(..) | StepBody::For(_) => {
                return self
                    .dispatcher
                    .ask(run, OpenQuestion::Body { run, body, element });
            }
            StepBody::Loop(_) => {
                if !self.dispatcher.count_elements(run, element, 1) {
                    return;
                }
                element = self.dispatcher.runs[run].add_element(element, 0);
                self.dispatcher.limit_loop(run);
            }
            StepBody::Call
            | StepBody::Value
            | StepBody::Open(_)
            | StepBody::Await
            | StepBody::Scope(_) => {}
        }
        let it = &mut self.dispatcher.runs[run];
        let mut tried = Attempt::new(body, element, 1);
        tried.job = it.pending.jobs;
        it.pending.jobs += 1;
        self.begin_attempt(run, tried, None, turn);
    }

    pub(super) fn body_answered(
        &mut self,
        run: RunId,
        body: BodyId,
        element: u32,
        number: Result<u32, CallError>,
    ) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.dispatcher.runs[run];
        match (tables.bodies[body], number) {
            (StepBody::If(first, count), Ok(branch)) if (1..=count).contains(&branch) => {
                self.enter(run, tables.branch(first, branch - 1), element, Turn::InLine);
            }
            (StepBody::For(inner), Ok(length)) => {
                if !self.dispatcher.count_elements(run, element, length) {
                    return;
                }
                let it = &mut self.dispatcher.runs[run];
                it.outstanding = it.outstanding - 1 + length;
                let first = it.elements.len() as u32 + 1;
                for place in 0..length {
                    it.add_element(element, place);
                }
                // The first element in the list starts first, also of a list in a list.
                let new = (first..first + length).rev();
                new.for_each(|element| it.pending.queue.push_front((inner, element)));
            }
            (_, Ok(_)) => {
                it.outstanding -= 1;
                it.is.skipped |= element == WHOLE;
            }
            (StepBody::For(_), Err(error)) => self.fail_value(run, element, error),
            (_, Err(error)) => {
                let failure = Lookup(self).failure(run, element, 0, Reason::Error(error.error));
                self.fail(run, element, Failures::of(error.mark(failure)));
            }
        }
    }

    /// A value that the whole step needs cannot be made.
    pub(super) fn fail_value(&mut self, run: RunId, element: u32, error: CallError) {
        let reason = Reason::Error(error.error);
        let failure = Lookup(self).failure(run, element, 0, reason);
        self.fail_run(run, element, Failures::of(error.mark(failure)));
    }

    /// Starts further elements, or ends the step. If the step fails or is cut, its elements are undone first.
    pub(super) fn settle_run(&mut self, run: RunId) {
        let it = &mut self.dispatcher.runs[run];
        if it.is.ended {
            return;
        }
        if !it.pending.queue.is_empty() && self.arena.scopes[it.scope].stops_work() {
            it.is.cut = true;
            it.pending.queue.clear();
        }
        self.arena.line_up_run(&mut self.dispatcher.runs, run);
        let it = &mut self.dispatcher.runs[run];
        if it.running + it.asking > 0 || !it.pending.queue.is_empty() {
            return;
        }
        let (scope, slot) = (it.scope, it.slot);
        // Undo steps do not count in time limits.
        self.dispatcher.unlimit_loop(run);
        let it = &mut self.dispatcher.runs[run];
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
        if !self.arena.hot[slot.index()].is_work() {
            // The effects of an undo step or an always step stay once the step has succeeded.
            let left = Lookup(self).absorbed_in(run);
            let it = &mut self.dispatcher.runs[run];
            it.left = left;
            let mut kept = Vec::new();
            for tried in it
                .attempts
                .iter_mut()
                .filter(|it| it.phase == AttemptPhase::Kept)
            {
                tried.phase = AttemptPhase::Over;
                if let Activity::Scope(scope) = tried.activity {
                    kept.push(scope);
                }
            }
            it.kept.clear();
            kept.into_iter()
                .for_each(|scope| self.arena.release(&self.dispatcher.runs, scope));
        }
        self.finish_step(scope, slot, status, None);
    }

    /// Ends a step that has failed or was cut, whose elements are undone.
    fn end_failed(&mut self, run: RunId) {
        let it = &mut self.dispatcher.runs[run];
        let cold = &self.arena.tables.colds[it.cold];
        let is_absorbed = match (&it.failed, cold.recovery) {
            (None, _) => false,
            _ if it.is.doomed => false,
            (_, Recovery::Catch) => true,
            (Some(failed), Recovery::Replace) => !failed.1.is_lasting() && !it.left.is_lasting(),
            (_, Recovery::No) => false,
        };
        if is_absorbed && cold.timing.fallback {
            let element = WHOLE;
            return self
                .dispatcher
                .ask(run, OpenQuestion::Fallback { run, element });
        }
        it.is.ended = true;
        let (scope, slot) = (it.scope, it.slot);
        let left = std::mem::take(&mut it.left);
        let Some(failed) = it.failed.take() else {
            self.arena.scopes[scope].left.add(left);
            return self.finish_step(scope, slot, StepStatus::Cancelled, None);
        };
        let mut failures = failed.1;
        failures.add(left);
        if is_absorbed {
            self.arena.scopes[scope].left.add_absorbed(failures);
            self.finish_step(scope, slot, StepStatus::Recovered, None);
        } else {
            self.finish_step(scope, slot, StepStatus::Failed, Some(failures));
        }
    }

    /// Starts nothing more of a step: waits end, and no attempt follows another.
    pub(super) fn stop_run(&mut self, run: RunId) {
        // The condition of a loop is still asked after its round, and the value of a step that has failed before.
        let is_start = |it: &OpenQuestion| {
            !matches!(
                it,
                OpenQuestion::Again { .. } | OpenQuestion::Fallback { .. }
            )
        };
        if self.dispatcher.runs[run].is.ended {
            return;
        }
        let dropped = self.dispatcher.drop_questions(run, is_start);
        let it = &mut self.dispatcher.runs[run];
        it.is.cut |= dropped > 0 || !it.pending.queue.is_empty();
        it.pending.queue.clear();
        for attempt in it.attempts.in_order() {
            let it = &mut self.dispatcher.runs[run];
            if !it.attempts.runs(attempt) {
                continue;
            }
            match &mut it.attempts[attempt].activity {
                Activity::Await(_)
                | Activity::Every
                | Activity::Ready(None)
                | Activity::Asked(_, None) => {
                    it.is.cut = true;
                    self.dispatcher.end_attempt(run, attempt);
                }
                Activity::Backoff(_, failures)
                | Activity::Ready(Some(failures))
                | Activity::Asked(_, Some(failures)) => {
                    let failures = std::mem::take(&mut **failures);
                    let element = it.attempts[attempt].element;
                    self.dispatcher.end_attempt(run, attempt);
                    self.fail(run, element, failures);
                }
                _ => {}
            }
        }
        self.todo.push_back(Todo::Run(run));
    }

    /// Drops the calls of a step, because another step has failed or the scope was ended before its time.
    pub(super) fn cut_run(&mut self, run: RunId, cutoff: Cutoff, is_doomed: bool) {
        if self.dispatcher.runs[run].is.ended {
            return;
        }
        // The step has failed before, and nothing replaces its failure.
        let is_replaced =
            |it: &OpenQuestion| matches!(it, OpenQuestion::Fallback { element: WHOLE, .. });
        let has_failed = self.dispatcher.drop_questions(run, is_replaced) > 0;
        let it = &mut self.dispatcher.runs[run];
        it.is.doomed |= is_doomed || has_failed;
        let waits = it.failed.is_none();
        if let Some(failed) = it.failed.take_if(|it| !has_failed && !it.1.is_lasting()) {
            it.left.add(failed.1.of_undo_steps());
        }
        self.cut_attempts(run, cutoff, waits);
    }
}
