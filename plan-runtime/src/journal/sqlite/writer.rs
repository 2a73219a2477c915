//! The thread that writes: it takes jobs in their order, and commits together what has come together.

use super::super::JournalError;
use super::super::arrivals::Arrivals;
use super::super::spi::{Claim, Claimed, End, Message, Rest, RunInfo, StoredRun};
use super::encryption::{self, Cipher, Place};
use super::failure::{Cause, Failure};
use super::lock;
use super::owners::{Alive, Owners, process};
use super::reply::Answer;
use super::schema::{column_of, end_of, statement};
use super::time;
use super::watching::Watching;
use crate::print::MessageName;
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior,
    params,
};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// The most jobs of a transaction.
const BATCH: usize = 256;

/// The approximate number of bytes of a transaction.
const BATCH_BYTES: usize = 4 << 20;

/// The most pauses of a transaction that has fewer jobs than the last one, and the least length of a pause.
const PAUSES: usize = 4;
const PAUSE: Duration = Duration::from_micros(10);

/// The time until a run that could not be released is released again.
const AGAIN: Duration = Duration::from_secs(1);

/// The most records that one transaction removes.
const REMOVED: i64 = 1000;

/// The right to write to a run, by the numbers in its row.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) id: Arc<str>,
    pub(super) run: i64,
    pub(super) epoch: i64,
    /// Set if the run is encrypted.
    pub(super) is_sealed: bool,
    /// Set if the owner has given the run up, and the database may not know yet.
    pub(super) is_given_up: bool,
}

/// The claims of an owner.
pub(super) type Claims = Arc<Mutex<HashMap<Arc<str>, Held>>>;

pub(super) enum Job {
    Claim(Arc<str>, Ticket),
    /// Releases a run whose claim nobody waits for any more.
    Forsake(Ticket),
    Describe(Held, RunInfo),
    Record(Held, String, String),
    End(Held, End),
    Release(Held),
    /// Releases a run that has nothing to do before this time, unless a message has come after this one.
    Rest(Held, i64, Rest),
    /// Nobody is to begin a run before this time, since it cannot be begun for this reason.
    Refuse(String, i64, String, Option<Cipher>),
    /// Runs that could not be begun may be tried again.
    Forgive,
    /// A run that has failed goes on without these records, and with this one.
    Retry(Held, Vec<String>, Option<(String, String)>),
    /// A message for a run, with the cipher of the sender.
    Send(String, Message, Option<Cipher>),
    /// Deletes these runs, if they ended before that time.
    Delete(Vec<i64>, i64),
    /// Removes some records of deleted runs.
    Purge,
    /// Writes what was queued before, and ends.
    Close,
}

#[derive(Debug)]
pub(super) enum Done {
    Written,
    Claimed(Box<Claimed>, Held),
    /// To the run with this number.
    Sent(i64),
    /// A run was given up.
    GivenUp {
        is_due: bool,
    },
    /// How many.
    Deleted(u64),
    /// Whether more is left.
    Purged(bool),
}

/// The run of a claim that is on its way to the caller.
pub(super) type Ticket = Arc<Mutex<Option<Held>>>;

type Outcome = Result<Done, JournalError>;

pub(super) struct Queued {
    pub(super) job: Job,
    pub(super) answer: Option<Answer<Outcome>>,
}

impl Job {
    fn bytes(&self) -> usize {
        match self {
            Self::Describe(_, run) => run.document.len() + run.inputs.len(),
            Self::Record(_, key, body) => key.len() + body.len(),
            Self::End(_, end) => end.body().len(),
            Self::Send(_, Message::Signal { path, body }, _) => path.len() + body.len(),
            Self::Rest(..)
            | Self::Refuse(..)
            | Self::Forgive
            | Self::Retry(..)
            | Self::Claim(..)
            | Self::Forsake(_)
            | Self::Release(_)
            | Self::Send(..)
            | Self::Delete(..)
            | Self::Purge
            | Self::Close => 0,
        }
    }

    /// The run of which it writes something that only the owner may write.
    fn held(&self) -> Option<&Held> {
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

/// Why a job was not done.
pub(super) enum Refused {
    /// Nothing is wrong with the database, and nothing was changed.
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

/// The jobs that others queue.
struct Jobs<'a> {
    queue: &'a mpsc::Receiver<Queued>,
    /// The number of jobs of the last transaction, and the bytes of this one.
    last: usize,
    bytes: usize,
    pauses: usize,
    is_closed: bool,
}

impl<'a> Jobs<'a> {
    fn new(queue: &'a mpsc::Receiver<Queued>) -> Self {
        Self {
            queue,
            last: 0,
            bytes: 0,
            pauses: 0,
            is_closed: false,
        }
    }

    /// Waits for the first job of a transaction, or for the time to release a run again. Returns `None` at the end.
    fn first(&mut self, has_unreleased: bool) -> Option<Option<Queued>> {
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

    /// Returns the next job of a transaction that has this many. Those who were woken after the last transaction are likely to queue as many jobs again.
    fn next(&mut self, count: usize) -> Option<Queued> {
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

pub(super) struct Writer {
    pub(super) path: Arc<Path>,
    pub(super) max_bytes: Option<u64>,
    pub(super) database: Connection,
    pub(super) alive: Alive,
    pub(super) owners: Owners,
    pub(super) watching: Arc<Watching>,
    pub(super) arrivals: Arrivals,
    pub(super) claims: Claims,
    /// The runs that this owner has, and the epochs of its claims.
    pub(super) held: HashMap<i64, i64>,
    /// The runs of which something could not be written. Nothing after that is written, or a record would be missing in the middle.
    pub(super) broken: HashMap<i64, String>,
    /// What could not be released yet.
    pub(super) unreleased: Vec<Held>,
}

impl Writer {
    pub(super) fn run(mut self, queue: &mpsc::Receiver<Queued>) {
        let mut jobs = Jobs::new(queue);
        while let Some(first) = jobs.first(!self.unreleased.is_empty()) {
            let retried = self.unreleased.drain(..).map(|held| Queued {
                job: Job::Release(held),
                answer: None,
            });
            let mut batch: Vec<Queued> = retried.collect();
            batch.extend(first);
            let outcomes = self.commit(&mut batch, |batch| jobs.next(batch.len()));
            self.answer_all(batch, outcomes);
        }
        self.leave();
    }

    /// Answers the jobs of a transaction, or does each of them in a transaction of its own: one of them may be the reason for the error.
    fn answer_all(&mut self, batch: Vec<Queued>, outcomes: Result<Vec<Outcome>, (Cause, bool)>) {
        // Somebody who is woken may need the processor. So all answers are stored before anybody is woken.
        let mut given = Vec::with_capacity(batch.len());
        match outcomes {
            Ok(outcomes) => {
                for (queued, outcome) in batch.into_iter().zip(outcomes) {
                    given.extend(self.answer(queued, outcome));
                }
            }
            Err((_, true)) if batch.len() > 1 => {
                for queued in batch {
                    let mut alone = vec![queued];
                    let outcomes = self.commit(&mut alone, |_| None);
                    self.answer_all(alone, outcomes);
                }
            }
            Err((cause, _)) => {
                for queued in batch {
                    let outcome = Err(self.fail(&queued.job, cause.clone()));
                    given.extend(self.answer(queued, outcome));
                }
            }
        }
    }

    /// Does jobs in a transaction, with further jobs that come meanwhile. The error contains `true` if the transaction had begun; then no job has left a trace.
    fn commit(
        &mut self,
        batch: &mut Vec<Queued>,
        mut next: impl FnMut(&[Queued]) -> Option<Queued>,
    ) -> Result<Vec<Outcome>, (Cause, bool)> {
        let Self {
            path,
            database,
            alive,
            owners,
            held,
            broken,
            ..
        } = self;
        let change = database
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| (error.into(), false))?;
        let mut write = Write {
            path,
            change: &change,
            owner: &alive.name,
            owners,
            held,
            claimed: HashSet::new(),
        };
        let mut outcomes = Vec::with_capacity(batch.len());
        loop {
            for Queued { job, .. } in &batch[outcomes.len()..] {
                let broken = job.held().and_then(|held| broken.get(&held.run));
                let outcome = match broken {
                    Some(why) => Err(JournalError::storage(why.as_str())),
                    None => match write.act(job) {
                        Ok(done) => Ok(done),
                        Err(Refused::Rule(error)) => Err(error),
                        Err(Refused::Storage(cause)) => return Err((cause, true)),
                    },
                };
                outcomes.push(outcome);
            }
            match next(batch) {
                Some(queued) => batch.push(queued),
                None => break,
            }
        }
        change.commit().map_err(|error| (error.into(), true))?;
        Ok(outcomes)
    }

    fn fail(&mut self, job: &Job, cause: Cause) -> JournalError {
        let failure = Failure::new(&self.path, cause.limited(self.max_bytes));
        if let Some(Held { id, run, epoch, .. }) = job.held()
            && self.held.get(run) == Some(epoch)
        {
            let id = MessageName(id);
            let why = format!("an earlier write of run `{id}` has failed: {failure}");
            self.broken.insert(*run, why);
        }
        failure.into()
    }

    /// Stores an outcome that has been committed or has failed, here and in the answer. Whoever waits is woken when the answer is dropped.
    fn answer(&mut self, queued: Queued, outcome: Outcome) -> Option<Answer<Outcome>> {
        match (&queued.job, &outcome) {
            (Job::Claim(..), Ok(Done::Claimed(_, held))) => {
                self.held.insert(held.run, held.epoch);
                self.broken.remove(&held.run);
            }
            // A claim that was not committed owns nothing, and another run may get its numbers.
            (Job::Claim(_, ticket), Err(_)) => *lock(ticket) = None,
            (Job::Rest(held, ..) | Job::Release(held), outcome) => {
                self.given_back(held, outcome.is_err());
                if let Ok(Done::GivenUp { is_due: true }) = outcome {
                    self.arrivals.come();
                }
            }
            (Job::Forsake(ticket), outcome) => {
                if let Some(held) = lock(ticket).take() {
                    self.given_back(&held, outcome.is_err());
                }
            }
            (_, Ok(Done::Sent(run))) => self.watching.wake([*run]),
            _ => {}
        }
        queued.answer.inspect(|answer| answer.give(outcome))
    }

    /// A run was released, or is still to be.
    fn given_back(&mut self, held: &Held, has_failed: bool) {
        if has_failed {
            self.unreleased.push(held.clone());
        }
        if self.held.get(&held.run) == Some(&held.epoch) {
            self.held.remove(&held.run);
            self.broken.remove(&held.run);
        }
        let is_its = |it: &Held| (it.run, it.epoch) == (held.run, held.epoch);
        let mut claims = lock(&self.claims);
        if claims.get(&held.id).is_some_and(is_its) {
            claims.remove(&held.id);
        }
    }

    /// Gives up all runs.
    fn leave(&mut self) {
        let owner = &self.alive.name;
        let leave = || -> rusqlite::Result<()> {
            let change = self
                .database
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let undescribed = "DELETE FROM runs WHERE owner = ?1 AND plan IS NULL
                AND NOT EXISTS(SELECT 1 FROM records WHERE run = number)";
            change.execute(undescribed, [owner])?;
            change.execute("UPDATE runs SET owner = NULL WHERE owner = ?1", [owner])?;
            change.commit()
        };
        // Otherwise others see that this owner has ended.
        let _ = { leave }();
    }
}

/// A transaction, and what jobs need of it.
struct Write<'a> {
    path: &'a Arc<Path>,
    change: &'a Transaction<'a>,
    owner: &'a str,
    owners: &'a Owners,
    held: &'a HashMap<i64, i64>,
    /// The runs that were claimed in this transaction.
    claimed: HashSet<i64>,
}

impl Write<'_> {
    fn sql(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        statement(self.change, sql)
    }

    fn act(&mut self, job: &Job) -> Result<Done, Refused> {
        match job {
            Job::Claim(id, ticket) => self.claim_for(id, ticket),
            Job::Forsake(ticket) => match &*lock(ticket) {
                None => Ok(Done::Written),
                Some(held) => self.release(held),
            },
            Job::Describe(held, run) => self.describe(held, run),
            Job::Record(held, key, body) => self.record(held, key, body),
            Job::End(held, end) => self.end(held, end),
            Job::Release(held) => self.release(held),
            Job::Rest(held, until, rest) => self.rest(held, *until, *rest),
            Job::Refuse(id, until, reason, cipher) => {
                self.refuse(id, *until, reason, cipher.as_ref())
            }
            Job::Forgive => self.forgive(),
            Job::Retry(held, keys, record) => self.retry(held, keys, record.as_ref()),
            Job::Send(id, message, cipher) => self.send(id, message, cipher.as_ref()),
            Job::Delete(runs, before) => self.delete(runs, *before),
            Job::Purge => self.purge(),
            Job::Close => Ok(Done::Written),
        }
    }

    /// The owner of a run, if that is alive.
    fn owner(&self, run: i64, owner: Option<String>) -> Option<String> {
        let owner = owner?;
        if owner == self.owner {
            // It may have been released without the database being able to write that.
            let has_it = self.held.contains_key(&run) || self.claimed.contains(&run);
            return has_it.then(|| "this process".to_owned());
        }
        self.owners.is_alive(&owner).then(|| process(&owner))
    }

    fn claim_for(&mut self, id: &Arc<str>, ticket: &Ticket) -> Result<Done, Refused> {
        let done = self.claim(id)?;
        if let Done::Claimed(_, held) = &done {
            *lock(ticket) = Some(held.clone());
        }
        Ok(done)
    }

    fn claim(&mut self, id: &Arc<str>) -> Result<Done, Refused> {
        type Row = (i64, i64, Option<String>, i64, Option<i64>, Option<String>);
        let row: Option<Row> = self
            .sql("SELECT number, epoch, owner, began, failed, plan FROM runs WHERE id = ?1")?
            .query_row([&**id], |row| {
                let (number, epoch, owner) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok((number, epoch, owner, row.get(3)?, row.get(4)?, row.get(5)?))
            })
            .optional()?;
        let Some((run, epoch, owner, mut began, failed, plan)) = row else {
            let began = time::now();
            self.sql("INSERT INTO runs(id, epoch, owner, began) VALUES(?1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'runs'), 0) + 1, ?2, ?3)")?
                .execute(params![&**id, self.owner, began])?;
            let run = self.change.last_insert_rowid();
            // A claim of a run that was removed must not be valid for this one.
            let stored = StoredRun::new(time::system(began));
            return Ok(self.claimed(id, (run, run), stored));
        };
        if let Some(owner) = self.owner(run, owner) {
            let id = id.to_string();
            return Err(JournalError::Owned { id, owner }.into());
        }
        if plan.is_none() {
            began = time::now();
        }
        let epoch = epoch + 1;
        self.sql("UPDATE runs SET epoch = ?2, owner = ?3, began = ?4, rests = NULL, reason = NULL WHERE number = ?1")?
            .execute(params![run, epoch, self.owner, began])?;
        let mut stored = StoredRun::new(time::system(began));
        if let Some(plan) = plan {
            let info = self
                .sql("SELECT document, inputs FROM descriptions WHERE run = ?1")?
                .query_row([run], |row| {
                    let (document, inputs): (String, String) = (row.get(0)?, row.get(1)?);
                    Ok(RunInfo::new(plan, document, inputs))
                })?;
            stored = stored.described(info);
        }
        stored.end = match failed {
            None => None,
            Some(failed) => self
                .sql("SELECT body FROM ends WHERE run = ?1")?
                .query_row([run], |row| {
                    let body = row.get(0)?;
                    Ok(Some(end_of(failed, body)))
                })?,
        };
        Ok(self.claimed(id, (run, epoch), stored))
    }

    fn claimed(&mut self, id: &Arc<str>, (run, epoch): (i64, i64), stored: StoredRun) -> Done {
        self.claimed.insert(run);
        let claim = Claim::new(Arc::clone(id), epoch.unsigned_abs());
        let held = Held {
            id: Arc::clone(id),
            run,
            epoch,
            is_sealed: false,
            is_given_up: false,
        };
        Done::Claimed(Box::new(Claimed::new(claim, stored)), held)
    }

    /// The error of a write by an owner that has lost the run.
    fn lost(held: &Held) -> Refused {
        let id = held.id.to_string();
        JournalError::Lost { id }.into()
    }

    fn describe(&self, held: &Held, run: &RunInfo) -> Result<Done, Refused> {
        let changed = self
            .sql("UPDATE runs SET plan = ?4 WHERE number = ?1 AND epoch = ?2 AND owner = ?3")?
            .execute(params![held.run, held.epoch, self.owner, run.plan])?;
        if changed == 0 {
            return Err(Self::lost(held));
        }
        self.sql("INSERT OR REPLACE INTO descriptions(run, document, inputs) VALUES(?1, ?2, ?3)")?
            .execute(params![held.run, run.document, run.inputs])?;
        Ok(Done::Written)
    }

    fn record(&self, held: &Held, key: &str, body: &str) -> Result<Done, Refused> {
        let added = self
            .sql(
                "INSERT INTO records(position, run, key, body)
                SELECT coalesce(
                    (SELECT max(position) FROM records WHERE position BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff), ?1 << 32
                ) + 1, ?1, ?2, ?3
                FROM runs WHERE number = ?1 AND epoch = ?4 AND owner = ?5",
            )?
            .execute(params![held.run, key, body, held.epoch, self.owner]);
        match added {
            Ok(0) => Err(Self::lost(held)),
            Ok(_) => Ok(Done::Written),
            Err(rusqlite::Error::SqliteFailure(error, _))
                if error.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE =>
            {
                let words = format!("`{key}` is recorded already");
                Err(Refused::Rule(Failure::new(self.path, words).into()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn end(&self, held: &Held, end: &End) -> Result<Done, Refused> {
        let changed = self
            .sql(
                "UPDATE runs SET ended = coalesce(ended, ?4), failed = ?5 WHERE number = ?1 AND epoch = ?2 AND owner = ?3",
            )?
            .execute(params![held.run, held.epoch, self.owner, time::now(), column_of(end)])?;
        if changed == 0 {
            return Err(Self::lost(held));
        }
        self.sql("INSERT OR REPLACE INTO ends(run, body) VALUES(?1, ?2)")?
            .execute(params![held.run, end.body()])?;
        Ok(Done::Written)
    }

    fn release(&self, held: &Held) -> Result<Done, Refused> {
        // Nothing is left of a run that was only asked for.
        let removed = self
            .sql(
                "DELETE FROM runs WHERE number = ?1 AND epoch = ?2 AND owner = ?3 AND plan IS NULL
                AND NOT EXISTS(SELECT 1 FROM records WHERE run = ?1)",
            )?
            .execute(params![held.run, held.epoch, self.owner])?;
        if removed > 0 {
            return Ok(Done::Written);
        }
        let is_due = self
            .sql(
                "UPDATE runs SET owner = NULL WHERE number = ?1 AND epoch = ?2 AND owner = ?3
                RETURNING ended IS NULL AND plan IS NOT NULL",
            )?
            .query_row(params![held.run, held.epoch, self.owner], |row| row.get(0))
            .optional()?;
        let is_due = is_due.unwrap_or(false);
        Ok(Done::GivenUp { is_due })
    }

    fn rest(&self, held: &Held, until: i64, rest: Rest) -> Result<Done, Refused> {
        let seen = i64::try_from(rest.seen).unwrap_or(i64::MAX);
        let is_due = self
            .sql(
                "UPDATE runs SET owner = NULL, rests = CASE
                    WHEN EXISTS(SELECT 1 FROM messages WHERE run = ?1 AND number > ?5) THEN NULL ELSE ?4
                END, waits = ?6 WHERE number = ?1 AND epoch = ?2 AND owner = ?3 RETURNING ended IS NULL AND rests IS NULL",
            )?
            .query_row(
                params![held.run, held.epoch, self.owner, until, seen, rest.waits],
                |row| row.get(0),
            )
            .optional()?;
        let is_due = is_due.unwrap_or(false);
        Ok(Done::GivenUp { is_due })
    }

    fn refuse(
        &self,
        id: &str,
        until: i64,
        reason: &str,
        cipher: Option<&Cipher>,
    ) -> Result<Done, Refused> {
        let Some((run, head)) = self.head(id)? else {
            return Ok(Done::Written);
        };
        let owner = self
            .sql("SELECT owner FROM runs WHERE number = ?1")?
            .query_row([run], |row| row.get(0))?;
        if self.owner(run, owner).is_some() {
            return Ok(Done::Written);
        }
        // Without the key, the reason is that there is none.
        let reason = match cipher.filter(|cipher| cipher.has_sealed(&head)) {
            Some(cipher) => Cow::Owned(cipher.seal(id, Place::Reason, reason)?),
            None => Cow::Borrowed(reason),
        };
        self.sql(
            "UPDATE runs SET owner = NULL, rests = ?2, reason = ?3 WHERE number = ?1 AND ended IS NULL",
        )?
        .execute(params![run, until, reason])?;
        Ok(Done::Written)
    }

    fn forgive(&self) -> Result<Done, Refused> {
        self.sql("UPDATE runs SET rests = NULL WHERE ended IS NULL AND rests IS NOT NULL AND reason IS NOT NULL")?
            .execute([])?;
        Ok(Done::Written)
    }

    fn retry(
        &self,
        held: &Held,
        keys: &[String],
        record: Option<&(String, String)>,
    ) -> Result<Done, Refused> {
        let changed = self
            .sql(
                "UPDATE runs SET ended = NULL, failed = NULL WHERE number = ?1 AND epoch = ?2 AND owner = ?3",
            )?
            .execute(params![held.run, held.epoch, self.owner])?;
        if changed == 0 {
            return Err(Self::lost(held));
        }
        for key in keys.iter().chain(record.map(|(key, _)| key)) {
            self.sql("DELETE FROM records WHERE run = ?1 AND key = ?2")?
                .execute(params![held.run, key])?;
        }
        // What has cancelled it does not count any more.
        for sql in [
            "DELETE FROM ends WHERE run = ?1",
            "DELETE FROM messages WHERE run = ?1 AND path IS NULL",
        ] {
            self.sql(sql)?.execute([held.run])?;
        }
        match record {
            Some((key, body)) => self.record(held, key, body),
            None => Ok(Done::Written),
        }
    }

    /// Returns the number of a run, and the head of its inputs, which tells whether the run is encrypted. Another run may have begun with
    /// this id since a caller looked, so only this transaction knows.
    fn head(&self, id: &str) -> rusqlite::Result<Option<(i64, String)>> {
        let sql = "SELECT number, coalesce(substr(inputs, 1, ?2), '') FROM runs LEFT JOIN descriptions ON run = number WHERE id = ?1 AND plan IS NOT NULL";
        let mut statement = self.sql(sql)?;
        let head = statement.query_row(params![id, encryption::HEAD], |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        head.optional()
    }

    fn send(&self, id: &str, message: &Message, cipher: Option<&Cipher>) -> Result<Done, Refused> {
        let Some((run, head)) = self.head(id)? else {
            return Err(JournalError::Unknown { id: id.to_owned() }.into());
        };
        let (path, body) = match message {
            Message::Signal { path, body } => {
                let body = encryption::seal_like(cipher, id, &head, Place::Signal(path), body)?;
                (Some(path), Some(body))
            }
            Message::Cancel => (None, None),
        };
        let sent = self
            .sql("INSERT INTO messages(run, path, body) VALUES(?1, ?2, ?3)")?
            .execute(params![run, path, body]);
        match (sent, path) {
            (Err(error), Some(path))
                if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
            {
                Err(JournalError::Second { path: path.clone() }.into())
            }
            (sent, _) => {
                sent?;
                self.sql("UPDATE runs SET rests = NULL WHERE number = ?1")?
                    .execute([run])?;
                Ok(Done::Sent(run))
            }
        }
    }

    fn delete(&self, runs: &[i64], before: i64) -> Result<Done, Refused> {
        let mut count = 0;
        for &run in runs {
            let row: Option<(Option<String>, bool)> = self
                .sql(
                    "SELECT owner, plan IS NOT NULL FROM runs WHERE number = ?1 AND (
                        ended < ?2 OR plan IS NULL AND began < ?2 AND NOT EXISTS(SELECT 1 FROM records WHERE run = ?1)
                    )",
                )?
                .query_row([run, before], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((owner, is_described)) = row else {
                continue;
            };
            if self.owner(run, owner).is_some() {
                continue;
            }
            for sql in [
                "DELETE FROM runs WHERE number = ?1",
                "DELETE FROM descriptions WHERE run = ?1",
                "DELETE FROM ends WHERE run = ?1",
                "DELETE FROM messages WHERE run = ?1",
                "INSERT INTO deleted(run) VALUES(?1)",
            ] {
                self.sql(sql)?.execute([run])?;
            }
            count += u64::from(is_described);
        }
        Ok(Done::Deleted(count))
    }

    fn purge(&self) -> Result<Done, Refused> {
        let run: Option<i64> = self
            .sql("SELECT run FROM deleted LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        let Some(run) = run else {
            return Ok(Done::Purged(false));
        };
        let removed = self
            .sql(
                "DELETE FROM records WHERE position IN (
                    SELECT position FROM records WHERE position BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff LIMIT ?2
                )",
            )?
            .execute([run, REMOVED])?;
        if removed < usize::try_from(REMOVED).unwrap_or(usize::MAX) {
            self.sql("DELETE FROM deleted WHERE run = ?1")?
                .execute([run])?;
        }
        Ok(Done::Purged(true))
    }
}
