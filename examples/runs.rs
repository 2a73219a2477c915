//! A command-line tool for the runs of a database. It works beside the process that runs them. Without arguments, it lists the runs and the next
//! commands, and starts an order if the database has no run.
//!
//! ```text
//! cargo run --features sqlite --example runs
//! cargo run --features sqlite --example runs -- order order-17
//! cargo run --features sqlite --example runs -- serve
//! cargo run --features sqlite --example runs -- show order-17
//! cargo run --features sqlite --example runs -- signal order-17 approval '{"granted": true, "by": "Grace"}'
//! cargo run --features sqlite --example runs -- cancel order-17
//! cargo run --features sqlite --example runs -- retry order-17
//! cargo run --features sqlite --example runs -- delete 30
//! ```
//!
//! `-- serve` runs the orders in another terminal, until you kill the process.

mod shop;

use plan_runtime::Terminal;
use plan_runtime::journal::{JournalError, RunFilter, RunState, RunSummary, Sqlite};
use plan_runtime::serve::Server;
use serde_json::Value;
use shop::{PlaceOrder, Shop, database, toolbox};
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

const USAGE: &str =
    "usage: runs [list | order ID | serve | show ID | signal ID PATH JSON | cancel ID
             | retry ID | delete DAYS]";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Err(error) = execute(&arguments).await else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{}", Terminal::stderr().text(format!("error: {error}")));
    if is_unknown(&*error) {
        eprintln!("list the runs with: cargo run --features sqlite --example runs -- list");
    }
    ExitCode::FAILURE
}

/// Returns `true` if the cause of an error is an unknown run.
fn is_unknown(error: &(dyn Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(JournalError::Unknown { .. }))
        || error.source().is_some_and(is_unknown)
}

async fn execute(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let server = Server::new(&Sqlite::open(database())?, toolbox(), Shop);
    match *arguments {
        [] => welcome(&server).await?,
        ["list"] => drop(list(&server).await?),
        ["order", id] => order(&server, id).await?,
        ["serve"] => {
            println!("serving {}", database().display());
            server.serve().await?;
        }
        ["show", id] => {
            println!("{id}: {}", state(&server.run(id).await?));
            let report = server.report(id).await?;
            println!("{}", Terminal::stdout().report(&report));
        }
        ["signal", id, path, json] => {
            let value: Value = serde_json::from_str(json)?;
            server.signal(id, path, value).await?;
            println!("sent; a server resumes the run");
        }
        ["cancel", id] => {
            server.cancel(id).await?;
            println!("requested; a server cancels the run");
        }
        ["retry", id] => {
            server.retry_failed(id).await?;
            println!("requested; a server retries the run");
        }
        ["delete", days] => {
            let is_wrong = |error| format!("`{days}` is not a number of days: {error}");
            let days: u32 = days.parse().map_err(is_wrong)?;
            let age = Duration::from_secs(86_400) * days;
            let count = server.delete(age).await?;
            println!("deleted {count} that ended more than {days} days ago");
        }
        ["--help"] => println!("{USAGE}"),
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    }
    Ok(())
}

/// Lists the runs and the next commands, after the start of an order if the database has no run.
async fn welcome(server: &Server<Sqlite, Shop>) -> Result<(), Box<dyn Error>> {
    if server.runs(&RunFilter::new()).await?.is_empty() {
        println!(
            "{} has no run, so the shop takes an order:",
            database().display()
        );
        order(server, "order-1").await?;
        server.serve().cancel_on(server.wait("order-1")).await?;
    }
    let Some(waiting) = list(server).await? else {
        println!("\n{USAGE}");
        return Ok(());
    };
    let tool = "cargo run --features sqlite --example runs --";
    println!("\nnext:");
    println!("  {tool} show {waiting}");
    let approval = r#"'{"granted": true, "by": "Grace"}'"#;
    println!("  {tool} signal {waiting} approval \\\n    {approval}");
    println!("  {tool} serve");
    Ok(())
}

/// Submits an order, which any server of the database runs.
async fn order(server: &Server<Sqlite, Shop>, id: &str) -> Result<(), Box<dyn Error>> {
    let order = PlaceOrder {
        item: "lamp".into(),
        cents: 4_900,
    };
    order.submit(server.journal(), id).await?;
    println!("submitted {id}");
    Ok(())
}

/// Lists the runs, and returns the id of a run that waits for a value.
async fn list(server: &Server<Sqlite, Shop>) -> Result<Option<String>, Box<dyn Error>> {
    let mut filter = RunFilter::new();
    let mut waiting = None;
    loop {
        let page = server.runs(&filter).await?;
        let Some(last) = page.last() else { break };
        filter = filter.after(last.number);
        for run in page {
            let began = age(run.began);
            println!("{:24} {:16} {began:12} {}", run.id, run.plan, state(&run));
            if run.waits {
                waiting = Some(run.id);
            }
            if let Some(refusal) = run.refusal {
                println!("  cannot be begun: {refusal}");
            }
        }
    }
    Ok(waiting)
}

/// Returns the time since the start of a run.
fn age(began: SystemTime) -> String {
    match began.elapsed().unwrap_or_default().as_secs() {
        seconds @ ..120 => format!("{seconds} s ago"),
        seconds @ ..7_200 => format!("{} min ago", seconds / 60),
        seconds @ ..172_800 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// Returns the state of a run, in the words that the report of the run has for its steps.
fn state(run: &RunSummary) -> &'static str {
    match run.state {
        RunState::Running if run.is_owned => "running",
        RunState::Running if run.waits => "waiting for a value",
        RunState::Running => "waiting",
        RunState::Failed => "failed",
        RunState::Cancelled => "cancelled",
        _ => "completed",
    }
}
