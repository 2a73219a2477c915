//! What ends a run before its time.

use super::super::clock::Clock;
use super::super::durable::Stop;
use super::super::timer::Sleep;
use super::deadline::Deadline;
use crate::error::Interrupt;
use crate::resolve::drop_quietly;
use std::cell::{OnceCell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

/// The deadline and the cancellation of a run, which are also looked at while a value is made.
pub(super) struct Interrupts<'x> {
    deadline: Option<Deadline>,
    /// When the call that the run is inside of is over: it is dropped then.
    outer: Option<Instant>,
    cancel: RefCell<Option<Cancel<'x>>>,
    /// Whether it is a block or a plan that is called, whose calls alone are dropped then.
    is_inner: bool,
    /// `true` if a deadline and a cancellation have records, and end the run when these have their turns.
    is_recorded: bool,
    /// The deadline or the cancellation that has come, and whose record may be missing.
    coming: OnceCell<Interrupt>,
    /// The end of the run that comes when its record has its turn.
    recorded: Option<(Sleep, Interrupt)>,
    /// Holds back calls from then on.
    stop: Option<Stop>,
    /// What has happened.
    happened: OnceCell<Interrupt>,
    /// `true` if the calls were dropped that had not ended then.
    has_dropped: bool,
}

type Cancelling<'x> = Pin<Box<dyn Future<Output = ()> + Send + 'x>>;

struct Cancel<'x> {
    future: Cancelling<'x>,
    /// Who is to be woken: whoever polled the run last.
    waker: Waker,
}

impl<'x> Interrupts<'x> {
    pub(super) fn new(
        deadline: Option<(Duration, Sleep)>,
        outer: Option<Instant>,
        cancel: Option<Cancelling<'x>>,
    ) -> Self {
        let cancel = cancel.map(|future| Cancel {
            future,
            waker: Waker::noop().clone(),
        });
        Self {
            deadline: deadline.map(|(limit, sleep)| Deadline::new(limit, sleep)),
            outer,
            cancel: RefCell::new(cancel),
            is_inner: false,
            is_recorded: false,
            coming: OnceCell::new(),
            recorded: None,
            stop: None,
            happened: OnceCell::new(),
            has_dropped: false,
        }
    }

    /// The same, of a block or a plan that is called.
    pub(super) fn of_inner(self, is_inner: bool) -> Self {
        Self { is_inner, ..self }
    }

    /// The same of a run with a journal, where this had ended the run before a crash.
    pub(super) fn replaying(self, recorded: Option<(Sleep, Interrupt)>) -> Self {
        Self {
            is_recorded: true,
            recorded,
            ..self
        }
    }

    /// What has ended the run.
    #[inline]
    pub(super) fn happened(&self) -> Option<&Interrupt> {
        self.happened.get()
    }

    /// Returns what has ended the run, if undo steps and always steps may still run then.
    pub(super) fn happened_early(&self) -> Option<&Interrupt> {
        self.happened().filter(|interrupt| {
            matches!(
                interrupt,
                Interrupt::Cancelled
                    | Interrupt::Deadline(_)
                    | Interrupt::Recorded(_)
                    | Interrupt::Block
            )
        })
    }

    /// Ends the run, unless something else has.
    pub(super) fn happen(&self, interrupt: Interrupt) {
        let _ = self.happened.set(interrupt);
    }

    /// Ends the run, once that is recorded if it is to be.
    pub(super) fn come(&self, interrupt: Interrupt) {
        if self.is_recorded {
            let _ = self.coming.set(interrupt);
        } else {
            self.happen(interrupt);
        }
    }

    /// Returns what is to end the run, if it has no record yet.
    pub(super) fn unrecorded(&self) -> Option<&Interrupt> {
        let has_record = self.stop.is_some() || self.recorded.is_some();
        self.coming.get().filter(|_| !has_record)
    }

    /// Ends the run when a record has its turn, and lets no call start from now on.
    pub(super) fn end_after(&mut self, record: Sleep, interrupt: Interrupt, stop: Option<Stop>) {
        self.recorded = Some((record, interrupt));
        self.stop = stop;
    }

    /// Returns `true` the first time, for one search for calls that have not ended.
    pub(super) fn drops_calls(&mut self) -> bool {
        !std::mem::replace(&mut self.has_dropped, true)
    }

    /// The run has a turn.
    pub(super) fn polled(&self) {
        if let Some(deadline) = &self.deadline {
            deadline.ask_again();
        }
    }

    /// Whether the run is over; if not, it is woken when it is.
    #[inline]
    pub(super) fn poll(&mut self, cx: &Context<'_>, clock: &Clock) -> bool {
        if let Some(cancel) = self.cancel.get_mut() {
            cancel.waker.clone_from(cx.waker());
        }
        // To ask whether the wait is over takes less time than to ask what time it is.
        if !self.is_interrupted(clock)
            && let Some(deadline) = &mut self.deadline
            && deadline.is_over(cx)
        {
            let limit = deadline.limit;
            self.come(Interrupt::Deadline(limit));
        }
        self.happened.get().is_some()
    }

    /// Ends the run if the record of that has its turn.
    #[cold]
    pub(super) fn poll_record(&mut self, cx: &Context<'_>) {
        if let Some((turn, interrupt)) = &mut self.recorded
            && turn
                .as_mut()
                .poll(&mut Context::from_waker(cx.waker()))
                .is_ready()
        {
            let interrupt = interrupt.clone();
            self.recorded = None;
            self.happen(interrupt);
        }
    }

    /// Returns `true` if the run is over while a value is made. With a journal, the run ends between two values, as it does in a replay.
    pub(super) fn look(&self, clock: &Clock) -> bool {
        if !clock.is_durable
            && !self.is_interrupted(clock)
            && let Some(deadline) = &self.deadline
            && clock.now() >= deadline.limit
        {
            let limit = deadline.limit;
            self.happen(Interrupt::Deadline(limit));
        }
        self.happened.get().is_some()
    }

    /// Whether something has ended the run, but for its deadline, which is not looked at.
    #[inline]
    fn is_interrupted(&self, clock: &Clock) -> bool {
        if self.happened.get().or(self.coming.get()).is_some() {
            return true;
        }
        // Before all is replayed that had happened, nothing new happens.
        if clock.stands() {
            return false;
        }
        // What cancels may itself be what makes the value.
        if let Ok(mut cancel) = self.cancel.try_borrow_mut()
            && let Some(Cancel { future, waker }) = cancel.as_mut()
            && future
                .as_mut()
                .poll(&mut Context::from_waker(waker))
                .is_ready()
        {
            self.come(Interrupt::Cancelled);
        } else if self.outer.is_some_and(|outer| clock.is_past(outer)) {
            self.happen(if self.is_inner {
                Interrupt::Block
            } else {
                Interrupt::Outer
            });
        }
        self.happened.get().is_some()
    }

    /// Drops what cancels, and what waits for the deadline: neither is asked any more.
    pub(super) fn close(&mut self) {
        self.deadline = None;
        drop_quietly(self.cancel.get_mut().take());
        self.recorded = None;
        self.stop = None;
    }
}
