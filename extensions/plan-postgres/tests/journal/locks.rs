//! Runs that another session has locked.

use crate::server::{Server, within};
use crate::store::{LIMIT, begin};
use crate::{LEASE, append, claim, open};
use plan_postgres::PostgresOptions;
use plan_runtime::journal::{Journal, JournalError};
use smol::block_on;
use std::thread::{self, sleep};
use std::time::Instant;

const LOCK: &str = "SELECT FROM plan.runs WHERE id = 'locked' FOR UPDATE";

#[test]
fn a_run_that_cannot_be_released_does_not_hold_the_lease_back() {
    let Some(server) = Server::start() else {
        return;
    };
    let (url, lease, patience) = (server.url(), LEASE * 2, LEASE * 5);
    let options = PostgresOptions::new().lease(lease).patience(patience);
    let db = block_on(options.connect(&url)).unwrap();
    let other = open(&url);
    let [locked, held] = ["locked", "held"].map(|id| begin(&db, id));
    server.during(LOCK, || {
        let start = Instant::now();
        db.release(&locked);
        // The release fails after the patience, and the next attempt takes longer than the lease.
        while start.elapsed() < patience * 2 {
            let refused = block_on(other.claim("held"));
            let is_owned = matches!(refused, Err(JournalError::Owned { .. }));
            assert!(is_owned, "a living process has lost a run: {refused:?}");
            sleep(LEASE / 10);
        }
    });
    claim(&other, "locked");
    block_on(append(&db, &held, 0)).unwrap();
}

#[test]
fn a_claim_of_a_locked_run_does_not_hold_other_questions_back() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    db.release(&begin(&db, "locked"));
    thread::scope(|scope| {
        let claims = server.during(LOCK, || {
            let claims = scope.spawn(|| claim(&db, "locked"));
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
            assert!(within(LIMIT, || server.number(waiting) > 0));
            let look = async { Some(db.look("other").await) };
            let limit = async {
                smol::Timer::after(LIMIT).await;
                None
            };
            let looked = block_on(smol::future::or(look, limit));
            assert_eq!(looked.expect("no answer").unwrap(), None);
            claims
        });
        claims.join().unwrap();
    });
}
