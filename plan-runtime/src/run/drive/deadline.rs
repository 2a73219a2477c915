//! The wait for the deadline of a run, and for the end of the grace period.

use super::super::catch::locked;
use super::super::timer::TimerFuture;
use crate::resolve::drop_quietly;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

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
    run: Mutex<Option<Waker>>,
}

impl Deadline {
    pub(super) fn new(limit: Duration, sleep: TimerFuture) -> Self {
        let alarm = Arc::new(DeadlineAlarm {
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

    /// Marks the timer for a poll, because the run has a turn.
    pub(super) fn ask_again(&self) {
        self.alarm.rung.store(true, Ordering::Relaxed);
    }

    /// Returns `true` once, when the time has passed. Until then, the waker of the run is kept.
    #[inline]
    pub(super) fn is_over(&mut self, cx: &Context<'_>) -> bool {
        self.alarm.rung.load(Ordering::Acquire) && self.ask(cx)
    }

    #[cold]
    fn ask(&mut self, cx: &Context<'_>) -> bool {
        // A wake during the poll has the timer polled again.
        self.alarm.rung.store(false, Ordering::Release);
        self.alarm.wake_run_by(cx.waker());
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

impl DeadlineAlarm {
    fn wake_run_by(&self, waker: &Waker) {
        let mut run = locked(&self.run);
        let before = match &*run {
            Some(kept) if kept.will_wake(waker) => None,
            _ => run.replace(waker.clone()),
        };
        // The destructor of the waker may wake the run.
        drop(run);
        drop(before);
    }
}

impl Wake for DeadlineAlarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        let run = locked(&self.run).take();
        if let Some(run) = run {
            run.wake();
        }
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
