//! All parts of a plan that a dialect cannot express are reported together.

use plan_runtime::Plan;
use plan_runtime::dynamic::{Dialect, Profile, Reader};
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
            "step `a`: 3 attempts",
            "step `a`: how long to wait before another attempt",
            "step `a`: a time limit of 1us for each attempt",
            "step `a`: a deadline for all attempts together",
            "step `a`: the fallback `0`",
            "step `a`: that it waits for `b` (`#[after]`)",
            "the arguments of step `a`: `null`, which is not an object",
            "step `b`: the computed value `a + 1`",
            "step `c`: an `if`",
            "step `d`: a `for`",
            "step `d`: that it is optional",
            "step `d`: how many elements run concurrently",
            "step `d`: that it waits for `a` (`#[after]`)",
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
    assert_eq!(
        lacks(&plan, Dialect::ActionPlan),
        common(&["waits for `b`", "a text with"])
    );
    let mut tool_plan = vec![no_inputs.clone()];
    tool_plan.extend(common(&["waits for `b`", "`own`", "in a text"]));
    assert_eq!(lacks(&plan, Dialect::ToolPlan), tool_plan);
    let mut blueprint = vec![no_inputs];
    blueprint.extend(common(&["waits for", "`own`", "3 attempts", "a text with"]));
    assert_eq!(lacks(&plan, Dialect::Blueprint), blueprint);
}

#[test]
fn steps_that_are_not_work() {
    let plan: Plan = serde_json::from_value(json!({
        "name": "p",
        "steps": [
            {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {}}},
            {"id": "b", "undo": "a", "tool": {"name": "t"}, "arguments": {"object": {}}},
            {"id": "c", "always": true, "tool": {"name": "t"}, "arguments": {"object": {}}},
        ],
        "output": {"value": {"object": {"a": {"reference": {"step": "a", "pointer": ""}}}}},
    }))
    .unwrap();
    for dialect in [Dialect::ActionPlan, Dialect::ToolPlan, Dialect::Blueprint] {
        assert_eq!(
            lacks(&plan, dialect),
            [
                "step `b`: that it undoes `a` (`#[undo]`)",
                "step `c`: that it always runs (`#[always]`)",
            ]
        );
    }
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

#[test]
fn blocks_of_steps() {
    let plan: Plan = serde_json::from_value(json!({
        "name": "p",
        "steps": [
            {"id": "a", "block": {"steps": [{"id": "b", "tool": {"name": "t"}}]}},
            {"id": "c", "for": {"pattern": "x", "list": [], "body": {"block": {"steps": []}}}},
        ],
        "output": {"value": {"object": {"a": {"reference": {"step": "a", "pointer": ""}}}}},
    }))
    .unwrap();
    for dialect in [Dialect::ActionPlan, Dialect::ToolPlan, Dialect::Blueprint] {
        assert_eq!(
            lacks(&plan, dialect),
            ["step `a`: a block of steps", "step `c`: a `for`"]
        );
    }
    let written = Dialect::PlanJson.write(&plan).unwrap();
    assert_eq!(Reader::new().read(&written).unwrap().plan(), &plan);
}
