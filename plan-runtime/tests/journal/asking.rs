//! Journals whose answers a test waits for on its thread.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::spi::{Claim, Claimed, Message, Record, RunInfo, StoredRun};
use plan_runtime::journal::{Journal, JournalError, RunFilter, RunSummary, Store};
use plan_runtime::serve::Server;
use serde_json::Value;
use std::time::Duration;

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

    /// Reads all pages of a list.
    fn runs_now(&self, filter: &RunFilter) -> Vec<RunSummary>
    where
        Self: Store,
    {
        let mut runs: Vec<RunSummary> = Vec::new();
        loop {
            let filter = match runs.last() {
                None => filter.clone(),
                Some(last) => filter.clone().after(last.number),
            };
            let page = smol::block_on(self.runs(&filter)).unwrap();
            if page.is_empty() {
                return runs;
            }
            runs.extend(page);
        }
    }

    fn run_now(&self, id: &str) -> Answer<RunSummary>
    where
        Self: Store + Clone + 'static,
    {
        smol::block_on(server(self).run(id))
    }

    fn output_now(&self, id: &str) -> Answer<Option<Value>>
    where
        Self: Store + Clone + 'static,
    {
        smol::block_on(server(self).output(id))
    }

    fn error_now(&self, id: &str) -> Answer<Option<String>>
    where
        Self: Store + Clone + 'static,
    {
        smol::block_on(server(self).error(id))
    }

    fn cancel_now(&self, id: &str) -> Answer<()>
    where
        Self: Store + Clone + 'static,
    {
        smol::block_on(server(self).cancel(id))
    }

    fn delete_now(&self, age: Duration) -> Answer<u64>
    where
        Self: Store + Clone + 'static,
    {
        smol::block_on(server(self).delete(age))
    }
}

/// A server without tools.
fn server<J: Store + Clone + 'static>(journal: &J) -> Server<J> {
    Server::new(journal, Toolbox::new(), ())
}

impl<J: Journal + ?Sized> Asking for J {}
