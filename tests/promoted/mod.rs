//! The output of the example `promote` is a plan that compiles, and runs.

use plan_runtime::dynamic::Reader;
use plan_runtime::{Result, Shape, plan, tool};
use plan_rust::{RustSource, to_rust};
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
    let source = to_rust(&plan).unwrap();
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

/// The priority of a task.
#[derive(Debug, Serialize, Deserialize, Shape)]
#[serde(rename_all = "kebab-case")]
enum Priority {
    VeryHigh,
    Low,
}

/// Ranks a task.
#[tool]
async fn rank(
    priority: Priority,
    others: Vec<Priority>,
    maybe: Option<Priority>,
    name: String,
    free: String,
) -> Result<String> {
    Ok(format!("{priority:?} {others:?} {maybe:?} {name} {free}"))
}

/// Notes a text.
#[tool]
async fn note(text: String) -> Result<String> {
    Ok(text)
}

mod ranked {
    use super::{Note, Rank};
    use plan_runtime::plan;
    use serde_json::json;

    include!("ranked.rs");
}

/// A string that is listed by a schema may be a variant, and `Ok(o)` is data like `Some(x)`.
#[test]
fn variants_and_outcomes_compile() {
    let sorted = json!({"reference": {"step": "sorted", "pointer": ""}});
    let note = |pointer: &str| {
        let text = json!({"reference": {"local": 0, "pointer": pointer}});
        json!({"tool": {"name": "note"}, "arguments": {"object": {"text": text}}})
    };
    let rank = json!({"object": {
        "priority": "very-high", "others": ["low", "very-high"], "maybe": "low", "name": "a", "free": "very-high"
    }});
    let plan = json!({"name": "ranked", "steps": [
        {"id": "sorted", "tool": {"name": "rank"}, "arguments": rank, "policy": {"catch": true}},
        {"id": "said", "if": [
            {"pattern": "Ok(o)", "value": sorted, "then": note("")},
            {"pattern": "Err(e)", "value": sorted, "then": note("/message")}
        ]}
    ], "output": {"type": "Option<String>", "value": {"reference": {"step": "said", "pointer": ""}}}});
    let text = plan.to_string();
    let plan = Reader::new().read(&text).unwrap().into_plan();
    // The forms of an enum, an `Option` and a list of enums in generated schemas, and a string with allowed values.
    let schema = json!({
        "$defs": {"Priority": {"oneOf": [{"const": "very-high", "type": "string"}, {"const": "low", "type": "string"}]}},
        "type": "object",
        "properties": {
            "priority": {"description": "How soon.", "$ref": "#/$defs/Priority"},
            "others": {"type": "array", "items": {"$ref": "#/$defs/Priority"}},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Priority"}, {"type": "null"}]},
            "name": {"type": "string", "enum": ["a", "b"]},
            "free": {"type": "string"}
        }
    });
    let source = RustSource::new(&plan).schema("rank", &schema);
    let source = source.write().unwrap();
    let kept = include_str!("ranked.rs");
    if source != kept && std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/promoted/ranked.rs");
        std::fs::write(file, &source).unwrap();
    }
    assert_eq!(source, kept);
    let said = smol::block_on(ranked::Ranked {}.run(&())).unwrap();
    let said = said.as_deref();
    assert_eq!(said, Some("VeryHigh [Low, VeryHigh] Some(Low) a very-high"));
}
