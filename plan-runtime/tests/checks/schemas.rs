//! The requirements of a schema, and the parts that it leaves open.

use crate::checks::read_with;
use plan_runtime::dynamic::{Code, Contract, Contracts, Reader, Toolbox};
use serde_json::json;

#[test]
fn what_a_schema_does_not_say_fits() {
    for schema in [
        json!(true),
        json!({}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "properties": {"value": true}}),
        json!({"$ref": "https://example.org/schema"}),
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}, {"type": "null"}]}]}),
        json!({"properties": {"value": {"type": "whatever", "format": "date", "pattern": "^x$"}}}),
        json!({"properties": {"value": {"not": {}, "if": {}, "then": false, "contains": 3}}}),
        json!({"patternProperties": {"^v": {"type": "string"}}, "additionalProperties": false}),
        json!({"properties": {"other": {}}, "additionalProperties": true}),
        json!({"type": 3, "properties": 4, "required": 5, "enum": 6, "anyOf": 7, "items": 8}),
    ] {
        let tools = Contracts::from_iter([Contract::new("t")
            .arguments(schema.clone())
            .output(schema.clone())]);
        for value in [
            json!(null),
            json!(1),
            json!("x"),
            json!([[]]),
            json!({"value": {"value": 1}}),
            json!("$ref:a.value.0[*].x"),
        ] {
            let text = json!({"steps": [
                {"id": "a", "tool": "t", "arguments": {"value": 1}},
                {"id": "b", "tool": "t", "arguments": {"value": value}},
            ]});
            let text = text.to_string();
            let findings = read_with(&tools, &text);
            // Only the reference has a finding.
            let codes = [Code::Unchecked, Code::MaybeAbsent];
            let unknown = findings.iter().all(|it| codes.contains(&it.code));
            let expected = usize::from(value == "$ref:a.value.0[*].x");
            assert!(
                unknown && findings.len() <= expected,
                "{schema}\n{findings}"
            );
        }
    }
}

#[test]
fn schemas_that_would_take_for_ever_are_given_up_on() {
    let mut levels = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
        levels.insert(level.to_string(), json!({"anyOf": [next, {"type": "object", "properties": {"a": next, "b": next}}, next]}));
    }
    levels.insert("40".into(), json!({"type": "string"}));
    let schema = json!({"$defs": levels, "properties": {"value": {"$ref": "#/$defs/0"}}});
    let mut value = json!(3);
    for _ in 0..40 {
        value = json!({"a": value, "b": [value]});
        if value.to_string().len() > 100_000 {
            break;
        }
    }
    let tools = Contracts::from_iter([Contract::new("t").arguments(schema.clone()).output(schema)]);
    let text = json!({"steps": [
        {"id": "a", "tool": "t", "arguments": {"value": value}},
        {"id": "b", "tool": "t", "arguments": {"value": "$ref:a.a.b.a.b"}},
        {"id": "c", "tool": "t", "arguments": {"value": "$ref:a"}},
    ]});
    let start = std::time::Instant::now();
    let _ = Reader::new().tools(&tools).read(&text.to_string());
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn what_a_tool_of_json_is_given_is_checked_before_it_is_called() {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "count": {"type": "integer", "maximum": 3}},
        "required": ["to"],
    });
    let toolbox = Toolbox::new()
        .with_fn(
            Contract::new("send").arguments(schema),
            |arguments| async move { Ok(arguments) },
        )
        .with_fn(Contract::new("anything"), |arguments| async move {
            Ok(arguments)
        });
    let run = |given: serde_json::Value| {
        let text = json!({"steps": [
            {"id": "a", "tool": "anything", "arguments": given},
            {"id": "b", "tool": "send", "arguments": "$ref:a"},
        ]});
        let text = text.to_string();
        let document = toolbox.read(&text).unwrap();
        smol::block_on(toolbox.run(document.plan(), (), &())).map_err(|error| error.to_string())
    };
    let given = json!({"to": "x", "count": null, "more": 1});
    assert_eq!(run(given.clone()), Ok(json!({"a": given, "b": given})));
    assert_eq!(
        run(json!({"to": 3, "count": 4})).unwrap_err(),
        "plan `plan` failed: step `b` (send): argument `count` is the number 4, but must be at most 3; argument `to` is the number 3, but must be a string"
    );
    // A name similar to one in the schema is a different name, and may exist; the argument in the schema is missing.
    for given in [json!({"t": "x"}), json!({"too": "x", "count": 1})] {
        assert_eq!(
            run(given).unwrap_err(),
            "plan `plan` failed: step `b` (send): `send` needs the argument `to`"
        );
    }
}
