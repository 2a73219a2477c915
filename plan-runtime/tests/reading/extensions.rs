//! Conditions, loops, blocks, roles and policies in the dialects of strings: each error, with its position.

use crate::reading::{of, said};
use plan_runtime::dynamic::{Dialect, Profile};

fn in_blueprint(members: &str) -> String {
    format!(
        r#"{{"requestId": "r", "steps": [{{"tool": "t", "params": {{}}}},
  {{{members}}}
]}}"#
    )
}

fn in_action_plan(members: &str) -> String {
    format!(
        r#"[{{"id": "a", "tool": "t", "arguments": {{"x": "{{{{PLACEHOLDER_q}}}}"}}}},
  {{"id": "b", {members}}}
]"#
    )
}

#[test]
fn a_block_without_steps() {
    let document = in_blueprint(r#""block": {"steps": [], "value": "${step[0].data}"}"#);
    let found = said(&of(Dialect::Blueprint), &document);
    let message = "error[step-out-of-range]: there is no step[0]: the block has no steps\n";
    assert!(found.starts_with(message), "{found}");
}

/// Even in the compat profile, plan JSON of the plan reads back.
#[test]
fn compat_plans_are_plans() {
    let reader = of(Dialect::ActionPlan).profile(Profile::Compat);
    let document = in_action_plan(
        r#""for": {"pattern": "(k, v)", "list": "{{a.result}}", "body": {"value": "{{v.result.x}}"}}"#,
    );
    let plan = reader.read(&document).unwrap().into_plan();
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(
        serde_json::from_str::<plan_runtime::Plan>(&json).unwrap(),
        plan
    );
    let document = in_action_plan(r#""tool": "t", "policy": {"attempts": "{{PLACEHOLDER_n}: "}"#);
    let found = said(&reader, &document);
    let message = "`attempts` is a string, but must be an amount or a reference";
    assert!(found.contains(message), "{found}");
}
