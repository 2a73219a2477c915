//! The tables of a database, and its versions.

use super::super::spi::End;
use super::failure::{Cause, PATIENCE};
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, OpenFlags, TransactionBehavior};
use std::path::Path;

/// `user_version` of the databases that this version of the crate writes. A database with a greater number is refused. For each smaller number,
/// [`prepare`] has a migration.
const VERSION: i64 = 3;

/// `application_id`: the letters `plan`.
const APPLICATION: i64 = 0x706c_616e;

/// Numbers of runs and messages are never reused, so an owner that has lost a run cannot confuse it with another run.
///
/// The position of a record is the number of its run, shifted by 32 bits, plus its own number. So the records of a run are adjacent and ordered, and
/// only `keys` needs more space. Long strings are in tables of their own, which lists and claims of runs do not read.
const TABLES: &str = "
CREATE TABLE runs(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  epoch INTEGER NOT NULL,
  owner TEXT,
  began INTEGER NOT NULL, -- in nanoseconds since 1970, as `ended`
  ended INTEGER,
  failed INTEGER,
  plan TEXT -- nothing until it is described
) STRICT;
CREATE INDEX owned ON runs(owner) WHERE owner IS NOT NULL;
CREATE INDEX running ON runs(number) WHERE ended IS NULL;
CREATE INDEX ended ON runs(ended, number) WHERE ended IS NOT NULL;
CREATE TABLE descriptions(run INTEGER PRIMARY KEY, document TEXT NOT NULL, inputs TEXT NOT NULL) STRICT;
CREATE TABLE ends(run INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE records(
  position INTEGER PRIMARY KEY CHECK (position >> 32 = run),
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX keys ON records(run, key);
CREATE TABLE messages(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL,
  path TEXT, -- of a signal, as `body`; without them, it is a cancellation
  body TEXT
) STRICT;
CREATE INDEX sent ON messages(run, number);
CREATE UNIQUE INDEX signals ON messages(run, path) WHERE path IS NOT NULL;
CREATE TABLE deleted(run INTEGER PRIMARY KEY) STRICT; -- whose records are still there
";

/// The changes of version 2.
const RESTS: &str = "
ALTER TABLE runs ADD COLUMN rests INTEGER; -- until when nothing is to be done, in nanoseconds since 1970
ALTER TABLE runs ADD COLUMN reason TEXT; -- why it could not be begun
CREATE INDEX resting ON runs(rests, number) WHERE ended IS NULL;
";

/// The changes of version 3.
const WAITS: &str = "
ALTER TABLE runs ADD COLUMN waits INTEGER NOT NULL DEFAULT 0; -- whether a step waits for a value while the run rests
";

/// Opens a database. `path` is absolute, so that SQLite does not interpret it as a special name such as `:memory:`.
pub(super) fn connect(path: &Path, creates: bool) -> Result<Connection, Cause> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, creates);
    let database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(PATIENCE)?;
    // Without this option, SQLite compiles a statement again for each bound value, in case the table's statistics (which do not exist) suggest
    // another query plan.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // With these settings, SQLite detects a damaged file earlier, and the schema of a hostile file runs no functions with side effects.
    database.execute_batch("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;")?;
    Ok(database)
}

/// Creates the missing tables of a new or an old database.
pub(super) fn prepare(database: &mut Connection) -> Result<(), Cause> {
    if database.is_readonly("main")? {
        return Err("the file is read-only".into());
    }
    let (application, version) = versions(database)?;
    if application == APPLICATION && version > VERSION {
        let words = format!(
            "the file was written by a newer version of plan-runtime: its tables have version {version}, and this version supports table versions up to {VERSION}"
        );
        return Err(words.into());
    }
    let is_empty = |database: &Connection| {
        let sql = "SELECT NOT EXISTS(SELECT 1 FROM sqlite_schema)";
        database.query_row(sql, [], |row| row.get::<_, bool>(0))
    };
    if application != APPLICATION && !(application == 0 && version == 0 && is_empty(database)?) {
        return Err("the file is a database of another program".into());
    }
    // The mode is stored in the file. This process sets it while no other process has the database open, or another
    // process has set it.
    let mode: String = database.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        let words =
            format!("the file cannot have a write-ahead log (its journal mode stays `{mode}`)");
        return Err(words.into());
    }
    if version < VERSION {
        let change = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version < 1 {
            change.execute_batch(TABLES)?;
        }
        if version < 2 {
            change.execute_batch(RESTS)?;
        }
        change.execute_batch(WAITS)?;
        change.pragma_update(None, "application_id", APPLICATION)?;
        change.pragma_update(None, "user_version", VERSION)?;
        change.commit()?;
    }
    Ok(())
}

/// Returns a statement, which the connection compiles once.
pub(super) fn statement<'c>(
    database: &'c Connection,
    sql: &str,
) -> rusqlite::Result<CachedStatement<'c>> {
    #[cfg(test)]
    super::queries::note(sql);
    database.prepare_cached(sql)
}

fn versions(database: &Connection) -> rusqlite::Result<(i64, i64)> {
    let of = |pragma| database.pragma_query_value(None, pragma, |row| row.get(0));
    Ok((of("application_id")?, of("user_version")?))
}

/// Returns the end of a run from its column.
pub(super) fn end_of(failed: i64, body: String) -> End {
    match failed {
        0 => End::Done(body),
        2 => End::Cancelled(body),
        _ => End::Failed(body),
    }
}

/// Returns the column for the end of a run.
pub(super) fn column_of(end: &End) -> i64 {
    match end {
        End::Done(_) => 0,
        End::Failed(_) => 1,
        End::Cancelled(_) => 2,
    }
}
