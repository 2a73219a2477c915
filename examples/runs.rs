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
use serde_json::Value;
use shop::{Shop, database, toolbox};
use std::error::Error;
use std::time::Duration;

const USAGE: &str =
    "runs list | show ID | signal ID PATH JSON | cancel ID | retry ID | delete DAYS";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let db = Sqlite::open(database())?;
    let toolbox = toolbox();
    match arguments[..] {
        [] | ["list"] => list(&db)?,
        ["show", id] => println!("{}", db.report(&toolbox, &Shop, id)?),
        ["signal", id, path, json] => {
            let value: Value = serde_json::from_str(json)?;
            db.signal(&toolbox, id, path, value)?;
        }
        ["cancel", id] => db.cancel(id)?,
        ["retry", id] => db.retry_failed(&toolbox, &Shop, id)?,
        ["delete", days] => {
            let days: u32 = days.parse()?;
            let count = db.delete(Duration::from_secs(86_400) * days)?;
            println!("deleted {count} that ended more than {days} days ago");
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

fn list(db: &Sqlite) -> Result<(), Box<dyn Error>> {
    let mut count = 0;
    for run in db.runs(&RunFilter::new()) {
        let run = run?;
        count += 1;
        let state = match (run.state, run.is_owned) {
            (RunState::Running, true) => "running",
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
    if count == 0 {
        println!("there are no runs in {}; {USAGE}", database().display());
    }
    Ok(())
}
