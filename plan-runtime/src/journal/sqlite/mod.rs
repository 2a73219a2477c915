//! A journal in a file.
//!
//! One thread reads (`reader.rs`). One thread makes all changes (`writer.rs`): it takes the jobs (`jobs.rs`) that arrived during the last commit, and
//! executes them in one transaction (`write.rs`). If the transaction fails, the thread executes the jobs one by one. After a failed write, the thread
//! writes no more records of the run under its claim, so the records have no gap.
//!
//! The ownership of a run depends on three facts:
//!
//! - The row of the run names the owner and an epoch. Each write compares both in its own transaction.
//! - The owner lives while a file with its name is locked (`owners.rs`). The lock also separates two `Sqlite`s of one process.
//! - A `Sqlite` stores its claims in memory, and refuses an old claim without reading the database.

mod encryption;
mod failure;
mod inspect;
mod jobs;
mod options;
mod owners;
#[cfg(test)]
mod queries;
mod reader;
mod reply;
mod schema;
mod sealed;
mod serving;
mod time;
mod watching;
mod write;
mod writer;

pub use encryption::EncryptionKey;
pub use options::SqliteOptions;

use super::arrivals::Arrivals;
use super::spi::{
    Answer, Claim, Claimed, End, Message, Notified, Record, RunInfo, StoredRun, Written,
};
use super::{Journal, JournalError};
use encryption::{Cipher, Place};
use failure::{Cause, Failure};
use jobs::{Claims, Done, Held, Job, Queued, Refused, Ticket};
use reader::Reader;
use reply::{Reply, reply};
use rusqlite::Connection;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use watching::MessageWaits;

/// A journal in an SQLite database, which any number of processes of one machine can open.
///
/// ```
/// use plan_runtime::journal::{Journal, Sqlite, spi::RunInfo};
///
/// # smol::block_on(async {
/// # let folder = std::env::temp_dir().join(format!("plan-sqlite-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("runs.db");
/// let db = Sqlite::open(&path)?;
/// let claim = db.claim("order-17").await?.claim;
/// db.describe(&claim, &RunInfo::new("ship_order", "{}", "{}")).await?;
/// db.append(&claim, "paid@1".into(), "17".into()).await?;
/// drop(db);
///
/// // Another process, after a crash.
/// let db = Sqlite::open(&path)?;
/// let run = db.claim("order-17").await?.run;
/// assert_eq!(run.info.unwrap().plan, "ship_order");
/// assert_eq!(db.read("order-17", 0).await?[0].body, "17");
/// # drop(db);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// # Writes
///
/// Each `Sqlite` has a writer thread. One commit contains all writes that arrived during the previous commit, so calls that end at about the
/// same time share one wait for the disk. Clones of a `Sqlite` share the thread, so open a database only once in a process. With
/// [`open`](Self::open), a record survives a power failure, if the disk keeps all acknowledged data. [`SqliteOptions::normal`]
/// is faster, but less durable.
///
/// If a write fails, for example because the disk is full, all later writes of the run fail until a process claims the run
/// again. So the records of a run never have a gap.
///
/// Dropping the last clone waits for queued writes, and releases the runs of the `Sqlite`.
///
/// # Owners
///
/// A `Sqlite` owns its claimed runs until it is dropped. It locks its own file, in a folder beside the database whose name ends
/// with `-owners`. The system releases the lock at the end of the process, even after `kill -9`. A process that is suspended with a signal keeps its
/// runs.
///
/// The database and this folder must be on a disk of the machine, because SQLite's log and the locks do not work over a network.
///
/// # Encryption
///
/// With a [key](Self::encrypted), the journal encrypts each new run: its plan, its inputs, its records, its outcome, and the values sent to the run. Only an encrypted run may have
/// [secrets](crate::Shape#secrets).
///
/// IDs of runs, names of plans, paths and keys of records, and times are not encrypted. A run that began without a key stays in plain text, and
/// continues without the key.
///
/// The cipher is XChaCha20-Poly1305 with a random nonce for each string. It authenticates the ID of the run and the position in the run, so a
/// modified or moved string is an error. It does not authenticate the order of records. A database has one key for all runs: a new key needs a new
/// database.
#[derive(Clone)]
pub struct Sqlite(Arc<Inner>, Option<Cipher>);

struct Inner {
    path: Arc<Path>,
    owners: owners::Owners,
    /// The name of this owner.
    owner: String,
    reader: Reader,
    claims: Claims,
    queue: mpsc::Sender<Queued>,
    watching: Arc<MessageWaits>,
    arrivals: Arrivals,
    /// The number of the last message when the database was opened.
    last_message: i64,
    writer: Option<JoinHandle<()>>,
    watcher: Mutex<Option<JoinHandle<()>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sqlite {
    /// Opens a database, or creates a new database.
    ///
    /// ```
    /// use plan_runtime::journal::Sqlite;
    ///
    /// # let folder = std::env::temp_dir().join(format!("plan-open-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("runs.db");
    /// let db = Sqlite::open(&path)?;
    /// assert!(path.exists());
    /// # drop(db);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Storage`] if the file cannot be read and written, if it is not a database of this crate, or if a newer version of this
    /// crate has written the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        SqliteOptions::new().open(path)
    }

    fn failure(&self, cause: impl Into<Cause>) -> JournalError {
        Failure::new(&self.0.path, cause).into()
    }

    /// Reads on another thread.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Refused> + Send + 'static,
    ) -> Result<T, JournalError> {
        match self.0.reader.read(read).await {
            Some(Ok(value)) => Ok(value),
            Some(Err(Refused::Rule(error))) => Err(error),
            Some(Err(Refused::Storage(cause))) => Err(self.failure(cause)),
            None => Err(self.failure("the thread that reads has ended")),
        }
    }

    fn held(&self, claim: &Claim) -> Result<Held, JournalError> {
        match lock(&self.0.claims).get(&claim.id) {
            Some(held) if held.epoch.unsigned_abs() == claim.epoch && !held.is_given_up => {
                Ok(held.clone())
            }
            _ => Err(JournalError::Lost {
                id: claim.id.to_string(),
            }),
        }
    }

    fn queue(&self, job: Job) -> Reply<Result<Done, JournalError>> {
        let (answer, reply) = reply();
        // Without a writer thread, the job is dropped, and the reply is an error.
        let _ = self.0.queue.send(Queued {
            job,
            answer: Some(answer),
        });
        reply
    }

    async fn done(&self, job: Job) -> Result<Done, JournalError> {
        let done = self.queue(job).await;
        done.unwrap_or_else(|| Err(self.failure(GONE)))
    }

    fn written(
        &self,
        claim: &Claim,
        job: impl FnOnce(Held) -> Result<Job, JournalError>,
    ) -> Written {
        let job = match self.held(claim).and_then(job) {
            Ok(job) => job,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let reply = self.queue(job);
        let path = Arc::clone(&self.0.path);
        Box::pin(async move {
            match reply.await {
                Some(done) => done.map(drop),
                None => Err(Failure::new(&path, GONE).into()),
            }
        })
    }

    /// Releases a run with this job, unless another owner has the run.
    fn give_up(&self, claim: &Claim, job: impl FnOnce(Held) -> Job) {
        let mut claims = lock(&self.0.claims);
        let Some(held) = claims.get_mut(&claim.id) else {
            return;
        };
        if held.epoch.unsigned_abs() != claim.epoch || held.is_given_up {
            return;
        }
        held.is_given_up = true;
        let held = held.clone();
        drop(claims);
        let run = held.run;
        // If the job fails, the run is released later.
        drop(self.queue(job(held)));
        self.0.watching.wake([run]);
    }
}

const GONE: &str = "the thread that writes has ended";

impl Journal for Sqlite {
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed> {
        Box::pin(async move {
            let ticket = Ticket::default();
            let mut forsaken = Forsaken(self, Some(Arc::clone(&ticket)));
            let done = self.done(Job::Claim(id.into(), ticket)).await?;
            let Done::Claimed(claimed, mut held) = done else {
                return Err(self.failure(GONE));
            };
            let claimed = self.opened_claim(*claimed)?;
            forsaken.1 = None;
            held.is_sealed = claimed.run.is_encrypted;
            let mut claims = lock(&self.0.claims);
            // If two threads get here in the opposite order, the last claim counts.
            if claims
                .get(&held.id)
                .is_none_or(|old| old.epoch < held.epoch || old.run != held.run)
            {
                claims.insert(Arc::clone(&held.id), held);
            }
            Ok(claimed)
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>> {
        Box::pin(self.stored(id))
    }

    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()> {
        Box::pin(async move {
            let held = self.held(claim)?;
            let document = self.sealed(&held, Place::Document, run.document.clone())?;
            let inputs = self.sealed(&held, Place::Inputs, run.inputs.clone())?;
            let run = RunInfo::new(run.plan.clone(), document, inputs);
            self.done(Job::Describe(held, run)).await.map(drop)
        })
    }

    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>> {
        Box::pin(self.page_of(id, after))
    }

    fn append(&self, claim: &Claim, key: String, body: String) -> Written {
        self.written(claim, |held| {
            let body = self.sealed(&held, Place::Record(&key), body)?;
            Ok(Job::Record(held, key, body))
        })
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        self.written(claim, |held| {
            let body = self.sealed(&held, Place::End(!end.is_done()), end.body().to_owned())?;
            Ok(Job::End(held, end.with_body(body)))
        })
    }

    fn release(&self, claim: &Claim) {
        self.give_up(claim, Job::Release);
    }

    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()> {
        Box::pin(async move {
            let job = Job::Send(id.to_owned(), message.clone(), self.1.clone());
            self.done(job).await?;
            self.0.arrivals.come();
            Ok(())
        })
    }

    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>> {
        Box::pin(self.messages_after(claim, after))
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        let Ok(Held { run, .. }) = self.held(claim) else {
            return Box::pin(std::future::ready(()));
        };
        self.start_watcher();
        Box::pin(MessageWait {
            db: self.clone(),
            claim: claim.clone(),
            run,
            after: i64::try_from(after).unwrap_or(i64::MAX),
            token: None,
            asking: None,
        })
    }

    fn encrypts(&self) -> bool {
        self.1.is_some()
    }
}

/// A claim that is released unless its future ends.
struct Forsaken<'a>(&'a Sqlite, Option<Ticket>);

impl Drop for Forsaken<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.1.take() {
            drop(self.0.queue(Job::Forsake(ticket)));
        }
    }
}

/// Completes once there are messages, or once the run is lost.
struct MessageWait {
    db: Sqlite,
    claim: Claim,
    run: i64,
    after: i64,
    token: Option<u64>,
    /// Completes with `true` if there are messages.
    asking: Option<Answer<'static, bool>>,
}

impl MessageWait {
    fn ask(&self) -> Answer<'static, bool> {
        let (db, of) = (self.db.clone(), [self.run, self.after]);
        Box::pin(async move {
            let sql = "SELECT EXISTS(SELECT 1 FROM messages WHERE run = ?1 AND number > ?2)";
            let has_some = move |database: &Connection| {
                let mut statement = schema::statement(database, sql)?;
                Ok(statement.query_row(of, |row| row.get(0))?)
            };
            db.read(has_some).await
        })
    }
}

impl Future for MessageWait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            if let Some(asking) = &mut this.asking {
                let Poll::Ready(has_some) = asking.as_mut().poll(cx) else {
                    return Poll::Pending;
                };
                // The next read of the messages returns the error.
                if has_some.unwrap_or(true) {
                    return Poll::Ready(());
                }
                this.asking = None;
            }
            // The order matters: a message between these two calls wakes the task.
            let watching = &this.db.0.watching;
            if !watching.register(this.run, &mut this.token, cx.waker()) {
                return Poll::Pending;
            }
            if this.db.held(&this.claim).is_err() {
                return Poll::Ready(());
            }
            this.asking = Some(this.ask());
        }
    }
}

impl Drop for MessageWait {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            self.db.0.watching.forget(self.run, token);
        }
    }
}

impl Sqlite {
    fn start_watcher(&self) {
        let inner = &self.0;
        if !inner.watching.needs_thread() {
            return;
        }
        let (watching, path) = (Arc::clone(&inner.watching), Arc::clone(&inner.path));
        let last = inner.last_message;
        let thread = thread::Builder::new().name("plan-watcher".to_owned());
        let started = thread.spawn(move || watching.run(|| schema::connect(&path, false), last));
        // Without a thread, only messages of this process wake tasks. The next wait tries to start a thread.
        if started.is_err() {
            inner.watching.has_no_thread();
        }
        *lock(&inner.watcher) = started.ok();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.watching.close();
        let closed = self.queue.send(Queued {
            job: Job::Close,
            answer: None,
        });
        drop(closed);
        let threads = [self.writer.take(), lock(&self.watcher).take()];
        for thread in threads.into_iter().flatten() {
            // A waker that one of the threads woke may have dropped the last clone.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite")
            .field("path", &self.0.path)
            .finish_non_exhaustive()
    }
}
