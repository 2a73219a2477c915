//! Lines to the database, each of which replaces its connection after a loss.

use super::failure::{Failure, is_connection_lost, is_transient};
use super::settings::Settings;
use super::sql::Sql;
use super::watching::Watching;
use std::cell::RefCell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Error, Row, Statement, types::ToSql};

/// The shortest and the longest pause between two attempts. Each pause is twice as long as the pause before.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// A parameter of a statement.
pub(crate) type Parameter<'a> = &'a (dyn ToSql + Sync);

/// A connection and its prepared statements.
pub(crate) struct Session {
    pub(crate) client: Client,
    prepared: RefCell<HashMap<Box<str>, Statement>>,
    driver: AbortHandle,
}

/// Opens a connection. Its notifications wake the waiting runs.
pub(crate) async fn connect(
    settings: &Settings,
    application: &str,
    watching: Option<Arc<Watching>>,
) -> Result<(Client, AbortHandle), Error> {
    let mut config = settings.config.clone();
    config.application_name(application);
    let (client, mut connection) = settings.tls.open(&config).await?;
    let driver = tokio::task::spawn_local(async move {
        loop {
            match poll_fn(|cx| connection.poll_message(cx)).await {
                Some(Ok(AsyncMessage::Notification(note))) => {
                    if let Some(watching) = &watching {
                        if let Ok(run) = note.payload().parse() {
                            watching.wake(run);
                        }
                        watching.arrive();
                    }
                }
                Some(Ok(_)) => {}
                // The statements on the connection report the error.
                Some(Err(_)) | None => break,
            }
        }
    });
    Ok((client, driver.abort_handle()))
}

impl Session {
    /// Opens a session. Its notifications wake the waiting runs.
    pub(crate) async fn open(
        settings: &Settings,
        application: &str,
        watching: Option<Arc<Watching>>,
    ) -> Result<Self, Error> {
        let (client, driver) = connect(settings, application, watching).await?;
        Ok(Self {
            client,
            prepared: RefCell::default(),
            driver,
        })
    }

    async fn prepared(&self, sql: &str) -> Result<Statement, Error> {
        let known = self.prepared.borrow().get(sql).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let statement = self.client.prepare(sql).await?;
        let kept = statement.clone();
        self.prepared.borrow_mut().insert(sql.into(), kept);
        Ok(statement)
    }

    /// Prepares statements, so that several of them can be sent at once.
    pub(crate) async fn prepare(&self, statements: &[&str]) -> Result<(), Error> {
        for sql in statements {
            self.prepared(sql).await?;
        }
        Ok(())
    }

    pub(crate) async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(sql).await?;
        self.client.query(&statement, parameters).await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

pub(crate) struct Line {
    pub(crate) settings: Rc<Settings>,
    pub(crate) sql: Rc<Sql>,
    name: String,
    /// The statements that begin a session.
    setup: String,
    /// The time limit for repetitions of a statement.
    patience: Duration,
    watching: Option<Arc<Watching>>,
    session: Mutex<Option<Rc<Session>>>,
}

impl Line {
    /// Creates a line, which connects at the first use.
    pub(crate) fn new(settings: &Rc<Settings>, sql: &Rc<Sql>, name: String, setup: String) -> Self {
        Self {
            settings: Rc::clone(settings),
            sql: Rc::clone(sql),
            name,
            setup,
            patience: settings.patience,
            watching: None,
            session: Mutex::default(),
        }
    }

    /// Sets the time limit of repetitions.
    pub(crate) fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Sets the waits that notifications wake. A new connection wakes all waits.
    pub(crate) fn waking(self, watching: Arc<Watching>) -> Self {
        Self {
            watching: Some(watching),
            ..self
        }
    }

    async fn session(&self) -> Result<Rc<Session>, Error> {
        let mut current = self.session.lock().await;
        if let Some(session) = &*current
            && !session.client.is_closed()
        {
            return Ok(Rc::clone(session));
        }
        *current = None;
        let watching = self.watching.clone();
        let session = Session::open(&self.settings, &self.name, watching).await?;
        session.client.batch_execute(&self.setup).await?;
        if let Some(watching) = &self.watching {
            watching.wake_all();
            watching.arrive();
        }
        Ok(Rc::clone(current.insert(Rc::new(session))))
    }

    /// Drops the current connection if it is this one, so that the next attempt connects again.
    async fn discard(&self, used: Option<Rc<Session>>) {
        let mut current = self.session.lock().await;
        let is_current = match (&*current, &used) {
            (Some(current), Some(used)) => Rc::ptr_eq(current, used),
            _ => false,
        };
        if is_current {
            *current = None;
        }
    }

    /// Runs statements, and repeats them after a lost connection or a deadlock, until they succeed or the patience is over.
    pub(crate) async fn run<T>(
        &self,
        what: &'static str,
        act: impl AsyncFn(&Session) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let attempt = async |left: Duration| {
            let used = RefCell::new(None);
            let attempt = async {
                let session = self.session().await?;
                *used.borrow_mut() = Some(Rc::clone(&session));
                act(&session).await
            };
            let outcome = timeout(left, attempt).await;
            let is_lost = match &outcome {
                Ok(Ok(_)) => false,
                Ok(Err(error)) => is_connection_lost(error),
                Err(_) => true,
            };
            if is_lost {
                self.discard(used.take()).await;
            }
            outcome
        };
        persist(&self.settings, self.patience, what, attempt).await
    }
}

/// Repeats an attempt after a lost connection or a deadlock, until it succeeds or the patience is over. Each attempt may use all the time that
/// remains.
pub(crate) async fn persist<T>(
    settings: &Settings,
    patience: Duration,
    what: &'static str,
    attempt: impl AsyncFn(Duration) -> Result<Result<T, Error>, Elapsed>,
) -> Result<T, Failure> {
    let place = &settings.place;
    let end = Instant::now() + patience;
    let mut pause = PAUSES[0];
    loop {
        let failure = match attempt(end.saturating_duration_since(Instant::now())).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => {
                let failure = Failure::from_error(place, what, &error);
                if !is_transient(&error) {
                    return Err(failure);
                }
                failure
            }
            Err(_) => return Err(Failure::no_answer(place, what, patience)),
        };
        if Instant::now() + pause >= end {
            return Err(failure);
        }
        sleep(pause.mul_f64(0.5 + fastrand::f64())).await;
        pause = (pause * 2).min(PAUSES[1]);
    }
}
