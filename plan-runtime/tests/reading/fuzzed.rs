//! Cases of the fuzzer, repeated: a sample of the documents that reach new code, for each of its targets.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, dead_code)]
pub(crate) mod fuzz;
#[path = "replay.rs"]
mod replay;

use fuzz::take_reached;
use plan_runtime::dynamic::Dialect;
use replay::{DIALECTS, generated, replay_seeds};

fn replay(property: impl Fn(&str), texts: &str) {
    let texts: Vec<String> = serde_json::from_str(texts).expect("the texts are JSON");
    assert!(!texts.is_empty());
    for text in texts {
        property(&text);
    }
}

#[test]
fn tool_plans() {
    replay(
        |text| fuzz::read(Some(Dialect::ToolPlan), text),
        include_str!("fuzzed/tool_plan.json"),
    );
}

#[test]
fn blueprints() {
    replay(
        |text| fuzz::read(Some(Dialect::Blueprint), text),
        include_str!("fuzzed/blueprint.json"),
    );
}

#[test]
fn action_plans() {
    replay(
        |text| fuzz::read(Some(Dialect::ActionPlan), text),
        include_str!("fuzzed/action_plan.json"),
    );
}

#[test]
fn plan_json() {
    replay(
        |text| fuzz::read(Some(Dialect::PlanJson), text),
        include_str!("fuzzed/plan_json.json"),
    );
}

#[test]
fn whatever_it_is() {
    replay(
        |text| fuzz::read(None, text),
        include_str!("fuzzed/recognized.json"),
    );
}

#[test]
fn checks() {
    replay_seeds(fuzz::check::check, &["check"]);
    generated(2_000, fuzz::check::check);
}

#[cfg(all(feature = "html", feature = "diagnostics"))]
#[test]
fn printing() {
    replay_seeds(fuzz::render::render, &["render"]);
    replay_seeds(fuzz::render::render, &DIALECTS);
    generated(150, fuzz::render::render);
}

#[test]
fn whole_runs() {
    replay_seeds(fuzz::run::runs, &["run"]);
    generated(1_000, fuzz::run::runs);
}
