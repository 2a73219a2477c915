//! Living owners. Each open [`Sqlite`](super::Sqlite) holds the lock of a file. The system releases the lock at the end of the process, even after a
//! kill.
//!
//! The files are in a folder beside the database. A process creates and removes files only while it holds the lock of `gate`. So between the creation
//! and the lock of a file, another process cannot remove the file as a leftover.

use super::failure::PATIENCE;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

const GATE: &str = "gate";

/// The owners of a database.
#[derive(Clone, Debug)]
pub(super) struct Owners(PathBuf);

/// The lock of a living owner, until the lock is dropped.
#[derive(Debug)]
pub(super) struct Alive {
    pub(super) name: String,
    path: PathBuf,
    file: Option<File>,
}

/// A lock that keeps other processes from opening the database.
#[derive(Debug)]
pub(super) struct Gate(#[expect(dead_code, reason = "it holds a lock")] File);

impl Owners {
    pub(super) fn of(database: &Path) -> Self {
        let mut name = OsString::from(database);
        name.push("-owners");
        Self(name.into())
    }

    /// Returns the folder with the files of the owners.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Waits until no other process is opening the database.
    pub(super) fn enter(&self) -> io::Result<Gate> {
        fs::create_dir_all(&self.0)?;
        let gate = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.0.join(GATE))?;
        let begin = Instant::now();
        loop {
            match gate.try_lock() {
                Ok(()) => return Ok(Gate(gate)),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if begin.elapsed() > PATIENCE => {
                    let words = "another process has been opening the database for too long";
                    return Err(io::Error::new(ErrorKind::TimedOut, words));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Creates a new owner, and removes the files of owners that have ended.
    pub(super) fn join(&self, _gate: &Gate) -> io::Result<Alive> {
        for entry in fs::read_dir(&self.0)?.flatten() {
            if entry.file_name() == GATE {
                continue;
            }
            let file = File::options().write(true).open(entry.path());
            // With an exclusive lock, a question at this moment would find a living owner.
            if file.is_ok_and(|file| file.try_lock_shared().is_ok()) {
                // Nothing depends on its removal.
                let _ = fs::remove_file(entry.path());
            }
        }
        let name = format!("{}-{:016x}", std::process::id(), fastrand::u64(..));
        let path = self.0.join(&name);
        let file = File::options().create_new(true).write(true).open(&path)?;
        file.try_lock()?;
        Ok(Alive {
            name,
            path,
            file: Some(file),
        })
    }

    /// Returns `true` if an owner lives. Several threads may call this concurrently.
    pub(super) fn is_alive(&self, name: &str) -> bool {
        // No name that was made here contains a path.
        if name.contains(['/', '\\', ':', '\0']) {
            return false;
        }
        match File::open(self.0.join(name)) {
            Ok(file) => file.try_lock_shared().is_err(),
            // An unknown owner keeps its runs.
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        drop(self.file.take());
        // Otherwise the next opening removes the file.
        let _ = fs::remove_file(&self.path);
    }
}

/// Names an owner in messages.
pub(super) fn process(name: &str) -> String {
    let number = name.split('-').next().unwrap_or_default();
    format!("process {number}")
}
