//! Records, their keys and their bodies.

use super::{PATIENCE, Suite, good, same, short, wait, written};
use crate::journal::Journal;
use crate::journal::spi::Record;
use std::collections::{HashMap, HashSet};
use std::task::{Context, Waker};
use std::thread;

/// Returns the numbers and bodies of records by their keys.
fn by_key(records: Vec<Record>) -> HashMap<String, (u64, String)> {
    let records = records.into_iter();
    let records = records.map(|Record { number, key, body }| (key, (number, body)));
    records.collect()
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
    pub(super) fn records(&self) {
        let journal = self.open();
        let (claim, second) = (self.begin(&journal), self.begin(&journal));
        let found = good(journal.find(&claim, "a"), "records can be looked up");
        same(found, None, "what was not recorded is not found");
        let rule = "a record can be written";
        written(journal.append(&claim, "a".into(), "1".into()), rule);
        let found = good(journal.find(&second, "a"), "records can be looked up");
        same(found, None, "a run does not see the records of others");
        let rule = "two runs may have the same key";
        written(journal.append(&second, "a".into(), "2".into()), rule);

        // The test waits only for the last write.
        let count = 100;
        for n in 0..count {
            let mut write = journal.append(&claim, format!("n{n}"), format!("{n}"));
            // The test drops all these futures, and polls every third future before its drop.
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
            let rule = "a record has the body that was recorded";
            same(&**body, &*format!("{n}"), rule);
            assert!(
                *next > number,
                "numbers grow in the order of the calls, but {next} came after {number}"
            );
            number = *next;
        }

        // The rule *Once* of `Journal`.
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
        // The rule also applies while the first write is not durable yet.
        let first = journal.append(&claim, "twice".into(), "1".into());
        let second = journal.append(&claim, "twice".into(), "2".into());
        let second = wait(second, PATIENCE, rule);
        assert!(second.is_err(), "{rule}, but a second write gave no error");
        written(first, "a second write of a key changes nothing");
        let found = good(journal.find(&claim, "twice"), "records can be looked up");
        let body = found.map(|found| found.body);
        let rule = "a second write of a key changes nothing";
        same(body, Some("1".to_owned()), rule);
    }

    pub(super) fn keys(&self) {
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

    pub(super) fn writes(&self) {
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

    pub(super) fn threads(&self) {
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
                    // The thread starts half of the writes together, and the other half one by one.
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
}
