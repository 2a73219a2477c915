//! A value that takes long to make: the run ends in the middle of it.

use super::{plan, step, tools};
use plan_runtime::run::{Limits, ManualTimer, RunErrorKind, Status, Timer, TimerFuture};
use plan_runtime::{Plan, RunError};
use serde_json::{Value, json};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

/// A clock on which each look takes a millisecond, and which wakes nobody.
struct Slow {
    start: Instant,
    looks: AtomicU32,
}

impl Slow {
    fn new() -> Arc<Self> {
        let start = Instant::now();
        Arc::new(Self {
            start,
            looks: AtomicU32::new(0),
        })
    }
}

impl Timer for Slow {
    fn now(&self) -> Instant {
        self.start + Duration::from_millis(self.looks.fetch_add(1, Ordering::Relaxed).into())
    }

    fn sleep(&self, _: Duration) -> TimerFuture {
        Box::pin(std::future::pending())
    }
}

/// A step gives some 100 kB, and another reads it `times` times.
fn long(times: usize, policy: Value) -> Plan {
    let all = vec![step("t"); times];
    plan(json!([
        {"id": "t", "tool": {"name": "list"}, "arguments": {"object": {"n": 3000}}},
        {"id": "s", "tool": {"name": "echo"}, "arguments": {"object": {"x": all}}, "policy": policy},
    ]))
}

fn by_deadline(plan: &Plan, timer: &Arc<Slow>) -> RunError {
    let tools = tools();
    let run = tools
        .run(plan, (), &())
        .timer(timer.clone())
        .deadline(Duration::from_millis(50));
    smol::block_on(run).unwrap_err()
}

/// Two lists that are equal are compared `times` times, and nothing is made.
#[test]
fn the_deadline_ends_what_compares_values() {
    for (tool, how) in [("list", "!="), ("text", "!="), ("text", "<")] {
        let given = |id: &str| json!({"id": id, "tool": {"name": tool}, "arguments": {"object": {"n": 100_000}}});
        let all = vec![json!({"compare": [step("t"), how, step("u")]}); 500];
        let plan = plan(json!([given("t"), given("u"), {"id": "s", "value": {"any": all}}]));
        let error = by_deadline(&plan, &Slow::new());
        assert_eq!(
            error.kind(),
            RunErrorKind::Deadline,
            "{tool} {how}: {error}"
        );
    }
}

#[test]
fn the_deadline_ends_what_makes_a_value() {
    let timer = Slow::new();
    let error = by_deadline(&long(500, json!({})), &timer);
    assert_eq!(error.kind(), RunErrorKind::Deadline, "{error}");
    assert_eq!(error.to_string(), "plan `p` took longer than 50ms");
    assert!(error.failures().is_empty());
    let looks = timer.looks.load(Ordering::Relaxed);
    assert!((50..70).contains(&looks), "{looks}");
}

#[test]
fn the_deadline_ends_what_makes_lists_conditions_fallbacks_and_the_output() {
    let many = json!(vec![step("t"); 500]);
    let list = json!({"id": "t", "tool": {"name": "list"}, "arguments": {"object": {"n": 3000}}});
    for made in [
        json!({"for": {"pattern": "x", "list": many, "body": {"tool": {"name": "echo"}}}}),
        json!({"if": [{"pattern": "Some(x)", "value": many, "then": {"tool": {"name": "echo"}}}]}),
        json!({"value": many}),
        json!({"value": {"text": [{"value": many}]}}),
    ] {
        let mut made = made;
        made["id"] = json!("s");
        let error = by_deadline(&plan(json!([list, made])), &Slow::new());
        assert_eq!(error.kind(), RunErrorKind::Deadline, "{error}");
        assert!(error.failures().is_empty(), "{error}");
    }
    let fallback = json!({"id": "s", "tool": {"name": "fail"}, "policy": {"fallback": many}});
    let error = by_deadline(&plan(json!([list, fallback])), &Slow::new());
    assert_eq!(error.kind(), RunErrorKind::Deadline, "{error}");
    assert_eq!(error.failures()[0].error().to_string(), "no");

    let output = json!({"name": "p", "steps": [list], "output": {"value": many}});
    let error = by_deadline(&super::read(&output.to_string()), &Slow::new());
    assert_eq!(error.kind(), RunErrorKind::Deadline, "{error}");
}

#[test]
fn what_cancels_is_asked_while_a_value_is_made() {
    let asked = AtomicU32::new(0);
    let cancel = poll_fn(|_| match asked.fetch_add(1, Ordering::Relaxed) {
        0..20 => Poll::Pending,
        _ => Poll::Ready(()),
    });
    let (plan, tools) = (long(500, json!({})), tools());
    let run = tools.run(&plan, (), &()).cancel_on(cancel).with_report();
    let (result, report) = smol::block_on(run);
    assert_eq!(result.unwrap_err().kind(), RunErrorKind::Cancelled);
    assert_eq!(asked.load(Ordering::Relaxed), 21, "and not again");
    assert!(matches!(
        report.step("s").unwrap().status(),
        Status::Cancelled
    ));
}

#[test]
fn the_time_limits_of_a_step_end_what_makes_its_arguments() {
    for (policy, expected) in [
        (json!({"timeout": "40ms"}), "took longer than 40ms"),
        (
            json!({"deadline": "40ms"}),
            "took longer than 40ms over all attempts",
        ),
    ] {
        let timer = Slow::new();
        let (plan, tools) = (long(500, policy), tools());
        let run = tools.run(&plan, (), &()).timer(timer.clone());
        let error = smol::block_on(run).unwrap_err();
        assert_eq!(error.failures()[0].error().to_string(), expected);
        let looks = timer.looks.load(Ordering::Relaxed);
        assert!(looks < 70, "{looks}");
    }
}

#[test]
fn small_values_ask_nobody() {
    let counted = AtomicU32::new(0);
    let (plan, tools) = (long(0, json!({})), tools());
    let timer = Slow::new();
    let cancel = poll_fn(|_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Poll::<()>::Pending
    });
    let run = tools
        .run(&plan, (), &())
        .limits(Limits::DEFAULT)
        .timer(timer.clone())
        .cancel_on(cancel);
    smol::block_on(run).unwrap();
    // The start of the run, and at most each look at the future that cancels.
    let polls = counted.load(Ordering::Relaxed);
    let looks = timer.looks.load(Ordering::Relaxed);
    assert!(
        (1..=polls.max(1) + 1).contains(&looks),
        "{looks} in {polls} polls"
    );
}

/// A clock on which each look takes a millisecond, and whose sleeps end in time.
struct Ticking(Arc<Slow>);

impl Timer for Ticking {
    fn now(&self) -> Instant {
        self.0.now()
    }

    fn sleep(&self, time: Duration) -> TimerFuture {
        let timer = Arc::clone(&self.0);
        let end = timer.now() + time;
        Box::pin(poll_fn(move |cx| {
            if timer.now() >= end {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
    }
}

#[test]
fn the_time_limit_of_a_block_ends_what_makes_a_value_in_it() {
    let all = vec![step("t"); 500];
    let inside =
        json!([{"id": "s", "tool": {"name": "echo"}, "arguments": {"object": {"x": all}}}]);
    for policy in [json!({"timeout": "40ms"}), json!({"deadline": "40ms"})] {
        let timer = Slow::new();
        let plan = plan(json!([
            {"id": "t", "tool": {"name": "list"}, "arguments": {"object": {"n": 3000}}},
            {"id": "b", "block": {"steps": inside}, "policy": policy},
        ]));
        let tools = tools();
        let run = tools.run(&plan, (), &()).timer(Ticking(Arc::clone(&timer)));
        let error = smol::block_on(run).unwrap_err().to_string();
        assert!(error.contains("step `b`: took longer than 40ms"), "{error}");
        let looks = timer.looks.load(Ordering::Relaxed);
        assert!(looks < 120, "{looks}");
    }
}

/// A step is undone by another, whose arguments take long.
fn undone(arguments: usize, undo: &str) -> Plan {
    let all = vec![step("t"); arguments];
    plan(json!([
        {"id": "t", "tool": {"name": "list"}, "arguments": {"object": {"n": 3000}}},
        {"id": "held", "tool": {"name": "echo"}, "arguments": {"object": {"x": step("t")}}},
        {"id": "u", "tool": {"name": undo}, "arguments": {"object": {"x": all}}, "undo": "held"},
        {"id": "s", "tool": {"name": "echo"}, "arguments": {"object": {"x": vec![step("t"); 500]}}, "after": ["held"]},
    ]))
}

fn after(polls: u32) -> impl Future<Output = ()> + Send {
    let asked = AtomicU32::new(0);
    poll_fn(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        asked if asked < polls => Poll::Pending,
        _ => Poll::Ready(()),
    })
}

#[test]
fn the_end_of_the_grace_ends_what_makes_a_value() {
    let (plan, tools, timer) = (undone(500, "echo"), tools(), Slow::new());
    let run = tools.run(&plan, (), &()).timer(Ticking(Arc::clone(&timer)));
    let run = run
        .cancel_on(after(20))
        .grace_period(Duration::from_millis(50));
    let error = smol::block_on(run).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled, "{error}");
    assert_eq!(error.not_undone().collect::<Vec<_>>(), ["held"]);
}

/// A run that is canceled while a value is made waits for the end of the grace.
#[test]
fn the_grace_ends_after_a_value_was_cut() {
    let (plan, tools, timer) = (undone(0, "hang"), tools(), ManualTimer::new());
    let run = tools.run(&plan, (), &()).timer(timer.clone());
    let run = run
        .cancel_on(after(20))
        .grace_period(Duration::from_secs(50));
    let error = smol::block_on(timer.skip_waits(run)).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled, "{error}");
    assert_eq!(timer.elapsed(), Duration::from_secs(50));
}

/// A loop whose condition compares two large values many times.
fn while_long(policy: &Value) -> Value {
    let all = vec![json!({"compare": [step("t"), "!=", step("u")]}); 500];
    let mut policy = policy.clone();
    policy["at_most"] = 3.into();
    let inside = json!([{"id": "x", "tool": {"name": "echo"}, "arguments": {"object": {"n": 1}}}]);
    json!({"id": "s", "loop": {"steps": inside, "value": step("x"), "while": {"any": all}}, "policy": policy})
}

fn with_texts(made: Value) -> Plan {
    let given = |id: &str| json!({"id": id, "tool": {"name": "text"}, "arguments": {"object": {"n": 100_000}}});
    plan(json!([given("t"), given("u"), made]))
}

#[test]
fn the_deadline_and_a_cancellation_end_what_makes_the_condition_of_a_loop() {
    let plan = with_texts(while_long(&json!({})));
    let error = by_deadline(&plan, &Slow::new());
    assert_eq!(error.kind(), RunErrorKind::Deadline, "{error}");
    assert!(error.failures().is_empty(), "{error}");
    let run = tools();
    let error = smol::block_on(run.run(&plan, (), &()).cancel_on(after(20))).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled, "{error}");
}

#[test]
fn time_limits_end_what_makes_the_condition_of_a_loop() {
    let late = |made: Value| {
        let timer = Slow::new();
        let (plan, tools) = (with_texts(made), tools());
        let run = tools.run(&plan, (), &()).timer(Ticking(Arc::clone(&timer)));
        let error = smol::block_on(run).unwrap_err();
        let looks = timer.looks.load(Ordering::Relaxed);
        assert!(looks < 150, "{looks}");
        error.failures()[0].error().to_string()
    };
    let own = while_long(&json!({"deadline": "60ms"}));
    assert_eq!(late(own), "took longer than 60ms over all attempts");
    for policy in [json!({"timeout": "60ms"}), json!({"deadline": "60ms"})] {
        let inside = json!([while_long(&json!({}))]);
        let block = json!({"id": "b", "block": {"steps": inside}, "policy": policy});
        let error = late(block);
        assert!(error.contains("took longer than 60ms"), "{error}");
    }
}
