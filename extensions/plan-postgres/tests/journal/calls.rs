//! Transactions of calls: the SQL of a tool has its effect exactly once, and nothing removes duplicates.

use crate::lost::{Kind, behind_proxy};
use crate::process::{Process, say};
use crate::server::{Server, within};
use crate::{LEASE, kills, open, records};
use plan_postgres::tokio_postgres::error::SqlState;
use plan_postgres::{Postgres, PostgresOptions, Transaction, TransactionError};
use plan_runtime::journal::Memory;
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, RunError, plan, tool};
use smol::block_on;
use std::future::{Future, pending};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

const TABLES: &str = "
CREATE TABLE effects (run text NOT NULL, path text NOT NULL);
CREATE TABLE counter (value bigint NOT NULL);
INSERT INTO counter VALUES (0)";

/// The effects, beside those that a run should have.
const AGAIN: &str =
    "SELECT count(*) FROM (SELECT FROM effects GROUP BY run, path HAVING count(*) > 1) again";

fn start() -> Option<Server> {
    let server = Server::start()?;
    server.execute(TABLES);
    Some(server)
}

#[derive(Clone)]
struct App {
    db: Postgres,
    /// A transaction that has outlived its call.
    kept: Arc<Mutex<Option<Transaction>>>,
}

impl App {
    fn new(db: Postgres) -> Self {
        let kept = Arc::default();
        Self { db, kept }
    }
}

/// Writes an effect.
async fn write(app: &App, context: &CallContext) -> Result<Transaction> {
    let transaction = app.db.transaction(context).await?;
    let (run, path) = (context.run_id(), context.to_string());
    let sql = "INSERT INTO effects VALUES ($1, $2)";
    transaction.execute(sql, &[&run, &path]).await?;
    Ok(transaction)
}

/// Writes an effect, and counts.
#[tool]
async fn effect(app: &App, #[context] context: CallContext, n: u64) -> Result<u64> {
    let transaction = write(app, &context).await?;
    if n.is_multiple_of(3) {
        smol::Timer::after(Duration::from_millis(1)).await;
    }
    let sql = "UPDATE counter SET value = value + 1 RETURNING value";
    transaction.query_one(sql, &[]).await?;
    Ok(n + 1)
}

fn numbers(count: u64) -> Vec<u64> {
    (0..count).collect()
}

plan! {
    Effects() -> u64 {
        #[concurrency(8)]
        #[retry(20, backoff = "10ms")]
        step many = for n in numbers(40) { Effect { n } };
        #[concurrency(1)]
        #[retry(20, backoff = "10ms")]
        step slow = for n in many { Effect { n } };
        #[concurrency(20)]
        #[retry(20, backoff = "10ms")]
        step fast = for n in slow { Effect { n } };
        fast.iter().sum::<u64>()
    }
}

const EFFECTS: i64 = 120;
const SUM: u64 = 900;

/// Begins a run until its end is recorded.
fn resume<F: Future<Output = std::result::Result<T, RunError>>, T>(
    begin: impl Fn() -> F,
) -> std::result::Result<T, RunError> {
    loop {
        match block_on(begin()) {
            Err(error) if error.journal().is_some() => thread::sleep(LEASE / 20),
            outcome => return outcome,
        }
    }
}

/// Returns the keys of the calls of a run that have an output.
fn outputs(db: &Postgres, id: &str) -> Vec<String> {
    let is_call = |key: &str| {
        let attempt = key.rsplit_once('@').map(|(_, attempt)| attempt);
        attempt.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let records = records(db, id).into_iter();
    let outputs = records.filter(|it| is_call(&it.key) && !it.body.contains("\"error\""));
    outputs.map(|it| it.key).collect()
}

/// The work of a process.
pub(crate) fn run(url: &str) {
    let db = open(url);
    let app = App::new(db.clone());
    say("connected");
    let sum = resume(|| Effects {}.run(&app).durable(&db, "effects")).unwrap();
    say(&format!("sum {sum}"));
}

#[test]
fn effects_happen_once_although_processes_are_killed() {
    let Some(mut server) = start() else {
        return;
    };
    let url = server.url();
    let effects = |server: &Server| server.number("SELECT count(*) FROM effects");
    for kill in 0..kills() {
        let before = effects(&server);
        let process = Process::start("call", &url, &[]);
        assert_eq!(process.hear(), "connected");
        let more = fastrand::i64(3..12);
        let comes_further = within(LIMIT * 2, || {
            let now = effects(&server);
            now > before + more || now == EFFECTS
        });
        assert!(comes_further, "kill {kill}: {before} effects");
        if kill % 3 == 1 {
            server.stop("QUIT");
        }
        process.kill();
        if kill % 3 == 1 {
            server.restart();
        }
    }
    let db = open(&url);
    let app = App::new(db.clone());
    let sum = resume(|| Effects {}.run(&app).durable(&db, "effects"));
    assert_eq!(sum.unwrap(), SUM);
    println!("{} kills", kills());
    assert_eq!(server.number(AGAIN), 0);
    assert_eq!(effects(&server), EFFECTS);
    assert_eq!(server.number("SELECT value FROM counter"), EFFECTS);
    assert_eq!(outputs(&db, "effects").len() as i64, EFFECTS);
}

#[test]
fn effects_happen_once_although_an_owner_sleeps() {
    let Some(server) = start() else {
        return;
    };
    let url = server.url();
    let process = Process::start("call", &url, &[]);
    assert_eq!(process.hear(), "connected");
    let locked = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'plan-postgres %-%-% %' AND state = 'idle in transaction'";
    // The process sleeps with locks, as far as that can be hit.
    within(Duration::from_secs(5), || {
        server.number("SELECT count(*) FROM effects") > 10 && server.number(locked) > 0
    });
    process.signal("STOP");
    let db = open(&url);
    let app = App::new(db.clone());
    let sum = resume(|| Effects {}.run(&app).durable(&db, "effects"));
    process.signal("CONT");
    assert_eq!(sum.unwrap(), SUM);
    // The old owner resumes, loses the run, and takes the output of the new owner.
    assert_eq!(process.hear(), format!("sum {SUM}"));
    assert_eq!(server.number(AGAIN), 0);
    assert_eq!(server.number("SELECT count(*) FROM effects"), EFFECTS);
    assert_eq!(server.number("SELECT value FROM counter"), EFFECTS);
}

plan! {
    Two() -> u64 {
        #[retry(5, backoff = "1ms")]
        step one = Effect { n: 0 };
        #[retry(5, backoff = "1ms")]
        step two = Effect { n: one };
        two
    }
}

#[test]
fn effects_happen_once_although_messages_are_lost() {
    let Some(server) = start() else {
        return;
    };
    let (proxy, db) = behind_proxy(&server);
    let app = App::new(db.clone());
    let mut runs = 0;
    for kind in [Kind::Request, Kind::Answer] {
        for others in 0.. {
            let id = format!("run {runs}");
            runs += 1;
            let lost = proxy.lost.load(Ordering::SeqCst);
            proxy.lose_after(kind, others);
            let output = resume(|| Two {}.run(&app).durable(&db, &id));
            proxy.lose_none();
            assert_eq!(output.unwrap(), 2);
            let sql = format!("SELECT count(*) FROM effects WHERE run = '{id}'");
            assert_eq!(server.number(&sql), 2, "{others} messages before");
            if proxy.lost.load(Ordering::SeqCst) == lost {
                break;
            }
        }
    }
    println!("{runs} runs, each with a lost message");
    assert!(runs > 20, "{runs} messages were lost");
    assert_eq!(server.number("SELECT value FROM counter"), runs * 2);
}

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

/// Waits until no session has a transaction.
fn is_quiet(server: &Server) -> bool {
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'plan-postgres %' AND xact_start IS NOT NULL";
    within(LIMIT, || server.number(open) == 0)
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

/// Writes an effect, and runs a plan inside the call.
#[tool]
async fn wrap(app: &App, #[context] context: CallContext, n: u64) -> Result<u64> {
    let before = Leaf { n }.run(app).inside(&context).await?;
    let after = Leaf { n }.run(app).inside(&context).await?;
    write(app, &context).await?;
    Ok(before + after)
}

/// Fails in the first attempt of the block around it.
#[tool]
async fn settle(app: &App, #[context] context: CallContext) -> Result<u64> {
    write(app, &context).await?;
    match context.outer().map(CallContext::attempt) {
        Some(1) => Err(Error::msg("busy")),
        _ => Ok(1),
    }
}

plan! {
    Leaf(n: u64) -> u64 {
        step leaf = Effect { n };
        step leaves = for m in [leaf] { for k in [m, m] { Effect { n: k } } };
        leaf + leaves.len() as u64
    }
}

plan! {
    Everywhere() -> u64 {
        step plain = Effect { n: 1 };
        step each = for n in [plain, 3] { Effect { n } };
        step called = for n in each { Leaf { n } };
        step branch = if called[0] == 0 { Effect { n: 3 } } else { Effect { n: 4 } };
        #[at_most(5)]
        step rounds = loop |last| { step one = Effect { n: last.unwrap_or(0) }; one } while one < 3;
        step wrapped = for n in [branch + rounds] { step inner = Wrap { n }; inner };
        #[retry(3, backoff = "0s")]
        step block = {
            step held = Effect { n: 1 };
            #[undo(held)]
            step undone = Effect { n: held };
            step settled = Settle {};
            #[always]
            step told = Effect { n: 2 };
            #[always]
            step told_inside = Wrap { n: 5 };
            settled
        };
        block + wrapped[0]
    }
}

/// A record whose key is not found would be written without the SQL of its call.
#[test]
fn calls_of_all_kinds_have_their_record() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    block_on(
        Everywhere {}
            .run(&app)
            .durable(&db, "it's \"all\" of/them[1]~2"),
    )
    .unwrap();
    let keys = outputs(&db, "it's \"all\" of/them[1]~2");
    assert_eq!(
        server.number("SELECT count(*) FROM effects") as usize,
        keys.len(),
        "{keys:#?}"
    );
    assert!(keys.len() > 30, "{keys:#?}");
    assert!(is_quiet(&server), "a transaction is still open");
}

plan! {
    Beside() -> u64 {
        step one = Meet { first: true };
        step other = Meet { first: false };
        one + other
    }
}

/// Waits until the transactions of two calls are open.
#[tool]
async fn meet(app: &App, #[context] context: CallContext, first: bool) -> Result<u64> {
    let transaction = write(app, &context).await?;
    let locks = "SELECT pg_advisory_xact_lock($1)";
    transaction.query(locks, &[&i64::from(first)]).await?;
    let both = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";
    for _ in 0..1000 {
        let row = transaction.query_one(both, &[]).await?;
        if row.try_get::<_, i64>(0)? == 2 {
            // The other call may end first, and wait for the record of this call.
            smol::Timer::after(Duration::from_millis(20)).await;
            return Ok(1);
        }
        smol::Timer::after(Duration::from_millis(10)).await;
    }
    Err(Error::permanent("the other call has no transaction"))
}

#[test]
fn two_calls_have_two_transactions() {
    let Some(server) = start() else {
        return;
    };
    let db = open(&server.url());
    let app = App::new(db.clone());
    // Each call sees the other's lock, so a call that ends alone would fail.
    let output = block_on(Beside {}.run(&app).durable(&db, "a"));
    assert!(output.is_ok() || server.number("SELECT count(*) FROM effects") == 1);
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
    let elsewhere = "the run of the call is not durable in this database";
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
