//! Folders for databases, and their content.

use crate::journal::asking::Asking;
use plan_runtime::journal::spi::{Claim, RunInfo, Written};
use plan_runtime::journal::{Journal, Sqlite};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A folder of a test, which is removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("journal-{}-{:x}", std::process::id(), fastrand::u64(..));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.join("runs.db")
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
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

pub(crate) fn info(plan: &str) -> RunInfo {
    RunInfo::new(plan, "{}", "{}")
}

/// A run that is described and claimed.
pub(crate) fn begin(db: &Sqlite, id: &str) -> Claim {
    let claim = db.claim_now(id).unwrap().claim;
    db.describe_now(&claim, &info("plan")).unwrap();
    claim
}

pub(crate) fn record(db: &Sqlite, claim: &Claim, key: impl Into<String>) -> Written {
    let key = key.into();
    let body = format!("\"{key}\"");
    db.append(claim, key, body)
}

/// Returns SQLite's check of a file: `ok`, or the damage.
pub(crate) fn integrity(path: &Path) -> String {
    let database = rusqlite::Connection::open(path).unwrap();
    let sql = "PRAGMA integrity_check";
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}
