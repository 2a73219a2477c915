//! The runs of a database that have something to do.

use super::super::spi::{Answer, Claim, Notified, Rest, Retry};
use super::super::{JournalError, RunFilter, RunSummary, Store};
use super::encryption::Place;
use super::writer::Job;
use super::{Sqlite, lock, time};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The end of a rest that begins now.
fn end_of(rest: Option<Duration>) -> i64 {
    let end = rest.and_then(|rest| SystemTime::now().checked_add(rest));
    end.map_or(i64::MAX, time::number)
}

impl Store for Sqlite {
    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Answer<'a, Vec<RunSummary>> {
        Box::pin(self.page_of_runs(filter))
    }

    fn due(&self, limit: usize) -> Answer<'_, Vec<String>> {
        Box::pin(self.due_runs(limit))
    }

    fn arrival(&self) -> Notified {
        self.0.arrivals.next()
    }

    fn rest(&self, claim: &Claim, rest: Rest) {
        let until = end_of(rest.time);
        let seen = i64::try_from(rest.seen).unwrap_or(i64::MAX);
        self.give_up(claim, |held| Job::Rest(held, until, seen));
    }

    fn refuse<'a>(&'a self, id: &'a str, time: Duration, reason: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let until = end_of(Some(time));
            let job = Job::Refuse(id.to_owned(), until, reason.to_owned(), self.1.clone());
            self.done(job).await.map(drop)
        })
    }

    fn forgive(&self) -> Answer<'_, ()> {
        Box::pin(async move { self.done(Job::Forgive).await.map(drop) })
    }

    fn retry<'a>(&'a self, claim: &'a Claim, retry: Retry) -> Answer<'a, ()> {
        Box::pin(async move {
            let held = self.held(claim)?;
            let seal = |(key, body): (String, String)| {
                let body = self.sealed(&held, Place::Record(&key), body)?;
                Ok::<_, JournalError>((key, body))
            };
            let record = retry.record.map(seal).transpose()?;
            self.done(Job::Retry(held, retry.removed, record))
                .await
                .map(drop)
        })
    }

    fn delete(&self, age: Duration) -> Answer<'_, u64> {
        Box::pin(self.delete_older(age))
    }
}

impl Sqlite {
    async fn due_runs(&self, limit: usize) -> Result<Vec<String>, JournalError> {
        // Two statements, since SQLite would read and sort all runs for one: first the runs whose rest is over.
        const RESTED: &str = "SELECT id, owner FROM runs WHERE ended IS NULL AND rests <= ?1 AND plan IS NOT NULL ORDER BY rests, number";
        const READY: &str = "SELECT id, owner FROM runs WHERE ended IS NULL AND rests IS NULL AND plan IS NOT NULL AND ?1 ORDER BY number";
        let (mut living, claims) = (self.living(), Arc::clone(&self.0.claims));
        self.read(move |database| {
            let mut due = Vec::new();
            for sql in [RESTED, READY] {
                let mut statement = database.prepare_cached(sql)?;
                let mut rows = statement.query([time::now()])?;
                while due.len() < limit
                    && let Some(row) = rows.next()?
                {
                    let (id, owner): (String, Option<String>) = (row.get(0)?, row.get(1)?);
                    let is_owned = owner.is_some_and(|owner| {
                        // The database may still name this owner for a run that was given up.
                        if living.is_own(&owner) {
                            lock(&claims).contains_key(&*id)
                        } else {
                            living.contains(owner)
                        }
                    });
                    if !is_owned {
                        due.push(id);
                    }
                }
            }
            Ok(due)
        })
        .await
    }
}
