//! A parcel whose run survives its process.
//!
//! ```console
//! $ docker run --rm --detach --publish 5432:5432 --env POSTGRES_PASSWORD=plan postgres:17
//! $ export DATABASE_URL=postgresql://postgres:plan@localhost
//! $ cargo run --manifest-path extensions/Cargo.toml --example parcels -- send parcel-1
//! $ cargo run --manifest-path extensions/Cargo.toml --example parcels -- sign parcel-1 Ada   # in another terminal
//! ```
//!
//! Kill the first process, and start it again: it resumes after the last recorded call. Start it on another machine instead, and the run resumes there.

use plan_postgres::PostgresOptions;
use plan_runtime::journal::{Journal, JournalError, spi::Message};
use plan_runtime::run::CallContext;
use plan_runtime::{Result, plan, tool};
use std::time::Duration;

/// Packs an item.
#[tool]
async fn pack(#[context] context: CallContext, item: String) -> Result<String> {
    println!("packs {item} ({})", context.idempotency_key());
    smol::Timer::after(Duration::from_secs(2)).await;
    Ok(format!("packed {item}"))
}

/// Hands a parcel to the carrier, and returns its label.
#[tool]
async fn ship(#[context] context: CallContext, parcel: Vec<String>) -> Result<String> {
    println!(
        "ships {} items ({})",
        parcel.len(),
        context.idempotency_key()
    );
    smol::Timer::after(Duration::from_secs(2)).await;
    Ok(format!("label-{}", parcel.len()))
}

plan! {
    /// Packs items, ships them, and waits for the signature of the recipient.
    pub Parcel(items: Vec<String>) -> String {
        #[concurrency(1)]
        step packed = for item in items {
            step box_of = Pack { item };
            box_of
        };
        step label = Ship { parcel: packed };
        #[after(label)]
        step signature: String = await;
        format!("{label}, signed by {signature}")
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let url = std::env::var("DATABASE_URL");
    let url = url.map_err(|_| "set DATABASE_URL, such as postgresql://postgres:plan@localhost")?;
    smol::block_on(async {
        let lease = Duration::from_secs(5);
        let db = PostgresOptions::new().lease(lease).connect(&url).await?;
        match arguments[..] {
            ["send", id] => loop {
                let items = ["lamp", "chair", "table"].map(str::to_owned).to_vec();
                match (Parcel { items }).run(&()).durable(&db, id).await {
                    Err(error) if is_owned(&error) => {
                        println!("{error}; the next attempt is in a second");
                        smol::Timer::after(Duration::from_secs(1)).await;
                    }
                    outcome => {
                        println!("{}", outcome?);
                        break;
                    }
                }
            },
            ["sign", id, name] => {
                let message = Message::Signal {
                    path: "signature".to_owned(),
                    body: serde_json::to_string(name)?,
                };
                db.send(id, &message).await?;
            }
            _ => eprintln!("usage: parcels send ID | parcels sign ID NAME"),
        }
        Ok(())
    })
}

/// Returns `true` while the lease of a killed process has not ended.
fn is_owned(error: &plan_runtime::RunError) -> bool {
    matches!(error.journal(), Some(JournalError::Owned { .. }))
}
