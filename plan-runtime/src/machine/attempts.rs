//! Attempts of calls, waits, elements and rounds: their time limits, and the waits between them.

use super::attempt::{Activity, Attempt, AttemptPhase};
use super::core::{Core, Reaction, Todo, Turn};
use super::describe::Recovery;
use super::event::{CallError, Command};
use super::failures::{Cutoff, Failures, Reason};
use super::ids::{AttemptId, RunId};
use super::lookup::Lookup;
use super::rows::{CallKind, OpenQuestion};
use super::state::{Owner, WHOLE};
use super::tables::StepBody;
use std::sync::Arc;

impl Core {
    /// Begins an attempt that has waited for a permit, unless a time limit has passed.
    pub(super) fn begin_ready(&mut self, run: RunId, attempt: AttemptId) {
        let it = &mut self.dispatcher.runs[run];
        let tried = &mut it.attempts[attempt];
        let Some(reason) = tried.late.take() else {
            return self.admit_or_start(run, attempt);
        };
        let failed = match std::mem::replace(&mut tried.activity, Activity::Nothing) {
            Activity::Ready(failed) => failed,
            _ => None,
        };
        let (element, number, body) = (tried.element, tried.number, tried.body);
        self.dispatcher.end_attempt(run, attempt);
        let failures = match failed {
            Some(failures) => *failures,
            None => Failures::of(Lookup(self).failure(run, element, number, reason)),
        };
        if self.arena.tables.is_loop(body) {
            self.fail_run(run, element, failures);
        } else {
            self.fail(run, element, failures);
        }
    }

    /// Begins an attempt, now or as soon as there is a permit. A further attempt comes after a failure.
    pub(super) fn begin_attempt(
        &mut self,
        run: RunId,
        tried: Attempt,
        failed: Option<Box<Failures>>,
        turn: Turn,
    ) {
        let it = &mut self.dispatcher.runs[run];
        it.running += 1;
        let is_wait = self.arena.tables.bodies[tried.body] == StepBody::Await;
        let attempt = it.attempts.add(tried);
        if let Some(timer) = it.attempts[attempt].deadline {
            self.dispatcher.calls.move_to(timer, attempt);
        }
        if is_wait || turn == Turn::Now {
            self.admit_or_start(run, attempt);
        } else {
            self.arena
                .wait_in_line(&mut self.dispatcher.runs, run, attempt, failed);
        }
    }

    pub(super) fn admit_or_start(&mut self, run: RunId, attempt: AttemptId) {
        let it = &self.dispatcher.runs[run];
        let body = it.attempts[attempt].body;
        let is_call = matches!(
            self.arena.tables.bodies[body],
            StepBody::Call | StepBody::Open(_)
        );
        if is_call && self.arena.tables.colds[it.cold].timing.admits {
            return self.dispatcher.ask_to_admit(run, attempt);
        }
        self.start_attempt(run, attempt);
    }

    /// Starts an attempt. After an attempt that is too much, the run is over.
    pub(super) fn start_attempt(&mut self, run: RunId, attempt: AttemptId) {
        let it = &self.dispatcher.runs[run];
        let body = it.attempts[attempt].body;
        let place = it.step_place(attempt);
        let number = place.attempt;
        let activity = match self.arena.tables.bodies[body] {
            StepBody::Call | StepBody::Value | StepBody::Open(_) => {
                let Some(call) = self.dispatcher.open(run, Some(attempt), CallKind::Call) else {
                    return;
                };
                if self.arena.tables.bodies[body] != StepBody::Value
                    && let Err(full) = self.dispatcher.starts_left.count(number)
                {
                    return self.dispatcher.overflow(run, Some(attempt), full);
                }
                self.dispatcher.calling += 1;
                self.dispatcher.out.push_back(Command::Start(call, place));
                Activity::Call(call)
            }
            StepBody::Await => {
                let Some(call) = self.dispatcher.open(run, Some(attempt), CallKind::Await) else {
                    return;
                };
                self.dispatcher.out.push_back(Command::Await(call, place));
                Activity::Await(call)
            }
            StepBody::Loop(row) | StepBody::Scope(row) => {
                let is_call = self.arena.tables.is_plan(row);
                let counted = if is_call {
                    self.dispatcher.starts_left.count(number)
                } else {
                    Ok(())
                };
                let owner = Some(Owner { run, attempt });
                match counted.and_then(|()| self.begin_scope(row, owner)) {
                    Ok(scope) => Activity::Scope(scope),
                    Err(full) => return self.dispatcher.overflow(run, Some(attempt), full),
                }
            }
            StepBody::If(..) | StepBody::For(_) => Activity::Nothing,
        };
        let it = &mut self.dispatcher.runs[run];
        it.attempts[attempt].activity = activity;
        it.active += 1;
        let tables = &self.arena.tables;
        self.dispatcher.limit_attempt(tables, run, attempt);
    }

    /// An attempt has ended.
    pub(super) fn attempt_ended(
        &mut self,
        run: RunId,
        attempt: AttemptId,
        result: Result<(), Failures>,
    ) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.dispatcher.runs[run];
        it.running -= 1;
        self.todo.push_back(Todo::Run(run));
        let tried = &mut it.attempts[attempt];
        let (element, number, late) = (tried.element, tried.number, tried.late.take());
        let inside = match tried.activity {
            Activity::Scope(scope) => Some(scope),
            _ => None,
        };
        let is_kept = result.is_ok() && inside.is_some() && tables.can_undo(tried.body);
        let is_loop = tables.is_loop(tried.body);
        tried.phase = if is_kept {
            AttemptPhase::Kept
        } else {
            AttemptPhase::Over
        };
        it.active -= u32::from(inside.is_some());
        if is_kept {
            it.kept.push(attempt);
        }
        // A round lasts until its loop has the value of the condition.
        if let Some(scope) = inside
            && !is_kept
            && !(is_loop && result.is_ok())
        {
            self.arena.release(&self.dispatcher.runs, scope);
        }
        let failures = match result {
            Ok(()) if is_loop => {
                let tried = &mut self.dispatcher.runs[run].attempts[attempt];
                // The wait for the next round continues.
                let every = tried.every.take();
                self.dispatcher.drop_timers(run, attempt);
                self.dispatcher.runs[run].attempts[attempt].every = every;
                return self.dispatcher.ask(
                    &self.arena.tables,
                    run,
                    OpenQuestion::Again { run, attempt },
                );
            }
            Ok(()) => {
                self.dispatcher.drop_timers(run, attempt);
                let it = &mut self.dispatcher.runs[run];
                it.outstanding -= 1;
                if !is_kept {
                    it.attempts.free(attempt);
                }
                return;
            }
            Err(failures) => failures,
        };
        match (failures.cutoff, late) {
            (Some(Cutoff::Limit), Some(reason)) => {
                let failure = Lookup(self).failure(run, element, number, reason);
                let mut late = Failures::of(failure);
                late.add(failures);
                self.attempt_failed(run, attempt, late);
            }
            (Some(_), _) => {
                self.dispatcher.drop_timers(run, attempt);
                let it = &mut self.dispatcher.runs[run];
                if failures.is_lasting() {
                    it.note(element, failures);
                } else {
                    it.left.add(failures.of_undo_steps());
                }
            }
            (None, _) => self.attempt_failed(run, attempt, failures),
        }
    }

    /// Begins the next attempt, if one may help. Otherwise, the element has failed.
    fn attempt_failed(&mut self, run: RunId, attempt: AttemptId, failures: Failures) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.dispatcher.runs[run];
        let tried = &mut it.attempts[attempt];
        let (body, element, number) = (tried.body, tried.element, tried.number);
        let job = tried.job;
        let may_retry = failures.is_transient()
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
        self.dispatcher.drop_timers(run, attempt);
        let it = &mut self.dispatcher.runs[run];
        it.attempts.free(attempt);
        if !may_retry && tables.is_loop(body) {
            return self.fail_run(run, element, failures);
        } else if !may_retry {
            return self.fail(run, element, failures);
        }
        let mut next = Attempt::new(body, element, number + 1);
        next.deadline = deadline;
        next.job = job;
        if !tables.colds[it.cold].timing.backoff {
            return self.begin_attempt(run, next, Some(Box::new(failures)), Turn::InLine);
        }
        it.running += 1;
        let attempt = it.attempts.add(next);
        if let Some(timer) = deadline {
            self.dispatcher.calls.move_to(timer, attempt);
        }
        if let Some(timer) = self
            .dispatcher
            .open_timer(run, Some(attempt), CallKind::Backoff)
        {
            let tried = &mut self.dispatcher.runs[run].attempts[attempt];
            tried.activity = Activity::Backoff(timer, Box::new(failures));
        }
    }

    /// An element has failed for good.
    pub(super) fn fail(&mut self, run: RunId, element: u32, failures: Failures) {
        let it = &mut self.dispatcher.runs[run];
        let is_recovered = match self.arena.tables.colds[it.cold].each {
            _ if element == WHOLE || it.is.doomed => false,
            Recovery::Catch => true,
            Recovery::Replace => !failures.is_lasting(),
            Recovery::No => false,
        };
        if is_recovered {
            it.left.add_absorbed(failures.clone());
            it.is.recovered = true;
            if self.arena.tables.colds[it.cold].timing.fallback {
                it.absorbed.push((element, failures));
                return self.dispatcher.ask(
                    &self.arena.tables,
                    run,
                    OpenQuestion::Fallback { run, element },
                );
            }
            it.outstanding -= 1;
        } else {
            self.fail_run(run, element, failures);
        }
    }

    /// A step has failed at an element, so nothing more of it starts. Elements that wait for another attempt have failed as well.
    pub(super) fn fail_run(&mut self, run: RunId, element: u32, failures: Failures) {
        let it = &mut self.dispatcher.runs[run];
        let has_failed = it.failed.is_some();
        it.note(element, failures);
        it.pending.queue.clear();
        self.drop_questions(run);
        // The first failure has ended all attempts that wait.
        if has_failed {
            return;
        }
        for attempt in self.dispatcher.runs[run].attempts.in_order() {
            let it = &mut self.dispatcher.runs[run];
            if !it.attempts.runs(attempt) {
                continue;
            }
            match &mut it.attempts[attempt].activity {
                Activity::Backoff(_, failures)
                | Activity::Ready(Some(failures))
                | Activity::Asked(_, Some(failures)) => {
                    let failures = std::mem::take(&mut **failures);
                    let element = it.attempts[attempt].element;
                    it.note(element, failures);
                    self.dispatcher.end_attempt(run, attempt);
                }
                Activity::Ready(None) | Activity::Asked(_, None) => {
                    self.dispatcher.end_attempt(run, attempt);
                }
                _ => {}
            }
        }
        if self.settings.reaction == Reaction::Cancel {
            self.cut_attempts(run, Cutoff::Beside, false);
        }
    }

    /// Drops the calls of a step, and cuts its scopes.
    pub(super) fn cut_attempts(&mut self, run: RunId, cutoff: Cutoff, waits: bool) {
        let it = &mut self.dispatcher.runs[run];
        it.is.cut = true;
        it.pending.queue.clear();
        self.drop_questions(run);
        for attempt in self.dispatcher.runs[run].attempts.in_order() {
            let it = &self.dispatcher.runs[run];
            if !it.attempts.runs(attempt) {
                continue;
            }
            match &it.attempts[attempt].activity {
                Activity::Scope(scope) => {
                    let scope = *scope;
                    self.cut_scope(scope, cutoff);
                }
                activity if waits && self.dispatcher.is_certain(activity) => {}
                _ => self.dispatcher.end_attempt(run, attempt),
            }
        }
        self.todo.push_back(Todo::Run(run));
    }

    /// An attempt has reached a time limit.
    pub(super) fn limit_reached(&mut self, run: RunId, attempt: AttemptId, reason: Reason) {
        let it = &mut self.dispatcher.runs[run];
        let tried = &mut it.attempts[attempt];
        let (element, number) = (tried.element, tried.number);
        match &mut tried.activity {
            Activity::Scope(scope) => {
                let scope = *scope;
                tried.late = tried.late.or(Some(reason));
                self.cut_scope(scope, Cutoff::Limit);
            }
            // The attempt begins too late.
            Activity::Ready(_) | Activity::Asked(..) => tried.late = tried.late.or(Some(reason)),
            Activity::Backoff(_, failures) => {
                let failures = std::mem::take(&mut **failures);
                self.dispatcher.end_attempt(run, attempt);
                self.todo.push_back(Todo::Run(run));
                let body = self.dispatcher.runs[run].attempts[attempt].body;
                if self.arena.tables.is_loop(body) {
                    self.fail_run(run, element, failures);
                } else {
                    self.fail(run, element, failures);
                }
            }
            Activity::Call(_)
            | Activity::Await(_)
            | Activity::Every
            | Activity::Nothing
            | Activity::Free(_) => {
                // The time limit of the element continues in the next attempt.
                let deadline = tried.deadline.take();
                self.dispatcher.end_attempt(run, attempt);
                let it = &mut self.dispatcher.runs[run];
                it.running += 1;
                it.attempts[attempt].deadline = deadline;
                let failure = Lookup(self).failure(run, element, number, reason);
                self.attempt_ended(run, attempt, Err(Failures::of(failure)));
            }
        }
    }

    /// The condition of a loop is known, after a round.
    pub(super) fn round_ended(
        &mut self,
        run: RunId,
        attempt: AttemptId,
        again: Result<u32, CallError>,
    ) {
        self.round_over(run, attempt);
        let it = &self.dispatcher.runs[run];
        let tried = &it.attempts[attempt];
        let (element, is_kept) = (tried.element, tried.phase == AttemptPhase::Kept);
        let round = it.place(element);
        let most = it.amounts.at_most;
        let is_stopping = it.is.cut || self.arena.scopes[it.scope].stops_work();
        let reason = match again {
            Err(error) => {
                let reason = Reason::Error(error.error);
                let failure = Lookup(self).failure(run, element, tried.number, reason);
                return self.fail_run(run, element, Failures::of(error.mark(failure)));
            }
            Ok(0) => None,
            Ok(_) if round + 1 >= most => Some(Reason::TooManyRounds(most)),
            Ok(_) if it.is.late => Some(Reason::Deadline),
            Ok(_) if is_stopping => {
                self.dispatcher.runs[run].is.cut = true;
                return;
            }
            Ok(_) => return self.next_round(run, attempt, is_kept),
        };
        match reason {
            None => self.dispatcher.runs[run].outstanding -= 1,
            Some(reason) => {
                let number = tried.number;
                let failure = Lookup(self).failure(run, element, number, reason);
                self.fail_run(run, element, Failures::of(failure));
            }
        }
    }

    /// Closes all questions about a step.
    pub(super) fn drop_questions(&mut self, run: RunId) {
        let mut round = None;
        self.dispatcher.drop_questions(run, |asked| {
            if let OpenQuestion::Again { attempt, .. } = asked {
                round = Some(*attempt);
            }
            true
        });
        if let Some(attempt) = round {
            self.round_over(run, attempt);
        }
    }
}
