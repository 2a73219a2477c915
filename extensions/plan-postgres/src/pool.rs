//! Connections for the transactions of calls.

use super::asks::Asks;
use super::failure::Failure;
use super::line::{Session, connect, persist};
use super::settings::Settings;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, Error};

/// A prepared statement that only a tool's `DEALLOCATE ALL` removes.
const MARK: &str = "PREPARE plan_postgres_mark AS SELECT 1";

/// Removes the traces of a tool from a session. The prepared statements remain, since the client uses its own statements by name. After a
/// `DEALLOCATE ALL`, the mark is missing, so the reset fails and the session ends.
const RESET: &str = "EXECUTE plan_postgres_mark; CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES";

/// The time limit of a rollback, which may wait for a statement of the tool.
const ROLLS_BACK_WITHIN: Duration = Duration::from_secs(1);

/// The pause between two checks whether a session has ended.
const PAUSE: Duration = Duration::from_millis(10);

const BEGIN: &str = "cannot begin a transaction";

/// A connection with a transaction. The drop closes the connection, and Postgres rolls the transaction back.
pub(crate) struct Connection {
    pub(crate) client: Arc<Client>,
    /// The name of the session in the database.
    pub(crate) name: Arc<str>,
    /// The identity of the transaction: a Postgres setting has this value until the end of the transaction.
    pub(crate) token: String,
    driver: AbortHandle,
    permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

pub(crate) struct Pool {
    settings: Rc<Settings>,
    owner: Arc<str>,
    setup: String,
    permits: Arc<Semaphore>,
    idle: RefCell<Vec<Connection>>,
    count: Cell<u64>,
}

impl Pool {
    pub(crate) fn new(settings: &Rc<Settings>, owner: &Arc<str>, setup: &str) -> Self {
        // A suspended process must not hold its locks much longer than its runs.
        let millis = settings.lease.as_millis().min(i32::MAX as u128);
        Self {
            settings: Rc::clone(settings),
            owner: Arc::clone(owner),
            setup: format!("{setup}; SET idle_in_transaction_session_timeout = {millis}"),
            permits: Arc::new(Semaphore::new(settings.transactions)),
            idle: RefCell::default(),
            count: Cell::default(),
        }
    }

    /// Begins a transaction, once a connection is free.
    pub(crate) async fn begin(&self) -> Result<Connection, Failure> {
        let place = &self.settings.place;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|error| Failure::new(place, BEGIN, error.to_string()))?;
        let begin = async || {
            let idle = self.idle.borrow_mut().pop();
            let mut connection = match idle.filter(|it| !it.client.is_closed()) {
                Some(connection) => connection,
                None => self.open().await?,
            };
            connection.token = fastrand::u64(..).to_string();
            let begin = format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL plan_postgres.call = '{}'",
                connection.token
            );
            connection.client.batch_execute(&begin).await?;
            Ok::<_, Error>(connection)
        };
        let attempt = async |left| timeout(left, begin()).await;
        let begun = persist(&self.settings, self.settings.patience, BEGIN, attempt).await;
        let mut connection = begun?;
        connection.permit = Some(permit);
        Ok(connection)
    }

    async fn open(&self) -> Result<Connection, Error> {
        self.count.set(self.count.get() + 1);
        let name = format!("plan-postgres {} {}", self.owner, self.count.get());
        let (client, driver) = connect(&self.settings, &name, None).await?;
        let setup = format!("{MARK}; {}", self.setup);
        client.batch_execute(&setup).await?;
        Ok(Connection {
            client: Arc::new(client),
            name: name.into(),
            token: String::new(),
            driver,
            permit: None,
        })
    }

    /// Takes a connection back after its transaction, and rolls an open transaction back. Returns `false` if the connection does not answer.
    async fn give_back(&self, mut connection: Connection) -> bool {
        let reset = format!("ROLLBACK; {RESET}; {}", self.setup);
        let reset = connection.client.batch_execute(&reset);
        if !matches!(timeout(ROLLS_BACK_WITHIN, reset).await, Ok(Ok(()))) {
            return false;
        }
        let permit = connection.permit.take();
        self.idle.borrow_mut().push(connection);
        drop(permit);
        true
    }
}

impl Asks {
    /// Rolls an open transaction back, and returns the connection to the pool.
    pub(crate) async fn give_back(&self, connection: Connection) {
        let name = Arc::clone(&connection.name);
        if !self.pool.give_back(connection).await {
            // A session that waits for a lock does not notice that its connection is closed.
            let end = async |session: &Session| self.end_session(session, &name).await;
            let _ = self.line.run("cannot end a session", end).await;
        }
    }

    /// Ends a session, and waits until its transaction is over.
    pub(crate) async fn end_session(&self, session: &Session, name: &str) -> Result<(), Error> {
        let sql = &self.line.sql.calls.end_session;
        while !session.query(sql, &[&name]).await?.is_empty() {
            sleep(PAUSE).await;
        }
        Ok(())
    }
}
