//! Diagrams of a plan, before a run and after: Mermaid, DOT, and an HTML page about a run.

use plan_runtime::plan::Direction;
use plan_runtime::{Error, Result, Shape, Terminal, plan, tool};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Serialize, Deserialize, Shape)]
struct Customer {
    name: String,
    orders: u32,
    neighbor: Option<String>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Line {
    item: String,
    count: u32,
    price: u32,
}

async fn work(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// Looks a customer up.
#[tool]
async fn find_customer(name: String) -> Result<Customer> {
    work(30).await;
    Ok(Customer {
        neighbor: Some(format!("the neighbor of {name}")),
        orders: 25,
        name,
    })
}

/// Takes goods out of the stock, and returns their price.
#[tool]
async fn take(item: String, count: u32, price: u32) -> Result<u32> {
    work(10 * u64::from(count)).await;
    match item.as_str() {
        "unicorn" => Err(Error::permanent("there are no unicorns")),
        _ => Ok(count * price),
    }
}

/// Leaves a parcel with someone.
#[tool]
async fn leave_with(neighbor: String, owner: String) -> Result<String> {
    work(15).await;
    Ok(format!("with {neighbor}, for {owner}"))
}

/// Sends a parcel by post.
#[tool]
async fn send_by_post(to: String) -> Result<String> {
    work(25).await;
    Ok(format!("by post to {to}"))
}

/// Asks for the rate of a currency. The service is down.
#[tool]
async fn find_rate(currency: String) -> Result<f64> {
    work(20).await;
    Err(Error::msg(format!("no answer about {currency}")))
}

/// Writes a bill.
#[tool]
async fn write_bill(lines: Vec<String>, sent: String) -> Result<String> {
    work(10).await;
    Ok(format!("{}; sent {sent}", lines.join(", ")))
}

plan! {
    /// Converts cents into another currency.
    Convert(cents: u32, currency: String) -> f64 {
        #[retry(3, backoff = "10ms")]
        #[fallback(1.0)]
        step rate = FindRate { currency };
        f64::from(cents) / 100.0 * rate
    }
}

plan! {
    /// Carries out an order.
    Order(name: String, lines: Vec<Line>, express: bool) -> String {
        step customer = FindCustomer { name };

        /// Take the goods, line by line. Missing goods are left out.
        #[optional(each)]
        #[concurrency(2)]
        step costs = for line in lines {
            Take { item: line.item, count: line.count, price: line.price }
        };
        step total: u32 = costs.iter().flatten().sum();

        /// By the neighbor, if there is one.
        #[after(costs)]
        step sent = if express {
            SendByPost { to: customer.name }
        } else if let Some(neighbor) = &customer.neighbor {
            LeaveWith { neighbor, owner: customer.name }
        } else {
            SendByPost { to: customer.name }
        };

        /// Nice to have.
        #[timeout("1s")]
        step euros = Convert { cents: total, currency: "EUR" };

        step bill = WriteBill { lines: [format!("{euros:.2} EUR")], sent };
        bill
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // A plan contains only the names of the plans that it calls. `nested` adds the steps of such a plan to the diagram.
    println!("{}", Order::PLAN.mermaid().nested(Convert::PLAN));
    println!("{}", Order::PLAN.dot().direction(Direction::Right));

    let line = |item: &str, count, price| Line {
        item: item.into(),
        count,
        price,
    };
    let order = Order {
        name: "Ada".into(),
        lines: vec![
            line("lamp", 2, 4000),
            line("unicorn", 1, 99),
            line("bulb", 4, 250),
        ],
        express: false,
    };
    let run = order.run(&()).capture_arguments(true).capture_outputs(true);
    let (bill, report) = run.with_report().await;
    println!("{}\n\n{}\n", bill?, Terminal::stdout().report(&report));

    let page = std::env::temp_dir().join("plan-pictures.html");
    std::fs::write(&page, report.to_html())?;
    println!("the same as a page: {}", page.display());
    Ok(())
}
