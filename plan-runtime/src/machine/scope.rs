//! Scopes: their work, their undo steps and their always steps.

use super::engine::Core;
use super::event::{CallError, Command, StepStatus};
use super::failures::{Cutoff, FailureRole, Failures, Full, Reason, StepFailure};
use super::ids::{AttemptId, CallId, RowId, ScopeId, StepId, StepSlot};
use super::parts::{LinePlace, Owner, Phase};
use super::rows::OpenQuestion;
use super::state::{Over, Reaction, Todo, Turn};
use super::tables::StepBody;
use std::sync::Arc;

impl Core {
    /// Begins a scope: the run, a block, a round or a called plan.
    pub(super) fn begin_scope(
        &mut self,
        row: RowId,
        owner: Option<Owner>,
    ) -> Result<ScopeId, Full> {
        let around = owner.map(|owner| (owner, self.state.runs[owner.run].scope));
        let scope = self.state.open_scope(row, around)?;
        if self.state.tables.rows[row].has_inputs {
            self.state.scopes[scope].phase = Phase::Inputs;
            self.state.ask(OpenQuestion::Inputs(scope));
        } else {
            self.begin_work(scope);
        }
        Ok(scope)
    }

    /// Handles the inputs or the value of a scope, or the failure of the driver to make them. Without its inputs, the scope ends.
    pub(super) fn value_made(&mut self, scope: ScopeId, error: Option<CallError>) {
        let has_begun = self.state.scopes[scope].phase != Phase::Inputs;
        let Some(error) = error else {
            if has_begun {
                self.begin_always(scope);
            } else {
                self.begin_work(scope);
            }
            return;
        };
        let trail = self.state.view().trail_of(scope);
        let failure = StepFailure::new(trail, Reason::Error(error.error)).by(error);
        let it = &mut self.state.scopes[scope];
        it.has_failed = true;
        it.left.add(Failures::of(failure));
        if has_begun {
            self.begin_undo(scope);
        } else {
            it.phase = Phase::Over;
            self.todo.push_back(Todo::Over(scope));
        }
    }

    /// Queues a step for the next permit. A wait for a value needs no permit.
    pub(super) fn make_ready(&mut self, slot: StepSlot) {
        let hot = self.state.hot[slot];
        if hot.is_plain_in_root() {
            return self.state.ready.insert(slot);
        }
        let scope = hot.scope();
        let it = &self.state.scopes[scope];
        let step = it.step(slot);
        let cold = self.state.tables.cold_of(it.row, step);
        let body = cold.map(|cold| self.state.tables.bodies[self.state.tables.colds[cold].body]);
        if body == Some(StepBody::Await) {
            return self.start_run(slot, Turn::InLine);
        }
        let place = LinePlace {
            step,
            job: 0,
            attempt: AttemptId::NONE,
        };
        self.state.line_up(scope, place);
    }

    /// Starts the work with the steps without dependencies. If the scope has no work, no step ends, so the end of the phase needs a [`Todo`] of its
    /// own.
    pub(super) fn begin_work(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.state.tables);
        let it = &mut self.state.scopes[scope];
        it.phase = Phase::Work;
        let roots = tables.roots(it.row);
        it.open = roots.len() as u32;
        if roots.is_empty() {
            self.todo.push_back(Todo::Scope(scope));
        }
        for step in roots {
            let slot = self.state.scopes[scope].slot(*step);
            self.make_ready(slot);
        }
    }

    /// Tells the driver the end of a step or of the work of a scope, if the driver listens.
    fn tell(&mut self, command: Command) {
        if self.tells {
            self.state.out.push_back(command);
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
        let tables = Arc::clone(&self.state.tables);
        let hot = &mut self.state.hot[slot];
        hot.set(status);
        let (is_work, is_always) = (hot.is_work(), hot.is_always());
        // The driver already has the success of a plain call.
        if !(hot.is_plain() && status == StepStatus::Completed) {
            self.tell(Command::Settled(scope, slot, status));
        }
        let it = &mut self.state.scopes[scope];
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
                let it = &mut self.state.scopes[scope];
                let slot = it.slot(*reader);
                let hot = &mut self.state.hot[slot];
                hot.waiting -= 1;
                if hot.waiting == 0 {
                    it.open += u32::from(is_work);
                    self.make_ready(slot);
                }
            }
        }
        self.state.scopes[scope].open -= 1;
        self.todo.push_back(Todo::Scope(scope));
    }

    /// Blocks all steps that need a failed step, directly or through other steps. Only the first failure stops the scope.
    fn work_failed(&mut self, scope: ScopeId, by: StepId) {
        let tables = Arc::clone(&self.state.tables);
        self.state.scopes[scope].has_failed = true;
        let mut open = vec![by];
        while let Some(step) = open.pop() {
            for &reader in tables.readers(step) {
                let it = &mut self.state.scopes[scope];
                let slot = it.slot(reader);
                let hot = &mut self.state.hot[slot];
                if hot.status() != StepStatus::Waiting {
                    continue;
                }
                hot.set(StepStatus::Blocked);
                it.blocked.insert(reader, by);
                open.push(reader);
                self.tell(Command::Settled(scope, slot, StepStatus::Blocked));
            }
        }
        let is_first = self.reaction != Reaction::Continue && self.stop_work(scope);
        if is_first && self.reaction == Reaction::Cancel {
            self.cut_work(scope, Cutoff::Beside);
        }
    }

    /// Stops the work: no step starts, waits end, and no attempt follows another. Returns `false` if the scope has
    /// stopped before.
    fn stop_work(&mut self, scope: ScopeId) -> bool {
        let tables = Arc::clone(&self.state.tables);
        let it = &mut self.state.scopes[scope];
        if std::mem::replace(&mut it.is_stopping, true) {
            return false;
        }
        for step in tables.rows[it.row].steps() {
            let slot = it.slot(step);
            let hot = self.state.hot[slot];
            if hot.is_work() && hot.is_ready() {
                it.open -= 1;
                if hot.is_plain_in_root() {
                    self.state.ready.remove(slot);
                }
            }
        }
        for number in 0..self.state.scopes[scope].runs.len() {
            if let Some(run) = self.state.scopes[scope].runs[number] {
                self.stop_run(run);
            }
        }
        true
    }

    /// Drops the calls of the work, except calls with certain ends.
    fn cut_work(&mut self, scope: ScopeId, cutoff: Cutoff) {
        let tables = Arc::clone(&self.state.tables);
        let row = self.state.scopes[scope].row;
        for step in tables.rows[row].steps() {
            let slot = self.state.scopes[scope].slot(step);
            let hot = &mut self.state.hot[slot];
            if !hot.is_running() || !hot.is_work() {
                continue;
            }
            if hot.is_plain() {
                if self.state.certain.contains(&CallId(slot.0)) {
                    continue;
                }
                self.state.drop_plain(slot);
                self.state.scopes[scope].open -= 1;
            } else if let Some(run) = self.state.run_of(scope, step) {
                self.cut_run(run, cutoff);
            }
        }
        self.todo.push_back(Todo::Scope(scope));
    }

    /// Ends a scope before its time. This method has no effect once the scope runs its undo steps or always steps.
    pub(super) fn cut_scope(&mut self, scope: ScopeId, cutoff: Cutoff) {
        let it = &mut self.state.scopes[scope];
        if it.phase == Phase::Inputs {
            // Nothing in the scope has begun, so no always step runs.
            it.phase = Phase::Over;
            it.has_failed = true;
            it.cutoff = Some(cutoff);
            self.state.drop_question(scope);
            return self.todo.push_back(Todo::Over(scope));
        }
        if it.phase == Phase::Output {
            it.phase = Phase::Work;
            self.state.drop_question(scope);
        }
        let it = &mut self.state.scopes[scope];
        if it.phase == Phase::Work {
            it.cutoff = it.cutoff.or(Some(cutoff));
            self.stop_work(scope);
            self.cut_work(scope, cutoff);
        }
    }

    /// Begins the next phase of a scope, if its current phase has ended.
    pub(super) fn settle_scope(&mut self, scope: ScopeId) {
        let it = &mut self.state.scopes[scope];
        if it.open != 0 {
            return;
        }
        match it.phase {
            Phase::Work => {
                it.has_failed |= it.cutoff.is_some();
                if it.has_failed {
                    self.begin_undo(scope);
                } else if self.state.tables.rows[it.row].has_output {
                    it.phase = Phase::Output;
                    self.state.ask(OpenQuestion::Output(scope));
                } else {
                    self.begin_always(scope);
                }
            }
            Phase::Undo if !it.is_reopened => self.begin_always(scope),
            Phase::Undo | Phase::Always => {
                it.phase = Phase::Over;
                self.todo.push_back(Todo::Over(scope));
            }
            Phase::Inputs | Phase::Output | Phase::Over => {}
        }
    }

    /// Starts the always steps without dependencies. The [`Todo`] for the scope ends the phase of a scope without always steps.
    pub(super) fn begin_always(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.state.tables);
        let it = &mut self.state.scopes[scope];
        it.phase = Phase::Always;
        let row = &tables.rows[it.row];
        it.open = row.always;
        if row.always > 0 {
            for step in row.steps() {
                let slot = it.slot(step);
                if self.state.hot[slot].is_always() && tables.needs(step).is_empty() {
                    self.todo.push_back(Todo::Start(slot));
                }
            }
        }
        self.todo.push_back(Todo::Scope(scope));
    }

    /// Passes the end of a scope to the attempt that has opened the scope, or ends the run.
    pub(super) fn scope_over(&mut self, scope: ScopeId) {
        let it = &self.state.scopes[scope];
        let Some(Owner { run, attempt }) = it.owner else {
            if self.over == Over::No {
                self.over = Over::Yes;
            }
            return;
        };
        if self.tells_scopes {
            self.state.out.push_back(Command::Over(scope));
        }
        if self.state.scopes[scope].is_reopened {
            self.undone_inside(run, attempt);
        } else {
            let result = self.state.view().result_of(scope);
            if self.tells_scopes {
                let ended = result.as_ref().err().cloned();
                self.state.scopes[scope].ended = ended.map(Box::new);
            }
            self.attempt_ended(run, attempt, result);
        }
    }

    /// Begins to undo a scope. A step is undone after all steps that need it, so `not_undone` counts the readers of each step that are not undone
    /// yet.
    pub(super) fn begin_undo(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.state.tables);
        let it = &mut self.state.scopes[scope];
        it.phase = Phase::Undo;
        let row = &tables.rows[it.row];
        if !it.is_reopened {
            self.state.find_blockers(scope);
            self.tell(Command::Unwinding(scope));
        }
        self.todo.push_back(Todo::Scope(scope));
        if !row.can_undo {
            return;
        }
        let it = &mut self.state.scopes[scope];
        it.open = row.work;
        it.not_undone = row
            .steps()
            .map(|step| tables.readers(step).len() as u32)
            .collect();
        for step in row.steps() {
            if self.state.hot[it.slot(step)].is_work() && tables.readers(step).is_empty() {
                self.todo.push_back(Todo::Undo(scope, step));
            }
        }
    }

    /// Starts the undo step of a completed step. A step without an undo step, or that has not completed, is undone at once.
    pub(super) fn undo_step(&mut self, scope: ScopeId, step: StepId) {
        let it = &self.state.scopes[scope];
        debug_assert_eq!(it.phase, Phase::Undo);
        if let Some(undo) = self.state.tables.undo_of(it.row, step)
            && self.state.hot[it.slot(step)].status() == StepStatus::Completed
        {
            let slot = it.slot(undo);
            return self.make_ready(slot);
        }
        self.undo_inside(scope, step);
    }

    /// Undoes the scopes in a step, after the step's own undo step.
    pub(super) fn undo_inside(&mut self, scope: ScopeId, step: StepId) {
        if let Some(run) = self.state.run_of(scope, step)
            && !self.undo_run(run)
        {
            return;
        }
        let it = &mut self.state.scopes[scope];
        it.open -= 1;
        let first = self.state.tables.rows[it.row].first;
        for &need in self.state.tables.needs(step) {
            let left = &mut it.not_undone[(need.0 - first) as usize];
            *left -= 1;
            if *left == 0 {
                self.todo.push_back(Todo::Undo(scope, need));
            }
        }
        self.todo.push_back(Todo::Scope(scope));
    }
}
