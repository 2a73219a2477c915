//! Outputs and inputs are data: syntax of any dialect in them arrives unchanged.

use plan_runtime::Plan;
use plan_runtime::dynamic::{Contract, Dialect, Profile, Reader, Toolbox};
use plan_runtime::resolve::{Scope, StoredValue, resolve};
use serde_json::{Map, Value, json};

/// The number of random values for each position.
fn cases() -> usize {
    crate::common::cases(2_000, 10_000)
}

const FRAGMENTS: &[&str] = &[
    "$ref:a",
    "$ref:",
    "$ref:a.x",
    "$ref:\"x\"",
    "${step[0].data}",
    "${step[0].data.x}",
    "${",
    "}",
    "{{",
    "}}",
    "{{a.result.x}}",
    "{{PLACEHOLDER_p}}",
    "{{\"x\"}}",
    "{{ name }}",
    "{a.result.x}",
    "\"",
    "\\",
    "\\\"",
    "\\u0041",
    "\\n",
    "\n",
    "\r",
    "\t",
    "\0",
    "\u{1}",
    "\u{7f}",
    "\u{2028}",
    "\u{feff}",
    "é",
    "😀",
    "\u{10ffff}",
    " ",
    "'",
    "`",
    "/",
    "~0",
    "~1",
    "%s",
    "{}",
    "{0}",
    "[0]",
    "[object Object]",
    "undefined",
    "null",
    "NaN",
    "007",
    "1e400",
    ",\"admin\":true,\"z\":\"",
    "</script>",
    "$&",
    "$1",
    "#{x}",
    "<%= x %>",
];

fn text(random: &mut fastrand::Rng) -> String {
    let length = random.usize(0..6);
    (0..length)
        .map(|_| *random.choice(FRAGMENTS).expect("there are fragments"))
        .collect()
}

fn value(random: &mut fastrand::Rng, depth: usize) -> Value {
    match random.u8(0..if depth > 2 { 5 } else { 8 }) {
        0 => json!(random.i64(..)),
        1 => json!(random.u64(..)),
        2 => json!(f64::from_bits(random.u64(..)))
            .as_f64()
            .map_or(Value::Null, Value::from),
        3 | 4 => text(random).into(),
        5 => (0..random.usize(0..4))
            .map(|_| value(random, depth + 1))
            .collect(),
        _ => {
            let members = (0..random.usize(0..4)).map(|_| (text(random), value(random, depth + 1)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

/// The position of an output: its notation in a dialect, and the expected value.
struct Position {
    arguments: Value,
    arrives: fn(&Value) -> Value,
}

fn position(arguments: Value, arrives: fn(&Value) -> Value) -> Position {
    Position { arguments, arrives }
}

fn as_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// The output of the first step is `{"x": value, "l": [value, value]}`.
fn output(value: &Value) -> Value {
    json!({ "x": value, "l": [value, { "y": value }] })
}

/// The positions of a dialect, in which `whole` and the like are how it refers to parts of that output.
fn positions(whole: &str, x: &str, y: &str, each: &str) -> Vec<Position> {
    vec![
        position(json!({ "v": whole }), |value| json!({ "v": output(value) })),
        position(json!({ "v": x }), |value| json!({ "v": value })),
        position(
            json!({ "v": y, "w": 1 }),
            |value| json!({ "v": value, "w": 1 }),
        ),
        position(
            json!({ "a": { "b": [x, { "c": x }] } }),
            |value| json!({ "a": { "b": [value, { "c": value }] } }),
        ),
        position(
            json!({ "v": each }),
            |value| json!({ "v": [value, { "y": value }] }),
        ),
    ]
}

fn embedded(x: &str) -> Vec<Position> {
    vec![
        position(
            json!({ "v": format!("{x}{x}") }),
            |value| json!({ "v": as_text(value).repeat(2) }),
        ),
        position(
            json!({ "v": format!("\"{x}\\ $1") }),
            |value| json!({ "v": format!("\"{}\\ $1", as_text(value)) }),
        ),
    ]
}

fn arrive(dialect: Dialect, document: impl Fn(&Value) -> Value, positions: &[Position]) {
    let mut random = fastrand::Rng::with_seed(4);
    for profile in [Profile::Strict, Profile::Compat] {
        for position in positions {
            let document = document(&position.arguments).to_string();
            let read = Reader::new()
                .dialect(dialect)
                .profile(profile)
                .read(&document);
            let plan = read
                .unwrap_or_else(|findings| panic!("{findings}"))
                .into_plan();
            for _ in 0..cases() {
                let value = value(&mut random, 0);
                let given = given(&plan, &value);
                assert_eq!(
                    given,
                    (position.arrives)(&value),
                    "{}: {value}",
                    position.arguments
                );
            }
        }
    }
}

/// Returns the arguments of the second step, with this value as the output of the first step and as inputs.
fn given(plan: &Plan, value: &Value) -> Value {
    let outputs = [Some(StoredValue::json(output(value))), None];
    let inputs: Vec<StoredValue> = plan
        .inputs
        .iter()
        .map(|_| StoredValue::json(value.clone()))
        .collect();
    let action = plan.steps[1].action().expect("it calls a tool");
    let scope = Scope::new(plan, &inputs, &outputs);
    resolve(&action.args, &scope).unwrap_or_else(|error| panic!("{error}: {value}"))
}

#[test]
fn in_tool_plans() {
    let positions = positions("$ref:a", "$ref:a.x", "$ref:a.l.1.y", "$ref:a.l[*]");
    let document = |arguments: &Value| json!({ "steps": [{ "id": "a", "tool": "t" }, { "id": "b", "tool": "t", "arguments": arguments }] });
    arrive(Dialect::ToolPlan, document, &positions);
    // The arguments as a string of JSON.
    let document = |arguments: &Value| json!({ "steps": [{ "id": "a", "tool": "t" }, { "id": "b", "tool": "t", "arguments": arguments.to_string() }] });
    arrive(Dialect::ToolPlan, document, &positions);
}

#[test]
fn in_blueprints() {
    let x = "${step[0].data.x}";
    let mut positions = positions(
        "${step[0].data}",
        x,
        "${step[0].result.l[1].y}",
        "${step[0].data.l.*}",
    );
    positions.extend(embedded(x));
    let document =
        |params: &Value| json!({ "steps": [{ "tool": "t" }, { "tool": "t", "params": params }] });
    arrive(Dialect::Blueprint, document, &positions);
}

#[test]
fn in_action_plans() {
    let x = "{{a.result.x}}";
    let mut positions = positions(
        "{{a.result}}",
        x,
        "{{a.result.l[1][\"y\"]}}",
        "{{a.result.l[*]}}",
    );
    positions.extend(embedded(x));
    positions.push(position(
        json!({ "v": "{{PLACEHOLDER_p}}!" }),
        |value| json!({ "v": format!("{}!", as_text(value)) }),
    ));
    let document = |arguments: &Value| json!([{ "id": "a", "tool": "t" }, { "id": "b", "tool": "t", "arguments": arguments }]);
    arrive(Dialect::ActionPlan, document, &positions);
}

#[test]
fn in_plan_json() {
    let reference = |pointer: &str| json!({ "reference": { "step": "a", "pointer": pointer } });
    let positions = [
        position(
            json!({ "object": { "v": reference("/x") } }),
            |value| json!({ "v": value }),
        ),
        position(
            json!({ "object": { "v": [reference("/l/1/y")] } }),
            |value| json!({ "v": [value] }),
        ),
        position(
            json!({ "object": { "v": { "text": ["\"", { "value": reference("/x") }, "{{"] } } }),
            |value| json!({ "v": format!("\"{}{{{{", as_text(value)) }),
        ),
    ];
    let document = |arguments: &Value| {
        json!({ "name": "p", "steps": [
            { "id": "a", "tool": { "name": "t" } },
            { "id": "b", "tool": { "name": "t" }, "arguments": arguments },
        ] })
    };
    arrive(Dialect::PlanJson, document, &positions);
}

/// Through a whole run, from tool to tool and out of the plan.
#[test]
fn from_tool_to_tool() {
    let mut random = fastrand::Rng::with_seed(5);
    let document = r#"[
        {"id": "a", "tool": "same", "arguments": {"v": "{{PLACEHOLDER_p}}"}},
        {"id": "b", "tool": "same", "arguments": {"v": "{{a.result.v}}", "text": "<{{a.result.v}}>"}},
        {"id": "c", "tool": "same", "arguments": {"v": "{{b.result.v}}", "text": "{{b.result.text}}"}}
    ]"#;
    let toolbox =
        Toolbox::<()>::new().with_fn(
            Contract::new("same"),
            |given: Value| async move { Ok(given) },
        );
    let read = Reader::new().read(document).expect("the plan is fine");
    for _ in 0..cases() / 10 {
        let value = value(&mut random, 0);
        let run = toolbox.run(read.plan(), json!({ "p": value }), &());
        let output = smol::block_on(run).expect("the run succeeds");
        assert_eq!(
            output["c"],
            json!({ "v": value, "text": format!("<{}>", as_text(&value)) })
        );
    }
}

/// A local value, the value of the previous round, and an input of a block: a `for` in a `loop`, and a block in that.
#[test]
fn in_bodies() {
    let documents = [
        r#"{"steps": [{"id": "all", "loop": {"last": "before", "steps": [
            {"id": "p", "tool": "given"}, {"id": "more", "tool": "more"},
            {"id": "each", "for": {"pattern": "x", "list": "$ref:p", "body": {"if": [{"pattern": "Some(y)", "value": "$ref:x", "then":
                {"block": {"steps": [{"id": "in", "tool": "same", "arguments": {"v": "$ref:y", "w": "$ref:before.v"}}], "value": "$ref:in"}}}]}}}
        ], "value": {"v": "$ref:p", "each": "$ref:each"}, "while": "$ref:more"}, "policy": {"at_most": 2}}], "output_steps": ["all"]}"#,
        r#"[{"id": "all", "loop": {"last": "before", "steps": [
            {"id": "p", "tool": "given"}, {"id": "more", "tool": "more"},
            {"id": "each", "for": {"pattern": "x", "list": "{{p.result}}", "body": {"if": [{"pattern": "Some(y)", "value": "{{x.result}}", "then":
                {"block": {"steps": [{"id": "in", "tool": "same", "arguments": {"v": "{{y.result}}", "w": "{{before.result.v}}"}}], "value": "{{in.result}}"}}}]}}}
        ], "value": {"v": "{{p.result}}", "each": "{{each.result}}"}, "while": "{{more.result}}"}, "policy": {"at_most": 2}}]"#,
        r#"{"requestId": "r", "steps": [{"id": "all", "loop": {"last": "before", "steps": [
            {"tool": "given"}, {"tool": "more"},
            {"for": {"pattern": "x", "list": "${step[0].data}", "body": {"if": [{"pattern": "Some(y)", "value": "${x.data}", "then":
                {"block": {"steps": [{"tool": "same", "params": {"v": "${y.data}", "w": "${before.data.v}"}}], "value": "${step[0].data}"}}}]}}}
        ], "value": {"v": "${step[0].data}", "each": "${step[2].data}"}, "while": "${step[1].data}"}, "policy": {"at_most": 2}}]}"#,
    ];
    let same = Contract::new("same");
    let given = std::sync::Arc::new(std::sync::Mutex::new((Value::Null, 0_u32)));
    let shared = given.clone();
    let toolbox = Toolbox::<()>::new()
        .with_fn(same, |given: Value| async move { Ok(given) })
        .with_fn(Contract::new("given"), move |_: Value| {
            let shared = shared.clone();
            async move { Ok(shared.lock().expect("nobody panics").0.clone()) }
        })
        .with_fn(Contract::new("more"), {
            let shared = given.clone();
            move |_: Value| {
                let shared = shared.clone();
                async move {
                    let mut shared = shared.lock().expect("nobody panics");
                    shared.1 += 1;
                    Ok(Value::from(shared.1 % 2 == 1))
                }
            }
        });
    let mut random = fastrand::Rng::with_seed(6);
    for document in documents {
        let read = Reader::new().read(document);
        let plan = read
            .unwrap_or_else(|findings| panic!("{findings}"))
            .into_plan();
        for _ in 0..cases() / 20 {
            let list = vec![value(&mut random, 0), value(&mut random, 1)];
            *given.lock().expect("nobody panics") = (list.clone().into(), 0);
            let run = smol::block_on(toolbox.run(&plan, (), &()));
            let output = run.unwrap_or_else(|error| panic!("{error}"));
            let each = list.iter().map(|value| match value {
                Value::Null => Value::Null,
                value => json!({ "v": value, "w": list }),
            });
            let each: Vec<Value> = each.collect();
            assert_eq!(
                output["all"],
                json!({ "v": list, "each": each }),
                "{document}"
            );
        }
    }
}
