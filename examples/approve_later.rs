//! A run that waits for days, and for which no process has to live: `cargo run --features sqlite --example approve_later`.
//!
//! With `-- serve` it runs orders until it is killed, and `runs` shows them, and sends the approvals.

mod shop;

use plan_runtime::journal::{RunFilter, RunState, Sqlite};
use shop::{Approval, PlaceOrder, Shop, database, toolbox};
use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let toolbox = toolbox();
    let db = Sqlite::open(database())?;
    let number = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let id = format!("order-{number}");
    let order = PlaceOrder {
        item: "lamp".into(),
        cents: 4_900,
    };
    // Any process may do that. None of the tools is called here.
    order.submit(&db, &id).await?;
    println!("submitted {id}");

    if std::env::args().nth(1).as_deref() == Some("serve") {
        println!(
            "serving {}; try `cargo run --features sqlite --example runs`",
            database().display()
        );
        db.serve(&toolbox, &Shop).await?;
        return Ok(());
    }

    println!("a server runs it until it waits:");
    let waits = async {
        let unowned = RunFilter::new().state(RunState::Running).is_owned(false);
        loop {
            let report = db.report(&toolbox, &Shop, &id);
            let waits = report.is_ok_and(|it| {
                it.step("approval")
                    .is_some_and(|it| it.status().name() == "running")
            });
            if waits && db.runs(&unowned).flatten().any(|run| run.id == id) {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    db.serve(&toolbox, &Shop).cancel_on(waits).await?;
    println!("{}", db.report(&toolbox, &Shop, &id)?);

    // The server has ended. The value is checked all the same, and kept.
    let error = db.signal(&toolbox, &id, "approval", "yes").unwrap_err();
    println!("refused: {error}");
    let by = "Grace".to_owned();
    db.signal(&toolbox, &id, "approval", Approval { granted: true, by })?;

    println!("another server goes on:");
    let ended = async {
        let running = RunFilter::new().state(RunState::Running);
        while db.runs(&running).flatten().any(|run| run.id == id) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    db.serve(&toolbox, &Shop).cancel_on(ended).await?;
    println!("{}", db.report(&toolbox, &Shop, &id)?);
    Ok(())
}
