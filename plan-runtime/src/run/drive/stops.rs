//! The early ends of a run: a cancellation, the deadline, an exceeded limit, a failed journal, and the end of the grace period.

use super::super::clock::Clock;
use super::super::last_waker::LastWaker;
use super::super::options::{Cancel, DEFAULT_GRACE, StopOptions};
use super::super::timer::TimerFuture;
use crate::error::Interrupt;
use crate::journal::JournalError;
use crate::machine::Event;
use crate::resolve::drop_quietly;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

/// The causes of an early end of a run.
pub(super) struct Stops<'x> {
    pub(super) cancel: RefCell<Option<Cancel<'x>>>,
    /// The waker of the last poll, for polls of `cancel` while the run computes a value.
    waker: Waker,
    /// The cause that occurred while the run computed a value.
    came: OnceCell<Interrupt>,
    /// `true` if the time limit of a scope around a value passed before the run had computed the value.
    pub(super) is_past: Cell<bool>,
    pub(super) deadline: Option<Deadline>,
    pub(super) grace: Duration,
    /// The end of the grace period.
    pub(super) end: Option<Deadline>,
    pub(super) stopped: Option<Interrupt>,
    /// The step that exceeded a limit, and `true` during the work of the plan. No step runs after an exceeded limit.
    exceeded: Option<(Arc<str>, bool)>,
    /// The failure of the journal, and `true` during the work of the plan. No step runs after such a failure.
    pub(super) journal: Option<(Arc<JournalError>, bool)>,
    /// The latest end of the run.
    pub(super) until: Option<Duration>,
}

impl<'x> Stops<'x> {
    pub(super) fn new(options: StopOptions<'x>, clock: &Clock) -> Self {
        let StopOptions {
            deadline,
            grace,
            cancel,
        } = options;
        Self {
            cancel: RefCell::new(cancel),
            waker: Waker::noop().clone(),
            came: OnceCell::new(),
            is_past: Cell::new(false),
            deadline: deadline.map(|limit| Deadline::new(limit, clock.sleep(limit))),
            grace: grace.unwrap_or(DEFAULT_GRACE),
            end: None,
            stopped: None,
            exceeded: None,
            journal: None,
            until: deadline,
        }
    }

    /// Records an exceeded limit or a failed journal, after which no step runs. `is_working` is `true` during the work of the plan.
    pub(super) fn fail(&mut self, cause: Interrupt, is_working: bool) {
        match cause {
            Interrupt::Journal(error) => {
                self.journal.get_or_insert((error, is_working));
            }
            Interrupt::Limit(place) if !self.is_exceeded() => {
                self.exceeded = Some((place, is_working));
            }
            _ => {}
        }
    }

    /// Records the reason that ends the run at once.
    pub(super) fn interrupt(&mut self, interrupt: Interrupt) {
        self.stopped.get_or_insert(interrupt);
    }

    /// Returns `true` if a limit is exceeded, or if the journal has failed.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.is_some() || self.journal.is_some()
    }

    /// Ends the run early. Returns the event for the machine.
    pub(super) fn stop(&mut self, interrupt: Interrupt) -> Event {
        let event = match interrupt {
            Interrupt::Deadline(_) => Event::Late,
            _ => Event::Cancelled,
        };
        self.stopped = Some(interrupt);
        self.close();
        event
    }

    /// Drops the cancellation and the timers.
    pub(super) fn close(&mut self) {
        drop_quietly(self.cancel.get_mut().take());
        self.deadline = None;
        self.end = None;
    }

    /// Begins the grace period.
    pub(super) fn begin_grace(&mut self, clock: &Clock) {
        let until = clock.time().saturating_add(self.grace);
        self.until = Some(until);
        self.end = Some(Deadline::new(until, clock.sleep_live(self.grace)));
    }

    /// Returns the reason of the early end of the run.
    pub(super) fn reason(&self) -> Option<Interrupt> {
        match &self.journal {
            Some((error, is_working))
                if *is_working && self.stopped.is_none()
                    || matches!(**error, JournalError::Ended { .. }) =>
            {
                Some(Interrupt::Journal(Arc::clone(error)))
            }
            _ => match &self.exceeded {
                Some((place, true)) => Some(Interrupt::Limit(Arc::clone(place))),
                // The work already had its result.
                _ => self.stopped.clone(),
            },
        }
    }

    /// Returns `true` if a cause occurred while the run computed a value. `outer` is the deadline of the call that contains the run.
    pub(super) fn look(&self, clock: &Clock, outer: Option<Instant>) -> bool {
        if self.came.get().is_none()
            && let Some(interrupt) = self.cause(clock, outer)
        {
            let _ = self.came.set(interrupt);
        }
        self.came.get().is_some()
    }

    /// Records whether the time limit of a scope around a value has passed.
    pub(super) fn passes(&self, is_late: bool) -> bool {
        self.is_past.set(is_late);
        is_late
    }

    /// Returns `true` if the grace period has ended while the run computes a value.
    pub(super) fn look_at_grace(&self, clock: &Clock) -> bool {
        let end = self.end.as_ref();
        let is_over = end.is_some_and(|end| end.limit <= clock.now());
        if is_over {
            let _ = self.came.set(Interrupt::Outer);
        }
        is_over
    }

    fn cause(&self, clock: &Clock, outer: Option<Instant>) -> Option<Interrupt> {
        if outer.is_some_and(|outer| clock.is_past(outer)) {
            return Some(Interrupt::Outer);
        }
        if self.stopped.is_some() {
            return None;
        }
        // The future that cancels the run may be the code that computes the value.
        if let Ok(mut cancel) = self.cancel.try_borrow_mut()
            && is_cancelled(&mut cancel, &mut Context::from_waker(&self.waker))
        {
            return Some(Interrupt::Cancelled);
        }
        let limit = self.deadline.as_ref()?.limit;
        (clock.now() >= limit).then_some(Interrupt::Deadline(limit))
    }

    /// Returns the event of the cause that occurred while the run computed a value.
    #[cold]
    pub(super) fn take_came(&mut self, clock: &Clock) -> Option<Event> {
        let interrupt = self.came.take()?;
        if !matches!(interrupt, Interrupt::Cancelled | Interrupt::Deadline(_)) {
            self.interrupt(interrupt);
            return Some(Event::GraceOver);
        }
        let event = self.stop(interrupt);
        self.begin_grace(clock);
        Some(event)
    }

    /// Marks the timers for a poll in this turn of the run.
    pub(super) fn polled(&self) {
        for deadline in [&self.deadline, &self.end].into_iter().flatten() {
            deadline.ask_again();
        }
    }

    /// Returns the event of the end of the grace period after that end.
    pub(super) fn end_grace(&mut self, cx: &Context<'_>) -> Option<Event> {
        let is_over = self.end.as_mut()?.is_over(cx);
        is_over.then(|| {
            self.end = None;
            Event::GraceOver
        })
    }

    /// Returns the next of these events.
    #[inline]
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, clock: &Clock) -> Option<Event> {
        let has_rung = |it: &Option<Deadline>| it.as_ref().is_some_and(Deadline::has_rung);
        let may_end = self.came.get().is_some() || self.cancel.get_mut().is_some();
        if may_end || has_rung(&self.deadline) || has_rung(&self.end) {
            self.poll_causes(cx, clock)
        } else {
            None
        }
    }

    #[cold]
    #[inline(never)]
    fn poll_causes(&mut self, cx: &mut Context<'_>, clock: &Clock) -> Option<Event> {
        if self.stopped.is_some() || self.exceeded.is_some() {
            return self.end_grace(cx);
        }
        // The value that saw the cause may have swallowed its own interruption.
        if self.came.get().is_some() {
            return self.take_came(clock);
        }
        if self.cancel.get_mut().is_some() {
            self.waker.clone_from(cx.waker());
        }
        let interrupt = self.coming(cx, true)?;
        let event = self.stop(interrupt);
        self.begin_grace(clock);
        Some(event)
    }

    /// Polls the deadline, the end of the grace period, and the cancellation if the run `may_cancel`.
    pub(super) fn coming(&mut self, cx: &mut Context<'_>, may_cancel: bool) -> Option<Interrupt> {
        if may_cancel && is_cancelled(self.cancel.get_mut(), cx) {
            return Some(Interrupt::Cancelled);
        }
        let deadline = self.deadline.as_mut().or(self.end.as_mut())?;
        deadline
            .is_over(cx)
            .then_some(Interrupt::Deadline(deadline.limit))
    }
}

/// Polls the future that cancels the run, unless the future has completed.
fn is_cancelled(cancel: &mut Option<Cancel<'_>>, cx: &mut Context<'_>) -> bool {
    let Some(future) = cancel else {
        return false;
    };
    let is_ready = future.as_mut().poll(cx).is_ready();
    if is_ready {
        drop_quietly(cancel.take());
    }
    is_ready
}

/// The wait for a deadline. A run looks at the deadline after each step, and a poll of the timer takes time. So the deadline polls its timer once in each turn of
/// the run, and after each wake.
pub(super) struct Deadline {
    pub(super) limit: Duration,
    sleep: Option<TimerFuture>,
    alarm: Arc<DeadlineAlarm>,
    waker: Waker,
}

/// The waker of the timer.
struct DeadlineAlarm {
    rung: AtomicBool,
    run: LastWaker,
}

impl Deadline {
    pub(super) fn new(limit: Duration, sleep: TimerFuture) -> Self {
        let alarm = Arc::new(DeadlineAlarm {
            rung: AtomicBool::new(true),
            run: LastWaker::default(),
        });
        Self {
            limit,
            sleep: Some(sleep),
            waker: Waker::from(Arc::clone(&alarm)),
            alarm,
        }
    }

    /// Marks the timer for a poll, because the run has a turn.
    pub(super) fn ask_again(&self) {
        self.alarm.rung.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the timer must be polled.
    #[inline]
    fn has_rung(&self) -> bool {
        self.alarm.rung.load(Ordering::Acquire)
    }

    /// Returns `true` once, when the time has passed. Until then, the waker of the run is kept.
    #[inline]
    pub(super) fn is_over(&mut self, cx: &Context<'_>) -> bool {
        self.has_rung() && self.ask(cx)
    }

    #[cold]
    fn ask(&mut self, cx: &Context<'_>) -> bool {
        // A wake during the poll has the timer polled again.
        self.alarm.rung.store(false, Ordering::Release);
        self.alarm.run.set(cx.waker());
        let mut cx = Context::from_waker(&self.waker);
        let sleep = self.sleep.as_mut();
        sleep.is_some_and(|sleep| sleep.as_mut().poll(&mut cx).is_ready())
    }
}

impl Drop for Deadline {
    /// Drops the sleep of the timer, whose destructor may panic.
    fn drop(&mut self) {
        drop_quietly(self.sleep.take());
    }
}

impl Wake for DeadlineAlarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.run.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::Deadline;
    use std::future::poll_fn;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Wake, Waker};
    use std::time::Duration;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_timer_is_polled_after_each_wake_and_in_each_turn() {
        // The number of polls, the waker, and `true` once the time has passed.
        let state = Arc::new(Mutex::new((0, Waker::noop().clone(), false)));
        let wait = {
            let state = Arc::clone(&state);
            poll_fn(move |cx| {
                let mut state = state.lock().unwrap();
                state.0 += 1;
                state.1 = cx.waker().clone();
                if state.2 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
        };
        let asked = || state.lock().unwrap().0;
        let ring = || state.lock().unwrap().1.wake_by_ref();
        let mut deadline = Deadline::new(Duration::from_secs(1), Box::pin(wait));

        let runs = [Arc::<Woken>::default(), Arc::default()];
        let wakers = runs.clone().map(Waker::from);
        let [first, second] = wakers.each_ref().map(Context::from_waker);
        for _ in 0..3 {
            assert!(!deadline.is_over(&first));
        }
        assert_eq!(asked(), 1);

        // A wake of the timer wakes the run once.
        ring();
        ring();
        assert_eq!(runs[0].0.load(Ordering::Relaxed), 1);
        assert!(!deadline.is_over(&first) && !deadline.is_over(&first));
        assert_eq!(asked(), 2);

        // Another task polls the run in its next turn.
        deadline.ask_again();
        assert!(!deadline.is_over(&second) && !deadline.is_over(&second));
        assert_eq!(asked(), 3);

        state.lock().unwrap().2 = true;
        assert!(!deadline.is_over(&second));
        ring();
        assert_eq!(runs.map(|run| run.0.load(Ordering::Relaxed)), [1, 1]);
        assert!(deadline.is_over(&second));
    }
}
