//! The calls, waits, timers and questions that a driver has.

use super::attempt::{Activity, AttemptPhase};
use super::capacity::{Capacity, Overflow, StartsLeft};
use super::event::{Command, Pause, Question, StepPlace};
use super::failures::Full;
use super::ids::{AttemptId, CallId, RunId};
use super::rows::{CallKind, CallRow, CallTable, OpenQuestion, Questions};
use super::state::{Runs, ScopeRun, StepRun, WHOLE};
use super::tables::{StepBody, Tables};
use super::word::Hot;
use std::collections::{BTreeSet, VecDeque};

/// The calls, waits, timers and questions of a run, with the runs of steps that they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dispatcher {
    /// Calls that run.
    pub(super) calling: u32,
    pub(super) runs: Runs,
    pub(super) calls: CallTable,
    pub(super) questions: Questions,
    /// Calls that run, and whose ends are certain.
    pub(super) certain: BTreeSet<CallId>,
    /// Calls that the driver decides about.
    pub(super) asked: u32,
    /// Runs whose next calls the driver could not decide about.
    pub(super) deferred: Vec<RunId>,
    /// `true` if the driver has decided about a call, or need not any more.
    pub(super) has_decided: bool,
    pub(super) out: VecDeque<Command>,
    pub(super) starts_left: StartsLeft,
    /// Elements and rounds that the run may still have.
    pub(super) elements_left: u64,
    /// The run needs more than it may have.
    pub(super) full: Option<Overflow>,
}

impl StepRun {
    /// Returns the position of an attempt.
    pub(super) fn step_place(&self, attempt: AttemptId) -> StepPlace {
        let tried = self.attempts.get(attempt);
        StepPlace {
            step: self.step,
            slot: self.slot,
            attempt: tried.map_or(1, |it| it.number),
        }
    }
}

impl Dispatcher {
    pub(super) fn new(capacity: &Capacity) -> Self {
        Self {
            calling: 0,
            runs: Runs::default(),
            calls: CallTable::new(capacity.calls),
            questions: Questions::default(),
            certain: BTreeSet::new(),
            asked: 0,
            deferred: Vec::new(),
            has_decided: false,
            out: VecDeque::new(),
            starts_left: StartsLeft::new(capacity),
            elements_left: capacity.elements,
            full: None,
        }
    }

    /// Ends the run at an attempt, as soon as the current work allows.
    pub(super) fn overflow(&mut self, run: RunId, attempt: Option<AttemptId>, full: Full) {
        let it = &self.runs[run];
        let tried = attempt.map(|attempt| &it.attempts[attempt]);
        self.full.get_or_insert(Overflow {
            full,
            slot: it.slot,
            element: tried.map_or(WHOLE, |it| it.element),
            attempt: tried.map_or(1, |it| it.number),
        });
    }

    /// Adds a call, a wait or a timer of an attempt.
    pub(super) fn open(
        &mut self,
        run: RunId,
        attempt: Option<AttemptId>,
        kind: CallKind,
    ) -> Option<CallId> {
        let row = CallRow {
            run,
            attempt: attempt.unwrap_or(AttemptId::NONE),
            kind,
        };
        let call = self.calls.open(row);
        if call.is_none() {
            self.overflow(run, attempt, Full::Calls);
        }
        call
    }

    /// Asks the driver something about a step.
    pub(super) fn ask(&mut self, tables: &Tables, run: RunId, asked: OpenQuestion) {
        let question = self.question(tables, asked);
        let it = &mut self.runs[run];
        it.asking += 1;
        let id = self.questions.open(&mut it.questions, asked);
        self.out.push_back(Command::Evaluate(id, question));
    }

    /// Asks the driver for a value of a scope.
    pub(super) fn ask_scope(&mut self, tables: &Tables, scope: &mut ScopeRun, asked: OpenQuestion) {
        let question = self.question(tables, asked);
        let id = self.questions.open(&mut scope.questions, asked);
        self.out.push_back(Command::Evaluate(id, question));
    }

    /// Returns a question as the driver sees it.
    fn question(&self, tables: &Tables, asked: OpenQuestion) -> Question {
        let whole = |run: RunId| self.runs[run].step_place(AttemptId::NONE);
        match asked {
            OpenQuestion::Body { run, body, .. } => {
                let number = body.0 - tables.colds[self.runs[run].cold].body.0;
                match tables.bodies[body] {
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

    /// Closes questions about a step. Returns their number.
    pub(super) fn drop_questions(
        &mut self,
        run: RunId,
        is_dropped: impl FnMut(&OpenQuestion) -> bool,
    ) -> u32 {
        let it = &mut self.runs[run];
        let dropped = self.questions.close_where(&mut it.questions, is_dropped);
        it.asking -= dropped;
        dropped
    }

    /// Starts the timer of a loop with a time limit.
    pub(super) fn limit_loop(&mut self, tables: &Tables, run: RunId) {
        let it = &self.runs[run];
        if tables.colds[it.cold].timing.deadline && it.deadline.is_none() {
            let timer = self.open_timer(run, None, CallKind::Deadline);
            self.runs[run].deadline = timer;
        }
    }

    /// Drops the timers of a loop: its time limit, and the pause after its last round.
    pub(super) fn unlimit_loop(&mut self, run: RunId) {
        if let Some(last) = self.runs[run].attempts.last() {
            self.drop_timers(run, last);
        }
        if let Some(timer) = self.runs[run].deadline.take() {
            self.calls.close(timer);
            self.out.push_back(Command::Drop(timer));
        }
    }

    /// Starts the timers of an attempt that has begun.
    pub(super) fn limit_attempt(&mut self, tables: &Tables, run: RunId, attempt: AttemptId) {
        let it = &self.runs[run];
        let timing = tables.colds[it.cold].timing;
        if !(timing.timeout || timing.deadline || timing.every) {
            return;
        }
        let is_loop = tables.is_loop(it.attempts[attempt].body);
        let has_deadline = it.attempts[attempt].deadline.is_some();
        let mut timer = |has, kind| {
            if has {
                self.open_timer(run, Some(attempt), kind)
            } else {
                None
            }
        };
        let timeout = timer(timing.timeout, CallKind::Timeout);
        let deadline = timer(
            timing.deadline && !is_loop && !has_deadline,
            CallKind::Deadline,
        );
        let every = timer(timing.every && is_loop, CallKind::Every);
        let tried = &mut self.runs[run].attempts[attempt];
        tried.timeout = timeout;
        tried.deadline = tried.deadline.or(deadline);
        tried.every = every;
    }

    pub(super) fn open_timer(
        &mut self,
        run: RunId,
        attempt: Option<AttemptId>,
        kind: CallKind,
    ) -> Option<CallId> {
        let timer = self.open(run, attempt, kind)?;
        let place = self.runs[run].step_place(attempt.unwrap_or(AttemptId::NONE));
        let pause = match kind {
            CallKind::Timeout => Pause::Timeout,
            CallKind::Deadline => Pause::Deadline,
            CallKind::Every => Pause::Every,
            CallKind::Backoff | CallKind::Call | CallKind::Await => Pause::Backoff,
        };
        self.out.push_back(Command::Sleep(timer, pause, place));
        Some(timer)
    }

    pub(super) fn drop_timers(&mut self, run: RunId, attempt: AttemptId) {
        let tried = &mut self.runs[run].attempts[attempt];
        let timers = [&mut tried.timeout, &mut tried.deadline, &mut tried.every];
        for timer in timers.into_iter().filter_map(Option::take) {
            self.calls.close(timer);
            self.out.push_back(Command::Drop(timer));
        }
    }

    /// Returns `true` if the end of an attempt's call is certain.
    pub(super) fn is_certain(&self, activity: &Activity) -> bool {
        matches!(activity, Activity::Call(call) if self.certain.contains(call))
    }

    /// The end of a call is certain, unless the call does not run any more.
    pub(super) fn make_certain(&mut self, call: CallId, hot: &[Hot]) {
        let runs = match self.calls.get(call) {
            None => call.is_plain() && hot[call.index()].is_running(),
            Some(row) => {
                let tried = self.runs[row.run].attempts.get(row.attempt);
                tried.is_some_and(|it| it.activity == Activity::Call(call))
            }
        };
        if runs {
            self.certain.insert(call);
        }
    }

    /// Drops the call or the wait of an attempt.
    pub(super) fn end_attempt(&mut self, run: RunId, attempt: AttemptId) {
        self.drop_timers(run, attempt);
        let it = &mut self.runs[run];
        it.running -= 1;
        let tried = &mut it.attempts[attempt];
        tried.phase = AttemptPhase::Over;
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
            Activity::Asked(call, _) => {
                it.active -= 1;
                self.asked -= 1;
                self.has_decided = true;
                call
            }
            Activity::Backoff(call, _) => call,
            Activity::Ready(_) => {
                it.pending.again.remove(&(tried.job, attempt));
                return;
            }
            Activity::Scope(_) | Activity::Every | Activity::Nothing | Activity::Free(_) => {
                return;
            }
        };
        self.calls.close(call);
        self.drop_call(call);
    }

    pub(super) fn drop_call(&mut self, call: CallId) {
        self.certain.remove(&call);
        self.out.push_back(Command::Drop(call));
    }
}
