//! Calls whose arguments and outputs are validated against the JSON Schemas of their tools.

use plan_runtime::dynamic::{Contract, Reader, Toolbox};
use plan_runtime::journal::Memory;
use plan_runtime::run::{CallContext, Run, RunErrorKind, StepError};
use plan_runtime::{Plan, Result, Shape, plan, tool};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counted calls of the tool `take`.
#[derive(Clone, Default)]
struct Calls(Arc<AtomicUsize>);

impl Calls {
    fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}

/// A toolbox with the tool `give`, which returns its argument, and the tool `take`, which has these schemas and returns its argument.
fn toolbox(arguments: Option<Value>, output: Option<Value>, calls: &Calls) -> Result<Toolbox<()>> {
    let mut take = Contract::new("take");
    (take.arguments, take.output) = (arguments, output);
    let calls = calls.clone();
    Toolbox::new()
        .with_fn(Contract::new("give"), |mut given| async move {
            Ok(given["x"].take())
        })
        .with_fn(take, move |mut given| {
            calls.0.fetch_add(1, Relaxed);
            async move { Ok(given["x"].take()) }
        })
        .with_validation()
}

/// The schema of an object with the member `x`.
fn of_x(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}})
}

/// Reads steps, without a check against schemas.
fn read(steps: &Value) -> Plan {
    let text = json!({"steps": steps, "output_steps": ["taken"]}).to_string();
    Reader::new().read(&text).unwrap().into_plan()
}

/// A plan in which `take` gets the output of an earlier step.
fn two_steps(value: &Value) -> Plan {
    read(&json!([
        {"id": "given", "tool": "give", "arguments": {"x": value}},
        {"id": "taken", "tool": "take", "arguments": {"x": "$ref:given"}},
    ]))
}

fn result(run: Run<'_, (), Value>) -> Result<Value, String> {
    smol::block_on(run).map_err(|error| error.to_string())
}

/// Keywords that the static check does not know: the keyword, its schema, a value that fits, a value that does not fit, and the position of the
/// violation.
fn keywords() -> Vec<(String, Value, Value, Value, String)> {
    let choice = json!({"if": {"type": "string"}, "then": {"const": "a"}, "else": {"const": 1}});
    let tree = json!({
        "$dynamicAnchor": "node", "type": "object", "required": ["leaf"],
        "properties": {"leaf": {"type": "integer"}, "next": {"$dynamicRef": "#node"}},
        "unevaluatedProperties": false,
    });
    let inner = json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false});
    let rows = json!([
        ["pattern", {"pattern": "^a+$"}, "aa", "ab", ""],
        ["pattern", {"patternProperties": {"^n": {"pattern": "x"}}}, {"n": "x", "m": 1}, {"n": "y"}, "/n"],
        ["minLength", {"minLength": 2}, "ab", "é", ""],
        ["maxLength", {"items": {"maxLength": 2}}, ["ab"], ["ab", "abc"], "/1"],
        ["format", {"format": "date"}, "2024-02-29", "2023-02-29", ""],
        ["format", {"format": "email"}, "a@example.org", "a", ""],
        ["minimum", {"minimum": 1}, 1, 0, ""],
        ["maximum", {"maximum": 1}, 1, 2, ""],
        ["exclusiveMinimum", {"exclusiveMinimum": 1}, 1.5, 1, ""],
        ["exclusiveMaximum", {"exclusiveMaximum": 1}, 0, 1.0, ""],
        ["multipleOf", {"multipleOf": 0.5}, 1.5, 1.25, ""],
        ["uniqueItems", {"uniqueItems": true}, [1, "1"], [1, 1.0], ""],
        ["contains", {"contains": {"const": 1}}, [2, 1], [2], ""],
        ["minContains", {"contains": {"const": 1}, "minContains": 2}, [1, 1], [1], ""],
        ["maxContains", {"contains": {"const": 1}, "maxContains": 1}, [1, 2], [1, 1], ""],
        ["const", choice, "a", "b", ""],
        ["const", choice, 1, 2, ""],
        ["not", {"not": {"const": 1}}, 2, 1, ""],
        ["oneOf", {"oneOf": [{"type": "integer"}, {"minimum": 5}]}, 4, 6, ""],
        ["required", {"dependentSchemas": {"a": {"required": ["b"]}}}, {"c": 1}, {"a": 1}, ""],
        ["dependentRequired", {"dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}, ""],
        ["propertyNames", {"propertyNames": {"maxLength": 1}}, {"a": 1}, {"ab": 1}, ""],
        ["minProperties", {"minProperties": 1}, {"a": 1}, {}, ""],
        ["maxProperties", {"maxProperties": 1}, {"a": 1}, {"a": 1, "b": 1}, ""],
        ["unevaluatedProperties", inner, {"a": 1}, {"a": 1, "b": 1}, ""],
        ["unevaluatedItems", {"prefixItems": [{}], "unevaluatedItems": false}, [1], [1, 2], ""],
        ["type", tree, {"leaf": 1, "next": {"leaf": 2}}, {"leaf": 1, "next": {"leaf": "2"}}, "/next/leaf"],
        ["unevaluatedProperties", tree, {"leaf": 1}, {"leaf": 1, "next": {"leaf": 1, "more": 1}}, "/next"],
        ["type", {"$ref": "#/$defs/text"}, "a", 1, ""],
        ["false", {"properties": {"a": false}}, {}, {"a": 1}, "/a"],
    ]);
    serde_json::from_value(rows).unwrap()
}

#[test]
fn every_keyword_is_validated_in_resolved_arguments() {
    for (keyword, schema, good, bad, at) in keywords() {
        let calls = Calls::default();
        let mut of = of_x(schema.clone());
        // A `$dynamicRef` or a `$ref` leads into the whole schema of the arguments.
        of["$defs"] = json!({"text": {"type": "string"}});
        let toolbox = toolbox(Some(of), None, &calls).unwrap();
        let run = |value: &Value| result(toolbox.run(&two_steps(value), (), &()));
        assert_eq!(run(&good), Ok(json!({"taken": good})), "{schema}");
        assert_eq!(calls.count(), 1);
        let error = run(&bad).unwrap_err();
        assert_eq!(calls.count(), 1, "{error}");
        let start = format!(
            "plan `plan` failed: step `taken` (take): the arguments are invalid: at `/x{at}`: "
        );
        assert!(
            error.starts_with(&start) || error.contains("argument `x"),
            "{error}"
        );
        let end = format!(" (`{keyword}` in the schema of `take`)");
        assert!(
            error.ends_with(&end) || error.contains("argument `x"),
            "{error}"
        );
    }
}

#[test]
fn every_keyword_is_validated_in_outputs() {
    for (keyword, mut schema, good, bad, at) in keywords() {
        let calls = Calls::default();
        schema["$defs"] = json!({"text": {"type": "string"}});
        let toolbox = toolbox(None, Some(schema.clone()), &calls).unwrap();
        let run = |value: &Value| result(toolbox.run(&two_steps(value), (), &()));
        assert_eq!(run(&good), Ok(json!({"taken": good})), "{schema}");
        let error = run(&bad).unwrap_err();
        let place = if at.is_empty() {
            String::new()
        } else {
            format!("at `{at}`: ")
        };
        let start =
            format!("plan `plan` failed: step `taken` (take): its output is invalid: {place}");
        assert!(error.starts_with(&start), "{error}");
        let end = format!(" (`{keyword}` in the schema of `take`)");
        assert!(error.ends_with(&end), "{error}");
    }
}

#[test]
fn messages_contain_the_position_and_no_value() {
    let calls = Calls::default();
    let output = |schema: Value, value: Value| {
        let toolbox = toolbox(None, Some(schema), &calls).unwrap();
        let error = smol::block_on(toolbox.run(&two_steps(&value), (), &())).unwrap_err();
        let [failure] = error.failures() else {
            panic!("{error}")
        };
        assert!(matches!(failure.error(), StepError::Output(_)), "{error:?}");
        assert_eq!(
            (failure.error().code(), error.is_permanent()),
            ("OUTPUT", true)
        );
        failure.error().to_string()
    };
    let messages = [
        output(
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            json!({"a": 1, "b": 2}),
        ),
        output(json!({"required": ["a"]}), json!({})),
        output(
            json!({"anyOf": [{"type": "null"}, {"minLength": 9}]}),
            json!("hunter2"),
        ),
        output(
            json!({"properties": {"a/b": {"not": {"type": "string"}}}}),
            json!({"a/b": "hunter2"}),
        ),
        output(json!({"items": {"minLength": 9}}), json!(["hunter2"])),
        output(json!({"enum": ["a", "b"]}), json!("hunter2")),
    ];
    assert_eq!(
        messages,
        [
            "its output is invalid: the object has members that are not allowed: `a` (`additionalProperties` in the schema of `take`)",
            "its output is invalid: the member `a` is missing (`required` in the schema of `take`)",
            "its output is invalid: the value fits no alternative (`anyOf` in the schema of `take`)",
            "its output is invalid: at `/a~1b`: the value is forbidden (`not` in the schema of `take`)",
            "its output is invalid: at `/0`: the value is shorter than 9 characters (`minLength` in the schema of `take`)",
            "its output is invalid: the value is not one of \"a\" or \"b\" (`enum` in the schema of `take`)",
        ]
    );
}

#[test]
fn secrets_hide_the_message() {
    let schema =
        json!({"properties": {"token": {"type": "string", "writeOnly": true}}, "maxProperties": 1});
    let toolbox = toolbox(None, Some(schema), &Calls::default()).unwrap();
    let plan = two_steps(&json!({"token": "hunter2", "swordfish": 1}));
    let error = result(toolbox.run(&plan, (), &())).unwrap_err();
    assert!(error.contains("the values are hidden"), "{error}");
    let schema = json!({"properties": {"token": {"pattern": "^a", "format": "password"}}, "additionalProperties": false});
    let toolbox = self::toolbox(Some(of_x(schema)), None, &Calls::default()).unwrap();
    for value in [json!({"token": "hunter2"}), json!({"swordfish": 1})] {
        let error = result(toolbox.run(&two_steps(&value), (), &())).unwrap_err();
        assert!(error.contains("the values are hidden"), "{error}");
    }
}

#[derive(Clone, Serialize, Deserialize, Shape, JsonSchema)]
struct Bill {
    #[schemars(range(max = 100))]
    cents: u32,
}

#[derive(Clone, Serialize, Deserialize, Shape, JsonSchema)]
#[serde(transparent)]
struct ItemName(#[schemars(regex(pattern = "^[a-z]+$"))] String);

/// Writes a bill.
#[tool]
#[derive(JsonSchema)]
async fn write_bill(item: ItemName, cents: u32) -> Result<Bill> {
    assert!(
        item.0.chars().all(|c| c.is_ascii_lowercase()),
        "an invalid argument reached the tool"
    );
    Ok(Bill { cents })
}

/// Writes a bill, with its context.
#[tool]
#[derive(JsonSchema)]
async fn bill_in_context(
    #[context] context: CallContext,
    item: ItemName,
    cents: u32,
) -> Result<Bill> {
    drop((context, item));
    Ok(Bill { cents })
}

plan! {
    /// Writes a bill in a plan.
    BillInPlan(item: ItemName, cents: u32) -> Bill {
        step all = WriteBill { item, cents };
        all
    }
}

impl JsonSchema for BillInPlan {
    fn schema_name() -> Cow<'static, str> {
        "BillInPlan".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "object", "properties": {"item": {"minLength": 1}, "cents": {}}})
    }
}

/// A toolbox with Rust tools.
fn bills() -> Toolbox<()> {
    Toolbox::new()
        .with_fn(Contract::new("give"), |mut given| async move {
            Ok(given["x"].take())
        })
        .with_schema::<WriteBill>()
        .with_schema::<BillInContext>()
        .with_validation()
        .unwrap()
}

#[test]
fn rust_tools_are_validated_in_each_element_of_a_for() {
    let toolbox = bills();
    for tool in ["write_bill", "bill_in_context"] {
        let run = |items: Value| {
            let plan = read(&json!([
                {"id": "given", "tool": "give", "arguments": {"x": items}},
                {"id": "taken", "for": {"pattern": "item", "list": "$ref:given", "body":
                    {"tool": tool, "arguments": {"item": "$ref:item.name", "cents": "$ref:item.cents"}}}},
            ]));
            result(toolbox.run(&plan, (), &()))
        };
        let item = |name: &str, cents: u32| json!({"name": name, "cents": cents});
        assert_eq!(
            run(json!([item("a", 1), item("b", 100)])),
            Ok(json!({"taken": [{"cents": 1}, {"cents": 100}]}))
        );
        for bad in [
            json!([item("a", 1), item("b", 2), item("C", 3)]),
            json!([item("C", 3), item("b", 101)]),
        ] {
            let error = run(bad).unwrap_err();
            assert!(
                error.contains("the arguments are invalid: at `/item`: the value does not match"),
                "{error}"
            );
            assert!(error.contains("(`pattern` in the schema of `"), "{error}");
        }
        let error = run(json!([item("a", 1), item("b", 101)])).unwrap_err();
        let end = format!(
            "step `taken[1]` ({tool}): its output is invalid: at `/cents`: the value is greater than the maximum of 100 (`maximum` in the schema of `{tool}`)"
        );
        assert!(error.ends_with(&end), "{error}");
    }
}

#[test]
fn wrong_types_have_the_message_of_a_run_without_validation() {
    let toolbox = || {
        Toolbox::<()>::new()
            .with_fn(Contract::new("give"), |mut given| async move {
                Ok(given["x"].take())
            })
            .with::<WriteBill>()
    };
    let plan = read(&json!([
        {"id": "given", "tool": "give", "arguments": {"x": {"cents": "five"}}},
        {"id": "taken", "tool": "write_bill", "arguments": {"item": "a", "cents": "$ref:given.cents"}},
    ]));
    let error = result(toolbox().run(&plan, (), &())).unwrap_err();
    assert!(
        error.contains("argument `cents` takes u32, but `$ref:given.cents`"),
        "{error}"
    );
    let validated = toolbox().with_validation().unwrap();
    assert_eq!(result(validated.run(&plan, (), &())), Err(error));
}

#[test]
fn a_called_plan_is_validated() {
    let toolbox = Toolbox::<()>::new()
        .with_schema::<BillInPlan>()
        .with_validation()
        .unwrap();
    let call = |item: &str, cents: u32| {
        let call = toolbox.call("bill_in_plan", json!({"item": item, "cents": cents}), &());
        smol::block_on(call).map_err(|error| error.to_string())
    };
    assert_eq!(call("a", 5), Ok(json!({"cents": 5})));
    let error = call("", 5).unwrap_err();
    // The check of the plan of the call finds the error before the validation.
    assert!(
        error.contains("argument `item` is the string \"\", but must have at least 1 character"),
        "{error}"
    );
    let error = call("a", 101).unwrap_err();
    assert!(
        error.contains(
            "its output is invalid: at `/cents`: the value is greater than the maximum of 100"
        ),
        "{error}"
    );
}

#[test]
fn an_invalid_output_fails_the_call_for_good() {
    let schema = json!({"maximum": 1});
    let calls = Calls::default();
    let toolbox = toolbox(None, Some(schema), &calls).unwrap();
    let run = |policy: Value| {
        let plan = read(&json!([
            {"id": "before", "tool": "give", "arguments": {"x": 1}},
            {"id": "taken", "tool": "take", "arguments": {"x": 2}, "after": ["before"], "policy": policy},
            {"id": "next", "tool": "give", "arguments": {"x": "$ref:taken"}},
            {"id": "unbefore", "tool": "give", "arguments": {"x": "undone"}, "undo": "before"},
            {"id": "untaken", "tool": "give", "arguments": {"x": "undone"}, "undo": "taken"},
        ]));
        smol::block_on(toolbox.run(&plan, (), &()))
    };
    let error = run(json!({"attempts": 3, "backoff": "0s"})).unwrap_err();
    assert_eq!(calls.count(), 1);
    assert_eq!(error.failures()[0].attempts(), 1);
    assert_eq!(error.undone().collect::<Vec<_>>(), ["before"]);
    assert_eq!(error.failures()[0].blocked().collect::<Vec<_>>(), ["next"]);
    assert_eq!(
        run(json!({"optional": "whole"})).unwrap(),
        json!({"taken": null})
    );
    assert_eq!(calls.count(), 2);
}

#[test]
fn a_resumed_run_validates_recorded_outputs() {
    let journal = Memory::new();
    let plan = two_steps(&json!("text"));
    let make = |schema: Value, wait: bool| {
        Toolbox::<()>::new()
            .with_fn(
                Contract::new("give").output(schema),
                |mut given| async move { Ok(given["x"].take()) },
            )
            .with_fn(Contract::new("take"), move |mut given| async move {
                if wait {
                    std::future::pending::<()>().await;
                }
                Ok(given["x"].take())
            })
            .with_validation()
            .unwrap()
    };
    let first = make(json!({"maxLength": 4}), true);
    smol::block_on(async {
        let mut run = Box::pin(first.run(&plan, (), &()).durable(&journal, "r"));
        for _ in 0..100 {
            assert!(smol::future::poll_once(&mut run).await.is_none());
        }
    });
    let stricter = make(json!({"maxLength": 3}), false);
    let error = smol::block_on(stricter.run(&plan, (), &()).durable(&journal, "r")).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Journal);
    let why = "the recorded output of step `given`";
    assert!(
        error.to_string().contains(why)
            && error
                .to_string()
                .contains("(`maxLength` in the schema of `give`)"),
        "{error}"
    );
    let same = make(json!({"maxLength": 4}), false);
    assert_eq!(
        result(same.run(&plan, (), &()).durable(&journal, "r")),
        Ok(json!({"taken": "text"}))
    );
}

#[test]
fn arguments_are_checked_with_the_compiled_schema() {
    let toolbox = toolbox(
        Some(of_x(json!({"pattern": "^a", "type": "string"}))),
        None,
        &Calls::default(),
    )
    .unwrap();
    let check = |x: Value| toolbox.check_arguments("take", &json!({"x": x}));
    assert_eq!(check(json!("a")), Some(vec![]));
    let message = "the arguments are invalid: at `/x`: the value does not match \"^a\" (`pattern` in the schema of `take`)";
    assert_eq!(check(json!("b")), Some(vec![message.to_owned()]));
    // The check that knows a part of JSON Schema has better messages.
    assert_eq!(
        check(json!(1)),
        Some(vec![
            "argument `x` is the number 1, but must be a string".to_owned()
        ])
    );
}

#[test]
#[should_panic(
    expected = "`with_validation` has compiled the schemas already: add the tool `late` before"
)]
fn no_tool_is_added_after_the_schemas_are_compiled() {
    let toolbox = Toolbox::<()>::new().with_validation().unwrap();
    let _ = toolbox.with_fn(Contract::new("late"), |given| async move { Ok(given) });
}

#[test]
fn a_toolbox_without_validation_validates_nothing_more() {
    let take = Contract::new("take")
        .arguments(of_x(json!({"pattern": "^a"})))
        .output(json!({"pattern": "("}));
    let toolbox =
        Toolbox::<()>::new().with_fn(take, |mut given| async move { Ok(given["x"].take()) });
    assert_eq!(
        smol::block_on(toolbox.call("take", json!({"x": "b"}), &())).unwrap(),
        "b"
    );
}
