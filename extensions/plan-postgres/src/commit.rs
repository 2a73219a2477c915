//! The commit of a call's transaction together with the record of the call.

use super::asks::Asks;
use super::batch::Numbered;
use super::failure::{Failure, is_connection_lost};
use super::line::{Parameter, Session};
use super::owned::Owned;
use super::pool::Connection;
use plan_runtime::journal::JournalError;
use std::cell::RefCell;
use std::rc::Rc;
use tokio::time::timeout;
use tokio_postgres::Error;
use tokio_postgres::types::Type;

const WHAT: &str = "cannot commit the transaction of a call";

/// The connection with a call's transaction, or the reason against its commit.
pub(crate) type Ready = Result<Connection, &'static str>;

/// A commit of a call's transaction with the call's record.
pub(crate) struct Commit {
    pub(crate) numbered: Numbered,
    pub(crate) transaction: Ready,
}

enum Outcome {
    Written,
    /// Another owner has the run.
    Lost,
    /// The run has a record with this key.
    Second,
}

/// The fate of a transaction.
enum Fate {
    Known(Outcome),
    /// The connection was lost, so the commit may have happened.
    Unknown(Failure),
}

impl Commit {
    /// Writes the record in the transaction, commits, and answers the caller.
    pub(crate) async fn run(self, asks: Rc<Asks>, owned: Rc<RefCell<Owned>>) {
        let Self {
            numbered,
            transaction,
        } = self;
        let held = numbered.write.held.clone();
        let place = &asks.line.settings.place;
        // An earlier record of the run may have failed after this commit was queued.
        let broken = owned.borrow_mut().get(&held).map(|own| own.broken.clone());
        let outcome = match (broken, transaction) {
            (None, _) => Ok(Outcome::Lost),
            (Some(Some(why)), _) => Err(Failure::new(place, WHAT, why)),
            (Some(None), Err(why)) => Err(Failure::new(place, WHAT, why)),
            (Some(None), Ok(connection)) => asks.commit(&numbered, connection).await,
        };
        let outcome = match outcome {
            Ok(Outcome::Written) => Ok(()),
            Ok(Outcome::Lost) => Err(JournalError::Lost {
                id: held.id.to_string(),
            }),
            Ok(Outcome::Second) => {
                let failure = Failure::new(place, WHAT, "the call is recorded already");
                Err(failure.into())
            }
            Err(failure) => {
                owned.borrow_mut().fail(&held, &failure);
                Err(failure.into())
            }
        };
        numbered.write.answer(outcome);
    }
}

impl Asks {
    async fn commit(
        self: &Rc<Self>,
        numbered: &Numbered,
        connection: Connection,
    ) -> Result<Outcome, Failure> {
        let name = connection.name.to_string();
        let patience = self.line.settings.patience;
        let fate = match timeout(patience, self.write(numbered, &connection)).await {
            Ok(fate) => fate,
            Err(_) => Ok(Fate::Unknown(Failure::no_answer(
                &self.line.settings.place,
                WHAT,
                patience,
            ))),
        };
        match fate {
            Ok(Fate::Known(outcome)) => {
                let asks = Rc::clone(self);
                tokio::task::spawn_local(async move { asks.give_back(connection).await });
                Ok(outcome)
            }
            Ok(Fate::Unknown(failure)) => {
                drop(connection);
                self.settle(numbered, &name, failure).await
            }
            // The tool may have left the session in any state.
            Err(failure) => {
                drop(connection);
                Err(failure)
            }
        }
    }

    async fn write(&self, numbered: &Numbered, connection: &Connection) -> Result<Fate, Failure> {
        let place = &self.line.settings.place;
        let refused = |error: &Error| Failure::from_error(place, WHAT, error);
        let client = &connection.client;
        let held = &numbered.write.held;
        let (key, body) = numbered.write.what.record().unwrap_or_default();
        let (key, body) = (key.as_bytes(), body.as_bytes());
        let owner = &*self.owner;
        let parameters: [(Parameter<'_>, Type); 7] = [
            (&held.run, Type::INT8),
            (&held.epoch, Type::INT8),
            (&owner, Type::TEXT),
            (&numbered.number, Type::INT8),
            (&key, Type::BYTEA),
            (&body, Type::BYTEA),
            (&connection.token, Type::TEXT),
        ];
        // A prepared statement is no option, since the tool may have deallocated it.
        let sql = &self.line.sql.calls.write;
        let rows = client.query_typed(sql, &parameters).await;
        let rows = rows.map_err(|error| refused(&error))?;
        let column = |column: usize| match rows.first() {
            Some(row) => row.try_get(column).map_err(|error| refused(&error)),
            None => Ok(false),
        };
        if !column(0)? {
            let why = "the tool has ended the transaction";
            return Err(Failure::new(place, WHAT, why));
        }
        if !column(1)? {
            return Ok(Fate::Known(Outcome::Lost));
        }
        if !column(2)? {
            return Ok(Fate::Known(Outcome::Second));
        }
        match client.batch_execute("COMMIT").await {
            Ok(()) => Ok(Fate::Known(Outcome::Written)),
            Err(error) if is_connection_lost(&error) => Ok(Fate::Unknown(refused(&error))),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Determines the fate of a transaction after a lost connection: a committed transaction has a record.
    async fn settle(
        &self,
        numbered: &Numbered,
        name: &str,
        failure: Failure,
    ) -> Result<Outcome, Failure> {
        let held = &numbered.write.held;
        let (key, _) = numbered.write.what.record().unwrap_or_default();
        let (key, owner) = (key.as_bytes(), &*self.owner);
        let sql = &self.line.sql.calls.is_written;
        let parameters: [Parameter<'_>; 5] =
            [&held.run, &held.epoch, &owner, &numbered.number, &key];
        let ask = async |session: &Session| {
            // The server may still execute statements of the lost connection.
            self.end_session(session, name).await?;
            let rows = session.query(sql, &parameters).await?;
            rows.first()
                .map(|row| row.try_get::<_, bool>(0))
                .transpose()
        };
        match self.line.run(WHAT, ask).await? {
            None => Ok(Outcome::Lost),
            Some(true) => Ok(Outcome::Written),
            Some(false) => Err(failure),
        }
    }
}
