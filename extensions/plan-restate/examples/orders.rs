//! Orders that survive workers: `orders worker ADDRESS` serves, and `orders order ID` orders.

use plan_restate::{Client, Worker};
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, Sleep, plan, tool};

/// What the tools share.
struct Shop {
    /// Which worker it is.
    worker: String,
}

/// Reserves an item, and gives the number of the reservation.
#[tool]
async fn reserve(shop: &Shop, #[context] context: CallContext, item: String) -> Result<u64> {
    println!(
        "{}: reserves {item} ({})",
        shop.worker,
        context.idempotency_key()
    );
    Ok(item.len() as u64)
}

/// Gives a reservation back.
#[tool]
async fn release(shop: &Shop, number: u64) -> Result<()> {
    println!("{}: releases {number}", shop.worker);
    Ok(())
}

/// Charges a card.
#[tool]
async fn charge(shop: &Shop, #[context] context: CallContext, cents: u64) -> Result<String> {
    println!(
        "{}: charges {cents} (attempt {})",
        shop.worker,
        context.attempt()
    );
    if context.attempt() < 2 {
        return Err(Error::msg("the bank is busy"));
    }
    Ok(format!("receipt for {cents}"))
}

plan! {
    /// Orders items, and waits for an approval if they cost much.
    pub Order(items: Vec<String>, cents: u64) -> String {
        step held = for item in items {
            step number = Reserve { item };
            #[undo(number)]
            step released = Release { number };
            number
        };
        #[timeout("1h")]
        step approved: bool = await;
        step pause = Sleep { time: "1s" };
        #[after(pause, held)]
        #[retry(3, backoff = "200ms")]
        step receipt = if approved { Charge { cents } };
        receipt.clone().unwrap_or("nothing".into())
    }
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["worker", address] => {
            let worker = address.to_owned();
            println!("worker {worker} serves");
            Worker::new(Shop { worker })
                .with::<Reserve>()
                .with::<Release>()
                .with::<Charge>()
                .with::<Order>()
                .serve(address)
                .await?;
        }
        ["order", id] => {
            let restate = Client::new("http://localhost:8080")?;
            let order = Order {
                items: vec!["lamp".into(), "table".into()],
                cents: 1999,
            };
            println!("{}", order.submit(&restate, id).await?);
        }
        ["approve", id] => {
            let restate = Client::new("http://localhost:8080")?;
            restate.run(id).signal("approved", true).await?;
        }
        ["cancel", id] => {
            Client::new("http://localhost:8080")?
                .run(id)
                .cancel()
                .await?;
        }
        ["report", id] => {
            let report = Client::new("http://localhost:8080")?
                .run(id)
                .report()
                .await?;
            println!("{report:#}");
        }
        _ => eprintln!("orders worker ADDRESS | order ID | approve ID | cancel ID | report ID"),
    }
    Ok(())
}
