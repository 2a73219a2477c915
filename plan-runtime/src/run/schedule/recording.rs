//! What a run with a journal writes down, and what it takes from there: of its plan, its inputs and its ends, and by which keys. Attempts are in
//! `attempts.rs`, decisions in `decisions.rs`, and what is sent to the run in `messages.rs`.

use super::super::durable::{self, BRANCH, Durable, FAILED, GRACE, INTERRUPT, MADE_UP, UNDONE};
use super::super::recorded;
use super::super::timer::Sleep;
use super::Schedule;
#[cfg(feature = "sqlite")]
use crate::error::{Cause, RunError};
use crate::error::{Elements, Interrupt};
use crate::journal::JournalError;
use crate::plan::{Block, Body, Role};
use crate::resolve::Limit;
use serde_json::Value;
use std::task::Context;

impl Schedule<'_> {
    /// Records which plan a call runs, or compares it with the one that it has run.
    pub(super) fn record_plan(&self) {
        if let (Some(durable), Some(_)) = (&self.run.durable, &self.outer) {
            durable.enter(&self.prefix, self.plan, self.secrecy.is_some());
        }
    }

    /// Notes which block of a step runs, if the names of its steps do not tell. `Sqlite::retry_failed` needs the block.
    pub(super) fn note_branch(&self, (step, job): (usize, usize), attempt: u32, block: &Block) {
        if self.run.durable.is_none() {
            return;
        }
        if let Some(number) = recorded::branch(&self.plan.steps[step].body, block) {
            let key = || self.key_of_attempt(step, job, attempt) + BRANCH;
            self.note_end(key, Value::from(number));
        }
    }

    /// Notes that this undo step has undone a step with this lasting path.
    pub(super) fn note_undone(&self, undo: usize, path: String) {
        let key = || self.key(undo, &[]) + UNDONE;
        self.note_end(key, Value::from(path));
    }

    /// Notes that the only call of an undo step has succeeded, before the record of the call: a failure beside the step may end the run before the record has its turn.
    pub(super) fn note_undo_call(&self, undo: usize) {
        let step = &self.plan.steps[undo];
        if let (Role::Undo(undone), Body::Action(_)) = (step.role, &step.body) {
            let undone = &self.plan.steps[undone].id;
            let path = durable::of_element(&self.lasting_prefix(), undone, &[]);
            self.note_undone(undo, path);
        }
    }

    /// Notes that something made up for a failure of a step or of an element of the step. The failed attempt is part of the key: after `Sqlite::retry_failed`,
    /// another attempt may follow.
    pub(super) fn note_made_up(
        &self,
        (step, place): (usize, &[usize]),
        element: &[usize],
        attempt: u32,
    ) {
        let failed = || format!("{MADE_UP}{}@{attempt}", Elements(element));
        self.note_end(|| self.key(step, place) + &failed(), Value::Null);
    }

    /// Notes that the plan or block has failed, unless it is the run.
    pub(super) fn note_failed(&self) {
        if self.outer.is_some() {
            self.note_end(|| format!("{}{FAILED}", self.prefix), Value::Null);
        }
    }

    /// Notes how something ended, for `Sqlite::retry_failed`.
    fn note_end(&self, key: impl FnOnce() -> String, body: Value) {
        if let Some(durable) = &self.run.durable {
            durable.note_end(key(), body.to_string());
        }
    }

    /// Whether its journal cannot be used, which is still to end the run.
    #[cold]
    pub(super) fn has_no_journal(&self) -> bool {
        let durable = self.run.durable.as_ref();
        durable.is_some_and(|durable| durable.failure().is_some())
    }

    /// Whether a call has ended that may be undone, and whose record has not had its turn.
    #[cold]
    pub(super) fn is_writing(&self) -> bool {
        self.clock.is_durable
            && !self.in_writing.is_empty()
            && self.interrupts.happened_early().is_some()
            && !self.has_no_journal()
    }

    /// Drops the calls that have not ended, once: no call starts after that.
    #[cold]
    pub(super) fn drop_unrecorded(&mut self) {
        if self.interrupts.drops_calls() {
            let ended = std::mem::take(&mut self.in_writing);
            self.abandon(|task| task.is_call() && !ended.contains(&(task.step, task.job)));
            self.in_writing = ended;
        }
    }

    /// Drops the calls without records that a failure has kept from their starts, after the last record of a run that has ended. A replay may start such calls, since
    /// the plans inside calls with records take no permits.
    #[cold]
    pub(super) fn drop_unstarted(&mut self) {
        let durable = self.run.durable.as_ref().filter(|_| self.outer.is_none());
        if durable.is_some_and(|it| it.is_exhausted())
            && self.interrupts.drops_calls()
            && self.has_failure()
        {
            self.drop_open();
        }
    }

    /// Returns `true` if something has failed in the plan, or in a block that runs.
    fn has_failure(&self) -> bool {
        let mut blocks = self.running.running_blocks();
        !self.failed.is_empty() || blocks.any(|block| block.schedule.has_failure())
    }

    /// Drops the calls of the work that run, also in blocks.
    fn drop_open(&mut self) {
        self.running
            .blocks(|_, _, block| block.schedule.drop_open());
        if self.ending.is_some() {
            return;
        }
        for step in 0..self.plan.steps.len() {
            let calls = self.running.calls_of(step).count();
            if calls > 0
                && let Some(flow) = self.steps.flow_mut(step)
            {
                flow.active -= calls;
                flow.cut = true;
                self.abandon(|task| task.step == step && task.is_call());
                self.settle(step);
            }
        }
    }

    /// Ends a run that had ended with a failure, if its records do not contain the failure.
    #[cold]
    pub(super) fn look_for_end(&self) {
        if let Some(durable) = &self.run.durable
            && self.outer.is_none()
            && durable.is_exhausted()
            && !durable.is_viewed()
            && self.failed.is_empty()
            && self.interrupts.happened().is_none()
            && self.ending.is_none()
            && let Some(error) = durable.lose_end()
        {
            self.interrupts.happen(Interrupt::Journal(error));
        }
    }

    /// Ends the run if its journal cannot be used. The outermost plan has notes written.
    #[cold]
    pub(super) fn look_at_journal(&mut self, cx: &mut Context<'_>) {
        let Some(durable) = self.run.durable.clone() else {
            return;
        };
        if self.outer.is_none() {
            durable.poll(cx);
            self.receive(cx);
            self.look_at_recorded(&durable);
        }
        if let Some(error) = durable.failure() {
            self.interrupts.happen(Interrupt::Journal(error));
        }
    }

    /// Ends the run if it has recorded more than it may. What comes then may record as much again.
    fn look_at_recorded(&self, durable: &Durable) {
        let limit = self.allowance.limits().recorded;
        let in_grace =
            self.winding.is_some() || self.ending.as_ref().is_some_and(|it| it.is_in_grace());
        let most = limit.saturating_mul(if in_grace { 2 } else { 1 });
        if durable.recorded() > most && durable.is_live() {
            let place = Limit::Recorded(limit).to_string().into();
            self.interrupts.come(Interrupt::Recorded(place));
        }
    }

    /// Why the run's journal cannot be used, if it cannot.
    #[cfg(feature = "sqlite")]
    pub(in crate::run) fn journal_failure(&self) -> Option<RunError> {
        let error = self.run.durable.as_ref()?.failure()?;
        let cause = Cause::Interrupted(Interrupt::Journal(error));
        Some(RunError::new(self.plan, cause, Vec::new()))
    }

    /// Whether only its records are looked at.
    pub(super) fn is_viewed(&self) -> bool {
        let durable = self.run.durable.as_ref();
        durable.is_some_and(|durable| durable.is_viewed())
    }

    /// Returns `true` if a report of the view can have running steps. In a run that has ended, such a step was dropped.
    pub(super) fn shows_running(&self) -> bool {
        let durable = self.run.durable.as_ref();
        durable.is_some_and(|durable| durable.is_viewed() && !durable.has_ended())
    }

    /// Returns `true` if the outermost plan continues by itself: the next record has its turn, the run becomes live, or a permit was handed over.
    #[cold]
    pub(super) fn goes_on_recorded(&self) -> bool {
        match &self.run.durable {
            Some(_) if self.applicant.has_come() => true,
            Some(durable) if self.outer.is_none() && !self.has_to_go_on() => durable.go_on(),
            _ => false,
        }
    }

    /// Returns `true` if something follows from the last record that is still to be done, here or in a block. A call that wakes itself again and again is no such thing.
    fn has_to_go_on(&self) -> bool {
        let mut blocks = self.running.woken_blocks();
        self.is_paused
            || self.running.is_late()
            || self.applicant.has_come()
            || blocks.any(|block| block.schedule.has_to_go_on())
    }

    /// Records what is to end the run, which it does when the record has its turn: all that was recorded before has its turn before.
    #[cold]
    pub(super) fn record_interrupt(&mut self) {
        let (Some(durable), Some(interrupt)) = (&self.run.durable, self.interrupts.unrecorded())
        else {
            return;
        };
        let in_grace = self.ending.as_ref().is_some_and(|it| it.is_in_grace());
        let key = if in_grace || self.winding.is_some() {
            GRACE
        } else {
            INTERRUPT
        };
        let interrupt = interrupt.clone();
        let now = durable.time();
        match recorded::interrupt_body(&interrupt, now) {
            Ok(body) => {
                let write = durable.write(format!("{}{key}", self.prefix), body, now);
                // A tool may keep a plan inside its call without a poll, so the end of such a plan holds back nothing.
                let stop = self.beside.is_none().then(|| durable.stop());
                self.interrupts.end_after(write, interrupt, stop);
            }
            Err(error) => durable.fail(JournalError::storage(error)),
        }
    }

    /// What its keys begin with, if it has a deadline and a cancellation of its own.
    fn own_prefix(&self) -> Option<&str> {
        (self.outer.is_none() || self.beside.is_some()).then_some(&*self.prefix)
    }

    /// What had ended the time for undo steps and always steps before a crash.
    pub(super) fn end_of_grace(&self) -> Option<(Sleep, Interrupt)> {
        recorded::interrupt(&self.run, self.own_prefix(), GRACE)
    }

    /// The key of a job's records, without the attempt.
    pub(super) fn key(&self, step: usize, element: &[usize]) -> String {
        durable::of_element(&self.prefix, &self.plan.steps[step].id, element)
    }

    /// The key of an attempt of a job.
    pub(super) fn key_of_attempt(&self, step: usize, job: usize, attempt: u32) -> String {
        let flow = self.steps.flow(step);
        let element = flow.map_or_else(Vec::new, |flow| flow.elements(flow.jobs[job].place));
        format!("{}@{attempt}", self.key(step, &element))
    }
}
