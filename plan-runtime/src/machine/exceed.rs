//! The end of a run that drops everything: the run needs more than it may have, or the time for undo and always steps is over.

use super::attempt::{Activity, AttemptPhase};
use super::capacity::Overflow;
use super::core::Over;
use super::dispatcher::Dispatcher;
use super::engine::Machine;
use super::event::QuestionId;
use super::failures::{Cutoff, FailureRole, Failures, Full, Reason, StepFailure};
use super::ids::{CallId, ErrorId, RunId, ScopeId, StepSlot};
use super::lookup::Lookup;
use super::rows::{COLD_CALLS, OpenQuestion};
use super::state::{Phase, WHOLE};
use super::word::StepStatus;
use std::sync::Arc;

/// The most elements of a step that ids can tell apart.
const ELEMENTS: u64 = 1 << 31;

impl Dispatcher {
    /// Counts elements of a list, or a round. Returns `false` if the run is over.
    pub(super) fn count_elements(&mut self, run: RunId, element: u32, count: u32) -> bool {
        let it = &self.runs[run];
        let left = self.elements_left.checked_sub(u64::from(count));
        let is_named = it.elements.len() as u64 + u64::from(count) <= ELEMENTS;
        if let Some(left) = left.filter(|_| is_named) {
            self.elements_left = left;
            return true;
        }
        self.full.get_or_insert(Overflow {
            full: Full::Elements,
            slot: it.slot,
            element,
            attempt: 0,
        });
        false
    }
}

impl Machine {
    /// Ends the run if a part of the run is too much.
    pub(super) fn end_full(&mut self) {
        let core = &mut self.core;
        let Some(Overflow {
            full,
            slot,
            element,
            attempt,
        }) = core.dispatcher.full.take()
        else {
            return;
        };
        let scope = core.arena.hot[slot.index()].scope();
        let step = core.arena.scopes[scope].step(slot);
        let (lookup, reason) = (Lookup(core), Reason::Full(full));
        let failure = match core.arena.run_of(scope, step) {
            Some(run) => lookup.failure(run, element, attempt, reason),
            None => StepFailure {
                attempts: attempt,
                ..StepFailure::new(lookup.trail(scope, step), reason)
            },
        };
        self.exceed(failure, Some(slot));
    }

    /// The driver has made something for a question that is too much.
    pub(super) fn answer_exceeds(&mut self, id: QuestionId, error: ErrorId) {
        let core = &self.core;
        let Some(asked) = core.dispatcher.questions.get(id) else {
            return;
        };
        let (lookup, reason) = (Lookup(core), Reason::Error(error));
        let slot = |run: RunId| Some(core.dispatcher.runs[run].slot);
        let (failure, slot) = match asked {
            OpenQuestion::Inputs(scope) | OpenQuestion::Output(scope) => {
                let owner = core.arena.scopes[scope].owner;
                let failure = StepFailure::new(lookup.trail_of(scope), reason);
                (failure, owner.and_then(|it| slot(it.run)))
            }
            OpenQuestion::Body { run, element, .. } | OpenQuestion::Fallback { run, element } => {
                (lookup.failure(run, element, 0, reason), slot(run))
            }
            OpenQuestion::Again { run, attempt } => {
                let tried = &core.dispatcher.runs[run].attempts[attempt];
                (
                    lookup.failure(run, tried.element, tried.number, reason),
                    slot(run),
                )
            }
            OpenQuestion::Amounts(run) => (lookup.failure(run, WHOLE, 0, reason), slot(run)),
        };
        self.exceed(failure, slot);
    }

    /// The driver has a result of a call or a wait that is too much.
    pub(super) fn call_exceeds(&mut self, call: CallId, error: ErrorId) {
        let reason = Reason::Error(error);
        let (failure, slot) = if call.0 < COLD_CALLS {
            let core = &mut self.core;
            let slot = StepSlot(call.0);
            let hot = &mut core.arena.hot[slot.index()];
            if !hot.is_running() {
                return;
            }
            hot.set(StepStatus::Failed);
            let scope = hot.scope();
            core.dispatcher.calling -= 1;
            let trail = Lookup(core).trail(scope, core.arena.scopes[scope].step(slot));
            (StepFailure::new(trail, reason), slot)
        } else {
            let Some((row, begun)) = self.close_call(call) else {
                return;
            };
            let it = &self.core.dispatcher.runs[row.run];
            let tried = &it.attempts[row.attempt];
            let lookup = Lookup(&self.core);
            let failure = lookup.failure(row.run, tried.element, begun, reason);
            (failure, it.slot)
        };
        self.exceed(failure, Some(slot));
    }

    /// Ends the run: the calls are dropped, and nothing is undone. The failure has the duty of the outermost step around it.
    fn exceed(&mut self, mut failure: StepFailure, slot: Option<StepSlot>) {
        let core = &mut self.core;
        let mut around = slot;
        while let Some(slot) = around {
            let hot = core.arena.hot[slot.index()];
            if hot.is_always() {
                failure.role = FailureRole::Always;
            } else if !hot.is_work() {
                failure.role = FailureRole::Undo;
            }
            let owner = core.arena.scopes[hot.scope()].owner;
            around = owner.map(|it| core.dispatcher.runs[it.run].slot);
        }
        core.is_stopped = true;
        let root = &mut core.arena.scopes[ScopeId::ROOT];
        root.cutoff = root.cutoff.or(Some(Cutoff::Full));
        root.left.add(Failures::of(failure));
        core.todo.clear();
        self.drop_scope(ScopeId::ROOT);
        if let Some(slot) = slot {
            self.core.arena.hot[slot.index()].set(StepStatus::Failed);
        }
    }

    /// Ends a scope without its undo and always steps.
    pub(super) fn drop_scope(&mut self, scope: ScopeId) {
        let tables = Arc::clone(&self.core.arena.tables);
        let it = &self.core.arena.scopes[scope];
        if it.phase == Phase::Over {
            return;
        }
        let row = it.row;
        for number in 0..it.runs.len() {
            if let Some(run) = self.core.arena.scopes[scope].runs[number] {
                self.drop_run(run);
            }
        }
        for step in tables.rows[row].steps() {
            let slot = self.core.arena.scopes[scope].slot(step);
            let hot = &mut self.core.arena.hot[slot.index()];
            if hot.is_plain_in_root() && hot.is_ready() {
                self.core.arena.ready.remove(slot);
            } else if hot.is_running() {
                hot.set(StepStatus::Cancelled);
                if hot.is_plain() {
                    self.core.dispatcher.calling -= 1;
                    self.core.dispatcher.drop_call(CallId(slot.0));
                }
            }
        }
        let it = &mut self.core.arena.scopes[scope];
        self.core
            .dispatcher
            .questions
            .close_where(&mut it.questions, |_| true);
        it.has_failed |= matches!(it.phase, Phase::Inputs | Phase::Work | Phase::Output);
        it.phase = Phase::Over;
        if it.owner.is_none() && self.core.over == Over::No {
            self.core.over = Over::Yes;
        }
    }

    /// Ends a step with everything inside it, and without undo steps.
    fn drop_run(&mut self, run: RunId) {
        self.core.dispatcher.unlimit_loop(run);
        self.core.dispatcher.drop_questions(run, |_| true);
        let it = &mut self.core.dispatcher.runs[run];
        it.pending.queue.clear();
        it.is.ended = true;
        for attempt in it.attempts.in_order() {
            let tried = &self.core.dispatcher.runs[run].attempts[attempt];
            match (&tried.activity, tried.phase) {
                (Activity::Scope(scope), AttemptPhase::Runs | AttemptPhase::IsUndone) => {
                    let scope = *scope;
                    self.drop_scope(scope);
                    let left = Lookup(&self.core).undoing(scope).of_undo_steps();
                    let it = &mut self.core.dispatcher.runs[run];
                    it.left.add(left);
                    it.attempts[attempt].phase = AttemptPhase::Over;
                    self.core.dispatcher.drop_timers(run, attempt);
                }
                (_, AttemptPhase::Runs) => self.core.dispatcher.end_attempt(run, attempt),
                _ => {}
            }
        }
    }
}
