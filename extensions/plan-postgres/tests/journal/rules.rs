//! The rules of the trait, and those of the tables.

use crate::server::Server;
use crate::{LEASE, claim, open, records};
use plan_postgres::{Postgres, PostgresOptions};
use plan_runtime::journal::spi::{Claim, RunInfo};
use plan_runtime::journal::{Journal, JournalError, conformance};
use smol::block_on;
use std::thread;
use std::time::Duration;

#[test]
fn it_passes_the_conformance_suite() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.url();
    conformance::check(|| block_on(Postgres::connect(&url)).unwrap());
    conformance::check_store(|| block_on(Postgres::connect(&url)).unwrap());
}

#[test]
fn the_tables_are_made_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.url();
    let schema = "it's \"one\"";
    let connect = || {
        let options = PostgresOptions::new().schema(schema).lease(LEASE);
        block_on(options.connect(&url))
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(connect)).collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    let db = connect().unwrap();
    block_on(async {
        let claim = db.claim("a").await.unwrap().claim;
        db.describe(&claim, &RunInfo::new("plan", "{}", "{}"))
            .await
            .unwrap();
        db.append(&claim, "k".into(), "1".into()).await.unwrap();
    });
    // A claim in one schema is none in another.
    let other = open(&url);
    assert_eq!(block_on(other.look("a")).unwrap(), None);
    assert!(records(&other, "a").is_empty());
    assert_eq!(records(&db, "a").len(), 1);
    drop((db, other));

    server.execute("UPDATE \"it's \"\"one\"\"\".version SET version = 99");
    let error = connect().unwrap_err().to_string();
    let words = "have version 99, and this version of plan-postgres knows 4: use a newer one";
    assert!(error.contains(words), "{error}");
}

#[test]
fn errors_name_the_place_and_no_password() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let url = server.url();
    let place = url.rsplit_once('@').unwrap().1;
    let host = place.trim_end_matches("/postgres");
    let options = PostgresOptions::new().patience(Duration::from_secs(1));
    let db = block_on(options.connect(&url)).unwrap();
    let held = claim(&db, "a").claim;
    let lost = url
        .replace("/postgres", "/nothing")
        .replace("//nothing", "//postgres");
    let absent = block_on(Postgres::connect(&lost)).unwrap_err();
    server.stop("QUIT");
    let refused = block_on(Postgres::connect(&url)).unwrap_err();
    let unwritten = block_on(db.append(&held, "k".into(), "1".into())).unwrap_err();
    server.restart();
    // A record would be missing in the middle.
    let later = block_on(db.append(&held, "l".into(), "1".into())).unwrap_err();
    let [absent, refused, unwritten, later] =
        [absent, refused, unwritten, later].map(|error| error.to_string());
    for error in [&absent, &refused, &unwritten, &later] {
        assert!(error.contains(host), "{error}");
        assert!(!error.contains("hidden"), "{error}");
    }
    assert!(
        absent.contains("database \"nothing\" does not exist"),
        "{absent}"
    );
    assert!(
        unwritten.contains("cannot write in Postgres database `postgres`"),
        "{unwritten}"
    );
    assert!(
        later.contains("an earlier write of the run has failed"),
        "{later}"
    );
    db.release(&held);
    let again = claim(&db, "a").claim;
    block_on(db.append(&again, "m".into(), "1".into())).unwrap();
    let invalid = block_on(Postgres::connect("postgresql://a:hidden@b:x/c")).unwrap_err();
    assert!(!invalid.to_string().contains("hidden"), "{invalid}");
}

#[test]
fn the_longest_lease_and_patience_are_accepted() {
    let Some(server) = Server::start() else {
        return;
    };
    let options = PostgresOptions::new()
        .lease(Duration::MAX)
        .patience(Duration::MAX);
    let db = block_on(options.connect(&server.url())).unwrap();
    let held = claim(&db, "a").claim;
    block_on(db.append(&held, "k".into(), "1".into())).unwrap();
    let owned = block_on(open(&server.url()).claim("a")).unwrap_err();
    assert!(matches!(owned, JournalError::Owned { .. }), "{owned}");
}

#[test]
fn a_page_has_an_end() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    let small = claim(&db, "small").claim;
    let large = claim(&db, "large").claim;
    block_on(async {
        let mut last = None;
        for n in 0..600 {
            last = Some(db.append(&small, format!("{n}"), "1".into()));
        }
        last.unwrap().await.unwrap();
        for n in 0..5 {
            let body = "x".repeat(700_000);
            db.append(&large, format!("{n}"), body).await.unwrap();
        }
        assert_eq!(db.read("small", 0).await.unwrap().len(), 256);
        assert_eq!(db.read("small", 512).await.unwrap().len(), 88);
        assert_eq!(db.read("large", 0).await.unwrap().len(), 2);
    });
    assert_eq!(records(&db, "small").len(), 600);
    assert_eq!(records(&db, "large").len(), 5);
}

#[test]
fn a_failed_write_breaks_only_its_run() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    let [bad, good] = ["bad", "good"].map(|id| claim(&db, id).claim);
    server.execute("ALTER TABLE plan.records ADD CHECK (body <> 'refused')");
    let write = |to: &Claim, n: usize, body: &str| db.append(to, format!("{n}"), body.to_owned());
    let mut writes = Vec::new();
    for n in 0..50 {
        let body = if n == 20 { "refused" } else { "1" };
        writes.push((write(&bad, n, body), write(&good, n, "1")));
    }
    let mut outcomes = Vec::new();
    for (bad, good) in writes {
        block_on(good).unwrap();
        outcomes.push(block_on(bad).is_ok());
    }
    // The records of a transaction fail together, but never one in the middle.
    let written = outcomes.iter().filter(|is_ok| **is_ok).count();
    assert!(written <= 20 && outcomes[..written].iter().all(|is_ok| *is_ok));
    assert_eq!(crate::count(&db, "bad"), written);
    assert_eq!(crate::count(&db, "good"), 50);
    block_on(write(&bad, 50, "1")).unwrap_err();
    db.release(&bad);
    let again = claim(&db, "bad").claim;
    block_on(write(&again, written, "1")).unwrap();
}
