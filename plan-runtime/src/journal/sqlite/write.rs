//! A transaction of the thread that writes: the statements of each job.

use super::super::JournalError;
use super::super::spi::{Claim, Claimed, End, Message, Rest, RunInfo, StoredRun};
use super::encryption::{self, Cipher, Place};
use super::failure::Failure;
use super::jobs::{Done, Held, Job, Refused, Ticket};
use super::lock;
use super::owners::{Owners, process};
use super::schema::{column_of, end_of, statement};
use super::time;
use rusqlite::{CachedStatement, ErrorCode, OptionalExtension, Transaction, params};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// The most records that one transaction removes.
const REMOVED: i64 = 1000;

/// A transaction for jobs.
pub(super) struct Write<'a> {
    pub(super) path: &'a Arc<Path>,
    pub(super) change: &'a Transaction<'a>,
    pub(super) owner: &'a str,
    pub(super) owners: &'a Owners,
    pub(super) held: &'a HashMap<i64, i64>,
    /// The runs that were claimed in this transaction.
    pub(super) claimed: HashSet<i64>,
    /// The epochs and the last positions of the runs to which records were appended since the last job of another kind.
    pub(super) appended: HashMap<i64, (i64, i64)>,
}

impl Write<'_> {
    fn sql(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        statement(self.change, sql)
    }

    pub(super) fn act(&mut self, job: &Job) -> Result<Done, Refused> {
        if !matches!(job, Job::Record(..)) {
            self.appended.clear();
        }
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

    /// Returns the owner of a run, if the owner is alive.
    fn owner(&self, run: i64, owner: Option<String>) -> Option<String> {
        let owner = owner?;
        if owner == self.owner {
            // The owner may have released the run while the database could not be written.
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
            // A claim of a removed run must not be valid for this run.
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

    /// Creates the error of a write by an owner that has lost the run.
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

    /// Returns the position of the next record of a run, or `None` if this owner has lost the run.
    fn next_position(&self, held: &Held) -> rusqlite::Result<Option<i64>> {
        match self.appended.get(&held.run) {
            Some((epoch, last)) if *epoch == held.epoch => return Ok(Some(last + 1)),
            _ => {}
        }
        let next = self
            .sql(
                "SELECT coalesce(
                    (SELECT max(position) FROM records WHERE position BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff), ?1 << 32
                ) + 1 FROM runs WHERE number = ?1 AND epoch = ?2 AND owner = ?3",
            )?
            .query_row(params![held.run, held.epoch, self.owner], |row| row.get(0));
        next.optional()
    }

    fn record(&mut self, held: &Held, key: &str, body: &str) -> Result<Done, Refused> {
        let Some(position) = self.next_position(held)? else {
            return Err(Self::lost(held));
        };
        let added = self
            .sql("INSERT INTO records(position, run, key, body) VALUES(?1, ?2, ?3, ?4)")?
            .execute(params![position, held.run, key, body]);
        match added {
            Ok(_) => {
                self.appended.insert(held.run, (held.epoch, position));
                Ok(Done::Written)
            }
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
        // A run that was only looked up leaves no row.
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
        // Without a key, the reason is the missing key.
        let is_sealed =
            |cipher: &Cipher| head.as_deref().is_none_or(|head| cipher.has_sealed(head));
        let reason = match cipher.filter(|cipher| is_sealed(cipher)) {
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
        &mut self,
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
        // The end and earlier cancellations are removed, so that they have no effect on the continued run.
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

    /// Returns the number of a run, and the head of its inputs, which shows if the run is encrypted, unless the inputs are damaged. Another run may
    /// have started with this ID since the caller looked, so only this transaction has the valid number.
    fn head(&self, id: &str) -> rusqlite::Result<Option<(i64, Option<String>)>> {
        let sql = "SELECT number, substr(inputs, 1, ?2) FROM runs LEFT JOIN descriptions ON run = number WHERE id = ?1 AND plan IS NOT NULL";
        let mut statement = self.sql(sql)?;
        let head = statement.query_row(params![id, encryption::HEAD], |row| {
            let head = row.get_ref(1)?.as_bytes_or_null()?;
            let head = head.map(|head| String::from_utf8(head.to_vec()).ok());
            Ok((row.get(0)?, head.flatten()))
        });
        head.optional()
    }

    fn send(&self, id: &str, message: &Message, cipher: Option<&Cipher>) -> Result<Done, Refused> {
        let Some((run, head)) = self.head(id)? else {
            return Err(JournalError::Unknown { id: id.to_owned() }.into());
        };
        let (path, body) = match message {
            Message::Signal { path, body } => {
                // With damaged inputs, it is unknown if a value has to be encrypted.
                let damaged = || Failure::new(self.path, "the inputs of the run are damaged");
                let head = head.ok_or_else(|| JournalError::from(damaged()))?;
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
