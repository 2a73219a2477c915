//! Encrypts and decrypts all strings of a run that began with a key.

use super::super::JournalError;
use super::super::spi::{Claim, Claimed, End, Message, Record, RunInfo, StoredRun};
use super::encryption::{self, Cipher, EncryptionKey, Place};
use super::jobs::Held;
use super::schema::{end_of, statement};
use super::{Sqlite, time};
use rusqlite::{Connection, OptionalExtension, params};

impl Sqlite {
    /// Encrypts the runs that begin from now on with this key, and decrypts them. Each process that opens the database needs this key.
    ///
    /// ```
    /// use plan_runtime::journal::{EncryptionKey, Journal, RunFilter, Sqlite, Store};
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
    /// assert_eq!(smol::block_on(db.runs(&RunFilter::new()))?.len(), 1);
    /// assert_eq!(
    ///     smol::block_on(db.look("session-1")).unwrap_err().to_string(),
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

    /// Returns the stored form of a string: sealed if the run is encrypted.
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

    /// Decrypts a claimed run. A new run of a database with a key is encrypted.
    pub(super) fn opened_claim(&self, claimed: Claimed) -> Result<Claimed, JournalError> {
        let Claimed { claim, run } = claimed;
        let run = if run.info.is_none() {
            run.encrypted(self.1.is_some())
        } else {
            opened_run(self.1.as_ref(), &claim.id, run)?
        };
        Ok(Claimed::new(claim, run))
    }

    /// Returns the state of a run, if the run has a description.
    pub(super) async fn stored(&self, id: &str) -> Result<Option<StoredRun>, JournalError> {
        let (id, cipher) = (id.to_owned(), self.1.clone());
        self.read(move |database| {
            let run = stored_run(database, &id)?;
            let run = run.map(|run| opened_run(cipher.as_ref(), &id, run));
            Ok(run.transpose()?)
        })
        .await
    }

    /// Returns a page of the records of a run, after the record with this number.
    pub(super) async fn page_of(&self, id: &str, after: u64) -> Result<Vec<Record>, JournalError> {
        let sql = "SELECT number, substr(inputs, 1, ?2) FROM runs LEFT JOIN descriptions ON run = number WHERE id = ?1";
        let (id, cipher) = (id.to_owned(), self.1.clone());
        self.read(move |database| {
            let mut statement = statement(database, sql)?;
            let run = statement.query_row(params![id, encryption::HEAD], |row| {
                Ok((row.get(0)?, row.get(1)?))
            });
            let Some((run, head)) = run.optional()? else {
                return Ok(Vec::new());
            };
            let head: Option<String> = head;
            let is_sealed = head.as_deref().is_some_and(encryption::is_sealed);
            let after = i64::try_from(after).unwrap_or(i64::MAX).min(0xffff_ffff);
            let mut page = page_of_records(database, run, run << 32 | after)?;
            for Record { key, body, .. } in &mut page {
                let (of, sealed) = ((&*id, is_sealed), std::mem::take(body));
                *body = opened(cipher.as_ref(), of, Place::Record(key), sealed)?;
            }
            Ok(page)
        })
        .await
    }

    /// Returns the messages for a run after the message with this number.
    pub(super) async fn messages_after(
        &self,
        claim: &Claim,
        after: u64,
    ) -> Result<Vec<(u64, Message)>, JournalError> {
        let Held {
            id, run, is_sealed, ..
        } = self.held(claim)?;
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let cipher = self.1.clone();
        self.read(move |database| {
            let sql = "SELECT number, path, body FROM messages WHERE run = ?1 AND number > ?2 ORDER BY number";
            let mut statement = statement(database, sql)?;
            let mut rows = statement.query([run, after])?;
            let mut messages = Vec::new();
            while let Some(row) = rows.next()? {
                let number: i64 = row.get(0)?;
                let message = match row.get::<_, Option<String>>(1)? {
                    None => Message::Cancel,
                    Some(path) => {
                        let of = (&*id, is_sealed);
                        let body = opened(cipher.as_ref(), of, Place::Signal(&path), row.get(2)?)?;
                        Message::Signal { path, body }
                    }
                };
                messages.push((number.unsigned_abs(), message));
            }
            Ok(messages)
        })
        .await
    }
}

/// Returns the string with this stored form.
pub(super) fn opened(
    cipher: Option<&Cipher>,
    (id, is_sealed): (&str, bool),
    place: Place<'_>,
    text: String,
) -> Result<String, JournalError> {
    if is_sealed && !place.is_plain() {
        encryption::open(cipher, id, place, &text)
    } else {
        Ok(text)
    }
}

/// Decrypts the strings of a run.
fn opened_run(
    cipher: Option<&Cipher>,
    id: &str,
    run: StoredRun,
) -> Result<StoredRun, JournalError> {
    let Some(info) = run.info else {
        return Ok(run);
    };
    let is_encrypted = encryption::is_sealed(&info.inputs);
    let open = |place: Place<'_>, text| opened(cipher, (id, is_encrypted), place, text);
    let document = open(Place::Document, info.document)?;
    let inputs = open(Place::Inputs, info.inputs)?;
    let info = RunInfo::new(info.plan, document, inputs);
    let open_end = |end: End| {
        let body = open(Place::End(!end.is_done()), end.body().to_owned())?;
        Ok::<_, JournalError>(end.with_body(body))
    };
    Ok(StoredRun {
        info: Some(info),
        end: run.end.map(open_end).transpose()?,
        is_encrypted,
        began: run.began,
    })
}

fn stored_run(database: &Connection, id: &str) -> rusqlite::Result<Option<StoredRun>> {
    // A described run without its row is damaged, and an error.
    let sql = "SELECT began, failed, plan, document, inputs, body FROM runs
        LEFT JOIN descriptions ON descriptions.run = number LEFT JOIN ends ON ends.run = number WHERE id = ?1 AND plan IS NOT NULL";
    let mut statement = statement(database, sql)?;
    let run = statement.query_row([id], |row| {
        let plan: String = row.get(2)?;
        let (document, inputs): (String, String) = (row.get(3)?, row.get(4)?);
        let info = RunInfo::new(plan, document, inputs);
        let run = StoredRun::new(time::system(row.get(0)?)).described(info);
        let failed: Option<i64> = row.get(1)?;
        let end = failed.zip(row.get(5)?);
        Ok(match end {
            None => run,
            Some((failed, body)) => run.ended(end_of(failed, body)),
        })
    });
    run.optional()
}

/// The number of records in a page.
const PAGE: i64 = 128;

/// The approximate number of bytes in a page.
const PAGE_BYTES: usize = 1 << 20;

fn page_of_records(database: &Connection, run: i64, after: i64) -> rusqlite::Result<Vec<Record>> {
    let sql = "SELECT position, key, body FROM records
        WHERE position > ?1 AND position <= ?2 ORDER BY position LIMIT ?3";
    let mut statement = statement(database, sql)?;
    let mut rows = statement.query([after, run << 32 | 0xffff_ffff, PAGE])?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    while bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let position: i64 = row.get(0)?;
        let number = position.unsigned_abs() & 0xffff_ffff;
        let (key, body): (String, String) = (row.get(1)?, row.get(2)?);
        bytes += key.len() + body.len();
        page.push(Record { number, key, body });
    }
    Ok(page)
}
