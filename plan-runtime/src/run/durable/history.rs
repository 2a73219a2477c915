//! The records that earlier processes have written, and the keys of records: `inners[1]@1.each[0]@1` is the first attempt of an element in the first attempt of a plan.

use super::{ADMITTED, BRANCH, Durable, FAILED, MADE_UP, UNDONE};
use crate::error::Elements;
use crate::journal::spi::Record;
use crate::journal::{Journal, JournalError};
use crate::plan::is_word;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// A record that was found.
#[derive(Clone)]
pub(in crate::run) struct Found {
    /// The number of the record.
    pub(in crate::run) number: u64,
    pub(in crate::run) body: String,
}

/// Reads all records of a run, in the order of their numbers.
pub(crate) async fn read_records(
    journal: &dyn Journal,
    id: &str,
    mut add: impl FnMut(Record),
) -> Result<(), JournalError> {
    let mut last = 0;
    loop {
        let page = journal.read(id, last).await?;
        let Some(end) = page.last() else {
            return Ok(());
        };
        if end.number <= last {
            let words = format!(
                "the journal returned record {} after record {last}",
                end.number
            );
            return Err(JournalError::storage(words));
        }
        last = end.number;
        page.into_iter().for_each(&mut add);
    }
}

/// The records of a run that have not had their turns.
#[derive(Default)]
pub(super) struct History {
    records: BTreeMap<Arc<str>, Found>,
    keys: HashMap<u64, Arc<str>>,
    /// The bytes of the records that count toward the limit of the run.
    pub(super) bytes: usize,
}

impl History {
    /// Reads all records of a run.
    pub(super) async fn read(journal: &dyn Journal, id: &str) -> Result<Self, JournalError> {
        let mut history = Self::default();
        read_records(journal, id, |record| history.add(record)).await?;
        Ok(history)
    }

    fn add(&mut self, record: Record) {
        let Record { number, key, body } = record;
        // Notes about ends do not count toward the limit, so that undo steps can always run.
        if !is_note(&key) {
            self.bytes += key.len() + body.len();
        }
        let key: Arc<str> = key.into();
        self.keys.insert(number, Arc::clone(&key));
        self.records.insert(key, Found { number, body });
    }

    /// Returns the first key that is equal to or greater than `from`, in the order of bytes.
    pub(super) fn next_key(&self, from: &str) -> Option<&str> {
        let mut rest = self
            .records
            .range::<str, _>((std::ops::Bound::Included(from), std::ops::Bound::Unbounded));
        rest.next().map(|(key, _)| &**key)
    }

    /// Forgets a record that has had its turn. The record of an admitted call still proves that the call has begun.
    pub(super) fn forget(&mut self, number: u64) {
        let key = self.keys.remove(&number);
        if let Some(key) = key.filter(|key| !key.ends_with(ADMITTED)) {
            self.records.remove(&key);
        }
    }
}

/// Returns `true` for the key of a note about the end of a part of a run. The name of a step contains a note only in quotes.
fn is_note(key: &str) -> bool {
    let rest = key.rsplit('"').next().unwrap_or(key);
    let mut notes = [UNDONE, BRANCH, MADE_UP, FAILED].into_iter();
    notes.any(|note| rest.contains(note))
}

impl Durable {
    /// Returns the record with this key. `Err` means that the run has ended.
    pub(in crate::run) fn find(&self, key: &str) -> Result<Option<Found>, ()> {
        let state = self.state();
        if state.failure.is_some() {
            return Err(());
        }
        Ok(state.history.records.get(key).cloned())
    }

    /// Returns the first key of a record from this key on.
    pub(super) fn next_key(&self, from: &str) -> Option<String> {
        self.state().history.next_key(from).map(str::to_owned)
    }
}

/// The name of a step, in quotes unless it is a word.
pub(crate) struct Segment<'s>(pub(crate) &'s str);

impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_word(self.0) {
            f.write_str(self.0)
        } else {
            // JSON, so that each name has exactly one written form.
            write!(f, "{}", serde_json::Value::from(self.0))
        }
    }
}

/// Returns the key of a step, or of an element of the step, below this prefix.
pub(in crate::run) fn of_element(prefix: &str, step: &str, element: &[usize]) -> String {
    format!("{prefix}{}{}", Segment(step), Elements(element))
}
