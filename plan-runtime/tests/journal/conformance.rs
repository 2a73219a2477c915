//! The suite accepts right journals, and detects each of many errors.

use super::asking::Asking;
use plan_runtime::journal::spi::{
    Answer, Claim, Claimed, End, Message, Notified, Record, RunInfo, StoredRun, Written,
};
use plan_runtime::journal::{Journal, JournalError, Memory, conformance};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn of_memory() {
    let memory = Memory::new();
    conformance::check(|| memory.clone());
    conformance::check_store(|| memory.clone());
}

#[cfg(feature = "sqlite")]
#[test]
fn of_sqlite() {
    let folder = crate::journal::support::Folder::new();
    conformance::check(|| folder.open());
    conformance::check_store(|| folder.open());
    // The suite has released all its runs.
    let owned = plan_runtime::journal::RunFilter::new().is_owned(true);
    assert_eq!(folder.open().runs_now(&owned).len(), 0);
}

#[cfg(feature = "sqlite")]
#[test]
fn of_clones_of_sqlite() {
    let folder = crate::journal::support::Folder::new();
    let db = folder.open();
    conformance::check(|| db.clone());
}

/// The possible defects of a journal, with a part of the message.
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
        Defect::KeepsNameless,
        "nothing is left of a released run that nobody has described",
    ),
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
        Defect::RepeatsPages,
        "records are read in the order of their numbers",
    ),
    (
        Defect::KeepsDroppedClaims,
        "a run that was released can be claimed",
    ),
    (Defect::ChangesBodies, "bodies have any text"),
    (
        Defect::WritesAfterRelease,
        "an owner that has released a run cannot write",
    ),
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
    (
        Defect::SleepsAfterRelease,
        "`watch` is ready after its owner has released the run",
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
    KeepsNameless,
    LosesWrites,
    WritesWhenPolled,
    NumbersFall,
    Overwrites,
    SecondWriteCounts,
    CutsKeysAtNul,
    RepeatsPages,
    KeepsDroppedClaims,
    ChangesBodies,
    WritesAfterRelease,
    NoFence,
    LostWritesStay,
    AnybodyGetsMessages,
    SecondSignal,
    AllMessages,
    MessagesFallBack,
    NeverWakes,
    SleepsAfterRelease,
    AlwaysWakes,
    EndReleases,
    ForgetsEnd,
    RunsShareRecords,
}

/// A journal with a defect, based on a [`Memory`].
#[derive(Clone)]
struct Broken {
    memory: Memory,
    defect: Defect,
    /// The last claim of each run.
    claims: Arc<Mutex<Vec<Claim>>>,
    count: Arc<AtomicU64>,
}

impl Broken {
    fn new(defect: Defect) -> Self {
        Self {
            memory: Memory::new(),
            defect,
            claims: Arc::default(),
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

    fn is_released(&self, claim: &Claim) -> bool {
        self.memory.messages_now(claim, 0).is_err()
    }

    fn key(&self, key: &str) -> String {
        let key = match self.defect {
            Defect::CutsKeysAtNul => key.split('\0').next().unwrap_or_default(),
            _ => key,
        };
        key.to_owned()
    }
}

impl Broken {
    fn claimed(&self, id: &str) -> Result<Claimed, JournalError> {
        let mut claimed = match self.memory.claim_now(id) {
            Err(JournalError::Owned { .. }) if self.is(Defect::ManyOwners) => {
                self.memory.release(&self.last_claim(id).unwrap());
                self.memory.claim_now(id)?
            }
            claimed => claimed?,
        };
        self.claims.lock().unwrap().push(claimed.claim.clone());
        match self.defect {
            Defect::ForgetsDescription => claimed.run.info = None,
            Defect::BeginsAgain => claimed.run.began = std::time::SystemTime::now(),
            Defect::ForgetsEnd => claimed.run.end = None,
            Defect::EpochStays => claimed.claim.epoch = 1,
            Defect::KeepsNameless if claimed.run.info.is_none() => {
                claimed.run.began = std::time::SystemTime::UNIX_EPOCH;
            }
            _ => {}
        }
        Ok(claimed)
    }

    fn page(&self, id: &str, after: u64) -> Result<Vec<Record>, JournalError> {
        let mut records = self.memory.records_now(id)?;
        if self.is(Defect::RunsShareRecords) {
            let claims = self.claims.lock().unwrap().clone();
            for claim in claims.iter().filter(|claim| *claim.id != *id) {
                records.extend(self.memory.records_now(&claim.id)?);
            }
            records.sort_by_key(|record| record.number);
            for (at, record) in records.iter_mut().enumerate() {
                record.number = at as u64 + 1;
            }
        }
        if self.is(Defect::SecondWriteCounts) {
            let second = |key: &str| format!("{key}\u{1}");
            let find = |key: String| {
                let of_key = records.iter().find(|record| record.key == key);
                of_key.map(|record| record.body.clone())
            };
            let bodies: Vec<_> = records.iter().map(|it| find(second(&it.key))).collect();
            for (record, body) in records.iter_mut().zip(bodies) {
                record.body = body.unwrap_or_else(|| record.body.clone());
            }
        }
        if self.is(Defect::NumbersFall) {
            records.reverse();
            for (at, record) in records.iter_mut().enumerate() {
                record.number = at as u64 + 1;
            }
        }
        if !self.is(Defect::RepeatsPages) || after % 7 != 5 {
            records.retain(|record| record.number > after);
        }
        records.truncate(7);
        Ok(records)
    }
}

impl Journal for Broken {
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed> {
        if self.is(Defect::KeepsDroppedClaims) {
            let claimed = self.claimed(id);
            let mut polls = 0;
            return Box::pin(async move {
                std::future::poll_fn(|cx| {
                    polls += 1;
                    cx.waker().wake_by_ref();
                    if polls > 1 {
                        std::task::Poll::Ready(())
                    } else {
                        std::task::Poll::Pending
                    }
                })
                .await;
                claimed
            });
        }
        Box::pin(async move { self.claimed(id) })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>> {
        Box::pin(async move {
            if self.is(Defect::LooksAtOwned) {
                let claimed = self.memory.claim(id).await?;
                self.memory.release(&claimed.claim);
            }
            self.memory.look(id).await
        })
    }

    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()> {
        Box::pin(async move {
            if self.is(Defect::KeepsFirstDescription) && run.plan == "second" {
                return Ok(());
            }
            self.memory.describe(&self.current(claim), run).await
        })
    }

    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>> {
        Box::pin(async move { self.page(id, after) })
    }

    fn append(&self, claim: &Claim, key: String, mut body: String) -> Written {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let claim = self.current(claim);
        let key = self.key(&key);
        match self.defect {
            Defect::LosesWrites if count % 50 == 17 => {
                return Box::pin(std::future::ready(Ok(())));
            }
            Defect::WritesWhenPolled => {
                let memory = self.memory.clone();
                return Box::pin(async move { memory.append(&claim, key, body).await });
            }
            // Answers without an error, or with an error after a write that `page` prefers.
            Defect::Overwrites | Defect::SecondWriteCounts => {
                let found = self.memory.find_now(&claim, &key);
                if found.is_ok_and(|found| found.is_some()) {
                    drop(self.memory.append(&claim, format!("{key}\u{1}"), body));
                    let is_error = self.is(Defect::SecondWriteCounts);
                    let error = || Err(JournalError::storage("once"));
                    let written = if is_error { error() } else { Ok(()) };
                    return Box::pin(std::future::ready(written));
                }
            }
            Defect::LostWritesStay => {
                let last = self.last_claim(&claim.id).unwrap();
                if last != claim {
                    drop(self.memory.append(&last, key.clone(), body.clone()));
                }
            }
            Defect::ChangesBodies => body = body.replace('\0', ""),
            Defect::WritesAfterRelease
                if self.is_released(&claim) && self.last_claim(&claim.id).unwrap() == claim =>
            {
                return Box::pin(std::future::ready(Ok(())));
            }
            _ => {}
        }
        self.memory.append(&claim, key, body)
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

    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()> {
        Box::pin(async move {
            match self.memory.send(id, message).await {
                Err(JournalError::Unknown { .. }) if self.is(Defect::AnybodyGetsMessages) => Ok(()),
                Err(JournalError::Second { .. }) if self.is(Defect::SecondSignal) => Ok(()),
                sent => sent,
            }
        })
    }

    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>> {
        let after = if self.is(Defect::AllMessages) {
            0
        } else {
            after
        };
        let claim = self.current(claim);
        Box::pin(async move {
            let mut messages = self.memory.messages(&claim, after).await?;
            if self.is(Defect::MessagesFallBack) {
                messages.reverse();
            }
            Ok(messages)
        })
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        match self.defect {
            Defect::NeverWakes => Box::pin(std::future::pending()),
            Defect::AlwaysWakes => Box::pin(std::future::ready(())),
            Defect::SleepsAfterRelease => {
                let (broken, claim) = (self.clone(), claim.clone());
                Box::pin(async move {
                    broken.memory.watch(&claim, after).await;
                    if broken.is_released(&claim) {
                        std::future::pending::<()>().await;
                    }
                })
            }
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
    // Most of the time, a check waits for another owner.
    std::thread::scope(|scope| {
        for (defect, words) in DEFECTS {
            scope.spawn(move || {
                let told = told(*defect).unwrap_or_default();
                assert!(told.contains(words), "{defect:?}: {told:?}");
            });
        }
    });
}
