//! Calls whose arguments and outputs are validated against the JSON Schemas of their tools.

use plan_runtime::dynamic::{Contract, Reader, Toolbox};
use plan_runtime::journal::Memory;
use plan_runtime::run::{CallContext, Run, RunErrorKind, StepError};
use plan_runtime::{Plan, Result, Shape, plan, tool};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

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
fn keywords() -> Vec<(&'static str, Value, Value, Value, &'static str)> {
    let tree = json!({
        "$dynamicAnchor": "node", "type": "object", "required": ["leaf"],
        "properties": {"leaf": {"type": "integer"}, "next": {"$dynamicRef": "#node"}},
        "unevaluatedProperties": false,
    });
    vec![
        (
            "pattern",
            json!({"pattern": "^a+$"}),
            json!("aa"),
            json!("ab"),
            "",
        ),
        (
            "pattern",
            json!({"patternProperties": {"^n": {"pattern": "x"}}}),
            json!({"n": "x", "m": 1}),
            json!({"n": "y"}),
            "/n",
        ),
        (
            "minLength",
            json!({"minLength": 2}),
            json!("ab"),
            json!("é"),
            "",
        ),
        (
            "maxLength",
            json!({"items": {"maxLength": 2}}),
            json!(["ab"]),
            json!(["ab", "abc"]),
            "/1",
        ),
        (
            "format",
            json!({"format": "date"}),
            json!("2024-02-29"),
            json!("2023-02-29"),
            "",
        ),
        (
            "format",
            json!({"format": "email"}),
            json!("a@example.org"),
            json!("a"),
            "",
        ),
        ("minimum", json!({"minimum": 1}), json!(1), json!(0), ""),
        ("maximum", json!({"maximum": 1}), json!(1), json!(2), ""),
        (
            "exclusiveMinimum",
            json!({"exclusiveMinimum": 1}),
            json!(1.5),
            json!(1),
            "",
        ),
        (
            "exclusiveMaximum",
            json!({"exclusiveMaximum": 1}),
            json!(0),
            json!(1.0),
            "",
        ),
        (
            "multipleOf",
            json!({"multipleOf": 0.5}),
            json!(1.5),
            json!(1.25),
            "",
        ),
        (
            "uniqueItems",
            json!({"uniqueItems": true}),
            json!([1, "1"]),
            json!([1, 1.0]),
            "",
        ),
        (
            "contains",
            json!({"contains": {"const": 1}}),
            json!([2, 1]),
            json!([2]),
            "",
        ),
        (
            "minContains",
            json!({"contains": {"const": 1}, "minContains": 2}),
            json!([1, 1]),
            json!([1]),
            "",
        ),
        (
            "maxContains",
            json!({"contains": {"const": 1}, "maxContains": 1}),
            json!([1, 2]),
            json!([1, 1]),
            "",
        ),
        (
            "const",
            json!({"if": {"type": "string"}, "then": {"const": "a"}, "else": {"const": 1}}),
            json!("a"),
            json!("b"),
            "",
        ),
        (
            "const",
            json!({"if": {"type": "string"}, "then": {"const": "a"}, "else": {"const": 1}}),
            json!(1),
            json!(2),
            "",
        ),
        ("not", json!({"not": {"const": 1}}), json!(2), json!(1), ""),
        (
            "oneOf",
            json!({"oneOf": [{"type": "integer"}, {"minimum": 5}]}),
            json!(4),
            json!(6),
            "",
        ),
        (
            "required",
            json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
            json!({"c": 1}),
            json!({"a": 1}),
            "",
        ),
        (
            "dependentRequired",
            json!({"dependentRequired": {"a": ["b"]}}),
            json!({"a": 1, "b": 2}),
            json!({"a": 1}),
            "",
        ),
        (
            "propertyNames",
            json!({"propertyNames": {"maxLength": 1}}),
            json!({"a": 1}),
            json!({"ab": 1}),
            "",
        ),
        (
            "minProperties",
            json!({"minProperties": 1}),
            json!({"a": 1}),
            json!({}),
            "",
        ),
        (
            "maxProperties",
            json!({"maxProperties": 1}),
            json!({"a": 1}),
            json!({"a": 1, "b": 1}),
            "",
        ),
        (
            "unevaluatedProperties",
            json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
            json!({"a": 1}),
            json!({"a": 1, "b": 1}),
            "",
        ),
        (
            "unevaluatedItems",
            json!({"prefixItems": [{}], "unevaluatedItems": false}),
            json!([1]),
            json!([1, 2]),
            "",
        ),
        (
            "type",
            tree.clone(),
            json!({"leaf": 1, "next": {"leaf": 2}}),
            json!({"leaf": 1, "next": {"leaf": "2"}}),
            "/next/leaf",
        ),
        (
            "unevaluatedProperties",
            tree,
            json!({"leaf": 1}),
            json!({"leaf": 1, "next": {"leaf": 1, "more": 1}}),
            "/next",
        ),
        (
            "type",
            json!({"$ref": "#/$defs/text"}),
            json!("a"),
            json!(1),
            "",
        ),
        (
            "false",
            json!({"properties": {"a": false}}),
            json!({}),
            json!({"a": 1}),
            "/a",
        ),
    ]
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
    assert!(error.contains("at `/item`: the value is shorter than 1 character (`minLength` in the schema of `bill_in_plan`)"), "{error}");
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
fn invalid_schemas_are_errors_of_the_toolbox() {
    let nested = (0..200).fold(json!({}), |schema, _| json!({"not": schema}));
    let schemas = [
        (
            json!({"type": "strin"}),
            "is invalid: at `/type`: the value fits no alternative (`anyOf`)",
        ),
        (json!([]), "is invalid: "),
        (
            json!({"minLength": -1}),
            "is invalid: at `/minLength`: the value is less than the minimum of 0 (`minimum`)",
        ),
        (
            json!({"pattern": "("}),
            "has a pattern at `/pattern` that is too large, or that a linear search cannot match",
        ),
        (json!({"pattern": "^(?=a)b"}), "has a pattern at `/pattern`"),
        (json!({"pattern": "(a)\\1"}), "has a pattern at `/pattern`"),
        (
            json!({"pattern": "^([ab]*a[ab]{9000})$"}),
            "has a pattern at `/pattern`",
        ),
        (
            json!({"$ref": "http://127.0.0.1:9/x.json"}),
            "refers to another document, `http://127.0.0.1:9/x.json`",
        ),
        (
            json!({"$ref": "file:///etc/passwd"}),
            "refers to another document, `file:///etc/passwd`",
        ),
        (
            json!({"$ref": "#/$defs/none"}),
            "refers to `#/$defs/none`, which does not exist",
        ),
        (
            json!({"$schema": "http://127.0.0.1:9/x.json"}),
            "is invalid: Unknown meta-schema",
        ),
        (
            json!({"$defs": {"a": {"$id": "b.json"}}}),
            "contains another document, `b.json`",
        ),
        (
            json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}),
            "has several parts with the name `x`",
        ),
        (nested, "is too large, or has too many nested references"),
    ];
    for (schema, expected) in schemas {
        let error = toolbox(None, Some(schema.clone()), &Calls::default())
            .unwrap_err()
            .to_string();
        let start = format!("the schema of the output of `take` {expected}");
        assert!(error.starts_with(&start), "{schema}: {error}");
    }
    let bad = json!({"minLength": -1});
    let error = toolbox(Some(bad.clone()), Some(bad), &Calls::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the arguments of `take`")
            && error.contains("; the schema of the output of `take`"),
        "{error}"
    );
}

/// Validates a value as the output of a tool, in a thread with a small stack and within some seconds. Returns the error.
fn bounded(schema: Value, value: Value) -> Result<(), String> {
    let validate = move || {
        let start = Instant::now();
        let take = Contract::new("take").output(schema);
        let toolbox = Toolbox::<()>::new()
            .with_fn(take, move |_| std::future::ready(Ok(value.clone())))
            .with_validation();
        let result = toolbox
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
