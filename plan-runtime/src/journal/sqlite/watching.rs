//! Waits for messages, and a thread that looks for messages of other processes.

use super::failure::Cause;
use super::schema::statement;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// The time between two checks of the thread while a task waits.
const EVERY: Duration = Duration::from_millis(300);

#[derive(Default)]
pub(super) struct MessageWaits {
    state: Mutex<WatchState>,
    changed: Condvar,
}

#[derive(Default)]
struct WatchState {
    /// The waits for each run, by its number.
    waiting: HashMap<i64, Vec<(u64, Waker)>>,
    /// The number of waits so far.
    count: u64,
    is_closed: bool,
    has_thread: bool,
}

impl MessageWaits {
    fn state(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a waker. Returns `true` for a new wait, without a token or after its token was woken: the caller has to look for messages now.
    pub(super) fn register(&self, run: i64, token: &mut Option<u64>, waker: &Waker) -> bool {
        let mut state = self.state();
        if let Some(known) = *token
            && let Some(waiting) = state.waiting.get_mut(&run)
            && let Some((_, old)) = waiting.iter_mut().find(|(it, _)| *it == known)
        {
            let old = (!old.will_wake(waker)).then(|| std::mem::replace(old, waker.clone()));
            drop(state);
            drop(old);
            return false;
        }
        state.count += 1;
        let new = state.count;
        *token = Some(new);
        state
            .waiting
            .entry(run)
            .or_default()
            .push((new, waker.clone()));
        drop(state);
        self.changed.notify_all();
        true
    }

    pub(super) fn forget(&self, run: i64, token: u64) {
        let mut state = self.state();
        let mut gone = None;
        if let Some(waiting) = state.waiting.get_mut(&run) {
            let at = waiting.iter().position(|(it, _)| *it == token);
            gone = at.map(|at| waiting.swap_remove(at));
            if waiting.is_empty() {
                state.waiting.remove(&run);
            }
        }
        drop(state);
        drop(gone);
    }

    /// Wakes the waits for messages of these runs.
    pub(super) fn wake(&self, runs: impl IntoIterator<Item = i64>) {
        let mut state = self.state();
        let woken: Vec<_> = runs
            .into_iter()
            .filter_map(|run| state.waiting.remove(&run))
            .collect();
        drop(state);
        for (_, waker) in woken.into_iter().flatten() {
            waker.wake();
        }
    }

    fn wake_all(&self) {
        let runs: Vec<i64> = self.state().waiting.keys().copied().collect();
        self.wake(runs);
    }

    /// Returns `true` for the first wait, which must start the thread.
    pub(super) fn needs_thread(&self) -> bool {
        !std::mem::replace(&mut self.state().has_thread, true)
    }

    pub(super) fn has_no_thread(&self) {
        self.state().has_thread = false;
    }

    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
        self.wake_all();
    }

    /// Waits until there is a wait, and then for a pause. Returns `false` at the end of the thread.
    fn pause(&self) -> bool {
        let state = self.state();
        let state = self
            .changed
            .wait_while(state, |it| it.waiting.is_empty() && !it.is_closed)
            .unwrap_or_else(PoisonError::into_inner);
        let (state, _) = self
            .changed
            .wait_timeout_while(state, EVERY, |it| !it.is_closed)
            .unwrap_or_else(PoisonError::into_inner);
        !state.is_closed
    }

    /// Looks for messages until the end. `last` is the number of the last message when the database was opened.
    pub(super) fn run(&self, connect: impl Fn() -> Result<Connection, Cause>, mut last: i64) {
        let mut database = None;
        let mut version = None;
        while self.pause() {
            if database.is_none() {
                database = connect().ok();
            }
            let new = match &database {
                None => Err(()),
                Some(database) => sent(database, &mut version, last).map_err(drop),
            };
            match new {
                Ok(new) => {
                    last = new.iter().map(|(_, number)| *number).fold(last, i64::max);
                    self.wake(new.into_iter().map(|(run, _)| run));
                }
                // Each wait reads its messages, and gets the error.
                Err(()) => {
                    database = None;
                    version = None;
                    self.wake_all();
                }
            }
        }
    }
}

/// Returns the run and the number of each message after `last`. Reads no message if the database has not changed.
fn sent(
    database: &Connection,
    version: &mut Option<i64>,
    last: i64,
) -> rusqlite::Result<Vec<(i64, i64)>> {
    let now = database.pragma_query_value(None, "data_version", |row| row.get(0))?;
    if version.replace(now) == Some(now) {
        return Ok(Vec::new());
    }
    let sql = "SELECT run, number FROM messages WHERE number > ?1";
    let mut statement = statement(database, sql)?;
    let rows = statement.query_map([last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
