//! A timer for tests, which advance its time. In contrast to tokio's paused clock, the timer works under every runtime.

use super::super::catch::locked;
use super::{Timer, TimerFuture};
use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// A timer whose time does not pass until a test advances it. Clones share the time.
///
/// ```
/// use plan_runtime::run::{ManualTimer, Timer};
/// use std::time::Duration;
///
/// let timer = ManualTimer::new();
/// let start = timer.now();
/// let sleep = timer.sleep(Duration::from_secs(3600));
/// assert_eq!(timer.next(), Some(Duration::from_secs(3600)));
/// timer.advance(Duration::from_secs(3600));
/// assert_eq!(timer.now() - start, Duration::from_secs(3600));
/// # drop(sleep);
/// ```
#[derive(Clone)]
pub struct ManualTimer(Arc<Mutex<Manual>>);

struct Manual {
    start: Instant,
    elapsed: Duration,
    /// The number of sleeps so far.
    slept: u64,
    /// The wakers, by the end of the sleep and its number. Dropped sleeps are skipped.
    sleepers: BTreeMap<(Duration, u64), Arc<Mutex<Alarm>>>,
}

#[derive(Default)]
struct Alarm {
    rung: bool,
    waker: Option<Waker>,
}

impl ManualTimer {
    /// Creates a timer on which no time has passed.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Manual {
            start: Instant::now(),
            elapsed: Duration::ZERO,
            slept: 0,
            sleepers: BTreeMap::new(),
        })))
    }

    /// Returns the elapsed time.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        locked(&self.0).elapsed
    }

    /// Returns the time until the next sleeper wakes, or `None` without sleepers.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        let mut manual = locked(&self.0);
        manual.forget_dropped();
        let (&(at, _), _) = manual.sleepers.first_key_value()?;
        Some(at.saturating_sub(manual.elapsed))
    }

    /// Advances the time, and wakes the sleepers whose time has passed.
    pub fn advance(&self, duration: Duration) {
        let mut manual = locked(&self.0);
        manual.elapsed += duration;
        let now = (manual.elapsed, u64::MAX);
        let later = manual.sleepers.split_off(&now);
        let woken = std::mem::replace(&mut manual.sleepers, later);
        drop(manual);
        for alarm in woken.into_values() {
            let mut alarm = locked(&alarm);
            alarm.rung = true;
            if let Some(waker) = alarm.waker.take() {
                waker.wake();
            }
        }
    }

    /// Awaits a future. Whenever the future waits, the timer advances the time to the end of its next sleep. So a test takes no
    /// time, and [`elapsed`](Self::elapsed) returns the total of its waits.
    ///
    /// The timer skips only its own sleeps. While the future waits for a channel or a socket, the time also
    /// advances to the next sleep.
    ///
    /// ```
    /// use plan_runtime::run::ManualTimer;
    /// use plan_runtime::{Result, plan, tool};
    /// use std::time::Duration;
    ///
    /// /// Takes forever.
    /// #[tool]
    /// async fn wait() -> Result<()> {
    ///     std::future::pending().await
    /// }
    ///
    /// let plan = plan! {
    ///     #[timeout("1h")]
    ///     step never = Wait {};
    ///     never
    /// };
    /// let timer = ManualTimer::new();
    /// let result = smol::block_on(timer.skip_waits(plan.run(&()).timer(timer.clone())));
    /// assert_eq!(result.unwrap_err().failures()[0].error().to_string(), "took longer than 1h");
    /// assert_eq!(timer.elapsed(), Duration::from_secs(60 * 60));
    /// ```
    pub async fn skip_waits<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let woken = Arc::new(WokenSleepers {
                already: AtomicBool::new(false),
                waker: cx.waker().clone(),
            });
            let waker = Waker::from(woken.clone());
            let poll = future.as_mut().poll(&mut Context::from_waker(&waker));
            if poll.is_pending()
                && !woken.already.load(Ordering::SeqCst)
                && let Some(wait) = self.next()
            {
                self.advance(wait);
            }
            poll
        })
        .await
    }
}

impl Manual {
    fn forget_dropped(&mut self) {
        while let Some(first) = self.sleepers.first_entry()
            && Arc::strong_count(first.get()) == 1
        {
            first.remove();
        }
    }
}

impl Default for ManualTimer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManualTimer({:?})", self.elapsed())
    }
}

impl Timer for ManualTimer {
    fn now(&self) -> Instant {
        let manual = locked(&self.0);
        manual.start + manual.elapsed
    }

    fn sleep(&self, duration: Duration) -> TimerFuture {
        let alarm = Arc::new(Mutex::new(Alarm {
            rung: duration.is_zero(),
            waker: None,
        }));
        if !duration.is_zero() {
            let mut manual = locked(&self.0);
            let at = manual.elapsed.saturating_add(duration);
            let before = manual.slept;
            manual.slept += 1;
            manual.sleepers.insert((at, before), alarm.clone());
        }
        Box::pin(Waiting(alarm))
    }
}

struct Waiting(Arc<Mutex<Alarm>>);

impl Future for Waiting {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut alarm = locked(&self.0);
        if alarm.rung {
            return Poll::Ready(());
        }
        alarm.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// A waker that records a wake-up of the future since its last poll, and passes the wake-up to the caller's waker.
struct WokenSleepers {
    already: AtomicBool,
    waker: Waker,
}

impl Wake for WokenSleepers {
    fn wake(self: Arc<Self>) {
        self.already.store(true, Ordering::SeqCst);
        self.waker.wake_by_ref();
    }
}
