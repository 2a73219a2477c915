//! The beginnings and ends of transactions of calls.

use crate::calls::{App, Effect, LIMIT, Leaf, Two, is_quiet, numbers, start, write};
use crate::server::within;
use crate::{open, records};
use plan_postgres::tokio_postgres::error::SqlState;
use plan_postgres::{Postgres, PostgresOptions, TransactionError};
use plan_runtime::journal::{Journal, Memory};
use plan_runtime::run::{CallContext, OnFailure};
use plan_runtime::{Error, Result, plan, tool};
use smol::block_on;
use std::future::pending;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

/// Fails in some way after its effect, unless it was called before.
#[tool]
async fn stumble(app: &App, #[context] context: CallContext, how: String) -> Result<u64> {
    let transaction = write(app, &context).await?;
    if context.attempt() > 1 {
        return Ok(1);
    }
    match &*how {
        "fails" => Err(Error::msg("busy")),
        "panics" => panic!("it panics"),
        "hangs" => pending().await,
        "waits" => {
            let slow = transaction.execute("SELECT pg_sleep(600)", &[]).await;
            Err(slow.unwrap_err().into())
        }
        _ => {
            let error = transaction.execute("SELECT 1 / 0", &[]).await.unwrap_err();
            assert_eq!(error.code(), Some(&SqlState::DIVISION_BY_ZERO));
            Err(error.into())
        }
    }
}

plan! {
    Stumbles() -> u64 {
        #[retry(3, backoff = "0s")]
        #[timeout("300ms")]
        step all = for how in ["fails", "panics", "hangs", "waits", "errs"] { Stumble { how } };
        all.iter().sum::<u64>()
    }
}

#[test]
fn a_failed_attempt_is_rolled_back() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    let output = block_on(Stumbles {}.run(&app).durable(&db, "a"));
    assert_eq!(output.unwrap(), 5);
    assert_eq!(server.number("SELECT count(*) FROM effects"), 5);
    assert!(is_quiet(&server), "a transaction is still open");

    // A run that ends early drops its calls, of which there is no record.
    let run = Stumbles {}.run(&app).deadline(Duration::from_millis(100));
    block_on(run.durable(&db, "b")).unwrap_err();
    assert!(is_quiet(&server), "a transaction is still open");
    assert_eq!(
        server.number("SELECT count(*) FROM effects WHERE run = 'b'"),
        server.number("SELECT count(*) FROM plan.records WHERE run = 2 AND convert_from(body, 'UTF8') LIKE '%\"value\":1%'")
    );
}

/// Keeps a lock for ever in the first attempt of the block around it.
#[tool]
async fn hold(app: &App, #[context] context: CallContext) -> Result<u64> {
    let transaction = write(app, &context).await?;
    let sql = "UPDATE counter SET value = value + 1";
    transaction.execute(sql, &[]).await?;
    if context.outer().is_some_and(|block| block.attempt() == 1) {
        app.met.store(1, Ordering::SeqCst);
        return pending().await;
    }
    Ok(1)
}

/// Fails in the first attempt of the block around it, once the other call has its lock.
#[tool]
async fn disturb(app: &App, #[context] context: CallContext) -> Result<u64> {
    while app.met.load(Ordering::SeqCst) == 0 {
        smol::Timer::after(Duration::from_millis(1)).await;
    }
    match context.outer().map(CallContext::attempt) {
        Some(1) => Err(Error::msg("busy")),
        _ => Ok(1),
    }
}

plan! {
    Disturbs() -> u64 {
        #[retry(2, backoff = "0s")]
        step block = {
            step held = Hold {};
            step disturbed = Disturb {};
            disturbed
        };
        block
    }
}

/// A call that is dropped because of another call has no record.
#[test]
fn a_dropped_call_is_rolled_back_while_its_run_continues() {
    let Some(server) = start() else {
        return;
    };
    // The server does not end the idle transaction.
    let options = PostgresOptions::new().lease(Duration::from_secs(600));
    let db = block_on(options.connect(&server.url())).unwrap();
    let app = App::new(db.clone());
    let limit = async {
        smol::Timer::after(LIMIT).await;
        panic!("a dropped call keeps its lock");
    };
    let run = Disturbs {}.run(&app).on_failure(OnFailure::Cancel);
    let run = async { run.durable(&db, "a").await };
    assert_eq!(block_on(smol::future::or(run, limit)).unwrap(), 1);
    assert_eq!(server.number("SELECT value FROM counter"), 1);
    assert_eq!(server.number("SELECT count(*) FROM effects"), 1);
}

plan! {
    Beside() -> u64 {
        step one = Meet { n: 1 };
        step other = Meet { n: 2 };
        one + other
    }
}

/// Waits until the transactions of two calls are open.
#[tool]
async fn meet(app: &App, #[context] context: CallContext, n: u64) -> Result<u64> {
    write(app, &context).await?;
    app.met.fetch_add(1, Ordering::SeqCst);
    while app.met.load(Ordering::SeqCst) < 2 {
        smol::Timer::after(Duration::from_millis(1)).await;
    }
    Ok(n)
}

#[test]
fn two_calls_have_two_transactions() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    let output = block_on(Beside {}.run(&app).durable(&db, "a"));
    assert_eq!(output.unwrap(), 3);
    assert_eq!(server.number("SELECT count(*) FROM effects"), 2);
}

/// Keeps its transaction for longer than the call.
#[tool]
async fn keep(app: &App, #[context] context: CallContext) -> Result<u64> {
    let transaction = write(app, &context).await?;
    // A later transaction of the call is the same.
    write(app, &context).await?;
    *app.kept.lock().unwrap() = Some(transaction);
    Ok(1)
}

plan! {
    Keeps() -> u64 {
        step kept = Keep {};
        kept
    }
}

#[test]
fn a_transaction_ends_with_its_call() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    block_on(Keeps {}.run(&app).durable(&db, "a")).unwrap();
    assert_eq!(server.number("SELECT count(*) FROM effects"), 2);
    let kept = app.kept.lock().unwrap().take().unwrap();
    let error = block_on(kept.execute("DELETE FROM effects", &[])).unwrap_err();
    assert!(matches!(error, TransactionError::Closed), "{error}");
    assert_eq!(server.number("SELECT count(*) FROM effects"), 2);
}

/// Returns while a statement of its transaction runs in a thread.
#[tool]
async fn hurry(app: &App, #[context] context: CallContext) -> Result<u64> {
    let transaction = write(app, &context).await?;
    let is_second = app.kept.lock().unwrap().is_some();
    if is_second {
        return Ok(1);
    }
    *app.kept.lock().unwrap() = Some(app.db.transaction(&context).await?);
    thread::spawn(move || {
        let slow = "INSERT INTO effects SELECT pg_sleep(0.3)::text, ''";
        let _ = block_on(transaction.execute(slow, &[]));
    });
    smol::Timer::after(Duration::from_millis(50)).await;
    Ok(1)
}

plan! {
    Hurries() -> u64 {
        step hurried = Hurry {};
        hurried
    }
}

#[test]
fn a_statement_that_runs_on_refuses_the_commit() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    let error = block_on(Hurries {}.run(&app).durable(&db, "a")).unwrap_err();
    let words = "while a statement of its transaction ran";
    assert!(error.to_string().contains(words), "{error}");
    assert!(records(&db, "a").is_empty());
    assert!(is_quiet(&server), "a transaction is still open");
    assert_eq!(server.number("SELECT count(*) FROM effects"), 0);
    assert_eq!(block_on(Hurries {}.run(&app).durable(&db, "a")).unwrap(), 1);
    assert_eq!(server.number("SELECT count(*) FROM effects"), 1);
}

/// Ends its transaction by itself, or makes the commit impossible.
#[tool]
async fn meddle(app: &App, #[context] context: CallContext, sql: String) -> Result<u64> {
    let transaction = write(app, &context).await?;
    let _ = transaction.batch_execute(&sql).await;
    Ok(1)
}

plan! {
    Meddles(sql: String) -> u64 {
        step meddled = Meddle { sql };
        meddled
    }
}

#[test]
fn a_transaction_that_cannot_be_committed_has_no_record() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    server.execute("CREATE TABLE once (n int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO once VALUES (1)");
    for (sql, words) in [
        ("ROLLBACK", "the tool has ended the transaction"),
        ("ROLLBACK; BEGIN", "the tool has ended the transaction"),
        ("SELECT 1 / 0", "current transaction is aborted"),
        ("INSERT INTO once VALUES (1)", "duplicate key value"),
        (
            "SELECT pg_terminate_backend(pg_backend_pid())",
            "cannot commit the transaction of a call",
        ),
    ] {
        let sql = sql.to_owned();
        let error = block_on(Meddles { sql: sql.clone() }.run(&app).durable(&db, &sql));
        let error = error.unwrap_err();
        assert!(error.journal().is_some(), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(records(&db, &sql).is_empty());
        assert!(is_quiet(&server), "a transaction is still open");
    }
    assert_eq!(server.number("SELECT count(*) FROM effects"), 0);
    // A record that only looks durable.
    let sql = "SET LOCAL synchronous_commit = off; SET search_path = nowhere; CREATE TEMP TABLE effects (n int)";
    let plan = Meddles {
        sql: sql.to_owned(),
    };
    block_on(plan.run(&app).durable(&db, "b")).unwrap();
    // The next transaction does not see the traces of the last.
    block_on(Two {}.run(&app).durable(&db, "c")).unwrap();
    assert_eq!(server.number("SELECT count(*) FROM effects"), 3);
}

/// Loses the run while its transaction is open.
#[tool]
async fn lose(app: &App, #[context] context: CallContext) -> Result<u64> {
    let transaction = write(app, &context).await?;
    *app.kept.lock().unwrap() = Some(transaction);
    smol::Timer::after(Duration::from_millis(300)).await;
    Ok(1)
}

plan! {
    Loses() -> u64 {
        step lost = Lose {};
        lost
    }
}

#[test]
fn an_owner_that_has_lost_the_run_cannot_commit() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    let error = thread::scope(|scope| {
        let run = scope.spawn(|| block_on(Loses {}.run(&app).durable(&db, "a")));
        assert!(within(LIMIT, || app.kept.lock().unwrap().is_some()));
        server.execute("UPDATE plan.runs SET epoch = epoch + 1, owner = 'other'");
        run.join().unwrap().unwrap_err()
    });
    let is_lost = error.to_string().contains("another process");
    assert!(is_lost || error.journal().is_some(), "{error}");
    assert!(is_quiet(&server), "a transaction is still open");
    assert_eq!(server.number("SELECT count(*) FROM effects"), 0);
    assert!(records(&db, "a").is_empty());
}

/// Runs a plan inside its transaction.
#[tool]
async fn nest(app: &App, #[context] context: CallContext) -> Result<u64> {
    write(app, &context).await?;
    Ok(Leaf { n: 1 }.run(app).inside(&context).await?)
}

plan! {
    Nests() -> u64 {
        step nested = Nest {};
        nested
    }
}

#[test]
fn errors_name_the_reason() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    let elsewhere = "its run is not durable in this database";
    for run in [
        block_on(Two {}.run(&app)),
        block_on(Two {}.run(&app).durable(&Memory::new(), "a")),
    ] {
        let error = run.unwrap_err().to_string();
        assert!(error.contains(elsewhere), "{error}");
    }
    let outside = block_on(db.transaction(&CallContext::default())).unwrap_err();
    assert!(outside.to_string().contains(elsewhere), "{outside}");
    let nested = block_on(Nests {}.run(&app).durable(&db, "b")).unwrap_err();
    let words = "a call around this call has an open transaction";
    assert!(nested.to_string().contains(words), "{nested}");
    assert!(is_quiet(&server), "a transaction is still open");
    assert_eq!(server.number("SELECT count(*) FROM effects"), 0);
}

/// The context of a call that has ended.
static ENDED: Mutex<Option<CallContext>> = Mutex::new(None);

/// Keeps its context.
#[tool]
async fn leave(_app: &App, #[context] context: CallContext) -> Result<u64> {
    *ENDED.lock().unwrap() = Some(context);
    Ok(1)
}

/// Returns the error of a transaction of the call before.
#[tool]
async fn late(app: &App, left: u64) -> Result<String> {
    let context = ENDED.lock().unwrap().take().unwrap();
    let error = app.db.transaction(&context).await.err();
    Ok(error.map_or(left.to_string(), |error| error.to_string()))
}

plan! {
    Lates() -> String {
        step left = Leave {};
        step late = Late { left };
        late
    }
}

/// Nothing would commit the transaction.
#[test]
fn a_call_that_has_ended_begins_no_transaction() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    let output = block_on(Lates {}.run(&app).durable(&db, "a")).unwrap();
    assert!(output.contains("the call has ended"), "{output}");
    assert!(is_quiet(&server), "a transaction is still open");
}

/// A database with a run of the same id and epoch.
static OTHER: OnceLock<Postgres> = OnceLock::new();

/// Returns the error of a transaction in another database.
#[tool]
async fn stray(_app: &App, #[context] context: CallContext) -> Result<String> {
    let other = OTHER.get().unwrap();
    let claim = other.claim("a").await?.claim;
    let record = context.record().unwrap();
    assert_eq!((&*record.claim.id, record.claim.epoch), ("a", claim.epoch));
    let error = other.transaction(&context).await.err();
    Ok(error.map_or(String::new(), |error| error.to_string()))
}

plan! {
    Strays() -> String {
        step strayed = Stray {};
        strayed
    }
}

#[test]
fn a_run_of_another_database_has_no_transaction() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let other = PostgresOptions::new().schema("other");
    let other = block_on(other.connect(&server.url())).unwrap();
    assert!(OTHER.set(other).is_ok());
    let app = App::new(db.clone());
    let output = block_on(Strays {}.run(&app).durable(&db, "a")).unwrap();
    assert!(output.contains("not durable in this database"), "{output}");
}

plan! {
    Many() -> u64 {
        step many = for n in numbers(30) { Effect { n } };
        many.len() as u64
    }
}

#[test]
fn the_number_of_transactions_is_limited() {
    let Some(server) = start() else {
        return;
    };
    let options = PostgresOptions::new().max_transactions(2);
    let db = block_on(options.connect(&server.url())).unwrap();
    let app = App::new(db.clone());
    let (mut most, sessions) = (
        0,
        "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'plan-postgres %'",
    );
    let output = thread::scope(|scope| {
        let run = scope.spawn(|| block_on(Many {}.run(&app).durable(&db, "a")));
        while !run.is_finished() {
            most = most.max(server.number(sessions));
        }
        run.join().unwrap()
    });
    assert_eq!(output.unwrap(), 30);
    // Three connections are those of the journal.
    assert!(most <= 5, "{most} connections");
    assert_eq!(server.number("SELECT count(*) FROM effects"), 30);
}
