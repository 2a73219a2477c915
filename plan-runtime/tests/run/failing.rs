use super::support::{Driven, Lab, Outcome, graph, plan, run, statuses};
use super::watching::Log;
use plan_runtime::run::OnFailure;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

#[test]
fn stop_lets_what_runs_finish_and_starts_nothing() {
    let plan = plan("a, b, c < a, d < c b, e < b, f < e");
    let lab = Lab::default().with("a", Outcome::Fail);
    let mut driven = Driven::new(run(&plan, &lab).with_report());
    driven.pending();
    lab.let_through("a");
    driven.pending();
    lab.let_through("b");
    let (result, report) = driven.ended();
    assert_eq!(lab.started(), "a b");
    assert_eq!(lab.dropped(), "");
    assert_eq!(
        statuses(&report),
        "a failed: no a today, b completed, c blocked by `a`, d blocked by `a`, e not started, f not started"
    );
    let totals = report.totals();
    assert_eq!(
        totals.to_string(),
        "1 completed, 1 failed, 2 blocked, 2 not started"
    );
    assert_eq!(
        result.unwrap_err().to_string(),
        "plan `test` failed: step `a` (work): no a today (this blocked `c` and `d`)"
    );
}

#[test]
fn continue_runs_all_that_does_not_need_the_failed_step() {
    let plan = plan("a, b, c < a, d < c b, e < b, f < e");
    let lab = Lab::open().with("a", Outcome::Fail);
    let run = run(&plan, &lab).on_failure(OnFailure::Continue);
    let (result, report) = Driven::new(run.with_report()).ended();
    assert_eq!(lab.started(), "a b e f");
    assert_eq!(
        statuses(&report),
        "a failed: no a today, b completed, c blocked by `a`, d blocked by `a`, e completed, f completed"
    );
    assert_eq!(result.unwrap_err().failures().len(), 1);
}

#[test]
fn cancel_drops_what_runs() {
    let plan = plan("a, b, c < a, d < b");
    let lab = Lab::default().with("a", Outcome::Fail);
    let run = run(&plan, &lab).on_failure(OnFailure::Cancel);
    let mut driven = Driven::new(run.with_report());
    driven.pending();
    lab.let_through("a");
    let (_, report) = driven.ended();
    assert_eq!(lab.dropped(), "b");
    assert_eq!(
        statuses(&report),
        "a failed: no a today, b cancelled, c blocked by `a`, d not started"
    );
    assert!(report.step("b").unwrap().duration().is_some());
}

/// A failure and a cancellation may come with the first poll of a call. Then no call beside it has begun.
#[test]
fn a_call_that_has_not_begun_is_not_reported() {
    let plan = plan("l, a < l, b < l");
    for fails in [true, false] {
        let (mut lab, log) = (Lab::open(), Arc::new(Log::default()));
        if fails {
            lab = lab.with("a", Outcome::Fail);
        }
        let cancelled = poll_fn(|_| {
            if !fails && lab.started().ends_with('a') {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let run = run(&plan, &lab).on_failure(OnFailure::Cancel);
        let run = run.observe(log.clone()).cancel_on(cancelled).with_report();
        let (result, report) = Driven::new(run).ended();
        result.unwrap_err();
        assert_eq!(lab.started(), "l a");
        let step = report.step("b").unwrap();
        assert_eq!(step.status().name(), "not started");
        assert!(step.attempts().is_empty() && step.started().is_none());
        let said = log.said();
        let of_b = said.iter().filter(|line| line.starts_with("b "));
        assert_eq!(of_b.collect::<Vec<_>>(), ["b ready"]);
    }
}

#[test]
fn failures_at_once_are_all_reported() {
    let plan = plan("a, b, c < a, d < b, e < a b, f < e");
    let lab = Lab::default()
        .with("a", Outcome::Fail)
        .with("b", Outcome::Panic);
    let mut driven = Driven::new(run(&plan, &lab).with_report());
    driven.pending();
    lab.let_through("b a");
    let (result, report) = driven.ended();
    let error = result.unwrap_err();
    let failed: Vec<_> = error.failures().iter().map(|it| it.step()).collect();
    assert_eq!(failed, ["a", "b"], "in the plan's order");
    assert_eq!(
        statuses(&report),
        "a failed: no a today, b failed: panicked: b is upside down, c blocked by `a`, \
         d blocked by `b`, e blocked by `a`, f blocked by `a`"
    );
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `a` (work): no a today (this blocked `c`, `e` and `f`); \
         step `b` (work): panicked: b is upside down (this blocked `d`)"
    );
    assert_eq!(
        format!("{error:?}"),
        "plan `test` failed:\
         \n    step `a` (work): no a today (this blocked `c`, `e` and `f`)\
         \n    step `b` (work): panicked: b is upside down (this blocked `d`)"
    );
}

#[test]
fn a_plan_that_can_never_finish_is_refused() {
    let cyclic = plan("a, b < a d, c < b, d < c, e < d");
    let lab = Lab::open();
    let (result, report) = Driven::new(run(&cyclic, &lab).with_report()).ended();
    assert_eq!(
        result.unwrap_err().to_string(),
        "plan `test` cannot run: steps wait for each other: `b` → `d` → `c` → `b`"
    );
    assert_eq!(report.totals().not_started, 5);
    assert_eq!(lab.started(), "");

    let own = plan("a < a");
    let error = Driven::new(run(&own, &lab)).ended().unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `test` cannot run: steps wait for each other: `a` → `a`"
    );

    let beyond = graph(vec![("a".into(), vec![7])]);
    let error = Driven::new(run(&beyond, &lab)).ended().unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `test` cannot run: step `a` needs step number 7, but the plan has only 1"
    );
    assert!(error.is_permanent());
    assert!(error.failures().is_empty());
}

#[test]
fn needs_may_be_named_twice() {
    let plan = plan("a, b < a a");
    assert_eq!(Driven::new(run(&plan, &Lab::open())).ended().unwrap(), 3);
}

#[test]
fn a_report_is_a_table() {
    let plan = plan("first, b < first, third < b, other");
    let lab = Lab::open().with("b", Outcome::Fail);
    let (_, report) = Driven::new(run(&plan, &lab).concurrency(1).with_report()).ended();
    let text = report.to_string();
    // Times differ from run to run.
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let digit = |c: char| c.is_ascii_digit() || c == '.';
            line.replace(digit, "")
                .replace("µs", "ms")
                .replace("██", "█")
                .replace("██", "█")
                .replace("██", "█")
                .replace("██", "█")
                .replace("██", "█")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(
        lines,
        [
            "plan `test`: steps in ms: completed, failed, blocked, not started",
            "first work completed ms + ms █",
            "b work failed ms + ms █ no b today",
            "third work blocked by `b`",
            "other work not started",
            "critical path: first → b, ms",
        ]
    );
    let column = |line: &str, word: &str| line[..line.find(word).unwrap()].chars().count();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(column(lines[1], "+"), column(lines[2], "+"));
    assert_eq!(column(lines[2], "no b"), column(lines[3], "by"));
    assert_eq!(column(lines[3], "blocked"), column(lines[4], "not started"));

    let b = report.step("b").unwrap();
    assert_eq!((b.id(), b.tool()), ("b", Some("work")));
    assert_eq!(b.error().unwrap().to_string(), "no b today");
    assert!(b.started() >= report.step("first").unwrap().ended());
    assert!(b.ended().unwrap() <= report.duration());
    assert!(report.step("third").unwrap().started().is_none());
    assert!(report.step("fourth").is_none());
}
