use crate::run::ManualTimer;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

impl ManualTimer {
    /// Awaits a future, and moves the time on to the end of the next wait whenever nothing else can happen. So a test takes no
    /// time, however long its waits are, and [`elapsed`](Self::elapsed) says how long they would have been.
    ///
    /// Only waits of this timer are skipped. While the future waits for anything else, a channel or a socket, the time moves on all the
    /// same, if something sleeps.
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
    /// let result = smol::block_on(timer.skip_waits(plan.run(&()).timer(&timer)));
    /// assert_eq!(result.unwrap_err().failures()[0].error().to_string(), "took longer than 1h");
    /// assert_eq!(timer.elapsed(), Duration::from_hours(1));
    /// ```
    pub async fn skip_waits<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let woken = Arc::new(Woken {
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

/// Whether something woke a future since it was polled last; it wakes what waits for that.
struct Woken {
    already: AtomicBool,
    waker: Waker,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.already.store(true, Ordering::SeqCst);
        self.waker.wake_by_ref();
    }
}
