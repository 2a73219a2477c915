//! The transactions of tools.

use super::calls::{Call, Closed, Running};
use super::failure::Failure;
use super::journal::Postgres;
use plan_runtime::journal::JournalError;
use plan_runtime::run::CallContext;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

const BEGIN: &str = "cannot begin a transaction";

/// A transaction of a call, which also contains the record of the call.
///
/// [`Postgres::transaction`] returns a `Transaction`. After the tool has returned its output, the journal writes the record of the call in this
/// transaction and commits both. So the statements have their effect exactly once. The transaction is rolled back if the tool fails, if its time
/// limit passes, if the run is cancelled, and if the process ends before the commit.
///
/// The methods are methods of [`tokio_postgres::Client`]. After the end of the call, they return
/// [`TransactionError::Closed`].
///
/// Use `SAVEPOINT` and `ROLLBACK TO SAVEPOINT` to undo a part of the transaction. If the tool runs `COMMIT` or `ROLLBACK` itself, the journal cannot
/// write the record of the call, and the run ends with a journal error.
pub struct Transaction(Arc<Call>);

/// An error of a statement in a [`Transaction`].
#[derive(Debug)]
#[non_exhaustive]
pub enum TransactionError {
    /// The call has ended, and its transaction with it.
    Closed,
    /// The statement failed.
    Postgres(Error),
}

impl TransactionError {
    /// Returns the error code of the server, such as [`SqlState::UNIQUE_VIOLATION`].
    pub fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Closed => None,
            Self::Postgres(error) => error.code(),
        }
    }
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the transaction has ended with its call"),
            Self::Postgres(error) => error.fmt(f),
        }
    }
}

impl StdError for TransactionError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Closed => None,
            Self::Postgres(error) => error.source(),
        }
    }
}

impl From<Error> for TransactionError {
    fn from(error: Error) -> Self {
        Self::Postgres(error)
    }
}

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Transaction {
    fn enter(&self) -> Result<Running, TransactionError> {
        self.0.enter().ok_or(TransactionError::Closed)
    }

    /// Runs a statement, and returns the number of changed rows.
    ///
    /// # Errors
    ///
    /// Returns [`TransactionError::Postgres`] if the statement fails. Until a `ROLLBACK TO SAVEPOINT`, the server then refuses all later
    /// statements.
    pub async fn execute(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<u64, TransactionError> {
        let running = self.enter()?;
        Ok(running.client.execute(statement, parameters).await?)
    }

    /// Runs a statement, and returns its rows.
    ///
    /// # Errors
    ///
    /// Returns [`TransactionError::Postgres`] if the statement fails.
    pub async fn query(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, TransactionError> {
        let running = self.enter()?;
        Ok(running.client.query(statement, parameters).await?)
    }

    /// Runs a statement, and returns its only row.
    ///
    /// # Errors
    ///
    /// Returns [`TransactionError::Postgres`] if the statement fails, or returns no row or several rows.
    pub async fn query_one(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Row, TransactionError> {
        let running = self.enter()?;
        Ok(running.client.query_one(statement, parameters).await?)
    }

    /// Runs a statement, and returns its only row, or `None` if it returns no row.
    ///
    /// # Errors
    ///
    /// Returns [`TransactionError::Postgres`] if the statement fails, or returns several rows.
    pub async fn query_opt(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, TransactionError> {
        let running = self.enter()?;
        Ok(running.client.query_opt(statement, parameters).await?)
    }

    /// Runs statements without parameters, such as `SAVEPOINT before`.
    ///
    /// # Errors
    ///
    /// Returns [`TransactionError::Postgres`] if a statement fails.
    pub async fn batch_execute(&self, statements: &str) -> Result<(), TransactionError> {
        let running = self.enter()?;
        Ok(running.client.batch_execute(statements).await?)
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("is_open", &self.0.is_open())
            .finish()
    }
}

impl Postgres {
    /// Begins the transaction of a call, which is committed together with the record of the call. If the tool calls this method again in the call,
    /// the method returns the open transaction.
    ///
    /// ```
    /// use plan_postgres::Postgres;
    /// use plan_runtime::run::CallContext;
    /// use plan_runtime::{Result, tool};
    ///
    /// /// Takes money from an account, exactly once.
    /// #[tool]
    /// async fn withdraw(db: &Postgres, #[context] context: CallContext, account: String, cents: i64) -> Result<i64> {
    ///     let transaction = db.transaction(&context).await?;
    ///     let sql = "UPDATE accounts SET cents = cents - $2 WHERE name = $1 RETURNING cents";
    ///     let left = transaction.query_one(sql, &[&account, &cents]).await?;
    ///     Ok(left.try_get(0)?)
    /// }
    /// ```
    ///
    /// The transaction has a separate connection and the isolation level `READ COMMITTED`. At most [16](super::PostgresOptions::max_transactions)
    /// transactions are open at a time, and further calls wait. A transaction that is idle for longer than the [lease](super::PostgresOptions::lease)
    /// is rolled back.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Storage`] if the call has ended, if its run is not durable in this database, if an enclosing call has an open
    /// transaction, or if the database cannot be reached.
    pub async fn transaction(&self, context: &CallContext) -> Result<Transaction, JournalError> {
        let refuse = |why: &str| JournalError::from(Failure::new(&self.0.place, BEGIN, why));
        let record = context.record();
        let of_claim = record.and_then(|record| Some((self.held(&record.claim).ok()?, record.key)));
        let Some((held, key)) = of_claim else {
            return Err(refuse(
                "the call has ended, its run is not durable in this database, or another process has the run",
            ));
        };
        // The two transactions would wait for each other: for a connection, or for a lock of the server.
        let mut around = context.outer();
        while let Some(outer) = around {
            let record = outer.record();
            if record.is_some_and(|record| self.0.calls.has(held.run, &record.key)) {
                return Err(refuse("a call around this call has an open transaction"));
            }
            around = outer.outer();
        }
        let call = self.0.calls.entry(held.run, &key);
        let beginning = call.beginning.lock().await;
        if !call.is_open() {
            let (calls, call, context) = (
                Arc::clone(&self.0.calls),
                Arc::clone(&call),
                context.clone(),
            );
            self.ask(async move |asks| {
                let connection = tokio::select! {
                    begun = asks.pool.begin() => begun?,
                    () = context.cancelled() => return Ok(()),
                };
                let mut ended = match call.open(connection) {
                    Ok(ended) => ended,
                    Err(unused) => {
                        asks.give_back(*unused).await;
                        return Ok(());
                    }
                };
                tokio::task::spawn_local(async move {
                    tokio::select! {
                        _ = &mut ended => return,
                        () = context.cancelled() => {}
                    }
                    calls.forget(held.run, &key, &call);
                    if let Some(Closed { connection, .. }) = call.close() {
                        asks.give_back(connection).await;
                    }
                });
                Ok(())
            })
            .await?;
        }
        drop(beginning);
        if call.is_closed() {
            return Err(refuse("the call is over"));
        }
        Ok(Transaction(call))
    }
}
