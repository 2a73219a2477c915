//! Waits for messages, and for runs that may be due.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// A run's wait for messages.
struct Waiting {
    run: i64,
    epoch: i64,
    after: i64,
    woken: Arc<Notify>,
}

#[derive(Default)]
pub(crate) struct Watching {
    state: Mutex<State>,
    arrivals: Arc<Notify>,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u64, Waiting>,
    /// The number of waits until now.
    count: u64,
}

/// The right to a wait, which ends when this value is dropped.
pub(crate) struct Ticket {
    watching: Arc<Watching>,
    number: u64,
    pub(crate) woken: Arc<Notify>,
}

impl Watching {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn register(self: &Arc<Self>, run: i64, epoch: i64, after: i64) -> Ticket {
        let mut state = self.state();
        state.count += 1;
        let number = state.count;
        let woken = Arc::new(Notify::new());
        let waiting = Waiting {
            run,
            epoch,
            after,
            woken: Arc::clone(&woken),
        };
        state.waiting.insert(number, waiting);
        Ticket {
            watching: Arc::clone(self),
            number,
            woken,
        }
    }

    fn wake_those(&self, is_meant: impl Fn(i64) -> bool) {
        let state = self.state();
        let meant = state.waiting.values().filter(|it| is_meant(it.run));
        let woken: Vec<_> = meant.map(|it| Arc::clone(&it.woken)).collect();
        // The lock is released first, since a waker may run any code.
        drop(state);
        woken.iter().for_each(|woken| woken.notify_waiters());
    }

    /// Wakes the waits of a run, which then check for messages.
    pub(crate) fn wake(&self, run: i64) {
        self.wake_those(|it| it == run);
    }

    /// Wakes all waits, which then check for messages.
    pub(crate) fn wake_all(&self) {
        self.wake_those(|_| true);
    }

    /// Ends the waits for runs that may be due.
    pub(crate) fn arrive(&self) {
        self.arrivals.notify_waiters();
    }

    /// Returns a wait for a run that may be due. The wait has begun when this method returns.
    pub(crate) fn arrival(&self) -> OwnedNotified {
        Arc::clone(&self.arrivals).notified_owned()
    }

    /// Returns the run, the epoch and the last known message of each wait.
    pub(crate) fn all(&self) -> [Vec<i64>; 3] {
        let state = self.state();
        let column = |of: fn(&Waiting) -> i64| state.waiting.values().map(of).collect();
        [
            column(|it| it.run),
            column(|it| it.epoch),
            column(|it| it.after),
        ]
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let gone = self.watching.state().waiting.remove(&self.number);
        drop(gone);
    }
}
