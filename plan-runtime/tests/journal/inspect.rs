//! Lists and deletions of a database.

use crate::journal::asking::Asking;
use crate::journal::support::{Folder, begin, info, integrity, record};
use plan_runtime::journal::spi::{End, Message};
use plan_runtime::journal::{
    Journal, JournalError, RunFilter, RunState, RunSummary, Sqlite, Store,
};
use std::time::{Duration, SystemTime};

fn runs(db: &Sqlite, filter: RunFilter) -> Vec<RunSummary> {
    db.runs_now(&filter)
}

fn ids(db: &Sqlite, filter: RunFilter) -> String {
    let runs = runs(db, filter);
    let ids: Vec<&str> = runs.iter().map(|run| &*run.id).collect();
    ids.join(" ")
}

fn end(db: &Sqlite, id: &str, failed: bool) {
    let claim = db.claim_now(id).unwrap().claim;
    let body = "1".to_owned();
    let end = if failed { End::Failed } else { End::Done };
    smol::block_on(db.end(&claim, end(body))).unwrap();
    db.release(&claim);
}

#[test]
fn filters_are_combined() {
    let folder = Folder::new();
    let db = folder.open();
    let before = SystemTime::now();
    for (id, plan) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", "b"), ("5", "a")] {
        let claim = db.claim_now(id).unwrap().claim;
        db.describe_now(&claim, &info(plan)).unwrap();
        db.release(&claim);
    }
    end(&db, "1", false);
    end(&db, "2", true);
    let held = db.claim_now("3").unwrap().claim;
    db.claim_now("never described").unwrap();

    let all = RunFilter::new;
    assert_eq!(ids(&db, all()), "1 2 3 4 5");
    assert_eq!(ids(&db, all().plan("a")), "1 3 5");
    assert_eq!(ids(&db, all().plan("' OR 1 --")), "");
    assert_eq!(ids(&db, all().state(RunState::Done)), "1");
    assert_eq!(ids(&db, all().state(RunState::Failed)), "2");
    assert_eq!(ids(&db, all().state(RunState::Running)), "3 4 5");
    assert_eq!(ids(&db, all().is_owned(true)), "3");
    let waits = all().state(RunState::Running).is_owned(false).plan("a");
    assert_eq!(ids(&db, waits), "5");
    assert_eq!(ids(&db, all().older_than(Duration::ZERO)), "1 2 3 4 5");
    assert_eq!(ids(&db, all().older_than(Duration::from_secs(3600))), "");
    assert_eq!(ids(&db, all().older_than(Duration::MAX)), "");

    assert_eq!(ids(&db, all().newest_first()), "5 4 3 2 1");
    let number = |id: &str| db.run_now(id).unwrap().number;
    let earlier = all().newest_first().after(number("4"));
    assert_eq!(ids(&db, earlier.clone()), "3 2 1");
    assert_eq!(ids(&db, earlier.plan("a")), "3 1");
    assert_eq!(ids(&db, all().after(number("3"))), "4 5");
    assert_eq!(ids(&db, all().after(u64::MAX)), "");
    assert_eq!(ids(&db, all().newest_first().after(u64::MAX)), "5 4 3 2 1");

    assert_eq!(db.run_now("2").unwrap().state, RunState::Failed);
    assert!(db.run_now("3").unwrap().is_owned);
    let unknown = db.run_now("never described").unwrap_err();
    assert_eq!(unknown.to_string(), "there is no run `never described`");
    let one = &runs(&db, all())[0];
    assert_eq!((&*one.id, &*one.plan), ("1", "a"));
    let ended = one.ended.unwrap();
    assert!(before <= one.began && one.began <= ended && ended <= SystemTime::now());
    // Another process sees the same, and that this one lives.
    let other = folder.open();
    assert_eq!(ids(&other, all().is_owned(true)), "3");
    assert_eq!(runs(&other, all())[4].ended, None);
    db.release(&held);
    drop(db);
    assert_eq!(ids(&other, all().is_owned(true)), "");
}

#[test]
fn lists_come_in_pages() {
    let folder = Folder::new();
    let db = folder.open();
    for n in 0..300 {
        db.release(&begin(&db, &format!("{n:03}")));
    }
    let held = db.claim_now("299").unwrap().claim;
    let listed = runs(&db, RunFilter::new());
    assert_eq!(listed.len(), 300);
    assert!(listed.is_sorted_by_key(|run| run.id.clone()));
    assert_eq!(ids(&db, RunFilter::new().is_owned(true)), "299");
    let listed = runs(&db, RunFilter::new().newest_first());
    assert_eq!(listed.len(), 300);
    assert!(listed.iter().rev().is_sorted_by_key(|run| run.id.clone()));
    let before = db.run_now("140").unwrap().number;
    let before = RunFilter::new().newest_first().after(before);
    assert_eq!(runs(&db, before).len(), 140);

    let keys: Vec<String> = (0..1000).map(|n| format!("{n:04}")).collect();
    for key in &keys {
        drop(db.append(&held, key.clone(), "x".repeat(5000)));
    }
    smol::block_on(record(&db, &held, "last")).unwrap();
    let records = db.records_now("299").unwrap();
    for (n, key) in keys.iter().enumerate() {
        assert_eq!((&records[n].key, records[n].number), (key, n as u64 + 1));
    }
    assert_eq!(records.len(), 1001);
    let page = smol::block_on(db.read("299", 500)).unwrap();
    assert!(page[0].number == 501 && (10..200).contains(&page.len()));
    assert_eq!(db.records_now("300").unwrap(), []);
    assert_eq!(db.records_now("000").unwrap().len(), 0);
}

#[test]
fn ended_runs_are_deleted() {
    let folder = Folder::new();
    let db = folder.open();
    for n in 0..200 {
        let claim = begin(&db, &format!("{n}"));
        drop(record(&db, &claim, "1"));
        db.send_now(&claim.id, &Message::Cancel).unwrap();
        db.release(&claim);
    }
    let large = db.claim_now("7").unwrap().claim;
    for n in 0..2500 {
        drop(record(&db, &large, format!("more {n}")));
    }
    db.release(&large);
    for n in 0..180 {
        end(&db, &format!("{n}"), n % 2 == 0);
    }
    // A run with an owner.
    let held = db.claim_now("3").unwrap().claim;
    assert_eq!(db.delete_now(Duration::from_secs(60)).unwrap(), 0);
    assert_eq!(db.delete_now(Duration::ZERO).unwrap(), 179);
    assert_eq!(runs(&db, RunFilter::new()).len(), 21);
    db.release(&held);
    assert_eq!(db.delete_now(Duration::ZERO).unwrap(), 1);
    assert_eq!(db.records_now("7").unwrap(), []);
    assert!(matches!(
        db.send_now("7", &Message::Cancel),
        Err(JournalError::Unknown { .. })
    ));

    // The id may be used again, and finds nothing of the old run.
    let claimed = db.claim_now("7").unwrap();
    assert_eq!((claimed.run.info, claimed.run.end), (None, None));
    assert_eq!(db.find_now(&claimed.claim, "1").unwrap(), None);
    assert_eq!(db.messages_now(&claimed.claim, 0).unwrap(), []);
    drop(db);
    let database = rusqlite::Connection::open(folder.path()).unwrap();
    for (table, count) in [
        ("runs", 20),
        ("descriptions", 20),
        ("ends", 0),
        ("records", 20),
        ("messages", 20),
        ("deleted", 0),
    ] {
        let sql = format!("SELECT count(*) FROM {table}");
        let found: i64 = database.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, count, "{table}");
    }
    assert_eq!(integrity(&folder.path()), "ok");
}

/// The row of a run still names a process that was killed.
#[test]
fn a_run_of_a_process_that_was_killed_is_due_and_can_be_refused() {
    let folder = Folder::new();
    let db = folder.open();
    db.release(&begin(&db, "a"));
    // The write of the release is queued before a later claim.
    db.claim_now("b").unwrap();
    let database = rusqlite::Connection::open(folder.path()).unwrap();
    let killed = "UPDATE runs SET owner = '1-0123456789abcdef' WHERE id = 'a'";
    assert_eq!(database.execute(killed, []).unwrap(), 1);
    let due = || -> Vec<String> {
        let due = smol::block_on(db.due(10)).unwrap();
        due.into_iter().map(|run| run.id).collect()
    };
    assert_eq!(due(), ["a"]);
    assert!(!db.run_now("a").unwrap().is_owned);
    smol::block_on(db.refuse("a", Duration::from_secs(3600), "no")).unwrap();
    assert!(due().is_empty());
    assert_eq!(db.run_now("a").unwrap().refusal.as_deref(), Some("no"));
}
