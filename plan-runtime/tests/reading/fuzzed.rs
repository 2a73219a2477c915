//! Cases of the fuzzer, repeated: a sample of the documents that reach new code, for each of its targets.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, dead_code)]
pub(crate) mod fuzz;

use plan_runtime::dynamic::Dialect;
use std::path::Path;

fn replay(property: impl Fn(&str), texts: &str) {
    let texts: Vec<String> = serde_json::from_str(texts).expect("the texts are JSON");
    assert!(!texts.is_empty());
    for text in texts {
        property(&text);
    }
}

/// Replays the seeds of the fuzzer.
fn replay_seeds(property: impl Fn(&[u8]), targets: &[&str]) {
    for target in targets {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
        let files = std::fs::read_dir(seeds.join(target)).expect("a target has seeds");
        for file in files {
            let path = file.expect("a seed is a file").path();
            property(&std::fs::read(path).expect("a seed can be read"));
        }
    }
}

/// Runs a property on documents from pseudorandom bytes, equal each time. At least one in 20 reaches the assertions that only
/// some documents reach.
fn generated(cases: usize, property: impl Fn(&[u8])) {
    fuzz::take_reached();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..cases {
        let mut bytes = vec![0; 1 + random.usize(..400)];
        random.fill(&mut bytes[1..]);
        property(&bytes);
    }
    let reached = fuzz::take_reached();
    println!("{reached} of {cases} are reached");
    assert!(reached > cases / 20, "{reached} of {cases}");
}

const DIALECTS: [&str; 4] = ["tool_plan", "blueprint", "action_plan", "plan_json"];

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

#[cfg(feature = "rust")]
#[test]
fn source() {
    replay_seeds(fuzz::to_rust::to_rust, &["to_rust"]);
    replay_seeds(fuzz::to_rust::to_rust, &DIALECTS);
    generated(1_000, fuzz::to_rust::to_rust);
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
