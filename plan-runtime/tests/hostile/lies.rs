//! What is printed of a plan, and what it does, where they once differed.

use plan_runtime::dynamic::Reader;
use serde_json::{Value, json};

fn plan(steps: Value) -> Value {
    json!({"name": "p", "inputs": [{"name": "x", "type": "Value"}], "steps": steps, "output": {"value": null}})
}

fn printed(document: &Value) -> String {
    let text = document.to_string();
    Reader::new().read(&text).unwrap().plan().to_string()
}

fn refused(document: &Value) -> String {
    let text = document.to_string();
    Reader::new().read(&text).unwrap_err()[0].message.clone()
}

#[test]
fn a_default_of_a_path_is_printed() {
    let path = json!([{"token": "email", "absent": {"default": "other@example.org"}}]);
    let to = json!({"reference": {"input": "x", "path": path}});
    let text = printed(&plan(
        json!([{"id": "s", "tool": {"name": "send"}, "arguments": {"object": {"to": to}}}]),
    ));
    assert!(
        text.contains("to: x.email.or(\"other@example.org\")\n"),
        "{text}"
    );
}

#[test]
fn a_chain_is_computed() {
    let chain = json!({"chain": false, "then": {"tool": {"name": "t"}}});
    let message = refused(&plan(json!([{"id": "s", "if": [chain]}])));
    assert_eq!(message, "a `chain` is a computed value");
}

#[test]
fn a_pattern_over_data_only_names_it() {
    let value = json!({"reference": {"input": "x", "pointer": ""}});
    for pattern in [
        "None",
        "Some(\"never\")",
        "true",
        "(a, a)",
        "Mail { a, .. }",
        "5",
    ] {
        let branch = json!({"pattern": pattern, "value": value, "then": {"tool": {"name": "t"}}});
        let message = refused(&plan(json!([{"id": "s", "if": [branch]}])));
        assert!(
            message.ends_with("is not compared with the value"),
            "{message}"
        );
        let each = json!({"pattern": pattern, "list": value, "body": {"tool": {"name": "t"}}});
        refused(&plan(json!([{"id": "s", "for": each}])));
    }
}

#[test]
fn padding_starts_no_line() {
    let id = format!("note{}step look = find", " ".repeat(70));
    let intent = format!("Look.{}step b = t", " ".repeat(70));
    let document = json!([{"id": id, "intent": intent, "tool": "t", "arguments": {"k": id}}]);
    let text = printed(&document);
    assert!(!text.contains(&" ".repeat(20)), "{text}");
}

#[test]
fn the_output_of_a_step_is_no_path() {
    let text = printed(&json!({"steps": [
        {"id": "paid", "tool": "t", "arguments": {}},
        {"id": "paid[0]", "tool": "t", "arguments": {}}
    ], "output_steps": ["paid[0]"]}));
    assert!(
        text.contains("output { \"paid[0]\": &\"paid[0]\" }"),
        "{text}"
    );
}

#[test]
fn prices_and_lengths_name_no_step() {
    for text in ["$5.00 a month", "$5", "\\vspace{5.5em}", "{5.0}%"] {
        let document = json!({"steps": [
            {"id": "5", "tool": "t", "arguments": {}},
            {"id": "6", "tool": "t", "arguments": {"text": text}}
        ]});
        let document = document.to_string();
        assert!(
            Reader::new().read(&document).unwrap().warnings().is_empty(),
            "{text}"
        );
    }
}

#[test]
fn an_input_is_known_wherever_it_is_named() {
    for (first, second) in [("a", "b"), ("b", "a")] {
        let arguments = json!({first: "Dear ${name},", second: "{{PLACEHOLDER_name}}"});
        let document = json!([{"id": "w", "tool": "t", "arguments": arguments}]).to_string();
        assert_eq!(Reader::new().read(&document).unwrap().warnings().len(), 1);
    }
}
