//! Source that would differ from the behavior of its plan.

use plan_runtime::plan::Executable;
use plan_runtime::{Plan, Result, plan, tool};
use plan_rust::to_rust;
use serde_json::{Value, json};

fn document(steps: Value) -> Value {
    json!({"name": "p", "inputs": [{"name": "x", "type": "Value"}], "steps": steps, "output": {"value": null}})
}

/// The source would read what the type leaves out, which is something else.
#[test]
fn a_default_that_no_type_has_is_not_written_as_rust() {
    let source = |default: Value| {
        let path = json!([{"token": "email", "absent": {"default": default}}]);
        let to = json!({"reference": {"input": "x", "path": path}});
        let document = document(
            json!([{"id": "s", "tool": {"name": "send"}, "arguments": {"object": {"to": to}}}]),
        );
        let plan: Plan = serde_json::from_value(document).unwrap();
        to_rust(&plan).map_err(|unsupported| unsupported.to_string())
    };
    for default in [
        json!("other@example.org"),
        json!(true),
        json!(1),
        json!([0]),
    ] {
        let error = source(default).unwrap_err();
        assert!(error.contains("the default of the reference"), "{error}");
    }
    for default in [json!(""), json!(null), json!(0.0), json!([]), json!({})] {
        source(default).unwrap();
    }
}

#[test]
fn merged_objects_are_not_written() {
    let (own, rest) = (
        json!({"object": {"id": 1}}),
        json!({"reference": {"input": "x", "pointer": ""}}),
    );
    for parts in [json!([own, rest]), json!([rest, own])] {
        let document =
            document(json!([{"id": "s", "tool": {"name": "echo"}, "arguments": {"merge": parts}}]));
        let plan: Plan = serde_json::from_value(document).unwrap();
        let error = to_rust(&plan).unwrap_err().to_string();
        assert!(error.contains("the members of `x` among"), "{error}");
    }
}

/// An older version recorded such plans, which can run. The compiler refuses their source.
#[test]
fn policies_and_orders_without_an_effect_are_not_written() {
    let call = json!({"tool": {"name": "note"}, "arguments": {"object": {}}});
    let each = json!({"for": {"pattern": "it", "list": ["a"], "body": call}});
    let branches = json!([{"condition": true, "then": each}]);
    let document = document(json!([
        {"id": "few", "if": branches, "policy": {"concurrency": 1}},
        {"id": "some", "if": branches, "policy": {"optional": "each"}},
        {"id": "caught", "if": branches, "policy": {"catch": "each"}},
        {"id": "closed", "tool": {"name": "note"}, "always": true, "after": ["few"]},
    ]));
    let plan: Plan = serde_json::from_value(document).unwrap();
    assert_eq!(Executable::new(&plan).mistake(), None);
    let error = to_rust(&plan).unwrap_err();
    let parts: Vec<String> = error.all().iter().map(ToString::to_string).collect();
    let expected = [
        "step `few`: `concurrency` is for the elements of a `for`",
        "step `some`: `optional` is `each`, which is for the elements of a `for`",
        "step `caught`: `catch` is `each`, which is for the elements of a `for`",
        "step `closed`: the order of an always step after a work step",
    ];
    assert_eq!(parts, expected);
}

/// Notes a text.
#[tool]
async fn note(at: usize, text: String) -> Result<String> {
    Ok(format!("{at}: {text}"))
}

plan! {
    Notes(texts: Vec<String>) -> Vec<String> {
        step first = if let Some(text) = texts.first().cloned() { Note { at: 0, text } };
        step last = if let Some((at, text)) = texts.iter().cloned().enumerate().last() { Note { at, text } };
        step all = for (at, text) in texts.iter().cloned().enumerate() { Note { at, text } };
        all
    }
}

/// The code of a pattern returns the values of all its variables.
#[test]
fn variables_of_computed_values_have_their_names() {
    let source = to_rust(Notes::PLAN).unwrap();
    for step in [
        "if let Some(text) = texts.first().cloned() {\n            Note { at: 0, text, .. }\n",
        "if let Some((at, text)) = texts.iter().cloned().enumerate().last() {\n            Note { at, text, .. }\n",
        "for (at, text) in texts.iter().cloned().enumerate() {\n            Note { at, text, .. }\n",
    ] {
        assert!(source.contains(step), "{source}");
    }
}
