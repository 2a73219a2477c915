//! A timer for tests, which advance its time. In contrast to tokio's paused clock, the timer works under every runtime.

use super::super::catch::locked;
use super::waits::WaitUntil;
use super::{Timer, TimerFuture};
use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// The number of pieces of real time after which a sleep fails that no test ends. A suspension of the process is part of one piece.
const PIECES: u32 = 30;

/// The length of a piece.
const PIECE: Duration = Duration::from_secs(1);

/// A timer whose time does not pass until a test advances it. Clones share the time.
///
/// Await a run with [`skip_waits`](Self::skip_waits), or call [`advance`](Self::advance) while the run waits. Otherwise, a sleep never ends. After 30
/// seconds of real time without any use of the timer, the sleep panics, and so the run fails with a message about `skip_waits`. A suspension of the process
/// counts as at most one second.
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
    sleepers: BTreeMap<(Duration, u64), Arc<Mutex<ManualAlarm>>>,
    /// The number of uses of the timer.
    uses: u64,
    /// The length of a piece of real time.
    piece: Duration,
    /// The number of futures that [`ManualTimer::skip_waits`] awaits. Their sleeps end without a use of the timer.
    skips: usize,
}

#[derive(Default)]
struct ManualAlarm {
    rung: bool,
    waker: Option<Waker>,
}

impl ManualTimer {
    /// Creates a timer on which no time has passed.
    #[must_use]
    pub fn new() -> Self {
        Self::with_piece(PIECE)
    }

    fn with_piece(piece: Duration) -> Self {
        Self(Arc::new(Mutex::new(Manual {
            start: Instant::now(),
            uses: 0,
            piece,
            skips: 0,
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
        let mut manual = self.used();
        manual.forget_dropped();
        let (&(at, _), _) = manual.sleepers.first_key_value()?;
        Some(at.saturating_sub(manual.elapsed))
    }

    /// Advances the time, and wakes the sleepers whose time has passed.
    pub fn advance(&self, duration: Duration) {
        let mut manual = self.used();
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

    fn used(&self) -> MutexGuard<'_, Manual> {
        let mut manual = locked(&self.0);
        manual.uses += 1;
        manual
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
        let _skip = Skip::of(self);
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
        let manual = self.used();
        manual.start + manual.elapsed
    }

    fn sleep(&self, duration: Duration) -> TimerFuture {
        let alarm = Arc::new(Mutex::new(ManualAlarm {
            rung: duration.is_zero(),
            waker: None,
        }));
        if !duration.is_zero() {
            let mut manual = self.used();
            let at = manual.elapsed.saturating_add(duration);
            let before = manual.slept;
            manual.slept += 1;
            manual.sleepers.insert((at, before), alarm.clone());
        }
        Box::pin(ManualWait {
            timer: self.clone(),
            alarm,
            patience: None,
        })
    }
}

/// A wait of [`ManualTimer::skip_waits`], until its drop.
struct Skip<'a>(&'a ManualTimer);

impl<'a> Skip<'a> {
    fn of(timer: &'a ManualTimer) -> Self {
        timer.used().skips += 1;
        Self(timer)
    }
}

impl Drop for Skip<'_> {
    fn drop(&mut self) {
        self.0.used().skips -= 1;
    }
}

struct ManualWait {
    timer: ManualTimer,
    alarm: Arc<Mutex<ManualAlarm>>,
    patience: Option<Patience>,
}

/// The pieces of real time that a sleep has waited since the last use of the timer.
struct Patience {
    piece: WaitUntil,
    count: u32,
    /// The number of uses of the timer before these pieces.
    uses: u64,
}

impl Future for ManualWait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let it = &mut *self;
        {
            let mut alarm = locked(&it.alarm);
            if alarm.rung {
                return Poll::Ready(());
            }
            alarm.waker = Some(cx.waker().clone());
        }
        let patience = it.patience.get_or_insert_with(|| {
            let manual = it.timer.used();
            Patience {
                piece: WaitUntil::after(manual.piece),
                count: 0,
                uses: manual.uses,
            }
        });
        while Pin::new(&mut patience.piece).poll(cx).is_ready() {
            let manual = locked(&it.timer.0);
            patience.piece = WaitUntil::after(manual.piece);
            patience.count += 1;
            if manual.skips > 0 || manual.uses != patience.uses {
                (patience.count, patience.uses) = (0, manual.uses);
            }
            drop(manual);
            assert!(
                patience.count < PIECES,
                "nothing advances the `ManualTimer` on which this run waits: \
                 await the run with `timer.skip_waits(run)`, or call `timer.advance(…)`"
            );
        }
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

#[cfg(test)]
mod tests {
    use super::super::Timer;
    use super::ManualTimer;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::time::Duration;

    fn ended(timer: &ManualTimer, skips: bool) -> Result<(), String> {
        let sleep = timer.sleep(Duration::from_secs(3600));
        let run = AssertUnwindSafe(|| {
            if skips {
                smol::block_on(timer.skip_waits(sleep));
            } else {
                smol::block_on(sleep);
            }
        });
        let failed = catch_unwind(run);
        failed.map_err(|panic| (*panic.downcast_ref::<&str>().unwrap()).to_owned())
    }

    #[test]
    fn a_sleep_that_nothing_ends_fails() {
        let timer = ManualTimer::with_piece(Duration::from_millis(2));
        assert_eq!(ended(&timer, true), Ok(()));
        let error = ended(&timer, false).unwrap_err();
        assert!(
            error.contains("await the run with `timer.skip_waits(run)`"),
            "{error}"
        );
    }

    #[test]
    fn a_used_timer_is_patient() {
        let timer = ManualTimer::with_piece(Duration::from_millis(70));
        let uses = std::thread::spawn({
            let timer = timer.clone();
            move || {
                for _ in 0..110 {
                    std::thread::sleep(Duration::from_millis(20));
                    timer.advance(Duration::from_secs(33));
                }
            }
        });
        assert_eq!(ended(&timer, false), Ok(()));
        uses.join().unwrap();
    }

    /// The clock of a suspended process jumps.
    #[test]
    fn a_jump_of_the_clock_takes_little_patience() {
        let timer = ManualTimer::with_piece(Duration::from_millis(2));
        let mut sleep = timer.sleep(Duration::from_secs(1));
        smol::block_on(async {
            assert_eq!(smol::future::poll_once(&mut sleep).await, None);
            std::thread::sleep(Duration::from_millis(100));
            assert_eq!(smol::future::poll_once(&mut sleep).await, None);
            timer.advance(Duration::from_secs(1));
            sleep.await;
        });
    }

    /// A blocked thread uses the timer too late.
    #[test]
    fn a_skipped_sleep_survives_a_blocked_thread() {
        let timer = ManualTimer::with_piece(Duration::from_millis(1));
        let sleep = timer.sleep(Duration::from_secs(1));
        let blocks = async {
            let mut sleep = pin!(sleep);
            assert_eq!(smol::future::poll_once(&mut sleep).await, None);
            std::thread::sleep(Duration::from_millis(60));
            sleep.await;
        };
        smol::block_on(timer.skip_waits(blocks));
        assert_eq!(timer.elapsed(), Duration::from_secs(1));
    }
}
