//! Calls whose arguments and outputs are validated against the JSON Schemas of their tools.

use plan_runtime::dynamic::{Contract, Reader, Toolbox};
use plan_runtime::journal::Memory;
use plan_runtime::run::{CallContext, Run, RunErrorKind, StepError};
use plan_runtime::{Call, Error, Plan, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
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
        .with_fn(Contract::new("give"), |mut given| async move { Ok(given["x"].take()) })
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
        ("pattern", json!({"pattern": "^a+$"}), json!("aa"), json!("ab"), ""),
        ("pattern", json!({"patternProperties": {"^n": {"pattern": "x"}}}), json!({"n": "x", "m": 1}), json!({"n": "y"}), "/n"),
        ("minLength", json!({"minLength": 2}), json!("ab"), json!("é"), ""),
        ("maxLength", json!({"items": {"maxLength": 2}}), json!(["ab"]), json!(["ab", "abc"]), "/1"),
        ("format", json!({"format": "date"}), json!("2024-02-29"), json!("2023-02-29"), ""),
        ("format", json!({"format": "email"}), json!("a@example.org"), json!("a"), ""),
        ("minimum", json!({"minimum": 1}), json!(1), json!(0), ""),
        ("maximum", json!({"maximum": 1}), json!(1), json!(2), ""),
        ("exclusiveMinimum", json!({"exclusiveMinimum": 1}), json!(1.5), json!(1), ""),
        ("exclusiveMaximum", json!({"exclusiveMaximum": 1}), json!(0), json!(1.0), ""),
        ("multipleOf", json!({"multipleOf": 0.5}), json!(1.5), json!(1.25), ""),
        ("uniqueItems", json!({"uniqueItems": true}), json!([1, "1"]), json!([1, 1.0]), ""),
        ("contains", json!({"contains": {"const": 1}}), json!([2, 1]), json!([2]), ""),
        ("minContains", json!({"contains": {"const": 1}, "minContains": 2}), json!([1, 1]), json!([1]), ""),
        ("maxContains", json!({"contains": {"const": 1}, "maxContains": 1}), json!([1, 2]), json!([1, 1]), ""),
        ("const", json!({"if": {"type": "string"}, "then": {"const": "a"}, "else": {"const": 1}}), json!("a"), json!("b"), ""),
        ("const", json!({"if": {"type": "string"}, "then": {"const": "a"}, "else": {"const": 1}}), json!(1), json!(2), ""),
        ("not", json!({"not": {"const": 1}}), json!(2), json!(1), ""),
        ("oneOf", json!({"oneOf": [{"type": "integer"}, {"minimum": 5}]}), json!(4), json!(6), ""),
        ("required", json!({"dependentSchemas": {"a": {"required": ["b"]}}}), json!({"c": 1}), json!({"a": 1}), ""),
        ("dependentRequired", json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1, "b": 2}), json!({"a": 1}), ""),
        ("propertyNames", json!({"propertyNames": {"maxLength": 1}}), json!({"a": 1}), json!({"ab": 1}), ""),
        ("minProperties", json!({"minProperties": 1}), json!({"a": 1}), json!({}), ""),
        ("maxProperties", json!({"maxProperties": 1}), json!({"a": 1}), json!({"a": 1, "b": 1}), ""),
        ("unevaluatedProperties", json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}), json!({"a": 1}), json!({"a": 1, "b": 1}), ""),
        ("unevaluatedItems", json!({"prefixItems": [{}], "unevaluatedItems": false}), json!([1]), json!([1, 2]), ""),
        ("type", tree.clone(), json!({"leaf": 1, "next": {"leaf": 2}}), json!({"leaf": 1, "next": {"leaf": "2"}}), "/next/leaf"),
        ("unevaluatedProperties", tree, json!({"leaf": 1}), json!({"leaf": 1, "next": {"leaf": 1, "more": 1}}), "/next"),
        ("type", json!({"$ref": "#/$defs/text"}), json!("a"), json!(1), ""),
        ("false", json!({"properties": {"a": false}}), json!({}), json!({"a": 1}), "/a"),
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
        let start = format!("plan `plan` failed: step `taken` (take): the arguments are invalid: at `/x{at}`: ");
        assert!(error.starts_with(&start) || error.contains("argument `x`"), "{error}");
        let end = format!(" (`{keyword}` in the schema of `take`)");
        assert!(error.ends_with(&end) || error.contains("argument `x`"), "{error}");
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
        let place = if at.is_empty() { String::new() } else { format!("at `{at}`: ") };
        let start = format!("plan `plan` failed: step `taken` (take): its output is invalid: {place}");
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
        let [failure] = error.failures() else { panic!("{error}") };
        assert!(matches!(failure.error(), StepError::Output(_)), "{error:?}");
        assert_eq!((failure.error().code(), error.is_permanent()), ("OUTPUT", true));
        failure.error().to_string()
    };
    let messages = [
        output(json!({"type": "object", "properties": {}, "additionalProperties": false}), json!({"a": 1, "b": 2})),
        output(json!({"required": ["a"]}), json!({})),
        output(json!({"anyOf": [{"type": "null"}, {"minLength": 9}]}), json!("hunter2")),
        output(json!({"properties": {"a/b": {"not": {"type": "string"}}}}), json!({"a/b": "hunter2"})),
        output(json!({"items": {"minLength": 9}}), json!(["hunter2"])),
        output(json!({"enum": ["a", "b"]}), json!("hunter2")),
    ];
    assert_eq!(messages, [
        "its output is invalid: the object has members that are not allowed: `a` and `b` (`additionalProperties` in the schema of `take`)",
        "its output is invalid: the member `a` is missing (`required` in the schema of `take`)",
        "its output is invalid: the value fits no alternative (`anyOf` in the schema of `take`)",
        "its output is invalid: at `/a~1b`: the value is forbidden (`not` in the schema of `take`)",
        "its output is invalid: at `/0`: the value is shorter than 9 characters (`minLength` in the schema of `take`)",
        "its output is invalid: the value is not one of \"a\" or \"b\" (`enum` in the schema of `take`)",
    ]);
}

#[test]
fn secrets_hide_the_message() {
    let schema = json!({"properties": {"token": {"type": "string", "writeOnly": true}}, "maxProperties": 1});
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

#[derive(Clone, Serialize, Deserialize, Shape, schemars::JsonSchema)]
struct Bill {
    #[schemars(range(max = 100))]
    cents: u32,
}

/// Writes a bill.
#[tool]
#[derive(schemars::JsonSchema)]
async fn bill(#[schemars(regex(pattern = "^[a-z]+$"))] item: String, cents: u32) -> Result<Bill> {
    assert_eq!(item.to_lowercase(), item, "an invalid argument reached the tool");
    Ok(Bill { cents })
}

/// Writes a bill in a plan.
#[derive(Serialize, Deserialize, Shape, Tool, schemars::JsonSchema)]
#[tool(output = Bill, context)]
struct BillInContext {
    #[schemars(regex(pattern = "^[a-z]+$"))]
    item: String,
    cents: u32,
}

impl Call<()> for BillInContext {
    async fn call(self, app: &()) -> Result<Bill> {
        self.call_in(app, CallContext::default()).await
    }

    async fn call_in(self, _: &(), _: CallContext) -> Result<Bill> {
        Ok(Bill { cents: self.cents })
    }
}

plan! {
    /// Writes two bills.
    #[derive(schemars::JsonSchema)]
    BillInPlan(#[schemars(regex(pattern = "^[a-z]+$"))] item: String, cents: u32) -> Bill {
        step all = Bill { item, cents };
        all
    }
}
