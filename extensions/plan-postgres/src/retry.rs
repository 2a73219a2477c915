//! The retry of a failed run: the change of its records.

use super::failure::Failure;
use super::line::{Parameter, Session};
use super::owned::Held;
use super::writer::Writer;
use plan_runtime::journal::JournalError;
use plan_runtime::journal::spi::Retry;
use tokio_postgres::Error;

impl Writer {
    /// Removes records, the end and the cancellations of a run, and adds a record, all in one transaction.
    pub(crate) async fn retry(&self, held: &Held, retry: &Retry) -> Result<(), JournalError> {
        let lost = || JournalError::Lost {
            id: held.id.to_string(),
        };
        let number = {
            let mut owned = self.owned.borrow_mut();
            let own = owned.get(held).ok_or_else(lost)?;
            if let Some(why) = &own.broken {
                let place = &self.line.settings.place;
                return Err(Failure::new(place, "cannot write", why.as_str()).into());
            }
            own.last += i64::from(retry.record.is_some());
            own.last
        };
        let act = async |session: &Session| self.attempt(session, (held, number), retry).await;
        match self.line.run("cannot retry a run", act).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(lost()),
            Err(failure) => {
                self.owned.borrow_mut().fail(held, &failure);
                Err(failure.into())
            }
        }
    }

    /// Attempts the transaction. Returns `false` if another owner has the run. A second attempt after a lost connection is
    /// safe, since the transaction is idempotent.
    async fn attempt(
        &self,
        session: &Session,
        (held, number): (&Held, i64),
        retry: &Retry,
    ) -> Result<bool, Error> {
        let sql = &self.line.sql.store.retry;
        let (run, epoch, owner) = (held.run, held.epoch, &*self.asks.owner);
        let written = retry.record.as_ref();
        let keys = retry.removed.iter().chain(written.map(|(key, _)| key));
        let keys: Vec<&[u8]> = keys.map(String::as_bytes).collect();
        let written = written.map(|(key, body)| (key.as_bytes(), body.as_bytes()));
        let needed = [
            &*sql.reopen,
            &sql.remove,
            &sql.uncancel,
            &sql.recount,
            &sql.add,
        ];
        session.prepare(&needed).await?;
        let of_held: [Parameter<'_>; 3] = [&run, &epoch, &owner];
        let with_keys: [Parameter<'_>; 4] = [&run, &epoch, &owner, &keys];
        // The client sends all statements before it reads the first answer. Each statement requires that this owner has the
        // run.
        let (begun, reopened, removed, uncancelled, recounted, added, committed) = tokio::join!(
            biased;
            session.client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
            session.query(&sql.reopen, &of_held),
            session.query(&sql.remove, &with_keys),
            session.query(&sql.uncancel, &of_held),
            session.query(&sql.recount, &of_held),
            async {
                let Some((key, body)) = written else {
                    return Ok(Vec::new());
                };
                let parameters: [Parameter<'_>; 6] = [&run, &epoch, &owner, &number, &key, &body];
                session.query(&sql.add, &parameters).await
            },
            session.client.batch_execute("COMMIT"),
        );
        begun?;
        let reopened = reopened?;
        for done in [removed, uncancelled, recounted, added] {
            done?;
        }
        committed?;
        Ok(!reopened.is_empty())
    }
}
