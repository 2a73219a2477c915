//! Measures the records per second of the journal, beside rows that are committed by hand in the same server.
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

/// The length of a body. A record of a call has about this length.
const BODY: usize = 200;

fn main() {
    let Some(server) = Server::start() else {
        return;
    };
    for beside in [1, 64, 1024] {
        let records = journal(&server.url(), beside);
        println!("{beside:>5} beside each other: {records:>6.0} records a second in the journal");
    }
    server.execute(
        "CREATE TABLE rows (run bigint, number bigint, key bytea, body bytea, PRIMARY KEY (run, number));
        CREATE UNIQUE INDEX ON rows (run, sha256(key))",
    );
    for connections in [1, 64] {
        let rows = by_hand(&server.url(), connections);
        println!(
            "{connections:>5} connections: {rows:>6.0} rows a second, each with a commit of its own"
        );
    }
}

/// Appends in many tasks of one run. Each task waits for its record before the next.
fn journal(url: &str, beside: usize) -> f64 {
    let db = block_on(Postgres::connect(url)).unwrap();
    let claim = block_on(db.claim(&format!("cost {beside}"))).unwrap().claim;
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
