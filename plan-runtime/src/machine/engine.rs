//! The machine: the fast path for plain steps, events, and the next command.

use super::arena::First;
use super::event::{CallEnd, Command, Event, StepPlace, StepStatus};
use super::ids::{CallId, RowId, RunId, ScopeId, StepId, StepSlot};
use super::parts::Owner;
use super::rows::COLD_CALLS;
use super::state::{Capacity, MachineState, Over, Reaction, Todo, Turn};
use super::tables::Tables;
use super::view::{MachineView, Part};
use std::collections::VecDeque;
use std::sync::Arc;

/// The state and the settings of a run. [`Machine`] adds the fast path for plain steps, and other files add the transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Core {
    pub(super) state: MachineState,
    pub(super) todo: VecDeque<Todo>,
    pub(super) reaction: Reaction,
    /// `true` to tell the driver the ends of steps.
    pub(super) tells: bool,
    /// `true` to tell the driver the ends of scopes.
    pub(super) tells_scopes: bool,
    /// `true` if no command waits and the line of the plan is empty, so only plain steps of the plan itself can start.
    pub(super) is_quiet: bool,
    pub(super) over: Over,
}

/// A run. Each event changes the state of the run, and the state determines the next command.
///
/// A driver may pass an event after any command. The driver must take all commands from time to time, because only then does the machine free the rows of ended scopes and
/// calls. The machine ignores events of calls that it is about to drop.
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

    /// Creates a run with this capacity. A capacity that is too small for the scope of the plan is raised.
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
            state: MachineState::new(tables, capacity),
            todo: VecDeque::new(),
            reaction,
            tells: false,
            tells_scopes: false,
            is_quiet: true,
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
        self.core.tells = true;
        self
    }

    /// Tells the driver the ends of scopes. Call this setter before the first event.
    pub fn telling_scopes(mut self) -> Self {
        self.core.tells_scopes = true;
        self
    }

    /// Changes the state of the run by an event.
    #[inline]
    pub fn handle(&mut self, event: Event) {
        if let Event::Ended(call, _) = &event
            && !self.core.state.certain.is_empty()
        {
            self.core.state.certain.remove(call);
        }
        match event {
            Event::Ended(CallId(slot), CallEnd::Done) if slot < COLD_CALLS => {
                self.plain_ended(slot);
            }
            _ => self.handle_cold(event),
        }
    }

    /// Handles the success of a plain call, on the fast path.
    #[inline(always)]
    fn plain_ended(&mut self, slot: u32) {
        let core = &mut self.core;
        let hot = &mut core.state.hot[StepSlot(slot)];
        if !hot.is_running() {
            return;
        }
        let number = hot.scope();
        let scope = &mut core.state.scopes[number];
        if scope.is_stopping | scope.has_failed {
            return self.plain_ended_late(StepSlot(slot));
        }
        hot.complete();
        core.state.calling -= 1;
        scope.open -= 1;
        for reader in core.state.tables.readers(scope.step(StepSlot(slot))) {
            let slot = scope.slot(*reader);
            let hot = &mut core.state.hot[slot];
            hot.waiting -= 1;
            if hot.waiting == 0 {
                scope.open += 1;
                if hot.is_plain_in_root() {
                    core.state.ready.insert(slot);
                } else {
                    core.todo.push_back(Todo::Start(slot));
                }
            }
        }
        if scope.open == 0 || !core.todo.is_empty() {
            self.after_plain(number);
        }
    }

    /// Handles the success of a plain call in a scope whose work has failed or stops.
    #[cold]
    #[inline(never)]
    fn plain_ended_late(&mut self, slot: StepSlot) {
        self.recycle();
        let core = &mut self.core;
        core.state.calling -= 1;
        let scope = core.state.hot[slot].scope();
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

    /// Returns the next command. If `may_start` is `false`, no call starts. A driver that shares its permits with other drivers passes `false` if no
    /// permit is left.
    #[inline(always)]
    pub fn next(&mut self, may_start: bool) -> Option<Command> {
        let core = &mut self.core;
        if core.is_quiet {
            if may_start
                && core.state.calling < self.bound
                && let Some(slot) = core.state.ready.pop()
            {
                return self.start_plain(slot, StepId(slot.0));
            }
            return self.next_done();
        }
        self.next_cold(may_start)
    }

    /// Starts a plain step. In the scope of the whole plan, the number of a step equals the number of its slot.
    #[inline(always)]
    fn start_plain(&mut self, slot: StepSlot, step: StepId) -> Option<Command> {
        let core = &mut self.core;
        let hot = &mut core.state.hot[slot];
        core.state.calling += 1;
        hot.start();
        let place = StepPlace {
            step,
            slot,
            attempt: 1,
        };
        Some(Command::Start(CallId(slot.0), place))
    }

    #[cold]
    #[inline(never)]
    fn next_cold(&mut self, may_start: bool) -> Option<Command> {
        loop {
            if let Some(command) = self.next_out() {
                return Some(command);
            }
            let core = &mut self.core;
            if let Some(scope) = core.state.freed.pop() {
                return Some(Command::Free(scope));
            }
            if !may_start || core.state.calling >= self.bound {
                return self.next_done();
            }
            match core.state.next_in_line() {
                Some(First::Step(slot)) if core.state.hot[slot].is_plain() => {
                    let scope = core.state.hot[slot].scope();
                    let step = core.state.scopes[scope].step(slot);
                    return self.start_plain(slot, step);
                }
                Some(first) => {
                    self.begin(first);
                    self.work_off();
                }
                None => {
                    core.is_quiet = core.state.scopes[ScopeId::ROOT].line.is_empty();
                    return match core.state.ready.pop() {
                        Some(slot) => self.start_plain(slot, StepId(slot.0)),
                        None => self.next_done(),
                    };
                }
            }
        }
    }

    /// Returns the next command that no later event has made pointless.
    fn next_out(&mut self) -> Option<Command> {
        let state = &mut self.core.state;
        while let Some(command) = state.out.pop_front() {
            let matters = match command {
                Command::Evaluate(id, _) => state.questions.get(id).is_some(),
                Command::Admit(call, _)
                | Command::Start(call, _)
                | Command::Await(call, _)
                | Command::Sleep(call, ..) => state.calls.tell(call),
                Command::Drop(call) => state.calls.is_known(call),
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

    /// Starts the first entry in line, which has a permit.
    fn begin(&mut self, first: First) {
        let core = &mut self.core;
        let run = match first {
            First::Step(slot) => return core.start_run(slot, Turn::Now),
            First::Run(run) => run,
        };
        core.todo.push_back(Todo::Run(run));
        let pending = &mut core.state.runs[run].pending;
        if let Some((_, attempt)) = pending.again.pop_first() {
            core.admit_or_start(run, attempt);
        } else if let Some((body, element)) = pending.queue.pop_front() {
            core.enter(run, body, element, Turn::Now);
        }
    }

    /// Returns the position of the next attempt in the plan, if an attempt may start. For each scope, from the outermost inward, the list contains
    /// the index of the step in the scope, and then the number of the job in its step. A driver that shares its permits with other drivers compares these
    /// lists.
    pub fn first(&mut self) -> Option<Vec<usize>> {
        let core = &mut self.core;
        if core.state.calling >= self.bound {
            return None;
        }
        let (mut scope, mut step, mut job) = match core.state.first_in_line() {
            Some((scope, place, _)) => (scope, place.step, place.job),
            None => {
                let slot = core.state.ready.peek()?;
                (
                    ScopeId::ROOT,
                    core.state.scopes[ScopeId::ROOT].step(slot),
                    0,
                )
            }
        };
        let mut places = Vec::new();
        loop {
            let it = &core.state.scopes[scope];
            let first = core.state.tables.rows[it.row].first;
            places.extend([job as usize, (step.0 - first) as usize]);
            let Some(Owner { run, attempt }) = it.owner else {
                break;
            };
            let around = &core.state.runs[run];
            (scope, step) = (around.scope, around.step);
            job = around.attempts[attempt].job;
        }
        places.reverse();
        Some(places)
    }

    /// Notes that the next attempt or round after an attempt had begun before a crash. The next one begins even beyond the amounts of the step.
    pub fn follow(&mut self, part: Part) {
        let state = &mut self.core.state;
        let run = state.run_of(state.hot[part.slot].scope(), part.step);
        let attempts = run.map(|run| &mut state.runs[run].attempts.rows);
        let mut attempts = attempts.into_iter().flatten();
        let found = attempts.find(|it| (it.element, it.number) == (part.element, part.attempt));
        if let Some(tried) = found {
            tried.is_followed = true;
        }
    }

    /// Lets this number of calls start beyond the bounds of the run and of its lists.
    pub fn loosen(&mut self, extra: u32) {
        let state = &mut self.core.state;
        let before = std::mem::replace(&mut state.extra, extra);
        self.bound = self.bound.saturating_sub(before).saturating_add(extra);
        for run in 0..state.runs.rows.len() as u32 {
            state.line_up_run(RunId(run));
        }
        self.work_off();
    }

    /// Returns the number of calls that may start beyond the bounds.
    pub fn extra(&self) -> u32 {
        self.core.state.extra
    }

    /// Frees the rows of ended scopes and calls, if the driver has taken all commands: after that, no event names these rows.
    pub(super) fn recycle(&mut self) {
        let state = &mut self.core.state;
        if state.out.is_empty() && state.freed.is_empty() {
            state.calls.recycle();
            state.recycle();
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

    /// Returns a view of the run.
    pub fn view(&self) -> MachineView<'_> {
        self.core.state.view()
    }
}
