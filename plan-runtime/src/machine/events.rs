//! Events, and their consequences.

use super::attempt::Activity;
use super::core::{Todo, Turn};
use super::describe::Amounts;
use super::engine::Machine;
use super::event::{Answer, CallEnd, CallError, Event, QuestionId};
use super::failures::{Cutoff, Failures, Reason, StepFailure};
use super::ids::{AttemptId, CallId, ScopeId, StepSlot};
use super::lookup::Lookup;
use super::rows::{COLD_CALLS, CallKind, CallRow, OpenQuestion};
use super::state::{Owner, Phase, WHOLE};
use super::word::StepStatus;

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
            Event::Certain(call) => {
                let core = &mut self.core;
                core.dispatcher.make_certain(call, &core.arena.hot);
            }
            Event::Admitted(call) if self.core.dispatcher.calling < self.bound => {
                self.admitted(call);
            }
            Event::Admitted(call) | Event::Allowed(call) => self.waits_no_more(call, true),
            Event::Deferred(call) => self.waits_no_more(call, false),
            Event::Withdrawn(call) => self.core.dispatcher.withdrawn(call),
            Event::Opened(call) => self.opened(call),
            Event::Fired(timer) => self.fired(timer),
            Event::Answered(id, Answer::Exceeds(error)) => self.answer_exceeds(id, error),
            Event::Answered(id, answer) => self.answered(id, answer),
            Event::Exhausted => self.stop_failed(),
            Event::Cancelled => self.stop(Cutoff::Cancelled),
            Event::Late => self.stop(Cutoff::Late),
            Event::GraceOver => self.drop_scope(ScopeId::ROOT),
        }
        self.work_off();
    }

    fn plain_failed(&mut self, slot: StepSlot, error: CallError) {
        let core = &mut self.core;
        let hot = core.arena.hot[slot.index()];
        if !hot.is_running() {
            return;
        }
        core.dispatcher.calling -= 1;
        let scope = hot.scope();
        let step = core.arena.scopes[scope].step(slot);
        let failure = StepFailure::new(Lookup(core).trail(scope, step), Reason::Error(error.error));
        let failures = Failures::of(error.mark(failure));
        core.finish_step(scope, slot, StepStatus::Failed, Some(failures));
    }

    /// A call or a wait of a step that is not plain has ended. Returns its row with the number of attempts that have begun, unless the machine ignores the call.
    pub(super) fn close_call(&mut self, call: CallId) -> Option<(CallRow, u32)> {
        let core = &mut self.core;
        let row = core.dispatcher.calls.get(call)?;
        let it = &mut core.dispatcher.runs[row.run];
        let tried = it.attempts.get_mut(row.attempt)?;
        let mut begun = tried.number;
        match tried.activity {
            Activity::Call(own) if own == call => core.dispatcher.calling -= 1,
            Activity::Await(own) if own == call => {}
            Activity::Asked(own, _) if own == call => {
                begun -= 1;
                core.dispatcher.asked -= 1;
                core.dispatcher.has_decided = true;
            }
            _ => return None,
        }
        it.active -= 1;
        debug_assert!(matches!(row.kind, CallKind::Call | CallKind::Await));
        tried.activity = Activity::Nothing;
        core.dispatcher.calls.close(call);
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
                let tried = &core.dispatcher.runs[row.run].attempts[row.attempt];
                let reason = Reason::Error(error.error);
                let failure = Lookup(core).failure(row.run, tried.element, begun, reason);
                Err(Failures::of(error.mark(failure)))
            }
        };
        core.attempt_ended(row.run, row.attempt, result);
    }

    /// The driver lets an attempt start now.
    fn admitted(&mut self, call: CallId) {
        let core = &mut self.core;
        if let Some((run, attempt, _)) = core.dispatcher.take_asked(call) {
            core.dispatcher.has_decided = true;
            core.dispatcher.runs[run].attempts[attempt].activity = Activity::Nothing;
            core.start_attempt(run, attempt);
            core.todo.push_back(Todo::Run(run));
        }
    }

    /// The driver has nothing to wait for any more, or cannot decide about an attempt now.
    fn waits_no_more(&mut self, call: CallId, is_allowed: bool) {
        let core = &mut self.core;
        let Some((run, attempt, failed)) = core.dispatcher.take_asked(call) else {
            return;
        };
        let it = &mut core.dispatcher.runs[run];
        if is_allowed {
            core.dispatcher.has_decided = true;
        } else {
            it.is.deferred = true;
            core.dispatcher.deferred.push(run);
            core.dispatcher.has_decided |= core.dispatcher.asked == 0;
        }
        let runs = &mut core.dispatcher.runs;
        core.arena.wait_in_line(runs, run, attempt, failed);
        if is_allowed {
            core.todo.push_back(Todo::Run(run));
        }
    }

    /// A call is a plan.
    fn opened(&mut self, call: CallId) {
        let core = &mut self.core;
        let Some((row, body)) = Lookup(core).may_open(call) else {
            return;
        };
        let CallRow { run, attempt, .. } = row;
        core.dispatcher.calling -= 1;
        core.dispatcher.calls.close(call);
        let result = core.begin_scope(body, Some(Owner { run, attempt }));
        let tried = &mut core.dispatcher.runs[run].attempts[attempt];
        match result {
            Ok(scope) => tried.activity = Activity::Scope(scope),
            Err(full) => {
                tried.activity = Activity::Nothing;
                core.dispatcher.overflow(run, Some(attempt), full);
            }
        }
    }

    /// Takes an answer, unless it does not matter any more.
    fn answered(&mut self, id: QuestionId, answer: Answer) {
        let core = &mut self.core;
        let Some(asked) = core.dispatcher.questions.get(id) else {
            return;
        };
        let list = match asked {
            OpenQuestion::Inputs(scope) | OpenQuestion::Output(scope) => {
                &mut core.arena.scopes[scope].questions
            }
            OpenQuestion::Body { run, .. }
            | OpenQuestion::Again { run, .. }
            | OpenQuestion::Amounts(run)
            | OpenQuestion::Fallback { run, .. } => {
                core.todo.push_back(Todo::Run(run));
                let it = &mut core.dispatcher.runs[run];
                it.asking -= 1;
                &mut it.questions
            }
        };
        core.dispatcher.questions.close(list, id);
        // A reply of another kind is as good as 0.
        let number = match answer {
            Answer::Number(number) => Ok(number),
            Answer::Amounts(_) | Answer::Made | Answer::Exceeds(_) => Ok(0),
            Answer::Failed(error) => Err(error),
        };
        match asked {
            OpenQuestion::Inputs(scope) => core.inputs_made(scope, number),
            OpenQuestion::Output(scope) => core.output_made(scope, number.err()),
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
                        let reason = Reason::Error(error.error);
                        let failure = Lookup(core).failure(run, WHOLE, 0, reason);
                        return core.fail_run(run, WHOLE, Failures::of(error.mark(failure)));
                    }
                };
                let it = &mut core.dispatcher.runs[run];
                it.amounts = amounts;
                let body = core.arena.tables.colds[it.cold].body;
                core.enter(run, body, WHOLE, Turn::InLine);
            }
        }
    }

    /// The time of a timer is over.
    fn fired(&mut self, timer: CallId) {
        let core = &mut self.core;
        let Some(CallRow { run, attempt, kind }) = core.dispatcher.calls.get(timer) else {
            return;
        };
        if matches!(kind, CallKind::Call | CallKind::Await) {
            return;
        }
        core.dispatcher.calls.close(timer);
        let it = &mut core.dispatcher.runs[run];
        if attempt == AttemptId::NONE {
            // The time of a loop is over.
            it.deadline = None;
            it.is.late = true;
            for attempt in it.attempts.in_order() {
                if core.dispatcher.runs[run].attempts.runs(attempt) {
                    core.limit_reached(run, attempt, Reason::Deadline);
                }
            }
            return;
        }
        let tried = &mut it.attempts[attempt];
        match kind {
            CallKind::Timeout => {
                tried.timeout = None;
                core.limit_reached(run, attempt, Reason::Timeout);
            }
            CallKind::Deadline => {
                tried.deadline = None;
                core.limit_reached(run, attempt, Reason::Deadline);
            }
            CallKind::Every => {
                tried.every = None;
                if tried.activity == Activity::Every {
                    core.arena
                        .wait_in_line(&mut core.dispatcher.runs, run, attempt, None);
                }
            }
            CallKind::Backoff | CallKind::Call | CallKind::Await => {
                let failed = match std::mem::replace(&mut tried.activity, Activity::Nothing) {
                    Activity::Backoff(_, failures) => Some(failures),
                    _ => None,
                };
                core.arena
                    .wait_in_line(&mut core.dispatcher.runs, run, attempt, failed);
            }
        }
    }

    fn stop(&mut self, cutoff: Cutoff) {
        if !std::mem::replace(&mut self.core.is_stopped, true) {
            self.core.cut_scope(ScopeId::ROOT, cutoff);
        }
    }

    /// Ends the work of the run before its time, if something in the work has failed.
    fn stop_failed(&mut self) {
        let mut scopes = self.core.arena.scopes.rows.iter();
        if scopes.any(|it| it.has_failed && it.phase != Phase::Over) {
            self.core.cut_scope(ScopeId::ROOT, Cutoff::Beside);
        }
    }

    /// Works off the consequences of an event.
    pub(super) fn work_off(&mut self) {
        loop {
            self.end_full();
            let core = &mut self.core;
            if std::mem::take(&mut core.dispatcher.has_decided) {
                let runs = core.dispatcher.take_deferred();
                core.todo.extend(runs.into_iter().map(Todo::Run));
            }
            let Some(todo) = core.todo.pop_front() else {
                let has_line = !core.arena.scopes[ScopeId::ROOT].line.is_empty();
                core.is_quiet =
                    core.dispatcher.out.is_empty() && core.arena.freed.is_empty() && !has_line;
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
