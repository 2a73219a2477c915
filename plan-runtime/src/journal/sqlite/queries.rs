//! A test that SQLite finds the rows of each statement with an index.

use super::Sqlite;
use crate::journal::{RunFilter, RunState, Store, conformance};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

/// The statements of all databases of this process.
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub(super) fn note(sql: &str) {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !seen.contains(sql) {
        seen.insert(sql.to_owned());
    }
}

/// Returns the steps by which SQLite finds the rows of a statement.
fn steps(database: &Connection, sql: &str) -> Vec<String> {
    let mut statement = database
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    let count = statement.parameter_count();
    let none = std::iter::repeat_n(None::<i64>, count);
    let rows = statement.query_map(rusqlite::params_from_iter(none), |row| row.get(3));
    rows.unwrap().map(Result::unwrap).collect()
}

/// The index of each statement that contains these words.
const INDICES: [(&str, &str); 14] = [
    ("AND id = ?3", "INDEX sqlite_autoindex_runs_1 (id=?)"),
    ("FROM runs INDEXED BY owned", "INDEX owned (owner>?)"),
    (
        "AND plan IS NOT NULL   AND ended IS NULL ORDER BY number LIMIT",
        "INDEX running (number>?)",
    ),
    (
        "AND plan IS NOT NULL   AND ended IS NULL ORDER BY number DESC",
        "INDEX running (number<?)",
    ),
    ("rests <= ?1", "INDEX resting (rests<?)"),
    (
        "rests IS NULL AND plan IS NOT NULL",
        "INDEX resting (rests=?)",
    ),
    (
        "SET rests = NULL WHERE ended IS NULL",
        "INDEX resting (rests>?)",
    ),
    (
        "ended < ?1 AND (ended, number)",
        "INDEX ended (ended>? AND ended<?)",
    ),
    ("key = '!interrupt'", "INDEX keys (run=? AND key=?)"),
    (
        "DELETE FROM records WHERE run = ?1 AND key",
        "INDEX keys (run=? AND key=?)",
    ),
    (
        "FROM records\n        WHERE position > ?1",
        "PRIMARY KEY (rowid>? AND rowid<?)",
    ),
    (
        "SELECT max(position) FROM records",
        "PRIMARY KEY (rowid>? AND rowid<?)",
    ),
    ("FROM messages WHERE run = ?1", "INDEX sent (run=?"),
    (
        "plan IS NULL AND began < ?1 AND (began",
        "INDEX owned (owner>?)",
    ),
];

#[test]
fn each_statement_has_an_index() {
    let name = format!(
        "plan-queries-{}-{:x}",
        std::process::id(),
        fastrand::u64(..)
    );
    let folder = env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("runs.db");
    conformance::check(|| Sqlite::open(&path).unwrap());
    conformance::check_store(|| Sqlite::open(&path).unwrap());
    let db = Sqlite::open(&path).unwrap();
    let running = RunFilter::new().state(RunState::Running);
    for filter in [running.clone(), running.newest_first()] {
        smol::block_on(db.runs(&filter)).unwrap();
    }
    drop(db);
    let database = super::schema::connect(&path, false).unwrap();
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let plans: Vec<(&String, String)> = seen
        .iter()
        .map(|sql| (sql, steps(&database, sql).join("; ")))
        .collect();
    for (sql, steps) in &plans {
        for table in ["runs", "records", "messages", "descriptions", "ends"] {
            assert!(!steps.contains(&format!("SCAN {table}")), "{sql}: {steps}");
        }
    }
    for (words, index) in INDICES {
        let mut of = plans
            .iter()
            .filter(|(sql, _)| sql.contains(words))
            .peekable();
        assert!(of.peek().is_some(), "no statement contains `{words}`");
        for (sql, steps) in of {
            assert!(steps.contains(index), "{sql}: {steps}");
        }
    }
    drop(database);
    fs::remove_dir_all(folder).unwrap();
}
