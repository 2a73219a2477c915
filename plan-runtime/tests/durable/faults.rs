//! A journal that fails: the run stops, nothing absorbs it, and nothing is lost.

use super::rough::Rough;
use super::support::{Act, Goes, Undo, World, crash, finish};
use crate::journal::asking::Asking;
use plan_runtime::journal::{Journal, Memory};
use plan_runtime::run::{Limits, Run, RunErrorKind};
use plan_runtime::{Error, plan};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

fn busy() -> Error {
    Error::msg("busy")
}

fn now() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    COUNTER.fetch_add(1, Ordering::SeqCst)
}

plan! {
    Inner(n: u64) -> u64 {
        step held = Act { n };
        #[undo(held)]
        step released = Undo { n: held };
        #[after(held)]
        step sent = Act { n: held };
        sent
    }
}

plan! {
    Absorbs() -> serde_json::Value {
        #[optional]
        step stamp: u64 = now();
        #[optional]
        step optional = Act { n: 1 };
        #[fallback(now())]
        step fallback = Act { n: 2 };
        #[retry(5, backoff = "0s")]
        step retried = Act { n: 3 };
        #[catch]
        step caught = Inner { n: 4 };
        #[optional(each)]
        step each = for n in [1u64, now()] { step inner = Act { n }; #[undo(inner)] step back = Undo { n: inner }; inner };
        #[at_most(9)]
        #[catch]
        step rounds = loop |last| { step made = Act { n: 1 }; step sum: u64 = made + last.unwrap_or(0); sum } while sum < 3;
        #[always]
        step told = Act { n: 9 };
        serde_json::json!([optional, fallback < 1000, retried, caught.is_ok(), each.len(), rounds.is_ok(), now() > 0, stamp.is_some()])
    }
}

fn world() -> World {
    let world = World::new();
    world.on("fallback", &[Goes::Fails(busy)]);
    world.on(
        "retried",
        &[Goes::Fails(busy), Goes::Fails(busy), Goes::Well],
    );
    world
}

#[test]
fn a_journal_that_fails_stops_the_run_and_nothing_else() {
    for is_resumed in [false, true] {
        stops_at_each_operation(is_resumed);
    }
}

fn absorbs<'w>(world: &'w World, journal: &Rough) -> Run<'w, World, serde_json::Value> {
    Absorbs {}.run(world).durable(journal, "r")
}

/// Fails each operation of a journal, in a new run or in a run that resumes from many records.
fn stops_at_each_operation(is_resumed: bool) {
    let expected = finish(Absorbs {}.run(&world()).durable(&Memory::new(), "r")).unwrap();
    let begin = |world: &World, journal: &Rough| {
        if is_resumed {
            world.on("told", &[Goes::Hangs]);
            crash(absorbs(world, journal));
            world.on("told", &[Goes::Well]);
            world.called();
        }
    };
    let (counting, counted) = (world(), Rough::new());
    begin(&counting, &counted);
    counted.fail_at(None);
    finish(absorbs(&counting, &counted)).unwrap();
    let operations = counted.operations();
    assert!(operations > 15, "{operations}");
    let mut recorded_calls = 0;
    for at in 1..=operations {
        let (world, journal) = (world(), Rough::new());
        let run = || absorbs(&world, &journal);
        begin(&world, &journal);
        journal.fail_at(Some(at));
        let error = finish(run()).expect_err(&format!("operation {at}"));
        assert!(error.journal().is_some(), "operation {at}: {error}");
        assert!(error.to_string().contains("the disk is full"), "{error}");
        journal.fail_at(None);
        let recorded = journal.keys();
        let key = |call: &str| {
            let (path, attempt) = call.split_once('#').unwrap_or((call, "1"));
            format!("{path}@{attempt}")
        };
        let called = world.called();
        recorded_calls += called
            .split(' ')
            .filter(|call| recorded.contains(&key(call)))
            .count();
        assert_eq!(finish(run()).unwrap(), expected, "operation {at}");
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for call in world.called().split(' ').filter(|call| !call.is_empty()) {
            *counts.entry(call.to_owned()).or_default() += 1;
            let key = key(call);
            assert!(
                !recorded.contains(&key),
                "operation {at}: `{key}` is recorded, and was called again"
            );
        }
        assert!(
            counts.values().all(|count| *count == 1),
            "operation {at}: {counts:?}"
        );
    }
    // Calls and records have equal keys. Otherwise, the assertion on recorded keys would never fail.
    assert!(is_resumed || recorded_calls > 20, "{recorded_calls}");
}

plan! {
    One() -> u64 {
        step one = Act { n: 1 };
        step two = Act { n: one };
        two
    }
}

#[test]
fn garbage_is_an_error_that_names_the_record() {
    let bodies = [
        ("", "EOF"),
        ("{", "EOF"),
        ("[]", "one@1"),
        ("null", "one@1"),
        (r#"{"at":[1]}"#, "one@1"),
        (r#"{"at":[0,1],"value":"text"}"#, "output of step `one`"),
        (r#"{"at":[0,1],"value":-1}"#, "output of step `one`"),
        (r#"{"at":[0,1]}"#, "one"),
        (
            r#"{"at":[0,1],"error":{"kind":"other","texts":[]}}"#,
            "one@1",
        ),
        (r#"{"at":[-1,1],"value":1}"#, "one@1"),
    ];
    for (body, words) in bodies {
        let (world, journal) = (World::new(), Memory::new());
        world.on("one", &[Goes::Hangs]);
        crash(One {}.run(&world).durable(&journal, "r"));
        let claim = journal.claim_now("r").unwrap().claim;
        smol::block_on(journal.append(&claim, "one@1".into(), body.into())).unwrap();
        journal.release(&claim);
        world.called();
        let error = finish(One {}.run(&world).durable(&journal, "r")).unwrap_err();
        assert!(error.journal().is_some(), "{body}: {error}");
        assert!(
            error.to_string().contains(words) && error.to_string().contains("one"),
            "{body}: {error}"
        );
        assert_eq!(world.called(), "");
    }
    // Failures without messages are failures.
    let (world, journal) = (World::new(), Memory::new());
    world.on("one", &[Goes::Hangs]);
    crash(One {}.run(&world).durable(&journal, "r"));
    let claim = journal.claim_now("r").unwrap().claim;
    let body = r#"{"at":[9999999999999999999,1],"error":{"kind":"tool","texts":[]}}"#;
    smol::block_on(journal.append(&claim, "one@1".into(), body.into())).unwrap();
    journal.release(&claim);
    let error = finish(One {}.run(&world).durable(&journal, "r")).unwrap_err();
    assert_eq!(error.failures().len(), 1, "{error}");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_full_disk_stops_a_run_that_goes_on_when_there_is_room() {
    use plan_runtime::journal::SqliteOptions;
    plan! {
        Long() -> usize {
            #[optional(each)]
            #[concurrency(1)]
            step each = for n in (0..2000u64).collect::<Vec<_>>() { Act { n } };
            #[fallback(0)]
            step last = Act { n: 7 };
            each.len() + last as usize
        }
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join(format!(
        "durable-{}-{:x}",
        std::process::id(),
        fastrand::u64(..)
    ));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("runs.db");
    let world = World::new();
    let (mut calls, mut stops) = (0, 0);
    for bytes in [100_000, 150_000, 200_000, 10_000_000] {
        let db = SqliteOptions::new()
            .normal()
            .max_bytes(bytes)
            .open(&path)
            .unwrap();
        let result = smol::block_on(Long {}.run(&world).durable(&db, "r"));
        calls += world
            .called()
            .split(' ')
            .filter(|it| !it.is_empty())
            .count();
        match result {
            Ok(output) => assert_eq!(output, 2007),
            Err(error) => {
                assert!(error.journal().is_some(), "{error}");
                stops += 1;
            }
        }
    }
    assert_eq!(stops, 3);
    assert!((2001..=2004).contains(&calls), "{calls}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A page of the file has other content: the run has its usual output, or its journal cannot be used.
#[cfg(feature = "sqlite")]
#[test]
fn a_damaged_file_never_changes_an_output() {
    use plan_runtime::journal::Sqlite;
    plan! {
        Sum() -> u64 {
            step each = for n in (0..150u64).collect::<Vec<_>>() { Act { n } };
            step inside = { step one = Act { n: each[3] }; one };
            #[optional]
            step tried = Act { n: inside };
            #[fallback(0)]
            step last = Act { n: 7 };
            each.iter().sum::<u64>() + tried.unwrap_or(1000) + last
        }
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join(format!("damaged-{:x}", fastrand::u64(..)));
    std::fs::create_dir_all(&folder).unwrap();
    let (world, whole) = (World::new(), folder.join("whole.db"));
    let expected = finish(Sum {}.run(&world)).unwrap();
    world.on("last", &[Goes::Hangs]);
    let db = Sqlite::open(&whole).unwrap();
    let mut run = Box::pin(Sum {}.run(&world).durable(&db, "r"));
    world.called();
    let mut called = String::new();
    // The thread of the journal wakes it.
    smol::block_on(smol::future::or(
        async {
            let _ = (&mut run).await;
        },
        async {
            while !["tried", "last"].iter().all(|step| called.contains(step)) {
                smol::Timer::after(std::time::Duration::from_millis(1)).await;
                called += &world.called();
            }
        },
    ));
    drop(run);
    drop(db);
    world.all_well();

    let bytes = std::fs::read(&whole).unwrap();
    let (mut ended, mut refused) = (0, 0);
    for page in 0..bytes.len() / 4096 {
        for damage in ["noise", "nothing", "another page"] {
            let mut bytes = bytes.clone();
            let other = fastrand::usize(..bytes.len() / 4096) * 4096;
            let other = bytes[other..other + 4096].to_vec();
            let page = &mut bytes[page * 4096..(page + 1) * 4096];
            match damage {
                "noise" => page.fill_with(|| fastrand::u8(..)),
                "nothing" => page.fill(0),
                _ => page.copy_from_slice(&other),
            }
            let path = folder.join(format!("{}.db", fastrand::u64(..)));
            std::fs::write(&path, bytes).unwrap();
            match Sqlite::open(&path) {
                Err(_) => refused += 1,
                Ok(db) => match smol::block_on(Sum {}.run(&world).durable(&db, "r")) {
                    Ok(output) => {
                        assert_eq!(output, expected);
                        ended += 1;
                    }
                    Err(error) => {
                        assert!(error.journal().is_some(), "{error}");
                        refused += 1;
                    }
                },
            }
        }
    }
    assert!(ended > 0 && refused > 0, "{ended} and {refused}");
    std::fs::remove_dir_all(folder).unwrap();
}

plan! {
    Records() -> usize {
        #[catch]
        step caught = Inner { n: 4 };
        step held = Act { n: 1 };
        #[undo(held)]
        step released = Undo { n: held };
        #[optional]
        #[concurrency(2)]
        step each = for n in (0..12u64).collect::<Vec<_>>() { step inner = Act { n }; #[undo(inner)] step back = Undo { n: inner }; inner };
        each.map_or(0, |each| each.len()) + usize::from(caught.is_ok())
    }
}

/// A run that records more than it may is undone, wherever that happens and wherever the journal fails on the way.
#[test]
fn what_a_run_records_is_limited_and_its_undo_steps_have_room() {
    const WHOLE: usize = 1_400;
    let (mut ended, mut done) = (0, 0);
    for limit in (600..WHOLE + 400).step_by(50) {
        let counted = Rough::new();
        let limits = Limits::DEFAULT.recorded(limit);
        let whole = World::new();
        let expected = finish(Records {}.run(&whole).limits(limits).durable(&counted, "r"));
        for at in (1..=counted.operations()).step_by(3) {
            let (world, journal) = (World::new(), Rough::new());
            let run = || Records {}.run(&world).limits(limits).durable(&journal, "r");
            journal.fail_at(Some(at));
            // The times in records have more digits on a slow machine.
            let Err(error) = finish(run()) else {
                assert!(limit + 200 > WHOLE, "{limit}, operation {at}");
                continue;
            };
            assert!(
                error.journal().is_some() || error.kind() == RunErrorKind::Limit,
                "{error}"
            );
            journal.fail_at(None);
            let again = finish(run());
            // The times in records have more digits after a crash.
            let Err(error) = again else {
                assert!(limit + 200 > WHOLE, "{limit}, operation {at}");
                continue;
            };
            assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
            assert!(error.not_undone().next().is_none(), "{error}");
        }
        match expected {
            Ok(output) => {
                assert_eq!(output, 13);
                done += 1;
            }
            Err(error) => {
                let expected = format!(
                    "plan `records` was ended: the run has recorded more than {limit} bytes in its journal, its limit; \
                     return less from its tools, or raise `run::Limits::recorded`"
                );
                assert!(error.to_string().starts_with(&expected), "{error}");
                // Each call that had an effect is undone.
                let called = whole.called();
                let called: Vec<&str> = called.split(' ').collect();
                for path in called.iter().filter(|it| it.ends_with("inner")) {
                    let undo = path.replace("inner", "back");
                    assert!(called.contains(&&*undo), "{limit}: {called:?}");
                }
                ended += 1;
            }
        }
    }
    assert!(ended > 5 && done > 0, "{ended} ended, {done} done");
}
