//! Limits on the work of a run: calls, attempts, elements, time.

use super::{plan, step};
use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::run::{CallContext, Limits, ManualTimer, RunErrorKind, Status, StepError};
use plan_runtime::{Error, Plan, RunError, plan, tool};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The work and the end of a run.
struct Done {
    result: Result<Value, RunError>,
    calls: usize,
    attempts: usize,
    failed: Vec<String>,
}

/// `call` succeeds, `try` fails at each first attempt of three, and `fail` always fails, but may be tried again.
fn done(plan: &Plan, limits: Option<Limits>) -> Done {
    let (calls, attempts) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let count = |name: &str, fails: fn(usize) -> bool| {
        let (calls, attempts) = (Arc::clone(&calls), Arc::clone(&attempts));
        let tool = move |given: Value| {
            let tried = attempts.fetch_add(1, Ordering::Relaxed);
            let fails = fails(tried);
            if !fails {
                calls.fetch_add(1, Ordering::Relaxed);
            }
            async move {
                if fails {
                    return Err(Error::msg("busy"));
                }
                Ok(given)
            }
        };
        (Contract::new(name), tool)
    };
    let (ok, ok_tool) = count("call", |_| false);
    let (busy, busy_tool) = count("try", |tried| tried % 3 != 2);
    let (fail, fail_tool) = count("fail", |_| true);
    let tools = Toolbox::<()>::new()
        .with_fn(ok, ok_tool)
        .with_fn(busy, busy_tool)
        .with_fn(fail, fail_tool);
    let timer = ManualTimer::new();
    let mut run = tools.run(plan, (), &()).concurrency(1).timer(timer.clone());
    if let Some(limits) = limits {
        run = run.limits(limits);
    }
    let (result, report) = smol::block_on(timer.skip_waits(run.with_report()));
    let failed = report
        .steps()
        .iter()
        .filter(|step| matches!(step.status(), Status::Failed(StepError::Limit(_))))
        .map(|step| step.id().to_owned())
        .collect();
    Done {
        result,
        calls: calls.load(Ordering::Relaxed),
        attempts: attempts.load(Ordering::Relaxed),
        failed,
    }
}

fn error(plan: &Plan, limits: Option<Limits>) -> (String, Done) {
    let done = done(plan, limits);
    let error = done.result.as_ref().unwrap_err();
    assert!(
        error.kind() == RunErrorKind::Limit && !error.is_transient(),
        "{error}"
    );
    (error.to_string(), done)
}

/// A `for` over the numbers below `n`, which calls `tool`.
fn each(id: &str, n: usize, tool: &str, policy: Value) -> Value {
    let list: Vec<usize> = (0..n).collect();
    json!({"id": id, "for": {"pattern": "x", "list": list, "body": {"tool": {"name": tool}, "arguments": {"object": {}}}}, "policy": policy})
}

#[test]
fn more_attempts_than_anyone_has_time_for() {
    let retries =
        |policy: Value| plan(json!([{"id": "s", "tool": {"name": "fail"}, "policy": policy}]));
    // As before there were limits: the plan decided, and memory grew with each attempt.
    for policy in [
        json!({"attempts": u32::MAX, "backoff": "0s"}),
        json!({"attempts": u32::MAX, "backoff": "1s", "max": "1s"}),
        json!({"attempts": u32::MAX, "backoff": "0s", "optional": "whole"}),
        json!({"attempts": u32::MAX, "backoff": "0s", "fallback": 1}),
    ] {
        let plan = retries(policy.clone());
        let (error, done) = error(&plan, None);
        assert_eq!(
            error,
            "plan `p` was ended: step `s` (fail): the run has made 20000 attempts, its limit; retry less, or raise \
             `run::Limits::attempts`",
            "{policy}"
        );
        assert_eq!(
            (done.attempts, &done.failed[..]),
            (20_000, &["s".to_owned()][..])
        );
    }
    let (error, done) = error(
        &retries(json!({"attempts": 9, "backoff": "0s"})),
        Some(Limits::UNTRUSTED.attempts(8)),
    );
    assert!(error.contains("8 attempts"), "{error}");
    assert_eq!(done.attempts, 8);
}

#[test]
fn more_calls_than_anyone_waits_for() {
    let mut nested = json!({"tool": {"name": "call"}, "arguments": {"object": {}}});
    for _ in 0..7 {
        nested = json!({"for": {"pattern": "x", "list": [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], "body": nested}});
    }
    nested["id"] = json!("s");
    let (text, done) = error(&plan(json!([nested])), None);
    assert_eq!(
        text,
        "plan `p` was ended: step `s[0][0][1][0][0][0][0]` (call): the run has made 10000 calls, its limit; iterate over less, \
         or raise `run::Limits::calls`"
    );
    assert_eq!(done.calls, 10_000);
}

#[test]
fn lists_that_call_nothing() {
    let mut nested = json!({"value": 1});
    for _ in 0..7 {
        nested = json!({"for": {"pattern": "x", "list": [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], "body": nested}});
    }
    nested["id"] = json!("s");
    let plan = plan(json!([nested]));
    let (text, _) = error(&plan, None);
    assert!(
        text.ends_with("the run would iterate over more than 100000 elements, its limit, which includes the rounds of loops; iterate over less, or raise `run::Limits::elements`"),
        "{text}"
    );
}

/// A loop whose rounds call nothing ends at its bound, or at the limit on elements: each round is one.
#[test]
fn loops_that_call_nothing() {
    let made = plan(json!([{
        "id": "s",
        "loop": {"steps": [{"id": "x", "value": 1}], "value": step("x"), "while": true},
        "policy": {"at_most": 1_000_000_000, "optional": "whole"},
    }]));
    let (text, _) = error(&made, Some(Limits::DEFAULT.elements(500)));
    assert_eq!(
        text,
        "plan `p` was ended: step `s[500]`: the run would iterate over more than 500 elements, its limit, which includes \
         the rounds of loops; iterate over less, or raise `run::Limits::elements`"
    );
    // Nobody has to ask for it: a plan that was read has a limit.
    let (text, _) = error(&made, None);
    assert!(
        text.contains("step `s[100000]`: the run would iterate over more than 100000 elements"),
        "{text}"
    );
}

#[test]
fn nothing_makes_up_for_a_limit() {
    let steps = [
        each("s", 5, "call", json!({"optional": "each"})),
        each("s", 5, "call", json!({"optional": "whole"})),
        each("s", 5, "call", json!({"fallback": []})),
    ];
    for made in steps {
        let made = plan(json!([made, {"id": "after", "after": ["s"], "tool": {"name": "call"}}]));
        let (text, done) = error(&made, Some(Limits::DEFAULT.calls(3)));
        assert!(
            text.contains("step `s[3]` (call): the run has made 3 calls"),
            "{text}"
        );
        assert_eq!((done.calls, done.failed), (3, vec!["s".to_owned()]));
    }
}

#[test]
fn what_fails_otherwise_is_said_too() {
    let made = plan(json!([
        {"id": "broken", "tool": {"name": "fail"}},
        {"id": "next", "tool": {"name": "call"}},
    ]));
    let limits = Limits::DEFAULT.calls(1);
    let tools = Toolbox::<()>::new()
        .with_fn(Contract::new("fail"), |_| async { Err(Error::msg("no")) })
        .with_fn(Contract::new("call"), |given| async move { Ok(given) });
    let run = tools.run(&made, (), &()).limits(limits).concurrency(1);
    let run = run.on_failure(plan_runtime::run::OnFailure::Continue);
    assert_eq!(
        smol::block_on(run).unwrap_err().to_string(),
        "plan `p` was ended: step `next` (call): the run has made 1 call, its limit; iterate over less, or raise \
         `run::Limits::calls`; step `broken` (fail): no"
    );
}

#[test]
fn the_arguments_of_a_call_have_a_limit_of_their_own() {
    let text = "x".repeat(5_000);
    let made = plan(json!([
        {"id": "s", "value": text},
        {"id": "t", "tool": {"name": "call"}, "arguments": {"object": {"a": step("s"), "b": step("s")}}},
    ]));
    assert!(
        done(&made, Some(Limits::DEFAULT.arguments(12_000)))
            .result
            .is_ok()
    );
    let (text, done) = error(&made, Some(Limits::DEFAULT.arguments(10_000)));
    assert_eq!(
        text,
        "plan `p` was ended: step `t` (call): the arguments take more than 10000 bytes, the run's limit for the arguments of one \
         call; pass less, or raise `run::Limits::arguments`"
    );
    assert_eq!(done.calls, 0);
}

#[test]
fn a_plan_from_json_does_not_run_for_ever() {
    let made = plan(json!([{"id": "s", "tool": {"name": "hang"}}]));
    let tools = Toolbox::<()>::new().with_fn(Contract::new("hang"), |_| std::future::pending());
    let timer = ManualTimer::new();
    let run = tools.run(&made, (), &()).timer(timer.clone());
    let error = smol::block_on(timer.skip_waits(run)).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Deadline);
    assert_eq!(timer.elapsed(), Duration::from_secs(24 * 60 * 60));
    // The shorter of the two holds.
    for (deadline, limit) in [(5, 9), (9, 5)] {
        let timer = ManualTimer::new();
        let run = tools.run(&made, (), &()).timer(timer.clone());
        let run = run
            .deadline(Duration::from_secs(deadline))
            .limits(Limits::DEFAULT.time(Duration::from_secs(limit)));
        assert!(
            smol::block_on(timer.skip_waits(run)).unwrap_err().kind() == RunErrorKind::Deadline
        );
        assert_eq!(timer.elapsed(), Duration::from_secs(5));
    }
}

/// Bodies of lists and calls, as far as a run with default limits can do them.
fn body() -> impl Strategy<Value = Value> {
    let tool = prop_oneof![Just("call"), Just("try")];
    let call = tool.prop_map(|tool| json!({"tool": {"name": tool}, "arguments": {"object": {}}}));
    call.prop_recursive(3, 8, 1, |inner| {
        (inner, 0_usize..5).prop_map(|(inner, n)| {
            let list: Vec<usize> = (0..n).collect();
            json!({"for": {"pattern": "x", "list": list, "body": inner}})
        })
    })
}

/// Lists that a body iterates over have this many elements together.
fn elements(body: &Value) -> usize {
    match body.get("for") {
        None => 0,
        Some(each) => {
            let n = each["list"].as_array().unwrap().len();
            n + n * elements(&each["body"])
        }
    }
}

proptest! {
    /// The work of a run without limits fits exactly equal limits, and exceeds smaller ones.
    #[test]
    fn limits_are_exact(bodies in prop::collection::vec(body(), 1..4)) {
        let steps: Vec<Value> = bodies.iter().enumerate().map(|(i, body)| {
            let mut step = body.clone();
            step["id"] = json!(format!("s{i}"));
            step["policy"] = json!({"attempts": 3, "backoff": "0s", "optional": "whole"});
            step
        }).collect();
        let plan = plan(json!(steps));
        let free = done(&plan, None);
        prop_assert!(free.result.is_ok());
        let listed: usize = bodies.iter().map(elements).sum();
        let exact = Limits::DEFAULT.calls(free.calls).attempts(free.attempts).elements(listed);
        prop_assert!(done(&plan, Some(exact)).result.is_ok());
        if let Some(calls) = free.calls.checked_sub(1) {
            let (text, done) = error(&plan, Some(exact.calls(calls)));
            prop_assert!(text.contains(&format!("has made {calls} call")), "{}", text);
            prop_assert_eq!(done.calls, calls);
        }
        if let Some(attempts) = free.attempts.checked_sub(1) {
            let (text, done) = error(&plan, Some(exact.attempts(attempts)));
            prop_assert!(text.contains(&format!("has made {attempts} attempt")), "{}", text);
            prop_assert_eq!(done.attempts, attempts);
        }
        if let Some(elements) = listed.checked_sub(1) {
            let (text, _) = error(&plan, Some(exact.elements(elements)));
            prop_assert!(text.contains(&format!("more than {elements} element")), "{}", text);
        }
    }
}

/// Counts.
#[tool]
async fn tick(after: u64) -> plan_runtime::Result<u64> {
    Ok(after + 1)
}

plan! {
    Twice(after: u64) -> u64 {
        step a = Tick { after };
        step b = Tick { after: a };
        b
    }
}

/// Runs a plan as a part of the run around it.
#[tool]
async fn tick_twice(#[context] context: CallContext, after: u64) -> plan_runtime::Result<u64> {
    Ok(Twice { after }.run(&()).inside(&context).await?)
}

#[test]
fn calls_count_before_a_plan_inside_and_after_it() {
    let run = |limits| {
        let made = plan! {
            step a = Tick { after: 0 };
            step b = Tick { after: a };
            step c = TickTwice { after: b };
            step d = Tick { after: c };
            d
        };
        smol::block_on(made.run(&()).limits(limits)).map_err(|error| error.to_string())
    };
    for limit in [Limits::calls, Limits::attempts] {
        assert_eq!(run(limit(Limits::DEFAULT, 6)), Ok(5));
        for (most, step) in [(0, "a"), (1, "b"), (2, "c"), (3, "a"), (4, "b"), (5, "d")] {
            let text = run(limit(Limits::DEFAULT, most)).unwrap_err();
            let found = text.contains(&format!("has made {most} "));
            assert!(found && text.contains(step), "{most}: {text}");
        }
    }
}
