//! Runs that the machine decides, beside runs of the scheduler: observers hear the same, and the reports are equal.

use super::blocks::block;
use super::driven::{holding, rounds};
use super::stage::{
    End, Stage, act, branch, each, list, local, ms, of, plan, step, string, value, with,
};
use super::watching::Log;
use plan_runtime::plan::{
    Await, Body, Catch, Condition, Optional, Plan, Policy, Role, Source, Step, Template,
};
use plan_runtime::run::{Limits, OnFailure};
use plan_runtime::{Report, Run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const POLICIES: [OnFailure; 3] = [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel];

/// The observable results of a run.
#[derive(Debug, PartialEq)]
struct Shown {
    result: String,
    report: String,
    events: Vec<String>,
}

/// Removes the times by the clock of the machine. The scheduler does not know the end of a step that it drops together with the block around the step.
fn without_clock(report: &mut Value, is_inside: bool) {
    match report {
        Value::Object(members) => {
            members.remove("started_at");
            let mut steps = members.get("steps").and_then(Value::as_array).into_iter();
            let is_dropped = |step: &Value| step["status"] == "cancelled";
            if is_inside && steps.any(|steps| steps.iter().any(is_dropped)) {
                members.remove("critical_path");
                members.remove("critical_path_ms");
            }
            if is_inside && members.get("status") == Some(&"cancelled".into()) {
                members.remove("duration_ms");
            }
            for (name, member) in members {
                without_clock(member, is_inside || name == "inside");
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| without_clock(item, is_inside)),
        _ => {}
    }
}

fn shown(report: &Report) -> String {
    let mut json = serde_json::to_value(report).unwrap();
    without_clock(&mut json, false);
    format!("{json:#}")
}

/// Returns the events without the ends of steps that were dropped inside a block.
fn heard(log: &Log) -> Vec<String> {
    let said = log.said().into_iter();
    let is_dropped = |line: &String| {
        let (step, rest) = line.split_once(' ').unwrap_or_default();
        step.contains('.') && rest.starts_with("cancelled ")
    };
    said.filter(|line| !is_dropped(line)).collect()
}

/// Returns the results of a run of the scheduler and of a run of the machine.
fn both<'s>(
    stages: &'s [Stage; 2],
    plan: &'s Plan,
    set: impl for<'r> Fn(Run<'r, Stage, Value>) -> Run<'r, Stage, Value>,
) -> [Shown; 2] {
    [false, true].map(|is_driven| {
        let stage = &stages[usize::from(is_driven)];
        let log = Arc::new(Log::default());
        let run = set(stage.run::<Value>(plan).observe(log.clone()));
        let (result, report) = if is_driven {
            stage.play(run.driven().with_report())
        } else {
            stage.play(run.with_report())
        };
        Shown {
            result: super::stage::ending(&result),
            report: shown(&report),
            events: heard(&log),
        }
    })
}

/// Returns the events of each step of the plan. The scheduler looks at a block before it looks at the calls beside, so that the order of all events is not the same.
fn by_steps(events: &[String]) -> BTreeMap<&str, Vec<&String>> {
    let mut steps: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for line in events {
        let step = line.split([' ', '.', '[']).next().unwrap_or_default();
        steps.entry(step).or_default().push(line);
    }
    steps
}

/// Has a run of each decider end in each way. Plans without blocks have their events in one order.
fn compare(stage: impl Fn() -> Stage, plan: &Plan, deadlines: &[u64], has_blocks: bool) {
    let deadlines = deadlines.iter().copied().map(Some);
    for deadline in deadlines.chain([None]) {
        for (on_failure, captures) in POLICIES.into_iter().zip([true, false, true]) {
            let stages = [stage(), stage()];
            let [expected, got] = both(&stages, plan, |run| {
                let run = run
                    .on_failure(on_failure)
                    .capture_arguments(captures)
                    .capture_outputs(captures)
                    .seed(1);
                match deadline {
                    None => run,
                    Some(deadline) => run.deadline(ms(deadline)),
                }
            });
            let at = format!("{on_failure:?} {captures} {deadline:?} {plan}");
            assert_eq!(got.result, expected.result, "{at}");
            let (report, wanted) = (got.report, expected.report);
            assert!(report == wanted, "{at}\n{report}\n-- expected --\n{wanted}");
            let is_same = if has_blocks {
                by_steps(&got.events) == by_steps(&expected.events)
            } else {
                got.events == expected.events
            };
            let (got, expected) = (got.events.join("\n"), expected.events.join("\n"));
            assert!(is_same, "{at}\n{got}\n-- expected --\n{expected}");
        }
    }
}

/// Calls that end in many ways.
fn stage() -> Stage {
    Stage::default()
        .with("busy", &[(10, End::Transient), (10, End::Ok)])
        .with("gone", &[(10, End::Permanent)])
        .with("slow", &[(200, End::Ok)])
        .with("y", &[(20, End::Transient), (15, End::Permanent)])
        .with("z", &[(5, End::Panic)])
}

fn retried(attempts: u32) -> Policy {
    Policy::DEFAULT.attempts(attempts).jitter(false)
}

fn after_work(id: &str, key: &str, role: Role) -> Step {
    let mut step = step(id, act(string(key)), &[]);
    step.role = role;
    step
}

fn words(words: &[&str]) -> Template {
    list(words.iter().map(|word| string(word)).collect())
}

fn catching(catch: Catch) -> Policy {
    let mut policy = retried(2);
    policy.catch = catch;
    policy
}

#[test]
fn calls_and_elements() {
    let never = Condition::Holds(Template::Bool(false));
    let never = || Body::If(vec![branch(vec![never.clone()], act(string("n")))]);
    let keys = || words(&["x", "y", "z"]);
    let mut limited = retried(3).timeout(ms(12));
    limited.deadline = Some(ms(130));
    let mut bounded = retried(2).optional(Optional::Each);
    bounded.concurrency = Some(1);
    let mut instead = retried(1);
    instead.fallback = Some(string("instead"));
    let plans = [
        plan(vec![
            step("a", act(string("a")), &[]),
            step("b", act(string("gone")), &[0]),
            step("c", act(string("c")), &[1]),
            step("d", act(string("slow")), &[]),
            step("e", value(string("value")), &[0]),
        ]),
        plan(vec![
            with(step("a", each(keys(), act(local(0))), &[]), bounded),
            step("b", never(), &[]),
            with(step("c", act(string("busy")), &[0]), retried(2)),
            step("d", each(words(&[]), act(local(0))), &[1]),
        ]),
        plan(vec![
            with(step("a", act(string("slow")), &[]), limited.clone()),
            with(step("b", each(keys(), act(local(0))), &[]), limited),
        ]),
        plan(vec![
            with(step("a", act(string("gone")), &[]), instead),
            with(
                step("b", each(keys(), each(keys(), act(local(0)))), &[]),
                catching(Catch::Each),
            ),
            with(step("c", act(string("gone")), &[0]), catching(Catch::Whole)),
            with(step("d", never(), &[1]), catching(Catch::Whole)),
        ]),
    ];
    let deadlines = [25, 115];
    plans
        .iter()
        .for_each(|plan| compare(stage, plan, &deadlines, false));
}

#[test]
fn blocks_and_rounds() {
    let inner = |key: &str| {
        vec![
            step("one", act(string("one")), &[]),
            step("two", act(string(key)), &[0]),
            step("three", act(string("three")), &[1]),
            after_work("back", "undo", Role::Undo(0)),
            after_work("end", "end", Role::Always),
        ]
    };
    for key in ["one", "gone", "busy", "slow"] {
        let mut limited = retried(2);
        limited.timeout = Some(ms(50));
        let mut instead = retried(1);
        instead.fallback = Some(string("instead"));
        let nested = vec![
            with(step("inner", block(inner(key)), &[]), retried(2)),
            step("later", act(string("later")), &[0]),
        ];
        let plans = [
            plan(vec![
                step("a", block(inner(key)), &[]),
                step("b", act(string("gone")), &[0]),
            ]),
            plan(vec![with(step("a", block(inner(key)), &[]), limited)]),
            plan(vec![
                with(step("a", block(nested), &[]), instead),
                step("b", act(string("b")), &[0]),
            ]),
            plan(vec![
                with(
                    step("a", each(words(&["x", "y"]), block(inner(key))), &[]),
                    catching(Catch::Each),
                ),
                step("b", act(string("gone")), &[0]),
                after_work("undo_a", "undo_a", Role::Undo(0)),
                after_work("always", "always", Role::Always),
            ]),
        ];
        plans
            .iter()
            .for_each(|plan| compare(stage, plan, &[15, 25], true));
    }
    let plans = [false, true].map(|collect| {
        plan(vec![
            rounds(collect),
            step("b", act(of(Source::Step(0), vec![], "turns")), &[]),
        ])
    });
    plans
        .iter()
        .for_each(|plan| compare(stage, plan, &[15, 25], true));
}

#[test]
fn everything_that_counts() {
    let stage = || {
        Stage::default()
            .with("busy", &[(10, End::Transient)])
            .with("gone", &[(10, End::Permanent)])
    };
    holding()
        .iter()
        .for_each(|plan| compare(stage, plan, &[25], true));
}

/// Nobody sends a value, so each wait ends with its time.
#[test]
fn waits() {
    let wait = || Body::from(Await::new("Value"));
    let limited = |time: u64| Policy::DEFAULT.timeout(ms(time));
    let plan = plan(vec![
        with(step("a", wait(), &[]), limited(30)),
        with(step("b", wait(), &[2]), limited(30)),
        step("c", act(string("c")), &[]),
    ]);
    let stages = [Stage::default(), Stage::default()];
    let mut signals = Vec::new();
    let signals = std::cell::RefCell::new(&mut signals);
    let [expected, got] = both(&stages, &plan, |run| {
        signals.borrow_mut().push(run.signals());
        run.on_failure(OnFailure::Continue)
    });
    assert_eq!(got.result, expected.result);
    assert_eq!(got.report, expected.report);
    assert!(expected.events.len() > 10, "{expected:?}");
    assert_eq!(got.events.join("\n"), expected.events.join("\n"));
}

/// Removes the errors, which name the steps that did not run in runs of the scheduler.
fn without_errors(report: &mut Value) {
    without_clock(report, false);
    match report {
        Value::Object(members) => {
            members.remove("error");
            members.values_mut().for_each(without_errors);
        }
        Value::Array(items) => items.iter_mut().for_each(without_errors),
        _ => {}
    }
}

/// The run ends at the same step, and the report shows that step and the steps around it as failed.
#[test]
fn limits() {
    let inner = |key: &str| {
        vec![
            step("one", act(string(key)), &[]),
            step("two", act(string("two")), &[0]),
            step("three", act(string("three")), &[1]),
        ]
    };
    let nested = vec![
        step("inner", block(inner("one")), &[]),
        step("later", act(string("later")), &[0]),
    ];
    let plan = plan(vec![
        step("a", block(nested), &[]),
        step("b", act(string("b")), &[0]),
        step("c", each(words(&["x", "y"]), act(local(0))), &[1]),
    ]);
    for most in 0..8 {
        let stages = [Stage::default(), Stage::default()];
        let statuses = [false, true].map(|is_driven| {
            let stage = &stages[usize::from(is_driven)];
            let run = stage.run::<Value>(&plan);
            let run = run.limits(Limits::DEFAULT.calls(most));
            let (result, report) = if is_driven {
                stage.play(run.driven().with_report())
            } else {
                stage.play(run.with_report())
            };
            let mut json = serde_json::to_value(&report).unwrap();
            without_errors(&mut json);
            (super::stage::ending(&result), format!("{json:#}"))
        });
        let [expected, got] = statuses;
        assert_eq!(got.0, expected.0);
        assert!(
            got.1 == expected.1,
            "{most}\n{}\n-- expected --\n{}",
            got.1,
            expected.1
        );
    }
}

/// A call that is ready at its time limit has not missed the limit.
#[test]
fn a_call_is_ready_at_its_limit() {
    let mut policy = retried(2).timeout(ms(50));
    policy.deadline = Some(ms(200));
    let keys = words(&["b", "c", "d"]);
    let plan = plan(vec![with(
        step("all", each(keys, act(local(0))), &[]),
        policy,
    )]);
    let stage = || {
        Stage::default()
            .with("b", &[(0, End::Hang), (20, End::Ok)])
            .with("c", &[(60, End::Ok), (50, End::Ok)])
            .with("d", &[(50, End::Ok)])
    };
    let stages = [stage(), stage()];
    let [expected, got] = both(&stages, &plan, |run| run);
    assert_eq!(got.result, expected.result);
    assert_eq!(got.report, expected.report);
    assert!(got.result.contains(r#"String("d")"#), "{}", got.result);
}
