//! Attempts of calls, waits, elements and rounds: their time limits, and the waits between them.

use super::engine::Core;
use super::event::{CallError, Command, Pause};
use super::failures::{Cutoff, Failures, Reason};
use super::ids::{AttemptId, BodyId, RowId, RunId};
use super::nodes::Recovery;
use super::parts::{Activity, Attempt, AttemptPhase, Owner, WHOLE};
use super::rows::{CallKind, OpenQuestion};
use super::state::{Reaction, Todo, Turn};
use super::tables::StepBody;
use std::sync::Arc;

impl Core {
    /// Begins an attempt, now or as soon as there is a permit.
    pub(super) fn begin_attempt(&mut self, run: RunId, tried: Attempt, turn: Turn) {
        let is_wait = self.state.tables.bodies[tried.body] == StepBody::Await;
        let attempt = self.add_attempt(run, tried);
        if is_wait || turn == Turn::Now {
            self.admit_or_start(run, attempt);
        } else {
            self.state.wait_in_line(run, attempt);
        }
    }

    /// Adds an attempt with the timers that continue from the attempt or the round before.
    pub(super) fn add_attempt(&mut self, run: RunId, tried: Attempt) -> AttemptId {
        let timers = [tried.deadline, tried.every];
        let it = &mut self.state.runs[run];
        it.running += 1;
        let attempt = it.attempts.add(tried);
        for timer in timers.into_iter().flatten() {
            self.state.calls.move_to(timer, attempt);
        }
        attempt
    }

    pub(super) fn admit_or_start(&mut self, run: RunId, attempt: AttemptId) {
        let it = &self.state.runs[run];
        let body = it.attempts[attempt].body;
        let is_call = matches!(
            self.state.tables.bodies[body],
            StepBody::Call | StepBody::Open(_)
        );
        if is_call && self.state.tables.colds[it.cold].timing.admits {
            return self.state.ask_to_admit(run, attempt);
        }
        self.start_attempt(run, attempt);
    }

    /// Starts an attempt. If the attempt exceeds the capacity, the run ends.
    pub(super) fn start_attempt(&mut self, run: RunId, attempt: AttemptId) {
        let it = &self.state.runs[run];
        let body = it.attempts[attempt].body;
        let place = it.step_place(attempt);
        let activity = match self.state.tables.bodies[body] {
            StepBody::Call | StepBody::Value | StepBody::Open(_) => {
                let Some(call) = self.state.open(run, attempt, CallKind::Call) else {
                    return;
                };
                self.state.calling += 1;
                self.state.out.push_back(Command::Start(call, place));
                Activity::Call(call)
            }
            StepBody::Await => {
                let Some(call) = self.state.open(run, attempt, CallKind::Await) else {
                    return;
                };
                self.state.out.push_back(Command::Await(call, place));
                Activity::Await(call)
            }
            StepBody::Loop(row) | StepBody::Scope(row) => {
                self.begin_inside(run, attempt, row);
                return self.state.limit_attempt(run, attempt);
            }
            StepBody::If(..) | StepBody::For(_) => return,
        };
        self.state.runs[run].start(attempt, activity);
        self.state.limit_attempt(run, attempt);
    }

    /// Begins a scope in an attempt. If the scope exceeds the capacity, the run ends.
    pub(super) fn begin_inside(&mut self, run: RunId, attempt: AttemptId, row: RowId) {
        match self.begin_scope(row, Some(Owner { run, attempt })) {
            Ok(scope) => self.state.runs[run].start(attempt, Activity::Scope(scope)),
            Err(full) => self.state.overflow(run, attempt, full),
        }
    }

    /// Handles the end of an attempt.
    pub(super) fn attempt_ended(
        &mut self,
        run: RunId,
        attempt: AttemptId,
        result: Result<(), Failures>,
    ) {
        let tables = Arc::clone(&self.state.tables);
        let it = &mut self.state.runs[run];
        it.running -= 1;
        self.todo.push_back(Todo::Run(run));
        let tried = &mut it.attempts[attempt];
        let (element, number, late) = (tried.element, tried.number, tried.late.take());
        let inside = tried.inside();
        let is_kept = result.is_ok() && inside.is_some() && tables.can_undo(tried.body);
        let is_loop = tables.is_loop(tried.body);
        // No failure contains the failures that the scope has absorbed. Plain steps absorb none.
        if let (Ok(()), Some(scope), false) = (&result, inside, is_kept)
            && !self.state.scopes[scope].runs.is_empty()
        {
            let absorbed = self.state.view().absorbed_of(scope);
            self.state.runs[run].left.add(absorbed);
        }
        let it = &mut self.state.runs[run];
        let tried = &mut it.attempts[attempt];
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
            self.state.release(scope);
        }
        let failures = match result {
            Ok(()) if is_loop => {
                let tried = &mut self.state.runs[run].attempts[attempt];
                // The wait for the next round continues.
                let every = tried.every.take();
                self.state.drop_timers(run, attempt);
                self.state.runs[run].attempts[attempt].every = every;
                return self.state.ask(OpenQuestion::Again { run, attempt });
            }
            Ok(()) => {
                self.state.drop_timers(run, attempt);
                let it = &mut self.state.runs[run];
                it.outstanding -= 1;
                if !is_kept {
                    it.attempts.release(attempt);
                }
                return;
            }
            Err(failures) => failures,
        };
        match (failures.cutoff, late) {
            (Some(Cutoff::Limit), Some(late)) => {
                let mut all = self.state.view().error_in(run, element, number, late);
                all.add(failures);
                self.attempt_failed(run, attempt, all, late.transient);
            }
            (Some(_), _) => {
                self.state.drop_timers(run, attempt);
                let it = &mut self.state.runs[run];
                if failures.is_lasting() {
                    it.note(element, failures);
                } else {
                    it.left.add(failures.of_undo_steps());
                }
            }
            // The time may have passed while undo steps ran.
            (None, late) => {
                let has_time = late.is_none_or(|late| late.transient);
                self.attempt_failed(run, attempt, failures, has_time);
            }
        }
    }

    /// Begins the next attempt, if one may help. Otherwise, the element has failed.
    fn attempt_failed(
        &mut self,
        run: RunId,
        attempt: AttemptId,
        failures: Failures,
        has_time: bool,
    ) {
        let tables = Arc::clone(&self.state.tables);
        let it = &mut self.state.runs[run];
        let tried = &mut it.attempts[attempt];
        let (body, element, number) = (tried.body, tried.element, tried.number);
        let job = tried.job;
        let may_retry = has_time
            && failures.is_transient()
            && (number < it.amounts.attempts || tried.is_followed)
            && !it.is.stopped
            && it.failed.is_none()
            && tables.bodies[body] != StepBody::Await
            && !self.state.scopes[it.scope].stops_work();
        let deadline = if may_retry {
            tried.deadline.take()
        } else {
            None
        };
        self.state.drop_timers(run, attempt);
        let it = &mut self.state.runs[run];
        it.attempts.release(attempt);
        if !may_retry {
            return self.fail(run, body, element, failures);
        }
        let mut next = Attempt::new(body, element, number + 1, job);
        next.deadline = deadline;
        next.failed = Some(Box::new(failures));
        if !tables.colds[it.cold].timing.backoff {
            return self.begin_attempt(run, next, Turn::InLine);
        }
        let attempt = self.add_attempt(run, next);
        if let Some(timer) = self.state.open_timer(run, attempt, Pause::Backoff) {
            self.state.runs[run].attempts[attempt].activity = Activity::Backoff(timer);
        }
    }

    /// Handles the final failure of an element or a round. A loop fails with its round.
    pub(super) fn fail(&mut self, run: RunId, body: BodyId, element: u32, failures: Failures) {
        let is_whole = element == WHOLE || self.state.tables.is_loop(body);
        let is_doomed = self.is_doomed(run);
        let it = &mut self.state.runs[run];
        let is_recovered = match self.state.tables.colds[it.cold].each {
            _ if is_whole || is_doomed => false,
            Recovery::Catch => true,
            Recovery::Replace => !failures.is_lasting(),
            Recovery::No => false,
        };
        if is_recovered {
            it.left.add_absorbed(failures.clone());
            it.is.recovered = true;
            // After the failure of another element, nothing would use the value.
            if self.state.tables.colds[it.cold].timing.fallback && it.failed.is_none() {
                it.absorbed.insert(element, failures);
                return self.state.ask(OpenQuestion::Fallback { run, element });
            }
            it.outstanding -= 1;
        } else {
            self.fail_run(run, element, failures);
        }
    }

    /// Records the failure of an element, after which no other part of the step starts. Waits for values end. Elements that wait for another attempt have
    /// failed as well.
    pub(super) fn fail_run(&mut self, run: RunId, element: u32, failures: Failures) {
        let it = &mut self.state.runs[run];
        let has_failed = it.failed.is_some();
        it.note(element, failures);
        it.pending.queue.clear();
        self.state.drop_all_questions(run);
        // The first failure has ended all attempts that wait.
        if has_failed {
            return;
        }
        for attempt in self.state.runs[run].attempts.in_order() {
            let it = &mut self.state.runs[run];
            if !it.attempts.runs(attempt) {
                continue;
            }
            let tried = &mut it.attempts[attempt];
            if tried.waits() {
                let element = tried.element;
                if let Some(failures) = tried.failed.take() {
                    it.note(element, *failures);
                }
                self.state.end_attempt(run, attempt);
            }
        }
        if self.reaction == Reaction::Cancel {
            self.cut_attempts(run, Cutoff::Beside, false);
        }
    }

    /// Drops the calls of a step, and cuts its scopes.
    pub(super) fn cut_attempts(&mut self, run: RunId, cutoff: Cutoff, waits: bool) {
        let it = &mut self.state.runs[run];
        it.is.stopped = true;
        it.pending.queue.clear();
        self.state.drop_all_questions(run);
        // No attempt and no round follows, so time limits no longer matter.
        self.state.unlimit_loop(run);
        for attempt in self.state.runs[run].attempts.in_order() {
            if !self.state.runs[run].attempts.runs(attempt) {
                continue;
            }
            self.state.drop_timers(run, attempt);
            match self.state.runs[run].attempts[attempt].activity {
                Activity::Scope(scope) => self.cut_scope(scope, cutoff),
                Activity::Call(call) if waits && self.state.certain.contains(&call) => {}
                _ => self.state.end_attempt(run, attempt),
            }
        }
        self.todo.push_back(Todo::Run(run));
    }

    /// Handles an attempt that has reached the time limit with this error.
    pub(super) fn limit_reached(&mut self, run: RunId, attempt: AttemptId, reached: CallError) {
        let it = &mut self.state.runs[run];
        let tried = &mut it.attempts[attempt];
        let (element, number) = (tried.element, tried.number);
        // No attempt may follow a deadline, so the error of a deadline replaces the error of a timeout.
        let late = match tried.late {
            Some(late) if reached.transient => late,
            _ => reached,
        };
        match tried.activity {
            Activity::Scope(scope) => {
                tried.late = Some(late);
                self.cut_scope(scope, Cutoff::Limit);
            }
            Activity::Call(call) if self.state.certain.contains(&call) => tried.late = Some(late),
            // The attempt would begin too late.
            Activity::Ready | Activity::Asked(_) | Activity::Backoff(_) | Activity::Every => {
                let (body, failed) = (tried.body, tried.failed.take());
                self.state.end_attempt(run, attempt);
                self.todo.push_back(Todo::Run(run));
                let failures = match failed {
                    Some(failures) => *failures,
                    None => self.state.view().error_in(run, element, number, reached),
                };
                self.fail(run, body, element, failures);
            }
            Activity::Call(_) | Activity::Await(_) | Activity::Nothing => {
                if let Some(call) = self.state.take_call(run, attempt) {
                    self.state.drop_call(call);
                }
                let failures = self.state.view().error_in(run, element, number, reached);
                self.attempt_ended(run, attempt, Err(failures));
            }
        }
    }

    /// Continues or ends a loop after a round, with the value of its condition.
    pub(super) fn round_ended(
        &mut self,
        run: RunId,
        attempt: AttemptId,
        again: Result<u32, CallError>,
    ) {
        self.state.round_over(run, attempt);
        let it = &self.state.runs[run];
        let tried = &it.attempts[attempt];
        let (element, is_kept) = (tried.element, tried.phase == AttemptPhase::Kept);
        let is_followed = tried.is_followed;
        let round = it.place(element);
        let most = it.amounts.at_most;
        let is_stopping = it.is.stopped || self.state.scopes[it.scope].stops_work();
        let (view, number) = (self.state.view(), tried.number);
        let failures = match (again, it.late) {
            (Err(error), _) => view.error_in(run, element, number, error),
            (Ok(0), _) => {
                self.state.runs[run].outstanding -= 1;
                return;
            }
            (Ok(_), _) if round + 1 >= most && !is_followed => {
                let reason = Reason::TooManyRounds(most);
                Failures::of(view.failure_at(it.slot, element, number, reason))
            }
            (Ok(_), Some(late)) => view.error_in(run, element, number, late),
            (Ok(_), None) if is_stopping => {
                self.state.runs[run].is.stopped = true;
                return;
            }
            (Ok(_), None) => return self.next_round(run, attempt, is_kept),
        };
        self.fail_run(run, element, failures);
    }
}
