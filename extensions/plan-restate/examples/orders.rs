//! Orders that survive their workers.
//!
//! `extensions/plan-restate/examples/start` starts a server, two workers and a balancer. Then, in `extensions`:
//!
//! ```console
//! $ cargo run --example orders -- order order-1     # waits for an approval, and then for the receipt
//! $ cargo run --example orders -- approve order-1   # in another terminal
//! ```
//!
//! Kill a worker meanwhile: the other one continues.

use plan_restate::{Client, Worker};
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, Sleep, plan, tool};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// The state that the tools share.
struct Shop {
    /// The name of the worker.
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

/// Releases a reservation.
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
        ["balance", address, ref workers @ ..] => balance(address, workers).await?,
        ["order", id] => {
            let restate = Client::new("http://localhost:8080")?;
            let order = Order {
                items: vec!["lamp".into(), "table".into()],
                cents: 1999,
            };
            eprintln!("ordered; `approve {id}` has it paid, `cancel {id}` has it undone");
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
        _ => eprintln!(
            "usage: orders order ID | approve ID | cancel ID | report ID | worker ADDRESS | balance ADDRESS WORKER..."
        ),
    }
    Ok(())
}

/// Passes each connection to the next running worker. Use a real load balancer in production.
async fn balance(address: &str, workers: &[&str]) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let workers: Vec<String> = workers.iter().map(|&worker| worker.to_owned()).collect();
    for next in 0.. {
        let (mut from, _) = listener.accept().await?;
        let workers = workers.clone();
        tokio::spawn(async move {
            for place in 0..workers.len() {
                let worker = &workers[(next + place) % workers.len()];
                if let Ok(mut to) = TcpStream::connect(worker).await {
                    from.set_nodelay(true)?;
                    to.set_nodelay(true)?;
                    return copy_bidirectional(&mut from, &mut to).await.map(drop);
                }
            }
            Ok(())
        });
    }
    Ok(())
}
