//! Several processes that serve the runs of one database.

use crate::process::{Process, say};
use crate::runs::{FOLDER, World};
use crate::server::{Server, within};
use crate::{kills, open};
use plan_postgres::Postgres;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{Journal, RunFilter, RunState, Store};
use plan_runtime::run::CallContext;
use plan_runtime::{Result, plan, serve, tool};
use smol::block_on;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

const RUNS: u64 = 24;

/// The number of calls of a run.
const CALLS: u64 = 12;

/// Adds one to a number.
#[tool]
async fn add_one(world: &World, #[context] context: CallContext, n: u64) -> Result<u64> {
    world.effect(&format!(
        "{} {}",
        context.idempotency_key(),
        std::process::id()
    ));
    smol::Timer::after(Duration::from_millis(5)).await;
    Ok(n + 1)
}

fn numbers(from: u64) -> Vec<u64> {
    (from..from + CALLS).collect()
}

plan! {
    Served(from: u64) -> u64 {
        #[concurrency(1)]
        step all = for n in numbers(from) { AddOne { n } };
        all.iter().sum::<u64>()
    }
}

fn sum(from: u64) -> u64 {
    numbers(from).iter().map(|n| n + 1).sum()
}

/// The work of a process: serves until the process is killed.
pub(crate) fn serve(url: &str) {
    let folder = std::env::var(FOLDER).unwrap();
    let (db, world) = (open(url), World::new(Path::new(&folder)));
    let toolbox = Toolbox::<World>::new().with::<Served>();
    let server = serve::Server::new(&db, toolbox, world);
    say(&format!("serves {}", std::process::id()));
    block_on(server.serve().concurrency(8)).unwrap();
}

/// A process that serves, and its id.
fn start(url: &str, folder: &Path) -> (Process, String) {
    let process = Process::start("serve", url, &[(FOLDER, folder.to_str().unwrap())]);
    let said = process.hear();
    let id = said.strip_prefix("serves ").unwrap().to_owned();
    (process, id)
}

/// Returns the keys of the recorded calls.
fn recorded(db: &Postgres) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for run in 0..RUNS {
        let id = format!("run {run}");
        for record in crate::records(db, &id) {
            if let Some((path, "1")) = record.key.rsplit_once('@') {
                keys.insert(format!("{id}/{path}"));
            }
        }
    }
    keys
}

#[test]
fn other_servers_continue_the_runs_of_a_killed_server() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.url();
    let db = open(&url);
    for round in 0..kills().div_ceil(3) {
        let name = format!("plan-postgres-served-{}-{round}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let world = World::new(&folder);
        block_on(db.delete(Duration::ZERO)).unwrap();
        for from in 0..RUNS {
            let submitted = Served { from }.submit(&db, format!("run {from}"));
            block_on(submitted).unwrap();
        }
        let processes: Vec<_> = (0..3).map(|_| start(&url, &folder)).collect();
        let [killed, slept, other] = processes.try_into().unwrap_or_else(|_| unreachable!());
        let calls = |id: &str| {
            world
                .calls()
                .iter()
                .filter(|call| call.ends_with(id))
                .count()
        };
        let all_work = within(LIMIT, || {
            [&killed.1, &slept.1, &other.1]
                .iter()
                .all(|id| calls(id) > 4)
        });
        assert!(all_work, "a server has no work");
        killed.0.kill();
        // Nothing that is recorded now is called again.
        let known = recorded(&db);
        let before = world.calls().len();
        slept.0.signal("STOP");
        let state = |state| RunFilter::new().state(state);
        let running = || block_on(db.runs(&state(RunState::Running))).unwrap();
        let have_ended = within(LIMIT, || running().is_empty());
        assert!(have_ended, "{:#?}", running());
        slept.0.signal("CONT");
        for from in 0..RUNS {
            let run = block_on(db.look(&format!("run {from}"))).unwrap().unwrap();
            let output = run.end.filter(|end| end.is_done());
            assert_eq!(output.unwrap().body(), sum(from).to_string());
        }
        let calls = world.calls();
        let mut of_keys: BTreeMap<&str, usize> = BTreeMap::new();
        for (n, call) in calls.iter().enumerate() {
            let (key, _) = call.rsplit_once(' ').unwrap();
            *of_keys.entry(key).or_default() += 1;
            assert!(n < before || !known.contains(key), "{key} is called again");
        }
        assert_eq!(of_keys.len() as u64, RUNS * CALLS);
        // A run makes one call at a time, so a disturbance repeats at most one call of it.
        let again = calls.len() - of_keys.len();
        assert!(again as u64 <= 2 * RUNS, "{again} calls were made again");
        println!("{} calls, {again} of them again", calls.len());
    }
}
