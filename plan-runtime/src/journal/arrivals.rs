//! Notifications about the runs and messages of this process, so that servers need not query the storage.

use super::spi::Notified;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// The notifications so far. Clones share the state.
#[derive(Clone, Default)]
pub(super) struct Arrivals(Arc<Mutex<ArrivalState>>);

#[derive(Default)]
struct ArrivalState {
    /// The number of arrivals.
    count: u64,
    waiting: Vec<Waker>,
}

impl Arrivals {
    fn state(&self) -> MutexGuard<'_, ArrivalState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a future that is ready after the next arrival.
    pub(super) fn next(&self) -> Notified {
        let (arrivals, seen) = (self.clone(), self.state().count);
        Box::pin(poll_fn(move |cx| {
            let mut state = arrivals.state();
            if state.count != seen {
                return Poll::Ready(());
            }
            if !state.waiting.iter().any(|it| it.will_wake(cx.waker())) {
                state.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        }))
    }

    /// Wakes all servers.
    pub(super) fn come(&self) {
        let mut state = self.state();
        state.count += 1;
        let woken = std::mem::take(&mut state.waiting);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}
