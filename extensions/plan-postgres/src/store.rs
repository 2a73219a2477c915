//! Lists of runs, and changes of runs without an owner.

use super::asks::Asks;
use super::ends;
use super::journal::Postgres;
use super::line::{Line, Parameter, Session};
use super::numbers::{millis, nanos, signed, time};
use super::worker::SETUP;
use super::writer::Job;
use plan_runtime::journal::spi::{Answer, Claim, Notified, Rest, Retry};
use plan_runtime::journal::{JournalError, RunFilter, RunState, RunSummary, Store};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio_postgres::Row;

/// The most runs on a page, and in a transaction that deletes runs.
const PAGE: i64 = 128;

/// The most records that a transaction removes.
const REMOVED: i64 = 1000;

impl Asks {
    fn summary(&self, row: &Row) -> Result<RunSummary, JournalError> {
        let number: i64 = self.column(row, 0)?;
        let (id, plan) = (self.column(row, 1)?, self.column(row, 2)?);
        let (id, plan) = (self.text(id)?, self.text(plan)?);
        let began = time(self.column(row, 3)?);
        let mut summary = RunSummary::new(number.unsigned_abs(), id, plan, began);
        summary.ended = self.column(row, 4)?;
        summary.state = match self.column::<Option<i16>>(row, 5)? {
            None => RunState::Running,
            Some(kind) => ends::state(kind).ok_or_else(|| self.damaged("the end"))?,
        };
        summary.is_owned = self.column(row, 6)?;
        summary.waits = self.column(row, 7)?;
        let reason: Option<Vec<u8>> = self.column(row, 8)?;
        summary.refusal = reason.map(|reason| self.text(reason)).transpose()?;
        Ok(summary)
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, JournalError> {
        let store = &self.line.sql.store;
        let mut sql = store.runs.clone();
        let mut parameters: Vec<Parameter<'_>> = Vec::new();
        let (id, plan) = (
            filter.id.as_ref().map(String::as_bytes),
            filter.plan.as_ref().map(String::as_bytes),
        );
        let before = filter.older_than.map(|age| {
            let before = SystemTime::now().checked_sub(age);
            before.map_or(i64::MIN, nanos)
        });
        let after = filter.after.map(signed);
        let (comparison, order) = if filter.is_newest_first {
            ("number <", "DESC")
        } else {
            ("number >", "ASC")
        };
        let conditions: [(&str, Option<Parameter<'_>>); 4] = [
            ("id =", id.as_ref().map(|it| it as _)),
            ("plan =", plan.as_ref().map(|it| it as _)),
            ("began <", before.as_ref().map(|it| it as _)),
            (comparison, after.as_ref().map(|it| it as _)),
        ];
        for (condition, parameter) in conditions {
            if let Some(parameter) = parameter {
                parameters.push(parameter);
                sql += &format!(" AND {condition} ${}", parameters.len());
            }
        }
        match filter.state {
            None => {}
            Some(RunState::Running) => sql += " AND ended IS NULL",
            Some(state) => {
                let unknown = || JournalError::storage("plan-postgres does not know this state");
                let kind = ends::number(state).ok_or_else(unknown)?;
                sql += &format!(" AND ended IS NOT NULL AND end_kind = {kind}");
            }
        }
        match filter.is_owned {
            None => {}
            Some(true) => sql += &format!(" AND {}", store.is_owned),
            Some(false) => sql += &format!(" AND NOT {}", store.is_owned),
        }
        let limit = filter
            .limit
            .map_or(PAGE, |it| i64::try_from(it).unwrap_or(PAGE));
        let limit = limit.min(PAGE);
        parameters.push(&limit);
        sql += &format!(" ORDER BY number {order} LIMIT ${}", parameters.len());
        let rows = self.ask("cannot list runs", &sql, &parameters).await?;
        rows.iter().map(|row| self.summary(row)).collect()
    }

    async fn due(&self, limit: usize) -> Result<Vec<RunSummary>, JournalError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = &self.line.sql.store.due;
        let rows = self.ask("cannot list runs", sql, &[&limit]).await?;
        rows.iter().map(|row| self.summary(row)).collect()
    }

    async fn refuse(&self, id: &str, time: Duration, reason: &str) -> Result<(), JournalError> {
        let (id, millis, reason) = (id.as_bytes(), millis(time), reason.as_bytes());
        let sql = &self.line.sql.store.refuse;
        let parameters: [Parameter<'_>; 3] = [&id, &millis, &reason];
        self.ask("cannot refuse a run", sql, &parameters).await?;
        Ok(())
    }

    async fn forgive(&self) -> Result<(), JournalError> {
        let sql = &self.line.sql.store.forgive;
        self.ask("cannot end the rests of runs", sql, &[]).await?;
        Ok(())
    }

    async fn delete(&self, age: Duration) -> Result<u64, JournalError> {
        // A separate connection, so that other questions do not wait for the deletion of many records.
        let Line { settings, sql, .. } = &self.line;
        let name = format!("plan-postgres deletes {}", self.owner);
        let line = Line::new(settings, sql, name, SETUP.to_owned());
        let sql = &sql.store.delete;
        // Each statement has the full patience.
        let change = async |sql: &str, parameters: &[Parameter<'_>]| {
            let change = async |session: &Session| session.query(sql, parameters).await;
            let rows = line.run("cannot delete runs", change).await?;
            Ok::<_, JournalError>(rows.len() as u64)
        };
        while change(&sql.empty, &[&PAGE]).await? > 0 {}
        let age = millis(age);
        let mut deleted = 0;
        loop {
            // A killed process may have left records of deleted runs.
            while change(&sql.purge, &[&REMOVED]).await? > 0 {}
            change(&sql.purged, &[]).await?;
            match change(&sql.ended, &[&age, &PAGE]).await? {
                0 => return Ok(deleted),
                count => deleted += count,
            }
        }
    }
}

impl Postgres {
    /// Runs a question after the queued writes. With an ID, the question also waits for the transactions of the run's
    /// calls.
    async fn after_writes<T: Send + 'static>(
        &self,
        id: Option<&str>,
        act: impl AsyncFnOnce(Rc<Asks>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let id = id.map(Arc::from);
        self.ask_by(act, |ask| drop(self.0.jobs.send(Job::Ask(id, ask))))
            .await
    }
}

impl Store for Postgres {
    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Answer<'a, Vec<RunSummary>> {
        let filter = filter.clone();
        Box::pin(self.ask(async move |asks| asks.runs(&filter).await))
    }

    fn due(&self, limit: usize) -> Answer<'_, Vec<RunSummary>> {
        Box::pin(self.ask(async move |asks| asks.due(limit).await))
    }

    fn arrival(&self) -> Notified {
        Box::pin(self.0.watching.arrival())
    }

    fn rest(&self, claim: &Claim, rest: Rest) {
        self.give_up(claim, Some(rest));
    }

    fn refuse<'a>(&'a self, id: &'a str, time: Duration, reason: &'a str) -> Answer<'a, ()> {
        let reason = reason.to_owned();
        Box::pin(async move {
            let of = id.to_owned();
            self.after_writes(Some(id), async move |asks| {
                asks.refuse(&of, time, &reason).await
            })
            .await
        })
    }

    fn forgive(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            self.after_writes(None, async move |asks| asks.forgive().await)
                .await?;
            self.0.watching.arrive();
            Ok(())
        })
    }

    fn retry<'a>(&'a self, claim: &'a Claim, retry: Retry) -> Answer<'a, ()> {
        Box::pin(async move {
            let held = self.held(claim)?;
            let (reply, retried) = oneshot::channel();
            let _ = self.0.jobs.send(Job::Retry(held, retry, reply));
            retried.await.unwrap_or_else(|_| Err(self.gone()))
        })
    }

    fn delete(&self, age: Duration) -> Answer<'_, u64> {
        Box::pin(self.after_writes(None, async move |asks| asks.delete(age).await))
    }
}
