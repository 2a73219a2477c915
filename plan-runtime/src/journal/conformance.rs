//! Tests that every [`Journal`] has to pass.
//!
//! ```
//! use plan_runtime::journal::{Memory, conformance};
//!
//! let memory = Memory::new();
//! conformance::check(|| memory.clone());
//! ```

use super::spi::{Claim, Claimed, End, Message, Notified, Record, RunInfo, StoredRun, Written};
use super::{Journal, JournalError, blocking};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long a write may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a message may take. A second is promised, but a busy machine may need more.
const SOON: Duration = Duration::from_secs(5);

/// How long it is watched that something does not happen.
const SHORT: Duration = Duration::from_millis(50);

/// Tests that a journal keeps to the rules of [`Journal`]. `open` opens the same storage each time, as another process would: what was opened before may
/// still be there, or may have been dropped.
///
/// It takes some seconds. All ids contain a number that was drawn, so the storage need not be empty, and may be used by others.
///
/// Two things need a process that ends, and are left to the tests of an implementation: that runs of a process that was killed can be claimed, and that what was acknowledged is
/// there after that.
///
/// # Panics
///
/// If a rule is broken: the message says which.
pub fn check<J: Journal>(open: impl FnMut() -> J) {
    let suite = Suite {
        open: RefCell::new(open),
        drawn: fastrand::u64(..),
        count: Cell::new(0),
    };
    suite.runs();
    suite.owners();
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

/// Returns the numbers and bodies of records by their keys.
fn by_key(records: Vec<Record>) -> HashMap<String, (u64, String)> {
    let records = records.into_iter();
    let records = records.map(|Record { number, key, body }| (key, (number, body)));
    records.collect()
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

/// Keys in the order of their bytes.
fn odd_keys() -> Vec<String> {
    let long = "long/".repeat(40_000);
    let mut keys: Vec<String> = [
        "",
        "\0",
        "\0\0",
        " ",
        "\"",
        "'",
        "' OR 1=1 --",
        "%",
        "A",
        "Z",
        "_",
        "a",
        "a\0",
        "a\0b",
        "a b",
        "a/b[10]@1",
        "a/b[2]@1",
        "a/b[2]@10",
        "a\n",
        "a~",
        "ab",
        "ä",
        "a\u{308}",
        "\u{7f}",
        "\u{ffff}",
        "\u{10000}",
        "🦀",
        "NULL",
        "0",
        "1e3",
        "?1",
        "\u{feff}a",
    ]
    .map(str::to_owned)
    .to_vec();
    keys.push(format!("{long}1"));
    keys.push(format!("{long}2"));
    keys.sort_unstable();
    keys
}

impl<J: Journal, F: FnMut() -> J> Suite<F> {
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

    /// After a release, which another process may see a moment later.
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

    /// A run that is described and claimed.
    #[track_caller]
    fn begin(&self, journal: &Blocking<J>) -> Claim {
        let claim = self.claim(journal, &self.id()).claim;
        let described = journal.describe(&claim, &info("begun"));
        good(described, "a claimed run can be described");
        claim
    }

    fn runs(&self) {
        let (journal, id) = (self.open(), self.id());
        let before = SystemTime::now();
        let claimed = self.claim(&journal, &id);
        same(
            &*claimed.claim.id,
            &*id,
            "a claim has the id that was asked for",
        );
        assert!(
            claimed.claim.epoch > 0,
            "epochs are counted from 1, but it is 0"
        );
        same(claimed.run.info, None, "a new run has no description");
        same(claimed.run.end, None, "a new run has not ended");
        let described = journal.describe(&claimed.claim, &info("first"));
        good(described, "a claimed run can be described");
        let rule = "a run can be looked at while somebody has it";
        let seen = good(journal.look(&id), rule).and_then(|run| run.info);
        same(seen, Some(info("first")), rule);
        let unknown = good(journal.look(&self.id()), rule);
        same(
            unknown,
            None,
            "nothing is seen of a run that does not exist",
        );
        journal.release(&claimed.claim);

        let second = self.claim_released(&journal, &id);
        same(
            second.run.info,
            Some(info("first")),
            "a claim finds the description",
        );
        same(second.run.end, None, "a run that has not ended has no end");
        let began = second.run.began;
        // Clocks are adjusted, and a database may keep less than nanoseconds.
        let much = Duration::from_secs(10);
        assert!(
            began + much >= before && began <= SystemTime::now() + much,
            "a run begins when it is first described, but it began at {began:?}, and was claimed at {before:?}"
        );
        let described = journal.describe(&second.claim, &info("second"));
        good(described, "a run can be described again");
        written(
            journal.append(&second.claim, "a".into(), "1".into()),
            "a record can be written",
        );
        journal.release(&second.claim);
        thread::sleep(Duration::from_millis(2));
        let third = self.claim_released(&journal, &id);
        same(
            third.run.info,
            Some(info("second")),
            "the last description counts",
        );
        same(third.run.began, began, "a run begins once");
        let found = good(journal.find(&third.claim, "a"), "records can be looked up");
        let body = found.map(|found| found.body);
        same(
            body,
            Some("1".to_owned()),
            "descriptions leave records alone",
        );
    }

    fn owners(&self) {
        let (one, other, id) = (self.open(), self.open(), self.id());
        let first = self.claim(&one, &id);
        for (journal, place) in [(&one, "the same process"), (&other, "another")] {
            let second = journal.claim(&id);
            assert!(
                matches!(second, Err(JournalError::Owned { .. })),
                "a run has one owner, but a claim by {place} gave {}",
                short(&second)
            );
        }
        // A refused claim changes nothing.
        good(
            one.describe(&first.claim, &info("owned")),
            "a refused claim leaves the owner alone",
        );
        self.claim(&other, &self.id());
        let mut epoch = first.claim.epoch;
        let mut claim = first.claim;
        for journal in [&other, &one, &one, &other] {
            // Whoever has it may release it, and only they.
            one.release(&claim);
            other.release(&claim);
            claim = self.claim_released(journal, &id).claim;
            assert!(
                claim.epoch > epoch,
                "epochs grow, but {} came after {epoch}",
                claim.epoch
            );
            epoch = claim.epoch;
        }
        let old = Claim::new(Arc::clone(&claim.id), epoch - 1);
        other.release(&old);
        let stolen = one.claim(&id);
        assert!(
            matches!(stolen, Err(JournalError::Owned { .. })),
            "an old claim cannot release a run, but after that a claim gave {}",
            short(&stolen)
        );
        good(
            other.describe(&claim, &info("owned")),
            "an old claim cannot release a run",
        );

        // Of many threads, one gets it.
        let id = self.id();
        let gets_it = &|n: usize| {
            let journal = if n.is_multiple_of(2) { &one } else { &other };
            journal.claim(&id).is_ok()
        };
        let claims = thread::scope(|scope| {
            let spawn = |n| scope.spawn(move || gets_it(n));
            let threads: Vec<_> = (0..16).map(spawn).collect();
            let got = threads.into_iter().map(|it| it.join().is_ok_and(|got| got));
            got.filter(|got| *got).count()
        });
        same(claims, 1, "of 16 threads that claim a run, one gets it");
    }

    fn dropped_claims(&self) {
        let journal = self.open();
        for polls in 0..3 {
            let id = self.id();
            let mut claim = journal.0.claim(&id);
            let mut cx = Context::from_waker(Waker::noop());
            // A claim that was ready is the caller's.
            let is_ready = (0..polls).any(|_| claim.as_mut().poll(&mut cx).is_ready());
            drop(claim);
            if !is_ready {
                self.claim_released(&journal, &id);
            }
        }
    }

    fn records(&self) {
        let journal = self.open();
        let (claim, second) = (self.begin(&journal), self.begin(&journal));
        let found = good(journal.find(&claim, "a"), "records can be looked up");
        same(found, None, "what was not recorded is not found");
        written(
            journal.append(&claim, "a".into(), "1".into()),
            "a record can be written",
        );
        let found = good(journal.find(&second, "a"), "records can be looked up");
        same(found, None, "a run does not see the records of others");
        written(
            journal.append(&second, "a".into(), "2".into()),
            "two runs may have the same key",
        );

        // Only the last is waited for.
        let count = 100;
        for n in 0..count {
            let mut write = journal.append(&claim, format!("n{n}"), format!("{n}"));
            // The futures are dropped, some of them after a poll.
            if n % 3 == 0 {
                let mut cx = Context::from_waker(Waker::noop());
                drop(write.as_mut().poll(&mut cx));
            }
        }
        let rule = "what was recorded before is durable before";
        written(
            journal.append(&claim, "last".into(), "\"last\"".into()),
            rule,
        );
        let mut number = 0;
        let records = by_key(good(journal.records(&claim), "records can be read"));
        for n in 0..count {
            let Some((next, body)) = records.get(&format!("n{n}")) else {
                panic!("{rule}, and a dropped future is written too, but `n{n}` is not found");
            };
            same(
                &**body,
                &*format!("{n}"),
                "a record has the body that was recorded",
            );
            assert!(
                *next > number,
                "numbers grow in the order of the calls, but {next} came after {number}"
            );
            number = *next;
        }

        // Once.
        let rule = "a key is written once";
        let again = wait(
            journal.append(&claim, "a".into(), "3".into()),
            PATIENCE,
            rule,
        );
        assert!(again.is_err(), "{rule}, but a second write gave no error");
        let found = good(journal.find(&claim, "a"), "records can be looked up");
        let body = found.map(|found| found.body);
        same(
            body,
            Some("1".to_owned()),
            "a second write of a key changes nothing",
        );
        // Also while the first is on its way.
        let first = journal.append(&claim, "twice".into(), "1".into());
        let second = journal.append(&claim, "twice".into(), "2".into());
        let second = wait(second, PATIENCE, rule);
        assert!(second.is_err(), "{rule}, but a second write gave no error");
        written(first, "a second write of a key changes nothing");
        let found = good(journal.find(&claim, "twice"), "records can be looked up");
        let body = found.map(|found| found.body);
        same(
            body,
            Some("1".to_owned()),
            "a second write of a key changes nothing",
        );
    }

    fn keys(&self) {
        let journal = self.open();
        let (claim, neighbor) = (self.begin(&journal), self.begin(&journal));
        let keys = odd_keys();
        let mut shuffled = keys.clone();
        fastrand::shuffle(&mut shuffled);
        let mut last = None;
        for key in shuffled {
            let body = format!("\"{} bytes\"", key.len());
            drop(journal.append(&neighbor, format!("{key}?"), body.clone()));
            last = Some(journal.append(&claim, key, body));
        }
        let rule = "keys have any text";
        last.into_iter().for_each(|last| written(last, rule));
        let records = by_key(good(journal.records(&claim), rule));
        for key in &keys {
            let body = records.get(key).map(|(_, body)| &**body);
            let expected = format!("\"{} bytes\"", key.len());
            let rule = format!("{rule}, also {}", short(key));
            same(body, Some(&*expected), &rule);
        }
        let found = good(journal.find(&claim, "A\0"), rule);
        same(found, None, "a key ends where it ends, not at a NUL");
        let found = good(journal.find(&claim, "ab "), rule);
        same(found, None, "spaces count in keys");
    }

    fn writes(&self) {
        let (journal, rule) = (self.open(), "bodies have any text");
        let claim = self.begin(&journal);
        let large = "€\0'\"\\".repeat(1 << 17);
        let bodies = [
            "",
            "null",
            "\0",
            "'; DROP TABLE records; --",
            "0123",
            "🦀",
            &large,
        ];
        let writes: Vec<_> = bodies
            .iter()
            .enumerate()
            .map(|(n, body)| journal.append(&claim, format!("{n}"), (*body).to_owned()))
            .collect();
        for write in writes {
            written(write, rule);
        }
        for (n, body) in bodies.iter().enumerate() {
            let found = good(journal.find(&claim, &format!("{n}")), rule);
            let found = found.map(|found| found.body);
            same(found.as_deref(), Some(*body), rule);
        }
    }

    fn fencing(&self) {
        let (one, other) = (self.open(), self.open());
        let old = self.begin(&one);
        written(
            one.append(&old, "a".into(), "1".into()),
            "a record can be written",
        );
        // It is queued before the release, so it is written still.
        let queued = one.append(&old, "b".into(), "1".into());
        one.release(&old);
        written(
            queued,
            "what is queued when a run is released is written still",
        );
        let new = self.claim_released(&other, &old.id).claim;

        // The owner slept, and does not know.
        let rule = "an owner that has lost a run cannot write";
        for journal in [&one, &other] {
            let end = End::Failed("old".to_owned());
            let results = [
                wait(
                    journal.append(&old, "c".into(), "old".into()),
                    PATIENCE,
                    rule,
                ),
                wait(journal.end(&old, end), PATIENCE, rule),
                journal.describe(&old, &info("old")),
            ];
            for (result, call) in results.iter().zip(["append", "end", "describe"]) {
                assert!(
                    is_lost(result),
                    "{rule}, but `{call}` with an old claim gave {} and not `Lost`",
                    short(result)
                );
            }
            journal.release(&old);
        }
        let found = good(other.find(&new, "c"), "records can be looked up");
        same(found, None, "a write with an old claim leaves no trace");
        written(
            other.append(&new, "c".into(), "new".into()),
            "a write with an old claim leaves no trace",
        );
        for (key, expected) in [("a", "1"), ("b", "1"), ("c", "new")] {
            let found = good(other.find(&new, key), "records can be looked up");
            let body = found.map(|found| found.body);
            same(
                body.as_deref(),
                Some(expected),
                "the next owner finds all records",
            );
        }
        other.release(&new);
        let again = self.claim_released(&one, &old.id);
        same(
            again.run.info,
            Some(info("begun")),
            "a description with an old claim leaves no trace",
        );
        same(
            again.run.end,
            None,
            "an end with an old claim leaves no trace",
        );
    }

    fn threads(&self) {
        let journal = self.open();
        let (claim, second) = (self.begin(&journal), self.begin(&journal));
        let rule = "1,000 records from ten threads are written";
        thread::scope(|scope| {
            for thread in 0..10 {
                let (journal, claim, second) = (&journal, &claim, &second);
                scope.spawn(move || {
                    let write = |n: usize| {
                        let claim = if n.is_multiple_of(10) { second } else { claim };
                        journal.append(claim, format!("{thread}/{n}"), format!("{n}"))
                    };
                    // Half of them together, half one by one.
                    let together: Vec<_> = (0..50).map(write).collect();
                    together.into_iter().for_each(|it| written(it, rule));
                    (50..100).for_each(|n| written(write(n), rule));
                });
            }
        });
        let mut numbers = HashSet::new();
        let records = [&claim, &second].map(|claim| by_key(good(journal.records(claim), rule)));
        for thread in 0..10 {
            let mut last = [0, 0];
            for n in 0..100 {
                let of = usize::from(n % 10 == 0);
                let Some((number, body)) = records[of].get(&format!("{thread}/{n}")) else {
                    panic!("{rule}, but `{thread}/{n}` is not found");
                };
                let number = *number;
                same(&**body, &*format!("{n}"), rule);
                assert!(
                    number > last[of],
                    "numbers grow in the order of the calls of a thread, but {number} came after {}",
                    last[of]
                );
                last[of] = number;
                assert!(
                    numbers.insert((of, number)),
                    "each record of a run has a number of its own, but two have {number}"
                );
            }
        }
    }

    fn messages(&self) {
        let (one, other, id) = (self.open(), self.open(), self.id());
        let unknown = |result: &Result<(), JournalError>, run: &str| {
            assert!(
                matches!(result, Err(JournalError::Unknown { .. })),
                "a message to {run} is refused, but `send` gave {} and not `Unknown`",
                short(result)
            );
        };
        unknown(
            &one.send(&id, &Message::Cancel),
            "a run that does not exist",
        );
        let claim = self.claim(&one, &id).claim;
        unknown(
            &other.send(&id, &signal("a")),
            "a run that nobody has described",
        );
        good(
            one.describe(&claim, &info("waits")),
            "a claimed run can be described",
        );

        let messages = |journal: &Blocking<J>, claim: &Claim, after| {
            let rule = "the owner can read messages";
            good(journal.messages(claim, after), rule)
        };
        same(
            messages(&one, &claim, 0),
            Vec::new(),
            "a new run has no messages",
        );
        let sent = [
            signal("a"),
            Message::Cancel,
            signal("b/c[1]\0'"),
            signal(""),
        ];
        for (n, message) in sent.iter().enumerate() {
            let journal = if n.is_multiple_of(2) { &one } else { &other };
            good(journal.send(&id, message), "anybody may send a message");
        }
        for journal in [&one, &other] {
            let rule = "a path gets one signal";
            let second = journal.send(&id, &signal("a"));
            assert!(
                matches!(second, Err(JournalError::Second { .. })),
                "{rule}, but a second `send` gave {} and not `Second`",
                short(&second)
            );
        }
        let found = messages(&one, &claim, 0);
        let bodies: Vec<&Message> = found.iter().map(|(_, message)| message).collect();
        let expected: Vec<&Message> = sent.iter().collect();
        same(
            bodies,
            expected,
            "messages come as they were sent, in their order",
        );
        let mut last = 0;
        for (n, (number, _)) in found.iter().enumerate() {
            assert!(
                *number > last,
                "the numbers of messages grow from 1, but {number} came after {last}"
            );
            last = *number;
            let rest = messages(&one, &claim, *number);
            same(
                &rest[..],
                &found[n + 1..],
                "only messages after a number are read",
            );
        }
        let elsewhere = self.begin(&other);
        let none = messages(&other, &elsewhere, 0);
        same(
            none,
            Vec::new(),
            "a run does not see the messages of others",
        );
        good(
            one.send(&elsewhere.id, &signal("a")),
            "two runs may get signals with the same path",
        );

        one.release(&claim);
        good(
            other.send(&id, &signal("nobody")),
            "a message may be sent while nobody has the run",
        );
        let next = self.claim_released(&other, &id).claim;
        let kept = messages(&other, &next, 0);
        same(kept.len(), 5, "messages are kept for the next owner");
        same(
            &kept[..4],
            &found[..],
            "messages are kept for the next owner",
        );
    }

    fn watches(&self) {
        let (one, other) = (self.open(), self.open());
        let claim = self.begin(&one);
        let neighbor = self.begin(&one);
        let quiet = |watch: &mut Notified| blocking::wait(watch.as_mut(), SHORT).is_none();
        let mut after = 0;
        for (n, journal) in [&one, &other, &other, &one].into_iter().enumerate() {
            let mut watch = one.watch(&claim, after);
            let mut second = one.watch(&claim, after);
            let mut elsewhere = one.watch(&neighbor, 0);
            drop(one.watch(&claim, after));
            assert!(
                quiet(&mut watch),
                "without a message, `watch` waits, but it was ready"
            );
            assert!(
                quiet(&mut second),
                "without a message, `watch` waits, but it was ready"
            );
            good(
                journal.send(&claim.id, &signal(&format!("{n}"))),
                "anybody may send a message",
            );
            let rule = "a message makes `watch` ready within a second";
            wait(watch, SOON, rule);
            wait(second, SOON, rule);
            let rule = "`watch` is ready if there are messages already";
            wait(one.watch(&claim, after), SOON, rule);
            assert!(
                quiet(&mut elsewhere),
                "a message for one run does not wake another, but `watch` was ready"
            );
            let new = good(one.messages(&claim, after), "the owner can read messages");
            same(new.len(), 1, "after `watch` the message is there");
            after = new[0].0;
        }
        // While it is waited for on another thread.
        thread::scope(|scope| {
            let watch = one.watch(&claim, after);
            let waits = scope.spawn(|| blocking::wait(watch, SOON));
            thread::sleep(SHORT);
            good(
                one.send(&claim.id, &Message::Cancel),
                "anybody may send a message",
            );
            let woken = waits.join().is_ok_and(|woken| woken.is_some());
            assert!(
                woken,
                "a message wakes whoever waits in `watch`, but it did not"
            );
        });
    }

    fn ends(&self) {
        let (one, other) = (self.open(), self.open());
        for end in [End::Done, End::Failed, End::Cancelled] {
            let claim = self.begin(&one);
            let end = end("{\"it's\":\"\\u0000 ü\"}".to_owned());
            drop(one.append(&claim, "before".into(), "1".into()));
            written(one.end(&claim, end.clone()), "a run can end");
            let found = good(one.find(&claim, "before"), "records can be looked up");
            assert!(
                found.is_some(),
                "what was recorded before the end is durable before, but it is not found"
            );
            let claimed = other.claim(&claim.id);
            assert!(
                matches!(claimed, Err(JournalError::Owned { .. })),
                "a run that has ended stays claimed, but a claim gave {}",
                short(&claimed)
            );
            one.release(&claim);
            let claimed = self.claim_released(&other, &claim.id);
            same(claimed.run.end, Some(end), "a claim finds the end");
            same(
                claimed.run.info,
                Some(info("begun")),
                "a claim finds the description",
            );
        }
    }

    fn reopening(&self) {
        let journal = self.open();
        let claim = self.begin(&journal);
        for n in 0..50 {
            drop(journal.append(&claim, format!("{n}"), format!("{n}")));
        }
        good(
            journal.send(&claim.id, &signal("kept")),
            "anybody may send a message",
        );
        journal.release(&claim);
        drop(journal);

        let journal = self.open();
        let claimed = self.claim_released(&journal, &claim.id);
        same(
            claimed.run.info,
            Some(info("begun")),
            "a description is kept",
        );
        for n in 0..50 {
            let found = good(
                journal.find(&claimed.claim, &format!("{n}")),
                "records can be looked up",
            );
            let body = found.map(|found| found.body);
            let rule = "what is queued when a journal is dropped is written still";
            same(body, Some(format!("{n}")), rule);
        }
        let kept = good(
            journal.messages(&claimed.claim, 0),
            "the owner can read messages",
        );
        same(kept.len(), 1, "messages are kept");
        let write = journal.append(&claimed.claim, "50".into(), "50".into());
        written(write, "a run goes on after it was opened again");
        let last = |key| {
            good(
                journal.find(&claimed.claim, key),
                "records can be looked up",
            )
        };
        let (before, after) = (last("49"), last("50"));
        assert!(
            before.map(|it| it.number) < after.map(|it| it.number),
            "numbers grow across owners, but they do not"
        );
    }
}
