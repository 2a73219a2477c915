//! Reports, for people and for programs.

use super::stage::{End, Stage, act, each, list, local, of, plan, step, string, with};
use plan_runtime::plan::{Policy, Source};
use plan_runtime::run::OnFailure;
use plan_runtime::{Plan, Report};
use serde_json::{Value, json};

fn story() -> (Plan, Stage) {
    let policy = Policy::DEFAULT.attempts(3).jitter(false);
    let keys = list(["x", "y"].map(string).to_vec());
    let optional = Policy::DEFAULT.optional(plan_runtime::plan::Optional::Whole);
    let plan = plan(vec![
        with(step("first", act(string("first")), &[]), policy),
        step("all", each(keys, act(local(0))), &[0]),
        with(step("extra", act(string("extra")), &[]), optional),
        step("bad", act(of(Source::Step(0), vec![], "first")), &[2]),
        step("worse", act(string("worse")), &[3]),
    ]);
    let stage = Stage::default()
        .with(
            "first",
            &[(20, End::Transient), (30, End::Ok), (50, End::Permanent)],
        )
        .with("y", &[(200, End::Ok)])
        .with("extra", &[(75, End::Permanent)]);
    (plan, stage)
}

fn report() -> Report {
    let (plan, stage) = story();
    let run = stage.run::<Value>(&plan).on_failure(OnFailure::Continue);
    stage.play(run.capture_arguments(true).with_report()).1
}

#[test]
fn for_people() {
    assert_eq!(
        report().to_string(),
        "\
plan `test`: 5 steps in 350 ms: 2 completed, 1 recovered, 1 failed, 1 blocked
  first  act  completed       0 + 150 ms  █████████             (2 attempts)
  all    act  completed  150 ms + 200 ms           ███████████  (2 calls)
  extra  act  recovered       0 +  75 ms  ████                  extra is gone
  bad    act  failed     150 ms +  50 ms           ██           first is gone
  worse  act  blocked                                           by `bad`
  critical path: first → all, 350 ms"
    );
}

/// A list of many elements names the first failure, and counts all failures.
#[test]
fn failed_elements_are_counted() {
    let keys = list(["x", "y", "z"].map(string).to_vec());
    let caught = Policy::DEFAULT.optional(plan_runtime::plan::Optional::Each);
    let all = step("all", each(keys, act(local(0))), &[]);
    let plan = plan(vec![with(all, caught)]);
    let stage = ["x", "z"].into_iter().fold(Stage::default(), |stage, key| {
        stage.with(key, &[(10, End::Permanent)])
    });
    let (_, report) = stage.play(stage.run::<Value>(&plan).with_report());
    let shown = report.to_string();
    let note = "[0]: x is gone (3 calls) [2 of 3 elements failed]";
    assert!(shown.contains(note), "{shown}");
}

#[test]
fn for_programs() {
    let report = report();
    let mut json = serde_json::to_value(&report).unwrap();
    let started = json["started_at"].take();
    assert!(started.as_str().unwrap().ends_with('Z'), "{started}");
    let attempt = |number: u32, from: f64, took: f64, key: &str| json!({"number": number, "tool": "act", "started_ms": from, "duration_ms": took, "arguments": {"key": key}});
    let with = |mut attempt: Value, name: &str, value: Value| {
        attempt[name] = value;
        attempt
    };
    assert_eq!(
        json,
        json!({
            "plan": "test",
            "started_at": null,
            "duration_ms": 350.0,
            "totals": {"completed": 2, "recovered": 1, "skipped": 0, "failed": 1, "blocked": 1, "cancelled": 0, "not_started": 0},
            "critical_path": ["first", "all"],
            "critical_path_ms": 350.0,
            "steps": [
                {"id": "first", "tool": "act", "status": "completed", "started_ms": 0.0, "duration_ms": 150.0, "attempts": [
                    with(attempt(1, 0.0, 20.0, "first"), "error", json!("first is busy")),
                    attempt(2, 120.0, 30.0, "first"),
                ]},
                {"id": "all", "tool": "act", "status": "completed", "started_ms": 150.0, "duration_ms": 200.0, "attempts": [
                    with(attempt(1, 150.0, 10.0, "x"), "element", json!([0])),
                    with(attempt(1, 150.0, 200.0, "y"), "element", json!([1])),
                ]},
                {"id": "extra", "tool": "act", "status": "recovered", "error": "extra is gone", "started_ms": 0.0, "duration_ms": 75.0, "attempts": [
                    with(attempt(1, 0.0, 75.0, "extra"), "error", json!("extra is gone")),
                ]},
                {"id": "bad", "tool": "act", "status": "failed", "error": "first is gone", "started_ms": 150.0, "duration_ms": 50.0, "attempts": [
                    with(attempt(1, 150.0, 50.0, "first"), "error", json!("first is gone")),
                ]},
                {"id": "worse", "tool": "act", "status": "blocked", "by": "bad"},
            ],
        })
    );
}

#[test]
fn arguments_are_kept_only_where_asked_for() {
    let (plan, stage) = story();
    let (_, report) = stage.play(stage.run::<Value>(&plan).with_report());
    let attempts = report.steps().iter().flat_map(|step| step.attempts());
    assert!(attempts.clone().count() > 3);
    assert!(attempts.into_iter().all(|it| it.arguments().is_none()));
}

/// Captured arguments do not change the attempts of plain calls.
#[test]
fn attempts_do_not_depend_on_captured_arguments() {
    let plan = plan(vec![
        step("done", act(string("done")), &[]),
        step("failed", act(string("failed")), &[0]),
        step("dropped", act(string("dropped")), &[0]),
        step("blocked", act(string("blocked")), &[1]),
    ]);
    let steps = [false, true].map(|captures| {
        let stage = Stage::default()
            .with("done", &[(20, End::Ok)])
            .with("failed", &[(30, End::Permanent)])
            .with("dropped", &[(200, End::Ok)]);
        let run = stage.run::<Value>(&plan).on_failure(OnFailure::Cancel);
        let (_, report) = stage.play(run.capture_arguments(captures).with_report());
        let steps = report.steps().iter().map(|step| {
            let attempts = step.attempts().iter().map(|it| {
                let error = it.error().map(ToString::to_string);
                format!(
                    "{} {:?} {:?} {error:?}",
                    it.number(),
                    it.started(),
                    it.ended()
                )
            });
            (step.status().name(), attempts.collect::<Vec<String>>())
        });
        steps.collect::<Vec<_>>()
    });
    assert_eq!(steps[0], steps[1]);
    let [done, failed, dropped, blocked] = &steps[0][..] else {
        panic!("{steps:?}");
    };
    assert_eq!((done.0, done.1.len()), ("completed", 1));
    assert_eq!((failed.0, failed.1.len()), ("failed", 1));
    assert_eq!(dropped.0, "cancelled");
    assert_eq!(dropped.1, ["1 20ms None None"]);
    assert_eq!((blocked.0, blocked.1.len()), ("blocked", 0));
}
