//! The waker of the last poll, which other threads call.

use super::catch::locked;
use std::sync::Mutex;
use std::task::Waker;

/// The waker of the last poll of a run or a server, until its first call.
#[derive(Default)]
pub(crate) struct LastWaker(Mutex<Option<Waker>>);

impl LastWaker {
    /// Sets the waker, at the beginning of a poll.
    pub(crate) fn set(&self, waker: &Waker) {
        let mut last = locked(&self.0);
        let before = match &*last {
            Some(last) if last.will_wake(waker) => None,
            _ => last.replace(waker.clone()),
        };
        // The destructor of a waker may run any code.
        drop(last);
        drop(before);
    }

    pub(crate) fn wake(&self) {
        let last = locked(&self.0).take();
        last.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::LastWaker;
    use std::sync::Arc;
    use std::task::{Wake, Waker};

    struct WakesInDrop(Arc<LastWaker>);

    impl Wake for WakesInDrop {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for WakesInDrop {
        fn drop(&mut self) {
            self.0.wake();
        }
    }

    #[test]
    fn the_destructor_of_a_waker_may_wake() {
        let last = Arc::new(LastWaker::default());
        last.set(&Waker::from(Arc::new(WakesInDrop(Arc::clone(&last)))));
        last.set(Waker::noop());
        last.wake();
    }
}
