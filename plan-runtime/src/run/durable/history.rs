//! The records that earlier processes have written, and the keys of records: `inners[1]@1.each[0]@1` is the first attempt of an element in the first attempt of a plan.

use super::record::decode;
use super::turns::RecordPlace;
use super::{ADMITTED, ARGUMENTS, BEGUN, BRANCH, Durable, ENTERED, FAILED, MADE_UP, UNDONE};
use crate::error::Elements;
use crate::journal::spi::Record;
use crate::journal::{Journal, JournalError};
use crate::plan::is_word;
use crate::run::hash::StableHasher;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::Hasher;
use std::ops::Bound;
use std::sync::Arc;

/// A record that was found.
#[derive(Clone)]
pub(in crate::run) struct Found {
    /// The number of the record.
    pub(in crate::run) number: u64,
    pub(in crate::run) body: String,
    /// `true` if a part of the run waits for the turn of the record, or had its turn.
    is_taken: bool,
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
pub(in crate::run) struct History {
    records: BTreeMap<Arc<str>, Found>,
    keys: BTreeMap<u64, Arc<str>>,
    /// No record with a smaller number is of an unreached call.
    untaken_from: u64,
    /// The names of plans inside calls with the hash of no input.
    nameless: HashSet<String>,
    /// The keys of the attempts with records that the run has reached.
    reached: HashSet<String>,
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
        let unhashed = format!("-{:016x}.", StableHasher::new().finish());
        for (at, _) in key.match_indices(&unhashed) {
            let name = &key[..at + unhashed.len() - 1];
            let start = name.rfind('#').unwrap_or_default();
            self.nameless.insert(name[start..].to_owned());
        }
        let key: Arc<str> = key.into();
        self.keys.insert(number, Arc::clone(&key));
        let found = Found {
            number,
            body,
            is_taken: false,
        };
        self.records.insert(key, found);
    }

    /// Returns the first key that is equal to or greater than `from`, in the order of bytes.
    pub(super) fn next_key(&self, from: &str) -> Option<&str> {
        let mut rest = self
            .records
            .range::<str, _>((Bound::Included(from), Bound::Unbounded));
        rest.next().map(|(key, _)| &**key)
    }

    /// Notes that a part of the run waits for the turn of a record.
    pub(super) fn take(&mut self, number: u64) {
        let key = self.keys.get(&number);
        if let Some(found) = key.and_then(|key| self.records.get_mut(key)) {
            found.is_taken = true;
        }
    }

    /// Returns `true` if an attempt with this key, or a part of the attempt, has a record.
    ///
    /// The end of the wait before an attempt does not count: the attempt may still wait for its turn.
    pub(in crate::run) fn has_begun(&self, key: &str) -> bool {
        let mut found = self.next_key(key);
        let begun = format!("{key}{BEGUN}");
        if found == Some(&*begun) {
            found = self.next_key(&format!("{begun}\0"));
        }
        let rest = found.and_then(|next| next.strip_prefix(key));
        let has_part = |rest: &str| rest.is_empty() || rest.starts_with(['.', '#', '!']);
        rest.is_some_and(has_part) || self.records.contains_key(&*format!("{key}{ARGUMENTS}"))
    }

    /// Returns `true` if an attempt with this key has begun. The journal then has a record of the attempt, of a part of the attempt, or of the
    /// end of the wait before the attempt.
    pub(in crate::run) fn has_attempt(&self, key: &str) -> bool {
        let arguments = format!("{key}{ARGUMENTS}");
        let mut found = [key, &arguments]
            .into_iter()
            .filter_map(|from| self.next_key(from)?.strip_prefix(key));
        found.any(|rest| rest.is_empty() || rest.starts_with(['.', '#', '!', '?']))
    }

    /// Returns `true` if an earlier process has run a plan with this name inside a call.
    pub(in crate::run) fn has_plan(&self, name: &str) -> bool {
        self.nameless.contains(name)
    }

    /// Returns `true` if a tool has run plans inside this attempt of its call in an earlier process.
    pub(in crate::run) fn has_plans(&self, attempt: &str) -> bool {
        let inside = format!("{attempt}#");
        let next = self.next_key(&inside);
        next.is_some_and(|next| next.starts_with(&inside))
    }

    /// Returns `true` if no earlier process has left a record.
    pub(in crate::run) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Notes that the run has reached an attempt.
    pub(in crate::run) fn reach(&mut self, attempt: &str) {
        if self.has_attempt(attempt) {
            self.reached.insert(attempt.to_owned());
        }
    }

    /// Returns the keys of the recorded calls that the run has not reached, in the plan with this prefix. `true` means that the run would lose an
    /// effect. A tool decides which plans it runs inside its call, so their calls count only if the run has not reached the call of the
    /// tool.
    ///
    /// A retry of the run removes the records of a repeated call, but not the notes about the plans in the call.
    pub(in crate::run) fn untaken(&self, prefix: &str) -> Vec<(String, bool)> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let is_retried = self.records.contains_key(UNDONE);
        let all = self.records.range::<str, _>(from);
        let all = all.take_while(|(key, _)| key.starts_with(prefix));
        let all = all.filter(|(key, _)| !(is_retried && end_of_key(key).contains(ENTERED)));
        let untaken = all.filter(|(_, found)| !found.is_taken);
        let untaken = untaken.filter_map(|(key, found)| {
            let Some(end) = end_of_attempt(&key[prefix.len()..]) else {
                return Some((
                    &**key,
                    decode(&found.body).is_ok_and(|it| it.result.is_ok()),
                ));
            };
            let (attempt, rest) = key.split_at(prefix.len() + end);
            let has_begun = rest.starts_with('#') || [BEGUN, ADMITTED, ARGUMENTS].contains(&rest);
            let is_known = self.reached.contains(attempt) || self.records.contains_key(attempt);
            (has_begun && !is_known).then_some((attempt, true))
        });
        untaken
            .map(|(key, has_effect)| (key.to_owned(), has_effect))
            .collect()
    }

    /// Returns the first record of a call that the run has not reached, if its number is below `number`.
    pub(super) fn untaken_before(&mut self, number: u64) -> Option<(u64, String)> {
        let mut rest = self.keys.range(self.untaken_from..);
        let is_untaken = |key: &str| self.records.get(key).is_some_and(|it| !it.is_taken);
        let found = rest.find(|(_, key)| end_of_attempt(key).is_none() && is_untaken(key));
        self.untaken_from = found.map_or(u64::MAX, |(first, _)| *first);
        let (first, key) = found.filter(|(first, _)| **first < number)?;
        Some((*first, key.to_string()))
    }

    /// Excludes this record and all earlier records from [`untaken_before`](Self::untaken_before).
    pub(super) fn pass(&mut self, number: u64) {
        self.untaken_from = number + 1;
    }

    /// Forgets a record that has had its turn. The record of an admitted call still proves that the call has begun.
    pub(super) fn forget(&mut self, number: u64) {
        let key = self.keys.remove(&number);
        if let Some(key) = key.filter(|key| !key.ends_with(ADMITTED)) {
            self.records.remove(&key);
        }
    }
}

/// Returns the length of the key of the attempt in the key of a decision, a note, or a record inside the attempt. Returns `None` for the record of the
/// attempt itself. The name of a step contains such marks only in quotes.
fn end_of_attempt(key: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    key.bytes().position(|byte| {
        let was_escaped = is_escaped;
        is_escaped = is_quoted && byte == b'\\' && !was_escaped;
        is_quoted ^= byte == b'"' && !was_escaped;
        !is_quoted && matches!(byte, b'#' | b'?' | b'!')
    })
}

/// Returns the part of a key after the last name in quotes. A name contains a mark of the run only in quotes.
fn end_of_key(key: &str) -> &str {
    key.rsplit('"').next().unwrap_or(key)
}

/// Returns `true` for the key of a note about the end of a part of a run.
fn is_note(key: &str) -> bool {
    let mut notes = [UNDONE, BRANCH, MADE_UP, FAILED].into_iter();
    notes.any(|note| end_of_key(key).contains(note))
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

    /// Returns the answer of `look`, which may mark records of earlier processes.
    pub(in crate::run) fn history<T>(&self, look: impl FnOnce(&mut History) -> T) -> T {
        look(&mut self.state().history)
    }

    /// Returns the first key of a record from this key on.
    pub(super) fn next_key(&self, from: &str) -> Option<String> {
        self.state().history.next_key(from).map(str::to_owned)
    }
}

/// Returns `true` if an earlier record than this one is of a call that may start now. Records have their turns in the order of the earlier process, even
/// if its settings let more calls start.
pub(super) fn is_preceded(
    durable: &Durable,
    place: RecordPlace,
    reach: &mut impl FnMut(&[(String, bool)]) -> Result<bool, String>,
) -> bool {
    let RecordPlace::Found(number) = place else {
        return false;
    };
    let Some((first, key)) = durable.history(|it| it.untaken_before(number)) else {
        return false;
    };
    let reached = reach(&[(key, true)]);
    if reached.is_err() {
        durable.history(|it| it.pass(first));
    }
    reached == Ok(true)
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
