//! The steps, attempts and elements that may start, in the order of the plan.
//!
//! Plain steps of the plan itself are in the set of `ready.rs`. Each scope has a line for all others. A scope with a line that is not empty has a place in the line of the scope around it.

use super::arena::Arena;
use super::attempt::Activity;
use super::failures::Failures;
use super::ids::{AttemptId, RunId, ScopeId, StepSlot};
use super::state::{LinePlace, Owner, Pending, Phase, Runs, StepRun};
use super::word::StepStatus;

/// The first in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// A step that may start.
    Step(StepSlot),
    /// The run of a step, which has an attempt or an element that may start.
    Run(RunId),
}

/// An entry of the line.
enum Found {
    First(First),
    Inside(ScopeId),
    /// The entry is outdated.
    Nothing,
}

impl Pending {
    /// The number of the next job that may start, if there is one.
    fn next_job(&self) -> Option<u32> {
        let again = self.again.first().map(|it| it.0);
        again.or_else(|| (!self.queue.is_empty()).then_some(self.jobs))
    }
}

impl StepRun {
    /// Returns `true` if an attempt or an element may start.
    fn may_go_on(&self) -> bool {
        let may_start = !self.is.ended && self.failed.is_none() && !self.is.cut;
        may_start
            && !self.is.deferred
            && self.asking == 0
            && self.active < self.amounts.at_once.max(1)
    }
}

impl Arena {
    /// Has the run of a step continue as soon as there is a permit, if an attempt or an element may start.
    pub(super) fn line_up_run(&mut self, runs: &mut Runs, run: RunId) {
        let it = &mut runs[run];
        let Some(job) = it.pending.next_job().filter(|_| it.may_go_on()) else {
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
        self.line_up(runs, scope, place);
    }

    pub(super) fn line_up(&mut self, runs: &Runs, mut scope: ScopeId, mut place: LinePlace) {
        loop {
            let it = &mut self.scopes[scope];
            let was_empty = it.line.is_empty();
            it.line.insert(place);
            let Some(Owner { run, attempt }) = it.owner.filter(|_| was_empty) else {
                return;
            };
            let it = &runs[run];
            let job = it.attempts[attempt].job;
            let step = it.step;
            place = LinePlace { step, job, attempt };
            scope = it.scope;
        }
    }

    /// Takes the first out of the line, unless a plain step of the plan itself comes before.
    pub(super) fn next_in_line(&mut self, runs: &mut Runs) -> Option<First> {
        let (scope, place, first) = self.first_in_line(runs)?;
        self.leave_line(runs, scope, place);
        Some(first)
    }

    /// Returns the first in line with its place, unless a plain step of the plan itself comes before.
    pub(super) fn first_in_line(&mut self, runs: &mut Runs) -> Option<(ScopeId, LinePlace, First)> {
        let mut scope = ScopeId::ROOT;
        loop {
            let it = &mut self.scopes[scope];
            let Some(place) = it.line.first().copied() else {
                // The place that led to this scope is the first around it.
                let owner = it.owner?;
                scope = runs[owner.run].scope;
                self.scopes[scope].line.pop_first();
                continue;
            };
            let slot = it.slot(place.step);
            let is_before = |plain: StepSlot| scope == ScopeId::ROOT && plain < slot;
            if self.ready.peek().is_some_and(is_before) {
                return None;
            }
            match self.at_place(runs, scope, place) {
                Found::Inside(inner) => scope = inner,
                Found::First(first) => return Some((scope, place, first)),
                Found::Nothing => self.leave_line(runs, scope, place),
            }
        }
    }

    fn leave_line(&mut self, runs: &mut Runs, scope: ScopeId, place: LinePlace) {
        self.scopes[scope].line.remove(&place);
        if let Some(run) = self.run_of(scope, place.step)
            && place.attempt == AttemptId::NONE
        {
            let it = &mut runs[run];
            if it.pending.lined_up == Some(place.job) {
                it.pending.lined_up = None;
            }
            // Another job may come first now.
            if it.pending.next_job() != Some(place.job) {
                self.line_up_run(runs, run);
            }
        }
    }

    fn at_place(&self, runs: &Runs, scope: ScopeId, place: LinePlace) -> Found {
        let it = &self.scopes[scope];
        let slot = it.slot(place.step);
        let hot = self.hot[slot.index()];
        if place.attempt == AttemptId::NONE && hot.status() == StepStatus::Waiting {
            let may_start = match it.phase {
                Phase::Work => hot.is_work() && !it.is_stopping,
                Phase::Undo => !hot.is_work() && !hot.is_always(),
                Phase::Always => hot.is_always(),
                Phase::Inputs | Phase::Output | Phase::Over => false,
            };
            return if may_start {
                Found::First(First::Step(slot))
            } else {
                Found::Nothing
            };
        }
        let Some(run) = self.run_of(scope, place.step) else {
            return Found::Nothing;
        };
        let it = &runs[run];
        if place.attempt == AttemptId::NONE {
            return if it.may_go_on() && it.pending.next_job() == Some(place.job) {
                Found::First(First::Run(run))
            } else {
                Found::Nothing
            };
        }
        match it.attempts.get(place.attempt).map(|it| &it.activity) {
            Some(Activity::Scope(inner)) => Found::Inside(*inner),
            _ => Found::Nothing,
        }
    }

    /// Has an attempt begin as soon as there is a permit. A further attempt comes after a failure.
    pub(super) fn wait_in_line(
        &mut self,
        runs: &mut Runs,
        run: RunId,
        attempt: AttemptId,
        failed: Option<Box<Failures>>,
    ) {
        let it = &mut runs[run];
        let tried = &mut it.attempts[attempt];
        tried.activity = Activity::Ready(failed);
        it.pending.again.insert((tried.job, attempt));
        self.line_up_run(runs, run);
    }
}
