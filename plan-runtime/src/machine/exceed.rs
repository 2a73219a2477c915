//! The end of a run that drops everything: the run exceeds its capacity, or the grace period has ended.

use super::engine::{Core, Machine};
use super::event::{QuestionId, StepStatus};
use super::failures::{Cutoff, FailureRole, Failures, Reason, StepFailure};
use super::ids::{CallId, ErrorId, RunId, ScopeId, StepSlot};
use super::parts::{AttemptPhase, Phase, WHOLE};
use super::rows::OpenQuestion;
use super::state::Over;
use std::sync::Arc;

impl Machine {
    /// Ends the run if a part of the run has exceeded the capacity.
    pub(super) fn end_full(&mut self) {
        let state = &mut self.core.state;
        if let Some(at) = state.full.take() {
            let reason = Reason::Full(at.full);
            let view = state.view();
            let failure = view.failure_at(at.slot, at.element, at.attempt, reason);
            self.exceed(failure, Some(at.slot));
        }
    }

    /// Handles an answer that exceeds a limit of the run.
    pub(super) fn answer_exceeds(&mut self, id: QuestionId, error: ErrorId) {
        let state = &self.core.state;
        let Some(asked) = state.questions.get(id) else {
            return;
        };
        let (view, reason) = (state.view(), Reason::Error(error));
        let (run, element, attempts) = match asked {
            OpenQuestion::Inputs(scope) | OpenQuestion::Output(scope) => {
                let failure = StepFailure::new(view.trail_of(scope), reason);
                let owner = state.scopes[scope].owner;
                let slot = owner.map(|it| state.runs[it.run].slot);
                return self.exceed(failure, slot);
            }
            OpenQuestion::Body { run, element, .. } | OpenQuestion::Fallback { run, element } => {
                (run, element, 0)
            }
            OpenQuestion::Again { run, attempt } => {
                let tried = &state.runs[run].attempts[attempt];
                (run, tried.element, tried.number)
            }
            OpenQuestion::Amounts(run) => (run, WHOLE, 0),
        };
        let slot = state.runs[run].slot;
        let failure = view.failure_at(slot, element, attempts, reason);
        self.exceed(failure, Some(slot));
    }

    /// Handles a result of a call or a wait that exceeds a limit of the run.
    pub(super) fn call_exceeds(&mut self, call: CallId, error: ErrorId) {
        let (slot, element, attempts) = if call.is_plain() {
            let state = &mut self.core.state;
            let slot = StepSlot(call.0);
            if !state.hot[slot].is_running() {
                return;
            }
            state.hot[slot].set(StepStatus::Failed);
            state.calling -= 1;
            (slot, WHOLE, 1)
        } else {
            let Some((row, begun)) = self.close_call(call) else {
                return;
            };
            let it = &self.core.state.runs[row.run];
            (it.slot, it.attempts[row.attempt].element, begun)
        };
        let view = self.core.state.view();
        let failure = view.failure_at(slot, element, attempts, Reason::Error(error));
        self.exceed(failure, Some(slot));
    }

    /// Ends the run: the calls are dropped, and nothing is undone. The failure has the duty of the outermost step around it.
    fn exceed(&mut self, mut failure: StepFailure, slot: Option<StepSlot>) {
        let Core { state, todo, .. } = &mut self.core;
        let mut around = slot;
        while let Some(slot) = around {
            let hot = state.hot[slot];
            if hot.is_always() {
                failure.role = FailureRole::Always;
            } else if !hot.is_work() {
                failure.role = FailureRole::Undo;
            }
            let owner = state.scopes[hot.scope()].owner;
            around = owner.map(|it| state.runs[it.run].slot);
        }
        let root = &mut state.scopes[ScopeId::ROOT];
        root.cutoff = root.cutoff.or(Some(Cutoff::Full));
        root.left.add(Failures::of(failure));
        todo.clear();
        self.drop_scope(ScopeId::ROOT);
        if let Some(slot) = slot {
            self.core.state.hot[slot].set(StepStatus::Failed);
        }
    }

    /// Ends a scope without its undo and always steps.
    pub(super) fn drop_scope(&mut self, scope: ScopeId) {
        let it = &self.core.state.scopes[scope];
        if it.phase == Phase::Over {
            return;
        }
        let row = it.row;
        for number in 0..it.runs.len() {
            if let Some(run) = self.core.state.scopes[scope].runs[number] {
                self.drop_run(run);
            }
        }
        let state = &mut self.core.state;
        let tables = Arc::clone(&state.tables);
        for step in tables.rows[row].steps() {
            let slot = state.scopes[scope].slot(step);
            let hot = &mut state.hot[slot];
            if hot.is_plain_in_root() && hot.is_ready() {
                state.ready.remove(slot);
            } else if hot.is_running() && hot.is_plain() {
                state.drop_plain(slot);
            } else if hot.is_running() {
                hot.set(StepStatus::Cancelled);
            }
        }
        state.drop_question(scope);
        state.find_blockers(scope);
        let it = &mut state.scopes[scope];
        it.has_failed |= matches!(it.phase, Phase::Inputs | Phase::Work | Phase::Output);
        it.phase = Phase::Over;
        if it.owner.is_none() && self.core.over == Over::No {
            self.core.over = Over::Yes;
        }
    }

    /// Ends a step with everything inside it, and without undo steps.
    fn drop_run(&mut self, run: RunId) {
        let state = &mut self.core.state;
        state.unlimit_loop(run);
        state.drop_questions(run, |_| true);
        let it = &mut state.runs[run];
        it.pending.queue.clear();
        it.is.ended = true;
        for attempt in it.attempts.in_order() {
            let tried = &self.core.state.runs[run].attempts[attempt];
            match (tried.inside(), tried.phase) {
                (Some(scope), AttemptPhase::Runs | AttemptPhase::Undoing) => {
                    self.drop_scope(scope);
                    let left = self.core.state.view().undoing(scope).of_undo_steps();
                    let it = &mut self.core.state.runs[run];
                    it.left.add(left);
                    it.attempts[attempt].phase = AttemptPhase::Over;
                    self.core.state.drop_timers(run, attempt);
                }
                (_, AttemptPhase::Runs) => self.core.state.end_attempt(run, attempt),
                _ => {}
            }
        }
    }
}
