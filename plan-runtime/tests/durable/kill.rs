//! Processes that are killed while they run plans. This test binary is started again, as the process.

use crate::journal::asking::Asking;
use plan_runtime::journal::{JournalError, Sqlite};
use plan_runtime::run::CallContext;
use plan_runtime::{Call, Error, Result, Shape, Tool, plan};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

/// The work of a process, and its folder.
const WORK: &str = "DURABLE_TEST_WORK";
const FOLDER: &str = "DURABLE_TEST_FOLDER";

/// The file that ends the pause of the process in the call for this number.
const GOES_ON: &str = "DURABLE_TEST_GOES_ON";
const PAUSED: u64 = 50;

struct World {
    log: Option<File>,
    /// The outputs of the calls, by idempotency key. A call with a known key has no effect.
    done: Mutex<BTreeMap<String, u64>>,
    /// The number of answered calls.
    answers: AtomicUsize,
}

impl World {
    /// The world in which another process has left this log.
    fn new(log: Option<File>, before: &str) -> Self {
        Self {
            log,
            done: Mutex::new(done(before)),
            answers: AtomicUsize::new(0),
        }
    }

    /// Returns the output of a call, which has its effect only for a new key.
    fn answer(&self, context: &CallContext, n: u64) -> u64 {
        let key = context.idempotency_key();
        let (_, key) = key.split_once('/').unwrap();
        self.answers.fetch_add(1, Ordering::Relaxed);
        let mut done = self.done.lock().unwrap();
        *done.entry(key.to_owned()).or_insert_with(|| {
            self.say(&format!("done {key} {n}"));
            n
        })
    }

    fn say(&self, line: &str) {
        if let Some(mut log) = self.log.as_ref() {
            // One write, which survives that the process is killed.
            log.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    }
}

/// Reads the effects from a log.
fn done(log: &str) -> BTreeMap<String, u64> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("done "));
    let words = lines.filter_map(|line| line.split_once(' '));
    words
        .map(|(key, n)| (key.to_owned(), n.parse().unwrap()))
        .collect()
}

fn key(context: &CallContext) -> String {
    let outer = context
        .outer()
        .map_or_else(String::new, |outer| key(outer) + ".");
    let element: String = context
        .element()
        .iter()
        .map(|at| format!("[{at}]"))
        .collect();
    format!("{outer}{}{element}@{}", context.step(), context.attempt())
}

/// Gives what follows `n`.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Work {
    n: u64,
    /// The number of first attempts that fail.
    fails: u32,
}

impl Call<World> for Work {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        let key = key(&context);
        world.say(&format!("start {key} {}", context.idempotency_key()));
        smol::future::yield_now().await;
        if world.log.is_some() && self.n.is_multiple_of(16) {
            smol::Timer::after(Duration::from_millis(1)).await;
        }
        if let Some(file) = env::var_os(GOES_ON).filter(|_| self.n == PAUSED) {
            while !Path::new(&file).exists() {
                smol::Timer::after(Duration::from_millis(1)).await;
            }
        }
        world.say(&format!("end {key}"));
        let around = context.outer().map_or(0, CallContext::attempt);
        if context.attempt() <= self.fails || self.fails == 99 && around < 3 {
            return Err(Error::msg("busy"));
        }
        Ok(world.answer(&context, self.n + 1))
    }
}

fn numbers(count: u64) -> Vec<u64> {
    (0..count).collect()
}

plan! {
    Steps() -> u64 {
        #[concurrency(1)]
        step first = for n in numbers(100) { Work { n, fails: 0 } };
        #[concurrency(4)]
        #[retry(3, backoff = "1ms")]
        step second = for n in first { Work { n, fails: (n % 7 == 0) as u32 } };
        second.iter().sum::<u64>()
    }
}

plan! {
    Inner(n: u64) -> u64 {
        step one = Work { n, fails: 0 };
        #[retry(3, backoff = "1ms")]
        step two = Work { n: one, fails: 1 };
        step block = { step three = Work { n: two, fails: 0 }; step four = Work { n: three, fails: 0 }; four };
        one + block
    }
}

plan! {
    Nested() -> u64 {
        step inners = for n in numbers(20) { Inner { n } };
        step blocks = for n in numbers(20) { step inner = Inner { n }; step more = Work { n: inner, fails: 0 }; more };
        inners.iter().sum::<u64>() + blocks.iter().sum::<u64>()
    }
}

plan! {
    Each(count: u64) -> u64 {
        step each = for n in numbers(count) { Work { n: n | 1, fails: 0 } };
        each.iter().sum::<u64>()
    }
}

plan! {
    Saga() -> Value {
        #[catch(each)]
        step orders = for n in numbers(12) {
            #[retry(3, backoff = "1ms")]
            step order = {
                step held = Work { n, fails: 0 };
                #[undo(held)]
                #[retry(2, backoff = "1ms")]
                step released = Work { n: held, fails: 1 };
                step packed = Work { n: held, fails: 0 };
                #[undo(packed)]
                step unpacked = { step opened = Work { n: packed, fails: 0 }; step back = Work { n: opened, fails: 0 }; back };
                step paid = Work { n: packed, fails: 99 };
                #[always]
                step told = Work { n: 3, fails: 0 };
                paid
            };
            order
        };
        serde_json::json!(orders)
    }
}

plan! {
    Looped() -> u64 {
        #[at_most(60)]
        step rounds = loop |last| {
            step one = Work { n: last.unwrap_or(0), fails: 0 };
            #[retry(2, backoff = "1ms")]
            step two = Work { n: one, fails: 1 };
            two
        } while two < 100;
        rounds
    }
}

const ELEMENTS: u64 = 2_000;

const WORKS: [&str; 5] = ["steps", "nested", "each", "saga", "looped"];

fn run(work: &str, world: &World, db: Option<(&Sqlite, &str)>) -> Value {
    macro_rules! run {
        ($plan:expr) => {{
            let run = $plan.run(world);
            let output = match db {
                Some((db, id)) => smol::block_on(run.durable(db, id)),
                None => smol::block_on(run),
            };
            serde_json::to_value(output.unwrap()).unwrap()
        }};
    }
    match work {
        "steps" => run!(Steps {}),
        "nested" => run!(Nested {}),
        "each" => run!(Each { count: ELEMENTS }),
        "saga" => run!(Saga {}),
        "looped" => run!(Looped {}),
        other => panic!("`{other}` is not known"),
    }
}

/// Not a test: what a process that was started by one does.
#[test]
fn process() {
    let Ok(work) = env::var(WORK) else { return };
    let folder = PathBuf::from(env::var(FOLDER).unwrap());
    let (work, id) = work.split_once(' ').unwrap();
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(id))
        .unwrap();
    let db = Sqlite::open(folder.join("runs.db")).unwrap();
    let before = fs::read_to_string(folder.join(id)).unwrap();
    let world = World::new(Some(log), &before);
    let output = run(work, &world, Some((&db, id)));
    fs::write(folder.join(format!("{id}.output")), output.to_string()).unwrap();
}

fn start(work: &str, id: &str, folder: &Path) -> Child {
    command(work, id, folder).spawn().unwrap()
}

fn command(work: &str, id: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "durable::kill::process", "--nocapture"])
        .env(WORK, format!("{work} {id}"))
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

fn new_folder() -> PathBuf {
    let (process, number) = (std::process::id(), fastrand::u64(..));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join(format!("killed-{process}-{number:x}"));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn recorded(folder: &Path, id: &str) -> BTreeSet<String> {
    let db = Sqlite::open(folder.join("runs.db")).unwrap();
    match db.records_now(id) {
        Ok(records) => records.into_iter().map(|record| record.key).collect(),
        Err(_) => BTreeSet::new(),
    }
}

#[test]
fn a_killed_process_loses_nothing() {
    let kills: usize = crate::common::cases(10, 20);
    let folder = new_folder();
    let expected: Vec<(Value, BTreeMap<String, u64>)> = WORKS
        .iter()
        .map(|work| {
            let world = World::new(None, "");
            let output = run(work, &world, None);
            let done = world.done.into_inner().unwrap();
            // In these plans, a call that was answered is made again only after it was undone.
            assert_eq!(done.len(), world.answers.into_inner(), "{work}");
            (output, done)
        })
        .collect();
    let mut killed = [0; WORKS.len()];
    let (mut runs, mut again, mut calls, mut recorded_calls) = (0, 0, 0, 0);
    while killed.iter().sum::<usize>() < kills {
        // The work with the fewest killed processes.
        let place = (0..WORKS.len()).min_by_key(|it| killed[*it]).unwrap();
        let (work, id) = (WORKS[place], format!("run-{runs}"));
        let mut in_run = 0;
        loop {
            let mut child = start(work, &id, &folder);
            let limit = if in_run < 12 {
                fastrand::u64(5..200)
            } else {
                60_000
            };
            let mut status = None;
            for _ in 0..limit {
                status = child.try_wait().unwrap();
                if status.is_some() {
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
            if let Some(status) = status {
                assert!(status.success(), "{work}: {status}");
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            in_run += 1;
            // The run does not repeat calls that are recorded now.
            let mut log = OpenOptions::new()
                .append(true)
                .create(true)
                .open(folder.join(&id))
                .unwrap();
            for key in recorded(&folder, &id) {
                writeln!(log, "recorded {key}").unwrap();
            }
        }
        killed[place] += in_run;
        runs += 1;
        let output: Value =
            serde_json::from_str(&fs::read_to_string(folder.join(format!("{id}.output"))).unwrap())
                .unwrap();
        let log = fs::read_to_string(folder.join(&id)).unwrap();
        assert_eq!((output, done(&log)), expected[place], "{work}");
        let mut known = BTreeSet::new();
        let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut started: BTreeMap<String, usize> = BTreeMap::new();
        for line in log.lines() {
            let mut words = line.split(' ');
            let (what, key) = (words.next().unwrap(), words.next().unwrap().to_owned());
            match what {
                "recorded" => {
                    known.insert(key);
                }
                "start" => {
                    calls += 1;
                    assert!(
                        !known.contains(&key),
                        "{work}: `{key}` is recorded, and was called again"
                    );
                    *started.entry(key.clone()).or_default() += 1;
                    keys.entry(key)
                        .or_default()
                        .insert(words.next().unwrap().to_owned());
                }
                _ => {}
            }
        }
        recorded_calls += started.keys().filter(|key| known.contains(*key)).count();
        again += started.values().map(|count| count - 1).sum::<usize>();
        assert!(
            keys.values().all(|keys| keys.len() == 1),
            "{work}: {keys:?}"
        );
        let database = rusqlite::Connection::open(folder.join("runs.db")).unwrap();
        let checked: String = database
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(checked, "ok");
    }
    // Calls and records have equal keys. Otherwise, the assertion on recorded keys would never fail.
    assert!(recorded_calls > 0);
    println!(
        "{killed:?} kills of {WORKS:?} in {runs} runs: {calls} calls, {again} of them again, since they ran when the process was killed"
    );
    fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn a_stopped_process_keeps_its_run() {
    let folder = new_folder();
    let world = World::new(None, "");
    let expected = run("steps", &world, None);
    let (goes_on, log) = (folder.join("goes on"), folder.join("run"));
    let log = || fs::read_to_string(&log).unwrap_or_default();
    let mut child = command("steps", "run", &folder)
        .env(GOES_ON, &goes_on)
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, id.as_str()]).status();
        assert!(sent.unwrap().success(), "{name}");
    };
    // The process writes nothing during the call, so it is stopped without a lock on the database.
    let paused = format!("first[{PAUSED}]@1");
    let before = format!("first[{}]@1", PAUSED - 1);
    while !log().contains(&paused) || !recorded(&folder, "run").contains(&before) {
        assert_eq!(child.try_wait().unwrap(), None);
        thread::sleep(Duration::from_millis(5));
    }
    signal("-STOP");
    let other = World::new(None, "");
    let db = Sqlite::open(folder.join("runs.db"));
    let refused = db.map(|db| smol::block_on(Steps {}.run(&other).durable(&db, "run")));
    signal("-CONT");
    File::create(goes_on).unwrap();
    let error = refused.unwrap().unwrap_err();
    assert!(
        matches!(error.journal(), Some(JournalError::Owned { owner, .. }) if *owner == format!("process {id}")),
        "{error}"
    );
    // The child stays a zombie until the wait, so each signal has a receiver.
    for _ in 0..5 {
        thread::sleep(Duration::from_millis(fastrand::u64(1..20)));
        signal("-STOP");
        thread::sleep(Duration::from_millis(fastrand::u64(1..20)));
        signal("-CONT");
    }
    assert!(child.wait().unwrap().success());
    let output = fs::read_to_string(folder.join("run.output")).unwrap();
    let log = log();
    assert_eq!(output, expected.to_string());
    assert_eq!(done(&log), world.done.into_inner().unwrap());
    let started: Vec<&str> = log
        .lines()
        .filter_map(|line| line.strip_prefix("start "))
        .collect();
    let different: BTreeSet<&str> = started.iter().copied().collect();
    assert_eq!(started.len(), different.len());
    assert_eq!(other.answers.into_inner(), 0);
    fs::remove_dir_all(&folder).unwrap();
}
