//! Journals: where a run writes down what has happened, so that it goes on after a crash.
//!
//! A [`Journal`] keeps the records of many runs. A run that is [durable](crate::Run::durable) looks up each call by its name before it is made, and records
//! what came of it before anything else is done with that. So a process may be killed at any moment: the next one that begins the run takes what is recorded, and makes the
//! other calls.
//!
//! | | |
//! |---|---|
//! | [`Memory`] | keeps records as long as the process lives: for tests |
//! | `Sqlite` | keeps them in a file, and lists and deletes runs (feature `sqlite`) |
//! | [`Journal`] | what to implement for another database |
//! | [`conformance`] | the tests that an implementation has to pass |
//!
//! A journal knows nothing of plans. Keys and texts are the run time's, and a journal gives them back as they were.
#![doc = include_str!("postgres.md")]

mod blocking;
pub mod conformance;
mod error;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use error::JournalError;
pub use memory::Memory;
#[cfg(feature = "sqlite")]
pub use sqlite::{EncryptionKey, RunFilter, RunState, RunSummary, Sqlite, SqliteOptions};

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

/// A write on its way. It is ready once the record is as durable as the journal makes it.
pub type Written = Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send>>;

/// Where the records of runs are kept.
///
/// All methods may be called from any thread. `find`, `next_key` and `messages` are called again and again while a run is polled, and should take no longer than a read of a local
/// file takes. `claim`, `describe` and `send` are called a few times in a run, and may wait for a write. A journal over a network reads the records of a run ahead in [`claim`](Self::claim), in as many pages as it likes: a run that continues asks for
/// them about in the order in which they were written.
///
/// # Rules
///
/// - *Order.* What [`record`](Self::record) was called with before is durable before, and ready before. A crash loses the last writes, never one in the middle.
/// - *One owner.* A run has at most one [`Claim`] that is valid. While its owner lives, others are refused. Once another has it, all writes with the old claim fail with
///   [`JournalError::Lost`], and leave no trace.
/// - *Once.* A key is written once. A second write of the same key is an error, and changes nothing.
///
/// - *Failure.* After a write with a claim could not be stored, all later writes with it fail, so that no record is missing in the middle.
///
/// [`conformance`] tests what can be tested without ending a process.
pub trait Journal: Send + Sync {
    /// Makes the caller the owner of a run, which may be new. A journal value belongs to one process, and is the owner.
    ///
    /// # Errors
    ///
    /// [`JournalError::Owned`] if another owner has it, be it in the same process.
    fn claim(&self, id: &str) -> Result<Claimed, JournalError>;

    /// What a run is, whoever owns it. `None` if nobody has described it.
    fn look(&self, id: &str) -> Result<Option<RunInfo>, JournalError>;

    /// Says what a run is, or what it is from now on. It is durable once this returns. The first time, the run begins.
    fn describe(&self, claim: &Claim, run: &RunInfo) -> Result<(), JournalError>;

    /// The record with this key.
    fn find(&self, claim: &Claim, key: &str) -> Result<Option<Found>, JournalError>;

    /// The first key that is equal to or greater than `from`, in the order of bytes.
    fn next_key(&self, claim: &Claim, from: &str) -> Result<Option<String>, JournalError>;

    /// Writes a record. It is queued when this returns, and durable when the future is ready; that future may be dropped.
    fn record(&self, claim: &Claim, key: String, body: String) -> Written;

    /// The run has ended. It stays claimed.
    fn end(&self, claim: &Claim, end: End) -> Written;

    /// Gives a run up, so that another may claim it. What is queued is written still.
    fn release(&self, claim: &Claim);

    /// Leaves a message for the owner of a run, whoever that is, now or later. It is durable once this returns.
    ///
    /// # Errors
    ///
    /// [`JournalError::Unknown`] if there is no such run, and [`JournalError::Second`] if a signal has been sent to this path.
    fn send(&self, id: &str, message: &Message) -> Result<(), JournalError>;

    /// The messages for a run with numbers greater than `after`, in order.
    fn messages(&self, claim: &Claim, after: u64) -> Result<Vec<(u64, Message)>, JournalError>;

    /// Is ready once there may be messages with numbers greater than `after`: at the latest a second after one was sent by another process.
    fn watch(&self, claim: &Claim, after: u64) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Returns `true` if the journal encrypts all texts of this run, or would if the run began now. A run with [secrets](crate::Shape#secrets) needs that.
    fn encrypts(&self, id: &str) -> Result<bool, JournalError> {
        let _ = id;
        Ok(false)
    }
}

/// A journal that is shared, such as an `Arc<dyn Journal>`.
impl<J: Journal + ?Sized> Journal for Arc<J> {
    fn claim(&self, id: &str) -> Result<Claimed, JournalError> {
        (**self).claim(id)
    }

    fn look(&self, id: &str) -> Result<Option<RunInfo>, JournalError> {
        (**self).look(id)
    }

    fn describe(&self, claim: &Claim, run: &RunInfo) -> Result<(), JournalError> {
        (**self).describe(claim, run)
    }

    fn find(&self, claim: &Claim, key: &str) -> Result<Option<Found>, JournalError> {
        (**self).find(claim, key)
    }

    fn next_key(&self, claim: &Claim, from: &str) -> Result<Option<String>, JournalError> {
        (**self).next_key(claim, from)
    }

    fn record(&self, claim: &Claim, key: String, body: String) -> Written {
        (**self).record(claim, key, body)
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        (**self).end(claim, end)
    }

    fn release(&self, claim: &Claim) {
        (**self).release(claim);
    }

    fn send(&self, id: &str, message: &Message) -> Result<(), JournalError> {
        (**self).send(id, message)
    }

    fn messages(&self, claim: &Claim, after: u64) -> Result<Vec<(u64, Message)>, JournalError> {
        (**self).messages(claim, after)
    }

    fn watch(&self, claim: &Claim, after: u64) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        (**self).watch(claim, after)
    }

    fn encrypts(&self, id: &str) -> Result<bool, JournalError> {
        (**self).encrypts(id)
    }
}

/// A journal that a run can keep. Not for users: each [`Journal`] that is `Clone` is one. It is one trait, so that rustc has one message where a value is not a journal.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a journal that can be cloned",
    label = "expected a journal, such as `&db`",
    note = "open one first: `let db = Sqlite::open(\"runs.db\")?;`, or `Memory::new()` in a test; where a journal is not `Clone`, use an `Arc` of it"
)]
pub trait SharedJournal {
    #[doc(hidden)]
    fn share(&self) -> Arc<dyn Journal>;
}

#[diagnostic::do_not_recommend]
impl<J: Journal + Clone + 'static> SharedJournal for J {
    fn share(&self) -> Arc<dyn Journal> {
        Arc::new(self.clone())
    }
}

/// The right to run a run, and to write its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The id of the run.
    pub id: Arc<str>,
    /// Greater for each later claim of the run. With a greater one, this one is not valid any more.
    pub epoch: u64,
}

/// A run that was claimed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Claimed {
    /// The right to run it.
    pub claim: Claim,
    /// What it is, unless it is new.
    pub run: Option<RunInfo>,
    /// When it began, by the clock of the machine that it began on.
    pub began: SystemTime,
    /// How it ended, if it has.
    pub end: Option<End>,
}

impl Claimed {
    /// A run that nobody has described yet.
    pub fn new(claim: Claim) -> Self {
        Self {
            claim,
            run: None,
            began: SystemTime::now(),
            end: None,
        }
    }

    /// The same of a run that exists.
    #[must_use]
    pub fn existing(self, run: RunInfo, began: SystemTime, end: Option<End>) -> Self {
        Self {
            run: Some(run),
            began,
            end,
            ..self
        }
    }
}

/// What a run is. The texts are the run time's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// The name of the plan, to find runs by.
    pub plan: String,
    /// The plan, as JSON.
    pub document: String,
    /// Its inputs, as JSON.
    pub inputs: String,
}

/// A record that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which record of the run it is: greater than that of any that was written before it.
    pub number: u64,
    /// What [`Journal::record`] was given.
    pub body: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Whether it has failed.
    pub failed: bool,
    /// Its output, or its failures, as JSON.
    pub body: String,
}

/// What is sent to a run from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// A value for a step that waits for one.
    Signal {
        /// The path of the step.
        path: String,
        /// The value, as JSON.
        body: String,
    },
    /// The run is to end: what runs is dropped, and undo steps and always steps run.
    Cancel,
}
