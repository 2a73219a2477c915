//! Questions to the database, and changes in their own transactions: claims and messages.

use super::ends;
use super::failure::Failure;
use super::line::{Line, Parameter, Session};
use super::numbers::{nanos, time};
use super::owned::Held;
use super::pool::Pool;
use plan_runtime::journal::JournalError;
use plan_runtime::journal::spi::{Claim, Claimed, Message, Record, RunInfo, StoredRun};
use std::cell::Cell;
use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;
use tokio_postgres::{Error, Row};

/// The most records of a page.
const PAGE: i64 = 256;

/// The bytes after which a page ends.
const PAGE_BYTES: i64 = 1 << 20;

/// The most attempts to claim a run that other processes change concurrently.
const CLAIMS: usize = 16;

/// A question that the thread answers.
pub(crate) type Ask = Box<dyn FnOnce(Rc<Asks>) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

pub(crate) struct Asks {
    pub(crate) line: Line,
    pub(crate) owner: Arc<str>,
    pub(crate) pool: Pool,
}

impl Asks {
    pub(crate) fn damaged(&self, what: &str) -> JournalError {
        let why = format!("{what} is damaged");
        Failure::new(&self.line.settings.place, "cannot read a run", why).into()
    }

    pub(crate) fn text(&self, bytes: Vec<u8>) -> Result<String, JournalError> {
        String::from_utf8(bytes).map_err(|_| self.damaged("a text that is not UTF-8"))
    }

    pub(crate) fn column<'r, T: tokio_postgres::types::FromSql<'r>>(
        &self,
        row: &'r Row,
        column: usize,
    ) -> Result<T, JournalError> {
        let place = &self.line.settings.place;
        let value = row.try_get(column);
        value.map_err(|error| Failure::from_error(place, "cannot read a row", &error).into())
    }

    /// Returns the state in a row with the columns `number, epoch, began, plan, document, inputs, end_kind, output`.
    fn stored(&self, row: &Row) -> Result<StoredRun, JournalError> {
        let text = |column: usize| {
            let bytes: Option<Vec<u8>> = self.column(row, column)?;
            bytes.map(|bytes| self.text(bytes)).transpose()
        };
        let mut stored = StoredRun::new(time(self.column(row, 2)?));
        if let (Some(plan), Some(document), Some(inputs)) = (text(3)?, text(4)?, text(5)?) {
            stored = stored.described(RunInfo::new(plan, document, inputs));
        }
        let kind: Option<i16> = self.column(row, 6)?;
        let Some(kind) = kind else {
            return Ok(stored);
        };
        let body = text(7)?.unwrap_or_default();
        let end = ends::end(kind, body).ok_or_else(|| self.damaged("the end"))?;
        Ok(stored.ended(end))
    }

    /// Claims a run. Returns the claim, and the number of the last record.
    pub(crate) async fn claim(&self, id: &Arc<str>) -> Result<(Claimed, Held, i64), JournalError> {
        let (sql, bytes, owner) = (&self.line.sql.claims, id.as_bytes(), &*self.owner);
        for _ in 0..CLAIMS {
            let began = nanos(SystemTime::now());
            let claim = async |session: &Session| {
                session.prepare(&[&sql.claim, &sql.last_number]).await?;
                // The first statement may wait for a commit of the last owner. The second statement then sees the records of that
                // commit.
                let parameters: [Parameter<'_>; 3] = [&bytes, &owner, &began];
                let (claimed, last) = tokio::try_join!(
                    biased;
                    session.query(&sql.claim, &parameters),
                    session.query(&sql.last_number, &parameters[..1]),
                )?;
                if let (Some(row), Some(last)) = (claimed.into_iter().next(), last.first()) {
                    return Ok(Some((row, last.try_get::<_, i64>(0)?)));
                }
                let begun = session.query(&sql.begin, &parameters).await?;
                Ok::<_, Error>(begun.into_iter().next().map(|row| (row, 0)))
            };
            if let Some((row, last)) = self.line.run("cannot claim a run", claim).await? {
                let held = Held {
                    id: Arc::clone(id),
                    run: self.column(&row, 0)?,
                    epoch: self.column(&row, 1)?,
                };
                let claim = Claim::new(Arc::clone(id), held.epoch.unsigned_abs());
                let claimed = Claimed::new(claim, self.stored(&row)?);
                return Ok((claimed, held, last));
            }
            let rows = self
                .ask("cannot claim a run", &sql.owner, &[&bytes])
                .await?;
            if let Some(row) = rows.first() {
                return Err(JournalError::Owned {
                    id: id.to_string(),
                    owner: self.column(row, 0)?,
                });
            }
            // The owner has released the run after the attempt.
        }
        Err(JournalError::Owned {
            id: id.to_string(),
            owner: "a process that has just claimed the run".to_owned(),
        })
    }

    pub(crate) async fn ask(
        &self,
        what: &'static str,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Failure> {
        let ask = async |session: &Session| session.query(sql, parameters).await;
        self.line.run(what, ask).await
    }

    pub(crate) async fn look(&self, id: &str) -> Result<Option<StoredRun>, JournalError> {
        let sql = &self.line.sql.look;
        let rows = self
            .ask("cannot read a run", sql, &[&id.as_bytes()])
            .await?;
        rows.first().map(|row| self.stored(row)).transpose()
    }

    pub(crate) async fn read(&self, id: &str, after: i64) -> Result<Vec<Record>, JournalError> {
        let sql = &self.line.sql.read;
        let (id, most) = (id.as_bytes(), PAGE_BYTES);
        let rows = self
            .ask("cannot read records", sql, &[&id, &after, &PAGE, &most])
            .await?;
        let record = |row: &Row| {
            let number: i64 = self.column(row, 0)?;
            let (key, body) = (self.column(row, 1)?, self.column(row, 2)?);
            let (key, body) = (self.text(key)?, self.text(body)?);
            Ok(Record::new(number.unsigned_abs(), key, body))
        };
        rows.iter().map(record).collect()
    }

    pub(crate) async fn messages(
        &self,
        held: &Held,
        after: i64,
    ) -> Result<Vec<(u64, Message)>, JournalError> {
        let sql = &self.line.sql.messages.read;
        let (run, epoch, owner) = (held.run, held.epoch, &*self.owner);
        let rows = self
            .ask("cannot read messages", sql, &[&run, &epoch, &owner, &after])
            .await?;
        if rows.is_empty() {
            let id = held.id.to_string();
            return Err(JournalError::Lost { id });
        }
        let mut messages = Vec::with_capacity(rows.len());
        for row in &rows {
            // A run without messages is one row with a null number.
            let number: Option<i64> = self.column(row, 0)?;
            let Some(number) = number else { continue };
            let path: Option<Vec<u8>> = self.column(row, 1)?;
            let body: Option<Vec<u8>> = self.column(row, 2)?;
            let message = match (path, body) {
                (Some(path), Some(body)) => Message::Signal {
                    path: self.text(path)?,
                    body: self.text(body)?,
                },
                _ => Message::Cancel,
            };
            messages.push((number.unsigned_abs(), message));
        }
        Ok(messages)
    }

    /// Returns `true` if the run has messages after the message with this number, or if the run is lost.
    pub(crate) async fn has_news(&self, held: &Held, after: i64) -> Result<bool, JournalError> {
        let (runs, epochs, afters) = ([held.run], [held.epoch], [after]);
        let (sql, owner) = (&self.line.sql.messages.waiting, &*self.owner);
        let parameters: [Parameter<'_>; 4] = [&&runs[..], &&epochs[..], &owner, &&afters[..]];
        let rows = self.ask("cannot read messages", sql, &parameters).await?;
        Ok(!rows.is_empty())
    }

    pub(crate) async fn send(&self, id: &str, message: &Message) -> Result<(), JournalError> {
        let (path, body) = match message {
            Message::Signal { path, body } => (Some(path.as_str()), Some(body.as_bytes())),
            Message::Cancel => (None, None),
            _ => {
                return Err(JournalError::storage(
                    "plan-postgres does not know this message",
                ));
            }
        };
        let path_bytes = path.map(str::as_bytes);
        let (sql, channel) = (&self.line.sql.messages, &*self.line.sql.channel);
        let (bytes, token) = (id.as_bytes(), fastrand::i64(..));
        let is_again = Cell::new(false);
        let send = async |session: &Session| {
            // An earlier attempt may have sent the message, and lost only the answer.
            if is_again.replace(true)
                && !session
                    .query(&sql.is_sent, &[&bytes, &token])
                    .await?
                    .is_empty()
            {
                return Ok(Some(1));
            }
            let rows = session
                .query(&sql.send, &[&bytes, &path_bytes, &body, &token, &channel])
                .await?;
            rows.first().map(|row| row.try_get::<_, i64>(0)).transpose()
        };
        match (self.line.run("cannot send a message", send).await?, path) {
            (None, _) => Err(JournalError::Unknown { id: id.to_owned() }),
            (Some(0), Some(path)) => Err(JournalError::Second {
                path: path.to_owned(),
            }),
            (Some(_), _) => Ok(()),
        }
    }

    /// Releases runs that the database may assign to this owner. Returns the IDs of the runs that another session has
    /// locked.
    pub(crate) async fn abandon(&self, ids: &[Arc<str>]) -> Result<HashSet<Vec<u8>>, Failure> {
        let sql = &self.line.sql.claims;
        let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
        let parameters: [Parameter<'_>; 2] = [&ids, &&*self.owner];
        let abandon = async |session: &Session| {
            session.query(&sql.abandon, &parameters).await?;
            let left = session.query(&sql.owned, &parameters).await?;
            left.iter().map(|row| row.try_get(0)).collect()
        };
        self.line.run("cannot release runs", abandon).await
    }
}
