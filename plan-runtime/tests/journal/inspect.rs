//! What a database lists and deletes.

use crate::journal::support::{Folder, begin, info, integrity, record};
use plan_runtime::journal::{
    End, Journal, JournalError, Message, RunFilter, RunState, RunSummary, Sqlite,
};
use std::time::{Duration, SystemTime};

fn runs(db: &Sqlite, filter: RunFilter) -> Vec<RunSummary> {
    db.runs(&filter).collect::<Result<_, _>>().unwrap()
}

fn ids(db: &Sqlite, filter: RunFilter) -> String {
    let runs = runs(db, filter);
    let ids: Vec<&str> = runs.iter().map(|run| &*run.id).collect();
    ids.join(" ")
}

fn end(db: &Sqlite, id: &str, failed: bool) {
    let claim = db.claim(id).unwrap().claim;
    let body = "1".to_owned();
    smol::block_on(db.end(&claim, End { failed, body })).unwrap();
    db.release(&claim);
}

#[test]
fn filters_are_combined() {
    let folder = Folder::new();
    let db = folder.open();
    let before = SystemTime::now();
    for (id, plan) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", "b"), ("5", "a")] {
        let claim = db.claim(id).unwrap().claim;
        db.describe(&claim, &info(plan)).unwrap();
        db.release(&claim);
    }
    end(&db, "1", false);
    end(&db, "2", true);
    let held = db.claim("3").unwrap().claim;
    db.claim("never described").unwrap();

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
    assert_eq!(ids(&db, all().newest_first().before("4")), "3 2 1");
    assert_eq!(ids(&db, all().newest_first().before("4").plan("a")), "3 1");
    assert_eq!(ids(&db, all().before("3")), "1 2");
    assert_eq!(ids(&db, all().before("there is none")), "");

    assert_eq!(db.run("2").unwrap().unwrap().state, RunState::Failed);
    assert!(db.run("3").unwrap().unwrap().is_owned);
    assert!(db.run("never described").unwrap().is_none());
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
    let held = db.claim("299").unwrap().claim;
    let listed = runs(&db, RunFilter::new());
    assert_eq!(listed.len(), 300);
    assert!(listed.is_sorted_by_key(|run| run.id.clone()));
    assert_eq!(ids(&db, RunFilter::new().is_owned(true)), "299");
    let listed = runs(&db, RunFilter::new().newest_first());
    assert_eq!(listed.len(), 300);
    assert!(listed.iter().rev().is_sorted_by_key(|run| run.id.clone()));
    assert_eq!(
        runs(&db, RunFilter::new().newest_first().before("140")).len(),
        140
    );

    let keys: Vec<String> = (0..1000).map(|n| format!("{n:04}")).collect();
    for key in &keys {
        drop(db.record(&held, key.clone(), "x".repeat(5000)));
    }
    smol::block_on(record(&db, &held, "last")).unwrap();
    let mut records = db.records("299").unwrap();
    for (n, key) in keys.iter().enumerate() {
        let (found, record) = records.next().unwrap().unwrap();
        assert_eq!((&found, record.number), (key, n as u64 + 1));
        // Nothing is kept open between: others write.
        if n == 500 {
            smol::block_on(record_of(&db, &held)).unwrap();
        }
    }
    assert_eq!(records.count(), 2);
    assert!(matches!(db.records("300").err(), Some(JournalError::Unknown { id }) if id == "300"));
    assert_eq!(db.records("000").unwrap().count(), 0);
}

fn record_of(db: &Sqlite, claim: &plan_runtime::journal::Claim) -> plan_runtime::journal::Written {
    record(db, claim, "meanwhile")
}

#[test]
fn ended_runs_are_deleted() {
    let folder = Folder::new();
    let db = folder.open();
    for n in 0..200 {
        let claim = begin(&db, &format!("{n}"));
        drop(record(&db, &claim, "1"));
        db.send(&claim.id, &Message::Cancel).unwrap();
        db.release(&claim);
    }
    let large = db.claim("7").unwrap().claim;
    for n in 0..2500 {
        drop(record(&db, &large, format!("more {n}")));
    }
    db.release(&large);
    for n in 0..180 {
        end(&db, &format!("{n}"), n % 2 == 0);
    }
    // One that somebody looks at.
    let held = db.claim("3").unwrap().claim;
    assert_eq!(db.delete(Duration::from_secs(60)).unwrap(), 0);
    assert_eq!(db.delete(Duration::ZERO).unwrap(), 179);
    assert_eq!(runs(&db, RunFilter::new()).len(), 21);
    db.release(&held);
    assert_eq!(db.delete(Duration::ZERO).unwrap(), 1);
    assert!(matches!(
        db.records("7").err(),
        Some(JournalError::Unknown { .. })
    ));
    assert!(matches!(
        db.send("7", &Message::Cancel),
        Err(JournalError::Unknown { .. })
    ));

    // The id may be used again, and finds nothing of the old run.
    let claimed = db.claim("7").unwrap();
    assert_eq!((claimed.run, claimed.end), (None, None));
    assert_eq!(db.find(&claimed.claim, "1").unwrap(), None);
    assert_eq!(db.messages(&claimed.claim, 0).unwrap(), []);
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
