//! Journals whose answers a test waits for on its thread.

use plan_runtime::journal::spi::{Claim, Claimed, Message, Record, RunInfo, StoredRun};
use plan_runtime::journal::{Journal, JournalError};

type Answer<T> = Result<T, JournalError>;

pub(crate) trait Asking: Journal {
    fn claim_now(&self, id: &str) -> Answer<Claimed> {
        smol::block_on(self.claim(id))
    }

    fn look_now(&self, id: &str) -> Answer<Option<StoredRun>> {
        smol::block_on(self.look(id))
    }

    fn describe_now(&self, claim: &Claim, run: &RunInfo) -> Answer<()> {
        smol::block_on(self.describe(claim, run))
    }

    /// Reads all records of a run.
    fn records_now(&self, id: &str) -> Answer<Vec<Record>> {
        let mut records: Vec<Record> = Vec::new();
        loop {
            let after = records.last().map_or(0, |last| last.number);
            let page = smol::block_on(self.read(id, after))?;
            if page.is_empty() {
                return Ok(records);
            }
            records.extend(page);
        }
    }

    /// Looks up a record by its key.
    fn find_now(&self, claim: &Claim, key: &str) -> Answer<Option<Record>> {
        let records = self.records_now(&claim.id)?;
        Ok(records.into_iter().find(|record| record.key == key))
    }

    fn send_now(&self, id: &str, message: &Message) -> Answer<()> {
        smol::block_on(self.send(id, message))
    }

    fn messages_now(&self, claim: &Claim, after: u64) -> Answer<Vec<(u64, Message)>> {
        smol::block_on(self.messages(claim, after))
    }
}

impl<J: Journal + ?Sized> Asking for J {}
