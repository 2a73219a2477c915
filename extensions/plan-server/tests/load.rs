//! Many plans at one time, with many who watch them, over the end of the server by `kill -9`: nothing is lost, and no recorded call is made again.
//!
//! `PLAN_LOAD=1000 PLAN_WATCHERS=100 cargo test --release --manifest-path extensions/Cargo.toml -p plan-server --test load -- --nocapture` is the large form.

mod support;

use plan_runtime::journal::spi::Record;
use plan_runtime::journal::{Journal, RunFilter, RunSummary, Sqlite, Store};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use support::{Folder, PATIENCE, Process};

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |given| given.parse().unwrap())
}

/// Returns a plan of seven calls: three run concurrently, and one fails at first.
fn plan(at: usize) -> String {
    let subject = format!("plan {at}");
    let send = |subject: &str| json!({"tool": "email_send", "params": {"to": "ada@example.org", "subject": subject}});
    json!({"requestId": format!("load-{at}"), "steps": [
        {"tool": "facilities_list", "params": {"location": "Stuttgart"}},
        {"tool": "shipments_list", "params": {"facility_id": "${step[0].data[0].id}"}},
        {"tool": "slow", "params": {"ms": 50 + (at % 7) * 30, "text": "${step[1].data[2].id}"}},
        {"tool": "flaky", "params": {"failures": at % 3}, "retryCount": 3},
        send(&subject),
        send("${step[2].data} after ${step[3].data}"),
        {"tool": "slow", "params": {"ms": 20, "text": "${step[5].data.subject}"}},
    ]})
    .to_string()
}

/// Reads all runs of a database.
async fn runs(db: &Sqlite) -> Vec<RunSummary> {
    let mut runs: Vec<RunSummary> = Vec::new();
    loop {
        let after = runs.last().map_or(0, |last| last.number);
        let page = db.runs(&RunFilter::new().after(after)).await.unwrap();
        if page.is_empty() {
            return runs;
        }
        runs.extend(page);
    }
}

/// Reads all records of a run.
async fn records(db: &Sqlite, id: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    loop {
        let after = records.last().map_or(0, |last| last.number);
        let page = db.read(id, after).await.unwrap();
        if page.is_empty() {
            return records;
        }
        records.extend(page);
    }
}

/// Returns the paths of calls with recorded outcomes, by run. The key of a call's record contains its path and the
/// attempt.
async fn recorded(folder: &Folder) -> HashSet<String> {
    let db = Sqlite::open(folder.path().join("runs.db")).unwrap();
    let mut found = HashSet::new();
    for RunSummary { id, .. } in runs(&db).await {
        for record in records(&db, &id).await {
            let key = &record.key;
            let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
            // A failed call may be made again. The end of a wait is no call.
            if let Some((path, attempt)) = key.split_once('@')
                && attempt.bytes().all(|byte| byte.is_ascii_digit())
                && !body.to_string().contains("busy")
            {
                found.insert(format!("{id} {path}"));
            }
        }
    }
    found
}

/// Returns the median, the 99th percentile and the maximum of these times.
fn spread(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at =
        |part: f64| times[((times.len() - 1) as f64 * part).round() as usize].as_secs_f64() * 1e3;
    format!(
        "median {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

fn memory(process: &Process) -> String {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.map_or_else(|| "unknown".into(), |line| line[6..].trim().to_owned())
}

#[test]
fn nothing_is_lost_under_load() {
    let (count, watchers) = (number("PLAN_LOAD", 80), number("PLAN_WATCHERS", 10));
    let folder = Folder::new();
    let server = Process::start(&folder);

    // Eight clients start all plans as fast as they can.
    let (next, ids, latencies) = (
        AtomicUsize::new(0),
        Mutex::new(vec![String::new(); count]),
        Mutex::new(Vec::new()),
    );
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let start = Instant::now();
                    let id = server.begin(&plan(at), &json!({}), "none");
                    latencies.lock().unwrap().push(start.elapsed());
                    ids.lock().unwrap()[at] = id;
                }
            });
        }
    });
    let (ids, mut latencies) = (ids.into_inner().unwrap(), latencies.into_inner().unwrap());
    let submitted = began.elapsed();

    // Some are watched, until the end of the server and from the start of the next one.
    let watched: Vec<&String> = ids
        .iter()
        .step_by((count / watchers).max(1))
        .take(watchers)
        .collect();
    let streams: Vec<_> = watched.iter().map(|id| server.events(id)).collect();
    let (first, firsts) = mpsc::channel();
    let before: Vec<thread::JoinHandle<()>> = streams
        .into_iter()
        .map(|mut events| {
            let first = first.clone();
            thread::spawn(move || {
                first.send(events.next().is_some()).unwrap();
                events.for_each(drop);
            })
        })
        .collect();
    // The server may be killed before it has sent anything otherwise.
    for _ in &before {
        assert!(firsts.recv_timeout(PATIENCE).unwrap());
    }
    let effects = count * 5;
    while folder.effects().len() < effects / 3 {
        assert!(began.elapsed() < 4 * PATIENCE, "it does not go on");
        thread::sleep(Duration::from_millis(5));
    }
    let first_memory = memory(&server);
    server.kill();
    before
        .into_iter()
        .for_each(|watcher| watcher.join().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let kept = runtime.unwrap().block_on(recorded(&folder));
    let made = folder.effects().len();
    assert!(made < effects, "it was killed too late: {made} effects");

    let server = Process::start(&folder);
    let again = Instant::now();
    let streams: Vec<_> = watched.iter().map(|id| server.events(id)).collect();
    let after: Vec<thread::JoinHandle<String>> = streams
        .into_iter()
        .map(|events| {
            thread::spawn(move || events.last().map_or_else(String::new, |(name, _)| name))
        })
        .collect();
    let mut times = Vec::new();
    for (at, id) in ids.iter().enumerate() {
        let run = server.ended(id);
        assert_eq!(run["state"], "done", "{run:#}");
        let expected = format!("F1-3 after {}", at % 3 + 1);
        assert_eq!(run["output"]["step6"], expected, "{run:#}");
        let spent = run["report"]["duration_ms"].as_f64().unwrap();
        times.push(Duration::from_secs_f64(spent / 1e3));
    }
    let resumed = again.elapsed();
    for watcher in after {
        assert_eq!(watcher.join().unwrap(), "end");
    }

    // Each call has had its effect once: the resumed runs repeated no recorded call.
    let all = folder.effects();
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut repeated = 0;
    for (at, effect) in all.iter().enumerate() {
        let call = effect["call"].as_str().unwrap();
        if effect["again"] == true {
            repeated += 1;
            assert!(first.contains_key(call), "{effect}");
        } else {
            assert!(first.insert(call, at).is_none(), "{effect} twice");
        }
        assert!(
            at < made || !kept.contains(call),
            "{call} was recorded and made again"
        );
    }
    assert_eq!(first.len(), effects);
    // Most of the calls before the end were recorded, so the comparison above covers them.
    let known = all[..made]
        .iter()
        .filter(|effect| kept.contains(effect["call"].as_str().unwrap()));
    assert!(known.count() > made / 2);

    println!(
        "{count} plans with {} calls that have an effect, {watchers} watched",
        effects
    );
    println!(
        "submitted in {submitted:?} by 8 clients: {}",
        spread(&mut latencies)
    );
    println!(
        "killed after {made} effects, {} records of calls; {repeated} calls were made again, of which none was recorded",
        kept.len()
    );
    println!(
        "all had ended {resumed:?} after the new start; runs took, over the end of the server: {}",
        spread(&mut times)
    );
    println!(
        "memory at most: {first_memory} before, {} after",
        memory(&server)
    );
}
