//! The calls, waits, timers and questions that a driver has.

use super::capacity::{Capacity, Overflow, StartsLeft};
use super::event::{Command, Pause, Question, StepPlace};
use super::ids::{CallId, RunId};
use super::loss::Full;
use super::rows::{CallKind, CallRow, CallTable, NO_ATTEMPT, OpenQuestion, Questions};
use super::state::{Doing, Fate, Runs, ScopeRun, StepRun, WHOLE};
use super::tables::{StepBody, Tables};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The calls, waits, timers and questions of a run, with the runs of steps that they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Desk {
    pub(super) tables: Arc<Tables>,
    /// Calls that run.
    pub(super) calling: u32,
    pub(super) runs: Runs,
    pub(super) calls: CallTable,
    pub(super) questions: Questions,
    /// Calls whose ends are certain, and come later.
    pub(super) ending: BTreeSet<CallId>,
    /// `true` if there is a permit for a call or a scope that begins now.
    pub(super) may_begin: bool,
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
    pub(super) fn step_place(&self, attempt: u32) -> StepPlace {
        let tried = self.tries.get(attempt as usize);
        StepPlace {
            step: self.step,
            slot: self.slot,
            attempt: tried.map_or(1, |it| it.number),
        }
    }
}

impl Desk {
    pub(super) fn new(tables: &Arc<Tables>, capacity: &Capacity) -> Self {
        Self {
            tables: Arc::clone(tables),
            calling: 0,
            runs: Runs::default(),
            calls: CallTable::new(capacity.calls),
            questions: Questions::default(),
            ending: BTreeSet::new(),
            may_begin: false,
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
    pub(super) fn overflow(&mut self, run: RunId, attempt: Option<u32>, full: Full) {
        let it = &self.runs[run];
        let tried = attempt.map(|attempt| &it.tries[attempt as usize]);
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
        attempt: Option<u32>,
        kind: CallKind,
    ) -> Option<CallId> {
        let row = CallRow {
            run,
            attempt: attempt.unwrap_or(NO_ATTEMPT),
            kind,
        };
        let call = self.calls.open(row);
        if call.is_none() {
            self.overflow(run, attempt, Full::Calls);
        }
        call
    }

    /// Asks the driver something about a step.
    pub(super) fn ask(&mut self, run: RunId, asked: OpenQuestion) {
        let it = &mut self.runs[run];
        it.asking += 1;
        let mut place = StepPlace {
            step: it.step,
            slot: it.slot,
            attempt: 1,
        };
        let question = match asked {
            OpenQuestion::Body { body, .. } => {
                let number = body.0 - self.tables.colds[it.cold].body.0;
                match self.tables.bodies[body] {
                    StepBody::For(_) => Question::List(place, number),
                    _ => Question::Branch(place, number),
                }
            }
            OpenQuestion::Again { attempt, .. } => {
                let tried = &it.tries[attempt as usize];
                place.attempt = tried.number;
                Question::Again(place, it.place(tried.element))
            }
            OpenQuestion::Amounts(_) => Question::Amounts(place),
            OpenQuestion::Inputs(scope) => Question::Inputs(scope),
            OpenQuestion::Output(scope) => Question::Output(scope),
            OpenQuestion::Instead { .. } => Question::Instead(place),
        };
        let id = self.questions.open(&mut self.runs[run].questions, asked);
        self.out.push_back(Command::Evaluate(id, question));
    }

    /// Asks the driver for a value of a scope.
    pub(super) fn ask_scope(
        &mut self,
        scope: &mut ScopeRun,
        asked: OpenQuestion,
        question: Question,
    ) {
        let id = self.questions.open(&mut scope.questions, asked);
        self.out.push_back(Command::Evaluate(id, question));
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
    pub(super) fn limit_loop(&mut self, run: RunId) {
        let it = &self.runs[run];
        if self.tables.colds[it.cold].timing.deadline && it.deadline.is_none() {
            let timer = self.open_timer(run, None, CallKind::Deadline);
            self.runs[run].deadline = timer;
        }
    }

    /// Drops the timers of a loop: its time limit, and the pause after its last round.
    pub(super) fn unlimit_loop(&mut self, run: RunId) {
        if let Some(last) = self.runs[run].tries.len().checked_sub(1) {
            self.drop_timers(run, last as u32);
        }
        if let Some(timer) = self.runs[run].deadline.take() {
            self.calls.close(timer);
            self.out.push_back(Command::Drop(timer));
        }
    }

    /// Starts the timers of an attempt that has begun.
    pub(super) fn limit_try(&mut self, run: RunId, attempt: u32) {
        let it = &self.runs[run];
        let timing = self.tables.colds[it.cold].timing;
        if !(timing.timeout || timing.deadline || timing.every) {
            return;
        }
        let is_loop = self.tables.is_loop(it.tries[attempt as usize].body);
        let has_deadline = it.tries[attempt as usize].deadline.is_some();
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
        let tried = &mut self.runs[run].tries[attempt as usize];
        tried.timeout = timeout;
        tried.deadline = tried.deadline.or(deadline);
        tried.every = every;
    }

    pub(super) fn open_timer(
        &mut self,
        run: RunId,
        attempt: Option<u32>,
        kind: CallKind,
    ) -> Option<CallId> {
        let timer = self.open(run, attempt, kind)?;
        let place = self.runs[run].step_place(attempt.unwrap_or(NO_ATTEMPT));
        let pause = match kind {
            CallKind::Timeout => Pause::Timeout,
            CallKind::Deadline => Pause::Deadline,
            CallKind::Every => Pause::Every,
            CallKind::Backoff | CallKind::Call | CallKind::Await => Pause::Backoff,
        };
        self.out.push_back(Command::Sleep(timer, pause, place));
        Some(timer)
    }

    pub(super) fn drop_timers(&mut self, run: RunId, attempt: u32) {
        let tried = &mut self.runs[run].tries[attempt as usize];
        let timers = [&mut tried.timeout, &mut tried.deadline, &mut tried.every];
        for timer in timers.into_iter().filter_map(Option::take) {
            self.calls.close(timer);
            self.out.push_back(Command::Drop(timer));
        }
    }

    /// Returns `true` if the end of an attempt's call is certain, and comes later.
    pub(super) fn is_ending(&self, doing: &Doing) -> bool {
        matches!(doing, Doing::Call(call) if self.ending.contains(call))
    }

    /// Drops the call or the wait of an attempt.
    pub(super) fn end_try(&mut self, run: RunId, attempt: u32) {
        self.drop_timers(run, attempt);
        let it = &mut self.runs[run];
        it.running -= 1;
        let tried = &mut it.tries[attempt as usize];
        tried.fate = Fate::Over;
        let call = match tried.doing {
            Doing::Call(call) => {
                self.calling -= 1;
                it.active -= 1;
                call
            }
            Doing::Await(call) => {
                it.active -= 1;
                call
            }
            Doing::Asked(call, _) => {
                it.active -= 1;
                self.asked -= 1;
                self.has_decided = true;
                call
            }
            Doing::Backoff(call, _) => call,
            Doing::Ready(_) => {
                it.pending.again.remove(&(tried.job, attempt));
                return;
            }
            Doing::Scope(_) | Doing::Every | Doing::Nothing => return,
        };
        self.calls.close(call);
        self.drop_call(call);
    }

    pub(super) fn drop_call(&mut self, call: CallId) {
        self.ending.remove(&call);
        self.out.push_back(Command::Drop(call));
    }
}
