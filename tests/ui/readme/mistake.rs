use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
struct Offer { item: String, cents: u32 }

#[tool]
async fn find_offer(item: String) -> Result<Offer> { Ok(Offer { item, cents: 4_900 }) }

#[tool]
async fn find_address(customer: String) -> Result<String> { Ok(format!("{customer}, Kiel")) }

#[tool]
async fn charge(customer: String, cents: u32) -> Result<String> { Ok(format!("{customer}-{cents}")) }

#[tool]
async fn refund(payment: String) -> Result<()> { println!("refund {payment}"); Ok(()) }

#[tool]
async fn ship(item: String, to: String, payment: String) -> Result<String> { Ok(item + " to " + &to + " for " + &payment) }

plan! {
    PlaceOrder(item: String, customer: String) -> String {
        step offer = FindOffer { item };
        step address = FindAddress { customer };
        #[retry(3)] #[timeout("10s")]
        step payment = Charge { customer, cents: offer.cent };
        #[undo(payment)]
        step refund = Refund { payment };
        step parcel = Ship { item: offer.item, to: address, payment };
        parcel
    }
}

fn main() -> Result<()> {
    let order = PlaceOrder { item: "lamp".into(), customer: "Ada".into() };
    println!("{}", smol::block_on(order.run(&()))?);
    Ok(())
}
