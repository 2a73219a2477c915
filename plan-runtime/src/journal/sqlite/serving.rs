//! The due runs of a database.

use super::super::spi::{Answer, Claim, Notified, Rest, Retry};
use super::super::{JournalError, RunFilter, RunSummary, Store};
use super::encryption::Place;
use super::inspect::{OWNER, SELECT, summary};
use super::jobs::Job;
use super::schema::statement;
use super::{Sqlite, lock, time};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Returns the end of a rest that begins now.
fn end_of(rest: Option<Duration>) -> i64 {
    let end = rest.and_then(|rest| SystemTime::now().checked_add(rest));
    end.map_or(i64::MAX, time::number)
}

impl Store for Sqlite {
    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Answer<'a, Vec<RunSummary>> {
        Box::pin(self.page_of_runs(filter))
    }

    fn due(&self, limit: usize) -> Answer<'_, Vec<RunSummary>> {
        Box::pin(self.due_runs(limit))
    }

    fn arrival(&self) -> Notified {
        self.0.arrivals.next()
    }

    fn rest(&self, claim: &Claim, rest: Rest) {
        let until = end_of(rest.time);
        self.give_up(claim, |held| Job::Rest(held, until, rest));
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
    async fn due_runs(&self, limit: usize) -> Result<Vec<RunSummary>, JournalError> {
        // Two statements, since SQLite would read and sort all runs for one: first the runs whose rest is over.
        let rested = format!(
            "{SELECT} FROM runs WHERE ended IS NULL AND rests <= ?1 AND plan IS NOT NULL ORDER BY rests, number"
        );
        let ready = format!(
            "{SELECT} FROM runs WHERE ended IS NULL AND rests IS NULL AND plan IS NOT NULL AND ?1 ORDER BY number"
        );
        let (mut living, claims) = (self.living(), Arc::clone(&self.0.claims));
        let cipher = self.1.clone();
        self.read(move |database| {
            let mut due = Vec::new();
            for sql in [rested, ready] {
                let mut statement = statement(database, &sql)?;
                let mut rows = statement.query([time::now()])?;
                while due.len() < limit
                    && let Some(row) = rows.next()?
                {
                    let mut run = summary(row, cipher.as_ref(), &mut living)?;
                    // The database may still name this owner for a released run.
                    if run.is_owned && living.is_own(&row.get::<_, String>(OWNER)?) {
                        run.is_owned = lock(&claims).contains_key(&*run.id);
                    }
                    if !run.is_owned {
                        due.push(run);
                    }
                }
            }
            Ok(due)
        })
        .await
    }
}
