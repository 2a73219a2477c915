//! Opening and closing of calls, waits, timers and questions.

use super::event::{Command, Pause, Question, QuestionId, StepStatus};
use super::failures::Full;
use super::ids::{AttemptId, CallId, RunId, ScopeId, StepSlot};
use super::parts::{Activity, Attempt, AttemptPhase, WHOLE};
use super::rows::{Asker, CallKind, CallRow, OpenQuestion};
use super::state::{MachineState, Overflow};
use super::tables::StepBody;

/// The most elements of a step that ids can tell apart.
const ELEMENTS: u64 = 1 << 31;

impl MachineState {
    /// Notes that the run exceeds its capacity at an attempt. `end_full` ends the run later.
    pub(super) fn overflow(&mut self, run: RunId, attempt: AttemptId, full: Full) {
        let it = &self.runs[run];
        let tried = it.attempts.get(attempt);
        self.full.get_or_insert(Overflow {
            full,
            slot: it.slot,
            element: tried.map_or(WHOLE, |it| it.element),
            attempt: tried.map_or(1, |it| it.number),
        });
    }

    /// Counts elements of a list, or a round. Returns `false` if the run exceeds its capacity. In this case, `end_full` ends the run later.
    pub(super) fn count_elements(&mut self, run: RunId, element: u32, count: u32) -> bool {
        let it = &self.runs[run];
        let left = self.capacity.elements.checked_sub(u64::from(count));
        let is_named = it.elements.len() as u64 + u64::from(count) <= ELEMENTS;
        if let Some(left) = left.filter(|_| is_named) {
            self.capacity.elements = left;
            return true;
        }
        self.full.get_or_insert(Overflow {
            full: Full::Elements,
            slot: it.slot,
            element,
            attempt: 0,
        });
        false
    }

    /// Adds a call, a wait or a timer of an attempt, or of the whole run of a step.
    pub(super) fn open(
        &mut self,
        run: RunId,
        attempt: AttemptId,
        kind: CallKind,
    ) -> Option<CallId> {
        let call = self.calls.open(CallRow { run, attempt, kind });
        if call.is_none() {
            self.overflow(run, attempt, Full::Calls);
        }
        call
    }

    /// Returns the row of a call, a wait or a timer with the attempt that has the call.
    pub(super) fn attempt_of(&self, call: CallId) -> Option<(CallRow, &Attempt)> {
        let row = self.calls.get(call)?;
        Some((row, self.runs[row.run].attempts.get(row.attempt)?))
    }

    /// Takes the call, the wait or the backoff from an attempt.
    pub(super) fn take_call(&mut self, run: RunId, attempt: AttemptId) -> Option<CallId> {
        let it = &mut self.runs[run];
        let tried = &mut it.attempts[attempt];
        let call = match tried.activity {
            Activity::Call(call) => {
                self.calling -= 1;
                it.active -= 1;
                call
            }
            Activity::Await(call) => {
                it.active -= 1;
                call
            }
            Activity::Asked(call) => {
                it.active -= 1;
                self.asked -= 1;
                self.decided += 1;
                call
            }
            Activity::Backoff(call) => call,
            Activity::Ready => {
                it.pending.again.remove(&(tried.job, attempt));
                return None;
            }
            Activity::Scope(_) | Activity::Every | Activity::Nothing => return None,
        };
        tried.activity = Activity::Nothing;
        self.calls.close(call);
        Some(call)
    }

    /// Drops the call or the wait of an attempt.
    pub(super) fn end_attempt(&mut self, run: RunId, attempt: AttemptId) {
        self.drop_timers(run, attempt);
        let it = &mut self.runs[run];
        it.running -= 1;
        it.attempts[attempt].phase = AttemptPhase::Over;
        if let Some(call) = self.take_call(run, attempt) {
            self.drop_call(call);
        }
    }

    pub(super) fn drop_plain(&mut self, slot: StepSlot) {
        self.hot[slot].set(StepStatus::Cancelled);
        self.calling -= 1;
        self.drop_call(CallId(slot.0));
    }

    pub(super) fn drop_call(&mut self, call: CallId) {
        self.certain.remove(&call);
        self.out.push_back(Command::Drop(call));
    }

    /// Marks the end of a running call as certain.
    pub(super) fn make_certain(&mut self, call: CallId) {
        let runs = if call.is_plain() {
            self.hot[StepSlot(call.0)].is_running()
        } else {
            let tried = self.attempt_of(call);
            tried.is_some_and(|(_, it)| it.activity == Activity::Call(call))
        };
        if runs {
            self.certain.insert(call);
        }
    }

    /// Asks the driver whether an attempt may start.
    pub(super) fn ask_to_admit(&mut self, run: RunId, attempt: AttemptId) {
        let Some(call) = self.open(run, attempt, CallKind::Call) else {
            return;
        };
        let it = &mut self.runs[run];
        let place = it.step_place(attempt);
        self.out.push_back(Command::Admit(call, place));
        it.attempts[attempt].activity = Activity::Asked(call);
        it.active += 1;
        self.asked += 1;
    }

    /// Takes a call from its attempt, if the driver has to decide about the call.
    pub(super) fn take_asked(&mut self, call: CallId) -> Option<(RunId, AttemptId)> {
        let (CallRow { run, attempt, .. }, tried) = self.attempt_of(call)?;
        if tried.activity != Activity::Asked(call) {
            return None;
        }
        self.take_call(run, attempt);
        Some((run, attempt))
    }

    /// Takes a deferred step that may ask again. For each decision, one step may ask. If no call waits for a decision, all deferred steps may ask.
    pub(super) fn next_deferred(&mut self) -> Option<RunId> {
        while self.asked == 0 || self.decided > 0 {
            let run = self.deferred.pop_front()?;
            // The step may have ended, and its row may belong to another step.
            if std::mem::take(&mut self.runs[run].is.deferred) {
                self.decided = self.decided.saturating_sub(1);
                return Some(run);
            }
        }
        None
    }

    /// Makes the attempt of a withdrawn call wait for its admission again.
    pub(super) fn withdrawn(&mut self, call: CallId) {
        if let Some((CallRow { run, attempt, .. }, tried)) = self.attempt_of(call)
            && matches!(tried.activity, Activity::Call(_))
        {
            self.runs[run].attempts[attempt].activity = Activity::Asked(call);
            self.certain.remove(&call);
            self.calling -= 1;
            self.asked += 1;
        }
    }

    /// Asks the driver something about a step or a scope.
    pub(super) fn ask(&mut self, asked: OpenQuestion) {
        let question = self.question(asked);
        let id = self.questions.open(asked);
        match asked.asker() {
            Asker::Step(run) => {
                self.runs[run].questions.insert(id);
            }
            Asker::Scope(scope) => self.scopes[scope].question = Some(id),
        }
        self.out.push_back(Command::Evaluate(id, question));
    }

    /// Returns a question as the driver sees it.
    fn question(&self, asked: OpenQuestion) -> Question {
        let whole = |run: RunId| self.runs[run].step_place(AttemptId::NONE);
        match asked {
            OpenQuestion::Body { run, body, .. } => {
                let number = body.0 - self.tables.colds[self.runs[run].cold].body.0;
                match self.tables.bodies[body] {
                    StepBody::For(_) => Question::List(whole(run), number),
                    _ => Question::Branch(whole(run), number),
                }
            }
            OpenQuestion::Again { run, attempt } => {
                let it = &self.runs[run];
                let round = it.place(it.attempts[attempt].element);
                Question::Again(it.step_place(attempt), round)
            }
            OpenQuestion::Amounts(run) => Question::Amounts(whole(run)),
            OpenQuestion::Fallback { run, .. } => Question::Fallback(whole(run)),
            OpenQuestion::Inputs(scope) => Question::Inputs(scope),
            OpenQuestion::Output(scope) => Question::Output(scope),
        }
    }

    /// Closes a question, unless its answer no longer matters.
    pub(super) fn take_question(&mut self, id: QuestionId) -> Option<OpenQuestion> {
        let asked = self.questions.get(id)?;
        match asked.asker() {
            Asker::Step(run) => {
                self.runs[run].questions.remove(&id);
            }
            Asker::Scope(scope) => self.scopes[scope].question = None,
        }
        self.questions.close(id);
        Some(asked)
    }

    /// Closes questions about a step. Returns `true` if a question was closed.
    pub(super) fn drop_questions(
        &mut self,
        run: RunId,
        mut is_dropped: impl FnMut(OpenQuestion) -> bool,
    ) -> bool {
        let Self {
            runs, questions, ..
        } = self;
        let open = &mut runs[run].questions;
        let before = open.len();
        open.retain(|id| {
            let is_kept = !questions.get(*id).is_some_and(&mut is_dropped);
            if !is_kept {
                questions.close(*id);
            }
            is_kept
        });
        open.len() < before
    }

    /// Closes all questions about a step.
    pub(super) fn drop_all_questions(&mut self, run: RunId) {
        let mut round = None;
        self.drop_questions(run, |asked| {
            if let OpenQuestion::Again { attempt, .. } = asked {
                round = Some(attempt);
            }
            true
        });
        if let Some(attempt) = round {
            self.round_over(run, attempt);
        }
    }

    /// Closes the question about a scope.
    pub(super) fn drop_question(&mut self, scope: ScopeId) {
        if let Some(id) = self.scopes[scope].question {
            self.take_question(id);
        }
    }

    pub(super) fn open_timer(
        &mut self,
        run: RunId,
        attempt: AttemptId,
        pause: Pause,
    ) -> Option<CallId> {
        let timer = self.open(run, attempt, CallKind::Timer(pause))?;
        let place = self.runs[run].step_place(attempt);
        self.out.push_back(Command::Sleep(timer, pause, place));
        Some(timer)
    }

    /// Starts the timer of a loop with a time limit.
    pub(super) fn limit_loop(&mut self, run: RunId) {
        let it = &self.runs[run];
        if self.tables.colds[it.cold].timing.deadline && it.deadline.is_none() {
            self.runs[run].deadline = self.open_timer(run, AttemptId::NONE, Pause::Deadline);
        }
    }

    /// Drops the timers of a loop: its time limit, and the pause after its last round.
    pub(super) fn unlimit_loop(&mut self, run: RunId) {
        if let Some(last) = self.runs[run].attempts.rows.len().checked_sub(1) {
            self.drop_timers(run, AttemptId(last as u32));
        }
        if let Some(timer) = self.runs[run].deadline.take() {
            self.calls.close(timer);
            self.out.push_back(Command::Drop(timer));
        }
    }

    /// Starts the timers of an attempt that has begun.
    pub(super) fn limit_attempt(&mut self, run: RunId, attempt: AttemptId) {
        let it = &self.runs[run];
        let timing = self.tables.colds[it.cold].timing;
        let tried = &it.attempts[attempt];
        let is_loop = self.tables.is_loop(tried.body);
        let has_deadline = tried.deadline.is_some();
        let mut timer = |has: bool, pause| {
            let timer = has.then(|| self.open_timer(run, attempt, pause));
            timer.flatten()
        };
        let timeout = timer(timing.timeout, Pause::Timeout);
        let deadline = timer(
            timing.deadline && !is_loop && !has_deadline,
            Pause::Deadline,
        );
        let every = timer(timing.every && is_loop, Pause::Every);
        let tried = &mut self.runs[run].attempts[attempt];
        tried.timeout = timeout;
        tried.deadline = tried.deadline.or(deadline);
        tried.every = every;
    }

    pub(super) fn drop_timers(&mut self, run: RunId, attempt: AttemptId) {
        let tried = &mut self.runs[run].attempts[attempt];
        let timers = [&mut tried.timeout, &mut tried.deadline, &mut tried.every];
        for timer in timers.into_iter().filter_map(Option::take) {
            self.calls.close(timer);
            self.out.push_back(Command::Drop(timer));
        }
    }
}
