//! Whether a reference may lead to nothing, compared with what the resolver makes of it.

use crate::random::Random;
use plan_runtime::Error;
use plan_runtime::dynamic::{Code, Contract, Contracts, Finding, Reader, Toolbox};
use plan_runtime::plan::{Action, Executable, Plan};
use plan_runtime::resolve::{Scope, StoredValue, resolve};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn coin(random: &mut Random, of: usize) -> bool {
    random.below(of) == 0
}

/// An object with members that are required or not, a list of two elements, or a number; each may be null if its schema says so.
fn schema(random: &mut Random, depth: usize) -> Value {
    let mut schema = match random.below(if depth == 0 { 1 } else { 4 }) {
        0 => json!({"type": "integer"}),
        1 => json!({"type": "array", "items": schema(random, depth - 1)}),
        _ => {
            let names = ["a", "b"];
            let members = names.map(|name| (name.to_owned(), schema(random, depth - 1)));
            let required: Vec<_> = names.into_iter().filter(|_| coin(random, 2)).collect();
            let members: Map<String, Value> = members.into_iter().collect();
            json!({"type": "object", "properties": members, "required": required})
        }
    };
    if coin(random, 3) {
        schema["nullable"] = json!(true);
    }
    schema
}

fn fitting(random: &mut Random, schema: &Value) -> Value {
    if schema["nullable"] == true && coin(random, 3) {
        return Value::Null;
    }
    match schema["type"].as_str().unwrap() {
        "integer" => json!(7),
        "array" => json!([
            fitting(random, &schema["items"]),
            fitting(random, &schema["items"])
        ]),
        _ => {
            let mut members = Map::new();
            for (name, member) in schema["properties"].as_object().unwrap() {
                let required = schema["required"].as_array().unwrap();
                if required.contains(&json!(name)) || coin(random, 2) {
                    members.insert(name.clone(), fitting(random, member));
                }
            }
            Value::Object(members)
        }
    }
}

/// A reference in plan JSON that goes as deep into the schema as a coin says.
fn reference(random: &mut Random, mut schema: &Value) -> Value {
    let optional = |random: &mut Random| coin(random, 4);
    let mut reference = json!({"step": "made", "optional": optional(random)});
    let mut ends = reference["optional"] == true;
    let mut path = Vec::new();
    while schema["type"] != "integer" && !coin(random, 5) {
        let mut part = json!({"optional": optional(random)});
        let token = match schema["type"].as_str() {
            Some("object") => {
                let name = ["a", "b"][random.below(2)];
                schema = &schema["properties"][name];
                Some(name)
            }
            _ => {
                schema = &schema["items"];
                [None, Some("0"), Some("1")][random.below(3)]
            }
        };
        match token {
            None => part["each"] = json!("element"),
            Some(token) => {
                part["token"] = json!(token);
                part["absent"] = match random.below(6) {
                    0 => json!("null"),
                    1 => json!({"default": fitting(random, schema)}),
                    2 => json!("end"),
                    _ => Value::Null,
                };
            }
        }
        ends |= part["optional"] == true || part["absent"] == "end";
        path.push(part);
    }
    reference["path"] = path.into();
    if ends && coin(random, 2) {
        reference["else"] = [json!(null), json!(1)][random.below(2)].clone();
    }
    json!({"reference": reference})
}

/// What is found in a plan of a step that gives what the schema says, and one whose required argument the reference is.
fn read(schema: &Value, reference: &Value) -> (Plan, Vec<Finding>) {
    let kinds = ["integer", "array", "object"];
    let takes = json!({"type": "object", "properties": {"x": {"type": kinds}}, "required": ["x"]});
    let tools: Contracts = [
        Contract::new("make").output(schema.clone()),
        Contract::new("take").arguments(takes),
    ]
    .into_iter()
    .collect();
    let text = json!({"name": "p", "steps": [
        {"id": "made", "tool": {"name": "make"}},
        {"id": "taken", "tool": {"name": "take"}, "arguments": {"object": {"x": reference}}},
    ]})
    .to_string();
    let plan: Plan = serde_json::from_str(&text).unwrap();
    assert_eq!(Executable::new(&plan).mistake(), None);
    match Reader::new().tools(&tools).read(&text) {
        Ok(document) => (plan, document.warnings().to_vec()),
        Err(findings) => (plan, findings.to_vec()),
    }
}

/// What the argument is, if it is anything.
fn given(plan: &Plan, output: Value) -> Option<Value> {
    let outputs = [Some(StoredValue::json(output)), None];
    let scope = Scope::new(plan, &[], &outputs);
    let action: &Action = plan.steps[1].action().unwrap();
    let arguments: Result<Value, _> = resolve(&action.args, &scope);
    arguments.ok()?.get("x").filter(|x| !x.is_null()).cloned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn what_may_be_absent_is_what_the_resolver_may_not_find(seed in any::<u64>()) {
        let mut random = Random(seed);
        let schema = schema(&mut random, 4);
        let reference = reference(&mut random, &schema);
        let (plan, findings) = read(&schema, &reference);
        let found: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        prop_assert!(found.is_empty() || found == [Code::MaybeAbsent], "{:?}", findings);
        let mut outputs = (0..300).map(|_| fitting(&mut random, &schema));
        let absent = outputs.find(|output| given(&plan, output.clone()).is_none());
        match findings.first() {
            None => prop_assert_eq!(absent, None, "{:#} {:#}", schema, reference),
            // Somebody asked, although the schema says that the value is there.
            Some(finding) if finding.message.ends_with("the reference has a `?`") => {}
            Some(finding) => prop_assert!(absent.is_some(), "{:#} {:#} {}", schema, reference, finding),
        }
    }
}

/// What ends a reference is replaced by its `else`, and nothing else is.
#[test]
fn an_else_replaces_only_what_has_ended() {
    let schema = json!({"type": "object", "required": ["sure", "null"], "properties": {
        "sure": {"type": "integer"},
        "null": {"type": ["integer", "null"]},
        "missing": {"type": "integer"},
    }});
    let cases = [
        (json!([{"token": "missing", "absent": "end"}]), None),
        (json!([{"token": "null", "optional": true}]), None),
        (
            json!([{"token": "null", "absent": "end"}]),
            Some("`null` may be null"),
        ),
        (
            json!([{"token": "missing", "optional": true}]),
            Some("`missing` may be missing"),
        ),
        (
            json!([{"token": "missing", "absent": "null", "optional": true}]),
            None,
        ),
    ];
    for (path, absent) in cases {
        let reference = json!({"reference": {"step": "made", "path": path, "else": 1}});
        let (_, findings) = read(&schema, &reference);
        let message = findings.first().map(|finding| &*finding.message);
        assert_eq!(message.is_some(), absent.is_some(), "{path} {findings:?}");
        assert!(
            message
                .unwrap_or_default()
                .ends_with(absent.unwrap_or_default()),
            "{path} {findings:?}"
        );
    }
}

/// A step of `#[optional(each)]` in plan JSON, and one that takes the value at this pointer in its output.
fn each(body: &Value, taken: Option<&str>) -> String {
    let list = json!({"reference": {"input": "xs", "pointer": ""}});
    let mut steps = vec![json!({"id": "made", "policy": {"optional": "each"},
        "for": {"pattern": "x", "list": list, "body": body}})];
    if let Some(pointer) = taken {
        let part = json!({"reference": {"step": "made", "pointer": pointer}});
        steps.push(
            json!({"id": "taken", "tool": {"name": "take"}, "arguments": {"object": {"x": part}}}),
        );
    }
    let output = json!({"value": {"reference": {"step": "made", "pointer": ""}}});
    json!({"name": "p", "inputs": [{"name": "xs"}], "steps": steps, "output": output}).to_string()
}

/// Null replaces an element whose call or condition fails, of nested ones the innermost. A list that fails ends the step.
#[test]
fn what_null_replaces_is_what_the_check_says() {
    let takes = json!({"type": "object", "properties": {"x": {"type": ["integer", "array"]}}, "required": ["x"]});
    let make = Contract::new("make").output(json!({"type": "integer"}));
    let toolbox = Toolbox::<()>::new()
        .with_fn(make, |_| async { Err(Error::permanent("no")) })
        .with_fn(Contract::new("take").arguments(takes), |_| async {
            Ok(Value::Null)
        });
    let call = json!({"tool": {"name": "make"}});
    let inner = json!({"for": {"pattern": "y", "list": {"reference": {"local": 0, "pointer": "/list"}}, "body": call}});
    let tests = |then: &Value| {
        let condition = json!({"reference": {"local": 0, "pointer": "/ok"}});
        json!({"if": [{"condition": condition, "then": then}, {"then": then}]})
    };
    let full = json!({"ok": true, "list": [1]});
    let no_list = json!({"ok": true});
    let no_condition = json!({"list": [1]});
    let cases = [
        (&call, &full, Some(json!([null])), &["/0"][..]),
        (&tests(&call), &full, Some(json!([null])), &["/0"]),
        (&tests(&call), &no_condition, Some(json!([null])), &["/0"]),
        (&inner, &full, Some(json!([[null]])), &["/0/0"]),
        (&inner, &no_list, None, &["/0/0"]),
        (
            &tests(&inner),
            &full,
            Some(json!([[null]])),
            &["/0", "/0/0"],
        ),
        (
            &tests(&inner),
            &no_condition,
            Some(json!([null])),
            &["/0", "/0/0"],
        ),
        (&tests(&inner), &no_list, None, &["/0", "/0/0"]),
    ];
    for (body, element, output, absent) in cases {
        let text = each(body, None);
        let document = toolbox.read(&text).unwrap();
        let run = toolbox.run(document.plan(), json!({"xs": [element]}), &());
        assert_eq!(smol::block_on(run).ok(), output, "{body} {element}");
        for pointer in ["/0", "/0/0"] {
            let found = match toolbox.read(&each(body, Some(pointer))) {
                Ok(_) => None,
                Err(findings) => Some(findings[0].code),
            };
            // An integer has no elements.
            let is_there = pointer == "/0" || absent.contains(&"/0/0");
            let expected = match (is_there, absent.contains(&pointer)) {
                (false, _) => Some(Code::ListOrElement),
                (true, may_be_absent) => may_be_absent.then_some(Code::MaybeAbsent),
            };
            assert_eq!(found, expected, "{body} {pointer}");
        }
    }
}
