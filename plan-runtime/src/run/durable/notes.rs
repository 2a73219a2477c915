//! The writes that nobody waits for.

use crate::journal::JournalError;
use crate::journal::spi::Written;
use std::collections::VecDeque;
use std::task::{Context, Poll};

/// Writes that nobody waits for. The machine makes no call before all earlier writes are durable.
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
