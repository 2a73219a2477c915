//! A run that waits for days, without a process: `cargo run --features sqlite --example approve_later`.
//!
//! The example `runs` is a command-line tool for such runs.

mod shop;

use plan_runtime::Terminal;
use plan_runtime::journal::Sqlite;
use plan_runtime::serve::Server;
use shop::{Approval, PlaceOrder, Shop, database, toolbox};
use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let db = Sqlite::open(database())?;
    let server = Server::new(&db, toolbox(), Shop);
    let number = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let id = format!("order-{number}");
    let order = PlaceOrder {
        item: "lamp".into(),
        cents: 4_900,
    };
    // Any process can submit an order. This process calls no tool.
    order.submit(&db, &id).await?;
    println!("submitted {id}");

    println!("a server runs it until it waits:");
    server.serve().cancel_on(server.wait(&id)).await?;
    println!("{}", Terminal::stdout().report(&server.report(&id).await?));

    // The server has ended. `signal` still checks the value, and the journal stores it.
    let error = server.signal(&id, "approval", "yes").await.unwrap_err();
    println!("{}", Terminal::stdout().text(format!("refused: {error}")));
    let by = "Grace".to_owned();
    let approval = Approval { granted: true, by };
    server.signal(&id, "approval", approval).await?;

    println!("another server goes on:");
    server.serve().cancel_on(server.wait(&id)).await?;
    println!("{}", Terminal::stdout().report(&server.report(&id).await?));
    Ok(())
}
