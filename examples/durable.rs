//! A run that survives the kill of its process: `cargo run --features sqlite --example durable`.
//!
//! The run takes 12 seconds. Kill its process during this time (Ctrl+C, `kill -9`, the task manager), and start the example again: the run resumes.
//! It repeats only the calls that the kill interrupted, with their original keys.

use plan_runtime::journal::{Sqlite, Store};
use plan_runtime::run::CallContext;
use plan_runtime::{Result, plan, tool};
use std::time::Duration;
use tokio::time::sleep;

/// Copies a part of a file in 2 seconds.
#[tool]
async fn copy(#[context] context: CallContext, part: u32) -> Result<u32> {
    println!(
        "  copies part {part}, with the key {}",
        context.idempotency_key()
    );
    sleep(Duration::from_secs(2)).await;
    Ok(part * 1_000)
}

plan! {
    /// Copies a file, part by part.
    CopyFile(parts: Vec<u32>) -> u32 {
        #[concurrency(2)]
        step bytes = for part in parts { Copy { part } };
        bytes.iter().sum::<u32>()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join("plan-example-durable.db");
    println!(
        "this is process {}, which takes 12 seconds\nkill the process, and start the example again",
        std::process::id()
    );
    let db = Sqlite::open(&path)?;
    let parts = (1..=12).collect();
    let bytes = CopyFile { parts }.run(&()).durable(&db, "copy-1").await?;
    println!("copied {bytes} bytes");
    // Delete the completed run, so that the next start of the example begins a new run.
    db.delete(Duration::ZERO).await?;
    Ok(())
}
