//! Transactions of calls: the SQL of a tool has its effect exactly once, and nothing removes duplicates.

use crate::lost::{Kind, behind_proxy};
use crate::process::{Process, say};
use crate::server::{Server, within};
use crate::{LEASE, kills, open, records, stops};
use plan_postgres::{Postgres, Transaction};
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, RunError, plan, tool};
use smol::block_on;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The id of the run of a process.
const RUN: &str = "POSTGRES_TEST_RUN";

const TABLES: &str = "
CREATE TABLE effects (run text NOT NULL, path text NOT NULL);
CREATE TABLE counter (value bigint NOT NULL);
INSERT INTO counter VALUES (0)";

/// The unexpected effects of a run.
const AGAIN: &str =
    "SELECT count(*) FROM (SELECT FROM effects GROUP BY run, path HAVING count(*) > 1) again";

pub(crate) fn start() -> Option<Server> {
    let server = Server::start()?;
    server.execute(TABLES);
    Some(server)
}

#[derive(Clone)]
pub(crate) struct App {
    pub(crate) db: Postgres,
    /// A transaction that has outlived its call.
    pub(crate) kept: Arc<Mutex<Option<Transaction>>>,
    /// The number of calls that have met.
    pub(crate) met: Arc<AtomicUsize>,
}

impl App {
    pub(crate) fn new(db: Postgres) -> Self {
        Self {
            db,
            kept: Arc::default(),
            met: Arc::default(),
        }
    }
}

/// Writes an effect.
pub(crate) async fn write(app: &App, context: &CallContext) -> Result<Transaction> {
    let transaction = app.db.transaction(context).await?;
    let (run, path) = (context.run_id(), context.to_string());
    let sql = "INSERT INTO effects VALUES ($1, $2)";
    transaction.execute(sql, &[&run, &path]).await?;
    Ok(transaction)
}

/// Writes an effect, and counts.
#[tool]
pub(crate) async fn effect(app: &App, #[context] context: CallContext, n: u64) -> Result<u64> {
    let transaction = write(app, &context).await?;
    if n.is_multiple_of(3) {
        smol::Timer::after(Duration::from_millis(1)).await;
    }
    let sql = "UPDATE counter SET value = value + 1 RETURNING value";
    transaction.query_one(sql, &[]).await?;
    Ok(n + 1)
}

pub(crate) fn numbers(count: u64) -> Vec<u64> {
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

/// Waits until no session has a transaction.
pub(crate) fn is_quiet(server: &Server) -> bool {
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'plan-postgres %' AND xact_start IS NOT NULL";
    within(LIMIT, || server.number(open) == 0)
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
    let id = std::env::var(RUN).unwrap();
    let sum = resume(|| Effects {}.run(&app).durable(&db, &id)).unwrap();
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
        let process = Process::start("call", &url, &[(RUN, "effects")]);
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
    for stop in 1..=stops() as i64 {
        let id = format!("effects {stop}");
        let process = Process::start("call", &url, &[(RUN, &id)]);
        assert_eq!(process.hear(), "connected");
        let locked = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'plan-postgres %-%-% %' AND state = 'idle in transaction'";
        let written = format!("SELECT count(*) FROM effects WHERE run = '{id}'");
        // The process sleeps with locks, as far as that can be hit.
        within(Duration::from_secs(5), || {
            server.number(&written) > 10 && server.number(locked) > 0
        });
        process.signal("STOP");
        let db = open(&url);
        let app = App::new(db.clone());
        let sum = resume(|| Effects {}.run(&app).durable(&db, &id));
        process.signal("CONT");
        assert_eq!(sum.unwrap(), SUM);
        // The old owner resumes, loses the run, and takes the output of the new owner.
        assert_eq!(process.hear(), format!("sum {SUM}"));
        assert_eq!(server.number(AGAIN), 0);
        assert_eq!(server.number(&written), EFFECTS);
        let counted = server.number("SELECT value FROM counter");
        assert_eq!(counted, EFFECTS * stop);
    }
    println!("{} stops", stops());
}

plan! {
    pub(crate) Two() -> u64 {
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
    pub(crate) Leaf(n: u64) -> u64 {
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
