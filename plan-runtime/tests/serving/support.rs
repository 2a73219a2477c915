//! Folders for databases, and servers that end once something has happened.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{RunFilter, RunState, RunSummary, Sqlite};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

/// A folder of a test, which is removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("serving-{}-{:x}", std::process::id(), fastrand::u64(..));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.join("runs.db")
    }

    pub(crate) fn open(&self) -> Sqlite {
        Sqlite::open(self.path()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn summary(db: &Sqlite, id: &str) -> RunSummary {
    let runs = db.runs(&RunFilter::new()).map(Result::unwrap);
    runs.into_iter().find(|run| run.id == id).unwrap()
}

pub(crate) fn has_ended(db: &Sqlite, id: &str) -> bool {
    summary(db, id).state != RunState::Running
}

/// Whether nobody has a run that has begun, and is not to be begun now.
pub(crate) fn rests(db: &Sqlite, id: &str) -> bool {
    let database = rusqlite::Connection::open(path(db)).unwrap();
    let sql = "SELECT owner IS NULL AND rests IS NOT NULL FROM runs WHERE id = ?1";
    database.query_row(sql, [id], |row| row.get(0)).unwrap()
}

fn path(db: &Sqlite) -> PathBuf {
    let text = format!("{db:?}");
    PathBuf::from(text.split('"').nth(1).unwrap())
}

/// Is ready once this is so.
pub(crate) async fn until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(300), "it never is so");
        smol::Timer::after(Duration::from_millis(20)).await;
    }
}

/// Serves a database until this is so.
pub(crate) fn serve<App: Sync>(
    db: &Sqlite,
    toolbox: &Toolbox<App>,
    app: &App,
    is_so: impl FnMut() -> bool + Send,
) {
    let serve = db.serve(toolbox, app).cancel_on(until(is_so));
    smol::block_on(serve).unwrap();
}

/// The output of a run, as JSON.
pub(crate) fn output(db: &Sqlite, id: &str) -> String {
    let database = rusqlite::Connection::open(path(db)).unwrap();
    let sql = "SELECT body FROM ends JOIN runs ON run = number WHERE id = ?1";
    database.query_row(sql, [id], |row| row.get(0)).unwrap()
}
