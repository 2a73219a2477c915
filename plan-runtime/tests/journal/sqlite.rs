//! The journal in a file, in normal use.

use crate::journal::asking::Asking;
use crate::journal::support::{Folder, begin, info, record};
use plan_runtime::journal::spi::Message;
use plan_runtime::journal::{Journal, JournalError, RunFilter, RunState, Sqlite, SqliteOptions};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

fn owners(folder: &Folder) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(folder.join("runs.db-owners")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files.filter(|path| !path.ends_with("gate")).collect()
}

#[test]
fn owners_that_have_ended_leave_nothing() {
    let folder = Folder::new();
    let db = folder.open();
    let other = folder.open();
    assert_eq!(owners(&folder).len(), 2);
    // The remains of a killed process.
    fs::write(folder.join("runs.db-owners/1-00ff"), "").unwrap();
    drop(db);
    drop(folder.open());
    assert_eq!(owners(&folder).len(), 1);
    drop(other);
    assert_eq!(owners(&folder).len(), 0);
}

/// An owner that slept while its lock was lost: the epoch keeps it from writing.
#[test]
fn a_run_that_was_taken_over_is_lost() {
    let folder = Folder::new();
    let db = folder.open();
    let lock = owners(&folder).remove(0);
    let other = folder.open();
    let claim = begin(&db, "a");
    smol::block_on(record(&db, &claim, "1")).unwrap();
    let refused = other.claim_now("a").unwrap_err();
    let pid = std::process::id();
    assert_eq!(
        refused.to_string(),
        format!("run `a` is being run by process {pid}")
    );
    assert_eq!(
        db.claim_now("a").unwrap_err().to_string(),
        "run `a` is being run by this process"
    );

    fs::remove_file(lock).unwrap();
    let new = other.claim_now("a").unwrap();
    assert_eq!(new.run.info, Some(info("plan")));
    assert_eq!(new.claim.epoch, claim.epoch + 1);
    let end = plan_runtime::journal::spi::End::Done(String::new());
    let errors = [
        smol::block_on(record(&db, &claim, "2")),
        smol::block_on(db.end(&claim, end)),
        db.describe_now(&claim, &info("old")),
    ];
    for error in errors {
        assert!(matches!(error, Err(JournalError::Lost { id }) if id == "a"));
    }
    db.release(&claim);
    drop(db);
    // Its end has not released the other owner's run either.
    let third = folder.open().claim_now("a");
    assert!(matches!(third, Err(JournalError::Owned { .. })));
    assert_eq!(other.find_now(&new.claim, "2").unwrap(), None);
    smol::block_on(record(&other, &new.claim, "2")).unwrap();
}

#[test]
fn a_run_that_was_only_asked_for_leaves_nothing() {
    let folder = Folder::new();
    let db = folder.open();
    let claim = db.claim_now("a").unwrap().claim;
    assert_eq!(db.runs_now(&RunFilter::new()).len(), 0);
    db.release(&claim);
    let kept = db.claim_now("b").unwrap().claim;
    smol::block_on(record(&db, &kept, "1")).unwrap();
    drop(db);
    let database = rusqlite::Connection::open(folder.path()).unwrap();
    let ids = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0));
    let all = "SELECT group_concat(id || coalesce(owner, '')) FROM runs";
    assert_eq!(ids(all).unwrap(), "b");
}

/// The next run gets the numbers of a run whose claim was rolled back.
#[test]
fn a_claim_that_was_not_committed_releases_nothing() {
    let folder = Folder::new();
    let db = folder.open();
    let database = rusqlite::Connection::open(folder.path()).unwrap();
    let spoils = "CREATE TABLE parent(number INTEGER PRIMARY KEY);
        CREATE TABLE child(number REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
        CREATE TRIGGER spoils AFTER INSERT ON runs WHEN new.id = 'spoilt'
        BEGIN INSERT INTO child VALUES(1); END";
    database.execute_batch(spoils).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (mut spoilt, mut next) = (db.claim("spoilt"), db.claim("next"));
    smol::block_on(async {
        let mut waits = Context::from_waker(Waker::noop());
        assert!(spoilt.as_mut().poll(&mut waits).is_pending());
        assert!(next.as_mut().poll(&mut waits).is_pending());
        database.execute_batch("ROLLBACK").unwrap();
        assert!(matches!(spoilt.await, Err(JournalError::Storage { .. })));
        let claim = next.await.unwrap().claim;
        db.describe(&claim, &info("plan")).await.unwrap();
        record(&db, &claim, "1").await.unwrap();
    });
}

/// No other write repeats the release.
#[test]
fn a_release_that_failed_is_tried_again() {
    let folder = Folder::new();
    let db = folder.open();
    let claim = begin(&db, "a");
    let database = rusqlite::Connection::open(folder.path()).unwrap();
    let trigger = "CREATE TRIGGER full BEFORE UPDATE OF owner ON runs WHEN new.owner IS NULL
        BEGIN SELECT raise(ABORT, 'full'); END";
    database.execute_batch(trigger).unwrap();
    db.release(&claim);
    // The writer thread has executed all earlier jobs before it answers.
    assert!(matches!(
        smol::block_on(record(&db, &claim, "1")),
        Err(JournalError::Lost { .. })
    ));
    smol::block_on(record(&db, &begin(&db, "b"), "1")).unwrap();
    database.execute_batch("DROP TRIGGER full").unwrap();
    let other = folder.open();
    let end = Instant::now() + Duration::from_secs(30);
    while let Err(error) = other.claim_now("a") {
        assert!(matches!(error, JournalError::Owned { .. }), "{error}");
        assert!(Instant::now() < end, "the run is owned still");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A kill between the claim and the description leaves a run without a description.
#[test]
fn a_run_that_was_only_claimed_is_deleted() {
    let folder = Folder::new();
    let db = folder.open();
    let lock = owners(&folder).remove(0);
    let other = folder.open();
    for id in ["one", "other"] {
        db.claim_now(id).unwrap();
    }
    let kept = db.claim_now("recorded").unwrap().claim;
    smol::block_on(record(&db, &kept, "1")).unwrap();
    let ids = || {
        let database = rusqlite::Connection::open(folder.path()).unwrap();
        let all = "SELECT group_concat(id) FROM (SELECT id FROM runs ORDER BY id)";
        let ids = database.query_row(all, [], |row| row.get::<_, String>(0));
        ids.unwrap()
    };
    let all = ids();
    assert_eq!(other.delete_now(Duration::ZERO).unwrap(), 0);
    assert_eq!(ids(), all, "its owner lives");
    fs::remove_file(lock).unwrap();
    let hour = Duration::from_secs(3600);
    assert_eq!(other.delete_now(hour).unwrap(), 0);
    assert_eq!(ids(), all, "it is young");
    assert_eq!(other.delete_now(Duration::ZERO).unwrap(), 0);
    assert_eq!(ids(), "recorded");
}

/// Records that come while another commit is on its way are committed together.
#[test]
fn commits_are_shared() {
    let folder = Folder::new();
    let db = folder.open();
    let claim = begin(&db, "a");
    let before = commits(&folder);
    for round in 0..10 {
        let writes: Vec<_> = (0..64)
            .map(|n| record(&db, &claim, format!("{round}/{n}")))
            .collect();
        for write in writes {
            smol::block_on(write).unwrap();
        }
    }
    let commits = commits(&folder) - before;
    assert!(commits <= 96, "{commits} commits of 640 records");
}

/// Returns the number of frames in the log that end a transaction: those with the size of the database in their header.
fn commits(folder: &Folder) -> usize {
    let log = fs::read(folder.join("runs.db-wal")).unwrap();
    let page = usize::try_from(u32::from_be_bytes(log[8..12].try_into().unwrap())).unwrap();
    let frames = log[32..].chunks_exact(24 + page);
    frames.filter(|frame| frame[4..8] != [0; 4]).count()
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_is_queued_is_written_when_all_clones_are_dropped() {
    let folder = Folder::new();
    let db = folder.open();
    let claim = begin(&db, "a");
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let mut watch = db.clone().watch(&claim, 0);
    assert!(
        watch
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let mut writes: Vec<_> = (0..500)
        .map(|n| record(&db, &claim, format!("{n}")))
        .collect();
    drop(watch);
    drop(db);
    // They complete without an earlier poll.
    for write in &mut writes {
        let ready = write.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(ready, Poll::Ready(Ok(()))));
    }
    let db = folder.open();
    assert_eq!(db.records_now("a").unwrap().len(), 500);
    let claim = db.claim_now("a").unwrap().claim;
    assert_eq!(claim.epoch, 2);
}

/// A database that is dropped by a waker, on its own thread.
#[test]
fn a_waker_may_drop_the_last_clone() {
    struct Last(std::sync::Mutex<Option<Sqlite>>);
    impl Wake for Last {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
        }
    }
    let folder = Folder::new();
    let db = folder.open();
    let claim = begin(&db, "a");
    let last = Arc::new(Last(std::sync::Mutex::new(None)));
    let waker = Waker::from(Arc::clone(&last));
    let mut write = record(&db, &claim, "1");
    *last.0.lock().unwrap() = Some(db);
    let polled = write.as_mut().poll(&mut Context::from_waker(&waker));
    if polled.is_ready() {
        waker.wake();
    }
    let begin = Instant::now();
    while !owners(&folder).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it never ends");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(folder.open().records_now("a").unwrap().len(), 1);
}

#[test]
fn messages_wake_at_most_those_of_the_run() {
    let folder = Folder::new();
    let (db, other) = (folder.open(), folder.open());
    let counts: Vec<_> = (0..100)
        .map(|n| {
            let claim = begin(&db, &format!("{n}"));
            let count = Arc::new(Count(AtomicUsize::new(0)));
            let mut watch = db.watch(&claim, 0);
            let waker = Waker::from(Arc::clone(&count));
            let mut is_ready = || {
                let polled = watch.as_mut().poll(&mut Context::from_waker(&waker));
                polled.is_ready()
            };
            assert!(!is_ready());
            // The database was queried for earlier messages. Reads happen in order.
            smol::block_on(db.used_bytes()).unwrap();
            assert!(!is_ready() && !is_ready());
            count.0.store(0, Ordering::SeqCst);
            (count, watch, claim)
        })
        .collect();
    for (n, sender) in [(3, &db), (5, &other)] {
        let start = Instant::now();
        let sent = sender.send_now(&format!("{n}"), &Message::Cancel);
        sent.unwrap();
        while counts[n].0.0.load(Ordering::SeqCst) == 0 {
            assert!(start.elapsed() < Duration::from_secs(20), "nothing wakes");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    std::thread::sleep(Duration::from_millis(700));
    let woken = counts.iter().map(|it| it.0.0.load(Ordering::SeqCst));
    assert_eq!(woken.sum::<usize>(), 2);
    // The release of a run wakes its watchers.
    db.release(&counts[9].2);
    assert_eq!(counts[9].0.0.load(Ordering::SeqCst), 1);
}

#[test]
fn options_are_set() {
    let folder = Folder::new();
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let claim = begin(&db, "a");
    smol::block_on(record(&db, &claim, "1")).unwrap();
    assert!(format!("{db:?}").contains("runs.db"));
}

#[test]
fn links_and_relative_paths_have_the_same_owners() {
    let folder = Folder::new();
    let db = folder.open();
    begin(&db, "a");
    let mut paths = vec![
        folder.join("./runs.db"),
        folder.join("../").join(folder.path()),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path(), folder.join("link.db")).unwrap();
        paths.push(folder.join("link.db"));
    }
    let here = std::env::current_dir().unwrap();
    let up: String = here.components().skip(1).map(|_| "../").collect();
    paths.push(
        format!(
            "{up}{}",
            folder
                .path()
                .strip_prefix("/")
                .unwrap_or(&folder.path())
                .display()
        )
        .into(),
    );
    for path in paths {
        let other = Sqlite::open(&path).unwrap();
        let claimed = other.claim_now("a");
        assert!(
            matches!(claimed, Err(JournalError::Owned { .. })),
            "{}: {claimed:?}",
            path.display()
        );
    }
    // Names that SQLite takes for something else.
    for name in ["file:x.db?mode=memory", ":memory:"] {
        if cfg!(unix) {
            drop(Sqlite::open(folder.join(name)).unwrap());
            assert!(folder.join(name).exists(), "{name}");
        }
    }
}

/// `find` is quick, and reads only what it looks for. The time is that of a build with optimization.
#[test]
fn many_records() {
    let count: usize = crate::common::cases(5_000, 20_000);
    let folder = Folder::new();
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let claim = begin(&db, "many");
    let key = |n: usize| format!("outer[{}]@1.each[{n}]@1", n % 7);
    let start = Instant::now();
    for page in 0..count / 1000 {
        let writes: Vec<_> = (page * 1000..(page + 1) * 1000)
            .map(|n| record(&db, &claim, key(n)))
            .collect();
        for write in writes {
            smol::block_on(write).unwrap();
        }
    }
    let wrote = start.elapsed();
    drop(db);

    let before = resident();
    let db = folder.open();
    let start = Instant::now();
    let mut read = 0;
    while let page = smol::block_on(db.read("many", read)).unwrap()
        && let Some(last) = page.last()
    {
        for (at, record) in page.iter().enumerate() {
            let n = usize::try_from(read).unwrap() + at;
            assert_eq!((&record.key, record.number), (&key(n), n as u64 + 1));
        }
        read = last.number;
    }
    assert_eq!(read, count as u64);
    let listed = start.elapsed();
    let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    let grown = resident().saturating_sub(before) >> 10;
    println!(
        "{count} records: written {:.2} µs each, listed {:.2} µs each, {grown} KiB more memory",
        each(wrote),
        each(listed)
    );
    assert!(grown < 16 << 10, "{grown} KiB");
    let running = RunFilter::new().state(RunState::Running);
    assert_eq!(db.runs_now(&running).len(), 1);
}

/// The memory of the process in bytes, where that can be read.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split(' ').nth(1).and_then(|it| it.parse().ok());
    pages.unwrap_or(0) * 4096
}

/// A backup that SQLite makes of an open database has all acknowledged records, and its runs have no owner.
#[test]
fn a_backup_of_an_open_database_resumes() {
    let folder = Folder::new();
    let db = folder.open();
    let claim = begin(&db, "a");
    smol::block_on(record(&db, &claim, "1")).unwrap();
    let copy = folder.join("copy.db");
    let made = rusqlite::Connection::open(folder.path()).unwrap();
    made.execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();
    smol::block_on(record(&db, &claim, "2")).unwrap();

    let restored = Sqlite::open(&copy).unwrap();
    assert_eq!(
        restored.claim_now("a").unwrap().run.info,
        Some(info("plan"))
    );
    let records = restored.records_now("a").unwrap();
    let keys: Vec<&str> = records.iter().map(|record| &*record.key).collect();
    assert_eq!(keys, ["1"]);
}
