//! Workers and the server are killed at random moments, and all runs give what they give in one process.
//!
//! `RESTATE_KILLS` sets the smallest number of kills; the default is three.

use super::SERVICE;
use super::app::{self, App, Big, Saga, dag};
use super::runs::{Field, big_here, block_on, why};
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The number of concurrent runs of each kind.
const RUNS: usize = 2;

#[test]
fn runs_survive_their_workers_and_the_server() {
    let least: usize = std::env::var("RESTATE_KILLS").map_or(3, |it| it.parse().unwrap());
    let service = std::env::temp_dir().join(format!("plan-restate-service-{}", std::process::id()));
    let Some(mut field) = Field::new("chaos", 2, &[(SERVICE, service.to_str().unwrap())]) else {
        return;
    };
    let (app, toolbox) = (App::new(Some(service.clone())), app::toolbox());
    let plan = dag(50, 8);
    let saga_here = block_on(Saga { from: 5 }.run(&app).id("saga"))
        .unwrap_err()
        .to_string();
    let run = toolbox.run(&plan, json!({"from": 2}), &app).id("dag");
    let dag_here = block_on(run).unwrap();
    let effects_here = ["saga", "dag"].map(|id| (id, app.effects(id)));
    let calls_here = app.calls().len();
    let big_here = block_on(big_here(1));
    let mut random = Rng::with_seed(7);
    let (mut worker_kills, mut server_kills, mut rounds) = (0, 0, 0);
    while worker_kills < least || server_kills * 5 < least * 2 {
        let done = AtomicBool::new(false);
        let client = field.client.clone().patience(Duration::from_secs(120));
        std::thread::scope(|scope| {
            let runs = scope.spawn(|| {
                block_on(async {
                    for run in 0..RUNS {
                        let id = |name: &str| format!("{name}-{rounds}-{run}");
                        let big = Big { from: 1 }
                            .submit(&client, id("big"))
                            .send()
                            .await
                            .unwrap();
                        let saga = Saga { from: 5 }
                            .submit(&client, id("saga"))
                            .send()
                            .await
                            .unwrap();
                        let dag = toolbox.run(&plan, json!({"from": 2}), &app);
                        let dag = dag.submit(&client, id("dag")).send().await.unwrap();
                        big.signal("reply", 40).await.unwrap();
                        assert_eq!(dag.output::<Value>().await.unwrap(), dag_here);
                        let error = saga.output::<u64>().await.unwrap_err().to_string();
                        assert_eq!(why(&error), why(&saga_here));
                        assert!(error.ends_with("and 2 more"), "{error}");
                        assert_eq!(big.output::<Value>().await.unwrap(), big_here);
                    }
                });
                done.store(true, Ordering::Release);
            });
            // Less and less often, so that what begins again has the time to come further than before.
            let mut pause = 0;
            while !done.load(Ordering::Acquire) && !runs.is_finished() {
                std::thread::sleep(Duration::from_millis(random.u64(20..300) + pause));
                pause += 40;
                if random.u8(..10) < 3 {
                    field.server.kill();
                    server_kills += 1;
                    field.server.restart();
                } else {
                    let worker = random.usize(..2);
                    field.workers[worker].kill();
                    worker_kills += 1;
                    std::thread::sleep(Duration::from_millis(random.u64(..100)));
                    field.workers[worker].restart();
                }
            }
            runs.join().unwrap();
        });
        rounds += 1;
    }
    let calls = app.calls().split_off(calls_here);
    let keys: BTreeSet<&String> = calls.iter().collect();
    println!(
        "{worker_kills} workers and {server_kills} servers killed, {} runs, {} calls, {} of them made again",
        rounds * RUNS * 3,
        keys.len(),
        calls.len() - keys.len(),
    );
    assert_eq!(field.unfinished(), Vec::<Value>::new());
    // Each effect happened exactly once.
    for (kind, here) in &effects_here {
        assert!(here.len() > 10, "{here:?}");
        for (round, run) in (0..rounds).flat_map(|round| (0..RUNS).map(move |run| (round, run))) {
            assert_eq!(app.effects(&format!("{kind}-{round}-{run}")), *here);
        }
    }
    // Each call was requested once, and its outcome was stored once.
    let asked = "SELECT i.target_service_key AS run, count(*) AS calls FROM sys_journal j JOIN sys_invocation i ON i.id = j.id
        WHERE j.entry_type = 'Command: Call' GROUP BY i.target_service_key";
    let mut calls: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in field.server.query(asked) {
        let run = row["run"].as_str().unwrap_or_default();
        let kind = run.split('-').next().unwrap_or_default().to_owned();
        calls
            .entry(kind)
            .or_default()
            .push(row["calls"].as_u64().unwrap());
    }
    println!("{calls:?}");
    assert_eq!(calls["dag"], vec![50; rounds * RUNS]);
    // Six calls of work, one of them after all others, two attempts, and five undo steps.
    assert_eq!(calls["saga"], vec![13; rounds * RUNS]);
    assert_eq!(calls["big"].len(), rounds * RUNS);
    assert!(
        !field.server.log().contains("RT0016"),
        "{}",
        field.server.log()
    );
    let _ = std::fs::remove_dir_all(service);
}
