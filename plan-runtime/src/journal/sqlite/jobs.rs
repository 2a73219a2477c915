//! The jobs of the writer thread, and the number of jobs in a transaction.

use super::super::JournalError;
use super::super::spi::{Claimed, End, Message, Rest, RunInfo};
use super::encryption::Cipher;
use super::failure::Cause;
use super::reply::Answer;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// The most jobs of a transaction.
const BATCH: usize = 256;

/// The approximate number of bytes of a transaction.
const BATCH_BYTES: usize = 4 << 20;

/// The most pauses of a transaction that waits for further jobs, because it has fewer jobs than the last transaction. `PAUSE` is the shortest length
/// of a pause.
const PAUSES: usize = 4;
const PAUSE: Duration = Duration::from_micros(10);

/// The time until a run that could not be released is released again.
const AGAIN: Duration = Duration::from_secs(1);

/// The right to write to a run, by the numbers in its row.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) id: Arc<str>,
    pub(super) run: i64,
    pub(super) epoch: i64,
    /// Set if the run is encrypted.
    pub(super) is_sealed: bool,
    /// Set if the owner has released the run, and the database may not contain the release yet.
    pub(super) is_given_up: bool,
}

/// The claims of an owner.
pub(super) type Claims = Arc<Mutex<HashMap<Arc<str>, Held>>>;

pub(super) enum Job {
    Claim(Arc<str>, Ticket),
    /// Releases a run whose claim has lost its waiter.
    Forsake(Ticket),
    Describe(Held, RunInfo),
    Record(Held, String, String),
    End(Held, End),
    Release(Held),
    /// Releases a run that has nothing to do before this time, unless a message has come after this one.
    Rest(Held, i64, Rest),
    /// Prevents a run from starting before this time, since it cannot start for this reason.
    Refuse(String, i64, String, Option<Cipher>),
    /// Runs that could not be begun may be tried again.
    Forgive,
    /// A failed run continues without these records, and with this one.
    Retry(Held, Vec<String>, Option<(String, String)>),
    /// A message for a run, with the cipher of the sender.
    Send(String, Message, Option<Cipher>),
    /// Deletes these runs, if they ended before that time.
    Delete(Vec<i64>, i64),
    /// Removes some records of deleted runs.
    Purge,
    /// Writes the queued jobs, and ends.
    Close,
}

#[derive(Debug)]
pub(super) enum Done {
    Written,
    Claimed(Box<Claimed>, Held),
    /// A message was sent to the run with this number.
    Sent(i64),
    /// A run was released.
    GivenUp {
        is_due: bool,
    },
    /// The number of deleted runs.
    Deleted(u64),
    /// Contains `true` if more is left.
    Purged(bool),
}

/// The run of a claim that the caller has not received yet.
pub(super) type Ticket = Arc<Mutex<Option<Held>>>;

pub(super) type Outcome = Result<Done, JournalError>;

pub(super) struct Queued {
    pub(super) job: Job,
    pub(super) answer: Option<Answer<Outcome>>,
}

impl Job {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Describe(_, run) => run.document.len() + run.inputs.len(),
            Self::Record(_, key, body) => key.len() + body.len(),
            Self::End(_, end) => end.body().len(),
            Self::Send(_, Message::Signal { path, body }, _) => path.len() + body.len(),
            // The other jobs are small.
            _ => 0,
        }
    }

    /// Returns the run of a job that only the owner of the run may queue.
    pub(super) fn held(&self) -> Option<&Held> {
        match self {
            Self::Describe(held, _)
            | Self::Record(held, ..)
            | Self::End(held, _)
            | Self::Retry(held, ..) => Some(held),
            Self::Rest(..)
            | Self::Refuse(..)
            | Self::Forgive
            | Self::Claim(..)
            | Self::Forsake(_)
            | Self::Release(_)
            | Self::Send(..)
            | Self::Delete(..)
            | Self::Purge
            | Self::Close => None,
        }
    }
}

/// The reason for a job that was not done.
pub(super) enum Refused {
    /// An error of a rule of the journal. The database works, and is unchanged.
    Rule(JournalError),
    Storage(Cause),
}

impl From<JournalError> for Refused {
    fn from(error: JournalError) -> Self {
        Self::Rule(error)
    }
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.into())
    }
}

/// The jobs that other threads queue.
pub(super) struct Jobs<'a> {
    queue: &'a mpsc::Receiver<Queued>,
    /// The number of jobs of the last transaction, and the bytes of this one.
    last: usize,
    bytes: usize,
    pauses: usize,
    is_closed: bool,
}

impl<'a> Jobs<'a> {
    pub(super) fn new(queue: &'a mpsc::Receiver<Queued>) -> Self {
        Self {
            queue,
            last: 0,
            bytes: 0,
            pauses: 0,
            is_closed: false,
        }
    }

    /// Waits for the first job of a transaction, or for the time to release a run again. Returns `None` at the end.
    pub(super) fn first(&mut self, has_unreleased: bool) -> Option<Option<Queued>> {
        (self.bytes, self.pauses) = (0, 0);
        if self.is_closed {
            return None;
        }
        let queued = if has_unreleased {
            match self.queue.recv_timeout(AGAIN) {
                Ok(queued) => queued,
                Err(mpsc::RecvTimeoutError::Timeout) => return Some(None),
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            }
        } else {
            self.queue.recv().ok()?
        };
        self.taken(queued).map(Some)
    }

    /// Returns the next job of a transaction, which has `count` jobs so far. The method waits a short time for further jobs, because the tasks that the
    /// last transaction has woken are likely to queue an equal number of jobs.
    pub(super) fn next(&mut self, count: usize) -> Option<Queued> {
        let next = if count >= BATCH || self.bytes >= BATCH_BYTES || self.is_closed {
            None
        } else {
            self.queue.try_recv().ok().or_else(|| self.late(count))
        };
        let next = next.and_then(|queued| self.taken(queued));
        if next.is_none() {
            self.last = count;
        }
        next
    }

    fn late(&mut self, count: usize) -> Option<Queued> {
        while count < self.last && self.pauses < PAUSES {
            self.pauses += 1;
            thread::sleep(PAUSE);
            if let Ok(queued) = self.queue.try_recv() {
                return Some(queued);
            }
        }
        None
    }

    fn taken(&mut self, queued: Queued) -> Option<Queued> {
        if matches!(queued.job, Job::Close) {
            self.is_closed = true;
            return None;
        }
        self.bytes += queued.job.bytes();
        Some(queued)
    }
}
