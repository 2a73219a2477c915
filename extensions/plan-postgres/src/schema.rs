//! The tables, and the migrations from earlier versions.

use super::failure::Failure;
use super::line::Session;
use super::settings::Settings;
use super::sql::quoted;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, IsolationLevel};

/// The statements that migrate each version of the tables to the next version. Strings are `bytea`, since a `text` contains no NUL and has
/// the order of a collation. The unique index contains the hash of a key, since an index entry has at most 2,704 bytes.
const CHANGES: [&str; 4] = [
    "
CREATE SEQUENCE {s}.epochs;
CREATE TABLE {s}.owners (
    name text PRIMARY KEY,
    words text NOT NULL,
    lease timestamptz NOT NULL
);
CREATE TABLE {s}.runs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id bytea NOT NULL UNIQUE,
    epoch bigint NOT NULL,
    owner text,
    began bigint NOT NULL,
    ended timestamptz,
    end_kind smallint,
    last_message bigint NOT NULL DEFAULT 0,
    plan bytea,
    document bytea,
    inputs bytea,
    output bytea
);
CREATE TABLE {s}.records (
    run bigint NOT NULL,
    number bigint NOT NULL,
    key bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE UNIQUE INDEX records_key ON {s}.records (run, sha256(key));
CREATE TABLE {s}.messages (
    run bigint NOT NULL,
    number bigint NOT NULL,
    path bytea,
    body bytea,
    token bigint NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE UNIQUE INDEX messages_path ON {s}.messages (run, sha256(path));
",
    // In version 1, a refused message had a number.
    "
ALTER TABLE {s}.runs ADD COLUMN rests timestamptz, ADD COLUMN reason bytea;
UPDATE {s}.runs r SET last_message = (SELECT coalesce(max(number), 0) FROM {s}.messages WHERE run = r.number) WHERE last_message > 0;
CREATE INDEX runs_due ON {s}.runs (rests, number) WHERE ended IS NULL AND plan IS NOT NULL;
CREATE INDEX runs_ended ON {s}.runs (ended, number) WHERE ended IS NOT NULL;
",
    // The records and messages of a deleted run are removed later. Most ended runs have an output, so the index `runs_failed` excludes them: a
    // list of failed runs reads no others.
    "
CREATE TABLE {s}.deleted (run bigint PRIMARY KEY);
CREATE INDEX runs_undescribed ON {s}.runs (number) WHERE plan IS NULL;
CREATE INDEX runs_running ON {s}.runs (number) WHERE ended IS NULL AND plan IS NOT NULL;
CREATE INDEX runs_failed ON {s}.runs (end_kind, number) WHERE end_kind > 0;
",
    // In earlier versions, only runs without a time limit counted as waiting.
    "
ALTER TABLE {s}.runs ADD COLUMN waits boolean NOT NULL DEFAULT false;
",
];

const WHAT: &str = "cannot create the tables";

enum Refused {
    Error(Error),
    Newer(i32),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Creates missing tables, and migrates the tables of earlier versions.
pub(crate) async fn migrate(settings: &Settings, session: &mut Session) -> Result<(), Failure> {
    let place = &settings.place;
    let known = CHANGES.len();
    match change(&settings.schema, session).await {
        Ok(()) => Ok(()),
        Err(Refused::Error(error)) if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) => {
            let why = "the server is too old: Postgres 13 or later is needed";
            Err(Failure::new(place, WHAT, why))
        }
        Err(Refused::Error(error)) => Err(Failure::from_error(place, WHAT, &error)),
        Err(Refused::Newer(version)) => {
            let schema = quoted(&settings.schema);
            let why = format!(
                "the tables in schema {schema} have version {version}, and this version of plan-postgres knows {known}: use a newer one"
            );
            Err(Failure::new(place, "cannot use the tables", why))
        }
    }
}

async fn version(session: &Session, s: &str) -> Result<usize, Refused> {
    let client = &session.client;
    let row = client
        .query_one(
            "SELECT to_regclass($1) IS NOT NULL",
            &[&format!("{s}.version")],
        )
        .await?;
    if !row.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let row = client
        .query_one(&format!("SELECT version FROM {s}.version"), &[])
        .await?;
    let version: i32 = row.try_get(0)?;
    match usize::try_from(version) {
        Ok(version) if version <= CHANGES.len() => Ok(version),
        _ => Err(Refused::Newer(version)),
    }
}

async fn change(schema: &str, session: &mut Session) -> Result<(), Refused> {
    let s = quoted(schema);
    // A user without the right to create tables can use existing tables.
    if version(session, &s).await? == CHANGES.len() {
        return Ok(());
    }
    let begin = "SELECT pg_advisory_lock(hashtextextended('plan-postgres ' || $1::text, 0))";
    session.client.query(begin, &[&schema]).await?;
    // Another process may have migrated the tables before this process had the lock.
    let from = version(session, &s).await?;
    let level = IsolationLevel::ReadCommitted;
    let transaction = session.client.build_transaction().isolation_level(level);
    let transaction = transaction.start().await?;
    if from == 0 {
        let create = format!(
            "CREATE SCHEMA IF NOT EXISTS {s};
            CREATE TABLE {s}.version (version integer NOT NULL);
            INSERT INTO {s}.version VALUES (0);"
        );
        transaction.batch_execute(&create).await?;
    }
    for sql in &CHANGES[from..] {
        transaction.batch_execute(&sql.replace("{s}", &s)).await?;
    }
    let known = i32::try_from(CHANGES.len()).unwrap_or(i32::MAX);
    transaction
        .execute(&format!("UPDATE {s}.version SET version = $1"), &[&known])
        .await?;
    // The lock ends with the session, which has no other use.
    transaction.commit().await?;
    Ok(())
}
