//! What the example `promote` prints is a plan that compiles, and runs.

use plan_runtime::dynamic::Reader;
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: String,
    items: Vec<Item>,
}

#[derive(Serialize, Deserialize, Shape)]
struct Item {
    sku: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Orders {
    orders: Vec<Order>,
}

#[derive(Serialize, Deserialize, Shape)]
struct Check {
    cents: u64,
    reason: String,
}

/// Finds orders.
#[tool]
async fn search_orders(customer: String, limit: Option<u64>) -> Result<Orders> {
    let item = Item {
        sku: format!("of {customer}"),
    };
    let items = limit.map(|_| item).into_iter().collect();
    let order_id = "o-1".to_owned();
    Ok(Orders {
        orders: vec![Order { order_id, items }],
    })
}

/// Checks a return.
#[tool]
#[serde(rename_all = "camelCase")]
async fn check_return(order_id: String, items: Vec<String>) -> Result<Check> {
    let cents = items.len() as u64 * 100;
    Ok(Check {
        cents,
        reason: format!("{order_id} is new"),
    })
}

/// Pays back.
#[tool]
#[serde(rename_all = "camelCase")]
async fn pay_back(
    order_id: String,
    cents: u64,
    reason: String,
    note: Option<String>,
) -> Result<String> {
    Ok(format!("{order_id}: {cents} ({reason}) {note:?}"))
}

mod refund {
    use super::{CheckReturn, PayBack, SearchOrders};
    use plan_runtime::plan;

    include!("refund.rs");
}

plan! {
    Twice(customer: String) -> serde_json::Value {
        step one = refund::Refund { customer };
        one
    }
}

#[test]
fn the_file_is_what_the_example_prints() {
    let text = include_str!("../../examples/plans/refund.json");
    let plan = Reader::new().name("refund").read(text).unwrap().into_plan();
    let source = plan.to_rust().unwrap();
    let kept = include_str!("refund.rs");
    if source != kept && std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/promoted/refund.rs");
        std::fs::write(file, &source).unwrap();
    }
    assert_eq!(source, kept, "run it with UPDATE=1 to keep what it is now");
}

#[test]
fn the_plan_runs_as_it_was_drafted() {
    let plan = refund::Refund {
        customer: "Ada".to_owned(),
    };
    let output = smol::block_on(plan.run(&())).unwrap();
    assert_eq!(
        output,
        json!({
            "find-orders": {"orders": [{"orderId": "o-1", "items": [{"sku": "of Ada"}]}]},
            "check": {"cents": 100, "reason": "o-1 is new"},
            "refund": "o-1: 100 (Return of o-1: o-1 is new) None"
        })
    );
    assert_eq!(Twice::PLAN.steps[0].needs().len(), 0);
}
