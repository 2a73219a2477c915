//! The waits of all runs, which one thread ends.
//!
//! Most waits end early, such as the wait for a run's deadline, so an early end must be cheap: it does not wake the thread. Only a new wait that ends
//! before the thread's next wake-up wakes the thread, and that wake-up may belong to a wait that has already ended.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// A wait until a time, which is `None` if it is beyond the range of `Instant`.
pub(super) struct WaitUntil {
    time: Option<Instant>,
    /// The number of the wait, after its first poll.
    number: Option<u64>,
}

/// The end of a wait, and a number, since several waits may end at one time.
type Key = (Instant, u64);

struct Waits {
    state: Mutex<WaitsState>,
    /// Notified of a wait that ends before the thread's next wake-up.
    is_earlier: Condvar,
}

struct WaitsState {
    /// The wakers by the ends of their waits.
    wakers: BTreeMap<Key, Waker>,
    count: u64,
    thread: ThreadState,
}

enum ThreadState {
    NotStarted,
    /// About to check the waits.
    Awake,
    /// Sleeping until this time, or forever.
    Asleep(Option<Instant>),
}

static WAITS: Waits = Waits {
    state: Mutex::new(WaitsState {
        wakers: BTreeMap::new(),
        count: 0,
        thread: ThreadState::NotStarted,
    }),
    is_earlier: Condvar::new(),
};

impl WaitUntil {
    /// Creates a wait of this length, which starts now.
    pub(super) fn after(duration: Duration) -> Self {
        Self {
            time: Instant::now().checked_add(duration),
            number: None,
        }
    }
}

impl Future for WaitUntil {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(time) = self.time else {
            return Poll::Pending;
        };
        if Instant::now() >= time {
            return Poll::Ready(());
        }
        let waker = cx.waker().clone();
        self.number = Some(WAITS.add(time, self.number, waker));
        Poll::Pending
    }
}

impl Drop for WaitUntil {
    fn drop(&mut self) {
        if let (Some(time), Some(number)) = (self.time, self.number) {
            let waker = WAITS.lock().wakers.remove(&(time, number));
            // Dropped after the lock is released, since the waker's destructor may wait as well.
            drop(waker);
        }
    }
}

impl Waits {
    fn lock(&self) -> MutexGuard<'_, WaitsState> {
        // No code that changes the state can panic while the state is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes this waker at a time, in place of the earlier waker of the wait with this number. Returns the number of the wait.
    fn add(&'static self, time: Instant, number: Option<u64>, waker: Waker) -> u64 {
        let mut state = self.lock();
        match state.thread {
            ThreadState::NotStarted => {
                let thread = thread::Builder::new().name("plan-timer".into());
                let thread = thread.spawn(|| self.run());
                thread.expect("a thread can be started that ends waits");
                state.thread = ThreadState::Awake;
            }
            ThreadState::Asleep(until) if until.is_none_or(|until| time < until) => {
                state.thread = ThreadState::Awake;
                self.is_earlier.notify_one();
            }
            ThreadState::Asleep(_) | ThreadState::Awake => {}
        }
        let number = number.unwrap_or_else(|| {
            state.count += 1;
            state.count
        });
        let before = state.wakers.insert((time, number), waker);
        drop(state);
        drop(before);
        number
    }

    /// Wakes each waker at its time, on the thread.
    fn run(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let next = state.wakers.first_key_value().map(|((time, _), _)| *time);
            match next {
                Some(time) if time <= now => {
                    let due = state.wakers.pop_first();
                    // A waker may run foreign code, which may wait again.
                    drop(state);
                    if let Some((_, waker)) = due {
                        let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                    }
                    state = self.lock();
                }
                next => {
                    state.thread = ThreadState::Asleep(next);
                    let is_asleep =
                        |state: &mut WaitsState| matches!(state.thread, ThreadState::Asleep(_));
                    state = match next {
                        Some(time) => {
                            let left = time.saturating_duration_since(now);
                            let waited = self.is_earlier.wait_timeout_while(state, left, is_asleep);
                            waited.unwrap_or_else(PoisonError::into_inner).0
                        }
                        None => {
                            let waited = self.is_earlier.wait_while(state, is_asleep);
                            waited.unwrap_or_else(PoisonError::into_inner)
                        }
                    };
                    state.thread = ThreadState::Awake;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{WAITS, WaitUntil};
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread;
    use std::time::{Duration, Instant};

    /// A waker that sends its name when it is woken.
    struct Told(&'static str, Mutex<Sender<&'static str>>);

    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().send(self.0).unwrap();
            assert!(self.0 != "panics", "a waker may panic");
        }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn poll(wait: &mut WaitUntil, waker: &Waker) -> bool {
        Pin::new(wait).poll(&mut Context::from_waker(waker)) == Poll::Ready(())
    }

    #[test]
    fn waits_end_in_their_order_whatever_the_wakers_do() {
        let (tell, told) = channel();
        let waker = |name| Waker::from(Arc::new(Told(name, Mutex::new(tell.clone()))));
        let start = Instant::now();
        let waits = [("late", 60), ("panics", 20), ("early", 5), ("gone", 10)];
        let mut waits = waits.map(|(name, time)| (name, WaitUntil::after(ms(time))));
        for (name, wait) in &mut waits {
            // Only the last waker is woken.
            assert!(!poll(wait, &waker("nobody")));
            assert!(!poll(wait, &waker(name)));
        }
        let mut for_ever = WaitUntil::after(Duration::MAX);
        assert!(!poll(&mut for_ever, &waker("nobody")));
        let [mut late, _panics, _early, (_, gone)] = waits;
        drop(gone);
        let names: Vec<&str> = (0..3).map(|_| told.recv().unwrap()).collect();
        assert_eq!(names, ["early", "panics", "late"]);
        assert!(start.elapsed() >= ms(60));
        assert!(poll(&mut late.1, &waker("late")));
        assert!(poll(&mut WaitUntil::after(ms(0)), &waker("now")));
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let kept = Arc::new(Told("kept", Mutex::new(channel().0)));
        let mut waits: Vec<WaitUntil> = (0..100).map(|_| WaitUntil::after(ms(3_600_000))).collect();
        for wait in &mut waits {
            assert!(!poll(wait, &Waker::from(Arc::clone(&kept))));
        }
        assert_eq!(Arc::strong_count(&kept), 101);
        assert!(WAITS.lock().wakers.len() >= 100);
        drop(waits);
        assert_eq!(Arc::strong_count(&kept), 1);
    }

    #[test]
    fn many_threads_wait() {
        let threads = (0..8_u64).map(|thread| {
            thread::spawn(move || {
                for turn in 0..20 {
                    let (start, time) = (Instant::now(), ms(thread * turn % 7));
                    let long = WaitUntil::after(ms(60_000));
                    smol::block_on(async {
                        let waits = smol::future::or(long, WaitUntil::after(time));
                        waits.await;
                    });
                    let took = start.elapsed();
                    assert!(took >= time && took < ms(30_000), "{took:?} for {time:?}");
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(|it| it.join().unwrap());
    }
}
