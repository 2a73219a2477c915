//! `durable`: the cost of a journal for a run, as tables. `durable elements|rounds <count> <file> stop` runs a plan and ends the process before its
//! last call. Without `stop`, the command resumes that run and prints its time and memory.

use plan_ratios::cases::running::block_on;
use plan_ratios::table::{Target, number, row, target, times, title};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{Memory, Sqlite, SqliteOptions};
use plan_runtime::serve::Server;
use plan_runtime::{Result, plan, tool};
use rusqlite::{Connection, params};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::process::Command;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use std::{env, fs};

struct App {
    stops: bool,
}

#[tool]
async fn next(_: &App, n: u64) -> Result<u64> {
    Ok(n + 1)
}

#[tool]
async fn last(app: &App, n: u64) -> Result<u64> {
    if app.stops {
        std::process::exit(0);
    }
    Ok(n)
}

fn numbers(count: u64) -> Vec<u64> {
    (0..count).collect()
}

plan! {
    Elements(count: u64) -> u64 {
        step each = for n in numbers(count) { Next { n } };
        step end = Last { n: each.len() as u64 };
        end
    }
}

plan! {
    Rounds(count: u64) -> u64 {
        #[at_most(10000000)]
        step rounds = loop |last| {
            step one = Next { n: last.unwrap_or(0) };
            one
        } while one < count;
        step end = Last { n: rounds };
        end
    }
}

/// The numbers of calls at the same time, and of all calls.
const COSTS: [(usize, u64); 4] = [(1, 200), (8, 400), (64, 1280), (200, 2000)];
const TURNS: usize = 15;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [plan, count, file, ref stops @ ..] => {
            one_run(plan, count.parse().unwrap(), file, !stops.is_empty());
        }
        _ => {
            let folder = env::temp_dir().join(format!("plan-durable-{}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            costs(&folder);
            resumes(&folder);
            polls(&folder);
            fs::remove_dir_all(&folder).unwrap();
        }
    }
}

/// Runs a plan in this process.
fn one_run(plan: &str, count: u64, file: &str, stops: bool) {
    // Less is waited for: how the file is made is not measured.
    let db = SqliteOptions::new().normal().open(file).unwrap();
    let app = App { stops };
    let before = peak();
    let start = Instant::now();
    let output = match plan {
        "elements" => block_on(Elements { count }.run(&app).durable(&db, "run")),
        _ => block_on(Rounds { count }.run(&app).durable(&db, "run")),
    };
    assert_eq!(output.unwrap(), count);
    println!("{}", start.elapsed().as_nanos() as f64);
    println!("{}", peak().saturating_sub(before));
}

/// Returns the peak memory of this process in KiB, from Linux.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let count = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    count.unwrap_or(0)
}

/// The time of a call with a journal, and the time of its records' rows, written directly to a database with equal tables.
struct Cost {
    ours: Vec<f64>,
    /// A commit for each row.
    single: Vec<f64>,
    /// With one commit for as many rows as concurrent calls.
    grouped: Vec<f64>,
    commits: Vec<f64>,
}

fn costs(folder: &Path) {
    let app = App { stops: false };
    let (file, raw_file) = (folder.join("runs.db"), folder.join("raw.db"));
    let db = Sqlite::open(&file).unwrap();
    drop(Sqlite::open(&raw_file).unwrap());
    let (mut looks, mut raw) = (connect(&file), Raw::new(&raw_file));
    let mut costs: Vec<Cost> = COSTS.iter().map(|_| Cost::new()).collect();
    for turn in 0..TURNS {
        for (cost, (concurrent, count)) in costs.iter_mut().zip(COSTS) {
            empty_log(&mut looks);
            let id = format!("{concurrent}-{turn}");
            let start = Instant::now();
            let run = Elements { count }.run(&app).concurrency(concurrent);
            assert_eq!(block_on(run.durable(&db, &*id)).unwrap(), count);
            let calls = (count + 1) as f64;
            cost.ours.push(start.elapsed().as_nanos() as f64 / calls);
            cost.commits.push(commits(&file) as f64 / calls);

            let rows = rows(&looks, &id);
            for (rows_each, times) in [(1, &mut cost.single), (concurrent, &mut cost.grouped)] {
                empty_log(&mut raw.0);
                let start = Instant::now();
                raw.write(&rows, rows_each);
                times.push(start.elapsed().as_nanos() as f64 / calls);
            }
        }
    }
    let plain = |journal: Option<&Memory>, id: &str| {
        let count = 2000;
        let run = Elements { count }.run(&app);
        let start = Instant::now();
        let output = match journal {
            Some(journal) => block_on(run.durable(journal, id)),
            None => block_on(run),
        };
        assert_eq!(output.unwrap(), count);
        start.elapsed().as_nanos() as f64 / (count + 1) as f64
    };
    let of = |journal: bool| {
        let found = (0..TURNS).map(|_| plain(journal.then(Memory::new).as_ref(), "run"));
        median(found.collect())
    };

    title(
        "Durable: a call, with all of its records on the disk before its output counts",
        &[
            "concurrent calls",
            "a call",
            "a commit for each row alone",
            "ratio",
            "at most",
            "met",
            "as many rows in a commit",
            "commits for a call",
            "at most",
            "met",
        ],
    );
    for (cost, (concurrent, _)) in costs.into_iter().zip(COSTS) {
        let ratio = median(
            cost.ours
                .iter()
                .zip(&cost.single)
                .map(|(a, b)| a / b)
                .collect(),
        );
        let commits = median(cost.commits);
        let most = |known: usize, most: f64| {
            if concurrent == known {
                Target::AtMost(most)
            } else {
                Target::None
            }
        };
        let [ratio_target, ratio_met] = target(ratio, &most(1, 1.3), " ×");
        let [commits_target, commits_met] = target(commits, &most(64, 0.15), "");
        row(&[
            concurrent.to_string(),
            micros(median(cost.ours)),
            micros(median(cost.single)),
            times(ratio),
            ratio_target,
            ratio_met,
            micros(median(cost.grouped)),
            number(commits),
            commits_target,
            commits_met,
        ]);
    }
    row(&["64, without a journal".to_owned(), micros(of(false))]);
    row(&["64, a journal in memory".to_owned(), micros(of(true))]);
}

impl Cost {
    fn new() -> Self {
        Self {
            ours: Vec::new(),
            single: Vec::new(),
            grouped: Vec::new(),
            commits: Vec::new(),
        }
    }
}

fn micros(ns: f64) -> String {
    format!("{} µs", number(ns / 1e3))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn connect(file: &Path) -> Connection {
    let database = Connection::open(file).unwrap();
    let _: String = database
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .unwrap();
    let settings =
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;";
    database.execute_batch(settings).unwrap();
    database
}

/// A future whose polls are timed.
struct Timed<F> {
    future: Pin<Box<F>>,
    longest: Duration,
}

impl<F: Future> Future for Timed<F> {
    type Output = (F::Output, Duration);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let start = Instant::now();
        let polled = self.future.as_mut().poll(cx);
        self.longest = self.longest.max(start.elapsed());
        polled.map(|output| (output, self.longest))
    }
}

/// Returns the output of a future, and the time of its longest poll in nanoseconds.
fn longest<F: Future>(future: F) -> (F::Output, f64) {
    let (output, longest) = block_on(Timed {
        future: Box::pin(future),
        longest: Duration::ZERO,
    });
    (output, longest.as_nanos() as f64)
}

/// Measures the longest polls of some futures: a thread of the executor has no time for other tasks meanwhile.
fn polls(folder: &Path) {
    let db = Sqlite::open(folder.join("polls.db")).unwrap();
    let (count, app) = (1280, App { stops: false });
    let mut found: [Vec<f64>; 5] = Default::default();
    for turn in 0..TURNS {
        let id = &*format!("run {turn}");
        let submitted = &*format!("submitted {turn}");
        let toolbox = || Toolbox::<App>::new().with::<Elements>();
        let server = Server::new(&db, toolbox(), App { stops: false });
        let mut note = |case: usize, time: f64| found[case].push(time);

        let (done, time) = longest(Elements { count }.run(&app).durable(&db, id));
        assert_eq!(done.unwrap(), count);
        note(0, time);
        let (done, time) = longest(Elements { count }.run(&app).durable(&db, id));
        assert_eq!(done.unwrap(), count);
        note(1, time);
        let (report, time) = longest(server.report(id));
        assert_eq!(report.unwrap().steps().len(), 2);
        note(2, time);
        let (done, time) = longest(Elements { count }.submit(&db, submitted));
        done.unwrap();
        note(3, time);
        let serve = server.serve().cancel_on(server.wait(submitted));
        let (done, time) = longest(serve);
        done.unwrap();
        note(4, time);
    }
    title(
        "Durable: the longest poll, median of the turns",
        &["a future", "its longest poll"],
    );
    let cases = [
        "a run with 1,280 calls, 64 at a time",
        "the same run once more, when it has ended",
        "its report",
        "a submission",
        "a server that runs it",
    ];
    for (case, times) in cases.into_iter().zip(found) {
        row(&[case.to_owned(), micros(median(times))]);
    }
}

/// Writes the log into the database, so that all begin with an empty one.
fn empty_log(database: &mut Connection) {
    let busy: i64 = database
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .unwrap();
    assert_eq!(busy, 0);
}

/// Counts the commits in the log of a database. Each ends with a frame that contains the size of the database
/// (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
fn commits(file: &Path) -> usize {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let log = fs::read(log).unwrap();
    let word = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let page = word(8) as usize;
    let (mut at, mut commits) = (32, 0);
    while at + 24 + page <= log.len() && [word(at + 8), word(at + 12)] == [word(16), word(20)] {
        commits += usize::from(word(at + 4) != 0);
        at += 24 + page;
    }
    assert_eq!(at, log.len(), "the log was begun again");
    commits
}

fn rows(database: &Connection, id: &str) -> Vec<(String, String)> {
    let sql =
        "SELECT key, body FROM records JOIN runs ON run = number WHERE id = ?1 ORDER BY position";
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().map(|row| row.unwrap()).collect()
}

/// Writes rows without anything around it.
struct Raw(Connection, i64);

impl Raw {
    fn new(file: &Path) -> Self {
        Self(connect(file), 0)
    }

    fn write(&mut self, rows: &[(String, String)], together: usize) {
        self.1 += 1;
        let run = self.1;
        for (place, rows) in rows.chunks(together).enumerate() {
            let change = self.0.transaction().unwrap();
            for (index, (key, body)) in rows.iter().enumerate() {
                let own = (place * together + index) as i64;
                let sql = "INSERT INTO records(position, run, key, body) VALUES (?1, ?2, ?3, ?4)";
                let mut insert = change.prepare_cached(sql).unwrap();
                insert
                    .execute(params![run << 32 | own, run, key, body])
                    .unwrap();
            }
            change.commit().unwrap();
        }
    }
}

/// Runs that a process has left before their last call, and another process continues.
fn resumes(folder: &Path) {
    title(
        "Durable: a run that another process continues, a record",
        &[
            "records",
            "a list: time",
            "memory",
            "a loop: time",
            "memory",
        ],
    );
    for count in [1_000_u64, 10_000, 100_000, 1_000_000] {
        let mut cells = vec![count.to_string()];
        for plan in ["elements", "rounds"] {
            let file = folder.join(format!("{plan}-{count}.db"));
            child(plan, count, &file, &["stop"]);
            let numbers = child(plan, count, &file, &[]);
            let database = Connection::open(&file).unwrap();
            let sql = "SELECT count(*) FROM records";
            let records: u32 = database.query_row(sql, [], |row| row.get(0)).unwrap();
            cells.push(micros(numbers[0] / f64::from(records)));
            cells.push(format!("{} MiB", number(numbers[1] / 1024.0)));
        }
        row(&cells);
    }
}

fn child(plan: &str, count: u64, file: &Path, more: &[&str]) -> Vec<f64> {
    let output = Command::new(env::current_exe().unwrap())
        .args([plan, &count.to_string()])
        .arg(file)
        .args(more)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{wrong}");
    said.lines().map(|line| line.parse().unwrap()).collect()
}
