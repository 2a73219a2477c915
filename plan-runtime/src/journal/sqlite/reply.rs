//! The answer to a job, from another thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

struct Slot<T> {
    answer: Option<T>,
    is_closed: bool,
    waker: Option<Waker>,
}

type Shared<T> = Arc<Mutex<Slot<T>>>;

fn lock<T>(slot: &Shared<T>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sender of a reply. A drop without an answer ends the wait with an error.
pub(super) struct Answer<T>(Shared<T>);

/// The answer, or `None` if the sender was dropped without one.
pub(super) struct Reply<T>(Shared<T>);

pub(super) fn reply<T>() -> (Answer<T>, Reply<T>) {
    let slot = Arc::new(Mutex::new(Slot {
        answer: None,
        is_closed: false,
        waker: None,
    }));
    (Answer(Arc::clone(&slot)), Reply(slot))
}

impl<T> Answer<T> {
    /// Stores the answer. The drop wakes the caller.
    pub(super) fn give(&self, answer: T) {
        lock(&self.0).answer = Some(answer);
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        let waker = {
            let mut slot = lock(&self.0);
            slot.is_closed = true;
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Reply<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = lock(&self.0);
        if slot.is_closed {
            return Poll::Ready(slot.answer.take());
        }
        // The lock is released before the old waker is dropped, because the drop may run any code.
        let old = slot.waker.replace(cx.waker().clone());
        drop(slot);
        drop(old);
        Poll::Pending
    }
}
