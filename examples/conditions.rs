//! An order, step by step: its course depends on the customer, the goods, and failures.

use plan_runtime::{Error, Result, Shape, Terminal, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
struct Customer {
    name: String,
    orders: u32,
    /// The neighbor who accepts parcels.
    neighbor: Option<String>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Line {
    item: String,
    count: u32,
    /// The price in cents.
    price: u32,
}

/// Looks a customer up.
#[tool]
async fn find_customer(name: String) -> Result<Customer> {
    let (orders, neighbor) = match name.as_str() {
        "Ada" => (25, Some("Charles".into())),
        "Grace" => (3, None),
        _ => (0, None),
    };
    Ok(Customer {
        name,
        orders,
        neighbor,
    })
}

/// Takes goods out of the stock, and returns their price.
#[tool]
async fn take(item: String, count: u32, price: u32) -> Result<u32> {
    match item.as_str() {
        "unicorn" => Err(Error::permanent("there are no unicorns")),
        _ => Ok(count * price),
    }
}

/// Chooses a gift.
#[tool]
async fn choose_gift(worth: u32) -> Result<String> {
    match worth {
        500.. => Ok("a mug".into()),
        _ => Err(Error::permanent("there is nothing as cheap as that")),
    }
}

/// Sends a parcel by courier.
#[tool]
async fn send_by_courier(to: String) -> Result<String> {
    Ok(format!("by courier to {to}"))
}

/// Leaves a parcel with someone.
#[tool]
async fn leave_with(neighbor: String, owner: String) -> Result<String> {
    Ok(format!("to {neighbor}, for {owner}"))
}

/// Sends a parcel by post.
#[tool]
async fn send_by_post(to: String) -> Result<String> {
    Ok(format!("by post to {to}"))
}

/// Converts cents into another currency. The service is down.
#[tool]
async fn convert(cents: u32, currency: String) -> Result<f64> {
    Err(Error::permanent(format!(
        "no rate of {currency} for {cents}"
    )))
}

/// Writes a bill.
#[tool]
async fn write_bill(lines: Vec<String>, gift: Option<String>, sent: String) -> Result<String> {
    let gift = gift.map(|gift| format!(", with {gift} as a gift"));
    Ok(format!(
        "{}; sent {sent}{}",
        lines.join(", "),
        gift.unwrap_or_default()
    ))
}

plan! {
    /// Carries out an order.
    Order(name: String, lines: Vec<Line>, express: bool) -> String {
        step customer = FindCustomer { name };

        /// Take the goods, line by line. Missing goods are left out.
        #[optional(each)]
        step costs = for line in lines {
            Take { item: line.item, count: line.count, price: line.price }
        };
        step total: u32 = costs.iter().flatten().sum();

        /// A good customer gets a gift.
        // Without an `else`, the step is an `Option<String>`. The failure of an optional step is `None` as well.
        #[optional]
        step gift = if customer.orders > 20 && total > 0 { ChooseGift { worth: total / 10 } };

        /// Send the parcel. Each branch returns a `String`, and so does the step.
        step sent = if express {
            SendByCourier { to: customer.name }
        } else if let Some(neighbor) = &customer.neighbor {
            LeaveWith { neighbor, owner: customer.name }
        } else {
            SendByPost { to: customer.name }
        };

        /// Nice to have.
        #[fallback(f64::from(total) / 100.0)]
        step euros = Convert { cents: total, currency: "EUR" };

        step bill = WriteBill {
            lines: [format!("{} of {} lines", costs.iter().flatten().count(), lines.len()), format!("{euros:.2} EUR")],
            gift,
            sent,
        };
        bill
    }
}

fn line(item: &str, count: u32, price: u32) -> Line {
    let item = item.into();
    Line { item, count, price }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let terminal = Terminal::stdout();
    println!("{}", terminal.plan(Order::PLAN));

    let goods = vec![
        line("lamp", 2, 4000),
        line("unicorn", 1, 99),
        line("bulb", 4, 250),
    ];
    for (name, lines, express) in [
        ("Ada", goods.clone(), false),
        ("Grace", vec![goods[2].clone()], false),
        ("Alan", goods, true),
    ] {
        let order = Order {
            name: name.into(),
            lines,
            express,
        };
        let (bill, report) = order.run(&()).with_report().await;
        println!("{name}: {}\n\n{}\n", bill?, terminal.report(&report));
    }
    Ok(())
}
