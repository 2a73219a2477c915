//! Writes of the SQLite journal that are committed together.

use crate::journal::asking::Asking;
use crate::journal::support::{Folder, begin};
use plan_runtime::journal::spi::{Answer, Claim, End, Message, RunInfo};
use plan_runtime::journal::{Journal, Sqlite};
use rusqlite::Connection;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};

/// Keeps the writer's thread in the wake, which begins with a message and lasts until the sender of `end` is dropped.
struct Busy {
    begun: mpsc::Sender<()>,
    end: Mutex<mpsc::Receiver<()>>,
}

impl Wake for Busy {
    fn wake(self: Arc<Self>) {
        self.begun.send(()).unwrap();
        let _ = self.end.lock().unwrap().recv();
    }
}

/// Counts the committed rows when a write is complete. The writer's thread commits nothing during the wake.
struct Committed {
    database: Mutex<Connection>,
    sql: &'static str,
    counts: mpsc::Sender<i64>,
}

impl Wake for Committed {
    fn wake(self: Arc<Self>) {
        let database = self.database.lock().unwrap();
        let count = database.query_row(self.sql, [], |row| row.get(0));
        self.counts.send(count.unwrap()).unwrap();
    }
}

/// Polls a write, and returns `true` if the write is not complete.
fn is_pending(write: &mut Answer<'_, ()>, waker: &Waker) -> bool {
    write
        .as_mut()
        .poll(&mut Context::from_waker(waker))
        .is_pending()
}

/// Returns the number of rows that each commit adds, for writes that start while the writer's thread is busy. `sql` counts the rows.
fn commits<'a>(
    folder: &Folder,
    db: &Sqlite,
    sql: &'static str,
    writes: impl FnOnce() -> Vec<Answer<'a, ()>>,
) -> Vec<i64> {
    let database = Connection::open(folder.path()).unwrap();
    let claim = begin(db, sql);
    let (begun, is_busy) = mpsc::channel();
    let (idle, end) = mpsc::channel();
    let end = Mutex::new(end);
    let busy = Waker::from(Arc::new(Busy { begun, end }));
    // A write that is complete before the first poll wakes nobody.
    let mut first = (0..).map(|at: u32| db.append(&claim, at.to_string(), "0".to_owned()));
    let first = first.find_map(|mut write| is_pending(&mut write, &busy).then_some(write));
    is_busy.recv().unwrap();

    let before = database.query_row(sql, [], |row| row.get(0)).unwrap();
    let (counts, counted) = mpsc::channel();
    let committed = Committed {
        database: Mutex::new(database),
        sql,
        counts,
    };
    let committed = Waker::from(Arc::new(committed));
    let mut writes = writes();
    assert!(writes.iter_mut().all(|it| is_pending(it, &committed)));
    drop(idle);
    let mut counts: Vec<i64> = counted.iter().take(writes.len()).collect();
    for write in writes.into_iter().chain(first) {
        smol::block_on(write).unwrap();
    }
    counts.insert(0, before);
    counts.dedup();
    counts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn text(bytes: usize) -> String {
    format!("\"{}\"", "x".repeat(bytes - 2))
}

/// A small write does not wait for all large writes that came after it.
#[test]
fn about_four_mebibytes_are_committed_together() {
    const MANY: usize = 9;
    let part = || text(1 << 19);
    let whole = || text(1 << 20);
    let ids: Vec<String> = (0..MANY).map(|at| format!("r{at}")).collect();
    let with = |begin: fn(&Sqlite, &str) -> Claim| {
        let folder = Folder::new();
        let db = folder.open();
        let claims: Vec<Claim> = ids.iter().map(|id| begin(&db, id)).collect();
        (folder, db, claims)
    };

    let (folder, db, claims) = with(begin);
    let records = commits(&folder, &db, "SELECT count(*) FROM records", || {
        let writes = claims.iter();
        writes
            .map(|claim| db.append(claim, part(), part()))
            .collect()
    });
    let messages: Vec<Message> = (0..MANY)
        .map(|_| Message::Signal {
            path: part(),
            body: part(),
        })
        .collect();
    let sent = commits(&folder, &db, "SELECT count(*) FROM messages", || {
        let writes = ids.iter().zip(&messages);
        writes.map(|(id, message)| db.send(id, message)).collect()
    });
    let ends = commits(&folder, &db, "SELECT count(*) FROM ends", || {
        let writes = claims.iter();
        writes
            .map(|claim| db.end(claim, End::Done(whole())))
            .collect()
    });

    let (folder, db, claims) = with(|db, id| db.claim_now(id).unwrap().claim);
    let runs: Vec<RunInfo> = ids
        .iter()
        .map(|id| RunInfo::new(id.as_str(), part(), part()))
        .collect();
    let described = commits(&folder, &db, "SELECT count(*) FROM descriptions", || {
        let writes = claims.iter().zip(&runs);
        writes.map(|(claim, run)| db.describe(claim, run)).collect()
    });
    assert_eq!([records, sent, ends, described], [[4, 4, 1]; 4]);
}

#[test]
fn many_small_writes_are_few_commits() {
    let folder = Folder::new();
    let db = folder.open();
    let claim = begin(&db, "many");
    let records = commits(&folder, &db, "SELECT count(*) FROM records", || {
        let keys = (0..600).map(|at| at.to_string());
        keys.map(|key| db.append(&claim, key, text(40))).collect()
    });
    assert_eq!(records, [256, 256, 88]);
}
