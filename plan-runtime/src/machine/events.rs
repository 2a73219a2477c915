//! Events, and their consequences.

use super::core::Todo;
use super::describe::Amounts;
use super::engine::Machine;
use super::event::{Answer, CallEnd, CallError, Event, QuestionId};
use super::ids::{CallId, ScopeId, StepSlot};
use super::lookup::Lookup;
use super::loss::{Cutoff, Fault, Loss, Reason};
use super::rows::{COLD_CALLS, CallKind, CallRow, NO_ATTEMPT, OpenQuestion};
use super::state::{Doing, Owner, Phase, WHOLE};
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
            Event::Ending(call, true) => {
                self.core.desk.ending.insert(call);
            }
            Event::Ending(call, false) => {
                self.core.desk.ending.remove(&call);
            }
            Event::Admitted(call) if self.core.desk.calling < self.bound => self.admitted(call),
            Event::Admitted(call) | Event::Allowed(call) => self.waits_no_more(call, true),
            Event::Deferred(call) => self.waits_no_more(call, false),
            Event::Withdrawn(call) => self.core.desk.withdrawn(call),
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
        core.desk.calling -= 1;
        let scope = hot.scope();
        let step = core.arena.scopes[scope].step(slot);
        let fault = Fault::new(Lookup(core).trail(scope, step), Reason::Error(error.error));
        let loss = Loss::of(error.mark(fault));
        core.finish_step(scope, slot, StepStatus::Failed, Some(loss));
    }

    /// A call or a wait of a step that is not plain has ended. Returns its row with the number of attempts that have begun, unless the machine ignores the call.
    pub(super) fn close_call(&mut self, call: CallId) -> Option<(CallRow, u32)> {
        let core = &mut self.core;
        let row = core.desk.calls.get(call)?;
        let it = &mut core.desk.runs[row.run];
        let tried = it.tries.get_mut(row.attempt as usize)?;
        let mut begun = tried.number;
        match tried.doing {
            Doing::Call(own) if own == call => core.desk.calling -= 1,
            Doing::Await(own) if own == call => {}
            Doing::Asked(own, _) if own == call => {
                begun -= 1;
                core.desk.asked -= 1;
                core.desk.has_decided = true;
            }
            _ => return None,
        }
        it.active -= 1;
        core.desk.ending.remove(&call);
        debug_assert!(matches!(row.kind, CallKind::Call | CallKind::Await));
        tried.doing = Doing::Nothing;
        core.desk.calls.close(call);
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
                let tried = &core.desk.runs[row.run].tries[row.attempt as usize];
                let reason = Reason::Error(error.error);
                let fault = Lookup(core).fault(row.run, tried.element, begun, reason);
                Err(Loss::of(error.mark(fault)))
            }
        };
        core.attempt_ended(row.run, row.attempt, result);
    }

    /// The driver lets an attempt start now.
    fn admitted(&mut self, call: CallId) {
        let core = &mut self.core;
        if let Some((run, attempt, _)) = core.desk.take_asked(call) {
            core.desk.has_decided = true;
            core.desk.runs[run].tries[attempt as usize].doing = Doing::Nothing;
            core.start_try(run, attempt);
            core.todo.push_back(Todo::Run(run));
        }
    }

    /// The driver has nothing to wait for any more, or cannot decide about an attempt now.
    fn waits_no_more(&mut self, call: CallId, is_allowed: bool) {
        let core = &mut self.core;
        let Some((run, attempt, failed)) = core.desk.take_asked(call) else {
            return;
        };
        let it = &mut core.desk.runs[run];
        if is_allowed {
            core.desk.has_decided = true;
        } else {
            it.is.deferred = true;
            core.desk.deferred.push(run);
            core.desk.has_decided |= core.desk.asked == 0;
        }
        let runs = &mut core.desk.runs;
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
        core.desk.calling -= 1;
        core.desk.calls.close(call);
        let result = core.begin_scope(body, Some(Owner { run, attempt }));
        let tried = &mut core.desk.runs[run].tries[attempt as usize];
        match result {
            Ok(scope) => tried.doing = Doing::Scope(scope),
            Err(full) => {
                tried.doing = Doing::Nothing;
                core.desk.overflow(run, Some(attempt), full);
            }
        }
    }

    /// Takes an answer, unless it does not matter any more.
    fn answered(&mut self, id: QuestionId, answer: Answer) {
        let core = &mut self.core;
        let Some(asked) = core.desk.questions.get(id) else {
            return;
        };
        let list = match asked {
            OpenQuestion::Inputs(scope) | OpenQuestion::Output(scope) => {
                &mut core.arena.scopes[scope].questions
            }
            OpenQuestion::Body { run, .. }
            | OpenQuestion::Again { run, .. }
            | OpenQuestion::Amounts(run)
            | OpenQuestion::Instead { run, .. } => {
                core.todo.push_back(Todo::Run(run));
                let it = &mut core.desk.runs[run];
                it.asking -= 1;
                &mut it.questions
            }
        };
        core.desk.questions.close(list, id);
        // A reply of another kind is as good as 0.
        let number = match answer {
            Answer::Number(number) => Ok(number),
            Answer::Amounts(_) | Answer::Made | Answer::Exceeds(_) => Ok(0),
            Answer::Failed(error) => Err(error),
        };
        match asked {
            OpenQuestion::Inputs(scope) => core.inputs_made(scope, number),
            OpenQuestion::Output(scope) => core.output_made(scope, number.err()),
            OpenQuestion::Instead { run, element } => core.instead_made(run, element, number),
            OpenQuestion::Body { run, body, element } => {
                core.body_answered(run, body, element, number);
            }
            OpenQuestion::Again { run, attempt } => core.round_ended(run, attempt, number),
            OpenQuestion::Amounts(run) => {
                let amounts = match (answer, number) {
                    (Answer::Amounts(amounts), _) => amounts,
                    (_, Ok(_)) => Amounts::DEFAULT,
                    (_, Err(error)) => return core.fail_value(run, WHOLE, error),
                };
                let it = &mut core.desk.runs[run];
                it.amounts = amounts;
                let body = core.arena.tables.colds[it.cold].body;
                core.enter(run, body, WHOLE);
            }
        }
    }

    /// The time of a timer is over.
    fn fired(&mut self, timer: CallId) {
        let core = &mut self.core;
        let Some(CallRow { run, attempt, kind }) = core.desk.calls.get(timer) else {
            return;
        };
        if matches!(kind, CallKind::Call | CallKind::Await) {
            return;
        }
        core.desk.calls.close(timer);
        let it = &mut core.desk.runs[run];
        if attempt == NO_ATTEMPT {
            // The time of a loop is over.
            it.deadline = None;
            it.is.late = true;
            for attempt in it.in_order() {
                if core.desk.runs[run].runs(attempt) {
                    core.limit_reached(run, attempt, Reason::Deadline);
                }
            }
            return;
        }
        let tried = &mut it.tries[attempt as usize];
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
                if tried.doing == Doing::Every {
                    core.arena
                        .wait_in_line(&mut core.desk.runs, run, attempt, None);
                }
            }
            CallKind::Backoff | CallKind::Call | CallKind::Await => {
                let failed = match std::mem::replace(&mut tried.doing, Doing::Nothing) {
                    Doing::Backoff(_, loss) => Some(loss),
                    _ => None,
                };
                core.arena
                    .wait_in_line(&mut core.desk.runs, run, attempt, failed);
            }
        }
    }

    fn stop(&mut self, cutoff: Cutoff) {
        if self.core.stopped.is_none() {
            self.core.stopped = Some(cutoff);
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
            if std::mem::take(&mut core.desk.has_decided) {
                let runs = core.desk.take_deferred();
                core.todo.extend(runs.into_iter().map(Todo::Run));
            }
            let Some(todo) = core.todo.pop_front() else {
                let has_line = !core.arena.scopes[ScopeId::ROOT].line.is_empty();
                core.is_quiet =
                    core.desk.out.is_empty() && core.arena.freed.is_empty() && !has_line;
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
