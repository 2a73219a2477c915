//! What is in a database, for people and for what serves runs.

use super::super::{JournalError, RunFilter, RunState, RunSummary};
use super::encryption::{self, Place};
use super::writer::{Done, Job};
use super::{Sqlite, time};
use rusqlite::{OptionalExtension, Row, params};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// How many rows are read together. Between them, nothing is kept open.
const PAGE: i64 = 128;

/// What a summary is made of, after the number of the run.
const COLUMNS: &str = "id, plan, began, ended, failed, owner, reason, ";

/// The condition for a cancelled run. Earlier versions wrote the column of a failed run, whose interrupt is recorded with a null.
const CANCELLED: &str = "(ended IS NOT NULL AND (failed = 2 OR failed = 1 AND EXISTS(
    SELECT 1 FROM records WHERE run = runs.number AND key = '!interrupt' AND body LIKE '%\"value\":null}'
)))";

fn summary(
    db: &Sqlite,
    row: &Row<'_>,
    is_alive: impl FnOnce(String) -> bool,
) -> rusqlite::Result<RunSummary> {
    let ended: Option<i64> = row.get(4)?;
    let owner: Option<String> = row.get(6)?;
    let id: String = row.get(1)?;
    let refusal: Option<String> = row.get(7)?;
    let refusal = refusal.map(|reason| {
        let run = (&*id, encryption::is_sealed(&reason));
        let opened = db.opened(run, Place::Reason, reason);
        opened.unwrap_or_else(|error| error.to_string())
    });
    let number: i64 = row.get(0)?;
    let began = time::system(row.get(3)?);
    let mut summary = RunSummary::new(number.unsigned_abs(), id, row.get::<_, String>(2)?, began);
    summary.ended = ended.map(time::system);
    summary.state = match (ended, row.get(5)?) {
        (None, _) => RunState::Running,
        (Some(_), Some(true)) if row.get(8)? => RunState::Cancelled,
        (Some(_), Some(true)) => RunState::Failed,
        (Some(_), _) => RunState::Done,
    };
    summary.is_owned = owner.is_some_and(is_alive);
    summary.refusal = refusal;
    Ok(summary)
}

/// Goes through pages. Each is read with the last position before it.
struct Pages<T, F> {
    read: F,
    after: Option<i64>,
    page: VecDeque<T>,
}

/// A page, and the position after which the next one begins, unless it is the last.
type Page<T, E = JournalError> = Result<(VecDeque<T>, Option<i64>), E>;

fn pages<T, F: FnMut(i64) -> Page<T>>(read: F) -> Pages<T, F> {
    Pages {
        read,
        after: Some(i64::MIN),
        page: VecDeque::new(),
    }
}

impl<T, F: FnMut(i64) -> Page<T>> Iterator for Pages<T, F> {
    type Item = Result<T, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(next) = self.page.pop_front() {
                return Some(Ok(next));
            }
            // After an error, there is nothing more.
            match (self.read)(self.after.take()?) {
                Ok((page, after)) => (self.page, self.after) = (page, after),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Sqlite {
    /// The runs that a filter lets through, in the order in which they began, unless it says [otherwise](RunFilter::newest_first). Runs that begin meanwhile may be among them.
    ///
    /// ```
    /// use plan_runtime::journal::{Journal, RunFilter, RunState, Sqlite, spi::RunInfo};
    ///
    /// # let folder = std::env::temp_dir().join(format!("plan-runs-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("runs.db");
    /// let db = Sqlite::open(path)?;
    /// for id in ["order-17", "order-18"] {
    ///     let claim = smol::block_on(db.claim(id))?.claim;
    ///     smol::block_on(db.describe(&claim, &RunInfo::new("ship_order", "{}", "{}")))?;
    ///     if id == "order-18" {
    ///         db.release(&claim);
    ///     }
    /// }
    /// // The write of `release` is queued before that of any later claim.
    /// let claim = smol::block_on(db.claim("order-19"))?.claim;
    ///
    /// // What nobody runs.
    /// let waiting = RunFilter::new().plan("ship_order").state(RunState::Running).is_owned(false);
    /// let waiting = db.runs(&waiting).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(waiting.len(), 1);
    /// assert_eq!(waiting[0].id, "order-18");
    /// # drop(db);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An item is [`JournalError::Storage`] if the file cannot be read; it is the last one.
    pub fn runs(
        &self,
        filter: &RunFilter,
    ) -> impl Iterator<Item = Result<RunSummary, JournalError>> + use<> {
        let (db, filter) = (self.clone(), filter.clone());
        let began_before = filter.older_than.map(before);
        let state = match filter.state {
            None => String::new(),
            Some(RunState::Running) => "AND ended IS NULL".to_owned(),
            Some(RunState::Done) => "AND ended IS NOT NULL AND NOT failed".to_owned(),
            Some(RunState::Failed) => {
                format!("AND ended IS NOT NULL AND failed AND NOT {CANCELLED}")
            }
            Some(RunState::Cancelled) => format!("AND {CANCELLED}"),
        };
        // Of the opposite order, the positions are negative.
        let (from, order) = if filter.is_newest_first {
            ("number < -?1", "number DESC")
        } else {
            ("number > ?1", "number")
        };
        let sql = format!(
            "SELECT number, {COLUMNS}{CANCELLED} FROM runs
            WHERE {from} AND plan IS NOT NULL AND (?2 IS NULL OR plan = ?2) AND (?3 IS NULL OR began < ?3) AND (?5 IS NULL OR id = ?5) {state}
            ORDER BY {order} LIMIT ?4"
        );
        let begin = filter.after.and_then(|number| i64::try_from(number).ok());
        let begin = begin.map(|number| {
            if filter.is_newest_first {
                -number
            } else {
                number
            }
        });
        pages(move |after| {
            let after = if after == i64::MIN {
                begin.unwrap_or(after)
            } else {
                after
            };
            let mut alive: HashMap<String, bool> = HashMap::new();
            let mut count = 0;
            // No run has so small a number, whose opposite would be too large.
            let mut last = after.max(-i64::MAX);
            let mut page = VecDeque::new();
            db.read(|database| {
                let mut statement = database.prepare_cached(&sql)?;
                let mut rows =
                    statement.query(params![last, filter.plan, began_before, PAGE, filter.id])?;
                while let Some(row) = rows.next()? {
                    let number: i64 = row.get(0)?;
                    (count, last) = (
                        count + 1,
                        if filter.is_newest_first {
                            -number
                        } else {
                            number
                        },
                    );
                    let summary = summary(&db, row, |owner| {
                        let is_alive = |name: &String| db.is_alive(name);
                        *alive.entry(owner).or_insert_with_key(is_alive)
                    })?;
                    if filter.is_owned.is_none_or(|it| it == summary.is_owned) {
                        page.push_back(summary);
                    }
                }
                Ok(())
            })?;
            Ok((page, (count == PAGE).then_some(last)))
        })
    }

    /// What the journal knows of the run with this id; `None` if there is no such run.
    ///
    /// ```
    /// use plan_runtime::journal::{RunState, Sqlite};
    /// use plan_runtime::plan;
    ///
    /// plan! {
    ///     Greet(name: String) -> String { format!("Hello, {name}!") }
    /// }
    ///
    /// # let folder = std::env::temp_dir().join(format!("plan-run-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("runs.db");
    /// let db = Sqlite::open(path)?;
    /// smol::block_on(Greet { name: "Ada".into() }.run(&()).durable(&db, "greet-17"))?;
    /// let run = db.run("greet-17")?.unwrap();
    /// assert_eq!((&*run.plan, run.state), ("greet", RunState::Done));
    /// assert!(db.run("greet-18")?.is_none());
    /// # drop(db);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`JournalError::Storage`] if the file cannot be read.
    pub fn run(&self, id: &str) -> Result<Option<RunSummary>, JournalError> {
        let sql = format!(
            "SELECT number, {COLUMNS}{CANCELLED} FROM runs WHERE id = ?1 AND plan IS NOT NULL"
        );
        self.read(|database| {
            let mut statement = database.prepare_cached(&sql)?;
            let found = statement.query_row([id], |row| {
                summary(self, row, |owner| self.is_alive(&owner))
            });
            found.optional()
        })
    }

    pub(super) fn is_alive(&self, owner: &str) -> bool {
        owner == self.0.owner || self.0.owners.is_alive(owner)
    }

    /// Deletes the runs that ended longer ago than this and that nobody has, with all that is kept of them, and says how many. What the file had for them is
    /// used for other runs; the file does not become smaller.
    ///
    /// Other runs are recorded meanwhile. If the process is killed, the next call continues.
    ///
    /// ```
    /// use plan_runtime::journal::spi::{End, RunInfo};
    /// use plan_runtime::journal::{Journal, RunFilter, Sqlite};
    /// use std::time::Duration;
    ///
    /// # let folder = std::env::temp_dir().join(format!("plan-delete-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("runs.db");
    /// let db = Sqlite::open(path)?;
    /// let claim = smol::block_on(db.claim("order-17"))?.claim;
    /// smol::block_on(db.describe(&claim, &RunInfo::new("ship_order", "{}", "{}")))?;
    /// smol::block_on(db.end(&claim, End::Done("17".into())))?;
    /// db.release(&claim);
    ///
    /// assert_eq!(db.delete(Duration::from_secs(86_400))?, 0);
    /// assert_eq!(db.delete(Duration::ZERO)?, 1);
    /// assert_eq!(db.runs(&RunFilter::new()).count(), 0);
    /// # drop(db);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`JournalError::Storage`] if the file cannot be read or written.
    pub fn delete(&self, older_than: Duration) -> Result<u64, JournalError> {
        let before = before(older_than);
        // Through the queue, so that what was queued before is seen.
        self.purge()?;
        let mut deleted = 0;
        let mut after = (i64::MIN, i64::MIN);
        loop {
            let sql = "SELECT ended, number FROM runs
                WHERE ended IS NOT NULL AND ended < ?1 AND (ended, number) > (?2, ?3) ORDER BY ended, number LIMIT ?4";
            let found: Vec<(i64, i64)> = self.read(|database| {
                let mut statement = database.prepare_cached(sql)?;
                let rows = statement.query_map(params![before, after.0, after.1, PAGE], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
                rows.collect()
            })?;
            let Some(last) = found.last() else {
                return Ok(deleted);
            };
            after = *last;
            let runs = found.into_iter().map(|(_, run)| run).collect();
            if let Done::Deleted(count) = self.act(Job::Delete(runs, before))? {
                deleted += count;
            }
            self.purge()?;
        }
    }

    /// Returns the bytes of the file that are in use. The space of deleted runs is not.
    ///
    /// # Errors
    ///
    /// [`JournalError::Storage`] if the file cannot be read.
    pub fn used_bytes(&self) -> Result<u64, JournalError> {
        self.read(|database| {
            let pragma = |name| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            let pages = pragma("page_count")? - pragma("freelist_count")?;
            Ok(pages.unsigned_abs() * pragma("page_size")?.unsigned_abs())
        })
    }

    fn purge(&self) -> Result<(), JournalError> {
        while let Done::Purged(true) = self.act(Job::Purge)? {}
        Ok(())
    }
}

fn before(age: Duration) -> i64 {
    let age = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
    time::now().saturating_sub(age)
}
