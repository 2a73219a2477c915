//! The ends of a run before its time: a cancellation, the deadline, and the end of the time after these.

use super::super::timer::{Sleep, Timer};
use crate::error::Interrupt;
use crate::machine::Event;
use crate::resolve::drop_quietly;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::time::{Duration, Instant};

/// A future that cancels the run.
pub(super) type Cancel<'x> = Pin<Box<dyn Future<Output = ()> + Send + 'x>>;

/// The time of a run.
pub(super) struct Clock {
    timer: Arc<dyn Timer>,
    start: Instant,
}

impl Clock {
    pub(super) fn new(timer: Arc<dyn Timer>) -> Self {
        let start = timer.now();
        Self { timer, start }
    }

    /// Returns the time since the start of the run.
    pub(super) fn now(&self) -> Duration {
        self.timer.now().saturating_duration_since(self.start)
    }

    pub(super) fn at(&self, elapsed: Duration) -> Option<Instant> {
        self.start.checked_add(elapsed)
    }

    pub(super) fn sleep(&self, time: Duration) -> Sleep {
        self.timer.sleep(time)
    }
}

/// The causes that may end a run before its time.
pub(super) struct Stops<'x> {
    cancel: Option<Cancel<'x>>,
    deadline: Option<(Duration, Sleep)>,
    grace: Duration,
    /// The end of the time for undo and always steps.
    end: Option<Sleep>,
    pub(super) stopped: Option<Interrupt>,
    /// The latest end of the run.
    pub(super) until: Option<Duration>,
}

impl<'x> Stops<'x> {
    pub(super) fn new(
        cancel: Option<Cancel<'x>>,
        deadline: Option<Duration>,
        grace: Duration,
        clock: &Clock,
    ) -> Self {
        Self {
            cancel,
            deadline: deadline.map(|limit| (limit, clock.sleep(limit))),
            grace,
            end: None,
            stopped: None,
            until: deadline,
        }
    }

    /// A limit is exceeded. Nothing runs after that.
    pub(super) fn exceed(&mut self, place: Arc<str>) {
        if !self.is_exceeded() {
            self.stopped = Some(Interrupt::Limit(place));
        }
    }

    /// The run ends at once.
    pub(super) fn interrupt(&mut self, interrupt: Interrupt) {
        self.stopped.get_or_insert(interrupt);
    }

    /// Returns `true` if a limit is exceeded.
    pub(super) fn is_exceeded(&self) -> bool {
        matches!(self.stopped, Some(Interrupt::Limit(_)))
    }

    /// Returns the next of these events.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, clock: &Clock) -> Option<Event> {
        if self.stopped.is_some() {
            let is_over = self.end.as_mut()?.as_mut().poll(cx).is_ready();
            return is_over.then(|| {
                drop_quietly(self.end.take());
                Event::GraceOver
            });
        }
        let (event, interrupt) = if let Some(cancel) = &mut self.cancel
            && cancel.as_mut().poll(cx).is_ready()
        {
            (Event::Cancelled, Interrupt::Cancelled)
        } else if let Some((limit, sleep)) = &mut self.deadline
            && sleep.as_mut().poll(cx).is_ready()
        {
            (Event::Late, Interrupt::Deadline(*limit))
        } else {
            return None;
        };
        self.stopped = Some(interrupt);
        drop_quietly((self.cancel.take(), self.deadline.take()));
        self.until = Some(clock.now().saturating_add(self.grace));
        self.end = Some(clock.sleep(self.grace));
        Some(event)
    }
}
