//! Plans whose processes are killed: another process resumes them, and each effect happens once.

use crate::process::{Process, say};
use crate::server::Server;
use crate::{LEASE, kills, open};
use plan_postgres::Postgres;
use plan_runtime::run::CallContext;
use plan_runtime::{Result, RunError, plan, tool};
use smol::block_on;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of the world.
pub(crate) const FOLDER: &str = "POSTGRES_TEST_FOLDER";

/// A service outside of the process: a file for each effect, and a list of all calls.
pub(crate) struct World(PathBuf);

impl World {
    pub(crate) fn new(folder: &Path) -> Self {
        fs::create_dir_all(folder.join("effects")).unwrap();
        Self(folder.to_owned())
    }

    /// Has the effect of a call, unless a call with this key has had the effect.
    pub(crate) fn effect(&self, key: &str) {
        let calls = File::options()
            .create(true)
            .append(true)
            .open(self.0.join("calls"));
        let line = format!("{key}\n");
        calls.unwrap().write_all(line.as_bytes()).unwrap();
        let name = key.replace('%', "%25").replace('/', "%2F");
        let _ = File::create_new(self.0.join("effects").join(name));
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.0.join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    pub(crate) fn effects(&self) -> usize {
        fs::read_dir(self.0.join("effects")).unwrap().count()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The processes share the folder, and the test removes it.
        if std::env::var_os(FOLDER).is_none() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Adds one to a number.
#[tool]
async fn add(world: &World, #[context] context: CallContext, n: u64) -> Result<u64> {
    world.effect(&context.idempotency_key());
    smol::Timer::after(Duration::from_millis(5)).await;
    Ok(n + 1)
}

fn numbers(count: u64) -> Vec<u64> {
    (0..count).collect()
}

plan! {
    Sums() -> u64 {
        #[concurrency(8)]
        step many = for n in numbers(100) { Add { n } };
        #[concurrency(1)]
        step slow = for n in many { Add { n } };
        #[concurrency(20)]
        step fast = for n in slow { Add { n } };
        fast.iter().sum::<u64>()
    }
}

const ADDED: usize = 300;
const SUM: u64 = 5_250;

/// The work of a process: resumes the run, once its last owner's lease has ended.
pub(crate) fn run(url: &str) {
    let folder = std::env::var(FOLDER).unwrap();
    let (db, world) = (open(url), World::new(Path::new(&folder)));
    say("connected");
    match resume(&db, &world) {
        Ok(sum) => say(&format!("sum {sum}")),
        Err(error) => say(&error.to_string()),
    }
}

fn resume(db: &Postgres, world: &World) -> std::result::Result<u64, RunError> {
    loop {
        let outcome = block_on(Sums {}.run(world).durable(db, "sums"));
        match outcome {
            Err(error) if error.to_string().contains("is being run by") => {
                std::thread::sleep(LEASE / 20);
            }
            outcome => return outcome,
        }
    }
}

#[test]
fn a_run_is_resumed_by_the_next_process() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let folder = std::env::temp_dir().join(format!("plan-postgres-world-{}", std::process::id()));
    let (url, world) = (server.url(), World::new(&folder));
    let variables = [(FOLDER, folder.to_str().unwrap())];
    for kill in 0..kills() {
        let before = world.calls().len();
        let process = Process::start("run", &url, &variables);
        assert_eq!(process.hear(), "connected");
        // Each process comes further than the one before.
        let comes_further = crate::server::within(Duration::from_secs(60), || {
            world.calls().len() > before + fastrand::usize(10..60) || world.effects() == ADDED
        });
        assert!(comes_further, "kill {kill}: {before} calls");
        if kill % 3 == 1 {
            // The server ends with the process.
            server.stop("QUIT");
        }
        process.kill();
        if kill % 3 == 1 {
            server.restart();
        }
    }
    let db = open(&url);
    assert_eq!(resume(&db, &world).unwrap(), SUM);
    // The recorded output is returned again.
    let before = world.calls().len();
    assert_eq!(resume(&db, &world).unwrap(), SUM);
    let calls = world.calls();
    assert_eq!(calls.len(), before);
    let keys: BTreeSet<&String> = calls.iter().collect();
    println!(
        "{} kills, {} calls, {} of them again",
        kills(),
        calls.len(),
        calls.len() - keys.len()
    );
    assert_eq!(keys.len(), ADDED);
    assert_eq!(world.effects(), ADDED);
}
