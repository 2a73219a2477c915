//! The effects of events on the machine.

use super::engine::Machine;
use super::event::{Answer, CallEnd, CallError, Event, Pause, QuestionId, StepStatus};
use super::failures::{Cutoff, Failures, Reason};
use super::ids::{AttemptId, CallId, ErrorId, RowId, ScopeId, StepSlot};
use super::nodes::Amounts;
use super::parts::{Activity, Phase, WHOLE};
use super::rows::{Asker, COLD_CALLS, CallKind, CallRow, OpenQuestion};
use super::state::{Reaction, Todo, Turn};

impl Machine {
    #[cold]
    #[inline(never)]
    pub(super) fn handle_cold(&mut self, event: Event) {
        self.recycle();
        match event {
            Event::Ended(CallId(slot), CallEnd::Failed(error)) if slot < COLD_CALLS => {
                self.plain_failed(StepSlot(slot), error);
            }
            Event::Ended(call, CallEnd::Exceeds(error)) => self.call_exceeds(call, error),
            Event::Ended(call, CallEnd::Done) => self.call_ended(call, None),
            Event::Ended(call, CallEnd::Failed(error)) => self.call_ended(call, Some(error)),
            Event::Certain(call) => self.core.state.make_certain(call),
            Event::Admitted(call) if self.core.state.calling < self.bound => {
                self.admitted(call);
            }
            Event::Admitted(call) | Event::Allowed(call) => self.allowed(call),
            Event::Deferred(call) => self.deferred(call),
            Event::Withdrawn(call) => self.core.state.withdrawn(call),
            Event::Opened(call) => self.opened(call),
            Event::Fired(timer) => self.fired(timer),
            Event::TimedOut(timer, error) => self.timed_out(timer, error),
            Event::Answered(id, Answer::Exceeds(error)) => self.answer_exceeds(id, error),
            Event::Answered(id, answer) => self.answered(id, answer),
            Event::Exhausted => self.cut_failed(),
            Event::Cancelled => self.core.cut_scope(ScopeId::ROOT, Cutoff::Cancelled),
            Event::Late => self.core.cut_scope(ScopeId::ROOT, Cutoff::Late),
            Event::GraceOver => self.drop_scope(ScopeId::ROOT),
        }
        self.work_off();
    }

    fn plain_failed(&mut self, slot: StepSlot, error: CallError) {
        let core = &mut self.core;
        let hot = core.state.hot[slot];
        if !hot.is_running() {
            return;
        }
        core.state.calling -= 1;
        let reason = Reason::Error(error.error);
        let failure = core.state.view().failure_at(slot, WHOLE, 1, reason);
        let failures = Failures::of(failure.by(error));
        let scope = hot.scope();
        core.finish_step(scope, slot, StepStatus::Failed, Some(failures));
    }

    /// Ends a call or a wait of a step that is not plain. Returns its row with the number of attempts that have begun,
    /// unless the machine ignores the call.
    pub(super) fn close_call(&mut self, call: CallId) -> Option<(CallRow, u32)> {
        let state = &mut self.core.state;
        let (row, tried) = state.attempt_of(call)?;
        let mut begun = tried.number;
        match tried.activity {
            Activity::Call(own) | Activity::Await(own) if own == call => {}
            Activity::Asked(own) if own == call => begun -= 1,
            _ => return None,
        }
        state.take_call(row.run, row.attempt);
        Some((row, begun))
    }

    fn call_ended(&mut self, call: CallId, error: Option<CallError>) {
        let Some((row, begun)) = self.close_call(call) else {
            return;
        };
        let core = &mut self.core;
        let result = match error {
            None => Ok(()),
            Some(error) => {
                let tried = &core.state.runs[row.run].attempts[row.attempt];
                let view = core.state.view();
                Err(view.error_in(row.run, tried.element, begun, error))
            }
        };
        core.attempt_ended(row.run, row.attempt, result);
    }

    /// Starts an attempt that the driver admits.
    fn admitted(&mut self, call: CallId) {
        let core = &mut self.core;
        if let Some((run, attempt)) = core.state.take_asked(call) {
            core.start_attempt(run, attempt);
            core.todo.push_back(Todo::Run(run));
        }
    }

    /// Queues an attempt whose call the driver allows.
    fn allowed(&mut self, call: CallId) {
        let core = &mut self.core;
        if let Some((run, attempt)) = core.state.take_asked(call) {
            core.state.wait_in_line(run, attempt);
            core.todo.push_back(Todo::Run(run));
        }
    }

    /// Postpones an attempt about which the driver cannot decide now.
    fn deferred(&mut self, call: CallId) {
        let state = &mut self.core.state;
        let Some((run, attempt)) = state.take_asked(call) else {
            return;
        };
        state.decided -= 1;
        state.runs[run].is.deferred = true;
        state.deferred.push_back(run);
        state.wait_in_line(run, attempt);
    }

    /// Opens the plan behind a call. If the call has outlasted a cut or a time limit, because its end was certain, the plan does not begin.
    fn opened(&mut self, call: CallId) {
        let core = &mut self.core;
        let state = &core.state;
        let may_open = state.calls.get(call).zip(state.view().may_open(call));
        let Some((CallRow { run, attempt, .. }, plan)) = may_open else {
            return;
        };
        core.state.certain.remove(&call);
        core.state.take_call(run, attempt);
        let it = &core.state.runs[run];
        let around = &core.state.scopes[it.scope];
        let is_cut_beside = around.is_stopping && core.reaction == Reaction::Cancel;
        let cutoff = match it.attempts[attempt].late {
            Some(_) => Some(Cutoff::Limit),
            None if !core.state.hot[it.slot].is_work() => None,
            None => around.cutoff.or(is_cut_beside.then_some(Cutoff::Beside)),
        };
        if cutoff.is_none() {
            return core.begin_inside(run, attempt, RowId(plan as u32));
        }
        let failures = Failures {
            cutoff,
            ..Failures::default()
        };
        core.attempt_ended(run, attempt, Err(failures));
    }

    /// Takes an answer, unless the answer no longer matters.
    fn answered(&mut self, id: QuestionId, answer: Answer) {
        let core = &mut self.core;
        let Some(asked) = core.state.take_question(id) else {
            return;
        };
        if let Asker::Step(run) = asked.asker() {
            core.todo.push_back(Todo::Run(run));
        }
        // An answer of another kind is treated as 0.
        let number = match answer {
            Answer::Number(number) => Ok(number),
            Answer::Amounts(_) | Answer::Made | Answer::Exceeds(_) => Ok(0),
            Answer::Failed(error) => Err(error),
        };
        match asked {
            OpenQuestion::Inputs(scope) | OpenQuestion::Output(scope) => {
                core.value_made(scope, number.err());
            }
            OpenQuestion::Fallback { run, element } => core.fallback_made(run, element, number),
            OpenQuestion::Body { run, body, element } => {
                core.body_answered(run, body, element, number);
            }
            OpenQuestion::Again { run, attempt } => core.round_ended(run, attempt, number),
            OpenQuestion::Amounts(run) => {
                let amounts = match (answer, number) {
                    (Answer::Amounts(amounts), _) => amounts,
                    (_, Ok(_)) => Amounts::DEFAULT,
                    (_, Err(error)) => {
                        let failures = core.state.view().error_in(run, WHOLE, 0, error);
                        return core.fail_run(run, WHOLE, failures);
                    }
                };
                let it = &mut core.state.runs[run];
                it.amounts = amounts;
                let body = core.state.tables.colds[it.cold].body;
                core.enter(run, body, WHOLE, Turn::InLine);
            }
        }
    }

    /// Handles the end of the wait before an attempt or a round.
    fn fired(&mut self, timer: CallId) {
        let state = &mut self.core.state;
        let Some(CallRow { run, attempt, kind }) = state.calls.get(timer) else {
            return;
        };
        let waits = match kind {
            CallKind::Timer(Pause::Backoff) => true,
            CallKind::Timer(Pause::Every) => {
                let tried = &mut state.runs[run].attempts[attempt];
                tried.every = None;
                tried.activity == Activity::Every
            }
            _ => return,
        };
        state.calls.close(timer);
        if waits {
            state.wait_in_line(run, attempt);
        }
    }

    /// Handles the end of the time of an attempt, or of a loop.
    fn timed_out(&mut self, timer: CallId, error: ErrorId) {
        let core = &mut self.core;
        let Some(CallRow { run, attempt, kind }) = core.state.calls.get(timer) else {
            return;
        };
        let transient = match kind {
            CallKind::Timer(Pause::Timeout) => true,
            CallKind::Timer(Pause::Deadline) => false,
            _ => return,
        };
        let late = CallError {
            error,
            transient,
            lasting: false,
        };
        core.state.calls.close(timer);
        let it = &mut core.state.runs[run];
        if attempt == AttemptId::NONE {
            // The time limit of a loop has passed.
            it.deadline = None;
            it.late = Some(late);
            for attempt in it.attempts.in_order() {
                if core.state.runs[run].attempts.runs(attempt) {
                    core.limit_reached(run, attempt, late);
                }
            }
            return;
        }
        let tried = &mut it.attempts[attempt];
        if transient {
            tried.timeout = None;
        } else {
            tried.deadline = None;
        }
        core.limit_reached(run, attempt, late);
    }

    /// Cuts the run if a step has failed.
    fn cut_failed(&mut self) {
        let mut scopes = self.core.state.scopes.rows.iter();
        if scopes.any(|it| it.has_failed && it.phase != Phase::Over) {
            self.core.cut_scope(ScopeId::ROOT, Cutoff::Beside);
        }
    }

    /// Applies the effects of an event.
    pub(super) fn work_off(&mut self) {
        loop {
            self.end_full();
            let core = &mut self.core;
            while let Some(run) = core.state.next_deferred() {
                core.todo.push_back(Todo::Run(run));
            }
            core.state.decided = 0;
            let Some(todo) = core.todo.pop_front() else {
                let has_line = !core.state.scopes[ScopeId::ROOT].line.is_empty();
                core.is_quiet =
                    core.state.out.is_empty() && core.state.freed.is_empty() && !has_line;
                #[cfg(debug_assertions)]
                super::invariants::check(core);
                return;
            };
            match todo {
                Todo::Start(slot) => core.make_ready(slot),
                Todo::Scope(scope) => core.settle_scope(scope),
                Todo::Over(scope) => core.scope_over(scope),
                Todo::Run(run) => core.settle_run(run),
                Todo::Undo(scope, step) => core.undo_step(scope, step),
            }
        }
    }
}
