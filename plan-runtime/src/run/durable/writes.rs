//! The writes that are not durable yet, and the waker of the outermost plan.

use crate::journal::JournalError;
use crate::journal::spi::Written;
use crate::run::last_waker::LastWaker;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// The waker of the outermost plan.
#[derive(Default)]
pub(super) struct Root {
    pub(super) waker: LastWaker,
    /// `true` if a write was woken since the last look at the writes.
    has_rung: AtomicBool,
}

impl Root {
    /// Returns `true` if a write was woken since the last call.
    pub(super) fn has_rung(&self) -> bool {
        self.has_rung.swap(false, Ordering::AcqRel)
    }
}

/// A write of a record that waits for its turn. A write is polled only after its waker was called, since a run may have
/// hundreds of writes.
pub(super) struct Write {
    written: Written,
    alarm: Arc<Alarm>,
}

pub(super) struct Alarm {
    has_rung: AtomicBool,
    root: Arc<Root>,
}

impl Write {
    pub(super) fn new(written: Written, root: &Arc<Root>) -> Self {
        let alarm = Alarm {
            has_rung: AtomicBool::new(true),
            root: Arc::clone(root),
        };
        Self {
            written,
            alarm: Arc::new(alarm),
        }
    }

    pub(super) fn alarm(&self) -> Arc<Alarm> {
        Arc::clone(&self.alarm)
    }

    /// Polls the write, if it is new or was woken.
    pub(super) fn poll(&mut self) -> Poll<Result<(), JournalError>> {
        if !self.alarm.has_rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let waker = Waker::from(Arc::clone(&self.alarm));
        self.written.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

impl Alarm {
    /// Rings once more if the alarm has rung.
    pub(super) fn repeat(&self) {
        if self.has_rung.load(Ordering::Acquire) {
            self.root.has_rung.store(true, Ordering::Release);
            self.root.waker.wake();
        }
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::Release);
        self.repeat();
    }
}

/// Writes without a waiting task. The machine makes no call before all earlier writes are durable.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) writing: VecDeque<Written>,
    /// The number of writes so far.
    pub(super) noted: u64,
    /// The number of durable writes.
    pub(super) durable: u64,
}

impl Notes {
    pub(super) fn add(&mut self, note: Written) {
        self.writing.push_back(note);
        self.noted += 1;
    }

    /// Polls these writes in their order, up to the first one that is not durable. Returns the number of the durable writes, and the first error.
    pub(super) fn poll(
        writing: &mut VecDeque<Written>,
        cx: &Context<'_>,
    ) -> (u64, Option<JournalError>) {
        let (mut done, mut failed) = (0, None);
        while let Some(note) = writing.front_mut() {
            match note.as_mut().poll(&mut Context::from_waker(cx.waker())) {
                Poll::Pending => break,
                Poll::Ready(Ok(())) => done += 1,
                Poll::Ready(Err(error)) => failed = failed.or(Some(error)),
            }
            writing.pop_front();
        }
        (done, failed)
    }

    /// Takes back the writes that are not durable, before newer writes.
    pub(super) fn take_back(&mut self, mut writing: VecDeque<Written>, done: u64) {
        writing.append(&mut self.writing);
        self.writing = writing;
        self.durable += done;
    }
}
