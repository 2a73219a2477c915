//! The machine: the short way of plain steps, events, and the next command.

use super::arena::Arena;
use super::capacity::{Capacity, Overflow};
use super::core::{Core, Over, Reaction, Settings, Todo, Turn};
use super::dispatcher::Dispatcher;
use super::event::{CallEnd, Command, Event, StepPlace};
use super::ids::{CallId, RowId, ScopeId, StepSlot};
use super::line::First;
use super::lookup::Lookup;
use super::rows::COLD_CALLS;
use super::state::{Owner, WHOLE};
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
        let mut capacity = Capacity {
            scopes: capacity.scopes.clamp(1, Capacity::DEFAULT.scopes),
            slots: capacity.slots.min(Capacity::DEFAULT.slots),
            depth: capacity.depth.max(1),
            ..capacity
        };
        capacity.slots = capacity.slots.max(tables.rows[RowId(0)].len);
        let core = Core {
            arena: Arena::new(tables),
            todo: VecDeque::new(),
            dispatcher: Dispatcher::new(&capacity),
            settings: Settings {
                reaction,
                capacity,
                tells: false,
                tells_scopes: false,
            },
            is_quiet: true,
            is_stopped: false,
            over: Over::No,
        };
        let mut machine = Self { core, bound };
        // The scope of the plan has room in any case.
        let _ = machine.core.begin_scope(RowId(0), None);
        machine.work_off();
        machine
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
        if let Event::Ended(call, _) = &event
            && !self.core.dispatcher.certain.is_empty()
        {
            self.core.dispatcher.certain.remove(call);
        }
        match event {
            Event::Ended(CallId(slot), CallEnd::Done) if slot < COLD_CALLS => {
                self.plain_ended(slot);
            }
            _ => self.handle_cold(event),
        }
    }

    /// The short way: a plain call has succeeded.
    #[inline(never)]
    fn plain_ended(&mut self, slot: u32) {
        let core = &mut self.core;
        let hot = &mut core.arena.hot[slot as usize];
        if !hot.is_running() {
            return;
        }
        let number = hot.scope();
        let scope = &mut core.arena.scopes[number];
        if scope.is_stopping | scope.has_failed {
            return self.plain_ended_late(StepSlot(slot));
        }
        hot.complete();
        core.dispatcher.calling -= 1;
        scope.open -= 1;
        for reader in core.arena.tables.readers(scope.step(StepSlot(slot))) {
            let slot = scope.slot(*reader);
            let hot = &mut core.arena.hot[slot.index()];
            hot.waiting -= 1;
            if hot.waiting == 0 {
                scope.open += 1;
                if hot.is_plain_in_root() {
                    core.arena.ready.insert(slot);
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
        core.dispatcher.calling -= 1;
        let scope = core.arena.hot[slot.index()].scope();
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
                && core.dispatcher.calling < self.bound
                && let Some(slot) = core.arena.ready.pop()
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
        let hot = &mut core.arena.hot[slot.index()];
        if hot.counts() {
            match core.dispatcher.starts_left.calls.checked_sub(1) {
                Some(left) => core.dispatcher.starts_left.calls = left,
                None => return self.plain_exceeds(slot),
            }
        }
        core.dispatcher.calling += 1;
        hot.start();
        let step = core.arena.scopes[hot.scope()].step(slot);
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
        self.core.dispatcher.full = Some(Overflow {
            full: self.core.dispatcher.starts_left.full(1),
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
            if let Some(scope) = core.arena.freed.pop() {
                return Some(Command::Free(scope));
            }
            if !may_start || core.dispatcher.calling >= self.bound {
                return self.next_done();
            }
            match core.arena.next_in_line(&mut core.dispatcher.runs) {
                Some(First::Step(slot)) if core.arena.hot[slot.index()].is_plain() => {
                    return self.start_plain(slot);
                }
                Some(first) => {
                    self.begin(first);
                    self.work_off();
                }
                None => {
                    core.is_quiet = core.arena.scopes[ScopeId::ROOT].line.is_empty();
                    return match core.arena.ready.pop() {
                        Some(slot) => self.start_plain(slot),
                        None => self.next_done(),
                    };
                }
            }
        }
    }

    /// The next command that is not pointless because of a later event.
    fn next_out(&mut self) -> Option<Command> {
        let dispatcher = &mut self.core.dispatcher;
        while let Some(command) = dispatcher.out.pop_front() {
            let matters = match command {
                Command::Evaluate(id, _) => dispatcher.questions.get(id).is_some(),
                Command::Admit(call, _)
                | Command::Start(call, _)
                | Command::Await(call, _)
                | Command::Sleep(call, ..) => dispatcher.calls.tell(call),
                Command::Drop(call) => dispatcher.calls.is_known(call),
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

    /// Starts the first in line, for which there is a permit.
    fn begin(&mut self, first: First) {
        let core = &mut self.core;
        let run = match first {
            First::Step(slot) => return core.start_run(slot, Turn::Now),
            First::Run(run) => run,
        };
        core.todo.push_back(Todo::Run(run));
        let pending = &mut core.dispatcher.runs[run].pending;
        if let Some((_, attempt)) = pending.again.pop_first() {
            core.begin_ready(run, attempt);
        } else if let Some((body, element)) = pending.queue.pop_front() {
            core.enter(run, body, element, Turn::Now);
        }
    }

    /// Returns where in the plan the next attempt starts, if an attempt may start. The list has two numbers for each scope, from the outermost scope: the index of the step in the
    /// scope and of the job in the step. A driver that shares its permits with others compares these lists.
    pub fn first(&mut self) -> Option<Vec<usize>> {
        let core = &mut self.core;
        if core.dispatcher.calling >= self.bound {
            return None;
        }
        let (mut scope, mut step, mut job) =
            match core.arena.first_in_line(&mut core.dispatcher.runs) {
                Some((scope, place, _)) => (scope, place.step, place.job),
                None => {
                    let slot = core.arena.ready.peek()?;
                    (
                        ScopeId::ROOT,
                        core.arena.scopes[ScopeId::ROOT].step(slot),
                        0,
                    )
                }
            };
        let mut places = Vec::new();
        loop {
            let it = &core.arena.scopes[scope];
            let first = core.arena.tables.rows[it.row].first;
            places.extend([job as usize, (step.0 - first) as usize]);
            let Some(Owner { run, attempt }) = it.owner else {
                break;
            };
            let around = &core.dispatcher.runs[run];
            (scope, step) = (around.scope, around.step);
            job = around.attempts[attempt].job;
        }
        places.reverse();
        Some(places)
    }

    /// Frees the rows of ended scopes and calls, if the driver has taken all commands: after that, no event names these rows.
    pub(super) fn recycle(&mut self) {
        let Core {
            dispatcher, arena, ..
        } = &mut self.core;
        if dispatcher.out.is_empty() && arena.freed.is_empty() {
            dispatcher.calls.recycle();
            arena.recycle(&mut dispatcher.runs);
        }
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
}
