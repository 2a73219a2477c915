//! Runs of steps that are not plain: their elements and rounds, from the start of the step to its end.

use super::core::{Core, Todo};
use super::describe::Recovery;
use super::event::CallError;
use super::ids::{BodyId, Id, RunId, StepSlot};
use super::lookup::Lookup;
use super::loss::{Cutoff, Loss, Reason};
use super::rows::{OpenQuestion, QuestionList};
use super::state::{Doing, Fate, Pending, RunFlags, StepRun, Try, WHOLE};
use super::tables::StepBody;
use super::word::StepStatus;
use std::sync::Arc;

impl Core {
    /// The driver has made the value that replaces a failure, or has failed to.
    pub(super) fn instead_made(
        &mut self,
        run: RunId,
        element: u32,
        result: Result<u32, CallError>,
    ) {
        let it = &mut self.desk.runs[run];
        if element != WHOLE {
            let place = it.absorbed.iter().position(|it| it.0 == element);
            let absorbed = place.map(|place| it.absorbed.remove(place).1);
            let Err(error) = result else {
                it.outstanding -= 1;
                return;
            };
            let faults = absorbed.as_ref().and_then(|loss| loss.faults.first());
            let attempts = faults.map_or(1, |it| it.attempts);
            let mut fault = Lookup(self).fault(run, element, attempts, Reason::Error(error.error));
            fault.transient = error.transient;
            return self.fail_run(run, element, Loss::of(fault));
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
        let attempts = old.faults.first().map_or(1, |it| it.attempts);
        let fault = Lookup(self).fault(run, element, attempts, Reason::Error(error.error));
        let mut loss = Loss::of(error.mark(fault));
        loss.add(old.of_undo_steps());
        self.finish_step(scope, slot, StepStatus::Failed, Some(loss));
    }

    /// Starts a step that is not plain.
    pub(super) fn start_run(&mut self, slot: StepSlot) {
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
            tries: Vec::new(),
            free_try: None,
            elements: Vec::new(),
            pending: Pending::default(),
            running: 0,
            asking: 0,
            active: 0,
            questions: QuestionList::default(),
            outstanding: 1,
            failed: None,
            absorbed: Vec::new(),
            left: Loss::default(),
            deadline: None,
            kept: Vec::new(),
            is: RunFlags::default(),
        };
        let run = self.desk.runs.open(new);
        let first = tables.rows[it.row].colds.start as usize;
        it.runs[cold.place() - first] = Some(run);
        self.todo.push_back(Todo::Run(run));
        if of.timing.amounts {
            self.desk.ask(run, OpenQuestion::Amounts(run));
        } else {
            self.enter(run, of.body, WHOLE);
        }
    }

    /// Does a body, up to the next call, scope or question.
    pub(super) fn enter(&mut self, run: RunId, body: BodyId, element: u32) {
        let mut element = element;
        match self.arena.tables.bodies[body] {
            StepBody::If(..) | StepBody::For(_) => {
                return self
                    .desk
                    .ask(run, OpenQuestion::Body { run, body, element });
            }
            StepBody::Loop(_) => {
                if !self.desk.count_elements(run, element, 1) {
                    return;
                }
                element = self.desk.runs[run].add_element(element, 0);
                self.desk.limit_loop(run);
            }
            StepBody::Call
            | StepBody::Value
            | StepBody::Open(_)
            | StepBody::Await
            | StepBody::Scope(_) => {}
        }
        let it = &mut self.desk.runs[run];
        let mut tried = Try::new(body, element, 1);
        tried.job = it.pending.jobs;
        it.pending.jobs += 1;
        self.begin_try(run, tried, None);
    }

    pub(super) fn body_answered(
        &mut self,
        run: RunId,
        body: BodyId,
        element: u32,
        number: Result<u32, CallError>,
    ) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.desk.runs[run];
        match (tables.bodies[body], number) {
            (StepBody::If(first, count), Ok(branch)) if (1..=count).contains(&branch) => {
                self.enter(run, tables.branch(first, branch - 1), element);
            }
            (StepBody::For(inner), Ok(length)) => {
                if !self.desk.count_elements(run, element, length) {
                    return;
                }
                let it = &mut self.desk.runs[run];
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
                let fault = Lookup(self).fault(run, element, 0, Reason::Error(error.error));
                self.fail(run, element, Loss::of(error.mark(fault)));
            }
        }
    }

    /// A value that the whole step needs cannot be made.
    pub(super) fn fail_value(&mut self, run: RunId, element: u32, error: CallError) {
        let reason = Reason::Error(error.error);
        let fault = Lookup(self).fault(run, element, 0, reason);
        self.fail_run(run, element, Loss::of(error.mark(fault)));
    }

    /// The condition of a loop is known, after a round.
    pub(super) fn round_ended(&mut self, run: RunId, attempt: u32, again: Result<u32, CallError>) {
        self.round_over(run, attempt);
        let it = &self.desk.runs[run];
        let tried = &it.tries[attempt as usize];
        let (element, is_kept) = (tried.element, tried.fate == Fate::Kept);
        let round = it.place(element);
        let most = it.amounts.at_most;
        let is_stopping = it.is.cut || self.arena.scopes[it.scope].stops_work();
        let reason = match again {
            Err(error) => {
                let reason = Reason::Error(error.error);
                let fault = Lookup(self).fault(run, element, tried.number, reason);
                return self.fail_run(run, element, Loss::of(error.mark(fault)));
            }
            Ok(0) => None,
            Ok(_) if round + 1 >= most => Some(Reason::TooManyRounds(most)),
            Ok(_) if it.is.late => Some(Reason::Deadline),
            Ok(_) if is_stopping => {
                self.desk.runs[run].is.cut = true;
                return;
            }
            Ok(_) => return self.next_round(run, attempt, is_kept),
        };
        match reason {
            None => self.desk.runs[run].outstanding -= 1,
            Some(reason) => {
                let number = tried.number;
                let fault = Lookup(self).fault(run, element, number, reason);
                self.fail_run(run, element, Loss::of(fault));
            }
        }
    }

    /// The condition of a loop has read the outputs of a round, or will not.
    fn round_over(&mut self, run: RunId, attempt: u32) {
        let tried = &self.desk.runs[run].tries[attempt as usize];
        if let Doing::Scope(scope) = tried.doing
            && tried.fate != Fate::Kept
        {
            self.arena.release(&self.desk.runs, scope);
        }
    }

    /// Closes all questions about a step.
    pub(super) fn drop_questions(&mut self, run: RunId) {
        let mut round = None;
        self.desk.drop_questions(run, |asked| {
            if let OpenQuestion::Again { attempt, .. } = asked {
                round = Some(*attempt);
            }
            true
        });
        if let Some(attempt) = round {
            self.round_over(run, attempt);
        }
    }

    fn next_round(&mut self, run: RunId, attempt: u32, is_kept: bool) {
        let element = self.desk.runs[run].tries[attempt as usize].element;
        if !self.desk.count_elements(run, element, 1) {
            return;
        }
        let keeps = is_kept || self.arena.keeps_all;
        let it = &mut self.desk.runs[run];
        let tried = &mut it.tries[attempt as usize];
        let (body, mut element, every) = (tried.body, tried.element, tried.every.take());
        let job = tried.job;
        // If no round can be undone, only the last round has rows.
        if keeps {
            let before = it.elements[element as usize - 1];
            element = it.add_element(before.around, before.place + 1);
        } else {
            it.elements[element as usize - 1].place += 1;
            it.free_try(attempt);
        }
        let mut next = Try::new(body, element, 1);
        next.job = job;
        let Some(timer) = every else {
            return self.begin_try(run, next, None);
        };
        next.doing = Doing::Every;
        next.every = Some(timer);
        it.running += 1;
        let attempt = it.add_try(next);
        self.desk.calls.move_to(timer, attempt);
    }

    /// Starts further elements, or ends the step. If the step fails or is cut, its elements are undone first.
    pub(super) fn settle_run(&mut self, run: RunId) {
        let it = &mut self.desk.runs[run];
        if it.is.ended {
            return;
        }
        if !it.pending.queue.is_empty() && self.arena.scopes[it.scope].stops_work() {
            it.is.cut = true;
            it.pending.queue.clear();
        }
        self.arena.line_up_run(&mut self.desk.runs, run);
        let it = &mut self.desk.runs[run];
        if it.running + it.asking > 0 || !it.pending.queue.is_empty() {
            return;
        }
        let (scope, slot) = (it.scope, it.slot);
        // Undo steps do not count in time limits.
        self.desk.unlimit_loop(run);
        let it = &mut self.desk.runs[run];
        if it.failed.is_some() || it.outstanding > 0 {
            if self.undo_run(run) {
                self.end_failed(run);
            }
            return;
        }
        it.is.ended = true;
        let status = match it.is {
            RunFlags { skipped: true, .. } => StepStatus::Skipped,
            RunFlags { missed: true, .. } => StepStatus::Recovered,
            _ => StepStatus::Completed,
        };
        if !self.arena.hot[slot.index()].is_work() {
            // The effects of an undo step or an always step stay once the step has succeeded.
            let left = Lookup(self).absorbed_in(run);
            let it = &mut self.desk.runs[run];
            it.left = left;
            let mut kept = Vec::new();
            for tried in it.tries.iter_mut().filter(|it| it.fate == Fate::Kept) {
                tried.fate = Fate::Over;
                if let Doing::Scope(scope) = tried.doing {
                    kept.push(scope);
                }
            }
            it.kept.clear();
            kept.into_iter()
                .for_each(|scope| self.arena.release(&self.desk.runs, scope));
        }
        self.finish_step(scope, slot, status, None);
    }

    /// Ends a step that has failed or was cut, whose elements are undone.
    fn end_failed(&mut self, run: RunId) {
        let it = &mut self.desk.runs[run];
        let cold = &self.arena.tables.colds[it.cold];
        let is_absorbed = match (&it.failed, cold.recovery) {
            (None, _) => false,
            _ if it.is.doomed => false,
            (_, Recovery::Catch) => true,
            (Some(failed), Recovery::Replace) => !failed.1.is_lasting() && !it.left.is_lasting(),
            (_, Recovery::No) => false,
        };
        if is_absorbed && cold.timing.instead {
            let element = WHOLE;
            return self.desk.ask(run, OpenQuestion::Instead { run, element });
        }
        it.is.ended = true;
        let (scope, slot) = (it.scope, it.slot);
        let left = std::mem::take(&mut it.left);
        let Some(failed) = it.failed.take() else {
            self.arena.scopes[scope].left.add(left);
            return self.finish_step(scope, slot, StepStatus::Cancelled, None);
        };
        let mut loss = failed.1;
        loss.add(left);
        if is_absorbed {
            self.arena.scopes[scope].left.add_absorbed(loss);
            self.finish_step(scope, slot, StepStatus::Recovered, None);
        } else {
            self.finish_step(scope, slot, StepStatus::Failed, Some(loss));
        }
    }

    /// Starts nothing more of a step: waits end, and no attempt follows another.
    pub(super) fn stop_run(&mut self, run: RunId) {
        // The condition of a loop is still asked after its round, and the value of a step that has failed before.
        let is_start = |it: &OpenQuestion| {
            !matches!(
                it,
                OpenQuestion::Again { .. } | OpenQuestion::Instead { .. }
            )
        };
        if self.desk.runs[run].is.ended {
            return;
        }
        let dropped = self.desk.drop_questions(run, is_start);
        let it = &mut self.desk.runs[run];
        it.is.cut |= dropped > 0 || !it.pending.queue.is_empty();
        it.pending.queue.clear();
        for attempt in it.in_order() {
            let it = &mut self.desk.runs[run];
            if !it.runs(attempt) {
                continue;
            }
            match &mut it.tries[attempt as usize].doing {
                Doing::Await(_) | Doing::Every | Doing::Ready(None) | Doing::Asked(_, None) => {
                    it.is.cut = true;
                    self.desk.end_try(run, attempt);
                }
                Doing::Backoff(_, loss)
                | Doing::Ready(Some(loss))
                | Doing::Asked(_, Some(loss)) => {
                    let loss = std::mem::take(&mut **loss);
                    let element = it.tries[attempt as usize].element;
                    self.desk.end_try(run, attempt);
                    self.fail(run, element, loss);
                }
                _ => {}
            }
        }
        self.todo.push_back(Todo::Run(run));
    }

    /// Drops the calls of a step, because another step has failed or the scope was ended before its time.
    pub(super) fn cut_run(&mut self, run: RunId, cutoff: Cutoff, is_doomed: bool) {
        if self.desk.runs[run].is.ended {
            return;
        }
        // The step has failed before, and nothing replaces its failure.
        let is_replaced =
            |it: &OpenQuestion| matches!(it, OpenQuestion::Instead { element: WHOLE, .. });
        let has_failed = self.desk.drop_questions(run, is_replaced) > 0;
        let it = &mut self.desk.runs[run];
        it.is.doomed |= is_doomed || has_failed;
        let waits = it.failed.is_none();
        if let Some(failed) = it.failed.take_if(|it| !has_failed && !it.1.is_lasting()) {
            it.left.add(failed.1.of_undo_steps());
        }
        self.cut_tries(run, cutoff, waits);
    }
}
