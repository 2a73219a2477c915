//! Connections that are cut, and a server that ends.

use crate::server::Server;
use crate::{append, claim, count, cuts, open, restarts};
use plan_postgres::Postgres;
use plan_runtime::journal::spi::{Message, RunInfo};
use plan_runtime::journal::{Journal, JournalError};
use smol::block_on;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const RUNS: usize = 4;

const CUT: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'plan-postgres%'";

/// Writes to several runs, one by one and many together, until the work is over. All writes have to succeed. Returns the number of records.
fn write_meanwhile(db: &Postgres, work: impl FnOnce()) -> usize {
    let is_over = AtomicBool::new(false);
    let write = |run: usize| {
        let id = format!("run {run}");
        let held = claim(db, &id).claim;
        let mut next = count(db, &id);
        while !is_over.load(Ordering::Acquire) {
            let many = [1, 1, 3, 64][fastrand::usize(..4)];
            let writes: Vec<_> = (next..next + many).map(|n| append(db, &held, n)).collect();
            for write in writes {
                block_on(write).unwrap();
            }
            next += many;
        }
        assert_eq!(count(db, &id), next, "{id}");
        db.release(&held);
        next
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..RUNS)
            .map(|run| scope.spawn(move || write(run)))
            .collect();
        work();
        is_over.store(true, Ordering::Release);
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    })
}

fn pause() {
    thread::sleep(Duration::from_millis(fastrand::u64(50..300)));
}

#[test]
fn writes_survive_their_connections() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    let mut cut = 0;
    let written = write_meanwhile(&db, || {
        for _ in 0..cuts() {
            pause();
            cut += server.number(CUT);
        }
    });
    println!("{cut} connections cut, {written} records written");
    assert!(cut > 0);
}

#[test]
fn writes_survive_the_server() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    let written = write_meanwhile(&db, || {
        for n in 0..restarts() {
            pause();
            server.stop(if n.is_multiple_of(2) { "QUIT" } else { "INT" });
            pause();
            server.restart();
        }
        pause();
    });
    println!("{} restarts, {written} records written", restarts());
}

#[test]
fn messages_come_although_connections_are_cut() {
    let Some(server) = Server::start() else {
        return;
    };
    let (db, other) = (open(&server.url()), open(&server.url()));
    let held = claim(&db, "waits").claim;
    block_on(db.describe(&held, &RunInfo::new("waits", "{}", "{}"))).unwrap();
    let rounds = cuts().div_ceil(2) as u64;
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let mut last = 0;
            while last < rounds {
                block_on(db.watch(&held, last));
                let new = block_on(db.messages(&held, last)).unwrap();
                last = new.last().unwrap().0;
            }
        });
        for n in 0..rounds {
            server.number(CUT);
            let message = Message::Signal {
                path: format!("{n}"),
                body: "1".to_owned(),
            };
            block_on(other.send("waits", &message)).unwrap();
            server.number(CUT);
            pause();
        }
        waits.join().unwrap();
    });
    assert_eq!(
        block_on(db.messages(&held, 0)).unwrap().len() as u64,
        rounds
    );
}

/// A wait that has to end within seconds, although no notification comes.
fn ends(db: &Postgres, held: &plan_runtime::journal::spi::Claim, after: u64) {
    let limit = async {
        smol::Timer::after(Duration::from_secs(10)).await;
        panic!("the wait does not end");
    };
    block_on(smol::future::or(db.watch(held, after), limit));
}

#[test]
fn waits_end_without_a_notification() {
    let Some(server) = Server::start() else {
        return;
    };
    let (db, other) = (open(&server.url()), open(&server.url()));
    let held = claim(&db, "waits").claim;
    block_on(db.describe(&held, &RunInfo::new("waits", "{}", "{}"))).unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(|| ends(&db, &held, 0));
        thread::sleep(Duration::from_millis(300));
        server.execute(
            "BEGIN; UPDATE plan.runs SET last_message = 1;
            INSERT INTO plan.messages SELECT number, 1, NULL, NULL, 0 FROM plan.runs; COMMIT",
        );
        waits.join().unwrap();
        assert_eq!(
            block_on(db.messages(&held, 0)).unwrap(),
            [(1, Message::Cancel)]
        );

        // A run that another process has taken over.
        let waits = scope.spawn(|| ends(&db, &held, 1));
        thread::sleep(Duration::from_millis(300));
        server.execute("UPDATE plan.runs SET owner = NULL");
        claim(&other, "waits");
        waits.join().unwrap();
        let lost = block_on(db.messages(&held, 1)).unwrap_err();
        assert!(matches!(lost, JournalError::Lost { .. }), "{lost}");
    });
}
