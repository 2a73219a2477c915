//! The runs of a database that have something to do.

use super::super::JournalError;
use super::super::spi::Claim;
use super::encryption::Place;
use super::writer::Job;
use super::{Sqlite, lock, time};
use std::collections::HashMap;
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
}
