//! The arena, which contains the states of all steps, and the lines, which determine the order in which steps, attempts and elements start.
//!
//! Plain steps of the plan itself are in the set of `ready.rs`. Each scope has a line for all other steps. A scope with
//! a non-empty line has an entry in the line of the enclosing scope.

use super::event::StepStatus;
use super::failures::Full;
use super::ids::{AttemptId, RowId, RunId, ScopeId, StepId, StepSlot, Table};
use super::parts::{Activity, Attempt, LinePlace, Owner, Pending, Phase, ScopeRun, StepRun};
use super::ready::ReadySet;
use super::rows::{CallTable, Questions};
use super::state::{Capacity, MachineState};
use super::tables::Tables;
use super::view::MachineView;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

impl MachineState {
    pub(super) fn new(tables: &Arc<Tables>, capacity: Capacity) -> Self {
        let mut free_scopes = Table::default();
        free_scopes.rows.resize(tables.rows.rows.len(), Vec::new());
        Self {
            tables: Arc::clone(tables),
            hot: Table::default(),
            ready: ReadySet::new(tables.len()),
            scopes: Table::default(),
            calling: 0,
            extra: 0,
            capacity,
            freed: Vec::new(),
            released: Vec::new(),
            free_scopes,
            runs: Table::default(),
            calls: CallTable::new(capacity.calls),
            questions: Questions::default(),
            certain: BTreeSet::new(),
            asked: 0,
            deferred: VecDeque::new(),
            decided: 0,
            out: VecDeque::new(),
            full: None,
        }
    }

    pub(super) fn view(&self) -> MachineView<'_> {
        MachineView(self)
    }

    /// Adds a scope. `around` contains the owner of the scope and the enclosing scope, or `None` for the whole plan.
    pub(super) fn open_scope(
        &mut self,
        row: RowId,
        around: Option<(Owner, ScopeId)>,
    ) -> Result<ScopeId, Full> {
        let of = &self.tables.rows[row];
        let (depth, plans) = around.map_or((0, 0), |(_, around)| {
            let around = &self.scopes[around];
            let plans = u32::from(self.tables.is_plan(row));
            (around.depth + 1, around.plans + plans)
        });
        if depth >= self.capacity.depth {
            return Err(Full::Depth);
        }
        if plans > self.capacity.plans {
            return Err(Full::Plans);
        }
        let owner = around.map(|around| around.0);
        let mut it = ScopeRun::new(row, owner, depth, plans);
        let Some(scopes) = self.capacity.scopes.checked_sub(1) else {
            return Err(Full::Scopes);
        };
        let Some(slots) = self.capacity.slots.checked_sub(of.len) else {
            return Err(Full::Slots);
        };
        let start = &self.tables.hot[of.first as usize..(of.first + of.len) as usize];
        let colds = of.colds.len();
        let scope = if let Some(scope) = self.free_scopes[row].pop() {
            let old = &mut self.scopes[scope];
            it.shift = old.shift;
            it.runs = std::mem::take(&mut old.runs);
            it.runs.clear();
            let base = it.slot(StepId(of.first)).index();
            for (hot, start) in self.hot.rows[base..].iter_mut().zip(start) {
                *hot = start.within(scope);
            }
            self.scopes[scope] = it;
            scope
        } else {
            let (scope, base) = (self.scopes.rows.len(), self.hot.rows.len());
            if scope >= Capacity::DEFAULT.scopes as usize {
                return Err(Full::Scopes);
            }
            if base + start.len() > Capacity::DEFAULT.slots as usize {
                return Err(Full::Slots);
            }
            let scope = ScopeId(scope as u32);
            it.shift = (base as u32).wrapping_sub(of.first);
            self.hot
                .rows
                .extend(start.iter().map(|it| it.within(scope)));
            self.scopes.rows.push(it);
            scope
        };
        (self.capacity.scopes, self.capacity.slots) = (scopes, slots);
        self.scopes[scope].runs.resize(colds, None);
        Ok(scope)
    }

    /// Returns the run of a step of a scope.
    pub(super) fn run_of(&self, scope: ScopeId, step: StepId) -> Option<RunId> {
        let it = &self.scopes[scope];
        let cold = self.tables.cold_of(it.row, step)?;
        let first = self.tables.rows[it.row].colds.start as usize;
        it.runs[cold.index() - first]
    }

    /// Adds the run of a step. A row that was used before keeps its memory.
    pub(super) fn open_run(&mut self, mut new: StepRun) -> RunId {
        if let Some(free) = self.runs.free.last().copied() {
            let old = &mut self.runs[free];
            new.attempts = std::mem::take(&mut old.attempts);
            new.attempts.clear();
            new.elements = std::mem::take(&mut old.elements);
            new.elements.clear();
        }
        self.runs.add(new)
    }

    /// Frees the values of a scope that has ended permanently, and of the kept scopes in it. The row of the scope is free as soon as the driver has
    /// taken all commands.
    pub(super) fn release(&mut self, scope: ScopeId) {
        let mut open = vec![scope];
        while let Some(scope) = open.pop() {
            self.freed.push(scope);
            self.released.push(scope);
            let it = &self.scopes[scope];
            self.capacity.scopes += 1;
            self.capacity.slots += self.tables.rows[it.row].len;
            for run in it.runs.iter().flatten() {
                let attempts = self.runs[*run].attempts.rows.iter();
                open.extend(attempts.filter_map(Attempt::kept));
            }
        }
    }

    /// Releases the scope of a round whose outputs the loop's condition has read or will never read.
    pub(super) fn round_over(&mut self, run: RunId, attempt: AttemptId) {
        let tried = &self.runs[run].attempts[attempt];
        if let Some(scope) = tried.inside()
            && tried.kept().is_none()
        {
            self.release(scope);
        }
    }

    /// Frees the rows of released scopes and of the runs in these scopes.
    pub(super) fn recycle(&mut self) {
        for scope in self.released.drain(..) {
            let it = &self.scopes[scope];
            for run in it.runs.iter().flatten() {
                self.runs[*run].attempts.clear();
                self.runs.free.push(*run);
            }
            self.free_scopes[it.row].push(scope);
        }
    }
}

/// The first entry in line that may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// A step that may start.
    Step(StepSlot),
    /// The run of a step, which has an attempt or an element that may start.
    Run(RunId),
}

/// An entry of the line.
enum LineEntry {
    First(First),
    Inside(ScopeId),
}

impl Pending {
    /// Returns the number of the next job that may start.
    fn next_job(&self) -> Option<u32> {
        let again = self.again.first().map(|it| it.0);
        again.or_else(|| (!self.queue.is_empty()).then_some(self.jobs))
    }
}

impl StepRun {
    /// Returns `true` if an attempt or an element waits at most for a permit.
    pub(super) fn is_in_line(&self) -> bool {
        self.pending.next_job().is_some() && self.may_go_on(self.active)
    }

    /// Returns `true` if an attempt or an element may start, of this number of calls beyond the bounds.
    pub(super) fn may_go_on(&self, extra: u32) -> bool {
        let may_start = !self.is.ended && self.failed.is_none() && !self.is.stopped;
        may_start
            && !self.is.deferred
            && self.questions.is_empty()
            && self.active < self.amounts.at_once.max(1).saturating_add(extra)
    }
}

impl MachineState {
    /// Queues the run of a step for the next permit, if an attempt or an element may start.
    pub(super) fn line_up_run(&mut self, run: RunId) {
        let it = &mut self.runs[run];
        let Some(job) = it.pending.next_job().filter(|_| it.may_go_on(self.extra)) else {
            return;
        };
        if it.pending.lined_up.is_some_and(|lined_up| lined_up <= job) {
            return;
        }
        it.pending.lined_up = Some(job);
        let place = LinePlace {
            step: it.step,
            job,
            attempt: AttemptId::NONE,
        };
        let scope = it.scope;
        self.line_up(scope, place);
    }

    /// Adds an entry to the line of a scope. If the line was empty, the scope gets an entry in the line of the enclosing scope as well, and so on up
    /// to the plan. The search of `first_in_line` can therefore go down from the plan to this entry. The loop ends at the first line with
    /// entries, because its scope already has an entry in the enclosing line.
    pub(super) fn line_up(&mut self, mut scope: ScopeId, mut place: LinePlace) {
        loop {
            let it = &mut self.scopes[scope];
            let was_empty = it.line.is_empty();
            it.line.insert(place);
            let Some(Owner { run, attempt }) = it.owner.filter(|_| was_empty) else {
                return;
            };
            let it = &self.runs[run];
            place = LinePlace {
                step: it.step,
                job: it.attempts[attempt].job,
                attempt,
            };
            scope = it.scope;
        }
    }

    /// Takes the first out of the line, unless a plain step of the plan itself comes before.
    pub(super) fn next_in_line(&mut self) -> Option<First> {
        let (scope, place, first) = self.first_in_line()?;
        self.leave_line(scope, place);
        Some(first)
    }

    /// Returns the first entry in line with its key, unless a plain step of the plan itself comes before.
    pub(super) fn first_in_line(&mut self) -> Option<(ScopeId, LinePlace, First)> {
        let mut scope = ScopeId::ROOT;
        loop {
            let it = &mut self.scopes[scope];
            let Some(place) = it.line.first().copied() else {
                // The line of this scope is empty, so its entry in the enclosing line is outdated. The outdated entry is the first one in the
                // enclosing line.
                let owner = it.owner?;
                scope = self.runs[owner.run].scope;
                self.scopes[scope].line.pop_first();
                continue;
            };
            let slot = it.slot(place.step);
            let is_before = |plain: StepSlot| scope == ScopeId::ROOT && plain < slot;
            if self.ready.peek().is_some_and(is_before) {
                return None;
            }
            match self.at_place(scope, place) {
                Some(LineEntry::Inside(inner)) => scope = inner,
                Some(LineEntry::First(first)) => return Some((scope, place, first)),
                None => self.leave_line(scope, place),
            }
        }
    }

    /// Removes an entry from a line. A run lines up only its lowest job, so its next job may have to enter the line now.
    fn leave_line(&mut self, scope: ScopeId, place: LinePlace) {
        self.scopes[scope].line.remove(&place);
        if let Some(run) = self.run_of(scope, place.step)
            && place.attempt == AttemptId::NONE
        {
            let it = &mut self.runs[run];
            if it.pending.lined_up == Some(place.job) {
                it.pending.lined_up = None;
            }
            if it.pending.next_job() != Some(place.job) {
                self.line_up_run(run);
            }
        }
    }

    /// Returns the entry of a line, unless the entry is outdated.
    fn at_place(&self, scope: ScopeId, place: LinePlace) -> Option<LineEntry> {
        let it = &self.scopes[scope];
        let slot = it.slot(place.step);
        let hot = self.hot[slot];
        let is_step = place.attempt == AttemptId::NONE;
        if is_step && hot.status() == StepStatus::Waiting {
            let may_start = match it.phase {
                Phase::Work => hot.is_work() && !it.is_stopping,
                Phase::Undo => !hot.is_work() && !hot.is_always(),
                Phase::Always => hot.is_always(),
                Phase::Inputs | Phase::Output | Phase::Over => false,
            };
            return may_start.then_some(LineEntry::First(First::Step(slot)));
        }
        let run = self.run_of(scope, place.step)?;
        let it = &self.runs[run];
        if is_step {
            let may_start = it.may_go_on(self.extra) && it.pending.next_job() == Some(place.job);
            return may_start.then_some(LineEntry::First(First::Run(run)));
        }
        // The scope of an ended attempt may belong to another attempt by now.
        let attempt = place.attempt;
        let inner = it.attempts.get(attempt)?.inside()?;
        let is_own = self.scopes[inner].owner == Some(Owner { run, attempt });
        is_own.then_some(LineEntry::Inside(inner))
    }

    /// Queues an attempt for the next permit.
    pub(super) fn wait_in_line(&mut self, run: RunId, attempt: AttemptId) {
        let it = &mut self.runs[run];
        let tried = &mut it.attempts[attempt];
        tried.activity = Activity::Ready;
        it.pending.again.insert((tried.job, attempt));
        self.line_up_run(run);
    }
}
