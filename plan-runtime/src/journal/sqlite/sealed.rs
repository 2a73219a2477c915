//! Encrypts and decrypts all texts of a run that began with a key.

use super::super::{Claimed, End, Found, JournalError, RunInfo};
use super::encryption::{self, Cipher, EncryptionKey, Place};
use super::writer::Held;
use super::{Sqlite, number};
use rusqlite::{OptionalExtension, params};
use std::sync::Arc;

impl Sqlite {
    /// Encrypts the runs that begin from now on with this key, and decrypts them. All processes that open the database need the same key.
    ///
    /// ```
    /// use plan_runtime::journal::{EncryptionKey, RunFilter, Sqlite};
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// /// Logs in.
    /// #[tool]
    /// async fn log_in(#[shape(secret)] password: String) -> Result<usize> {
    ///     Ok(password.len())
    /// }
    ///
    /// plan! {
    ///     Session(#[shape(secret)] password: String) -> usize {
    ///         step session = LogIn { password };
    ///         session
    ///     }
    /// }
    ///
    /// # let folder = std::env::temp_dir().join(format!("plan-encrypted-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("runs.db");
    /// # let key = EncryptionKey::new([7; 32]);
    /// let db = Sqlite::open(&path)?.encrypted(&key);
    /// let session = || Session { password: "hunter2".into() };
    /// assert_eq!(smol::block_on(session().run(&()).durable(&db, "session-1"))?, 7);
    ///
    /// // Without the key, the run is listed and cannot be read.
    /// let db = Sqlite::open(path)?;
    /// assert_eq!(db.runs(&RunFilter::new()).count(), 1);
    /// assert_eq!(
    ///     db.output("session-1").unwrap_err().to_string(),
    ///     "run `session-1` cannot be decrypted: the database was opened without a key; open it with `Sqlite::open(…)?.encrypted(&key)`"
    /// );
    /// # drop(db);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn encrypted(self, key: &EncryptionKey) -> Self {
        Self(self.0, Some(Cipher::new(key)))
    }

    /// Returns the stored form of a text: sealed if the run is encrypted.
    pub(super) fn sealed(
        &self,
        held: &Held,
        place: Place<'_>,
        text: String,
    ) -> Result<String, JournalError> {
        match &self.1 {
            _ if !held.is_sealed || place.is_plain() => Ok(text),
            Some(cipher) => cipher.seal(&held.id, place, &text),
            None => Err(encryption::without_key(&held.id)),
        }
    }

    /// Returns the text with this stored form.
    pub(super) fn opened(
        &self,
        (id, is_sealed): (&str, bool),
        place: Place<'_>,
        text: String,
    ) -> Result<String, JournalError> {
        if is_sealed && !place.is_plain() {
            encryption::open(self.1.as_ref(), id, place, &text)
        } else {
            Ok(text)
        }
    }

    /// Returns the description of a run, with `true` if the run is encrypted.
    pub(super) fn opened_info(
        &self,
        id: &str,
        info: RunInfo,
    ) -> Result<(RunInfo, bool), JournalError> {
        let is_sealed = encryption::is_sealed(&info.inputs);
        let run = (id, is_sealed);
        let info = RunInfo {
            plan: info.plan,
            document: self.opened(run, Place::Document, info.document)?,
            inputs: self.opened(run, Place::Inputs, info.inputs)?,
        };
        Ok((info, is_sealed))
    }

    pub(super) fn opened_end(
        &self,
        run: (&str, bool),
        end: Option<End>,
    ) -> Result<Option<End>, JournalError> {
        let open = |End { failed, body }| {
            let body = self.opened(run, Place::End(failed), body)?;
            Ok(End { failed, body })
        };
        end.map(open).transpose()
    }

    /// Returns `true` if a run is encrypted, and `None` if there is no such run. A run that needs another key is an error.
    pub(super) fn is_sealed(&self, id: &str) -> Result<Option<bool>, JournalError> {
        let sql = "SELECT substr(inputs, 1, ?2) FROM runs JOIN descriptions ON run = number WHERE id = ?1 AND plan IS NOT NULL";
        let head: Option<String> = self.read(|database| {
            let mut statement = database.prepare_cached(sql)?;
            let head = statement.query_row(params![id, encryption::HEAD], |row| row.get(0));
            head.optional()
        })?;
        let Some(head) = head else { return Ok(None) };
        let is_sealed = encryption::is_sealed(&head);
        if is_sealed {
            encryption::check(self.1.as_ref(), id, &head)?;
        }
        Ok(Some(is_sealed))
    }

    /// Decrypts a run that was claimed. Returns `true` for an encrypted run, and for a new run of a database with a key.
    pub(super) fn opened_claim(&self, claimed: &mut Claimed) -> Result<bool, JournalError> {
        let id = Arc::clone(&claimed.claim.id);
        let Some(info) = claimed.run.take() else {
            return Ok(self.1.is_some());
        };
        let (info, is_sealed) = self.opened_info(&id, info)?;
        claimed.run = Some(info);
        claimed.end = self.opened_end((&id, is_sealed), claimed.end.take())?;
        Ok(is_sealed)
    }

    /// A record of the run with this number.
    pub(super) fn found(
        &self,
        is_sealed: (&str, bool),
        run: i64,
        key: &str,
    ) -> Result<Option<Found>, JournalError> {
        let found = self.read(|database| {
            let sql = "SELECT position, body FROM records WHERE run = ?1 AND key = ?2";
            database
                .prepare_cached(sql)?
                .query_row(params![run, key], |row| {
                    let (number, body) = (number(row.get(0)?), row.get(1)?);
                    Ok(Found { number, body })
                })
                .optional()
        })?;
        let open = |Found { number, body }| {
            let body = self.opened(is_sealed, Place::Record(key), body)?;
            Ok(Found { number, body })
        };
        found.map(open).transpose()
    }
}
