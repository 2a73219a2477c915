//! How many runs are polled inside of each other, which is bounded: each is on the stack.

use std::cell::Cell;

/// So many runs may be polled inside of each other on a thread. Unoptimised, one takes 7 to 10 KiB of the stack besides what tools take, and
/// threads have 2 MiB.
pub(super) const DEEPEST: usize = 64;

thread_local! {
    static POLLED: Cell<usize> = const { Cell::new(0) };
}

/// A run that is being polled on this thread.
pub(super) struct Nested(());

impl Nested {
    /// Enters a run; `None` where it would be too deep inside of others.
    pub(super) fn enter() -> Option<Self> {
        let around = POLLED.get();
        (around < DEEPEST).then(|| {
            POLLED.set(around + 1);
            Self(())
        })
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        POLLED.set(POLLED.get() - 1);
    }
}
