//! Sources of time for a run.

mod manual;
mod waits;

pub use manual::ManualTimer;

use super::StepError;
use crate::resolve::drop_quietly;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use waits::WaitUntil;

/// A future that ends after a wait. [`Timer::sleep`] returns it.
pub type TimerFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A source of time for a run: for backoff, time limits, and the times in reports and events.
///
/// Without [`Run::timer`](super::Run::timer), a run uses [`ThreadTimer`], which works under every runtime. A run of a `plan!` without policies
/// and without a deadline never sleeps. For tests with tokio's paused clock, use a timer such as this one:
///
/// ```
/// use plan_runtime::run::{TimerFuture, Timer};
/// use std::time::{Duration, Instant};
///
/// struct TokioTimer;
///
/// impl Timer for TokioTimer {
///     fn now(&self) -> Instant {
///         tokio::time::Instant::now().into_std()
///     }
///
///     fn sleep(&self, duration: Duration) -> TimerFuture {
///         Box::pin(tokio::time::sleep(duration))
///     }
/// }
/// ```
pub trait Timer: Send + Sync {
    /// Returns the current time, which never decreases. A run uses only differences of times.
    fn now(&self) -> Instant;

    /// Returns a future that completes after this time.
    fn sleep(&self, duration: Duration) -> TimerFuture;
}

impl<T: Timer + ?Sized> Timer for Arc<T> {
    fn now(&self) -> Instant {
        (**self).now()
    }

    fn sleep(&self, duration: Duration) -> TimerFuture {
        (**self).sleep(duration)
    }
}

/// A timer of the system's time. The first wait of a run starts one thread, which serves all runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadTimer;

impl Timer for ThreadTimer {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, duration: Duration) -> TimerFuture {
        Box::pin(WaitUntil::after(duration))
    }
}

/// Returns the value of a future, or the error of a time limit that passes first. A panic of the destructor of a late future is lost.
pub(super) async fn before<F: Future + Unpin>(
    mut future: F,
    mut limit: Option<(TimerFuture, StepError)>,
) -> Result<F::Output, StepError> {
    let result = poll_fn(|cx| {
        if let Poll::Ready(value) = Pin::new(&mut future).poll(cx) {
            return Poll::Ready(Ok(value));
        }
        match &mut limit {
            Some((sleep, error)) => sleep.as_mut().poll(cx).map(|()| Err(error.clone())),
            None => Poll::Pending,
        }
    });
    let result = result.await;
    if result.is_err() {
        drop_quietly(future);
    }
    result
}

/// Lets the executor poll other tasks. The future is ready at its second poll.
pub(super) fn yield_now() -> impl Future<Output = ()> {
    let mut is_ready = false;
    poll_fn(move |cx| {
        if std::mem::replace(&mut is_ready, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}
