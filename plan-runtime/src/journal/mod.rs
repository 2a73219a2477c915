//! Storage for the records of durable runs, which resume from these records after a crash.
//!
//! A [`Journal`] stores the records of many runs. A [durable](crate::run::Run::durable) run records the outcome of each call before
//! it uses the outcome. So a process may be killed at any moment. The next process that begins the run reads the recorded outcomes, and makes only the other calls.
//!
//! | | |
//! |---|---|
//! | [`Memory`] | stores records in memory, for tests |
//! | `Sqlite` | stores records in a file (feature `sqlite`) |
//! | [`Journal`], [`Store`], [`spi`] | the traits to implement for another database, and their types |
//! | [`conformance`] | the tests that an implementation must pass |
//!
//! A journal does not interpret plans and records: it stores keys and bodies of records, and returns them unchanged.

mod arrivals;
mod blocking;
pub mod conformance;
mod error;
mod memory;
pub mod spi;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

pub use error::JournalError;
pub use memory::Memory;
#[cfg(feature = "sqlite")]
pub use sqlite::{EncryptionKey, Sqlite, SqliteOptions};
pub use store::{RunFilter, RunState, RunSummary, Store};

use spi::{Answer, Claim, Claimed, End, Message, Notified, Record, RunInfo, StoredRun, Written};
use std::sync::Arc;

/// A store of the records of runs.
///
/// You can call all methods from any thread. No method blocks: a method that waits returns a future. A run reads all its records once, at its
/// claim, and only writes after the claim.
///
/// # Rules
///
/// - *Order.* Records become durable, and their futures become ready, in the order of the calls of [`append`](Self::append). A crash loses only the last records, and leaves no gap.
/// - *One owner.* A run has at most one valid [`Claim`]. While its owner lives, other claims are refused. Once another owner has the run, all writes with the old claim fail with
///   [`JournalError::Lost`], and leave no trace.
/// - *Once.* A key is written once. A second write of a key is an error, and changes nothing.
/// - *Failure.* After a failed write with a claim, all later writes with that claim fail, so that the records have no gap.
/// - *Dropped futures.* If the future of a claim is dropped, the journal releases the claim. The writes of `append` and `end` happen even if their
///   futures are dropped. Any other write may or may not happen if its future is dropped after the first poll.
///
/// [`conformance`] tests all rules except those about the end of a process.
pub trait Journal: Send + Sync {
    /// Makes this journal value the owner of a run, which may be new. A journal value belongs to one process.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Owned`] if the run has another owner, even in this process.
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed>;

    /// Returns the state of a run, regardless of its owner. Returns `None` if the run has no description.
    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>>;

    /// Writes the description of a run, or replaces it. The description is durable when the future is ready. The first description begins the run.
    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()>;

    /// Reads a page of the records of a run, regardless of its owner: the records with numbers greater than `after`, in the order of their numbers. A
    /// page is empty only after the last record. The journal chooses the length of the pages.
    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>>;

    /// Writes a record. The record is queued when this method returns, and durable when the future is ready.
    fn append(&self, claim: &Claim, key: String, body: String) -> Written;

    /// Writes the end of a run. The run stays claimed.
    fn end(&self, claim: &Claim, end: End) -> Written;

    /// Releases a run, so that another owner may claim the run. The journal still writes queued records.
    fn release(&self, claim: &Claim);

    /// Stores a message for the current or the next owner of a run. The message is durable when the future is ready.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Unknown`] if the run does not exist, and [`JournalError::Second`] if a signal was sent to this
    /// path before.
    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()>;

    /// Reads the messages for a run with numbers greater than `after`, in order.
    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>>;

    /// Completes when messages with numbers greater than `after` may exist, at the latest a second after another process has sent
    /// a message.
    fn watch(&self, claim: &Claim, after: u64) -> Notified;

    /// Returns `true` if the journal encrypts all strings of a run that begins now, as a run with [secrets](crate::Shape#secrets) requires.
    fn encrypts(&self) -> bool {
        false
    }
}

/// A journal that is shared, such as an `Arc<dyn Journal>`.
impl<J: Journal + ?Sized> Journal for Arc<J> {
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed> {
        (**self).claim(id)
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>> {
        (**self).look(id)
    }

    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()> {
        (**self).describe(claim, run)
    }

    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>> {
        (**self).read(id, after)
    }

    fn append(&self, claim: &Claim, key: String, body: String) -> Written {
        (**self).append(claim, key, body)
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        (**self).end(claim, end)
    }

    fn release(&self, claim: &Claim) {
        (**self).release(claim);
    }

    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()> {
        (**self).send(id, message)
    }

    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>> {
        (**self).messages(claim, after)
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        (**self).watch(claim, after)
    }

    fn encrypts(&self) -> bool {
        (**self).encrypts()
    }
}

/// A journal that a run can store. Every [`Journal`] that implements `Clone` is a shared journal. Put other journals into an `Arc`.
// One trait, so that rustc has one message for a value that is not a journal.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a journal that can be cloned",
    label = "expected a journal, such as `&db`",
    note = "open a journal: `let db = Sqlite::open(\"runs.db\")?;`, or `Memory::new()` in a test",
    note = "wrap a journal that is not `Clone` in an `Arc`"
)]
pub trait SharedJournal {
    /// Returns the journal, for a run.
    fn share(&self) -> Arc<dyn Journal>;
}

#[diagnostic::do_not_recommend]
impl<J: Journal + Clone + 'static> SharedJournal for J {
    fn share(&self) -> Arc<dyn Journal> {
        Arc::new(self.clone())
    }
}
