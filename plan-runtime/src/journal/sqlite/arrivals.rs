//! Whoever serves a database learns of runs that this process submits, and need not look.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

#[derive(Default)]
pub(super) struct Arrivals(Mutex<State>);

#[derive(Default)]
struct State {
    /// How many there were.
    count: u64,
    waiting: Vec<Waker>,
}

impl Arrivals {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something has come since the last time. Otherwise the waker is woken when something does.
    pub(super) fn have_come(&self, seen: &mut u64, waker: &Waker) -> bool {
        let mut state = self.state();
        if *seen != state.count {
            *seen = state.count;
            return true;
        }
        if !state.waiting.iter().any(|it| it.will_wake(waker)) {
            state.waiting.push(waker.clone());
        }
        false
    }

    pub(super) fn come(&self) {
        let mut state = self.state();
        state.count += 1;
        let woken = std::mem::take(&mut state.waiting);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}
