use super::asks::{Ask, Asks};
use super::batch::{What, Write};
use super::calls::{Calls, Closed};
use super::commit::Ready;
use super::ends;
use super::failure::{Failure, Place};
use super::numbers::signed;
use super::owned::Held;
use super::pool::Connection;
use super::watching::Watching;
use super::writer::Job;
use plan_runtime::journal::spi::{
    Answer, Claim, Claimed, End, Message, Notified, Record, Rest, RunInfo, StoredRun, Written,
};
use plan_runtime::journal::{Journal, JournalError};
use plan_runtime::run::CallRecord;
use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use tokio::sync::{mpsc, oneshot};

/// A journal in a Postgres database, for any number of processes on any number of machines.
///
/// ```no_run
/// use plan_postgres::Postgres;
/// use plan_runtime::{Result, plan, tool};
///
/// /// Charges a card.
/// #[tool]
/// async fn charge(cents: u64) -> Result<String> {
///     Ok(format!("receipt for {cents}"))
/// }
///
/// plan! {
///     Order(cents: u64) -> String {
///         step receipt = Charge { cents };
///         receipt
///     }
/// }
///
/// # async fn order() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// let db = Postgres::connect("postgresql://shop@localhost/shop").await?;
/// let receipt = Order { cents: 500 }.run(&()).durable(&db, "order-17").await?;
/// # Ok(())
/// # }
/// ```
///
/// A `Postgres` has a thread with three connections and up to one connection per [transaction](Self::transaction). It works with any executor. Its
/// clones share the thread, so connect only once in a process. Dropping the last clone waits for queued writes, and releases all runs.
///
/// # Writes
///
/// One connection writes. One commit contains all records that arrived during the previous commit, so that calls that end at about the same time share one wait
/// for the server's disk. The sessions turn `synchronous_commit` on. With replication, a standby that may become the primary must be a synchronous
/// standby.
///
/// After a lost connection, the journal reconnects, and determines which records of the last transaction were committed. If the database does not
/// answer within the [patience](super::PostgresOptions::patience), the write fails, and so do all later writes of its run until a process claims the
/// run again.
///
/// # Owners
///
/// A `Postgres` has a lease, which it renews regularly. Another process can claim the runs of a killed process after the end of its
/// [lease](super::PostgresOptions::lease). Only the clock of the Postgres server determines the end of a lease. Each write compares the owner and the number of the claim in its own
/// transaction. If a process slept for longer than its lease, and its run has another owner, its writes return [`JournalError::Lost`] and have no
/// effect.
///
/// # Secrets
///
/// The journal does not encrypt. A run with [secrets](plan_runtime::Shape#secrets) does not begin.
#[derive(Clone)]
pub struct Postgres(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) place: Place,
    claims: Mutex<HashMap<Arc<str>, Held>>,
    pub(crate) jobs: mpsc::UnboundedSender<Job>,
    asks: mpsc::UnboundedSender<Ask>,
    pub(crate) watching: Arc<Watching>,
    /// The transactions of running calls.
    pub(crate) calls: Arc<Calls>,
    thread: Option<JoinHandle<()>>,
}

impl Postgres {
    pub(crate) fn new(
        place: Place,
        jobs: mpsc::UnboundedSender<Job>,
        asks: mpsc::UnboundedSender<Ask>,
        watching: Arc<Watching>,
        thread: JoinHandle<()>,
    ) -> Self {
        Self(Arc::new(Inner {
            place,
            claims: Mutex::default(),
            jobs,
            asks,
            watching,
            calls: Arc::default(),
            thread: Some(thread),
        }))
    }

    pub(crate) fn gone(&self) -> JournalError {
        gone(&self.0.place)
    }

    fn claims(&self) -> MutexGuard<'_, HashMap<Arc<str>, Held>> {
        let claims = self.0.claims.lock();
        claims.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn held(&self, claim: &Claim) -> Result<Held, JournalError> {
        match self.claims().get(&claim.id) {
            // A claim of another database may have an equal ID and epoch, but has another pointer.
            Some(held)
                if held.epoch.unsigned_abs() == claim.epoch && Arc::ptr_eq(&held.id, &claim.id) =>
            {
                Ok(held.clone())
            }
            _ => Err(JournalError::Lost {
                id: claim.id.to_string(),
            }),
        }
    }

    fn write(&self, claim: &Claim, what: What) -> Written {
        let held = match self.held(claim) {
            Ok(held) => held,
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let transaction = what
            .record()
            .and_then(|(key, body)| self.end_call(&held, key, body));
        let (reply, written) = oneshot::channel();
        let write = Write { held, what, reply };
        let job = match transaction {
            None => Job::Write(write),
            Some(transaction) => Job::Commit(write, transaction),
        };
        // If the thread has ended, the drop of the job also drops the reply, which is an error for the caller.
        let _ = self.0.jobs.send(job);
        let place = self.0.place.clone();
        Box::pin(async move { written.await.unwrap_or_else(|_| Err(gone(&place))) })
    }

    /// Ends the transaction of a call at its record. Returns the transaction if it must be committed, and rolls back
    /// any other.
    fn end_call(&self, held: &Held, key: &str, body: &str) -> Option<Ready> {
        let call = self.0.calls.take(held.run, key)?;
        let Closed {
            connection,
            is_busy,
        } = call.close()?;
        let has_output = CallRecord::has_output(body);
        if has_output && !is_busy {
            return Some(Ok(connection));
        }
        self.roll_back(connection);
        has_output.then_some(Err(
            "the tool has returned while a statement of its transaction ran",
        ))
    }

    fn roll_back(&self, connection: Connection) {
        let ask: Ask =
            Box::new(move |asks| Box::pin(async move { asks.give_back(connection).await }));
        let _ = self.0.asks.send(ask);
    }

    /// Releases a run, with the run's rest if it has one.
    pub(crate) fn give_up(&self, claim: &Claim, rest: Option<Rest>) {
        let Ok(held) = self.held(claim) else {
            return; // Another owner has the run.
        };
        let run = held.run;
        self.claims().remove(&claim.id);
        // A dropped call has no record, so its transaction is still open.
        for call in self.0.calls.take_run(run) {
            if let Some(closed) = call.close() {
                self.roll_back(closed.connection);
            }
        }
        let _ = self.0.jobs.send(Job::Release(held, rest));
        self.0.watching.wake(run);
    }

    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        act: impl AsyncFnOnce(Rc<Asks>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.ask_by(act, |ask| drop(self.0.asks.send(ask))).await
    }

    /// Sends a question to a queue, and waits for the answer.
    pub(crate) async fn ask_by<T: Send + 'static>(
        &self,
        act: impl AsyncFnOnce(Rc<Asks>) -> Result<T, JournalError> + Send + 'static,
        send: impl FnOnce(Ask),
    ) -> Result<T, JournalError> {
        let (reply, answer) = oneshot::channel();
        let ask: Ask = Box::new(move |asks| {
            Box::pin(async move {
                // The caller may have dropped its future.
                let _ = reply.send(act(asks).await);
            })
        });
        send(ask);
        answer.await.unwrap_or_else(|_| Err(self.gone()))
    }
}

/// Returns the error of a request after the end of the thread.
pub(crate) fn gone(place: &Place) -> JournalError {
    let why = "the thread of the journal has ended";
    Failure::new(place, "cannot do anything", why).into()
}

impl Journal for Postgres {
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed> {
        Box::pin(async move {
            let (reply, granted) = oneshot::channel();
            let _ = self.0.jobs.send(Job::Claim(id.into(), reply));
            let granted = granted.await.unwrap_or_else(|_| Err(self.gone()))?;
            let Some((claimed, held)) = granted.take() else {
                return Err(self.gone());
            };
            let mut claims = self.claims();
            // Two threads may arrive here in the opposite order of their claims. The later claim counts.
            if claims
                .get(&held.id)
                .is_none_or(|old| old.epoch < held.epoch)
            {
                claims.insert(Arc::clone(&held.id), held);
            }
            Ok(claimed)
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>> {
        let id = id.to_owned();
        Box::pin(self.ask(async move |asks| asks.look(&id).await))
    }

    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()> {
        Box::pin(async move { self.write(claim, What::Describe(run.clone())).await })
    }

    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>> {
        let id = id.to_owned();
        Box::pin(self.ask(async move |asks| asks.read(&id, signed(after)).await))
    }

    fn append(&self, claim: &Claim, key: String, body: String) -> Written {
        self.write(claim, What::Record(key, body))
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        let Some(kind) = ends::number_of(&end) else {
            let error = JournalError::storage("plan-postgres does not know this kind of end");
            return Box::pin(std::future::ready(Err(error)));
        };
        self.write(claim, What::End(kind, end.body().to_owned()))
    }

    fn release(&self, claim: &Claim) {
        self.give_up(claim, None);
    }

    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()> {
        let (id, message) = (id.to_owned(), message.clone());
        Box::pin(self.ask(async move |asks| asks.send(&id, &message).await))
    }

    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>> {
        Box::pin(async move {
            let held = self.held(claim)?;
            let after = signed(after);
            self.ask(async move |asks| asks.messages(&held, after).await)
                .await
        })
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        let Ok(held) = self.held(claim) else {
            return Box::pin(std::future::ready(()));
        };
        let (db, claim, after) = (self.clone(), claim.clone(), signed(after));
        Box::pin(async move {
            let ticket = db.0.watching.register(held.run, held.epoch, after);
            loop {
                // The wait begins before the question, so that a message between them wakes this task.
                let mut woken = pin!(ticket.woken.notified());
                woken.as_mut().enable();
                if db.held(&claim).is_err() {
                    return;
                }
                let held = held.clone();
                let news = db.ask(async move |asks| asks.has_news(&held, after).await);
                // An unreachable database does not wake the run. Each new connection wakes the run.
                if news.await.unwrap_or(false) {
                    return;
                }
                woken.await;
            }
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = self.jobs.send(Job::Close);
        if let Some(thread) = self.thread.take()
            // If a waker on the thread itself drops the last clone, the thread cannot join itself.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres")
            .field("place", &self.0.place)
            .finish_non_exhaustive()
    }
}
