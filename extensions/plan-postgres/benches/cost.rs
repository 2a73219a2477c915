//! Measures the records per second of the journal, in comparison with committed rows in the same server.
//!
//! `cargo bench --manifest-path extensions/Cargo.toml -p plan-postgres` starts a server of its own.
// The benchmark uses a part of the module.
#![allow(dead_code)]

#[path = "../tests/journal/server.rs"]
mod server;

use plan_postgres::Postgres;
use plan_runtime::journal::Journal;
use server::Server;
use smol::block_on;
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(4);

/// The number of concurrent appends, and the number of rows in a commit of the comparison.
const GROUP: usize = 64;
/// The number of measurements. Their median is the result.
const TURNS: usize = 5;

/// The length of a body. A record of a call has about this length.
const BODY: usize = 200;

fn main() {
    let Some(server) = Server::start() else {
        return;
    };
    server.execute(
        "CREATE TABLE rows (run bigint, number bigint, key bytea, body bytea, PRIMARY KEY (run, number));
        CREATE UNIQUE INDEX ON rows (run, sha256(key))",
    );
    let mut ratios: Vec<f64> = (0..TURNS)
        .map(|turn| {
            let records = journal(&server.url(), turn, GROUP);
            let rows = in_commits(&server.url(), turn);
            println!("{GROUP:>5} beside each other: {records:>6.0} records a second in the journal, {rows:>6.0} rows in commits of {GROUP}");
            rows / records
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[TURNS / 2];
    println!("a record takes {ratio:.2} times as long as a row in commits of {GROUP}");
    for beside in [1, 1024] {
        let records = journal(&server.url(), 0, beside);
        println!("{beside:>5} beside each other: {records:>6.0} records a second in the journal");
    }
    for connections in [1, 64] {
        let rows = by_hand(&server.url(), connections);
        println!(
            "{connections:>5} connections: {rows:>6.0} rows a second, each with a commit of its own"
        );
    }
}

/// Appends in many tasks of one run. Each task waits for its record before the next.
fn journal(url: &str, turn: usize, beside: usize) -> f64 {
    let db = block_on(Postgres::connect(url)).unwrap();
    let claim = block_on(db.claim(&format!("cost {beside} {turn}")))
        .unwrap()
        .claim;
    let executor = smol::LocalExecutor::new();
    let begin = Instant::now();
    let tasks: Vec<_> = (0..beside)
        .map(|task| {
            let (db, claim) = (db.clone(), claim.clone());
            executor.spawn(async move {
                let mut count = 0;
                while begin.elapsed() < TIME {
                    let body = "x".repeat(BODY);
                    let key = format!("{task}/{count}");
                    db.append(&claim, key, body).await.unwrap();
                    count += 1;
                }
                count
            })
        })
        .collect();
    let count = block_on(executor.run(async {
        let mut count = 0;
        for task in tasks {
            count += task.await;
        }
        count
    }));
    f64::from(count) / begin.elapsed().as_secs_f64()
}

/// Inserts rows with one connection, in commits of some rows.
fn in_commits(url: &str, turn: usize) -> f64 {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
        let (client, connection) = connected.unwrap();
        tokio::spawn(connection);
        let sql =
            "INSERT INTO rows SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[])";
        let insert = client.prepare(sql).await.unwrap();
        let (begin, run) = (Instant::now(), -(turn as i64) - 1);
        let mut count = 0;
        while begin.elapsed() < TIME {
            let numbers: Vec<i64> = (count..count + GROUP as i64).collect();
            let keys: Vec<Vec<u8>> = numbers
                .iter()
                .map(|n| format!("{run}/{n}").into_bytes())
                .collect();
            let bodies = vec!["x".repeat(BODY).into_bytes(); GROUP];
            client
                .execute(&insert, &[&run, &numbers, &keys, &bodies])
                .await
                .unwrap();
            count += GROUP as i64;
        }
        count as f64 / begin.elapsed().as_secs_f64()
    })
}

/// Inserts rows with this many connections.
fn by_hand(url: &str, connections: usize) -> f64 {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let begin = Instant::now();
        let tasks: Vec<_> = (0..connections)
            .map(|task| {
                let url = url.to_owned();
                tokio::spawn(async move {
                    let connected = tokio_postgres::connect(&url, tokio_postgres::NoTls).await;
                    let (client, connection) = connected.unwrap();
                    tokio::spawn(connection);
                    let sql = "INSERT INTO rows VALUES ($1, $2, $3, $4)";
                    let insert = client.prepare(sql).await.unwrap();
                    let run = connections as i64 * 1000 + task as i64;
                    let mut count = 0_i32;
                    while begin.elapsed() < TIME {
                        let (key, body) = (format!("{task}/{count}"), "x".repeat(BODY));
                        let (key, body) = (key.as_bytes(), body.as_bytes());
                        let number = i64::from(count);
                        client
                            .execute(&insert, &[&run, &number, &key, &body])
                            .await
                            .unwrap();
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        let mut count = 0;
        for task in tasks {
            count += task.await.unwrap();
        }
        f64::from(count) / begin.elapsed().as_secs_f64()
    })
}
