//! All parts of a plan that a dialect cannot express are reported together.

use plan_runtime::Plan;
use plan_runtime::dynamic::{Dialect, Profile, Reader};
use plan_runtime::plan::{Body, Optional, Policy};
use serde_json::json;

fn lacks(plan: &Plan, dialect: Dialect) -> Vec<String> {
    let unsupported = dialect.write(plan).unwrap_err();
    unsupported.all().iter().map(ToString::to_string).collect()
}

#[test]
fn every_construct_and_its_place() {
    let step = |pointer: serde_json::Value| json!({"reference": {"step": "a", "path": pointer}});
    let plan: Plan = serde_json::from_value(json!({
        "name": "p",
        "inputs": [{"name": "sender", "type": "String"}],
        "steps": [
            {"id": "a", "tool": {"name": "t"}, "arguments": null, "policy": {
                "attempts": 3, "backoff": "1s", "timeout": "1us", "deadline": "1m", "fallback": 0
            }},
            {"id": "b", "value": {"computed": {"written": "a + 1", "reads": [{"step": "a"}]}}},
            {"id": "c", "if": []},
            {"id": "d", "for": {"pattern": "x", "list": [], "body": {"tool": {"name": "t"}}}, "after": ["a"], "policy": {"optional": "each", "concurrency": 4}},
            {"id": "e", "tool": {"name": "t"}, "arguments": {"merge": [
                {"object": {
                    "sum": {"computed": {"written": "a + 1", "reads": [{"step": "a"}]}},
                    "next": step(json!([{"token": "next", "optional": true}])),
                    "default": step(json!([{"token": "x", "absent": {"default": 1}}])),
                    "list": [{"text": ["a", {"value": 5}, {"value": step(json!([])), "spec": ">8"}]}],
                    "own": {"reference": {"input": "sender", "pointer": "/x"}},
                }},
                step(json!(["more"])),
            ]}},
        ],
        "output": {"value": {"reference": {"step": "e", "pointer": ""}}},
    }))
    .unwrap();
    let common = |skip: &[&str]| {
        let all = [
            "the arguments of step `a`: `null`, which is not an object",
            "step `b`: the computed value `a + 1`",
            "argument `default` of step `e`: the default of a field that may be left out (`a.x.or(1)`)",
            "argument `list[0]` of step `e`: a text with values in it",
            "argument `list[0]` of step `e`: the value `5` in a text",
            "argument `list[0]` of step `e`: the format `{:>8}` in a text",
            "argument `next` of step `e`: the reference `a.next?` through a value that may be absent",
            "argument `own` of step `e`: the path `sender.x` into an input",
            "argument `sum` of step `e`: the computed value `a + 1`",
            "the arguments of step `e`: the members of `a.more` among its own members",
        ];
        let all = all
            .into_iter()
            .filter(|one| !skip.iter().any(|skip| one.contains(skip)));
        all.map(str::to_owned).collect::<Vec<_>>()
    };
    let no_inputs = "input `sender`: a plan of this dialect has no inputs".to_owned();
    assert_eq!(lacks(&plan, Dialect::ActionPlan), common(&["a text with"]));
    let mut tool_plan = vec![no_inputs.clone()];
    tool_plan.extend(common(&["`own`", "in a text"]));
    assert_eq!(lacks(&plan, Dialect::ToolPlan), tool_plan);
    let mut blueprint = vec![no_inputs];
    blueprint.extend(common(&["`own`", "a text with"]));
    assert_eq!(lacks(&plan, Dialect::Blueprint), blueprint);
}

#[test]
fn what_only_one_dialect_has() {
    let reader = Reader::new();
    let text = r#"[{"id": "a", "tool": "t", "arguments": {"x": "Dear {{b.result}}, {{PLACEHOLDER_y}}"}}, {"id": "b", "tool": "t", "arguments": {}}]"#;
    let plan = reader.read(text).unwrap().into_plan();
    assert_eq!(
        lacks(&plan, Dialect::ToolPlan),
        [
            "input `y`: a plan of this dialect has no inputs",
            "argument `x` of step `a`: a text with values in it",
        ]
    );
    assert_eq!(
        lacks(&plan, Dialect::Blueprint),
        [
            "input `y`: a plan of this dialect has no inputs",
            "argument `x` of step `a`: a reference to `b`, which does not come earlier",
        ]
    );
    let text = r#"{"steps": [{"id": "a", "tool": "t", "arguments": {"{{x.result}}": 1, "${step[0].data}": 2}}]}"#;
    let plan = reader.read(text).unwrap().into_plan();
    assert_eq!(
        lacks(&plan, Dialect::Blueprint),
        ["argument `[\"${step[0].data}\"]` of step `a`: a name that looks like a reference"]
    );
    assert_eq!(
        lacks(&plan, Dialect::ActionPlan),
        ["argument `[\"{{x.result}}\"]` of step `a`: a name that looks like a reference"]
    );
}

#[test]
fn the_compat_profile_has_references_of_its_own() {
    let reader = Reader::new().profile(Profile::Compat);
    let text = r#"[{"id": "a", "tool": "t", "arguments": {}}, {"id": "b", "tool": "t", "arguments": {"x": "{{a.result.y}}"}}]"#;
    let plan = reader.read(text).unwrap().into_plan();
    assert_eq!(
        lacks(&plan, Dialect::ActionPlan),
        [
            "argument `x` of step `b`: the default for the reference `{{a.result.y}}` of the compat profile"
        ]
    );
}

fn of(json: serde_json::Value) -> Plan {
    serde_json::from_value(json).unwrap()
}

/// A part of a body is reported with its step and its position in it.
#[test]
fn parts_of_bodies() {
    let computed = json!({"computed": {"written": "1 + 1", "reads": []}});
    let plan = of(json!({"name": "p", "steps": [
        {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {}}},
        {"id": "b", "for": {"pattern": "x", "list": computed, "body": {"if": [
            {"condition": computed, "then": {"tool": {"name": "t"}, "arguments": {"object": {"y": computed}}}},
            {"condition": {"object": {"pattern": "Some(x)"}}, "then": {"value": computed}},
        ]}}, "policy": {"fallback": [computed]}},
        {"id": "c", "block": {"inputs": {"i": {"object": {"j": computed}}}, "steps": [
            {"id": "d", "block": {"steps": [], "value": computed}},
            {"id": "e", "loop": {"last": "l", "steps": [], "value": 1, "while": {"reference": {"input": "l", "pointer": "/x"}}}, "policy": {"at_most": 2}},
        ], "value": [computed]}},
    ]}));
    let lacks = lacks(&plan, Dialect::ToolPlan);
    let all = [
        "the list of step `b`: the computed value `1 + 1`",
        "a condition of step `b`: the computed value `1 + 1`",
        "argument `y` of step `b`: the computed value `1 + 1`",
        "a condition of step `b`: an object in a condition",
        "step `b`: the computed value `1 + 1`",
        "`[0]` of the fallback of step `b`: the computed value `1 + 1`",
        "`i.j` of the inputs of the block of step `c`: the computed value `1 + 1`",
        "the value of step `c.d`: the computed value `1 + 1`",
        "a condition of step `c.e`: the reference `l.x`, which fails in the first round",
        "`[0]` of the value of step `c`: the computed value `1 + 1`",
    ];
    assert_eq!(lacks, all);
}

#[test]
fn what_names_cannot_say() {
    let local =
        |depth: usize, pointer: &str| json!({"reference": {"local": depth, "pointer": pointer}});
    // A plan that plan JSON refuses is built in Rust.
    let mut plan = of(json!({"name": "p", "steps": [
        {"id": "a", "for": {"pattern": "x", "list": [], "body": {"value": local(0, "/y")}}},
        {"id": "b", "loop": {"steps": [], "while": false}, "policy": {"at_most": 1}},
        {"id": "c", "tool": {"name": "t"}, "arguments": {"object": {}}},
    ]}));
    if let Body::For(each) = &mut plan.steps[0].body {
        each.pattern = "_".into();
    }
    plan.steps[1].policy = Policy::DEFAULT.into();
    plan.steps[2].policy = Policy::DEFAULT.optional(Optional::Each).into();
    for dialect in [Dialect::ActionPlan, Dialect::ToolPlan, Dialect::Blueprint] {
        assert_eq!(
            lacks(&plan, dialect),
            [
                "the value of step `a`: the value `x.y` of a loop or a condition",
                "step `b`: a `loop` without a bound",
                "step `c`: a policy in which `optional` is `each`, which is for the elements of a `for`",
            ]
        );
    }
}

/// A blueprint refers to earlier steps only, and so do its undo steps.
#[test]
fn order_in_blueprints() {
    let plan = of(json!({"name": "p", "steps": [
        {"id": "a", "undo": "b", "tool": {"name": "t"}, "arguments": {"object": {}}},
        {"id": "b", "tool": {"name": "t"}, "arguments": {"object": {}}},
        {"id": "c", "block": {"steps": [
            {"id": "d", "value": {"reference": {"step": "e", "pointer": "/x"}}},
            {"id": "e", "value": 1, "after": []},
        ]}, "after": ["f"]},
        {"id": "f", "value": 1},
    ], "output": {"value": {"object": {"b": {"reference": {"step": "b", "pointer": ""}}}}}}));
    assert_eq!(
        lacks(&plan, Dialect::Blueprint),
        [
            "step `a`: that it undoes `b`, which does not come earlier",
            "the value of step `c.d`: a reference to `e`, which does not come earlier",
            "step `c`: that it waits for `f`, which does not come earlier",
        ]
    );
    for dialect in [Dialect::ActionPlan, Dialect::ToolPlan] {
        let written = dialect.write(&plan).unwrap();
        let read = Reader::new().dialect(dialect).read(&written);
        assert_eq!(read.unwrap().plan(), &plan);
    }
}
