//! The lists of runs, and the changes of runs that nobody runs.

use crate::server::{Server, within};
use crate::{append, claim, count, open, records};
use plan_postgres::Postgres;
use plan_runtime::journal::spi::{Claim, End, Message, Rest, Retry, RunInfo};
use plan_runtime::journal::{Journal, JournalError, RunFilter, RunState, RunSummary, Store};
use smol::block_on;
use smol::future::FutureExt;
use std::thread;
use std::time::Duration;

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// The time limit for a queued write.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Claims and describes a run.
pub(crate) fn begin(db: &Postgres, id: &str) -> Claim {
    let held = claim(db, id).claim;
    block_on(db.describe(&held, &RunInfo::new("plan", "{}", "{}"))).unwrap();
    held
}

fn due(db: &Postgres) -> Vec<String> {
    let due = block_on(db.due(100)).unwrap();
    due.into_iter().map(|run| run.id).collect()
}

/// Waits until these runs are due.
#[track_caller]
fn becomes_due(db: &Postgres, expected: &[&str]) {
    let is_due = within(LIMIT, || due(db) == expected);
    assert!(is_due, "{:?} are due, not {expected:?}", due(db));
}

pub(crate) fn summary(db: &Postgres, id: &str) -> RunSummary {
    let filter = RunFilter::new().id(id);
    block_on(db.runs(&filter)).unwrap().remove(0)
}

pub(crate) fn ids(db: &Postgres, filter: &RunFilter) -> Vec<String> {
    let page = block_on(db.runs(filter)).unwrap();
    page.into_iter().map(|run| run.id).collect()
}

fn signal(path: &str) -> Message {
    Message::Signal {
        path: path.to_owned(),
        body: "1".to_owned(),
    }
}

/// Returns `true` if a wait ends within some seconds.
fn ends(wait: plan_runtime::journal::spi::Notified) -> bool {
    let limit = async {
        smol::Timer::after(Duration::from_secs(10)).await;
        false
    };
    block_on(
        async {
            wait.await;
            true
        }
        .or(limit),
    )
}

#[test]
fn a_database_of_version_1_is_changed() {
    let Some(server) = Server::start() else {
        return;
    };
    server.execute(include_str!("version_1.sql"));
    let db = open(&server.url());
    assert_eq!(due(&db), ["old"]);
    let held = claim(&db, "old").claim;
    assert_eq!(count(&db, "old"), 2);
    block_on(append(&db, &held, 2)).unwrap();
    // The run can rest, although version 1 counted refused messages.
    let seen = block_on(db.messages(&held, 0)).unwrap();
    assert_eq!(seen, [(1, signal("a"))]);
    db.rest(&held, Rest::new(None, true, 1));
    let rests = within(LIMIT, || summary(&db, "old").waits);
    assert!(rests);
    assert!(due(&db).is_empty());
    assert_eq!(server.number("SELECT version::bigint FROM plan.version"), 4);
}

#[test]
fn a_rest_ends_by_its_time_or_a_message_or_a_claim() {
    let Some(server) = Server::start() else {
        return;
    };
    let (db, other) = (open(&server.url()), open(&server.url()));
    // Only described runs without an owner are due, in the order of their starts.
    for id in ["b", "a"] {
        db.release(&begin(&db, id));
    }
    claim(&db, "undescribed");
    let held = begin(&db, "held");
    becomes_due(&other, &["b", "a"]);
    assert_eq!(block_on(other.due(1)).unwrap()[0].id, "b");

    db.rest(&held, Rest::new(Some(HOUR), false, 0));
    let b = claim(&db, "b").claim;
    db.rest(&b, Rest::new(None, true, 0));
    becomes_due(&other, &["a"]);
    assert!(within(LIMIT, || !summary(&other, "held").is_owned));
    assert!(!summary(&other, "held").waits);
    assert!(within(LIMIT, || summary(&other, "b").waits));
    block_on(other.send("held", &signal("x"))).unwrap();
    becomes_due(&other, &["a", "held"]);
    // A run whose rest is over comes before the others.
    server.execute("UPDATE plan.runs SET rests = now() - interval '1 s' WHERE id = 'held'");
    becomes_due(&other, &["held", "a"]);

    // A message that the run has not taken ends a rest before its beginning.
    let held = claim(&db, "held").claim;
    db.rest(&held, Rest::new(None, true, 0));
    becomes_due(&other, &["a", "held"]);
    let held = claim(&db, "held").claim;
    db.rest(&held, Rest::new(None, true, 1));
    becomes_due(&other, &["a"]);
    assert!(within(LIMIT, || summary(&other, "held").waits));
    // A refused message ends no rest.
    block_on(other.send("held", &signal("x"))).unwrap_err();
    assert!(summary(&other, "held").waits);
    // A claim does.
    let held = claim(&db, "held").claim;
    assert!(!summary(&other, "held").waits);
    db.release(&held);
    becomes_due(&other, &["a", "held"]);
}

#[test]
fn a_refused_run_has_a_reason_until_it_begins() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    for id in ["a", "owned", "ended", "waits"] {
        let held = begin(&db, id);
        match id {
            "a" => db.release(&held),
            "ended" => {
                block_on(db.end(&held, End::Done("1".to_owned()))).unwrap();
                db.release(&held);
            }
            "waits" => db.rest(&held, Rest::new(None, true, 0)),
            _ => {}
        }
    }
    // No wait for the release is necessary.
    for id in ["a", "owned", "ended", "unknown"] {
        block_on(db.refuse(id, HOUR, "it's \0 odd")).unwrap();
    }
    let reason = |id: &str| summary(&db, id).refusal;
    assert_eq!(reason("a").as_deref(), Some("it's \0 odd"));
    assert_eq!(reason("owned"), None);
    assert_eq!(reason("ended"), None);
    assert!(due(&db).is_empty());
    block_on(db.forgive()).unwrap();
    assert_eq!(due(&db), ["a"]);
    assert!(
        summary(&db, "waits").waits,
        "only refused runs are forgiven"
    );
    claim(&db, "a");
    assert_eq!(reason("a"), None);
}

#[test]
fn runs_of_a_dead_owner_are_due() {
    let Some(server) = Server::start() else {
        return;
    };
    let (db, other) = (open(&server.url()), open(&server.url()));
    let held = begin(&db, "a");
    assert!(due(&other).is_empty());
    assert!(summary(&other, "a").is_owned);
    server.execute("UPDATE plan.owners SET lease = now() - interval '1 s'");
    // Leases are renewed three times a second.
    server.execute("UPDATE plan.runs SET owner = 'dead'");
    assert_eq!(due(&other), ["a"]);
    assert!(!summary(&other, "a").is_owned);
    block_on(other.refuse("a", HOUR, "why")).unwrap();
    assert!(due(&other).is_empty());
    db.rest(&held, Rest::new(None, true, 0));
    block_on(db.refuse("unknown", HOUR, "")).unwrap();
    assert!(!summary(&other, "a").waits, "a lost run was changed");
}

#[test]
fn filters_and_pages_select_runs() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    let ends = [
        End::Done("1".to_owned()),
        End::Failed("{}".to_owned()),
        End::Cancelled("{}".to_owned()),
    ];
    for (n, end) in ends.into_iter().enumerate() {
        let held = begin(&db, &format!("{n}"));
        block_on(db.end(&held, end)).unwrap();
        db.release(&held);
    }
    begin(&db, "3");
    db.release(&begin(&db, "4"));
    becomes_due(&db, &["4"]);
    let all = RunFilter::new();
    assert_eq!(ids(&db, &all), ["0", "1", "2", "3", "4"]);
    let newest = all.clone().newest_first();
    assert_eq!(ids(&db, &newest), ["4", "3", "2", "1", "0"]);
    assert_eq!(ids(&db, &newest.clone().limit(2)), ["4", "3"]);
    let third = summary(&db, "2").number;
    assert_eq!(ids(&db, &all.clone().after(third)), ["3", "4"]);
    assert_eq!(ids(&db, &newest.after(third)), ["1", "0"]);
    assert!(ids(&db, &all.clone().after(u64::MAX)).is_empty());
    for (state, expected) in [
        (RunState::Done, &["0"][..]),
        (RunState::Failed, &["1"]),
        (RunState::Cancelled, &["2"]),
        (RunState::Running, &["3", "4"]),
    ] {
        assert_eq!(ids(&db, &all.clone().state(state)), expected);
        assert_eq!(summary(&db, expected[0]).state, state);
    }
    assert_eq!(ids(&db, &all.clone().is_owned(true)), ["3"]);
    assert_eq!(ids(&db, &all.clone().is_owned(false).id("4")), ["4"]);
    assert!(ids(&db, &all.clone().plan("other")).is_empty());
    assert_eq!(ids(&db, &all.clone().older_than(Duration::ZERO)).len(), 5);
    assert!(ids(&db, &all.clone().older_than(HOUR)).is_empty());
    assert!(ids(&db, &all.older_than(Duration::MAX)).is_empty());
    let run = summary(&db, "0");
    assert!(run.ended.is_some_and(|ended| ended >= run.began - HOUR));
    assert_eq!(run.plan, "plan");
}

#[test]
fn a_retried_run_keeps_the_other_records() {
    let Some(server) = Server::start() else {
        return;
    };
    let (db, other) = (open(&server.url()), open(&server.url()));
    let held = begin(&db, "a");
    for n in 0..4 {
        drop(append(&db, &held, n));
    }
    block_on(db.send("a", &signal("x"))).unwrap();
    block_on(db.send("a", &Message::Cancel)).unwrap();
    drop(db.end(&held, End::Failed("{}".to_owned())));
    let keys = ["1", "3", "unknown"].map(str::to_owned).to_vec();
    let record = ("2".to_owned(), "new".to_owned());
    // Before the change, the queued records are written.
    block_on(db.retry(&held, Retry::new(keys, Some(record)))).unwrap();
    block_on(append(&db, &held, 5)).unwrap();
    let bodies: Vec<String> = records(&db, "a").into_iter().map(|it| it.body).collect();
    assert_eq!(bodies, ["0", "new", "5"]);
    assert_eq!(summary(&db, "a").state, RunState::Running);
    assert_eq!(block_on(db.look("a")).unwrap().unwrap().end, None);
    let messages = block_on(db.messages(&held, 0)).unwrap();
    assert_eq!(messages, [(1, signal("x"))]);
    // A removed cancellation does not end a rest.
    db.rest(&held, Rest::new(None, true, 1));
    assert!(within(LIMIT, || summary(&db, "a").waits));

    let lost = claim(&db, "a").claim;
    server.execute("UPDATE plan.runs SET owner = NULL");
    let held = claim(&other, "a").claim;
    let retry = Retry::new(vec!["0".to_owned()], Some(("9".to_owned(), String::new())));
    let error = block_on(db.retry(&lost, retry.clone())).unwrap_err();
    assert!(matches!(error, JournalError::Lost { .. }), "{error}");
    assert_eq!(records(&db, "a").len(), 3);
    block_on(other.retry(&held, retry)).unwrap();
    assert_eq!(records(&db, "a").len(), 3);
}

#[test]
fn ended_runs_are_deleted_with_their_records() {
    let Some(server) = Server::start() else {
        return;
    };
    let (db, other) = (open(&server.url()), open(&server.url()));
    // More than two batches.
    for n in 0..300 {
        let held = begin(&db, &format!("{n}"));
        drop(append(&db, &held, 0));
        block_on(db.send(&format!("{n}"), &signal("x"))).unwrap();
        drop(db.end(&held, End::Done("1".to_owned())));
        if n != 7 {
            db.release(&held);
        }
    }
    let running = begin(&db, "running");
    assert_eq!(block_on(db.delete(HOUR)).unwrap(), 0);
    // Another run is recorded meanwhile.
    let deleted = thread::scope(|scope| {
        let deletes = scope.spawn(|| block_on(db.delete(Duration::ZERO)).unwrap());
        for n in 0..20 {
            block_on(append(&db, &running, n)).unwrap();
        }
        deletes.join().unwrap()
    });
    assert_eq!(deleted, 299, "the run with an owner stays");
    assert_eq!(ids(&db, &RunFilter::new()), ["7", "running"]);
    for (table, left) in [("runs", 2), ("records", 21), ("messages", 1)] {
        let sql = format!("SELECT count(*) FROM plan.{table}");
        assert_eq!(server.number(&sql), left, "{table}");
    }
    // An id can be used again.
    let again = claim(&other, "0");
    assert_eq!(again.run.info, None);
    assert!(records(&other, "0").is_empty());
}

#[test]
fn an_arrival_wakes_all_processes() {
    let Some(server) = Server::start() else {
        return;
    };
    let (db, other) = (open(&server.url()), open(&server.url()));
    let both = || [db.arrival(), other.arrival()];
    let waits = both();
    db.release(&begin(&db, "a"));
    assert!(waits.into_iter().all(ends), "a release of a described run");
    let held = claim(&db, "a").claim;
    db.rest(&held, Rest::new(None, true, 0));
    assert!(within(LIMIT, || summary(&db, "a").waits));
    let waits = both();
    block_on(other.send("a", &signal("x"))).unwrap();
    assert!(waits.into_iter().all(ends), "a message");
    let wait = db.arrival();
    block_on(db.forgive()).unwrap();
    assert!(ends(wait), "runs that could not begin");
}

#[test]
fn each_message_has_its_number() {
    const SENDERS: usize = 8;
    const EACH: usize = 25;
    let Some(server) = Server::start() else {
        return;
    };
    let journals: Vec<Postgres> = (0..4).map(|_| open(&server.url())).collect();
    let held = begin(&journals[0], "a");
    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let db = &journals[sender % journals.len()];
            scope.spawn(move || {
                for n in 0..EACH {
                    // Each path is sent by two threads.
                    let path = format!("{}/{n}", sender / 2);
                    let _ = block_on(db.send("a", &signal(&path)));
                }
            });
        }
    });
    let messages = block_on(journals[0].messages(&held, 0)).unwrap();
    let numbers: Vec<u64> = messages.iter().map(|(number, _)| *number).collect();
    let expected: Vec<u64> = (1..=(SENDERS / 2 * EACH) as u64).collect();
    assert_eq!(numbers, expected);
    let last = server.number("SELECT last_message FROM plan.runs");
    assert_eq!(last, (SENDERS / 2 * EACH) as i64);
}

#[test]
fn ended_and_resting_runs_do_not_slow_the_search_for_due_runs() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    server.execute(
        "INSERT INTO plan.runs (id, epoch, began, plan, document, inputs, ended, end_kind, output, rests)
        SELECT n::text::bytea, 1, n, 'plan', '{}', '{}', CASE WHEN n % 4 > 0 THEN now() END, CASE WHEN n % 4 > 0 THEN 0 END, '1',
            CASE WHEN n % 4 = 0 THEN 'infinity'::timestamptz END
        FROM generate_series(1, 5000) n",
    );
    let numbers = [
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'runs_due'",
        "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'runs_due'",
        "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'runs'",
    ];
    let numbers = || numbers.map(|sql| server.number(sql));
    for (begun, analyze) in ["SELECT 1", "ANALYZE plan.runs"].into_iter().enumerate() {
        server.execute(analyze);
        server.execute("SELECT pg_stat_reset()");
        for _ in 0..20 {
            assert_eq!(due(&db).len(), begun);
        }
        db.release(&begin(&db, analyze));
        assert!(within(LIMIT, || due(&db).len() == begun + 1));
        // A session reports its numbers after a second.
        let is_reported = within(LIMIT, || {
            due(&db);
            numbers()[0] >= 40
        });
        assert!(is_reported, "the index is not used: {:?}", numbers());
        let [searches, read, scans] = numbers();
        assert_eq!(scans, 0, "the table is read as a whole");
        assert!(read <= searches * 4, "{read} rows in {searches} searches");
    }
}
