//! Scopes: their work, their undo steps and their always steps.

use super::core::{Core, Over, Reaction, Todo, Turn};
use super::event::{CallError, Command};
use super::failures::{Cutoff, FailureRole, Failures, Full, Reason, StepFailure};
use super::ids::{AttemptId, CallId, RowId, ScopeId, StepId, StepSlot};
use super::lookup::Lookup;
use super::rows::OpenQuestion;
use super::state::{LinePlace, Owner, Phase};
use super::tables::StepBody;
use super::word::StepStatus;
use std::sync::Arc;

impl Core {
    /// Begins a scope: the run, a block, an element, a round or a called plan.
    pub(super) fn begin_scope(
        &mut self,
        row: RowId,
        owner: Option<Owner>,
    ) -> Result<ScopeId, Full> {
        let around = owner.map(|owner| (owner, self.dispatcher.runs[owner.run].scope));
        let scope = self.arena.open(row, around, &self.settings.capacity)?;
        if self.arena.tables.rows[row].has_inputs {
            let it = &mut self.arena.scopes[scope];
            it.phase = Phase::Inputs;
            let asked = OpenQuestion::Inputs(scope);
            self.dispatcher.ask_scope(&self.arena.tables, it, asked);
        } else {
            self.begin_work(scope);
        }
        Ok(scope)
    }

    /// The driver has made the inputs of a scope, or has failed to.
    pub(super) fn inputs_made(&mut self, scope: ScopeId, result: Result<u32, CallError>) {
        let it = &mut self.arena.scopes[scope];
        let (Err(error), Some(Owner { run, attempt })) = (result, it.owner) else {
            return self.begin_work(scope);
        };
        it.phase = Phase::Over;
        let tried = &self.dispatcher.runs[run].attempts[attempt];
        let (element, number) = (tried.element, tried.number);
        let failure = Lookup(self).failure(run, element, number, Reason::Error(error.error));
        self.attempt_ended(run, attempt, Err(Failures::of(error.mark(failure))));
    }

    /// The driver has made the value of a scope, or has failed to.
    pub(super) fn output_made(&mut self, scope: ScopeId, error: Option<CallError>) {
        let Some(error) = error else {
            return self.begin_always(scope);
        };
        let failure = StepFailure::new(Lookup(self).trail_of(scope), Reason::Error(error.error));
        let failure = error.mark(failure);
        let it = &mut self.arena.scopes[scope];
        it.has_failed = true;
        it.left.add(Failures::of(failure));
        self.begin_undo(scope);
    }

    /// Has a step start as soon as there is a permit. A wait for a value needs no permit.
    pub(super) fn make_ready(&mut self, slot: StepSlot) {
        let hot = self.arena.hot[slot.index()];
        if hot.is_plain_in_root() {
            return self.arena.ready.insert(slot);
        }
        let scope = hot.scope();
        let it = &self.arena.scopes[scope];
        let step = it.step(slot);
        let cold = self.arena.tables.cold_of(it.row, step);
        let body = cold.map(|cold| self.arena.tables.bodies[self.arena.tables.colds[cold].body]);
        if body == Some(StepBody::Await) {
            return self.start_run(slot, Turn::InLine);
        }
        let place = LinePlace {
            step,
            job: 0,
            attempt: AttemptId::NONE,
        };
        self.arena.line_up(&self.dispatcher.runs, scope, place);
    }

    pub(super) fn begin_work(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.arena.scopes[scope];
        it.phase = Phase::Work;
        let roots = tables.roots(it.row);
        it.open = roots.len() as u32;
        if roots.is_empty() {
            self.todo.push_back(Todo::Scope(scope));
        }
        for step in roots {
            let slot = self.arena.scopes[scope].slot(*step);
            self.make_ready(slot);
        }
    }

    /// Ends a step.
    pub(super) fn finish_step(
        &mut self,
        scope: ScopeId,
        slot: StepSlot,
        status: StepStatus,
        failures: Option<Failures>,
    ) {
        let tables = Arc::clone(&self.arena.tables);
        let hot = &mut self.arena.hot[slot.index()];
        hot.set(status);
        let (is_work, is_always) = (hot.is_work(), hot.is_always());
        // A plain call that has succeeded comes from the driver.
        if self.settings.tells && !(hot.is_plain() && status == StepStatus::Completed) {
            let settled = Command::Settled(scope, slot, status);
            self.dispatcher.out.push_back(settled);
        }
        let it = &mut self.arena.scopes[scope];
        let (row, step) = (it.row, it.step(slot));
        if let Some(mut failures) = failures {
            if !is_work {
                let duty = if is_always {
                    FailureRole::Always
                } else {
                    FailureRole::Undo
                };
                let mut failed = failures.steps.iter_mut();
                let own = failed.by_ref().filter(|it| it.role != FailureRole::Left);
                own.for_each(|it| it.role = duty);
            }
            it.failures.insert(step, failures);
        }
        if !is_work && !is_always {
            let cold = tables.cold_of(row, step);
            let undone = cold.and_then(|cold| tables.colds[cold].undoes);
            return self.undo_inside(scope, undone.expect("an undo step undoes a step"));
        }
        let frees_readers = match status {
            _ if is_always => true,
            StepStatus::Failed => {
                self.work_failed(scope, step);
                false
            }
            StepStatus::Cancelled => false,
            _ => !it.stops_work(),
        };
        if frees_readers {
            for reader in tables.readers(step) {
                let it = &mut self.arena.scopes[scope];
                let slot = it.slot(*reader);
                let hot = &mut self.arena.hot[slot.index()];
                hot.waiting -= 1;
                if hot.waiting == 0 {
                    it.open += u32::from(is_work);
                    self.make_ready(slot);
                }
            }
        }
        self.arena.scopes[scope].open -= 1;
        self.todo.push_back(Todo::Scope(scope));
    }

    fn work_failed(&mut self, scope: ScopeId, by: StepId) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.arena.scopes[scope];
        it.has_failed = true;
        // The first failed step in the plan blocks a step that needs several failed steps.
        let mut open = vec![by];
        while let Some(step) = open.pop() {
            for &reader in tables.readers(step) {
                let hot = &mut self.arena.hot[it.slot(reader).index()];
                match hot.status() {
                    StepStatus::Waiting => {
                        hot.set(StepStatus::Blocked);
                        if self.settings.tells {
                            let (slot, status) = (it.slot(reader), StepStatus::Blocked);
                            let settled = Command::Settled(scope, slot, status);
                            self.dispatcher.out.push_back(settled);
                        }
                    }
                    StepStatus::Blocked if by < it.blocked[&reader] => {}
                    _ => continue,
                }
                it.blocked.insert(reader, by);
                open.push(reader);
            }
        }
        if self.settings.reaction != Reaction::Continue {
            self.stop_work(scope);
        }
        if self.settings.reaction == Reaction::Cancel {
            self.drop_work(scope, Cutoff::Beside);
        }
    }

    /// Starts nothing more of the work: waits end, and no attempt follows another.
    fn stop_work(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.arena.scopes[scope];
        if std::mem::replace(&mut it.is_stopping, true) {
            return;
        }
        for step in tables.rows[it.row].steps() {
            let slot = it.slot(step);
            let hot = self.arena.hot[slot.index()];
            if hot.is_work() && hot.is_ready() {
                it.open -= 1;
                if hot.is_plain_in_root() {
                    self.arena.ready.remove(slot);
                }
            }
        }
        for number in 0..self.arena.scopes[scope].runs.len() {
            if let Some(run) = self.arena.scopes[scope].runs[number] {
                self.stop_run(run);
            }
        }
    }

    /// Drops the calls of the work, except those whose ends are certain.
    fn drop_work(&mut self, scope: ScopeId, cutoff: Cutoff) {
        let tables = Arc::clone(&self.arena.tables);
        let row = self.arena.scopes[scope].row;
        let is_doomed = self.arena.scopes[scope].cutoff.is_some();
        for step in tables.rows[row].steps() {
            let slot = self.arena.scopes[scope].slot(step);
            let hot = &mut self.arena.hot[slot.index()];
            if !hot.is_running() || !hot.is_work() {
                continue;
            }
            if hot.is_plain() {
                if self.dispatcher.certain.contains(&CallId(slot.0)) {
                    continue;
                }
                hot.set(StepStatus::Cancelled);
                let it = &mut self.arena.scopes[scope];
                it.open -= 1;
                self.dispatcher.calling -= 1;
                self.dispatcher.drop_call(CallId(slot.0));
            } else if let Some(run) = self.arena.run_of(scope, step) {
                self.cut_run(run, cutoff, is_doomed);
            }
        }
        self.todo.push_back(Todo::Scope(scope));
    }

    /// Ends a scope before its time. If the work has ended, that changes nothing.
    pub(super) fn cut_scope(&mut self, scope: ScopeId, cutoff: Cutoff) {
        let it = &mut self.arena.scopes[scope];
        if it.phase == Phase::Inputs {
            // Nothing in the scope has begun, so no always step runs.
            it.phase = Phase::Over;
            it.has_failed = true;
            it.cutoff = Some(cutoff);
            self.dispatcher
                .questions
                .close_where(&mut it.questions, |_| true);
            return self.todo.push_back(Todo::Over(scope));
        }
        if it.phase == Phase::Output {
            it.phase = Phase::Work;
            self.dispatcher
                .questions
                .close_where(&mut it.questions, |_| true);
        }
        if it.phase == Phase::Work {
            it.cutoff = it.cutoff.or(Some(cutoff));
            self.stop_work(scope);
            self.drop_work(scope, cutoff);
        }
    }

    /// Begins the next phase of a scope, if the phase has ended.
    pub(super) fn settle_scope(&mut self, scope: ScopeId) {
        let it = &mut self.arena.scopes[scope];
        if it.open != 0 {
            return;
        }
        match it.phase {
            Phase::Work => {
                it.has_failed |= it.cutoff.is_some();
                if it.has_failed {
                    self.begin_undo(scope);
                } else if self.arena.tables.rows[it.row].has_output {
                    it.phase = Phase::Output;
                    let asked = OpenQuestion::Output(scope);
                    self.dispatcher.ask_scope(&self.arena.tables, it, asked);
                } else {
                    self.begin_always(scope);
                }
            }
            Phase::Undo if !it.is_undone => self.begin_always(scope),
            Phase::Undo | Phase::Always => {
                it.phase = Phase::Over;
                self.todo.push_back(Todo::Over(scope));
            }
            Phase::Inputs | Phase::Output | Phase::Over => {}
        }
    }

    pub(super) fn begin_always(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.arena.scopes[scope];
        it.phase = Phase::Always;
        let row = &tables.rows[it.row];
        it.open = row.always;
        if row.always > 0 {
            for step in row.steps() {
                let slot = it.slot(step);
                if self.arena.hot[slot.index()].is_always() && tables.needs(step).is_empty() {
                    self.todo.push_back(Todo::Start(slot));
                }
            }
        }
        self.todo.push_back(Todo::Scope(scope));
    }

    pub(super) fn scope_over(&mut self, scope: ScopeId) {
        let it = &self.arena.scopes[scope];
        let Some(Owner { run, attempt }) = it.owner else {
            if self.over == Over::No {
                self.over = Over::Yes;
            }
            return;
        };
        let tells = self.settings.tells_scopes;
        if tells {
            self.dispatcher.out.push_back(Command::Over(scope));
        }
        if self.arena.scopes[scope].is_undone {
            self.undone_inside(run, attempt);
        } else {
            let result = Lookup(self).result(scope);
            if tells {
                let ended = result.as_ref().err().cloned();
                self.arena.scopes[scope].ended = ended.map(Box::new);
            }
            self.attempt_ended(run, attempt, result);
        }
    }

    /// Begins to undo a scope: each step after all steps that need it. So steps count their readers that are not undone.
    pub(super) fn begin_undo(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.arena.tables);
        let it = &mut self.arena.scopes[scope];
        it.phase = Phase::Undo;
        if self.settings.tells && !it.is_undone {
            self.dispatcher.out.push_back(Command::Unwinding(scope));
        }
        let row = &tables.rows[it.row];
        self.todo.push_back(Todo::Scope(scope));
        if !row.can_undo {
            return;
        }
        it.open = row.work;
        it.not_undone = row
            .steps()
            .map(|step| tables.readers(step).len() as u32)
            .collect();
        for step in row.steps() {
            if self.arena.hot[it.slot(step).index()].is_work() && tables.readers(step).is_empty() {
                self.todo.push_back(Todo::Undo(scope, step));
            }
        }
    }

    pub(super) fn undo_step(&mut self, scope: ScopeId, step: StepId) {
        let it = &self.arena.scopes[scope];
        if it.phase != Phase::Undo {
            return;
        }
        if let Some(undo) = self.arena.tables.undo_of(it.row, step)
            && self.arena.hot[it.slot(step).index()].status() == StepStatus::Completed
        {
            let slot = it.slot(undo);
            return self.make_ready(slot);
        }
        self.undo_inside(scope, step);
    }

    /// Undoes the scopes in a step, after the step's own undo step.
    pub(super) fn undo_inside(&mut self, scope: ScopeId, step: StepId) {
        if let Some(run) = self.arena.run_of(scope, step)
            && !self.undo_run(run)
        {
            return;
        }
        let it = &mut self.arena.scopes[scope];
        it.open -= 1;
        let first = self.arena.tables.rows[it.row].first;
        for &need in self.arena.tables.needs(step) {
            let left = &mut it.not_undone[(need.0 - first) as usize];
            *left -= 1;
            if *left == 0 {
                self.todo.push_back(Todo::Undo(scope, need));
            }
        }
        self.todo.push_back(Todo::Scope(scope));
    }
}
