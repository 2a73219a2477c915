//! Attempts of calls, waits, elements and rounds: their time limits, the waits between them, and their undo.

use super::core::{Core, Reaction, Todo};
use super::describe::Recovery;
use super::event::Command;
use super::ids::{BodyId, RunId};
use super::lookup::Lookup;
use super::loss::{Cutoff, Loss, Reason};
use super::rows::{CallKind, OpenQuestion};
use super::state::{Doing, Fate, Owner, Try, WHOLE};
use super::tables::StepBody;
use std::sync::Arc;

impl Try {
    pub(super) fn new(body: BodyId, element: u32, number: u32) -> Self {
        Self {
            body,
            element,
            number,
            job: 0,
            doing: Doing::Nothing,
            fate: Fate::Runs,
            late: None,
            timeout: None,
            deadline: None,
            every: None,
        }
    }
}

impl Core {
    /// Begins an attempt that has waited for a permit, unless a time limit has passed.
    pub(super) fn begin_ready(&mut self, run: RunId, attempt: u32) {
        let it = &mut self.desk.runs[run];
        let tried = &mut it.tries[attempt as usize];
        let Some(reason) = tried.late.take() else {
            return self.run_try(run, attempt);
        };
        let failed = match std::mem::replace(&mut tried.doing, Doing::Nothing) {
            Doing::Ready(failed) => failed,
            _ => None,
        };
        let (element, number, body) = (tried.element, tried.number, tried.body);
        self.desk.end_try(run, attempt);
        let loss = match failed {
            Some(loss) => *loss,
            None => Loss::of(Lookup(self).fault(run, element, number, reason)),
        };
        if self.arena.tables.is_loop(body) {
            self.fail_run(run, element, loss);
        } else {
            self.fail(run, element, loss);
        }
    }

    /// Begins an attempt, as soon as there is a permit. A further attempt comes after a failure.
    pub(super) fn begin_try(&mut self, run: RunId, tried: Try, failed: Option<Box<Loss>>) {
        let it = &mut self.desk.runs[run];
        it.running += 1;
        let is_wait = self.arena.tables.bodies[tried.body] == StepBody::Await;
        let attempt = it.add_try(tried);
        if let Some(timer) = it.tries[attempt as usize].deadline {
            self.desk.calls.move_to(timer, attempt);
        }
        if is_wait || std::mem::take(&mut self.desk.may_begin) {
            self.run_try(run, attempt);
        } else {
            self.arena
                .wait_in_line(&mut self.desk.runs, run, attempt, failed);
        }
    }

    pub(super) fn run_try(&mut self, run: RunId, attempt: u32) {
        let it = &self.desk.runs[run];
        let body = it.tries[attempt as usize].body;
        let is_call = matches!(
            self.arena.tables.bodies[body],
            StepBody::Call | StepBody::Open(_)
        );
        if is_call && self.arena.tables.colds[it.cold].timing.admits {
            return self.desk.ask_to_admit(run, attempt);
        }
        self.start_try(run, attempt);
    }

    /// Starts an attempt. After an attempt that is too much, the run is over.
    pub(super) fn start_try(&mut self, run: RunId, attempt: u32) {
        let it = &self.desk.runs[run];
        let body = it.tries[attempt as usize].body;
        let place = it.step_place(attempt);
        let number = place.attempt;
        let doing = match self.arena.tables.bodies[body] {
            StepBody::Call | StepBody::Value | StepBody::Open(_) => {
                let Some(call) = self.desk.open(run, Some(attempt), CallKind::Call) else {
                    return;
                };
                if self.arena.tables.bodies[body] != StepBody::Value
                    && let Err(full) = self.desk.starts_left.count(number)
                {
                    return self.desk.overflow(run, Some(attempt), full);
                }
                self.desk.calling += 1;
                self.desk.out.push_back(Command::Start(call, place));
                Doing::Call(call)
            }
            StepBody::Await => {
                let Some(call) = self.desk.open(run, Some(attempt), CallKind::Await) else {
                    return;
                };
                self.desk.out.push_back(Command::Await(call, place));
                Doing::Await(call)
            }
            StepBody::Loop(row) | StepBody::Scope(row) => {
                let is_call = self.arena.tables.is_plan(row);
                let counted = if is_call {
                    self.desk.starts_left.count(number)
                } else {
                    Ok(())
                };
                let owner = Some(Owner { run, attempt });
                match counted.and_then(|()| self.begin_scope(row, owner)) {
                    Ok(scope) => Doing::Scope(scope),
                    Err(full) => return self.desk.overflow(run, Some(attempt), full),
                }
            }
            StepBody::If(..) | StepBody::For(_) => Doing::Nothing,
        };
        let it = &mut self.desk.runs[run];
        it.tries[attempt as usize].doing = doing;
        it.active += 1;
        self.desk.limit_try(run, attempt);
    }

    /// An attempt has ended.
    pub(super) fn attempt_ended(&mut self, run: RunId, attempt: u32, result: Result<(), Loss>) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.desk.runs[run];
        it.running -= 1;
        self.todo.push_back(Todo::Run(run));
        let tried = &mut it.tries[attempt as usize];
        let (element, number, late) = (tried.element, tried.number, tried.late.take());
        let inside = match tried.doing {
            Doing::Scope(scope) => Some(scope),
            _ => None,
        };
        let is_kept = result.is_ok() && inside.is_some() && tables.can_undo(tried.body);
        let is_loop = tables.is_loop(tried.body);
        tried.fate = if is_kept { Fate::Kept } else { Fate::Over };
        it.active -= u32::from(inside.is_some());
        if is_kept {
            it.kept.push(attempt);
        }
        // A round lasts until its loop has the value of the condition.
        if let Some(scope) = inside
            && !is_kept
            && !(is_loop && result.is_ok())
        {
            self.arena.release(&self.desk.runs, scope);
        }
        let loss = match result {
            Ok(()) if is_loop => {
                let tried = &mut self.desk.runs[run].tries[attempt as usize];
                // The wait for the next round goes on.
                let every = tried.every.take();
                self.desk.drop_timers(run, attempt);
                self.desk.runs[run].tries[attempt as usize].every = every;
                return self.desk.ask(run, OpenQuestion::Again { run, attempt });
            }
            Ok(()) => {
                self.desk.drop_timers(run, attempt);
                let it = &mut self.desk.runs[run];
                it.outstanding -= 1;
                if !is_kept && !self.arena.keeps_all {
                    it.free_try(attempt);
                }
                return;
            }
            Err(loss) => loss,
        };
        match (loss.cutoff, late) {
            (Some(Cutoff::Limit), Some(reason)) => {
                let fault = Lookup(self).fault(run, element, number, reason);
                let mut late = Loss::of(fault);
                late.add(loss);
                self.attempt_failed(run, attempt, late);
            }
            (Some(_), _) => {
                self.desk.drop_timers(run, attempt);
                let it = &mut self.desk.runs[run];
                if loss.is_lasting() {
                    it.note(element, loss);
                } else {
                    it.left.add(loss.of_undo_steps());
                }
            }
            (None, _) => self.attempt_failed(run, attempt, loss),
        }
    }

    /// Begins the next attempt, if one may help. Otherwise, the element has failed.
    fn attempt_failed(&mut self, run: RunId, attempt: u32, loss: Loss) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.desk.runs[run];
        let tried = &mut it.tries[attempt as usize];
        let (body, element, number) = (tried.body, tried.element, tried.number);
        let job = tried.job;
        let may_retry = loss.is_transient()
            && number < it.amounts.attempts
            && !it.is.cut
            && it.failed.is_none()
            && tables.bodies[body] != StepBody::Await
            && !self.arena.scopes[it.scope].stops_work();
        let deadline = if may_retry {
            tried.deadline.take()
        } else {
            None
        };
        self.desk.drop_timers(run, attempt);
        let it = &mut self.desk.runs[run];
        if !self.arena.keeps_all {
            it.free_try(attempt);
        }
        if !may_retry && tables.is_loop(body) {
            return self.fail_run(run, element, loss);
        } else if !may_retry {
            return self.fail(run, element, loss);
        }
        let mut next = Try::new(body, element, number + 1);
        next.deadline = deadline;
        next.job = job;
        if !tables.colds[it.cold].timing.backoff {
            return self.begin_try(run, next, Some(Box::new(loss)));
        }
        it.running += 1;
        let attempt = it.add_try(next);
        if let Some(timer) = deadline {
            self.desk.calls.move_to(timer, attempt);
        }
        if let Some(timer) = self.desk.open_timer(run, Some(attempt), CallKind::Backoff) {
            let tried = &mut self.desk.runs[run].tries[attempt as usize];
            tried.doing = Doing::Backoff(timer, Box::new(loss));
        }
    }

    /// An element has failed for good.
    pub(super) fn fail(&mut self, run: RunId, element: u32, loss: Loss) {
        let it = &mut self.desk.runs[run];
        let is_missed = match self.arena.tables.colds[it.cold].each {
            _ if element == WHOLE || it.is.doomed => false,
            Recovery::Catch => true,
            Recovery::Replace => !loss.is_lasting(),
            Recovery::No => false,
        };
        if is_missed {
            it.left.add_absorbed(loss.clone());
            it.is.missed = true;
            if self.arena.tables.colds[it.cold].timing.instead {
                it.absorbed.push((element, loss));
                return self.desk.ask(run, OpenQuestion::Instead { run, element });
            }
            it.outstanding -= 1;
        } else {
            self.fail_run(run, element, loss);
        }
    }

    /// A step has failed at an element, so nothing more of it starts. Elements that wait for another attempt have failed as well.
    pub(super) fn fail_run(&mut self, run: RunId, element: u32, loss: Loss) {
        let it = &mut self.desk.runs[run];
        it.note(element, loss);
        it.pending.queue.clear();
        self.drop_questions(run);
        for attempt in self.desk.runs[run].in_order() {
            let it = &mut self.desk.runs[run];
            if !it.runs(attempt) {
                continue;
            }
            match &mut it.tries[attempt as usize].doing {
                Doing::Backoff(_, loss)
                | Doing::Ready(Some(loss))
                | Doing::Asked(_, Some(loss)) => {
                    let loss = std::mem::take(&mut **loss);
                    let element = it.tries[attempt as usize].element;
                    it.note(element, loss);
                    self.desk.end_try(run, attempt);
                }
                Doing::Ready(None) | Doing::Asked(_, None) => self.desk.end_try(run, attempt),
                _ => {}
            }
        }
        if self.settings.reaction == Reaction::Cancel {
            self.cut_tries(run, Cutoff::Beside, false);
        }
    }

    /// Drops the calls of a step, and cuts its scopes.
    pub(super) fn cut_tries(&mut self, run: RunId, cutoff: Cutoff, waits: bool) {
        let it = &mut self.desk.runs[run];
        it.is.cut = true;
        it.pending.queue.clear();
        self.drop_questions(run);
        for attempt in self.desk.runs[run].in_order() {
            let it = &self.desk.runs[run];
            if !it.runs(attempt) {
                continue;
            }
            match &tried_of(it, attempt).doing {
                Doing::Scope(scope) => {
                    let scope = *scope;
                    self.cut_scope(scope, cutoff);
                }
                doing if waits && self.desk.is_ending(doing) => {}
                _ => self.desk.end_try(run, attempt),
            }
        }
        self.todo.push_back(Todo::Run(run));
    }

    /// Undoes the kept scopes of a step: elements at the same time, rounds from the last to the first. Returns whether none is left.
    pub(super) fn undo_run(&mut self, run: RunId) -> bool {
        let tables = Arc::clone(&self.arena.tables);
        loop {
            let it = &mut self.desk.runs[run];
            let Some(at) = it.kept.last() else {
                break;
            };
            let tried = &mut it.tries[*at as usize];
            let most = if tables.is_loop(tried.body) {
                1
            } else {
                it.amounts.at_once.max(1)
            };
            if it.running >= most {
                break;
            }
            it.kept.pop();
            if let Doing::Scope(scope) = tried.doing {
                it.running += 1;
                tried.fate = Fate::IsUndone;
                self.arena.scopes[scope].is_undone = true;
                self.begin_undo(scope);
            }
        }
        self.desk.runs[run].running == 0
    }

    /// A kept scope is undone, as far as its undo steps have succeeded.
    pub(super) fn undone_inside(&mut self, run: RunId, attempt: u32) {
        let tried = &self.desk.runs[run].tries[attempt as usize];
        let (Doing::Scope(inner), Fate::IsUndone) = (&tried.doing, tried.fate) else {
            return;
        };
        let inner = *inner;
        let left = Lookup(self).undoing(inner).of_undo_steps();
        let it = &mut self.desk.runs[run];
        it.tries[attempt as usize].fate = Fate::Over;
        it.running -= 1;
        it.left.add(left);
        let (scope, step, has_ended) = (it.scope, it.step, it.is.ended);
        self.arena.release(&self.desk.runs, inner);
        if has_ended {
            self.undo_inside(scope, step);
        } else {
            self.todo.push_back(Todo::Run(run));
        }
    }

    /// An attempt has reached a time limit.
    pub(super) fn limit_reached(&mut self, run: RunId, attempt: u32, reason: Reason) {
        let it = &mut self.desk.runs[run];
        let tried = &mut it.tries[attempt as usize];
        let (element, number) = (tried.element, tried.number);
        match &mut tried.doing {
            Doing::Scope(scope) => {
                let scope = *scope;
                tried.late = tried.late.or(Some(reason));
                self.cut_scope(scope, Cutoff::Limit);
            }
            // The attempt begins too late.
            Doing::Ready(_) | Doing::Asked(..) => tried.late = tried.late.or(Some(reason)),
            Doing::Backoff(_, loss) => {
                let loss = std::mem::take(&mut **loss);
                self.desk.end_try(run, attempt);
                self.todo.push_back(Todo::Run(run));
                if self
                    .arena
                    .tables
                    .is_loop(tried_of(&self.desk.runs[run], attempt).body)
                {
                    self.fail_run(run, element, loss);
                } else {
                    self.fail(run, element, loss);
                }
            }
            Doing::Call(_) | Doing::Await(_) | Doing::Every | Doing::Nothing => {
                // The time limit of the element goes on in the next attempt.
                let deadline = tried.deadline.take();
                self.desk.end_try(run, attempt);
                let it = &mut self.desk.runs[run];
                it.running += 1;
                it.tries[attempt as usize].deadline = deadline;
                let fault = Lookup(self).fault(run, element, number, reason);
                self.attempt_ended(run, attempt, Err(Loss::of(fault)));
            }
        }
    }
}

fn tried_of(run: &super::state::StepRun, attempt: u32) -> &Try {
    &run.tries[attempt as usize]
}
