//! Rounds of loops: the condition after a round, and the next round.

use super::attempt::{Activity, Attempt, AttemptPhase};
use super::core::{Core, Turn};
use super::event::CallError;
use super::failures::{Failures, Reason};
use super::ids::{AttemptId, RunId};
use super::lookup::Lookup;
use super::rows::OpenQuestion;

impl Core {
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

    /// The condition of a loop has read the outputs of a round, or will not.
    fn round_over(&mut self, run: RunId, attempt: AttemptId) {
        let tried = &self.dispatcher.runs[run].attempts[attempt];
        if let Activity::Scope(scope) = tried.activity
            && tried.phase != AttemptPhase::Kept
        {
            self.arena.release(&self.dispatcher.runs, scope);
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

    fn next_round(&mut self, run: RunId, attempt: AttemptId, is_kept: bool) {
        let element = self.dispatcher.runs[run].attempts[attempt].element;
        if !self.dispatcher.count_elements(run, element, 1) {
            return;
        }
        let keeps = is_kept || self.arena.keeps_all;
        let it = &mut self.dispatcher.runs[run];
        let tried = &mut it.attempts[attempt];
        let (body, mut element, every) = (tried.body, tried.element, tried.every.take());
        let job = tried.job;
        // If no round can be undone, only the last round has rows.
        if keeps {
            let before = it.elements[element as usize - 1];
            element = it.add_element(before.around, before.place + 1);
        } else {
            it.elements[element as usize - 1].place += 1;
            it.attempts.free(attempt);
        }
        let mut next = Attempt::new(body, element, 1);
        next.job = job;
        let Some(timer) = every else {
            return self.begin_attempt(run, next, None, Turn::InLine);
        };
        next.activity = Activity::Every;
        next.every = Some(timer);
        it.running += 1;
        let attempt = it.attempts.add(next);
        self.dispatcher.calls.move_to(timer, attempt);
    }
}
