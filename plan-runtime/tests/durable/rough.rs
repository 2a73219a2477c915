//! A journal that a test controls. The test flushes writes, loses queued records in a crash, has operations fail, and sets the clock.

use plan_runtime::journal::spi::{
    Answer, Claim, Claimed, End, Message, Notified, Record, RunInfo, StoredRun, Written,
};
use plan_runtime::journal::{Journal, JournalError, Memory};
use std::collections::{BTreeSet, VecDeque};
use std::future::{poll_fn, ready};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

#[derive(Clone, Default)]
pub(crate) struct Rough(Arc<Inner>);

#[derive(Default)]
struct Inner {
    memory: Memory,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// `true` if writes wait for a flush.
    is_slow: bool,
    /// `true` if the journal claims to encrypt its runs.
    is_keyed: bool,
    queue: VecDeque<Queued>,
    /// The keys that are durable.
    keys: BTreeSet<String>,
    /// The bodies of the durable records, with their keys, in the order of writing.
    records: Vec<(String, String)>,
    /// The time since the runs began, for each new claim.
    age: Option<Age>,
    /// The number of operations.
    operations: usize,
    /// The operation that fails, and all after it.
    fails_at: Option<usize>,
    /// `true` if the operations after it succeed.
    fails_once: bool,
    /// `true` if a write has failed since the run was claimed.
    is_broken: bool,
    /// The number of records that the memory has refused.
    refused: usize,
    /// The numbers after which messages were read.
    reads: Vec<u64>,
    /// The record that no process reads.
    hidden: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Age {
    Past(Duration),
    /// The clock was set back.
    Future(Duration),
}

enum What {
    Record(String, String),
    End(End),
}

type Slot = Arc<Mutex<(Option<Result<(), JournalError>>, Option<Waker>)>>;

struct Queued {
    claim: Claim,
    what: What,
    slot: Slot,
}

impl Rough {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Creates a journal whose writes wait.
    pub(crate) fn slow() -> Self {
        let rough = Self::new();
        rough.state().is_slow = true;
        rough
    }

    /// Creates a journal that accepts secrets.
    pub(crate) fn keyed() -> Self {
        let rough = Self::new();
        rough.state().is_keyed = true;
        rough
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    /// Writes a record, as an earlier version has written it.
    pub(crate) fn write(&self, id: &str, key: &str, body: &str) {
        let claimed = smol::block_on(self.0.memory.claim(id)).unwrap();
        let written = self
            .0
            .memory
            .append(&claimed.claim, key.to_owned(), body.to_owned());
        smol::block_on(written).unwrap();
        self.0.memory.release(&claimed.claim);
    }

    /// Hides a record, which an earlier version has not written.
    pub(crate) fn hide(&self, key: &'static str) {
        self.state().hidden = Some(key);
    }

    /// Sets the start of runs to this long ago.
    pub(crate) fn set_age(&self, age: Duration) {
        self.state().age = Some(Age::Past(age));
    }

    /// Sets the start of runs to a time in the future.
    pub(crate) fn set_back(&self, by: Duration) {
        self.state().age = Some(Age::Future(by));
    }

    /// The keys of the durable records.
    pub(crate) fn keys(&self) -> BTreeSet<String> {
        self.state().keys.clone()
    }

    /// Returns the durable records in the order of writing.
    pub(crate) fn records(&self) -> Vec<(String, String)> {
        self.state().records.clone()
    }

    /// The number of refused records, such as a second record with a key.
    pub(crate) fn refused(&self) -> usize {
        self.state().refused
    }

    /// The numbers after which messages were read.
    pub(crate) fn reads(&self) -> Vec<u64> {
        self.state().reads.clone()
    }

    pub(crate) fn operations(&self) -> usize {
        self.state().operations
    }

    /// Has this operation and all after it fail, counted from 1 from now on. With `None`, no operation fails.
    pub(crate) fn fail_at(&self, operation: Option<usize>) {
        let mut state = self.state();
        state.operations = 0;
        state.fails_at = operation;
    }

    /// Fails exactly this operation.
    pub(crate) fn fail_once_at(&self, operation: usize) {
        self.fail_at(Some(operation));
        self.state().fails_once = true;
    }

    fn operate(&self) -> Result<(), JournalError> {
        let mut state = self.state();
        state.operations += 1;
        match state.fails_at {
            Some(at) if state.operations == at || !state.fails_once && state.operations > at => {
                Err(JournalError::storage("the disk is full"))
            }
            _ => Ok(()),
        }
    }

    /// Writes the first queued record. Returns `true` if a record was queued.
    pub(crate) fn flush(&self) -> bool {
        let Some(Queued { claim, what, slot }) = self.state().queue.pop_front() else {
            return false;
        };
        let result = match what {
            What::Record(key, body) => {
                let written = self.0.memory.append(&claim, key.clone(), body.clone());
                let written = smol::block_on(written);
                if written.is_ok() {
                    let mut state = self.state();
                    state.keys.insert(key.clone());
                    state.records.push((key, body));
                } else {
                    self.state().refused += 1;
                }
                written
            }
            What::End(end) => smol::block_on(self.0.memory.end(&claim, end)),
        };
        let mut slot = slot.lock().unwrap();
        slot.0 = Some(result);
        let waker = slot.1.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Loses the queued records.
    pub(crate) fn lose(&self) {
        self.state().queue.clear();
    }

    fn written(&self, claim: &Claim, what: What) -> Written {
        let operated = self.operate();
        self.state().is_broken |= operated.is_err();
        if self.state().is_broken {
            let error = JournalError::storage("an earlier write has failed");
            return Box::pin(ready(operated.and(Err(error))));
        }
        let slot = Slot::default();
        let queued = Queued {
            claim: claim.clone(),
            what,
            slot: Arc::clone(&slot),
        };
        let mut state = self.state();
        state.queue.push_back(queued);
        let is_slow = state.is_slow;
        drop(state);
        if !is_slow {
            self.flush();
        }
        Box::pin(poll_fn(move |cx| {
            let mut slot = slot.lock().unwrap();
            match slot.0.take() {
                Some(result) => Poll::Ready(result),
                None => {
                    slot.1 = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }
}

impl Journal for Rough {
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed> {
        Box::pin(async move {
            self.operate()?;
            self.state().is_broken = false;
            let mut claimed = self.0.memory.claim(id).await?;
            let is_keyed = self.state().is_keyed;
            claimed.run = claimed.run.encrypted(is_keyed);
            let now = SystemTime::now();
            if claimed.run.info.is_some() {
                claimed.run.began = match self.state().age {
                    None => claimed.run.began,
                    Some(Age::Past(age)) => now - age,
                    Some(Age::Future(by)) => now + by,
                };
            }
            Ok(claimed)
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>> {
        Box::pin(async move {
            self.operate()?;
            let run = self.0.memory.look(id).await?;
            let is_keyed = self.state().is_keyed;
            Ok(run.map(|run| run.encrypted(is_keyed)))
        })
    }

    fn encrypts(&self) -> bool {
        self.state().is_keyed
    }

    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()> {
        Box::pin(async move {
            self.operate()?;
            self.0.memory.describe(claim, run).await
        })
    }

    /// Reads pages of different lengths.
    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>> {
        Box::pin(async move {
            self.operate()?;
            let mut page = self.0.memory.read(id, after).await?;
            let hidden = self.state().hidden;
            page.retain(|record| Some(&*record.key) != hidden);
            page.truncate(usize::try_from(after % 3).unwrap() + 1);
            Ok(page)
        })
    }

    fn append(&self, claim: &Claim, key: String, body: String) -> Written {
        self.written(claim, What::Record(key, body))
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        self.written(claim, What::End(end))
    }

    fn release(&self, claim: &Claim) {
        self.0.memory.release(claim);
    }

    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()> {
        self.0.memory.send(id, message)
    }

    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>> {
        Box::pin(async move {
            self.operate()?;
            self.state().reads.push(after);
            self.0.memory.messages(claim, after).await
        })
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        self.0.memory.watch(claim, after)
    }
}
