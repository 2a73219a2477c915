//! The runs in a database: lists, deletion, and the size of the file.

use super::super::{JournalError, RunFilter, RunState, RunSummary};
use super::encryption::{self, Cipher, Place};
use super::jobs::{Done, Job};
use super::owners::Owners;
use super::schema::statement;
use super::sealed::opened;
use super::{Sqlite, time};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};
use std::collections::HashMap;
use std::time::Duration;

/// The number of rows that are read together. Between two such reads, no statement is open.
const PAGE: i64 = 128;

macro_rules! cancelled {
    () => {
        "(ended IS NOT NULL AND (failed = 2 OR failed = 1 AND EXISTS(
            SELECT 1 FROM records WHERE run = runs.number AND key = '!interrupt' AND body LIKE '%\"value\":null}'
        )))"
    };
}

/// The condition for a cancelled run. Earlier versions marked a cancelled run as failed, so the condition also finds a failed run with the record of
/// a cancellation, whose value is null.
const CANCELLED: &str = cancelled!();

/// The columns of a summary.
pub(super) const SELECT: &str = concat!(
    "SELECT number, id, plan, began, ended, failed, owner, reason, rests, ",
    cancelled!(),
    ", waits"
);

/// The index of the owner's column.
pub(super) const OWNER: usize = 6;

/// The living owners. Each is looked up once.
pub(super) struct Living {
    owners: Owners,
    own: String,
    known: HashMap<String, bool>,
}

impl Living {
    pub(super) fn is_own(&self, owner: &str) -> bool {
        owner == self.own
    }

    pub(super) fn contains(&mut self, owner: String) -> bool {
        let Self { owners, own, known } = self;
        let is_alive = |name: &String| name == own || owners.is_alive(name);
        *known.entry(owner).or_insert_with_key(is_alive)
    }
}

pub(super) fn summary(
    row: &Row<'_>,
    cipher: Option<&Cipher>,
    living: &mut Living,
) -> rusqlite::Result<RunSummary> {
    let ended: Option<i64> = row.get(4)?;
    let owner: Option<String> = row.get(OWNER)?;
    let (id, reason): (String, Option<String>) = (row.get(1)?, row.get(7)?);
    let (rests, waits): (Option<i64>, bool) = (row.get(8)?, row.get(10)?);
    let refusal = reason.map(|reason| {
        let run = (&*id, encryption::is_sealed(&reason));
        let opened = opened(cipher, run, Place::Reason, reason);
        opened.unwrap_or_else(|error| error.to_string())
    });
    let number: i64 = row.get(0)?;
    let began = time::system(row.get(3)?);
    let mut summary = RunSummary::new(number.unsigned_abs(), id, row.get::<_, String>(2)?, began);
    summary.ended = ended.map(time::system);
    summary.state = match (ended, row.get(5)?) {
        (None, _) => RunState::Running,
        (Some(_), Some(true)) if row.get(9)? => RunState::Cancelled,
        (Some(_), Some(true)) => RunState::Failed,
        (Some(_), _) => RunState::Done,
    };
    summary.is_owned = owner.is_some_and(|owner| living.contains(owner));
    let is_idle = ended.is_none() && !summary.is_owned && refusal.is_none();
    // Only a message ends an endless rest. Such a rest of an older program has no `waits`.
    let is_resting = |rests: i64| rests == i64::MAX || waits && rests > time::now();
    summary.waits = is_idle && rests.is_some_and(is_resting);
    summary.refusal = refusal;
    Ok(summary)
}

/// A query for the rows of a filter.
struct Rows {
    sql: String,
    /// The parameters after the first two, which are the position and the maximum number of rows.
    values: Vec<Value>,
    is_newest_first: bool,
    is_owned: Option<bool>,
    after: Option<u64>,
    cipher: Option<Cipher>,
    living: Living,
}

impl Rows {
    fn new(db: &Sqlite, filter: &RunFilter) -> Self {
        let state = match filter.state {
            None => String::new(),
            Some(RunState::Running) => "AND ended IS NULL".to_owned(),
            Some(RunState::Done) => "AND ended IS NOT NULL AND NOT failed".to_owned(),
            Some(RunState::Failed) => {
                format!("AND ended IS NOT NULL AND failed AND NOT {CANCELLED}")
            }
            Some(RunState::Cancelled) => format!("AND {CANCELLED}"),
        };
        // In the opposite order, the positions are negative.
        let (from, order) = if filter.is_newest_first {
            ("number < -?1", "number DESC")
        } else {
            ("number > ?1", "number")
        };
        // Few runs have an owner, and SQLite would rather read all runs in their order.
        let index = match (filter.is_owned, &filter.id) {
            (Some(true), None) => "INDEXED BY owned",
            _ => "",
        };
        let owned = match filter.is_owned {
            Some(true) => "AND owner IS NOT NULL",
            _ => "",
        };
        // A condition for all cases, such as `?3 IS NULL OR id = ?3`, would use no index.
        let mut values: Vec<Value> = Vec::new();
        let mut conditions = String::new();
        let given = [
            ("id =", filter.id.clone().map(Value::from)),
            ("plan =", filter.plan.clone().map(Value::from)),
            ("began <", filter.older_than.map(before).map(Value::from)),
        ];
        for (condition, value) in given {
            if let Some(value) = value {
                values.push(value);
                // The statement has two parameters before these.
                conditions += &format!("AND {condition} ?{} ", values.len() + 2);
            }
        }
        let sql = format!(
            "{SELECT} FROM runs {index} WHERE {from} AND plan IS NOT NULL {owned} {conditions} {state} ORDER BY {order} LIMIT ?2"
        );
        Self {
            sql,
            values,
            is_newest_first: filter.is_newest_first,
            is_owned: filter.is_owned,
            after: filter.after,
            cipher: db.1.clone(),
            living: db.living(),
        }
    }

    /// Returns the first position of the filter.
    fn begin(&self) -> i64 {
        let after = self.after.map(i64::try_from);
        match (after, self.is_newest_first) {
            // The position is less than that of any run. `i64::MIN` has no opposite number.
            (None, _) => -i64::MAX,
            (Some(after), false) => after.unwrap_or(i64::MAX),
            (Some(after), true) => -after.unwrap_or(i64::MAX),
        }
    }

    /// Adds at most `limit` runs after a position, and reads at most [`PAGE`] rows. Returns the position of the last row unless there are no more rows.
    fn read(
        &mut self,
        database: &Connection,
        after: i64,
        (page, limit): (&mut Vec<RunSummary>, usize),
    ) -> rusqlite::Result<Option<i64>> {
        let mut statement = statement(database, &self.sql)?;
        let of = [Value::from(after), Value::from(PAGE)];
        let of = of.iter().chain(&self.values);
        let mut rows = statement.query(params_from_iter(of))?;
        let mut last = None;
        let mut count = 0;
        while page.len() < limit
            && let Some(row) = rows.next()?
        {
            let number: i64 = row.get(0)?;
            count += 1;
            last = Some(if self.is_newest_first {
                -number
            } else {
                number
            });
            let summary = summary(row, self.cipher.as_ref(), &mut self.living)?;
            if self.is_owned.is_none_or(|it| it == summary.is_owned) {
                page.push(summary);
            }
        }
        Ok(last.filter(|_| count == PAGE))
    }
}

impl Sqlite {
    pub(super) fn living(&self) -> Living {
        Living {
            owners: self.0.owners.clone(),
            own: self.0.owner.clone(),
            known: HashMap::new(),
        }
    }

    pub(super) async fn page_of_runs(
        &self,
        filter: &RunFilter,
    ) -> Result<Vec<RunSummary>, JournalError> {
        let mut rows = Rows::new(self, filter);
        let most = usize::try_from(PAGE).unwrap_or(usize::MAX);
        let limit = filter.limit.map_or(most, |limit| limit.min(most));
        let mut next = (limit > 0).then(|| rows.begin());
        let mut page = Vec::new();
        // Other reads get their turn between the reads of a filter with few matches.
        while let (Some(after), true) = (next, page.is_empty()) {
            (rows, page, next) = self
                .read(move |database| {
                    let next = rows.read(database, after, (&mut page, limit))?;
                    Ok((rows, page, next))
                })
                .await?;
        }
        Ok(page)
    }

    pub(super) async fn delete_older(&self, age: Duration) -> Result<u64, JournalError> {
        let before = before(age);
        // The purge waits in the queue, so that it sees the effects of earlier jobs.
        self.purge().await?;
        let mut deleted = 0;
        // A process that was killed between a claim and a description has left a run without a description.
        let nameless = "SELECT began, number FROM runs INDEXED BY owned
            WHERE owner IS NOT NULL AND plan IS NULL AND began < ?1 AND (began, number) > (?2, ?3) ORDER BY began, number LIMIT ?4";
        let ended = "SELECT ended, number FROM runs
            WHERE ended IS NOT NULL AND ended < ?1 AND (ended, number) > (?2, ?3) ORDER BY ended, number LIMIT ?4";
        for sql in [nameless, ended] {
            let mut after = (i64::MIN, i64::MIN);
            loop {
                let found = self
                    .read(move |database| Ok(page_of_old(database, sql, before, after)?))
                    .await?;
                let Some(last) = found.last() else {
                    break;
                };
                after = *last;
                let runs = found.into_iter().map(|(_, run)| run).collect();
                if let Done::Deleted(count) = self.done(Job::Delete(runs, before)).await? {
                    deleted += count;
                }
                self.purge().await?;
            }
        }
        Ok(deleted)
    }

    /// Returns the bytes of the file that are in use. The number excludes the space of deleted runs. The file does not become smaller, and other runs use this space.
    ///
    /// ```
    /// use plan_runtime::journal::Sqlite;
    ///
    /// # let folder = std::env::temp_dir().join(format!("plan-used-bytes-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let db = Sqlite::open(folder.join("runs.db"))?;
    /// assert!(smol::block_on(db.used_bytes())? > 0);
    /// # drop(db);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Storage`] if the file cannot be read.
    pub async fn used_bytes(&self) -> Result<u64, JournalError> {
        self.read(|database| {
            let pragma = |name| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            let pages = pragma("page_count")? - pragma("freelist_count")?;
            Ok(pages.unsigned_abs() * pragma("page_size")?.unsigned_abs())
        })
        .await
    }

    async fn purge(&self) -> Result<(), JournalError> {
        while let Done::Purged(true) = self.done(Job::Purge).await? {}
        Ok(())
    }
}

/// Returns the times and the numbers of the next runs that are older than this.
fn page_of_old(
    database: &Connection,
    sql: &str,
    before: i64,
    after: (i64, i64),
) -> rusqlite::Result<Vec<(i64, i64)>> {
    let mut statement = statement(database, sql)?;
    let rows = statement.query_map(params![before, after.0, after.1, PAGE], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    rows.collect()
}

fn before(age: Duration) -> i64 {
    let age = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
    time::now().saturating_sub(age)
}
