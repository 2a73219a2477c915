//! A journal that a test controls. The test flushes writes, loses queued records in a crash, has operations fail, and sets the clock.

use plan_runtime::journal::{
    Claim, Claimed, End, Found, Journal, JournalError, Memory, Message, RunInfo, Written,
};
use std::collections::{BTreeSet, VecDeque};
use std::future::{Future, poll_fn, ready};
use std::pin::Pin;
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
    queue: VecDeque<Queued>,
    /// The keys that are durable.
    keys: BTreeSet<String>,
    /// The bodies of the durable records, with their keys, in the order of writing.
    records: Vec<(String, String)>,
    /// The keys that were durable when a run was claimed, and which the run has not looked up since.
    unasked: BTreeSet<String>,
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
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

    /// Returns the keys of the records that the run has not looked up since it was claimed.
    pub(crate) fn unasked(&self) -> BTreeSet<String> {
        self.state().unasked.clone()
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

    /// Only this operation fails.
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
                let written = self.0.memory.record(&claim, key.clone(), body.clone());
                let written = smol::block_on(written);
                if written.is_ok() {
                    let mut state = self.state();
                    state.keys.insert(key.clone());
                    state.records.push((key, body));
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
    fn claim(&self, id: &str) -> Result<Claimed, JournalError> {
        self.operate()?;
        {
            let mut state = self.state();
            state.is_broken = false;
            state.unasked = state.keys.clone();
        }
        let claimed = self.0.memory.claim(id)?;
        let Claimed {
            claim, run, end, ..
        } = &claimed;
        let now = SystemTime::now();
        let began = match self.state().age {
            None => claimed.began,
            Some(Age::Past(age)) => now - age,
            Some(Age::Future(by)) => now + by,
        };
        Ok(match run {
            None => claimed,
            Some(run) => Claimed::new(claim.clone()).existing(run.clone(), began, end.clone()),
        })
    }

    fn look(&self, id: &str) -> Result<Option<RunInfo>, JournalError> {
        self.operate()?;
        self.0.memory.look(id)
    }

    fn describe(&self, claim: &Claim, run: &RunInfo) -> Result<(), JournalError> {
        self.operate()?;
        self.0.memory.describe(claim, run)
    }

    fn find(&self, claim: &Claim, key: &str) -> Result<Option<Found>, JournalError> {
        self.operate()?;
        self.state().unasked.remove(key);
        self.0.memory.find(claim, key)
    }

    fn next_key(&self, claim: &Claim, from: &str) -> Result<Option<String>, JournalError> {
        self.operate()?;
        self.0.memory.next_key(claim, from)
    }

    fn record(&self, claim: &Claim, key: String, body: String) -> Written {
        self.written(claim, What::Record(key, body))
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        self.written(claim, What::End(end))
    }

    fn release(&self, claim: &Claim) {
        self.0.memory.release(claim);
    }

    fn send(&self, id: &str, message: &Message) -> Result<(), JournalError> {
        self.0.memory.send(id, message)
    }

    fn messages(&self, claim: &Claim, after: u64) -> Result<Vec<(u64, Message)>, JournalError> {
        self.operate()?;
        self.0.memory.messages(claim, after)
    }

    fn watch(&self, claim: &Claim, after: u64) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.memory.watch(claim, after)
    }
}
