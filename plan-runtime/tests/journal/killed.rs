//! Processes that are killed, and processes that want the same run. This test binary is started again, as the process.

use crate::journal::asking::Asking;
use crate::journal::support::{Folder, integrity, record};
use plan_runtime::journal::Sqlite;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, thread};

/// The work of a process, and the database.
const WORK: &str = "JOURNAL_TEST_WORK";
const FILE: &str = "JOURNAL_TEST_FILE";

const RUNS: usize = 3;

/// Not a test: what a process that was started by one does.
#[test]
fn process() {
    let Ok(work) = env::var(WORK) else { return };
    let path = env::var(FILE).unwrap();
    if work == "open" {
        let opened = Sqlite::open(&path).map(drop);
        return say(&opened
            .err()
            .map_or("opened".to_owned(), |error| error.to_string()));
    }
    let db = Sqlite::open(&path).unwrap();
    match &*work {
        "record" => write_on(&db),
        "claim" => claim(&db),
        other => panic!("`{other}` is not known"),
    }
}

fn say(line: &str) {
    // Past the test harness, which would keep it.
    let mut out = std::io::stdout().lock();
    writeln!(out, "# {line}").unwrap();
    out.flush().unwrap();
}

/// Returns the command of this binary, as a process with some work.
pub(crate) fn command(work: &str, path: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "journal::killed::process", "--nocapture"])
        .env(WORK, work)
        .env(FILE, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

fn start(work: &str, path: &Path) -> Child {
    command(work, path).spawn().unwrap()
}

/// Returns the lines of a process, as they arrive.
fn said(child: &mut Child) -> mpsc::Receiver<String> {
    let (send, said) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if let Some((_, line)) = line.split_once("# ") {
                let _ = send.send(line.to_owned());
            }
        }
    });
    said
}

fn id(run: usize) -> String {
    format!("run {run}")
}

/// Numbered keys, from the first that is not recorded.
fn write_on(db: &Sqlite) {
    thread::scope(|scope| {
        for run in 0..RUNS {
            scope.spawn(move || {
                let claimed = db.claim_now(&id(run)).unwrap();
                let claim = claimed.claim;
                if claimed.run.info.is_none() {
                    db.describe_now(&claim, &crate::journal::support::info("numbers"))
                        .unwrap();
                }
                let mut next = db.records_now(&id(run)).unwrap().len();
                loop {
                    // One by one, and many together.
                    let count = [1, 1, 3, 64, 300][fastrand::usize(..5)];
                    let writes: Vec<_> = (next..next + count)
                        .map(|n| (n, record(db, &claim, format!("{n}"))))
                        .collect();
                    for (n, write) in writes {
                        smol::block_on(write).unwrap();
                        say(&format!("{run} {n}"));
                    }
                    next += count;
                }
            });
        }
    });
}

/// The database goes through all kills.
#[test]
fn what_was_acknowledged_survives() {
    let kills: usize = crate::common::cases(10, 20);
    let folder = Folder::new();
    let mut known = [0; RUNS];
    let mut acknowledged = 0;
    for kill in 0..kills {
        let mut child = start("record", &folder.path());
        let said = said(&mut child);
        // Some are killed while they open the database.
        thread::sleep(Duration::from_millis(fastrand::u64(..150)));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in said {
            let (run, n) = line.split_once(' ').unwrap();
            let (run, n): (usize, usize) = (run.parse().unwrap(), n.parse().unwrap());
            known[run] = known[run].max(n + 1);
            acknowledged += 1;
        }
        let db = folder.open();
        for (run, known) in known.iter().enumerate() {
            let claimed = db.claim_now(&id(run)).unwrap();
            let keys: Vec<String> = match db.records_now(&id(run)) {
                Ok(records) => records.into_iter().map(|record| record.key).collect(),
                Err(_) => Vec::new(),
            };
            let prefix: Vec<String> = (0..keys.len()).map(|n| format!("{n}")).collect();
            assert_eq!(
                keys, prefix,
                "kill {kill}: a record is missing in the middle"
            );
            assert!(
                keys.len() >= *known,
                "kill {kill}: {known} records were acknowledged, {} are there",
                keys.len()
            );
            if let Some(last) = keys.last() {
                let found = db.find_now(&claimed.claim, last).unwrap().unwrap();
                assert_eq!(found.number, keys.len() as u64);
            }
        }
        drop(db);
        assert_eq!(integrity(&folder.path()), "ok", "kill {kill}");
    }
    assert!(acknowledged > 0, "no process has come to write anything");
    println!("{kills} kills, {acknowledged} records acknowledged, none lost");
}

/// Claims runs, prints the results, and holds the claims until the input ends.
fn claim(db: &Sqlite) {
    let mut lines = std::io::stdin().lines();
    say("ready");
    while let Some(Ok(id)) = lines.next() {
        match db.claim_now(&id) {
            Ok(_) => say("got"),
            Err(error) => say(&error.to_string()),
        }
    }
}

#[test]
fn one_of_two_processes_gets_a_run() {
    let folder = Folder::new();
    let mut children = [
        start("claim", &folder.path()),
        start("claim", &folder.path()),
    ];
    let pids = children.each_ref().map(Child::id);
    let said = children.each_mut().map(said);
    let hear = |n: usize| said[n].recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!([hear(0), hear(1)], ["ready", "ready"]);
    let mut first = 0;
    for round in 0..50 {
        for child in &mut children {
            let input = child.stdin.as_mut().unwrap();
            writeln!(input, "run {round}").unwrap();
        }
        let answers = [hear(0), hear(1)];
        let refused = |by: usize| format!("run `run {round}` is being run by process {}", pids[by]);
        let expected = if answers[0] == "got" {
            first += 1;
            ["got".to_owned(), refused(0)]
        } else {
            [refused(1), "got".to_owned()]
        };
        assert_eq!(answers, expected);
    }
    println!("the first of two got {first} of 50");

    // Once a process is killed, its runs can be claimed.
    let db = folder.open();
    let owned = plan_runtime::journal::RunFilter::new();
    assert_eq!(db.runs_now(&owned).len(), 0, "nobody has described them");
    assert!(db.claim_now("run 0").is_err());
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for round in 0..50 {
        db.claim_now(&format!("run {round}")).unwrap();
    }
}
