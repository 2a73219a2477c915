//! Plans → blueprint or plan JSON → plans.

mod random;

use crate::support::plans;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Dialect, DocumentLimits, Finding, Profile, Reader, Severity};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns `true` for the warning about a time that another time of a random policy makes useless.
pub(crate) fn is_of_times(finding: &Finding) -> bool {
    let starts = [
        "`timeout` is longer",
        "the longest wait between attempts is shorter",
    ];
    finding.code == Code::NotAllowed
        && finding.severity == Severity::Warning
        && starts.iter().any(|it| finding.message.starts_with(it))
}

/// Reads a blueprint, with and without detection of the dialect.
fn read(text: &str) -> Plan {
    // Plans of random policies wait for years.
    let reader = || Reader::new().limits(DocumentLimits::DEFAULT.time(Duration::MAX));
    let named = reader().dialect(Dialect::Blueprint).read(text);
    let named = named.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    let mut warnings = named.warnings().iter();
    assert!(warnings.all(is_of_times), "{:?}\n{text}", named.warnings());
    let recognized = reader().read(text);
    let recognized = recognized.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    assert_eq!(recognized.dialect(), Dialect::Blueprint, "{text}");
    assert_eq!(recognized.plan(), named.plan(), "{text}");
    named.into_plan()
}

#[test]
fn a_blueprint_has_no_needless_members() {
    let blueprint = r#"{
  "requestId": "r",
  "description": "d",
  "steps": [
    {"tool": "fetch", "params": {}, "optional": true, "retryCount": 2, "timeout": 1500},
    {"id": "other", "intent": "Send.", "tool": "send", "tool_description": "Sends.", "params": {"to": "Dear ${step[0].data[0].from}${\", ${x}\"}", "count": "${step[0].data.count}${\"\"}"}},
    {"tool": "send", "params": "${step[0].data}", "dependsOn": [1]},
    {"tool": "send", "params": {"all": "${step[1].data[*][\"odd key\"]}", "literal": "${\"$ref:other\"}", "list": [1.0, -1, null, true]}}
  ],
  "output_type": "u8",
  "output": "${step[2].data.x}"
}"#;
    assert_eq!(read(blueprint).to_blueprint().unwrap(), blueprint);
}

#[test]
fn a_string_of_the_compat_profile_stays_a_string() {
    let reader = Reader::new().profile(Profile::Compat);
    let document = r#"{"requestId": "r", "steps": [{"tool": "t", "params": {"x": "${a} {{ b }} ${step[0}"}}]}"#;
    let plan = reader.read(document).unwrap().into_plan();
    assert_eq!(read(&plan.to_blueprint().unwrap()), plan);
}

/// The parts of a plan that a blueprint cannot express.
fn lacks(plan: Value) -> Vec<String> {
    let plan: Plan = serde_json::from_value(plan).unwrap();
    let unsupported = plan.to_blueprint().unwrap_err();
    unsupported.all().iter().map(ToString::to_string).collect()
}

#[test]
fn every_part_has_its_step_and_its_reason() {
    let step = |path: Value| json!({"reference": {"step": "a", "path": path}});
    let call = json!({"tool": {"name": "t"}});
    let plan = json!({
        "name": "p",
        "inputs": [{"name": "sender", "type": "String"}],
        "steps": [
            {"id": "a", "tool": {"name": "t"}, "arguments": null, "policy": {
                "attempts": 3, "backoff": "1s", "timeout": "1us", "deadline": "1m", "fallback": 0
            }},
            {"id": "b", "value": {"computed": {"written": "a + 1", "reads": [{"step": "a"}]}}},
            {"id": "c", "if": []},
            {"id": "d", "for": {"pattern": "x", "list": [], "body": call}},
            {"id": "e", "block": {"steps": [], "value": 1}},
            {"id": "f", "loop": {"steps": [], "while": false}, "policy": {"at_most": 1}},
            {"id": "g", "await": "String"},
            {"id": "h", "tool": {"name": "t"}, "undo": "a"},
            {"id": "i", "tool": {"name": "t"}, "always": true},
            {"id": "j", "tool": {"name": "t"}, "arguments": {"merge": [
                {"object": {
                    "${step[0].data}": 1,
                    "sum": {"computed": {"written": "a + 1", "reads": [{"step": "a"}]}},
                    "next": step(json!([{"token": "next", "optional": true}])),
                    "default": step(json!([{"token": "x", "absent": {"default": 1}}])),
                    "list": [{"text": ["a", {"value": 5}, {"value": step(json!([])), "spec": ">8"}]}],
                    "own": {"reference": {"input": "sender", "pointer": "/x"}},
                    "later": {"reference": {"step": "k", "pointer": ""}},
                }},
                step(json!(["more"])),
            ]}},
            {"id": "k", "tool": {"name": "t"}, "after": ["l"]},
            {"id": "l", "tool": {"name": "t"}},
        ],
        "output": {"value": {"object": {"x": {"is_some": step(json!([]))}}}},
    });
    let mut expected = vec![
        "input `sender`: a blueprint has no inputs",
        "the arguments of step `a`: `null`, which is not an object",
        "step `a`: the policy `backoff`",
        "step `a`: the policy `timeout`",
        "step `a`: the policy `deadline`",
        "step `a`: the policy `fallback`",
        "step `b`: a value without a call",
        "step `c`: an `if`",
        "step `d`: a `for`",
        "step `e`: a block of steps",
        "step `f`: a `loop`",
        "step `g`: an `await`",
        "step `h`: that it undoes `a`",
        "step `i`: that it runs at the end in any case",
        "argument `[\"${step[0].data}\"]` of step `j`: a name that looks like a reference",
        "argument `sum` of step `j`: the computed value `a + 1`",
        "argument `next` of step `j`: the reference `a.next?` through a value that may be absent",
        "argument `default` of step `j`: the reference `a.x.or(1)` through a value that may be absent",
        "argument `list[0]` of step `j`: the value `5` in a string",
        "argument `list[0]` of step `j`: the format `{:>8}` in a string",
        "argument `own` of step `j`: the reference `sender.x`, which is not to a step",
        "argument `later` of step `j`: a reference to `k`, which does not come earlier",
        "the arguments of step `j`: the members of `a.more` among its own members",
        "step `k`: that it waits for `l`, which does not come earlier",
    ];
    let mut found = lacks(plan);
    assert!(found.pop().unwrap().starts_with("`x` of the output: "));
    // The members of an object are sorted.
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}
