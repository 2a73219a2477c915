//! JSON Schemas and values that would make a validation endless, or overflow the stack.

use plan_runtime::Result;
use plan_runtime::dynamic::{Contract, Toolbox};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// A toolbox with the tool `take`, whose output has this schema and is this value.
fn toolbox(schema: Value, value: Value) -> Result<Toolbox<()>> {
    let take = Contract::new("take").output(schema);
    Toolbox::new()
        .with_fn(take, move |_| std::future::ready(Ok(value.clone())))
        .with_validation()
}

#[test]
fn invalid_schemas_are_errors_of_the_toolbox() {
    let nested = (0..200).fold(json!({}), |schema, _| json!({"not": schema}));
    let rows = json!([
        [{"type": "strin"}, "is invalid: at `/type`: the value fits no alternative (`anyOf`)"],
        [[], "is invalid: the value is not of types"],
        [{"minLength": -1}, "is invalid: at `/minLength`: the value is less than the minimum of 0 (`minimum`)"],
        [{"pattern": "("}, "has a pattern at `/pattern` that is too large, or that a linear search cannot match"],
        [{"pattern": "^(?=a)b"}, "has a pattern at `/pattern`"],
        [{"pattern": "(a)\\1"}, "has a pattern at `/pattern`"],
        [{"pattern": "^([ab]*a[ab]{9000})$"}, "has a pattern at `/pattern`"],
        [{"$ref": "http://127.0.0.1:9/x.json"}, "refers to another document, `http://127.0.0.1:9/x.json`"],
        [{"$ref": "file:///etc/passwd"}, "refers to another document, `file:///etc/passwd`"],
        [{"$ref": "#/$defs/none"}, "refers to `#/$defs/none`, which does not exist"],
        [{"$schema": "http://127.0.0.1:9/x.json"}, "is invalid: Unknown meta-schema"],
        [{"$defs": {"a": {"$id": "b.json"}}}, "contains another document, `b.json`"],
        [{"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}, "has several parts with the name `x`"],
        [nested, "is too large, or has too many nested references"],
    ]);
    let rows: Vec<(Value, String)> = serde_json::from_value(rows).unwrap();
    for (schema, expected) in rows {
        let error = toolbox(schema.clone(), json!(1)).unwrap_err().to_string();
        let start = format!("the schema of the output of `take` {expected}");
        assert!(error.starts_with(&start), "{schema}: {error}");
    }
}

#[test]
fn all_invalid_schemas_are_reported() {
    let bad = || json!({"minLength": -1});
    let take = Contract::new("take").arguments(bad()).output(bad());
    let toolbox = Toolbox::<()>::new().with_fn(take, |given| async move { Ok(given) });
    let error = toolbox.with_validation().unwrap_err().to_string();
    let parts = [
        "the schema of the arguments of `take`",
        "; the schema of the output of `take`",
    ];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

/// Validates a value as the output of a tool, in a thread with a small stack and within some seconds. Returns the error.
fn bounded(schema: Value, value: Value) -> Result<(), String> {
    let validate = move || {
        let start = Instant::now();
        let result = toolbox(schema, value)
            .map_err(|error| error.to_string())
            .and_then(|toolbox| {
                let output = smol::block_on(toolbox.call("take", json!({}), &()));
                output.map(drop).map_err(|error| error.to_string())
            });
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{:?}",
            start.elapsed()
        );
        result
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(validate).unwrap().join().unwrap()
}

/// Definitions of which each refers twice to the next.
fn doubling(keyword: &str, count: usize) -> Value {
    let mut definitions = Map::new();
    for i in 0..count {
        let next = json!({"$ref": format!("#/$defs/a{}", i + 1)});
        definitions.insert(format!("a{i}"), json!({keyword: [next, next]}));
    }
    definitions.insert(format!("a{count}"), json!({"type": "string"}));
    json!({"$defs": definitions, "$ref": "#/$defs/a0"})
}

fn deep(depth: usize, leaf: Value) -> Value {
    (0..depth).fold(leaf, |value, _| json!({"next": value}))
}

#[test]
fn hostile_schemas_end_in_time() {
    let too_large = "is too large, or has too many nested references";
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let error = bounded(doubling(keyword, 40), json!(1)).unwrap_err();
        assert!(error.ends_with(too_large), "{error}");
        assert!(
            bounded(doubling(keyword, 8), json!(1))
                .unwrap_err()
                .contains("in the schema of `take`")
        );
    }
    let unevaluated = |count| {
        (0..count).fold(
            json!({"properties": {"a": {}}}),
            |schema, _| json!({"anyOf": [schema], "unevaluatedProperties": false}),
        )
    };
    assert!(
        bounded(unevaluated(30), json!({"a": 1}))
            .unwrap_err()
            .ends_with(too_large)
    );
    assert_eq!(bounded(unevaluated(4), json!({"a": 1})), Ok(()));
    let chain: Map<_, _> = (0..1000)
        .map(|i| {
            (
                format!("a{i}"),
                json!({"$ref": format!("#/$defs/a{}", i + 1)}),
            )
        })
        .collect();
    let chain = json!({"$defs": chain, "$ref": "#/$defs/a0", "type": "string"});
    assert!(bounded(chain, json!(1)).unwrap_err().ends_with(too_large));
    // A regular expression that takes exponential time if it is matched by backtracking.
    let evil = json!({"pattern": "^(a+)+$"});
    assert!(
        bounded(evil, json!("a".repeat(1 << 20) + "!"))
            .unwrap_err()
            .contains("`pattern`")
    );
    let text = "ab".repeat(8 << 20);
    let error = bounded(json!({"pattern": "^([ab]*a[ab]{500})$"}), json!(text)).unwrap_err();
    assert!(
        error.contains("the value is too large to be validated"),
        "{error}"
    );
}

#[test]
fn recursive_schemas_end_in_time_and_within_the_stack() {
    let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false});
    assert_eq!(bounded(tree.clone(), deep(120, json!({}))), Ok(()));
    let error = bounded(tree, deep(120, json!(1))).unwrap_err();
    assert!(
        error.contains("`: the value is not of type \"object\" (`type` in"),
        "{error}"
    );
    // A search for the violation would visit each value twice as often as its parent.
    let twice = json!({"type": "object", "anyOf": [
        {"properties": {"next": {"$ref": "#"}}, "maxProperties": 1},
        {"additionalProperties": {"$ref": "#"}, "minProperties": 1},
    ]});
    let error = bounded(twice, deep(120, json!({"a": 1, "b": {}}))).unwrap_err();
    assert!(
        error.ends_with("the value is not allowed in the schema of `take`"),
        "{error}"
    );
    let long = (0..60).fold(
        json!({"properties": {"next": {"$ref": "#"}}}),
        |schema, _| json!({"allOf": [schema]}),
    );
    let error = bounded(long, deep(120, json!({}))).unwrap_err();
    assert!(
        error.contains("the value is too deep to be validated"),
        "{error}"
    );
}
