//! The journal of a run, messages from outside, and early ends of a run.

use super::super::super::durable::{Durable, GRACE, INTERRUPT, Stop};
use super::super::super::messages::Messages;
use super::super::super::recorded;
use super::super::super::signals::Signals;
use super::super::super::timer::TimerFuture;
use super::super::scene::Scene;
use super::Keys;
use crate::error::Interrupt;
use crate::machine::{Event, ScopeId};
use crate::resolve::Limit;
use std::sync::Arc;
use std::task::Context;

/// The early ends of a run, *interrupts*. An interrupt has a record, and ends the run at the turn of the record.
pub(super) struct Interrupts {
    durable: Arc<Durable>,
    /// The interrupt that has occurred.
    coming: Option<Interrupt>,
    /// The interrupt whose record waits for its turn.
    recorded: Option<(TimerFuture, Interrupt)>,
    /// `true` from the turn of an interrupt's record until the grace period begins.
    is_pausing: bool,
    /// Holds back new calls from the write of an interrupt's record until the grace period begins.
    stop: Option<Stop>,
    messages: Option<Messages>,
    /// `true` after the last record of a run that had ended.
    is_exhausted: bool,
}

impl Interrupts {
    pub(super) fn new(durable: Arc<Durable>) -> Self {
        Self {
            durable,
            coming: None,
            recorded: None,
            is_pausing: false,
            stop: None,
            messages: None,
            is_exhausted: false,
        }
    }

    /// Stores an interrupt, unless the run already has an interrupt. The run ends at the turn of the interrupt's record.
    fn come(&mut self, interrupt: Interrupt) {
        self.coming.get_or_insert(interrupt);
    }

    /// Reads the recorded interrupt of the run, which waits for its turn.
    pub(super) fn replay(&mut self, scene: &Scene<'_>, key: &str) {
        let key = Keys(scene).prefix(ScopeId::ROOT) + key;
        self.recorded = recorded::interrupt(&self.durable, &key);
    }

    /// Polls the journal, and ends the run if the journal has failed or if a recorded interrupt has its turn. The grace
    /// period does not begin while a call `is_ending`.
    pub(super) fn look(&mut self, scene: &mut Scene<'_>, is_ending: bool, cx: &mut Context<'_>) {
        if scene.machine.is_over() {
            if scene.around.is_none() {
                self.durable.poll(cx);
            }
            return;
        }
        if scene.around.is_none() {
            self.durable.poll(cx);
            if self.durable.is_live() {
                self.receive(scene, cx);
                self.look_at_recorded(scene);
            }
        }
        scene.look_at_failure();
        self.look_at_end(scene);
        if !scene.stops.is_exceeded() {
            self.begin_grace(scene, is_ending);
            self.look_for_interrupts(scene, cx);
            self.record_interrupt(scene);
            self.take_interrupt(scene, is_ending, cx);
        }
    }

    /// Drops the calls without records, after the last record of a run that had ended with a failure.
    fn look_at_end(&mut self, scene: &mut Scene<'_>) {
        let is_outermost = scene.around.is_none();
        if !self.is_exhausted && is_outermost && self.durable.is_exhausted() {
            self.is_exhausted = true;
            scene.machine.handle(Event::Exhausted);
        }
    }

    /// Takes the messages that were sent to the run from outside.
    fn receive(&mut self, scene: &Scene<'_>, cx: &mut Context<'_>) {
        let inbox = scene.run.inbox.clone();
        let messages = self.messages.get_or_insert_with(|| {
            let signals = match inbox {
                Some(inbox) => {
                    let _ = self.durable.inbox.set(Arc::clone(&inbox));
                    Signals::new(inbox, None)
                }
                None => Signals::to_nobody(false),
            };
            Messages::new(&self.durable, signals)
        });
        // After a crash, the journal returns the message that ended the run again.
        if messages.poll(&self.durable, cx) && scene.stops.stopped.is_none() {
            self.come(Interrupt::Cancelled);
        }
    }

    /// Ends the run if its records exceed the limit. In the grace period, the limit is twice as large.
    fn look_at_recorded(&mut self, scene: &Scene<'_>) {
        let limit = scene.allowance.limits().recorded;
        let in_grace = scene.stops.stopped.is_some();
        let most = limit.saturating_mul(if in_grace { 2 } else { 1 });
        if self.durable.recorded() > most {
            let place = Limit::Recorded(limit).to_string().into();
            self.come(Interrupt::Recorded(place));
        }
    }

    /// Polls the cancellation, the deadline, and the end of the grace period.
    fn look_for_interrupts(&mut self, scene: &mut Scene<'_>, cx: &mut Context<'_>) {
        if self.coming.is_none() {
            // No new interrupt occurs before the end of the replay.
            self.coming = scene.stops.coming(cx, self.durable.is_live());
        }
    }

    /// Records the interrupt that has occurred. The run ends at the turn of this record, so all earlier records have their turns first.
    fn record_interrupt(&mut self, scene: &Scene<'_>) {
        if self.recorded.is_some() || self.stop.is_some() {
            return;
        }
        let Some(interrupt) = self.coming.clone() else {
            return;
        };
        let in_grace = scene.stops.stopped.is_some();
        let key = if in_grace { GRACE } else { INTERRUPT };
        let key = Keys(scene).prefix(ScopeId::ROOT) + key;
        let now = self.durable.time();
        let body = recorded::interrupt_body(&interrupt, now);
        let write = recorded::write(&self.durable, key, body, now);
        self.recorded = Some((write, interrupt));
        // The end of a plan inside a call holds no calls back, since the tool may stop polling that plan.
        self.stop = scene.beside.is_none().then(|| self.durable.stop());
    }

    /// Ends the run if the record of its interrupt has its turn.
    fn take_interrupt(&mut self, scene: &mut Scene<'_>, is_ending: bool, cx: &mut Context<'_>) {
        let Some((turn, _)) = &mut self.recorded else {
            return;
        };
        if turn.as_mut().poll(cx).is_pending() {
            return;
        }
        let Some((_, interrupt)) = self.recorded.take() else {
            return;
        };
        if scene.stops.stopped.is_some() {
            return scene.machine.handle(Event::GraceOver);
        }
        self.coming = None;
        self.is_pausing = true;
        let event = scene.stops.stop(interrupt);
        scene.machine.handle(event);
        self.begin_grace(scene, is_ending);
    }

    /// Begins the grace period, after the calls that have ended are counted.
    fn begin_grace(&mut self, scene: &mut Scene<'_>, is_ending: bool) {
        if !self.is_pausing || is_ending {
            return;
        }
        self.is_pausing = false;
        self.stop = None;
        scene.stops.begin_grace(&scene.clock);
        // A grace period of zero ends immediately, and does so after a crash as well.
        if scene.stops.grace.is_zero() {
            scene.stops.end = None;
            return scene.machine.handle(Event::GraceOver);
        }
        self.replay(scene, GRACE);
    }
}
