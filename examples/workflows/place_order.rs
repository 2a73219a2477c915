//! An order: items are reserved, paid and shipped. If a step fails or the customer cancels, the completed steps are undone, and the customer
//! is notified of the end in any case.

mod support;

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::future::{Future, pending};
use support::{TokioTimer, World, show};

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Order {
    items: Vec<String>,
    card: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Hold {
    id: u32,
    /// The total in cents.
    total: u64,
}

#[derive(Serialize, Deserialize, Shape)]
struct Payment {
    id: u32,
}

#[derive(Serialize, Deserialize, Shape)]
struct Parcel {
    tracking: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Receipt {
    payment: u32,
    tracking: String,
}

/// Takes items from the shelf.
#[tool]
async fn reserve(world: &World, items: Vec<String>) -> Result<Hold> {
    world.call(format!("reserve {}", items.join(", "))).await?;
    let total = 1500 * items.len() as u64;
    Ok(Hold { id: 7, total })
}

/// Puts held items back on the shelf.
#[tool]
async fn release(world: &World, hold: u32) -> Result<()> {
    world.call(format!("release hold {hold}")).await
}

/// Takes money from a card.
#[tool]
async fn charge(world: &World, card: String, cents: u64) -> Result<Payment> {
    world.call(format!("charge {card} {cents}")).await?;
    Ok(Payment { id: 40 })
}

/// Returns money to the charged card.
#[tool]
async fn refund(world: &World, payment: u32) -> Result<()> {
    world.call(format!("refund payment {payment}")).await
}

/// Hands held items to the post.
#[tool]
async fn ship(world: &World, hold: u32, payment: u32) -> Result<Parcel> {
    world
        .call(format!("ship hold {hold}, payment {payment}"))
        .await?;
    Ok(Parcel {
        tracking: "NL-1".into(),
    })
}

/// Tells the customer the outcome of the order.
#[tool]
async fn notify(world: &World, ok: bool, why: Option<String>) -> Result<()> {
    let text = match (ok, why) {
        (true, _) => "it is on its way".into(),
        (false, why) => format!("nothing comes: {}", why.unwrap_or_default()),
    };
    world.call(format!("notify: {text}")).await
}

plan! {
    /// Sells what a customer orders.
    PlaceOrder(order: Order) -> Receipt {
        step held = Reserve { items: order.items };
        #[undo(held)] #[retry(5)]
        step released = Release { hold: held.id };

        step paid = Charge { card: order.card, cents: held.total };
        #[undo(paid)]
        step refunded = Refund { payment: paid.id };

        step shipped = Ship { hold: held.id, payment: paid.id };
        #[always]
        step told = Notify { ok: shipped.is_ok(), why: shipped.err()?.message };

        Receipt { payment: paid.id, tracking: shipped.tracking }
    }
}

mod by_hand {
    use super::support::by_hand::{all_or_nothing, attempts};
    use super::*;
    use backon::Retryable;
    use plan_runtime::Error;

    pub(crate) async fn place_order(
        world: &World,
        order: Order,
        stopped: impl Future<Output = Error>,
    ) -> Result<Receipt> {
        all_or_nothing(
            stopped,
            async |undo| {
                let held = reserve(world, order.items).await?;
                undo.push(0, "held", {
                    (move || release(world, held.id))
                        .retry(attempts(5))
                        .when(Error::is_transient)
                });
                let paid = charge(world, order.card, held.total).await?;
                undo.push(1, "paid", refund(world, paid.id));
                let shipped = ship(world, held.id, paid.id).await?;
                Ok(Receipt {
                    payment: paid.id,
                    tracking: shipped.tracking,
                })
            },
            async |result| {
                let why = result.as_ref().err().map(ToString::to_string);
                // The order has ended, even if the notification fails.
                notify(world, result.is_ok(), why).await.ok();
            },
        )
        .await
    }
}

fn order() -> Order {
    Order {
        items: vec!["lamp".into(), "chair".into()],
        card: "4711".into(),
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", PlaceOrder::PLAN);
    let scenarios = [
        ("all is well", World::default()),
        (
            "the post is closed",
            World::default().breaks("ship", "the post is closed"),
        ),
    ];
    for (title, world) in scenarios {
        let run = PlaceOrder { order: order() }.run(&world).timer(TokioTimer);
        let run = run.with_report().await;
        let by_hand = by_hand::place_order(&world, order(), pending()).await;
        show(title, run, by_hand);
    }
}

#[cfg(test)]
mod tests {
    use super::support::by_hand::cancelled;
    use super::support::{Done, both};
    use super::*;
    use std::time::Duration;
    use tokio::time::sleep;

    /// Runs both versions in a world. The customer cancels after this number of seconds.
    async fn outcome(world: impl Fn() -> World, patience: u64) -> Done<Receipt> {
        let patience = Duration::from_secs(patience);
        both(
            world,
            async |world| {
                let run = PlaceOrder { order: order() }.run(world).timer(TokioTimer);
                Ok(run.cancel_on(sleep(patience)).await?)
            },
            async |world| {
                let stopped = async {
                    sleep(patience).await;
                    cancelled()
                };
                by_hand::place_order(world, order(), stopped).await
            },
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn all_is_well() {
        let done = outcome(World::default, 60).await;
        let receipt = Receipt {
            payment: 40,
            tracking: "NL-1".into(),
        };
        assert_eq!(done.output, Ok(receipt));
        assert_eq!(
            done.calls,
            [
                "reserve lamp, chair",
                "charge 4711 3000",
                "ship hold 7, payment 40",
                "notify: it is on its way"
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_undoes_what_was_done() {
        let world = || {
            World::default()
                .breaks("ship", "the post is closed")
                .busy("release", 2)
        };
        let done = outcome(world, 60).await;
        assert_eq!(done.output, Err("the post is closed".into()));
        assert_eq!(
            done.calls[3..],
            [
                "refund payment 40",
                "release hold 7",
                "release hold 7",
                "release hold 7",
                "notify: nothing comes: the post is closed"
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancellation_undoes_what_was_done() {
        let done = outcome(|| World::default().takes("ship", 3600), 60).await;
        assert_eq!(done.output, Err("CANCELLED".into()));
        assert_eq!(
            done.calls[3..],
            [
                "refund payment 40",
                "release hold 7",
                "notify: nothing comes: the run was cancelled"
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_undo_step_that_fails_stops_no_other() {
        let world = || {
            World::default()
                .breaks("ship", "the post is closed")
                .breaks("refund", "the bank is closed")
        };
        let done = outcome(world, 60).await;
        assert_eq!(
            done.output,
            Err("the post is closed; not undone: paid".into())
        );
        assert_eq!(done.calls[4], "release hold 7");
    }
}
