//! The transactions of calls that run.

use super::pool::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{self, oneshot};
use tokio_postgres::Client;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calls with a transaction, by the numbers of their runs and the keys of their records.
#[derive(Default)]
pub(crate) struct Calls(Mutex<HashMap<i64, HashMap<String, Arc<Call>>>>);

impl Calls {
    /// Returns a call, which is new if nobody has asked for it.
    pub(crate) fn entry(&self, run: i64, key: &str) -> Arc<Call> {
        let mut calls = locked(&self.0);
        let calls = calls.entry(run).or_default();
        Arc::clone(calls.entry(key.to_owned()).or_default())
    }

    /// Returns `true` if a call has a transaction.
    pub(crate) fn has(&self, run: i64, key: &str) -> bool {
        let calls = locked(&self.0);
        calls
            .get(&run)
            .and_then(|calls| calls.get(key))
            .is_some_and(|call| call.is_open())
    }

    /// Takes a call that has ended.
    pub(crate) fn take(&self, run: i64, key: &str) -> Option<Arc<Call>> {
        let mut calls = locked(&self.0);
        let of_run = calls.get_mut(&run)?;
        let call = of_run.remove(key);
        if of_run.is_empty() {
            calls.remove(&run);
        }
        call
    }

    /// Forgets a call, unless another call has its key.
    pub(crate) fn forget(&self, run: i64, key: &str, call: &Arc<Call>) {
        let mut calls = locked(&self.0);
        if let Some(of_run) = calls.get_mut(&run)
            && of_run.get(key).is_some_and(|it| Arc::ptr_eq(it, call))
        {
            of_run.remove(key);
            if of_run.is_empty() {
                calls.remove(&run);
            }
        }
    }

    /// Takes all calls of a run.
    pub(crate) fn take_run(&self, run: i64) -> Vec<Arc<Call>> {
        let calls = locked(&self.0).remove(&run).unwrap_or_default();
        calls.into_values().collect()
    }
}

/// A call with a transaction.
#[derive(Default)]
pub(crate) struct Call {
    /// Held while the transaction begins.
    pub(crate) beginning: sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    /// Dropped with the end of the transaction.
    end: Option<oneshot::Sender<()>>,
    is_closed: bool,
    /// The number of running statements.
    running: usize,
}

/// The transaction of a call that has ended.
pub(crate) struct Closed {
    pub(crate) connection: Connection,
    /// `true` if a statement still runs.
    pub(crate) is_busy: bool,
}

impl Call {
    pub(crate) fn is_open(&self) -> bool {
        locked(&self.state).connection.is_some()
    }

    pub(crate) fn is_closed(&self) -> bool {
        locked(&self.state).is_closed
    }

    /// Opens the transaction, and returns a future that is ready at its end. Returns the connection if the call has ended or has a transaction.
    pub(crate) fn open(
        &self,
        connection: Connection,
    ) -> Result<oneshot::Receiver<()>, Box<Connection>> {
        let mut state = locked(&self.state);
        if state.is_closed || state.connection.is_some() {
            return Err(Box::new(connection));
        }
        let (end, ended) = oneshot::channel();
        state.connection = Some(connection);
        state.end = Some(end);
        Ok(ended)
    }

    /// Ends the transaction for the tool. Returns the connection, with the open transaction of Postgres.
    pub(crate) fn close(&self) -> Option<Closed> {
        let mut state = locked(&self.state);
        state.is_closed = true;
        state.end = None;
        let is_busy = state.running > 0;
        let connection = state.connection.take()?;
        Some(Closed {
            connection,
            is_busy,
        })
    }

    /// Begins a statement. `None` after the end of the transaction.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Running> {
        let mut state = locked(&self.state);
        let client = Arc::clone(&state.connection.as_ref()?.client);
        state.running += 1;
        Some(Running {
            call: Arc::clone(self),
            client,
        })
    }
}

/// A statement that runs.
pub(crate) struct Running {
    call: Arc<Call>,
    pub(crate) client: Arc<Client>,
}

impl Drop for Running {
    fn drop(&mut self) {
        locked(&self.call.state).running -= 1;
    }
}
