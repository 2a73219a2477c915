//! Wages that are paid exactly once, although nothing looks for duplicates.
//!
//! ```console
//! $ docker run --rm --detach --publish 5432:5432 --env POSTGRES_PASSWORD=plan postgres:17
//! $ export DATABASE_URL=postgresql://postgres:plan@localhost
//! $ cargo run --manifest-path extensions/Cargo.toml --example accounts -- payday-1
//! ```
//!
//! Kill the process at any moment, and repeat the command: at the end, each account has 100 cents for each payday.

use plan_postgres::{Postgres, PostgresOptions};
use plan_runtime::journal::JournalError;
use plan_runtime::run::CallContext;
use plan_runtime::{Result, plan, tool};
use std::time::Duration;

/// Creates the table of the accounts. In Postgres, this is a part of a transaction as well.
#[tool]
async fn prepare(db: &Postgres, #[context] context: CallContext) -> Result<()> {
    let transaction = db.transaction(&context).await?;
    let sql = "CREATE TABLE IF NOT EXISTS accounts (name text PRIMARY KEY, cents bigint NOT NULL)";
    transaction.execute(sql, &[]).await?;
    Ok(())
}

/// Adds cents to an account, and returns the new balance.
#[tool]
async fn pay(
    db: &Postgres,
    #[context] context: CallContext,
    name: String,
    cents: i64,
) -> Result<i64> {
    let transaction = db.transaction(&context).await?;
    let sql = "INSERT INTO accounts VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET cents = accounts.cents + $2 RETURNING cents";
    let row = transaction.query_one(sql, &[&name, &cents]).await?;
    println!("pays {name}");
    // Time for a kill.
    smol::Timer::after(Duration::from_secs(1)).await;
    Ok(row.try_get(0)?)
}

plan! {
    /// Pays everybody.
    pub Payday(names: Vec<String>) -> Vec<i64> {
        step ready = Prepare {};
        #[after(ready)]
        #[concurrency(1)]
        step balances = for name in names { Pay { name, cents: 100 } };
        balances
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let id = std::env::args().nth(1).ok_or("usage: accounts ID")?;
    let url = std::env::var("DATABASE_URL");
    let url = url.map_err(|_| "set DATABASE_URL, such as postgresql://postgres:plan@localhost")?;
    smol::block_on(async {
        let lease = Duration::from_secs(5);
        let db = PostgresOptions::new().lease(lease).connect(&url).await?;
        loop {
            let names = ["Ada", "Ben", "Cleo", "Dan"].map(str::to_owned).to_vec();
            match (Payday { names }).run(&db).durable(&db, &id).await {
                Err(error) if is_owned(&error) => {
                    println!("{error}; the next attempt is in a second");
                    smol::Timer::after(Duration::from_secs(1)).await;
                }
                outcome => {
                    println!("balances: {:?}", outcome?);
                    return Ok(());
                }
            }
        }
    })
}

/// Returns `true` while the lease of a killed process has not ended.
fn is_owned(error: &plan_runtime::RunError) -> bool {
    matches!(error.journal(), Some(JournalError::Owned { .. }))
}
