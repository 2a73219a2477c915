//! The sessions of transactions after a disturbance by a tool, and jobs that wait for such a session.

use crate::calls::{App, LIMIT, Two, start, write};
use crate::open;
use crate::server::{Server, within};
use crate::store::{HOUR, summary};
use plan_postgres::{Postgres, PostgresOptions};
use plan_runtime::journal::{Journal, Store};
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, plan, tool};
use smol::block_on;
use smol::future::poll_once;
use std::time::Duration;

/// Uses a type of the database, removes all prepared statements of its session, and fails the first time.
#[tool]
async fn deallocate(app: &App, #[context] context: CallContext, of_type: String) -> Result<u64> {
    let transaction = write(app, &context).await?;
    let sql = format!("SELECT 'a'::{of_type}");
    transaction.query(&sql, &[]).await?;
    transaction.batch_execute("DEALLOCATE ALL").await?;
    if context.attempt() == 1 {
        return Err(Error::msg("busy"));
    }
    Ok(1)
}

plan! {
    Deallocates(of_type: String) -> u64 {
        #[retry(2, backoff = "0s")]
        step deallocated = Deallocate { of_type };
        deallocated
    }
}

#[test]
fn a_tool_may_deallocate_the_statements_of_its_session() {
    let Some(server) = start() else {
        return;
    };
    let options = PostgresOptions::new().max_transactions(1);
    let db = block_on(options.connect(&server.url())).unwrap();
    let app = App::new(db.clone());
    for of_type in ["one", "two"] {
        // The client prepares a statement to look up a new type.
        server.execute(&format!("CREATE TYPE {of_type} AS ENUM ('a')"));
        let plan = Deallocates {
            of_type: of_type.to_owned(),
        };
        let output = block_on(plan.run(&app).durable(&db, of_type));
        assert_eq!(output.unwrap(), 1);
    }
    assert_eq!(block_on(Two {}.run(&app).durable(&db, "next")).unwrap(), 2);
    assert_eq!(server.number("SELECT count(*) FROM effects"), 4);
}

/// Makes the commit impossible.
#[tool]
async fn spoil(app: &App, #[context] context: CallContext) -> Result<u64> {
    let transaction = write(app, &context).await?;
    let sql = "INSERT INTO once VALUES (1)";
    transaction.execute(sql, &[]).await?;
    Ok(1)
}

plan! {
    Spoils() -> u64 {
        step spoiled = Spoil {};
        spoiled
    }
}

#[test]
fn a_failed_commit_ends_its_session() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    server.execute("CREATE TABLE once (n int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO once VALUES (1)");
    let error = block_on(Spoils {}.run(&app).durable(&db, "a")).unwrap_err();
    assert!(error.to_string().contains("duplicate key"), "{error}");
    let sessions =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'plan-postgres %-%-% %'";
    let has_ended = within(LIMIT, || server.number(sessions) == 0);
    assert!(has_ended, "the session stays");
    assert_eq!(block_on(Two {}.run(&app).durable(&db, "next")).unwrap(), 2);
}

/// Has the records of calls wait for a lock.
const GATE: &str = "
CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END';
CREATE TRIGGER gate BEFORE INSERT ON plan.records FOR EACH ROW
    WHEN (current_setting('application_name') NOT LIKE 'plan-postgres writer %') EXECUTE FUNCTION gate()";

/// Releases a run during the commit of its call, and then does some work.
fn behind_a_commit<T: Send>(server: &Server, db: &Postgres, work: impl FnOnce() -> T + Send) -> T {
    let app = App::new(db.clone());
    server.execute(GATE);
    server.during("SELECT pg_advisory_xact_lock(1)", || {
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
        let commits = async {
            while server.number(waiting) == 0 {
                smol::Timer::after(Duration::from_millis(10)).await;
            }
        };
        let run = async {
            let ended = Two {}.run(&app).durable(db, "a").await;
            panic!("the run has ended: {ended:?}");
        };
        // The drop of the run releases it.
        block_on(smol::future::or(commits, run));
        work()
    })
}

#[test]
fn a_refusal_waits_for_the_release_behind_a_commit() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let refuse = behind_a_commit(&server, &db, || {
        let mut refuse = db.refuse("a", HOUR, "why");
        assert!(block_on(poll_once(&mut refuse)).is_none());
        // Later jobs and questions are done.
        block_on(db.delete(HOUR)).unwrap();
        block_on(db.look("a")).unwrap();
        refuse
    });
    block_on(refuse).unwrap();
    assert_eq!(summary(&db, "a").refusal.as_deref(), Some("why"));
}

#[test]
fn a_claim_waits_for_the_release_behind_a_commit() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let claim = behind_a_commit(&server, &db, || {
        let mut claim = db.claim("a");
        assert!(block_on(poll_once(&mut claim)).is_none());
        block_on(db.delete(HOUR)).unwrap();
        claim
    });
    let claimed = block_on(claim).unwrap();
    assert!(claimed.run.info.is_some());
}
