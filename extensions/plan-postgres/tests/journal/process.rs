//! Processes of the tests: this binary, started again.

use crate::server::{Server, send_signal};
use crate::{append, claim, count, kills, open, stops};
use plan_runtime::journal::{Journal, JournalError};
use smol::block_on;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The work of a process, and the database.
const WORK: &str = "POSTGRES_TEST_WORK";
const URL: &str = "POSTGRES_TEST_URL";

/// The time limit for a process's next line.
const PATIENCE: Duration = Duration::from_secs(60);

/// Not a test: the work of a process that was started by a test.
#[test]
fn process() {
    let (Ok(work), Ok(url)) = (env::var(WORK), env::var(URL)) else {
        return;
    };
    match &*work {
        "write" => write_on(&url),
        "run" => crate::runs::run(&url),
        "serve" => crate::serve::serve(&url),
        "call" => crate::calls::run(&url),
        other => panic!("`{other}` is not known"),
    }
}

pub(crate) fn say(line: &str) {
    // Past the test harness, which would keep it.
    let mut out = std::io::stdout().lock();
    writeln!(out, "# {line}").unwrap();
    out.flush().unwrap();
}

/// A process, which is killed with the drop of this value.
pub(crate) struct Process {
    child: Child,
    said: mpsc::Receiver<String>,
}

impl Process {
    pub(crate) fn start(work: &str, url: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["--exact", "process::process", "--nocapture"])
            .env(WORK, work)
            .env(URL, url)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (send, said) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if let Some((_, line)) = line.split_once("# ") {
                    let _ = send.send(line.to_owned());
                }
            }
        });
        Self { child, said }
    }

    /// Returns the next line.
    pub(crate) fn hear(&self) -> String {
        self.said.recv_timeout(PATIENCE).unwrap()
    }

    /// Kills the process, and returns the lines that nobody has heard.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.said.iter().collect()
    }

    pub(crate) fn signal(&self, signal: &str) {
        send_signal(self.child.id(), signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes numbered records, from the first missing one, one by one and many together.
fn write_on(url: &str) {
    let db = open(url);
    let held = claim(&db, "written").claim;
    let mut next = count(&db, "written");
    loop {
        let many = [1, 1, 3, 64, 300][fastrand::usize(..5)];
        let writes: Vec<_> = (next..next + many)
            .map(|n| (n, append(&db, &held, n)))
            .collect();
        for (n, write) in writes {
            match block_on(write) {
                Ok(()) => say(&format!("{n}")),
                Err(JournalError::Lost { .. }) => return say("lost"),
                Err(error) => return say(&error.to_string()),
            }
        }
        next += many;
    }
}

#[test]
fn acknowledged_records_survive_their_process() {
    let Some(server) = Server::start() else {
        return;
    };
    let (url, mut known) = (server.url(), 0);
    for _ in 0..kills() {
        let process = Process::start("write", &url, &[]);
        process.hear();
        thread::sleep(Duration::from_millis(fastrand::u64(..300)));
        for line in process.kill() {
            known = known.max(line.parse::<usize>().unwrap() + 1);
        }
        let db = open(&url);
        let claimed = claim(&db, "written");
        let found = count(&db, "written");
        assert!(
            found >= known,
            "{known} were acknowledged, {found} are there"
        );
        db.release(&claimed.claim);
    }
    println!("{known} records acknowledged, none lost");
}

#[test]
fn an_owner_that_slept_has_lost_its_run() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.url();
    for _ in 0..stops() {
        let process = Process::start("write", &url, &[]);
        process.hear();
        thread::sleep(Duration::from_millis(fastrand::u64(..100)));
        process.signal("STOP");
        let db = open(&url);
        let claimed = claim(&db, "written");
        let found = count(&db, "written");
        block_on(append(&db, &claimed.claim, found)).unwrap();
        process.signal("CONT");
        let mut last = String::new();
        while last != "lost" {
            last = process.hear();
            // Records before the stop may be acknowledged still.
            if let Ok(n) = last.parse::<usize>() {
                assert!(n < found, "{n} was acknowledged after {found}");
            } else {
                assert_eq!(last, "lost");
            }
        }
        block_on(append(&db, &claimed.claim, found + 1)).unwrap();
        assert_eq!(count(&db, "written"), found + 2);
        db.release(&claimed.claim);
    }
    println!("{} stops", stops());
}
