//! Tests that every [`Journal`], and every [`Store`], has to pass.
//!
//! ```
//! use plan_runtime::journal::{Memory, conformance};
//!
//! let memory = Memory::new();
//! conformance::check(|| memory.clone());
//! conformance::check_store(|| memory.clone());
//! ```

mod listing;
mod messages;
mod owners;
mod records;
mod resting;
mod store;

use super::spi::{Claim, Claimed, End, Message, Notified, Record, RunInfo, StoredRun, Written};
use super::{Journal, JournalError, Store, blocking};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::future::Future;
use std::thread;
use std::time::{Duration, Instant};

/// The longest time of a write on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest time of a message. The limit of the rules is a second, but a busy machine may need more.
const SOON: Duration = Duration::from_secs(5);

/// The time of a test for a forbidden event.
const SHORT: Duration = Duration::from_millis(50);

/// Tests that a journal keeps to the rules of [`Journal`]. `open` opens the storage again on each call, like another process: the journals of earlier
/// calls may still exist, or may have been dropped.
///
/// The check takes some seconds. All IDs contain a random number, so the storage may contain other runs, and other processes
/// may use it.
///
/// Two rules need a process that ends, and are left to the tests of an implementation. The runs of a killed process can be claimed, and its acknowledged records are durable.
///
/// # Panics
///
/// Panics if the journal breaks a rule. The message names the rule.
pub fn check<J: Journal>(open: impl FnMut() -> J) {
    let suite = Suite::new(open);
    suite.runs();
    suite.owners();
    suite.nameless();
    suite.dropped_claims();
    suite.records();
    suite.keys();
    suite.writes();
    suite.fencing();
    suite.threads();
    suite.messages();
    suite.watches();
    suite.ends();
    suite.reopening();
}

/// Tests that a store keeps to the rules of [`Store`]. `open` opens the storage again on each call, as in [`check`], which tests the rules of
/// [`Journal`].
///
/// The tests delete all ended runs of the storage, and end the rests of refused runs. So no other process may use the storage during the
/// tests.
///
/// One rule needs the end of a process, and is left to the tests of an implementation: the runs of a killed process are due, and have no owner.
///
/// # Panics
///
/// Panics if the store breaks a rule. The message names the rule.
pub fn check_store<S: Store>(open: impl FnMut() -> S) {
    let suite = Suite::new(open);
    suite.lists();
    suite.pages();
    suite.due_runs();
    suite.rests();
    suite.ends_of_rests();
    suite.refusals();
    suite.retries();
    suite.deletions();
    suite.arrivals();
}

struct Suite<F> {
    open: RefCell<F>,
    drawn: u64,
    count: Cell<u64>,
}

#[track_caller]
fn good<T>(result: Result<T, JournalError>, rule: &str) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{rule}, but there is an error: {error}"),
    }
}

#[track_caller]
fn same<T: PartialEq + Debug>(found: T, expected: T, rule: &str) {
    assert!(
        found == expected,
        "{rule}, but it is {}, not {}",
        short(&found),
        short(&expected)
    );
}

fn short(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(300) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[track_caller]
fn wait<F: Future>(future: F, most: Duration, rule: &str) -> F::Output {
    let Some(output) = blocking::wait(future, most) else {
        panic!("{rule}, but nothing happened for {most:?}");
    };
    output
}

#[track_caller]
fn written(written: Written, rule: &str) {
    good(wait(written, PATIENCE, rule), rule);
}

fn info(plan: &str) -> RunInfo {
    let document = format!("{{\"name\":\"{plan}\"}}");
    RunInfo::new(plan, document, "{\"it's\":\"\\u0000 \0 ü\"}")
}

/// A journal whose answers are waited for on the thread.
struct Blocking<J>(J);

impl<J: Journal> Blocking<J> {
    fn answer<T>(
        answer: impl Future<Output = Result<T, JournalError>>,
        what: &str,
    ) -> Result<T, JournalError> {
        let answer = blocking::wait(answer, PATIENCE);
        answer.unwrap_or_else(|| panic!("`{what}` has no answer after {PATIENCE:?}"))
    }

    fn claim(&self, id: &str) -> Result<Claimed, JournalError> {
        Self::answer(self.0.claim(id), "claim")
    }

    fn look(&self, id: &str) -> Result<Option<StoredRun>, JournalError> {
        Self::answer(self.0.look(id), "look")
    }

    fn describe(&self, claim: &Claim, run: &RunInfo) -> Result<(), JournalError> {
        Self::answer(self.0.describe(claim, run), "describe")
    }

    /// Reads all records of a run.
    fn records(&self, claim: &Claim) -> Result<Vec<Record>, JournalError> {
        let mut records: Vec<Record> = Vec::new();
        loop {
            let after = records.last().map_or(0, |last| last.number);
            let page = Self::answer(self.0.read(&claim.id, after), "read")?;
            if page.is_empty() {
                return Ok(records);
            }
            for record in page {
                let last = records.last().map_or(0, |last| last.number);
                assert!(
                    record.number > last,
                    "records are read in the order of their numbers, but {} came after {last}",
                    record.number
                );
                records.push(record);
            }
        }
    }

    fn find(&self, claim: &Claim, key: &str) -> Result<Option<Record>, JournalError> {
        let records = self.records(claim)?;
        Ok(records.into_iter().find(|record| record.key == key))
    }

    fn append(&self, claim: &Claim, key: String, body: String) -> Written {
        self.0.append(claim, key, body)
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        self.0.end(claim, end)
    }

    fn release(&self, claim: &Claim) {
        self.0.release(claim);
    }

    fn send(&self, id: &str, message: &Message) -> Result<(), JournalError> {
        Self::answer(self.0.send(id, message), "send")
    }

    fn messages(&self, claim: &Claim, after: u64) -> Result<Vec<(u64, Message)>, JournalError> {
        Self::answer(self.0.messages(claim, after), "messages")
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        self.0.watch(claim, after)
    }
}

fn signal(path: &str) -> Message {
    Message::Signal {
        path: path.to_owned(),
        body: format!("\"{path}\""),
    }
}

fn is_lost(result: &Result<(), JournalError>) -> bool {
    matches!(result, Err(JournalError::Lost { .. }))
}

impl<J: Journal, F: FnMut() -> J> Suite<F> {
    fn new(open: F) -> Self {
        Self {
            open: RefCell::new(open),
            drawn: fastrand::u64(..),
            count: Cell::new(0),
        }
    }

    fn open(&self) -> Blocking<J> {
        Blocking((self.open.borrow_mut())())
    }

    fn id(&self) -> String {
        self.count.set(self.count.get() + 1);
        format!("conformance {:x} '{}' ü", self.drawn, self.count.get())
    }

    #[track_caller]
    fn claim(&self, journal: &Blocking<J>, id: &str) -> Claimed {
        good(journal.claim(id), "a run that nobody has can be claimed")
    }

    /// Claims a run after its release, which another process may see a moment later.
    #[track_caller]
    fn claim_released(&self, journal: &Blocking<J>, id: &str) -> Claimed {
        let begin = Instant::now();
        loop {
            match journal.claim(id) {
                Err(JournalError::Owned { .. }) if begin.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(5));
                }
                result => return good(result, "a run that was released can be claimed"),
            }
        }
    }

    /// Claims and describes a run.
    #[track_caller]
    fn begin(&self, journal: &Blocking<J>) -> Claim {
        let claim = self.claim(journal, &self.id()).claim;
        let described = journal.describe(&claim, &info("begun"));
        good(described, "a claimed run can be described");
        claim
    }
}
