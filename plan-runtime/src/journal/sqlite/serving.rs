//! What there is to do, for whoever runs the runs of a database, and what is in them, for whoever looks at one.

use super::super::{Claim, Claimed, End, Found, Journal, JournalError, Message, RunInfo, Written};
use super::encryption::Place;
use super::writer::Job;
use super::{Sqlite, lock, time};
use rusqlite::{OptionalExtension, params};
use std::collections::HashMap;
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, SystemTime};

impl Sqlite {
    /// Whether a run was submitted, or a message sent, in this process since the last time. Otherwise the waker is woken when that happens.
    pub(crate) fn has_arrivals(&self, seen: &mut u64, waker: &Waker) -> bool {
        self.0.arrivals.have_come(seen, waker)
    }

    /// At most this many runs that nobody has and that have something to do, and whether there may be more.
    pub(crate) fn due(&self, most: usize) -> Result<(Vec<String>, bool), JournalError> {
        // Two statements, since SQLite would read and sort all runs for one: first those whose pause is over.
        const PAUSED: &str = "SELECT id, owner FROM runs WHERE ended IS NULL AND rests <= ?1 AND plan IS NOT NULL ORDER BY rests, number";
        const READY: &str = "SELECT id, owner FROM runs WHERE ended IS NULL AND rests IS NULL AND plan IS NOT NULL AND ?1 ORDER BY number";
        let mut due = Vec::new();
        let mut is_all = true;
        let mut alive: HashMap<String, bool> = HashMap::new();
        self.read(|database| {
            for sql in [PAUSED, READY] {
                let mut statement = database.prepare_cached(sql)?;
                let mut rows = statement.query([time::now()])?;
                while let Some(row) = rows.next()? {
                    let (id, owner): (String, Option<String>) = (row.get(0)?, row.get(1)?);
                    let is_owned = owner.is_some_and(|owner| {
                        if owner == self.0.owner {
                            return lock(&self.0.claims).contains_key(&*id);
                        }
                        let is_alive = |name: &String| self.is_alive(name);
                        *alive.entry(owner).or_insert_with_key(is_alive)
                    });
                    if is_owned {
                        continue;
                    }
                    if due.len() == most {
                        is_all = false;
                        return Ok(());
                    }
                    due.push(id);
                }
            }
            Ok(())
        })?;
        Ok((due, !is_all))
    }

    /// Gives up a run that has nothing to do for some time, and until there is a message after this one.
    pub(crate) fn rest(&self, claim: &Claim, rest: Option<Duration>, seen: u64) {
        let Ok(held) = self.held(claim) else {
            return; // Somebody else has it.
        };
        let until = match rest {
            None => i64::MAX,
            Some(rest) => SystemTime::now()
                .checked_add(rest)
                .map_or(i64::MAX, time::number),
        };
        let seen = i64::try_from(seen).unwrap_or(i64::MAX);
        let run = held.run;
        lock(&self.0.claims).remove(&claim.id);
        // If it cannot be written, the run is released later, and begun once more.
        drop(self.queue(Job::Rest(held, until, seen)));
        self.0.watching.wake([run]);
    }

    /// Nobody is to begin a run for some time, since it cannot be begun for this reason.
    pub(crate) fn refuse(
        &self,
        id: &str,
        rest: Duration,
        reason: String,
    ) -> Result<(), JournalError> {
        let until = SystemTime::now()
            .checked_add(rest)
            .map_or(i64::MAX, time::number);
        let job = Job::Refuse(id.to_owned(), until, reason, self.1.clone());
        self.act(job).map(drop)
    }

    /// Runs that could not be begun may be tried again.
    pub(crate) fn forgive(&self) -> Result<(), JournalError> {
        self.act(Job::Forgive).map(drop)
    }

    /// Has a run that has failed go on without these records, and with this one.
    pub(crate) fn retry(
        &self,
        claim: &Claim,
        keys: Vec<String>,
        record: Option<(String, String)>,
    ) -> Result<(), JournalError> {
        let held = self.held(claim)?;
        let seal = |(key, body): (String, String)| {
            let body = self.sealed(&held, Place::Record(&key), body)?;
            Ok::<_, JournalError>((key, body))
        };
        let record = record.map(seal).transpose()?;
        self.act(Job::Retry(held, keys, record)).map(drop)
    }

    /// Returns a viewer of the records of a run. The run may have another owner.
    pub(crate) fn viewer(&self, id: &str) -> Result<Option<Viewer>, JournalError> {
        let sql = "SELECT number, began, failed, plan, document, inputs, body FROM runs
            JOIN descriptions ON descriptions.run = number LEFT JOIN ends ON ends.run = number WHERE id = ?1 AND plan IS NOT NULL";
        let viewer = self.read(|database| {
            let mut statement = database.prepare_cached(sql)?;
            let viewer = statement.query_row([id], |row| {
                let end: Option<(bool, String)> = row
                    .get::<_, Option<bool>>(2)?
                    .zip(row.get::<_, Option<String>>(6)?);
                Ok(Viewer {
                    db: self.clone(),
                    id: id.into(),
                    is_sealed: false,
                    run: row.get(0)?,
                    began: time::system(row.get(1)?),
                    info: RunInfo {
                        plan: row.get(3)?,
                        document: row.get(4)?,
                        inputs: row.get(5)?,
                    },
                    end: end.map(|(failed, body)| End { failed, body }),
                })
            });
            viewer.optional()
        })?;
        let open = |mut viewer: Viewer| {
            (viewer.info, viewer.is_sealed) = self.opened_info(id, viewer.info)?;
            viewer.end = self.opened_end((id, viewer.is_sealed), viewer.end)?;
            Ok(viewer)
        };
        viewer.map(open).transpose()
    }
}

/// A journal that shows one run, and changes nothing.
#[derive(Clone)]
pub(crate) struct Viewer {
    db: Sqlite,
    id: Arc<str>,
    is_sealed: bool,
    run: i64,
    began: SystemTime,
    pub(crate) info: RunInfo,
    pub(crate) end: Option<End>,
}

impl Journal for Viewer {
    fn claim(&self, id: &str) -> Result<Claimed, JournalError> {
        let claim = Claim {
            id: id.into(),
            epoch: 0,
        };
        let end = self.end.clone();
        Ok(Claimed::new(claim).existing(self.info.clone(), self.began, end))
    }

    fn look(&self, _: &str) -> Result<Option<RunInfo>, JournalError> {
        Ok(Some(self.info.clone()))
    }

    fn describe(&self, _: &Claim, _: &RunInfo) -> Result<(), JournalError> {
        Ok(())
    }

    fn find(&self, _: &Claim, key: &str) -> Result<Option<Found>, JournalError> {
        self.db.found((&self.id, self.is_sealed), self.run, key)
    }

    fn next_key(&self, _: &Claim, from: &str) -> Result<Option<String>, JournalError> {
        self.db.read(|database| {
            let sql = "SELECT key FROM records WHERE run = ?1 AND key >= ?2 ORDER BY key LIMIT 1";
            let mut statement = database.prepare_cached(sql)?;
            let key = statement.query_row(params![self.run, from], |row| row.get(0));
            key.optional()
        })
    }

    /// What is not recorded has not happened.
    fn record(&self, _: &Claim, _: String, _: String) -> Written {
        Box::pin(pending())
    }

    fn end(&self, _: &Claim, _: End) -> Written {
        Box::pin(ready(Ok(())))
    }

    fn release(&self, _: &Claim) {}

    fn send(&self, id: &str, _: &Message) -> Result<(), JournalError> {
        Err(JournalError::Unknown { id: id.to_owned() })
    }

    fn messages(&self, _: &Claim, _: u64) -> Result<Vec<(u64, Message)>, JournalError> {
        Ok(Vec::new())
    }

    fn watch(&self, _: &Claim, _: u64) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(pending())
    }

    fn encrypts(&self, _: &str) -> Result<bool, JournalError> {
        Ok(self.is_sealed)
    }
}
