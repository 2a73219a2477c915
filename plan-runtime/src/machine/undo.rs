//! The undo of a scope: its steps, and the scopes inside that have succeeded.

use super::attempt::{Activity, AttemptPhase};
use super::core::{Core, Todo};
use super::event::Command;
use super::ids::{AttemptId, RunId, ScopeId, StepId};
use super::lookup::Lookup;
use super::state::Phase;
use super::word::StepStatus;
use std::sync::Arc;

impl Core {
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

    /// Undoes the kept scopes of a step: elements at the same time, rounds from the last to the first. Returns whether none is left.
    pub(super) fn undo_run(&mut self, run: RunId) -> bool {
        let tables = Arc::clone(&self.arena.tables);
        loop {
            let it = &mut self.dispatcher.runs[run];
            let Some(at) = it.kept.last() else {
                break;
            };
            let tried = &mut it.attempts[*at];
            let most = if tables.is_loop(tried.body) {
                1
            } else {
                it.amounts.at_once.max(1)
            };
            if it.running >= most {
                break;
            }
            it.kept.pop();
            if let Activity::Scope(scope) = tried.activity {
                it.running += 1;
                tried.phase = AttemptPhase::IsUndone;
                self.arena.scopes[scope].is_undone = true;
                self.begin_undo(scope);
            }
        }
        self.dispatcher.runs[run].running == 0
    }

    /// A kept scope is undone, as far as its undo steps have succeeded.
    pub(super) fn undone_inside(&mut self, run: RunId, attempt: AttemptId) {
        let tried = &self.dispatcher.runs[run].attempts[attempt];
        let (Activity::Scope(inner), AttemptPhase::IsUndone) = (&tried.activity, tried.phase)
        else {
            return;
        };
        let inner = *inner;
        let left = Lookup(self).undoing(inner).of_undo_steps();
        let it = &mut self.dispatcher.runs[run];
        it.attempts[attempt].phase = AttemptPhase::Over;
        it.running -= 1;
        it.left.add(left);
        let (scope, step, has_ended) = (it.scope, it.step, it.is.ended);
        self.arena.release(&self.dispatcher.runs, inner);
        if has_ended {
            self.undo_inside(scope, step);
        } else {
            self.todo.push_back(Todo::Run(run));
        }
    }
}
