//! The machine: the short way of plain steps, events, and the next command.

use super::core::{Capacity, Core, Over, Reaction, Settings, Todo};
use super::desk::Desk;
use super::event::{CallEnd, CallError, Command, Event, StepPlace};
use super::ids::{CallId, RowId, ScopeId, StepSlot, Table};
use super::lookup::Lookup;
use super::loss::{Cutoff, Fault, FaultDuty, Loss, Reason};
use super::ready::ReadySet;
use super::rows::{COLD_CALLS, CallKind};
use super::state::Doing;
use super::tables::Tables;
use super::view::MachineView;
use super::word::StepStatus;
use std::collections::VecDeque;

/// A run. Each event changes the state of the run, and the state determines the next command.
///
/// A driver takes commands until the machine has none, hands over an event, and takes commands again. A driver may hand over several events before it takes commands. The
/// machine ignores events of calls that it is about to drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine<'p> {
    core: Core<'p>,
    /// The most calls that run at one time.
    bound: u32,
}

impl<'p> Machine<'p> {
    /// Creates a run that makes at most `bound` calls at one time.
    pub fn new(tables: &'p Tables, reaction: Reaction, bound: u32) -> Self {
        Self::with_capacity(tables, reaction, bound, Capacity::DEFAULT)
    }

    /// Creates a run with other sizes of its tables. The scope of the plan always has room.
    pub fn with_capacity(
        tables: &'p Tables,
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
            tables,
            hot: Vec::new(),
            ready: ReadySet::new(),
            scopes: Table::default(),
            todo: VecDeque::new(),
            desk: Desk::new(tables),
            released: Vec::new(),
            free,
            settings: Settings {
                reaction,
                capacity,
                keeps_all: false,
            },
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

    /// Changes the state of the run by an event.
    #[inline]
    pub fn handle(&mut self, event: Event) {
        match event {
            Event::Ended(CallId(slot), CallEnd::Done) if slot < COLD_CALLS => {
                self.plain_ended(slot)
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
        hot.complete();
        core.desk.calling -= 1;
        let number = hot.scope();
        let scope = &mut core.scopes[number];
        scope.open -= 1;
        let mut is_cold = scope.open == 0;
        if !scope.is_stopping {
            for reader in core.tables.readers(scope.step(StepSlot(slot))) {
                let slot = scope.slot(*reader);
                let hot = &mut core.hot[slot.index()];
                hot.waiting -= 1;
                if hot.waiting == 0 {
                    scope.open += 1;
                    if hot.is_plain() {
                        core.ready.insert(slot);
                    } else {
                        core.todo.push_back(Todo::Start(slot));
                    }
                }
            }
            is_cold = scope.open == 0 || !core.todo.is_empty();
        }
        if is_cold {
            self.after_plain(number);
        }
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
        if core.desk.out.is_empty() && core.desk.starts.is_empty() {
            if may_start
                && core.desk.calling < self.bound
                && let Some(slot) = core.ready.pop()
            {
                return Some(self.start_plain(slot));
            }
            return self.next_done();
        }
        self.next_cold(may_start)
    }

    #[inline]
    fn start_plain(&mut self, slot: StepSlot) -> Command {
        let core = &mut self.core;
        core.desk.calling += 1;
        let hot = &mut core.hot[slot.index()];
        hot.start();
        let step = core.scopes[hot.scope()].step(slot);
        let place = StepPlace {
            step,
            slot,
            attempt: 1,
        };
        Command::Start(CallId(slot.0), place)
    }

    #[cold]
    #[inline(never)]
    fn next_cold(&mut self, may_start: bool) -> Option<Command> {
        while let Some(command) = self.core.desk.out.pop_front() {
            let core = &mut self.core;
            // A later event may have made the command pointless.
            let matters = match command {
                Command::Evaluate(ask, _) => core.desk.asks.is_open(ask),
                Command::Await(call, _) | Command::Sleep(call, ..) => core.desk.calls.tell(call),
                Command::Drop(call) => core.desk.calls.is_known(call),
                Command::Start(..) | Command::Done => true,
            };
            if matters {
                return Some(command);
            }
        }
        if may_start && self.core.desk.calling < self.bound {
            let started = self.next_call().or_else(|| {
                let slot = self.core.ready.pop()?;
                Some(self.start_plain(slot))
            });
            if started.is_some() {
                return started;
            }
        }
        self.next_done()
    }

    /// The next call of a step that is not plain, unless a plain step comes before.
    fn next_call(&mut self) -> Option<Command> {
        while let Some(&call) = self.core.desk.starts.front() {
            let core = &mut self.core;
            let row = core.desk.calls.get(call);
            let tried = row.and_then(|row| {
                let run = &mut core.desk.runs.rows[row.run];
                let (slot, step) = (run.slot, run.step);
                let runs = run.runs(row.attempt);
                let tried = run.tries.get_mut(row.attempt as usize)?;
                let has_started = false;
                let is_it = runs && tried.doing == Doing::Call { call, has_started };
                is_it.then_some((row, tried, slot, step))
            });
            let Some((row, tried, slot, step)) = tried else {
                core.desk.starts.pop_front();
                core.desk.calls.close(call);
                continue;
            };
            if core.ready.peek().is_some_and(|plain| plain < slot) {
                return None;
            }
            let has_started = true;
            tried.doing = Doing::Call { call, has_started };
            let attempt = tried.number;
            core.desk.starts.pop_front();
            core.desk.calling += 1;
            core.desk.limit_try(row.run, row.attempt);
            let place = StepPlace {
                step,
                slot,
                attempt,
            };
            return Some(Command::Start(call, place));
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
    pub fn view(&self) -> MachineView<'_, 'p> {
        MachineView {
            lookup: Lookup(&self.core),
        }
    }

    fn recycle(&mut self) {
        if self.core.desk.out.is_empty() {
            self.core.recycle();
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
            Event::Ended(call, ending) => self.call_ended(call, ending),
            Event::Fired(timer) => core.fired(timer),
            Event::Answered(ask, reply) => core.answered(ask, reply),
            Event::Cancelled => self.stop(Cutoff::Cancelled),
            Event::Late => self.stop(Cutoff::Late),
            Event::GraceOver => core.drop_scope(ScopeId::ROOT),
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
        let fault = Fault {
            trail: Lookup(core).trail(scope, step),
            reason: Reason::Error(error.error),
            transient: error.transient,
            attempts: 1,
            blocked: Vec::new(),
            duty: FaultDuty::Work,
        };
        core.finish_step(scope, slot, StepStatus::Failed, Some(Loss::of(fault)));
    }

    /// A call or a wait of a step that is not plain has ended.
    fn call_ended(&mut self, call: CallId, ending: CallEnd) {
        let core = &mut self.core;
        let Some(row) = core.desk.calls.get(call) else {
            return;
        };
        let it = &core.desk.runs.rows[row.run];
        let has_started = true;
        match it.tries.get(row.attempt as usize) {
            Some(tried) if tried.doing == Doing::Call { call, has_started } => {
                core.desk.calling -= 1;
            }
            Some(tried) if tried.doing == Doing::Await(call) => {}
            _ => return,
        }
        debug_assert!(matches!(row.kind, CallKind::Call | CallKind::Await));
        core.desk.calls.close(call);
        let result = match ending {
            CallEnd::Done => Ok(()),
            CallEnd::Failed(CallError { error, transient }) => {
                let tried = &it.tries[row.attempt as usize];
                let reason = Reason::Error(error);
                let lookup = Lookup(core);
                let mut fault = lookup.fault(row.run, tried.element, tried.number, reason);
                fault.transient = transient;
                Err(Loss::of(fault))
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
        let core = &mut self.core;
        while let Some(todo) = core.todo.pop_front() {
            match todo {
                Todo::Start(slot) => core.start_run(slot),
                Todo::Scope(scope) => core.settle_scope(scope),
                Todo::Over(scope) => core.scope_over(scope),
                Todo::Run(run) => core.settle_run(run),
                Todo::Undo(scope, step) => core.undo_step(scope, step),
            }
        }
    }
}
