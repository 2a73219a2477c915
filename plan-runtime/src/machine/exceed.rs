//! The end of a run that drops everything: the run needs more than it may have, or the time for undo and always steps is over.

use super::engine::Machine;
use super::event::QuestionId;
use super::failures::{Cutoff, FailureRole, Failures, Reason, StepFailure};
use super::ids::{CallId, ErrorId, RunId, ScopeId, StepSlot};
use super::parts::{AttemptPhase, Phase, StepStatus, WHOLE};
use super::rows::{COLD_CALLS, OpenQuestion};
use super::state::{Over, Overflow};
use std::sync::Arc;

impl Machine {
    /// Ends the run if a part of the run is too much.
    pub(super) fn end_full(&mut self) {
        let core = &mut self.core;
        let Some(Overflow {
            full,
            slot,
            element,
            attempt,
        }) = core.state.full.take()
        else {
            return;
        };
        let scope = core.state.hot[slot].scope();
        let step = core.state.scopes[scope].step(slot);
        let (view, reason) = (core.state.view(), Reason::Full(full));
        let failure = match core.state.run_of(scope, step) {
            Some(run) => view.failure_in(run, element, attempt, reason),
            None => StepFailure {
                attempts: attempt,
                ..StepFailure::new(view.trail(scope, step), reason)
            },
        };
        self.exceed(failure, Some(slot));
    }

    /// The driver has made something for a question that is too much.
    pub(super) fn answer_exceeds(&mut self, id: QuestionId, error: ErrorId) {
        let core = &self.core;
        let Some(asked) = core.state.questions.get(id) else {
            return;
        };
        let (view, reason) = (core.state.view(), Reason::Error(error));
        let slot = |run: RunId| Some(core.state.runs[run].slot);
        let (failure, slot) = match asked {
            OpenQuestion::Inputs(scope) | OpenQuestion::Output(scope) => {
                let owner = core.state.scopes[scope].owner;
                let failure = StepFailure::new(view.trail_of(scope), reason);
                (failure, owner.and_then(|it| slot(it.run)))
            }
            OpenQuestion::Body { run, element, .. } | OpenQuestion::Fallback { run, element } => {
                (view.failure_in(run, element, 0, reason), slot(run))
            }
            OpenQuestion::Again { run, attempt } => {
                let tried = &core.state.runs[run].attempts[attempt];
                (
                    view.failure_in(run, tried.element, tried.number, reason),
                    slot(run),
                )
            }
            OpenQuestion::Amounts(run) => (view.failure_in(run, WHOLE, 0, reason), slot(run)),
        };
        self.exceed(failure, slot);
    }

    /// The driver has a result of a call or a wait that is too much.
    pub(super) fn call_exceeds(&mut self, call: CallId, error: ErrorId) {
        let reason = Reason::Error(error);
        let (failure, slot) = if call.0 < COLD_CALLS {
            let core = &mut self.core;
            let slot = StepSlot(call.0);
            let hot = &mut core.state.hot[slot];
            if !hot.is_running() {
                return;
            }
            hot.set(StepStatus::Failed);
            let scope = hot.scope();
            core.state.calling -= 1;
            let trail = core
                .state
                .view()
                .trail(scope, core.state.scopes[scope].step(slot));
            (StepFailure::new(trail, reason), slot)
        } else {
            let Some((row, begun)) = self.close_call(call) else {
                return;
            };
            let it = &self.core.state.runs[row.run];
            let tried = &it.attempts[row.attempt];
            let view = self.core.state.view();
            let failure = view.failure_in(row.run, tried.element, begun, reason);
            (failure, it.slot)
        };
        self.exceed(failure, Some(slot));
    }

    /// Ends the run: the calls are dropped, and nothing is undone. The failure has the duty of the outermost step around it.
    fn exceed(&mut self, mut failure: StepFailure, slot: Option<StepSlot>) {
        let core = &mut self.core;
        let mut around = slot;
        while let Some(slot) = around {
            let hot = core.state.hot[slot];
            if hot.is_always() {
                failure.role = FailureRole::Always;
            } else if !hot.is_work() {
                failure.role = FailureRole::Undo;
            }
            let owner = core.state.scopes[hot.scope()].owner;
            around = owner.map(|it| core.state.runs[it.run].slot);
        }
        core.is_stopped = true;
        let root = &mut core.state.scopes[ScopeId::ROOT];
        root.cutoff = root.cutoff.or(Some(Cutoff::Full));
        root.left.add(Failures::of(failure));
        core.todo.clear();
        self.drop_scope(ScopeId::ROOT);
        if let Some(slot) = slot {
            self.core.state.hot[slot].set(StepStatus::Failed);
        }
    }

    /// Ends a scope without its undo and always steps.
    pub(super) fn drop_scope(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.core.state.tables);
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
        for step in tables.rows[row].steps() {
            let slot = self.core.state.scopes[scope].slot(step);
            let hot = &mut self.core.state.hot[slot];
            if hot.is_plain_in_root() && hot.is_ready() {
                self.core.state.ready.remove(slot);
            } else if hot.is_running() {
                hot.set(StepStatus::Cancelled);
                if hot.is_plain() {
                    self.core.state.calling -= 1;
                    self.core.state.drop_call(CallId(slot.0));
                }
            }
        }
        self.core.state.drop_question(scope);
        let it = &mut self.core.state.scopes[scope];
        it.has_failed |= matches!(it.phase, Phase::Inputs | Phase::Work | Phase::Output);
        it.phase = Phase::Over;
        if it.owner.is_none() && self.core.over == Over::No {
            self.core.over = Over::Yes;
        }
    }

    /// Ends a step with everything inside it, and without undo steps.
    fn drop_run(&mut self, run: RunId) {
        self.core.state.unlimit_loop(run);
        self.core.state.drop_questions(run, |_| true);
        let it = &mut self.core.state.runs[run];
        it.pending.queue.clear();
        it.is.ended = true;
        for attempt in it.attempts.in_order() {
            let tried = &self.core.state.runs[run].attempts[attempt];
            match (tried.inside(), tried.phase) {
                (Some(scope), AttemptPhase::Runs | AttemptPhase::IsUndone) => {
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
