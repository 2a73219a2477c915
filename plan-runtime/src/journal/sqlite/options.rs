//! The options of a database, and its opening.

use super::failure::{Cause, Failure};
use super::jobs::Claims;
use super::owners::Owners;
use super::reader::Reader;
use super::watching::MessageWaits;
use super::writer::Writer;
use super::{Inner, Sqlite, schema};
use crate::journal::JournalError;
use crate::journal::arrivals::Arrivals;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::{fs, io, thread};

/// Options to open a [`Sqlite`].
///
/// ```
/// use plan_runtime::journal::SqliteOptions;
///
/// # let folder = std::env::temp_dir().join(format!("plan-options-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("runs.db");
/// let db = SqliteOptions::new().normal().max_bytes(1 << 30).open(path)?;
/// # drop(db);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SqliteOptions {
    is_normal: bool,
    max_bytes: Option<u64>,
}

impl SqliteOptions {
    /// Returns the options of [`Sqlite::open`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Does not wait for the disk at each commit (`synchronous = NORMAL`).
    ///
    /// A record then survives a kill of the process. If the machine loses power, or its system crashes, the last records may be lost,
    /// and the run makes the calls of these records again. Only records at the end are lost.
    pub fn normal(mut self) -> Self {
        self.is_normal = true;
        self
    }

    /// Limits the size of the file, in bytes, rounded down to whole pages. A write that would exceed the limit fails, as on a full disk. The write-ahead log beside the file is not included.
    ///
    /// A file that already exceeds the limit does not shrink.
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = Some(max_bytes);
        self
    }

    /// Opens a database, or makes a new one.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sqlite::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Sqlite, JournalError> {
        let path = path.as_ref();
        let given: Arc<Path> = path.into();
        let path: Arc<Path> = absolute(path)
            .map_err(|error| Failure::new(&given, error))?
            .into();
        let failure = |cause| JournalError::from(Failure::new(&path, cause));

        let owners = Owners::of(&path);
        let folder: Arc<Path> = owners.folder().into();
        let locks = |error| JournalError::from(Failure::new(&folder, Cause::from(error)));
        let gate = owners.enter().map_err(locks)?;
        let mut reader = schema::connect(&path, true).map_err(failure)?;
        schema::prepare(&mut reader).map_err(failure)?;
        let database = schema::connect(&path, false).map_err(failure)?;
        self.set(&database).map_err(|error| failure(error.into()))?;
        let last_message = reader
            .query_row("SELECT coalesce(max(number), 0) FROM messages", [], |row| {
                row.get(0)
            })
            .map_err(|error| failure(error.into()))?;
        let alive = owners.join(&gate).map_err(locks)?;
        drop(gate);

        let owner = alive.name.clone();
        let (watching, arrivals) = (Arc::new(MessageWaits::default()), Arrivals::default());
        let (claims, (queue, jobs)) = (Claims::default(), mpsc::channel());
        let writer = Writer {
            path: Arc::clone(&path),
            max_bytes: self.max_bytes,
            database,
            alive,
            owners: owners.clone(),
            watching: Arc::clone(&watching),
            arrivals: arrivals.clone(),
            claims: Arc::clone(&claims),
            held: HashMap::new(),
            broken: HashMap::new(),
            unreleased: Vec::new(),
        };
        let writer = thread::Builder::new()
            .name("plan-journal".to_owned())
            .spawn(move || writer.run(&jobs))
            .map_err(|error| failure(error.into()))?;
        let inner = Inner {
            path: Arc::clone(&path),
            owners,
            owner,
            reader: Reader::start(reader).map_err(|error| failure(error.into()))?,
            claims,
            queue,
            watching,
            arrivals,
            last_message,
            writer: Some(writer),
            watcher: Mutex::new(None),
        };
        Ok(Sqlite(Arc::new(inner), None))
    }

    fn set(&self, database: &rusqlite::Connection) -> rusqlite::Result<()> {
        // On systems whose usual sync leaves data in the disk's cache, the thorough sync is used.
        database.execute_batch(if self.is_normal {
            "PRAGMA synchronous = NORMAL;"
        } else {
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;"
        })?;
        if let Some(bytes) = self.max_bytes {
            let size: i64 = database.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let pages = (bytes / size.unsigned_abs().max(1)).clamp(1, u64::from(u32::MAX - 1));
            database.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
        }
        Ok(())
    }
}

/// Returns the path of a file that may not exist, without links, so that all processes find the owners of the file.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    if let Ok(path) = fs::canonicalize(path) {
        return Ok(path);
    }
    let path = std::path::absolute(path)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path does not name a file",
        ));
    };
    Ok(fs::canonicalize(folder)?.join(name))
}
