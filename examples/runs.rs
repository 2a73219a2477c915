//! A command-line tool for the runs of a database. It works beside the process that runs them.
//!
//! ```text
//! cargo run --features sqlite --example runs -- list
//! cargo run --features sqlite --example runs -- show order-17
//! cargo run --features sqlite --example runs -- signal order-17 approval '{"granted": true, "by": "Grace"}'
//! cargo run --features sqlite --example runs -- cancel order-17
//! cargo run --features sqlite --example runs -- retry order-17
//! cargo run --features sqlite --example runs -- delete 30
//! ```
//!
//! `cargo run --features sqlite --example approve_later -- serve` runs them, in another terminal.

mod shop;

use plan_runtime::journal::{RunFilter, RunState, Sqlite};
use plan_runtime::serve::Server;
use serde_json::Value;
use shop::{Shop, database, toolbox};
use std::error::Error;
use std::time::Duration;

const USAGE: &str =
    "runs list | show ID | signal ID PATH JSON | cancel ID | retry ID | delete DAYS";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = Server::new(&Sqlite::open(database())?, toolbox(), Shop);
    match arguments[..] {
        [] | ["list"] => list(&server).await?,
        ["show", id] => println!("{}", server.report(id).await?),
        ["signal", id, path, json] => {
            let value: Value = serde_json::from_str(json)?;
            server.signal(id, path, value).await?;
        }
        ["cancel", id] => server.cancel(id).await?,
        ["retry", id] => server.retry_failed(id).await?,
        ["delete", days] => {
            let days: u32 = days.parse()?;
            let age = Duration::from_secs(86_400) * days;
            let count = server.delete(age).await?;
            println!("deleted {count} that ended more than {days} days ago");
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

async fn list(server: &Server<Sqlite, Shop>) -> Result<(), Box<dyn Error>> {
    let mut filter = RunFilter::new();
    let mut is_empty = true;
    loop {
        let page = server.runs(&filter).await?;
        let Some(last) = page.last() else { break };
        is_empty = false;
        filter = filter.after(last.number);
        for run in page {
            let state = match (run.state, run.is_owned) {
                (RunState::Running, true) => "running",
                (RunState::Running, false) if run.waits => "waits for a value",
                (RunState::Running, false) => "waiting",
                (RunState::Failed, _) => "failed",
                (RunState::Cancelled, _) => "cancelled",
                _ => "done",
            };
            println!("{:24} {:16} {state}", run.id, run.plan);
            if let Some(refusal) = run.refusal {
                println!("  cannot be begun: {refusal}");
            }
        }
    }
    if is_empty {
        println!("there are no runs in {}; {USAGE}", database().display());
    }
    Ok(())
}
