//! Measures the calls per second of one server and of two servers, and a durable call beside the rows of its records.
//!
//! `cargo bench --manifest-path extensions/Cargo.toml -p plan-postgres --bench servers` starts a Postgres of its own.
// The benchmark uses a part of the module.
#![allow(dead_code)]

#[path = "../tests/journal/server.rs"]
mod server;

use plan_postgres::Postgres;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{Journal, RunFilter, RunState, Store};
use plan_runtime::{Result, plan, serve, tool};
use server::Server;
use smol::block_on;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The database of a server process, and the number of its runs at one time.
const URL: &str = "POSTGRES_BENCH_URL";
const BESIDE: &str = "POSTGRES_BENCH_BESIDE";

/// The number of calls of a run, one after another.
const CALLS: u64 = 64;

/// The number of repetitions. The median counts.
const TURNS: usize = 5;

/// Takes 5 milliseconds.
#[tool]
async fn work(n: u64) -> Result<u64> {
    smol::Timer::after(Duration::from_millis(5)).await;
    Ok(n)
}

/// Takes no time.
#[tool]
async fn pass(n: u64) -> Result<u64> {
    Ok(n)
}

fn numbers(count: u64) -> Vec<u64> {
    (0..count).collect()
}

plan! {
    Chain(count: u64) -> u64 {
        #[concurrency(1)]
        step all = for n in numbers(count) { Work { n } };
        all.len() as u64
    }
}

plan! {
    Beside(count: u64) -> u64 {
        #[concurrency(64)]
        step all = for n in numbers(count) { Pass { n } };
        all.len() as u64
    }
}

fn main() {
    if let (Ok(url), Ok(beside)) = (env::var(URL), env::var(BESIDE)) {
        return serve(&url, beside.parse().unwrap());
    }
    let Some(server) = Server::start() else {
        return;
    };
    beside_rows(&server);
    for beside in [4, 16, 64] {
        let [one, two] = [1, 2].map(|count| calls(&server.url(), count, beside));
        println!(
            "{beside:>3} runs at a time in a server: {one:>6.0} calls a second in one server, {two:>6.0} in two, {:.2} times as many",
            two / one
        );
    }
}

/// The work of a server process.
fn serve(url: &str, beside: usize) {
    let db = block_on(Postgres::connect(url)).unwrap();
    let server = serve::Server::new(&db, Toolbox::<()>::new().with::<Chain>(), ());
    println!("serves");
    std::io::stdout().flush().unwrap();
    let end = async {
        let mut line = String::new();
        smol::unblock(move || std::io::stdin().read_line(&mut line)).await
    };
    block_on(server.serve().concurrency(beside).cancel_on(end)).unwrap();
}

fn start(url: &str, beside: usize) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.env(URL, url).env(BESIDE, beside.to_string());
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = pipes.spawn().unwrap();
    let mut line = String::new();
    let out = process.stdout.as_mut().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    process
}

/// Returns the calls per second of this many servers, once all runs have been submitted.
fn calls(url: &str, servers: usize, beside: usize) -> f64 {
    let db = block_on(Postgres::connect(url)).unwrap();
    block_on(db.delete(Duration::ZERO)).unwrap();
    // The runs keep each server busy for six rounds.
    let runs = servers * beside * 6;
    let submit = |run: usize| Chain { count: CALLS }.submit(&db, format!("run {run}"));
    (0..runs).for_each(|run| {
        block_on(submit(run)).unwrap();
    });
    let mut processes: Vec<Child> = (0..servers).map(|_| start(url, beside)).collect();
    let begin = Instant::now();
    let running = RunFilter::new().state(RunState::Running).limit(1);
    while !block_on(db.runs(&running)).unwrap().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let rate = (runs as u64 * CALLS) as f64 / begin.elapsed().as_secs_f64();
    for process in &mut processes {
        drop(process.stdin.take());
        process.wait().unwrap();
    }
    rate
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Compares a durable call, 64 at once, with its rows in commits of 64 rows, and in commits of a row by 64 connections.
fn beside_rows(server: &Server) {
    const COUNT: u64 = 12_800;
    let (mut ours, mut grouped, mut single) = (Vec::new(), Vec::new(), Vec::new());
    let db = block_on(Postgres::connect(&server.url())).unwrap();
    for turn in 0..TURNS {
        let id = format!("beside {turn}");
        let begin = Instant::now();
        let run = Beside { count: COUNT }.run(&()).concurrency(64);
        block_on(run.durable(&db, &id)).unwrap();
        ours.push(begin.elapsed().as_secs_f64() / COUNT as f64);
        let rows = rows(&db, &id);
        grouped.push(raw(server, &rows, 1, 64));
        single.push(raw(server, &rows, 64, 1));
    }
    let commits = server.number("SELECT count(DISTINCT xmin::text) FROM plan.records WHERE run = (SELECT max(run) FROM plan.records)");
    println!("{:.1} records in a commit", COUNT as f64 / commits as f64);
    let micros = |times: &[f64]| median(times.to_vec()) * 1e6;
    let ratio = |times: &[f64]| median(ours.iter().zip(times).map(|(a, b)| a / b).collect());
    println!("a durable call, 64 at once: {:.1} µs", micros(&ours));
    for (name, times) in [
        ("in commits of 64 rows", &grouped),
        ("in commits of a row, 64 connections", &single),
    ] {
        let (row, ratio) = (micros(times), ratio(times));
        println!("a row {name}: {row:.1} µs, a call takes {ratio:.2} times as long");
    }
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// Returns the keys and bodies of the records of a run.
fn rows(db: &Postgres, id: &str) -> Rows {
    let mut rows = Rows::new();
    let mut after = 0;
    loop {
        let page = block_on(db.read(id, after)).unwrap();
        let Some(last) = page.last() else { return rows };
        after = last.number;
        rows.extend(
            page.into_iter()
                .map(|it| (it.key.into_bytes(), it.body.into_bytes())),
        );
    }
}

/// Inserts rows with some connections and some rows in a commit. Returns the seconds of a row.
fn raw(server: &Server, rows: &Rows, connections: usize, each: usize) -> f64 {
    server.execute(
        "DROP TABLE IF EXISTS rows;
        CREATE TABLE rows (run bigint, number bigint, key bytea, body bytea, PRIMARY KEY (run, number));
        CREATE UNIQUE INDEX ON rows (run, sha256(key))",
    );
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let mut clients = Vec::new();
        for _ in 0..connections {
            let connected = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await;
            let (client, connection) = connected.unwrap();
            tokio::spawn(connection);
            let sql =
                "INSERT INTO rows SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[])";
            let insert = client.prepare(sql).await.unwrap();
            clients.push((client, insert));
        }
        let begin = Instant::now();
        let tasks: Vec<_> = clients
            .into_iter()
            .enumerate()
            .map(|(place, (client, insert))| {
                let chunks = rows
                    .chunks(each)
                    .enumerate()
                    .skip(place)
                    .step_by(connections);
                let chunks: Vec<(i64, Rows)> = chunks
                    .map(|(n, rows)| ((n * each) as i64, rows.to_vec()))
                    .collect();
                tokio::spawn(async move {
                    for (first, rows) in chunks {
                        let numbers: Vec<i64> = (first..first + rows.len() as i64).collect();
                        let (keys, bodies): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
                        client
                            .execute(&insert, &[&1_i64, &numbers, &keys, &bodies])
                            .await
                            .unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        begin.elapsed().as_secs_f64() / rows.len() as f64
    })
}
