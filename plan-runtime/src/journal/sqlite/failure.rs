//! Errors of a file.

use super::super::JournalError;
use crate::print::MessageName;
use crate::resolve::describe::bytes;
use rusqlite::ErrorCode;
use std::error::Error as StdError;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

/// The longest time that a statement waits for another process that writes.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A file, and the cause of its failure.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    path: Arc<Path>,
    cause: Cause,
}

#[derive(Clone, Debug)]
pub(super) enum Cause {
    Sql(Arc<rusqlite::Error>),
    Io(Arc<io::Error>),
    Words(Arc<str>),
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(Arc::new(error))
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

impl From<String> for Cause {
    fn from(words: String) -> Self {
        Self::Words(words.into())
    }
}

impl From<&str> for Cause {
    fn from(words: &str) -> Self {
        Self::Words(words.into())
    }
}

impl Cause {
    /// Adds the size limit of the file to the error of a full disk.
    pub(super) fn limited(self, max_bytes: Option<u64>) -> Self {
        let is_full =
            |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::DiskFull);
        match (&self, max_bytes.map(usize::try_from)) {
            (Self::Sql(error), Some(Ok(max))) if is_full(error) => Self::from(format!(
                "the file has {}, its limit (`SqliteOptions::max_bytes`), or the disk is full",
                bytes(max)
            )),
            _ => self,
        }
    }
}

impl Failure {
    pub(super) fn new(path: &Arc<Path>, cause: impl Into<Cause>) -> Self {
        Self {
            path: Arc::clone(path),
            cause: cause.into(),
        }
    }
}

impl From<Failure> for JournalError {
    fn from(failure: Failure) -> Self {
        Self::storage(failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", MessageName(&self.path.display().to_string()))?;
        match &self.cause {
            Cause::Sql(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => f.write_str("the disk is full"),
                Some(ErrorCode::ReadOnly) => f.write_str("the file is read-only"),
                Some(ErrorCode::DatabaseCorrupt) => write!(f, "the file is damaged: {error}"),
                Some(ErrorCode::NotADatabase) => {
                    f.write_str("the file is not an SQLite database, or it is damaged")
                }
                Some(ErrorCode::DatabaseBusy) => write!(
                    f,
                    "another process has been writing for more than {PATIENCE:?}"
                ),
                _ => write!(f, "{error}"),
            },
            Cause::Io(error) => write!(f, "{error}"),
            Cause::Words(words) => f.write_str(words),
        }
    }
}

impl StdError for Failure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.cause {
            Cause::Sql(error) => Some(&**error),
            Cause::Io(error) => Some(&**error),
            Cause::Words(_) => None,
        }
    }
}
