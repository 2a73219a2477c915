//! The journal of a run, messages from outside, and the ends of a run before its time.

use super::super::super::durable::{Durable, GRACE, INTERRUPT};
use super::super::super::messages::Messages;
use super::super::super::recorded;
use super::super::super::signals::Signals;
use super::super::driver::Driver;
use super::super::scene::Scene;
use crate::error::Interrupt;
use crate::journal::JournalError;
use crate::machine::{Event, ScopeId};
use crate::resolve::Limit;
use std::sync::Arc;
use std::task::Context;

impl Scene<'_> {
    /// The journal cannot be used: the run is over, and continues when it is begun again.
    pub(in super::super) fn fail_journal(&mut self, error: Arc<JournalError>) {
        let is_working = self.machine.view().works(ScopeId::ROOT);
        self.stops.fail(error, is_working);
    }

    /// The beginning of the keys of the ends of the run, unless the run is a step of another run.
    fn own_prefix(&self) -> Option<String> {
        let is_inner = self.records.as_ref().is_none_or(|it| it.is_inner);
        (!is_inner).then(|| self.prefix(ScopeId::ROOT))
    }

    /// The recorded end of the run waits for its turn.
    pub(in super::super) fn replay_interrupt(&mut self, key: &str) {
        let prefix = self.own_prefix();
        let recorded = recorded::interrupt(&self.run, prefix.as_deref(), key);
        if let Some(records) = &mut self.records {
            records.interrupts.recorded = recorded;
        }
    }
}

impl Driver<'_> {
    /// Takes the recorded end of the run.
    pub(in super::super) fn begin_records(&mut self) {
        if self.is_recorded {
            self.scene.replay_interrupt(INTERRUPT);
        }
    }

    /// Has the journal written, and ends the run if its journal cannot be used, or if an end has its turn.
    #[cold]
    pub(in super::super) fn look_at_journal(&mut self, cx: &mut Context<'_>) {
        let Some(durable) = self.scene.run.durable.clone() else {
            return;
        };
        if self.scene.machine.is_over() {
            if self.scene.around.is_none() {
                durable.poll(cx);
            }
            return;
        }
        if self.scene.around.is_none() {
            durable.poll(cx);
            if durable.is_live() {
                self.receive(&durable, cx);
                self.look_at_recorded(&durable);
            }
        }
        self.look_at_failure();
        self.look_at_end(&durable);
        if !self.scene.stops.is_exceeded() {
            self.begin_grace();
            self.look_for_interrupts(&durable, cx);
            self.record_interrupt(&durable);
            self.take_interrupt(cx);
        }
    }

    /// Drops the calls without records, after the last record of a run that had ended with a failure.
    fn look_at_end(&mut self, durable: &Durable) {
        let records = self.scene.records.as_mut();
        let Some(records) = records.filter(|it| !it.is_exhausted) else {
            return;
        };
        if self.scene.around.is_none() && durable.is_exhausted() {
            records.is_exhausted = true;
            self.scene.machine.handle(Event::Exhausted);
        }
    }

    /// Ends the run if its journal has failed. Returns `true` if the journal has failed now.
    pub(in super::super) fn look_at_failure(&mut self) -> bool {
        let failure = self.scene.run.durable.as_ref().and_then(|it| it.failure());
        let Some(error) = failure.filter(|_| self.scene.stops.journal.is_none()) else {
            return false;
        };
        self.scene.fail_journal(error);
        self.scene.machine.handle(Event::GraceOver);
        true
    }

    /// Takes what was sent to the run from outside.
    fn receive(&mut self, durable: &Durable, cx: &mut Context<'_>) {
        let inbox = self.scene.run.options.inbox.clone();
        let Some(records) = &mut self.scene.records else {
            return;
        };
        let messages = records.messages.get_or_insert_with(|| {
            let signals = match inbox {
                Some(inbox) => Signals::new(inbox, None),
                None => Signals::to_nobody(false),
            };
            Messages::new(durable, signals)
        });
        // After a crash, the message that has ended the run comes again.
        if messages.poll(durable, cx) && self.scene.stops.stopped.is_none() {
            records.interrupts.come(Interrupt::Cancelled);
        }
    }

    /// Ends the run if it has recorded more than it may. The steps after that may record as much again.
    fn look_at_recorded(&mut self, durable: &Durable) {
        let limit = self.scene.allowance.limits().recorded;
        let in_grace = self.scene.stops.stopped.is_some();
        let most = limit.saturating_mul(if in_grace { 2 } else { 1 });
        if durable.recorded() > most
            && let Some(records) = &mut self.scene.records
        {
            let place = Limit::Recorded(limit).to_string().into();
            records.interrupts.come(Interrupt::Recorded(place));
        }
    }

    /// Looks for a cancellation, the deadline, and the end of the time after these.
    fn look_for_interrupts(&mut self, durable: &Durable, cx: &mut Context<'_>) {
        let Some(records) = &mut self.scene.records else {
            return;
        };
        let stops = &mut self.scene.stops;
        if records.interrupts.coming.is_some() {
            return;
        }
        // Before all is replayed that had happened, nothing new happens.
        let is_live = durable.is_live();
        if let Some(cancel) = stops.cancel.get_mut().as_mut().filter(|_| is_live)
            && cancel.as_mut().poll(cx).is_ready()
        {
            records.interrupts.come(Interrupt::Cancelled);
        } else if let Some(deadline) = stops.deadline.as_mut().or(stops.end.as_mut())
            && deadline.is_over(cx)
        {
            let limit = deadline.limit;
            records.interrupts.come(Interrupt::Deadline(limit));
        }
    }

    /// Records the end of the run that has come. The run ends when the record has its turn, so all records before have their turns first.
    fn record_interrupt(&mut self, durable: &Arc<Durable>) {
        let prefix = self.scene.prefix(ScopeId::ROOT);
        let is_beside = self.scene.beside.is_some();
        let in_grace = self.scene.stops.stopped.is_some();
        let Some(records) = &mut self.scene.records else {
            return;
        };
        let it = &mut records.interrupts;
        if it.recorded.is_some() || it.stop.is_some() {
            return;
        }
        let Some(interrupt) = it.coming.clone() else {
            return;
        };
        let key = if in_grace { GRACE } else { INTERRUPT };
        let now = durable.time();
        match recorded::interrupt_body(&interrupt, now) {
            Ok(body) => {
                let write = durable.write(format!("{prefix}{key}"), body, now);
                it.recorded = Some((write, interrupt));
                // A tool may keep a plan inside its call without a poll, so the end of such a plan holds back nothing.
                it.stop = (!is_beside).then(|| durable.stop());
            }
            Err(error) => durable.fail(JournalError::storage(error)),
        }
    }

    /// Ends the run if the record of its end has its turn.
    fn take_interrupt(&mut self, cx: &mut Context<'_>) {
        let Some(records) = &mut self.scene.records else {
            return;
        };
        let it = &mut records.interrupts;
        let Some((turn, _)) = &mut it.recorded else {
            return;
        };
        if turn.as_mut().poll(cx).is_pending() {
            return;
        }
        let Some((_, interrupt)) = it.recorded.take() else {
            return;
        };
        if self.scene.stops.stopped.is_some() {
            return self.scene.machine.handle(Event::GraceOver);
        }
        it.coming = None;
        let event = match interrupt {
            Interrupt::Deadline(_) => Event::Late,
            _ => Event::Cancelled,
        };
        it.is_pausing = true;
        self.scene.stops.stop(interrupt);
        self.scene.machine.handle(event);
        self.begin_grace();
    }

    /// The time for undo and always steps begins, once the calls that have ended count.
    fn begin_grace(&mut self) {
        let Some(records) = &mut self.scene.records else {
            return;
        };
        let it = &mut records.interrupts;
        if !it.is_pausing || !records.ending.is_empty() {
            return;
        }
        it.is_pausing = false;
        it.stop = None;
        self.scene.stops.begin_grace(&self.scene.clock);
        // No time at all is over immediately, after a crash as well.
        if self.scene.stops.grace.is_zero() {
            self.scene.stops.end = None;
            return self.scene.machine.handle(Event::GraceOver);
        }
        self.scene.replay_interrupt(GRACE);
    }

    /// Returns `true` if the plan waits in vain, since a tool blocks on the plan. The plan is over then.
    #[cold]
    pub(in super::super) fn waits_in_vain(&mut self, cx: &Context<'_>) -> bool {
        let (Some(call), true) = (&self.scene.around, self.is_recorded) else {
            return false;
        };
        let why = self
            .scene
            .beside
            .as_ref()
            .and_then(|_| self.blocked.waits(call, cx.waker()));
        let Some(why) = why else {
            return false;
        };
        self.interrupt(Interrupt::Outside(why));
        true
    }

    /// Returns `true` if the outermost plan continues by itself: the next record has its turn, or the run becomes live.
    #[cold]
    pub(in super::super) fn goes_on(&self) -> bool {
        let sharing = self.tasks.sharing.as_ref();
        if sharing.is_some_and(|sharing| sharing.applicant.has_come()) {
            return true;
        }
        let is_outermost = self.scene.around.is_none();
        let durable = self.scene.run.durable.as_ref().filter(|_| is_outermost);
        !self.tasks.is_late() && durable.is_some_and(|durable| durable.go_on())
    }
}
