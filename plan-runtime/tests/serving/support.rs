//! Journals of tests, and servers that end once something has happened.

use crate::journal::asking::Asking;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{Journal, JournalError, Memory, RunState, RunSummary, Sqlite, Store};
use plan_runtime::run::{Run, SignalError};
use plan_runtime::serve::Server;
use plan_runtime::{Report, RunError};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

/// The storage of a test, which can be opened several times.
pub(crate) trait Place {
    type Store: Store + Clone + 'static;

    fn new() -> Self;

    fn open(&self) -> Self::Store;
}

/// Runs tests in a file and in memory.
macro_rules! in_each_place {
    ($($(#[$attribute:meta])* $test:ident)*) => {
        mod sqlite {
            $(#[test] $(#[$attribute])* fn $test() { super::$test::<crate::serving::support::Folder>(); })*
        }

        mod memory {
            $(#[test] $(#[$attribute])* fn $test() { super::$test::<crate::serving::support::InMemory>(); })*
        }
    };
}
pub(crate) use in_each_place;

pub(crate) struct InMemory(Memory);

impl Place for InMemory {
    type Store = Memory;

    fn new() -> Self {
        Self(Memory::new())
    }

    fn open(&self) -> Memory {
        self.0.clone()
    }
}

/// A folder of a test, which is removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn path(&self) -> PathBuf {
        self.0.join("runs.db")
    }
}

impl Place for Folder {
    type Store = Sqlite;

    fn new() -> Self {
        let name = format!("serving-{}-{:x}", std::process::id(), fastrand::u64(..));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn open(&self) -> Sqlite {
        Sqlite::open(self.path()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server whose answers a test waits for on its thread.
pub(crate) struct Blocking<J, App>(pub(crate) Server<J, App>);

pub(crate) fn at<J: Store + Clone + 'static, App: Send + Sync>(
    journal: &J,
    toolbox: &Toolbox<App>,
    app: &Arc<App>,
) -> Blocking<J, App> {
    Blocking(Server::new(journal, toolbox.clone(), Arc::clone(app)))
}

impl<J: Store + Clone + 'static, App: Send + Sync> Blocking<J, App> {
    /// Serves until this returns `true`.
    pub(crate) fn serve_until(&self, is_so: impl FnMut() -> bool + Send) {
        smol::block_on(self.0.serve().cancel_on(until(is_so))).unwrap();
    }

    pub(crate) fn report(&self, id: &str) -> Result<Report, RunError> {
        smol::block_on(self.0.report(id))
    }

    pub(crate) fn report_with(
        &self,
        id: &str,
        configure: impl for<'r> FnOnce(Run<'r, App, Value>) -> Run<'r, App, Value>,
    ) -> Result<Report, RunError> {
        smol::block_on(self.0.report_with(id, configure))
    }

    pub(crate) fn signal(
        &self,
        id: &str,
        path: &str,
        value: impl Serialize,
    ) -> Result<(), SignalError> {
        smol::block_on(self.0.signal(id, path, value))
    }

    pub(crate) fn retry_failed(&self, id: &str) -> Result<(), RunError> {
        smol::block_on(self.0.retry_failed(id))
    }

    pub(crate) fn check(&self) -> Result<Vec<(String, RunError)>, JournalError> {
        smol::block_on(self.0.check())
    }
}

pub(crate) fn summary(db: &(impl Store + Clone + 'static), id: &str) -> RunSummary {
    db.run_now(id).unwrap()
}

pub(crate) fn has_ended(db: &(impl Store + Clone + 'static), id: &str) -> bool {
    summary(db, id).state != RunState::Running
}

/// Returns `true` if nobody has a run that has begun, and that is not to be begun now.
pub(crate) fn rests(db: &(impl Store + Clone + 'static), id: &str) -> bool {
    let run = summary(db, id);
    let due = smol::block_on(db.due(usize::MAX)).unwrap();
    run.ended.is_none() && !run.is_owned && !due.iter().any(|due| due.id == run.id)
}

/// Completes after this returns `true`.
pub(crate) async fn until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(300), "it never is so");
        smol::Timer::after(Duration::from_millis(20)).await;
    }
}

/// Serves a journal until this returns `true`.
pub(crate) fn serve<J: Store + Clone + 'static, App: Send + Sync>(
    db: &J,
    toolbox: &Toolbox<App>,
    app: &Arc<App>,
    is_so: impl FnMut() -> bool + Send,
) {
    at(db, toolbox, app).serve_until(is_so);
}

/// The output of a run, or its error, as JSON.
pub(crate) fn output(db: &impl Journal, id: &str) -> String {
    let run = db.look_now(id).unwrap().unwrap();
    run.end.unwrap().body().to_owned()
}
