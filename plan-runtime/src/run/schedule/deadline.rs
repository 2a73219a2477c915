//! The wait for the deadline of a run.

use super::super::timer::Sleep;
use crate::resolve::drop_quietly;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// The wait for a deadline. A run asks after each step whether it is over, so the wait itself is asked only when it may be: in each turn of the run
/// once, and when it was woken.
pub(super) struct Deadline {
    pub(super) limit: Duration,
    sleep: Option<Sleep>,
    alarm: Arc<Alarm>,
    waker: Waker,
}

/// What the wait wakes.
struct Alarm {
    rung: AtomicBool,
    run: Mutex<Option<Waker>>,
}

impl Deadline {
    pub(super) fn new(limit: Duration, sleep: Sleep) -> Self {
        let alarm = Arc::new(Alarm {
            rung: AtomicBool::new(true),
            run: Mutex::new(None),
        });
        Self {
            limit,
            sleep: Some(sleep),
            waker: Waker::from(Arc::clone(&alarm)),
            alarm,
        }
    }

    /// Has the wait asked again.
    pub(super) fn ask_again(&self) {
        self.alarm.rung.store(true, Ordering::Relaxed);
    }

    /// Whether the wait is over; if not, the run is woken when it is.
    #[inline]
    pub(super) fn is_over(&mut self, cx: &Context<'_>) -> bool {
        self.alarm.rung.load(Ordering::Acquire) && self.ask(cx)
    }

    #[cold]
    fn ask(&mut self, cx: &Context<'_>) -> bool {
        // Before it is asked: what wakes it from then on is to have it asked again.
        self.alarm.rung.store(false, Ordering::Release);
        self.alarm.wake_run_by(cx.waker());
        let mut cx = Context::from_waker(&self.waker);
        let sleep = self.sleep.as_mut();
        sleep.is_some_and(|sleep| sleep.as_mut().poll(&mut cx).is_ready())
    }
}

impl Drop for Deadline {
    /// The wait is the timer's, and its destructor may panic.
    fn drop(&mut self) {
        drop_quietly(self.sleep.take());
    }
}

impl Alarm {
    fn run(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_run_by(&self, waker: &Waker) {
        let mut run = self.run();
        let before = match &*run {
            Some(kept) if kept.will_wake(waker) => None,
            _ => run.replace(waker.clone()),
        };
        // What it drops with itself may wake what waits here.
        drop(run);
        drop(before);
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        let run = self.run().take();
        if let Some(run) = run {
            run.wake();
        }
    }
}
