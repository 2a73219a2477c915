//! The events that observers receive and the reports of runs, which agree and stay the same.

use super::blocks::block;
use super::bytes::{holding, rounds};
use super::stage::{
    End, Stage, act, branch, each, ending, list, local, ms, of, plan, step, string, value, with,
};
use super::watching::Log;
use crate::golden;
use plan_runtime::Plan;
use plan_runtime::plan::{
    Await, Body, Catch, Condition, Optional, Policy, Role, Source, Step, Template,
};
use plan_runtime::run::{Limits, OnFailure, Run, Status};
use serde_json::Value;
use std::cell::OnceCell;
use std::sync::Arc;

const POLICIES: [OnFailure; 3] = [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel];

/// Returns the result of a run, its report and its events. The last event of each step tells the status in the report.
fn watch(
    stage: &Stage,
    plan: &Plan,
    set: impl FnOnce(Run<'_, Stage, Value>) -> Run<'_, Stage, Value>,
) -> String {
    let log = Arc::new(Log::default());
    let run = set(stage.run::<Value>(plan).observe(log.clone()));
    let (result, report) = stage.play(run.with_report());
    let events = log.said();
    for step in report.steps() {
        let of = |event: &&String| event.split(' ').next() == Some(step.id());
        let last = events.iter().rfind(of);
        let is_told = match step.status() {
            Status::NotStarted => last.is_none(),
            status => last.is_some_and(|last| last.contains(status.name())),
        };
        assert!(is_told, "{last:?} {step:?}");
    }
    let report = format!("{:#}", serde_json::to_value(&report).unwrap());
    // The system clock tells the starts.
    let report = report.lines().filter(|line| !line.contains("started_at"));
    let report: Vec<&str> = report.collect();
    let (report, events) = (report.join("\n"), events.join("\n"));
    format!("{}\n{report}\n{events}", ending(&result))
}

/// Has a run end in each way.
fn ways(stage: impl Fn() -> Stage, plans: &[Plan], deadlines: &[u64]) -> Vec<String> {
    let mut outcomes = Vec::new();
    for (number, plan) in plans.iter().enumerate() {
        let deadlines = deadlines.iter().copied();
        for deadline in deadlines.chain([100_000]) {
            for (on_failure, captures) in POLICIES.into_iter().zip([true, false, true]) {
                let outcome = watch(&stage(), plan, |run| {
                    run.on_failure(on_failure)
                        .capture_arguments(captures)
                        .capture_outputs(captures)
                        .seed(1)
                        .deadline(ms(deadline))
                });
                outcomes.push(format!("{number} {on_failure:?} {deadline}\n{outcome}"));
            }
        }
    }
    outcomes
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
    golden::check("watched_calls", &ways(stage, &plans, &[25, 115]));
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
    let mut outcomes = Vec::new();
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
        outcomes.extend(ways(stage, &plans, &[15, 25]));
    }
    let plans = [false, true].map(|collect| {
        plan(vec![
            rounds(collect),
            step("b", act(of(Source::Step(0), vec![], "turns")), &[]),
        ])
    });
    outcomes.extend(ways(stage, &plans, &[15, 25]));
    golden::check("watched_blocks", &outcomes);
}

#[test]
fn everything_that_counts() {
    let stage = || {
        Stage::default()
            .with("busy", &[(10, End::Transient)])
            .with("gone", &[(10, End::Permanent)])
    };
    golden::check("watched_bytes", &ways(stage, &holding(), &[25]));
}

/// Each wait ends with its time, since no value is sent.
#[test]
fn waits() {
    let wait = || Body::from(Await::new("Value"));
    let limited = |time: u64| Policy::DEFAULT.timeout(ms(time));
    let plan = plan(vec![
        with(step("a", wait(), &[]), limited(30)),
        with(step("b", wait(), &[2]), limited(30)),
        step("c", act(string("c")), &[]),
    ]);
    let signals = OnceCell::new();
    let outcome = watch(&Stage::default(), &plan, |run| {
        assert!(signals.set(run.signals()).is_ok());
        run.on_failure(OnFailure::Continue)
    });
    golden::check("watched_waits", &[outcome]);
}

/// The report shows the step that exceeds a limit and the steps around it as failed.
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
    let outcomes = (0..8).map(|most| {
        watch(&Stage::default(), &plan, |run| {
            run.limits(Limits::DEFAULT.calls(most))
        })
    });
    golden::check("watched_limits", &outcomes.collect::<Vec<_>>());
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
    let stage = Stage::default()
        .with("b", &[(0, End::Hang), (20, End::Ok)])
        .with("c", &[(60, End::Ok), (50, End::Ok)])
        .with("d", &[(50, End::Ok)]);
    let result = stage.play(stage.run::<Value>(&plan));
    assert_eq!(result.unwrap(), serde_json::json!(["b", "c", "d"]));
}
