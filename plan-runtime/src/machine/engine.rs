//! The machine: the short way of plain steps, events, and the next command.

use super::capacity::{Capacity, Overflow};
use super::core::{Core, Over, Reaction, Settings, Todo};
use super::desk::Desk;
use super::event::{Answer, CallEnd, CallError, Command, Event, StepPlace};
use super::ids::{CallId, RowId, ScopeId, StepSlot, Table};
use super::line::First;
use super::lookup::Lookup;
use super::loss::{Cutoff, Fault, Loss, Reason};
use super::ready::ReadySet;
use super::rows::{COLD_CALLS, CallKind, CallRow};
use super::state::{Doing, WHOLE};
use super::tables::Tables;
use super::view::MachineView;
use super::word::StepStatus;
use std::collections::VecDeque;
use std::sync::Arc;

/// A run. Each event changes the state of the run, and the state determines the next command.
///
/// A driver takes commands until the machine has none, hands over an event, and takes commands again. A driver may hand over several events before it takes commands. The
/// machine ignores events of calls that it is about to drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    pub(super) core: Core,
    /// The most calls that run at one time.
    pub(super) bound: u32,
}

impl Machine {
    /// Creates a run that makes at most `bound` calls at one time.
    pub fn new(tables: &Arc<Tables>, reaction: Reaction, bound: u32) -> Self {
        Self::with_capacity(tables, reaction, bound, Capacity::DEFAULT)
    }

    /// Creates a run with other sizes of its tables. The scope of the plan always has room.
    pub fn with_capacity(
        tables: &Arc<Tables>,
        reaction: Reaction,
        bound: u32,
        capacity: Capacity,
    ) -> Self {
        let mut free = Table::default();
        free.rows.resize(tables.rows.rows.len(), None);
        let mut capacity = Capacity {
            scopes: capacity.scopes.clamp(1, Capacity::DEFAULT.scopes),
            slots: capacity.slots.min(Capacity::DEFAULT.slots),
            depth: capacity.depth.max(1),
            ..capacity
        };
        capacity.slots = capacity.slots.max(tables.rows[RowId(0)].len);
        let core = Core {
            tables: Arc::clone(tables),
            hot: Vec::new(),
            ready: ReadySet::new(),
            scopes: Table::default(),
            todo: VecDeque::new(),
            desk: Desk::new(tables, &capacity),
            freed: Vec::new(),
            released: Vec::new(),
            free,
            settings: Settings {
                reaction,
                capacity,
                keeps_all: false,
                tells: false,
                tells_scopes: false,
            },
            is_quiet: true,
            stopped: None,
            over: Over::No,
        };
        let mut machine = Self { core, bound };
        // The scope of the plan has room in any case.
        let _ = machine.core.begin_scope(RowId(0), None);
        machine.work_off();
        machine
    }

    /// Keeps the state of ended scopes, for a report. Call this setter before the first event.
    pub fn keeping_all(mut self) -> Self {
        self.core.settings.keeps_all = true;
        self
    }

    /// Tells the driver the ends of steps. Call this setter before the first event.
    pub fn telling(mut self) -> Self {
        self.core.settings.tells = true;
        self
    }

    /// Tells the driver the ends of scopes. Call this setter before the first event.
    pub fn telling_scopes(mut self) -> Self {
        self.core.settings.tells_scopes = true;
        self
    }

    /// Changes the state of the run by an event.
    #[inline]
    pub fn handle(&mut self, event: Event) {
        match event {
            Event::Ended(CallId(slot), CallEnd::Done) if slot < COLD_CALLS => {
                self.plain_ended(slot);
            }
            _ => self.handle_cold(event),
        }
    }

    /// The short way: a plain call has succeeded.
    #[inline]
    fn plain_ended(&mut self, slot: u32) {
        let core = &mut self.core;
        let hot = &mut core.hot[slot as usize];
        if !hot.is_running() {
            return;
        }
        let number = hot.scope();
        let scope = &mut core.scopes[number];
        if scope.is_stopping | scope.has_failed {
            return self.plain_ended_late(StepSlot(slot));
        }
        hot.complete();
        core.desk.calling -= 1;
        scope.open -= 1;
        for reader in core.tables.readers(scope.step(StepSlot(slot))) {
            let slot = scope.slot(*reader);
            let hot = &mut core.hot[slot.index()];
            hot.waiting -= 1;
            if hot.waiting == 0 {
                scope.open += 1;
                if hot.is_plain_in_root() {
                    core.ready.insert(slot);
                } else {
                    core.todo.push_back(Todo::Start(slot));
                }
            }
        }
        if scope.open == 0 || !core.todo.is_empty() {
            self.after_plain(number);
        }
    }

    /// A plain call has succeeded in a scope whose work has failed or stops.
    #[cold]
    #[inline(never)]
    fn plain_ended_late(&mut self, slot: StepSlot) {
        self.recycle();
        let core = &mut self.core;
        core.desk.calling -= 1;
        let scope = core.hot[slot.index()].scope();
        core.finish_step(scope, slot, StepStatus::Completed, None);
        self.work_off();
    }

    #[cold]
    #[inline(never)]
    fn after_plain(&mut self, scope: ScopeId) {
        self.recycle();
        self.core.todo.push_back(Todo::Scope(scope));
        self.work_off();
    }

    /// Returns the next command. Without `may_start`, no call starts: a driver that shares its permits with others has none left.
    #[inline]
    pub fn next(&mut self, may_start: bool) -> Option<Command> {
        let core = &mut self.core;
        if core.is_quiet {
            if may_start
                && core.desk.calling < self.bound
                && let Some(slot) = core.ready.pop()
            {
                return self.start_plain(slot);
            }
            return self.next_done();
        }
        self.next_cold(may_start)
    }

    #[inline]
    fn start_plain(&mut self, slot: StepSlot) -> Option<Command> {
        let core = &mut self.core;
        let hot = &mut core.hot[slot.index()];
        if hot.counts() {
            match core.desk.starts_left.calls.checked_sub(1) {
                Some(left) => core.desk.starts_left.calls = left,
                None => return self.plain_exceeds(slot),
            }
        }
        core.desk.calling += 1;
        hot.start();
        let step = core.scopes[hot.scope()].step(slot);
        let place = StepPlace {
            step,
            slot,
            attempt: 1,
        };
        Some(Command::Start(CallId(slot.0), place))
    }

    /// A plain step is one call too many.
    #[cold]
    #[inline(never)]
    fn plain_exceeds(&mut self, slot: StepSlot) -> Option<Command> {
        self.core.desk.full = Some(Overflow {
            full: self.core.desk.starts_left.full(1),
            slot,
            element: WHOLE,
            attempt: 1,
        });
        self.work_off();
        self.next(false)
    }

    #[cold]
    #[inline(never)]
    fn next_cold(&mut self, may_start: bool) -> Option<Command> {
        loop {
            if let Some(command) = self.next_out() {
                return Some(command);
            }
            let core = &mut self.core;
            if let Some(scope) = core.freed.pop() {
                return Some(Command::Free(scope));
            }
            if !may_start || core.desk.calling >= self.bound {
                return self.next_done();
            }
            match core.next_in_line() {
                Some(First::Step(slot)) if core.hot[slot.index()].is_plain() => {
                    return self.start_plain(slot);
                }
                Some(first) => {
                    core.desk.may_begin = true;
                    core.begin(first);
                    core.desk.may_begin = false;
                    self.work_off();
                }
                None => {
                    core.is_quiet = core.scopes[ScopeId::ROOT].line.is_empty();
                    return match core.ready.pop() {
                        Some(slot) => self.start_plain(slot),
                        None => self.next_done(),
                    };
                }
            }
        }
    }

    /// The next command that is not pointless because of a later event.
    fn next_out(&mut self) -> Option<Command> {
        let desk = &mut self.core.desk;
        while let Some(command) = desk.out.pop_front() {
            let matters = match command {
                Command::Evaluate(id, _) => desk.questions.get(id).is_some(),
                Command::Admit(call, _)
                | Command::Start(call, _)
                | Command::Await(call, _)
                | Command::Sleep(call, ..) => desk.calls.tell(call),
                Command::Drop(call) => desk.calls.is_known(call),
                Command::Settled(..)
                | Command::Free(_)
                | Command::Unwinding(_)
                | Command::Over(_)
                | Command::Done => true,
            };
            if matters {
                return Some(command);
            }
        }
        None
    }

    fn next_done(&mut self) -> Option<Command> {
        if self.core.over != Over::Yes {
            return None;
        }
        self.core.over = Over::Told;
        Some(Command::Done)
    }

    /// Returns `true` if the run is over and has no running calls.
    pub fn is_over(&self) -> bool {
        self.core.over != Over::No
    }

    /// Returns a look at the run.
    pub fn view(&self) -> MachineView<'_> {
        MachineView {
            lookup: Lookup(&self.core),
        }
    }

    #[cold]
    #[inline(never)]
    fn handle_cold(&mut self, event: Event) {
        self.recycle();
        let core = &mut self.core;
        match event {
            Event::Ended(CallId(slot), CallEnd::Failed(error)) if slot < COLD_CALLS => {
                self.plain_failed(StepSlot(slot), error);
            }
            Event::Ended(call, CallEnd::Exceeds(error)) => self.call_exceeds(call, error),
            Event::Ended(call, CallEnd::Done) => self.call_ended(call, None),
            Event::Ended(call, CallEnd::Failed(error)) => self.call_ended(call, Some(error)),
            Event::Ending(call, true) => {
                core.desk.ending.insert(call);
            }
            Event::Ending(call, false) => {
                core.desk.ending.remove(&call);
            }
            Event::Admitted(call) => core.admitted(call),
            Event::Deferred(call) => core.deferred(call),
            Event::Withdrawn(call) => core.desk.withdrawn(call),
            Event::Opened(call) => core.opened(call),
            Event::Fired(timer) => core.fired(timer),
            Event::Answered(id, Answer::Exceeds(error)) => self.answer_exceeds(id, error),
            Event::Answered(id, answer) => core.answered(id, answer),
            Event::Exhausted => core.cut_failed(),
            Event::Cancelled => self.stop(Cutoff::Cancelled),
            Event::Late => self.stop(Cutoff::Late),
            Event::GraceOver => self.drop_scope(ScopeId::ROOT),
        }
        self.work_off();
    }

    fn plain_failed(&mut self, slot: StepSlot, error: CallError) {
        let core = &mut self.core;
        let hot = core.hot[slot.index()];
        if !hot.is_running() {
            return;
        }
        core.desk.calling -= 1;
        let scope = hot.scope();
        let step = core.scopes[scope].step(slot);
        let fault = Fault::new(Lookup(core).trail(scope, step), Reason::Error(error.error));
        let loss = Loss::of(error.mark(fault));
        core.finish_step(scope, slot, StepStatus::Failed, Some(loss));
    }

    /// A call or a wait of a step that is not plain has ended. Returns its row with the number of attempts that have begun, unless the machine ignores the call.
    pub(super) fn close_call(&mut self, call: CallId) -> Option<(CallRow, u32)> {
        let core = &mut self.core;
        let row = core.desk.calls.get(call)?;
        let it = &mut core.desk.runs.rows[row.run];
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
                let tried = &core.desk.runs.rows[row.run].tries[row.attempt as usize];
                let reason = Reason::Error(error.error);
                let fault = Lookup(core).fault(row.run, tried.element, begun, reason);
                Err(Loss::of(error.mark(fault)))
            }
        };
        core.attempt_ended(row.run, row.attempt, result);
    }

    fn stop(&mut self, cutoff: Cutoff) {
        if self.core.stopped.is_none() {
            self.core.stopped = Some(cutoff);
            self.core.cut_scope(ScopeId::ROOT, cutoff);
        }
    }

    /// Works off the consequences of an event.
    fn work_off(&mut self) {
        loop {
            self.end_full();
            let core = &mut self.core;
            if core.desk.has_decided {
                core.ask_again();
            }
            let Some(todo) = core.todo.pop_front() else {
                let has_line = !core.scopes[ScopeId::ROOT].line.is_empty();
                core.is_quiet = core.desk.out.is_empty() && core.freed.is_empty() && !has_line;
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
