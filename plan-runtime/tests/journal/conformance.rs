//! The suite passes what is right, and finds each of many mistakes.

use plan_runtime::journal::{
    Claim, Claimed, End, Found, Journal, JournalError, Memory, Message, RunInfo, Written,
    conformance,
};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn of_memory() {
    let memory = Memory::new();
    conformance::check(|| memory.clone());
}

#[cfg(feature = "sqlite")]
#[test]
fn of_sqlite() {
    let folder = crate::journal::support::Folder::new();
    conformance::check(|| folder.open());
    // All is given up again.
    let owned = plan_runtime::journal::RunFilter::new().is_owned(true);
    assert_eq!(folder.open().runs(&owned).count(), 0);
}

#[cfg(feature = "sqlite")]
#[test]
fn of_clones_of_sqlite() {
    let folder = crate::journal::support::Folder::new();
    let db = folder.open();
    conformance::check(|| db.clone());
}

/// What a journal may do wrong, and words of the message.
const DEFECTS: &[(Defect, &str)] = &[
    (Defect::ForgetsDescription, "a claim finds the description"),
    (
        Defect::LooksAtOwned,
        "a run can be looked at while somebody has it",
    ),
    (Defect::KeepsFirstDescription, "the last description counts"),
    (Defect::BeginsAgain, "a run begins once"),
    (Defect::ManyOwners, "a run has one owner"),
    (Defect::EpochStays, "epochs grow"),
    (Defect::AnybodyReleases, "an old claim cannot release a run"),
    (
        Defect::LosesWrites,
        "what was recorded before is durable before",
    ),
    (
        Defect::WritesWhenPolled,
        "what was recorded before is durable before",
    ),
    (
        Defect::NumbersFall,
        "numbers grow in the order of the calls",
    ),
    (Defect::Overwrites, "a key is written once"),
    (
        Defect::SecondWriteCounts,
        "a second write of a key changes nothing",
    ),
    (Defect::CutsKeysAtNul, "keys have any text"),
    (
        Defect::OrdersKeysWithoutCase,
        "the first one in the order of bytes",
    ),
    (
        Defect::NextKeyIsAfter,
        "the first one in the order of bytes",
    ),
    (Defect::ChangesBodies, "bodies have any text"),
    (Defect::NoFence, "an owner that has lost a run cannot write"),
    (
        Defect::LostWritesStay,
        "a write with an old claim leaves no trace",
    ),
    (
        Defect::AnybodyGetsMessages,
        "a message to a run that does not exist is refused",
    ),
    (Defect::SecondSignal, "a path gets one signal"),
    (Defect::AllMessages, "only messages after a number are read"),
    (Defect::MessagesFallBack, "messages come as they were sent"),
    (
        Defect::NeverWakes,
        "a message makes `watch` ready within a second",
    ),
    (Defect::AlwaysWakes, "without a message, `watch` waits"),
    (Defect::EndReleases, "a run that has ended stays claimed"),
    (Defect::ForgetsEnd, "a claim finds the end"),
    (
        Defect::RunsShareRecords,
        "what was not recorded is not found",
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    None,
    ForgetsDescription,
    LooksAtOwned,
    KeepsFirstDescription,
    BeginsAgain,
    ManyOwners,
    EpochStays,
    AnybodyReleases,
    LosesWrites,
    WritesWhenPolled,
    NumbersFall,
    Overwrites,
    SecondWriteCounts,
    CutsKeysAtNul,
    OrdersKeysWithoutCase,
    NextKeyIsAfter,
    ChangesBodies,
    NoFence,
    LostWritesStay,
    AnybodyGetsMessages,
    SecondSignal,
    AllMessages,
    MessagesFallBack,
    NeverWakes,
    AlwaysWakes,
    EndReleases,
    ForgetsEnd,
    RunsShareRecords,
}

/// A journal with a defect. It keeps what is right in a [`Memory`].
#[derive(Clone)]
struct Broken {
    memory: Memory,
    defect: Defect,
    /// The last claim of each run.
    claims: Arc<Mutex<Vec<Claim>>>,
    /// Keys that were written, with their runs.
    keys: Arc<Mutex<Vec<(String, String)>>>,
    count: Arc<AtomicU64>,
}

impl Broken {
    fn new(defect: Defect) -> Self {
        Self {
            memory: Memory::new(),
            defect,
            claims: Arc::default(),
            keys: Arc::default(),
            count: Arc::default(),
        }
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn last_claim(&self, id: &str) -> Option<Claim> {
        let claims = self.claims.lock().unwrap();
        claims.iter().rfind(|claim| *claim.id == *id).cloned()
    }

    /// The claim that is right, where the defect is that nobody looks.
    fn current(&self, claim: &Claim) -> Claim {
        if self.is(Defect::NoFence) || self.is(Defect::EpochStays) || self.is(Defect::ManyOwners) {
            self.last_claim(&claim.id).unwrap_or_else(|| claim.clone())
        } else {
            claim.clone()
        }
    }

    fn key(&self, key: &str) -> String {
        let key = match self.defect {
            Defect::CutsKeysAtNul => key.split('\0').next().unwrap_or_default(),
            _ => key,
        };
        key.to_owned()
    }
}

impl Journal for Broken {
    fn claim(&self, id: &str) -> Result<Claimed, JournalError> {
        let mut claimed = match self.memory.claim(id) {
            Err(JournalError::Owned { .. }) if self.is(Defect::ManyOwners) => {
                self.memory.release(&self.last_claim(id).unwrap());
                self.memory.claim(id)?
            }
            claimed => claimed?,
        };
        self.claims.lock().unwrap().push(claimed.claim.clone());
        match self.defect {
            Defect::ForgetsDescription => claimed.run = None,
            Defect::BeginsAgain => claimed.began = std::time::SystemTime::now(),
            Defect::ForgetsEnd => claimed.end = None,
            Defect::EpochStays => claimed.claim.epoch = 1,
            _ => {}
        }
        Ok(claimed)
    }

    fn look(&self, id: &str) -> Result<Option<RunInfo>, JournalError> {
        if self.is(Defect::LooksAtOwned) {
            self.memory
                .claim(id)
                .map(|claimed| self.memory.release(&claimed.claim))?;
        }
        self.memory.look(id)
    }

    fn describe(&self, claim: &Claim, run: &RunInfo) -> Result<(), JournalError> {
        if self.is(Defect::KeepsFirstDescription) && run.plan == "second" {
            return Ok(());
        }
        self.memory.describe(&self.current(claim), run)
    }

    fn find(&self, claim: &Claim, key: &str) -> Result<Option<Found>, JournalError> {
        let (claim, key) = (self.current(claim), self.key(key));
        let mut found = self.memory.find(&claim, &key)?;
        if self.is(Defect::RunsShareRecords) && found.is_none() {
            let claims = self.claims.lock().unwrap().clone();
            let mut all = claims.iter();
            found = all.find_map(|claim| self.memory.find(claim, &key).ok().flatten());
        }
        if self.is(Defect::SecondWriteCounts)
            && let Some(second) = self.memory.find(&claim, &format!("{key}\u{1}"))?
        {
            found = Some(second);
        }
        if let Some(found) = &mut found
            && self.is(Defect::NumbersFall)
        {
            found.number = u64::MAX - found.number;
        }
        Ok(found)
    }

    fn next_key(&self, claim: &Claim, from: &str) -> Result<Option<String>, JournalError> {
        let mut from = from.to_owned();
        if self.is(Defect::NextKeyIsAfter) {
            from.push('\0');
        }
        if self.is(Defect::OrdersKeysWithoutCase) {
            let keys = self.keys.lock().unwrap();
            let of_run = keys.iter().filter(|(id, _)| **id == *claim.id);
            let mut keys: Vec<&String> = of_run.map(|(_, key)| key).collect();
            keys.sort_by_key(|key| key.to_lowercase());
            let mut rest = keys.into_iter();
            return Ok(rest
                .find(|key| key.to_lowercase() >= from.to_lowercase())
                .cloned());
        }
        self.memory.next_key(&self.current(claim), &from)
    }

    fn record(&self, claim: &Claim, key: String, mut body: String) -> Written {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let claim = self.current(claim);
        let key = self.key(&key);
        match self.defect {
            Defect::LosesWrites if count % 50 == 17 => {
                return Box::pin(std::future::ready(Ok(())));
            }
            Defect::WritesWhenPolled => {
                let memory = self.memory.clone();
                return Box::pin(async move { memory.record(&claim, key, body).await });
            }
            // It says that all is well; or it says that something is wrong, and writes it, under a name that `find` looks for first.
            Defect::Overwrites | Defect::SecondWriteCounts => {
                let found = self.memory.find(&claim, &key);
                if found.is_ok_and(|found| found.is_some()) {
                    drop(self.memory.record(&claim, format!("{key}\u{1}"), body));
                    let is_error = self.is(Defect::SecondWriteCounts);
                    let error = || Err(JournalError::storage("once"));
                    let written = if is_error { error() } else { Ok(()) };
                    return Box::pin(std::future::ready(written));
                }
            }
            Defect::OrdersKeysWithoutCase => {
                let pair = (claim.id.to_string(), key.clone());
                self.keys.lock().unwrap().push(pair);
            }
            Defect::LostWritesStay => {
                let last = self.last_claim(&claim.id).unwrap();
                if last != claim {
                    drop(self.memory.record(&last, key.clone(), body.clone()));
                }
            }
            Defect::ChangesBodies => body = body.replace('\0', ""),
            _ => {}
        }
        self.memory.record(&claim, key, body)
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        let written = self.memory.end(&self.current(claim), end);
        if self.is(Defect::EndReleases) {
            self.memory.release(claim);
        }
        written
    }

    fn release(&self, claim: &Claim) {
        let claim = match self.defect {
            Defect::AnybodyReleases => self.last_claim(&claim.id).unwrap(),
            Defect::NoFence => claim.clone(),
            _ => self.current(claim),
        };
        self.memory.release(&claim);
    }

    fn send(&self, id: &str, message: &Message) -> Result<(), JournalError> {
        match self.memory.send(id, message) {
            Err(JournalError::Unknown { .. }) if self.is(Defect::AnybodyGetsMessages) => Ok(()),
            Err(JournalError::Second { .. }) if self.is(Defect::SecondSignal) => Ok(()),
            sent => sent,
        }
    }

    fn messages(&self, claim: &Claim, mut after: u64) -> Result<Vec<(u64, Message)>, JournalError> {
        if self.is(Defect::AllMessages) {
            after = 0;
        }
        let mut messages = self.memory.messages(&self.current(claim), after)?;
        if self.is(Defect::MessagesFallBack) {
            messages.reverse();
        }
        Ok(messages)
    }

    fn watch(&self, claim: &Claim, after: u64) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self.defect {
            Defect::NeverWakes => Box::pin(std::future::pending()),
            Defect::AlwaysWakes => Box::pin(std::future::ready(())),
            _ => self.memory.watch(&self.current(claim), after),
        }
    }
}

fn told(defect: Defect) -> Option<String> {
    let broken = Broken::new(defect);
    let checked = catch_unwind(AssertUnwindSafe(|| conformance::check(|| broken.clone())));
    let panic = checked.err()?;
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Some(text.unwrap_or_default().to_owned())
}

#[test]
fn defects_are_found() {
    assert_eq!(told(Defect::None), None);
    for (defect, words) in DEFECTS {
        let told = told(*defect).unwrap_or_default();
        assert!(told.contains(words), "{defect:?}: {told:?}");
    }
}
