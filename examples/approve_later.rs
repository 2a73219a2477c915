//! A run that waits for days, without a process: `cargo run --features sqlite --example approve_later`.
//!
//! With `-- serve`, the example runs orders until it is killed. `runs` lists the orders and sends the approvals.

mod shop;

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

    if std::env::args().nth(1).as_deref() == Some("serve") {
        println!(
            "serving {}; try `cargo run --features sqlite --example runs`",
            database().display()
        );
        server.serve().await?;
        return Ok(());
    }

    println!("a server runs it until it waits:");
    server.serve().cancel_on(server.wait(&id)).await?;
    println!("{}", server.report(&id).await?);

    // The server has ended. `signal` still checks the value, and the journal stores it.
    let error = server.signal(&id, "approval", "yes").await.unwrap_err();
    println!("refused: {error}");
    let by = "Grace".to_owned();
    let approval = Approval { granted: true, by };
    server.signal(&id, "approval", approval).await?;

    println!("another server goes on:");
    server.serve().cancel_on(server.wait(&id)).await?;
    println!("{}", server.report(&id).await?);
    Ok(())
}
