//! What the fuzzer found worth keeping, read again: a sample of the texts that lead somewhere new in a reader, for each of them.

#[path = "../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, dead_code)]
mod fuzz;

use plan_runtime::dynamic::Dialect;

fn replay(dialect: Option<Dialect>, texts: &str) {
    let texts: Vec<String> = serde_json::from_str(texts).expect("the texts are JSON");
    assert!(!texts.is_empty());
    for text in texts {
        fuzz::read(dialect, &text);
    }
}

#[test]
fn tool_plans() {
    replay(
        Some(Dialect::ToolPlan),
        include_str!("fuzzed/tool_plan.json"),
    );
}

#[test]
fn blueprints() {
    replay(
        Some(Dialect::Blueprint),
        include_str!("fuzzed/blueprint.json"),
    );
}

#[test]
fn action_plans() {
    replay(
        Some(Dialect::ActionPlan),
        include_str!("fuzzed/action_plan.json"),
    );
}

#[test]
fn canonical_json() {
    replay(
        Some(Dialect::Canonical),
        include_str!("fuzzed/canonical.json"),
    );
}

#[test]
fn whatever_it_is() {
    replay(None, include_str!("fuzzed/recognised.json"));
}
