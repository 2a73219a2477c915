//! The possible failures of a run, and their reports.

use plan_runtime::run::{OnFailure, StepError};
use plan_runtime::{Error, Report, Result, ResultExt, RunError, Terminal, plan, tool};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// Lists the items in stock.
#[tool]
async fn list_items(warehouse: String) -> Result<Vec<String>> {
    match warehouse.as_str() {
        "north" => Ok(vec!["lamp".into(), "chair".into()]),
        "empty" => Ok(Vec::new()),
        "closed" => Err(Error::msg("connection refused").context("asking the warehouse")),
        _ => panic!("no one has heard of the warehouse `{warehouse}`"),
    }
}

/// Returns the price of an item per kilogram.
#[tool]
async fn unit_price(item: String, cents: String, grams: f64) -> Result<f64> {
    // A second attempt could not parse the number either.
    let cents: u32 = cents.parse().permanent()?;
    println!("    ({item}: {cents} cents, {grams} g)");
    Ok(f64::from(cents) / grams * 1000.0)
}

/// Asks another service, which answers in JSON that no type describes.
#[tool]
async fn ask(question: String) -> Result<Value> {
    Ok(json!({ "question": question, "answer": { "amount": "twelve" } }))
}

/// Orders an amount.
#[tool]
async fn order(item: String, amount: u64) -> Result<String> {
    sleep(Duration::from_millis(20)).await;
    Ok(format!("{amount} × {item}"))
}

plan! {
    /// Find the price of a warehouse's first item per kilogram.
    Price(warehouse: String, cents: String, grams: f64) -> f64 {
        step items = ListItems { warehouse };
        step price = UnitPrice { item: items[0], cents, grams };
        price
    }
}

plan! {
    /// Orders as much as another service says.
    Restock(item: String) -> String {
        step advice = Ask { question: format!("how many of {item}?") };
        step ordered = Order { item, amount: advice["answer"]["amount"].as_u64().expect("a number") };
        ordered
    }
}

plan! {
    /// Asks another service about its own answer.
    AskAgain(item: String) -> Value {
        step advice = Ask { question: item };
        step unit = Ask { question: format!("why {}?", advice["answer"]["unit"]) };
        unit
    }
}

plan! {
    /// Orders from two warehouses; the second is closed.
    Both() -> (String, String) {
        step north = ListItems { warehouse: "north" };
        step closed = ListItems { warehouse: "closed" };
        step from_north = Order { item: north[0], amount: 1 };
        step more_from_north = Order { item: format!("more {from_north}"), amount: 2 };
        step from_closed = Order { item: closed[0], amount: 1 };
        (more_from_north, from_closed)
    }
}

async fn price(what: &str, warehouse: &str, cents: &str, grams: f64) {
    let plan = Price {
        warehouse: warehouse.into(),
        cents: cents.into(),
        grams,
    };
    show(what, plan.run(&())).await;
}

/// Prints the title of a run before the run, so that lines of its tools are below the title.
async fn show<T: std::fmt::Debug>(what: &str, run: impl IntoFuture<Output = Result<T, RunError>>) {
    println!("{what}");
    match run.await {
        Ok(output) => println!("    gives {output:?}"),
        Err(error) => {
            println!("{}", Terminal::stdout().text(format!("    {error}")));
            let again = if error.is_transient() {
                "may"
            } else {
                "will not"
            };
            println!("    another try {again} help");
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // A panic is a failure of its step. This hook hides Rust's own message about the panic.
    std::panic::set_hook(Box::new(|_| {}));

    price("all is well", "north", "250", 500.0).await;
    price("a tool's error, with its cause", "closed", "250", 500.0).await;
    price("a permanent error", "north", "two fifty", 500.0).await;
    price("a panic", "south", "250", 500.0).await;
    price("an element that is not there", "empty", "250", 500.0).await;
    price("an output that JSON cannot hold", "north", "250", 0.0).await;
    price("an input that JSON cannot hold", "north", "250", f64::NAN).await;

    let lamps = Restock {
        item: "lamp".into(),
    };
    show("a panic in a computed value", lamps.run(&())).await;
    let lamps = AskAgain {
        item: "lamp".into(),
    };
    show("a member that an untyped value lacks", lamps.run(&())).await;

    println!("\nwhat an error can be asked");
    let closed = Price {
        warehouse: "closed".into(),
        cents: "250".into(),
        grams: 500.0,
    };
    if let Err(error) = closed.run(&()).await {
        for failure in error.failures() {
            println!("    step:    {}", failure.step());
            println!("    tool:    {}", failure.tool().unwrap_or("none"));
            println!(
                "    blocked: {}",
                failure.blocked().collect::<Vec<_>>().join(", ")
            );
            if let StepError::Tool(error) = failure.error() {
                let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
                println!("    causes:  {}", causes.join(" ← "));
            }
        }
    }

    println!("\nwhat becomes of the other steps: `Stop`, `Continue`, `Cancel`");
    for on_failure in [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel] {
        println!("\n{on_failure:?}:");
        let run = Both {}.run(&()).on_failure(on_failure);
        let (_, report): (_, Report) = run.with_report().await;
        println!("{}", Terminal::stdout().report(&report));
    }
}
