//! The argument types that a schema leaves out, and its notes about them.

use super::json_schema::JsonSchema;
use super::promises::nested;
use plan_runtime::dynamic::{Contract, Dialect, Reader};
use serde_json::{Value, json};

/// The arguments of a tool in the schema of this dialect, and the whole schema.
fn arguments_in(dialect: Dialect, contract: Contract) -> (Value, Value) {
    let schema = dialect.schema(&[contract].into_iter().collect());
    (schema["$defs"]["arguments0"].clone(), schema)
}

/// Returns the type at this depth in a chain of nested objects.
fn at_depth(schema: &Value, depth: usize) -> Value {
    let mut ty = schema["$defs"]["arguments0"]["anyOf"][0].clone();
    for _ in 0..depth {
        ty = ty["properties"]["a"].clone();
        if let Some(name) = ty["$ref"].as_str() {
            let name = name.strip_prefix("#/$defs/").unwrap();
            if !name.starts_with("type") {
                return name.into();
            }
            ty = schema["$defs"][name].clone();
        }
        ty = ty["anyOf"][0].clone();
    }
    ty["type"].clone()
}

#[test]
fn a_schema_says_which_types_are_cut() {
    let (_, schema) = arguments_in(
        Dialect::ToolPlan,
        nested(20, |ty| json!({"type": "object", "properties": {"a": ty}})),
    );
    assert_eq!(at_depth(&schema, 16), "object");
    assert_eq!(at_depth(&schema, 17), "large");
    let large = &schema["$defs"]["large"];
    assert_eq!(large["anyOf"], json!([{"$ref": "#/$defs/value"}]));
    let comment = large["$comment"].as_str().unwrap();
    assert!(comment.contains("any value is accepted in its place"));

    let objects = |forms: usize| -> Vec<Value> {
        let object = |at: usize| {
            json!({
                "type": "object", "properties": {(format!("a{at}")): {"type": "string"}}, "additionalProperties": false,
            })
        };
        (0..forms).map(object).collect()
    };
    // An argument of very many forms, and the arguments themselves.
    for (forms, is_cut) in [(64, false), (65, true)] {
        let argument = json!({"type": "object", "properties": {"a": {"anyOf": objects(forms)}}});
        let (arguments, schema) =
            arguments_in(Dialect::ToolPlan, Contract::new("t").arguments(argument));
        let ty = &arguments["anyOf"][0]["properties"]["a"]["$ref"];
        assert_eq!(*ty == "#/$defs/large", is_cut, "{ty}");
        assert_eq!(schema["$defs"]["large"]["$comment"].is_string(), is_cut);

        let whole = Contract::new("t").arguments(json!({"anyOf": objects(forms)}));
        let (arguments, schema) = arguments_in(Dialect::ToolPlan, whole);
        assert_eq!(arguments["$comment"].is_string(), is_cut);
        let call = json!({"steps": [{"id": "a", "tool": "t", "arguments": {"other": 1}}]});
        assert_eq!(JsonSchema::new(schema).mistake(&call).is_none(), is_cut);
    }
    // An unknown type is not incomplete.
    let any = json!({"type": "object", "properties": {"a": {}, "b": {"$ref": "#/nowhere"}}});
    let (_, schema) = arguments_in(Dialect::ToolPlan, Contract::new("t").arguments(any));
    assert!(!schema.to_string().contains("$comment"), "{schema}");
}

#[test]
fn a_tuple_of_many_places_is_cut_after_64() {
    for places in [64, 65, 200] {
        let tuple = json!({"type": "array", "prefixItems": vec![json!({"type": "integer"}); places], "items": false});
        let argument = json!({"type": "object", "properties": {"a": tuple}, "required": ["a"]});
        let (_, schema) = arguments_in(Dialect::ToolPlan, Contract::new("t").arguments(argument));
        assert_eq!(
            schema["$defs"]["large"]["$comment"].is_string(),
            places > 64
        );
        let schema = JsonSchema::new(schema);
        let fits = |items: Vec<Value>| {
            let call = json!({"steps": [{"id": "a", "tool": "t", "arguments": {"a": items}}]});
            schema.mistake(&call).is_none()
        };
        let with = |at: usize, item: Value| {
            let mut items = vec![json!(1); places];
            items[at] = item;
            items
        };
        assert!(fits(vec![json!(1); places]));
        assert!(!fits(with(63, json!("a"))));
        if places > 64 {
            assert!(fits(with(64, json!("a"))));
        } else {
            assert!(!fits(vec![json!(1); 65]));
        }
    }
}

/// An object that needs a member which no plan can write is accepted only as a reference.
#[test]
fn what_cannot_be_written_is_a_reference() {
    for (dialect, name, reference) in [
        (Dialect::ToolPlan, "$ref:a", json!("$ref:a")),
        (Dialect::ActionPlan, "{{a.result}}", json!("{{a.result}}")),
        (
            Dialect::Blueprint,
            "${step[0].result}",
            json!("${step[0].result}"),
        ),
    ] {
        let object = json!({"type": "object", "properties": {(name): {"type": "string"}}, "required": [name]});
        let outer = json!({"type": "object", "properties": {"a": object}, "required": ["a"]});
        let (arguments, schema) = arguments_in(dialect, Contract::new("t").arguments(object));
        let never = json!({"$ref": "#/$defs/never_written"});
        let by_reference = json!({"$ref": "#/$defs/reference"});
        assert_eq!(arguments, json!({"anyOf": [never, by_reference]}));
        let never = &schema["$defs"]["never_written"];
        assert_eq!(never["anyOf"], json!([by_reference]));
        let comment = never["$comment"].as_str().unwrap();
        assert!(comment.contains("only a reference fits"), "{comment}");

        let contract = Contract::new("t").arguments(outer);
        let schema = JsonSchema::new(arguments_in(dialect, contract).1);
        let members = if dialect == Dialect::Blueprint {
            ("params", "requestId")
        } else {
            ("arguments", "name")
        };
        let call = |argument: &Value| {
            let mut steps = json!([{"tool": "t", (members.0): {"a": argument}}]);
            if dialect != Dialect::Blueprint {
                steps[0]["id"] = "b".into();
            }
            if dialect == Dialect::ActionPlan {
                return steps;
            }
            json!({(members.1): "p", "steps": steps})
        };
        let without = json!({});
        let with = json!({(name): "x"});
        assert!(schema.mistake(&call(&without)).is_some(), "{dialect}");
        assert!(schema.mistake(&call(&with)).is_some(), "{dialect}");
        assert_eq!(schema.mistake(&call(&reference)), None, "{dialect}");
        // The reader has a finding for each value that the schema refuses.
        let text = call(&with).to_string();
        let read = Reader::new().dialect(dialect).read(&text);
        let findings = read.err().unwrap_or_else(|| panic!("{text}"));
        assert!(
            findings
                .to_string()
                .contains("a reference cannot be the name of a member"),
            "{findings}"
        );
    }
    // An equal result for a contradictory schema of the tool.
    let object = json!({"type": "object", "required": ["a"], "additionalProperties": false});
    let (arguments, _) = arguments_in(Dialect::PlanJson, Contract::new("t").arguments(object));
    assert_eq!(arguments["anyOf"][0]["$ref"], "#/$defs/never_written");
}
