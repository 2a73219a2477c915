//! The transactions of running calls.

use super::pool::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{self, oneshot};
use tokio_postgres::Client;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calls with a transaction, by the number of the run and the key of the record.
#[derive(Default)]
pub(crate) struct Calls(Mutex<HashMap<i64, HashMap<String, Arc<Call>>>>);

impl Calls {
    /// Returns the call of a record, and adds it if it is missing.
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

    /// Removes a call that has ended, and returns it.
    pub(crate) fn take(&self, run: i64, key: &str) -> Option<Arc<Call>> {
        let mut calls = locked(&self.0);
        let of_run = calls.get_mut(&run)?;
        let call = of_run.remove(key);
        if of_run.is_empty() {
            calls.remove(&run);
        }
        call
    }

    /// Removes a call, unless a newer call has its key.
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

    /// Removes all calls of a run, and returns them.
    pub(crate) fn take_run(&self, run: i64) -> Vec<Arc<Call>> {
        let calls = locked(&self.0).remove(&run).unwrap_or_default();
        calls.into_values().collect()
    }
}

/// A call that has a transaction, or will have one.
#[derive(Default)]
pub(crate) struct Call {
    /// Locked while the transaction begins.
    pub(crate) beginning: sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    /// Dropped when the transaction ends.
    end: Option<oneshot::Sender<()>>,
    is_closed: bool,
    /// The number of running statements.
    running: usize,
}

/// The transaction of an ended call.
pub(crate) struct Closed {
    pub(crate) connection: Connection,
    /// `true` while a statement runs.
    pub(crate) is_busy: bool,
}

impl Call {
    pub(crate) fn is_open(&self) -> bool {
        locked(&self.state).connection.is_some()
    }

    pub(crate) fn is_closed(&self) -> bool {
        locked(&self.state).is_closed
    }

    /// Opens the transaction, and returns a future that completes at its end. Returns the connection as an error if the call has ended or has a
    /// transaction.
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

    /// Ends the tool's access to the transaction. Returns the connection with its open Postgres transaction.
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

    /// Begins a statement. Returns `None` after the end of the transaction.
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

/// A running statement.
pub(crate) struct Running {
    call: Arc<Call>,
    pub(crate) client: Arc<Client>,
}

impl Drop for Running {
    fn drop(&mut self) {
        locked(&self.call.state).running -= 1;
    }
}
