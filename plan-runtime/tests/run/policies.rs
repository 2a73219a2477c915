//! Attempts, time limits, fallbacks, and runs that end before their time.

use super::stage::{End, Stage, act, each, list, local, ms, of, plan, step, string, value, with};
use super::support::{Driven, statuses};
use plan_runtime::Plan;
use plan_runtime::plan::{Computed, Optional, Policy, Segment, Selector, Source, Step, Template};
use plan_runtime::run::{OnFailure, RunErrorKind, Timer};
use serde_json::{Value, json};
use std::time::Duration;

/// Waits of 100 ms, 200 ms, 300 ms, 300 ms …
fn patient(attempts: u32) -> Policy {
    Policy::DEFAULT
        .attempts(attempts)
        .backoff(ms(100))
        .max(ms(300))
        .jitter(false)
}

fn one(policy: Policy) -> Plan {
    plan(vec![with(step("a", act(string("a")), &[]), policy)])
}

#[test]
fn attempts_start_when_the_policy_says() {
    let plan = one(patient(5));
    let stage = Stage::default().with(
        "a",
        &[
            (10, End::Transient),
            (20, End::Panic),
            (10, End::Transient),
            (10, End::Transient),
            (10, End::Ok),
        ],
    );
    let (result, report) = stage.play(stage.run::<Value>(&plan).with_report());
    assert_eq!(result.unwrap(), json!("a"));
    assert_eq!(stage.log(), "a@0 a@110 a@330 a@640 a@950");
    let attempts = report.steps()[0].attempts();
    let errors: Vec<_> = attempts
        .iter()
        .map(|it| it.error().map(ToString::to_string).unwrap_or_default())
        .collect();
    assert_eq!(
        errors,
        [
            "a is busy",
            "panicked: a is upside down",
            "a is busy",
            "a is busy",
            ""
        ]
    );
    assert_eq!(attempts[1].started(), ms(110));
    assert_eq!(attempts[1].ended(), Some(ms(130)));
    assert_eq!(attempts[4].number(), 5);
    assert_eq!(report.duration(), ms(960));
    assert_eq!(statuses(&report), "a completed");
}

#[test]
fn the_last_error_counts_and_permanent_ones_are_final() {
    let plan1 = one(patient(3));
    let stage = Stage::default().with(
        "a",
        &[(1, End::Transient), (1, End::Panic), (1, End::Transient)],
    );
    let error = stage.play(stage.run::<Value>(&plan1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `a` (act): a is busy"
    );
    assert_eq!(stage.log(), "a@0 a@101 a@302");

    let stage = Stage::default().with("a", &[(1, End::Permanent)]);
    stage.play(stage.run::<Value>(&plan1)).unwrap_err();
    assert_eq!(stage.log(), "a@0");

    // A list that cannot be resolved now cannot be resolved later.
    let nowhere = Computed::new("nowhere", []).into();
    let plan2 = plan(vec![with(step("a", act(nowhere), &[]), patient(3))]);
    let (result, report) = stage.play(stage.run::<Value>(&plan2).with_report());
    result.unwrap_err();
    assert_eq!(report.steps()[0].attempts().len(), 1);
}

#[test]
fn jitter_waits_for_a_part_of_the_time() {
    let policy = patient(20).jitter(true);
    let plan = one(policy);
    let times = |seed| {
        let stage = Stage::default().with("a", &[(0, End::Transient)]);
        let run = stage.run::<Value>(&plan).seed(seed).with_report();
        let (_, report) = stage.play(run);
        let attempts = report.steps()[0].attempts().to_vec();
        let starts: Vec<_> = attempts.iter().map(|it| it.started()).collect();
        starts
    };
    let starts = times(7);
    assert_eq!(starts.len(), 20);
    assert_eq!(starts, times(7));
    assert_ne!(starts, times(8));
    let waits: Vec<_> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits[0] <= ms(100) && waits[1] <= ms(200));
    assert!(waits.iter().all(|wait| *wait <= ms(300)));
    assert!(waits.iter().any(|wait| *wait < ms(100)));
}

#[test]
fn a_time_limit_inside_a_retry_inside_a_for() {
    let policy = patient(2).timeout(ms(50));
    let keys = list(["a", "b", "c"].map(string).to_vec());
    let plan = plan(vec![with(
        step("all", each(keys, act(local(0))), &[]),
        policy,
    )]);
    let stage = Stage::default()
        .with("b", &[(0, End::Hang), (20, End::Ok)])
        .with("c", &[(60, End::Ok), (50, End::Ok)]);
    let (result, report) = stage.play(stage.run::<Value>(&plan).with_report());
    // `c` is ready at its limit the second time: what is ready counts.
    assert_eq!(result.unwrap(), json!(["a", "b", "c"]));
    assert_eq!(stage.log(), "a@0 b@0 c@0 b@150 c@150");
    assert_eq!(stage.dropped(), 2);
    let failed = &report.steps()[0].attempts()[1];
    assert_eq!(failed.element(), [1]);
    assert_eq!(failed.error().unwrap().to_string(), "took longer than 50ms");
    assert_eq!(failed.ended(), Some(ms(50)));
}

#[test]
fn a_deadline_over_all_attempts() {
    let policy = |deadline| patient(9).deadline(ms(deadline));
    // The wait before the third attempt would end after 10 + 100 + 10 + 200 ms.
    for (deadline, log, end) in [(320, "a@0 a@110", 120), (321, "a@0 a@110 a@320", 321)] {
        let plan = one(policy(deadline));
        let stage = Stage::default().with("a", &[(10, End::Transient)]);
        let (result, report) = stage.play(stage.run::<Value>(&plan).with_report());
        assert_eq!(stage.log(), log);
        assert_eq!(report.duration(), ms(end));
        let error = result.unwrap_err();
        let message = match deadline {
            320 => "a is busy",
            _ => "took longer than 321ms over all attempts",
        };
        assert_eq!(error.failures()[0].error().to_string(), message);
        assert_eq!(error.is_transient(), deadline == 320);
    }
}

#[test]
fn waits_do_not_count_as_calls() {
    let plan = plan(vec![
        with(step("a", act(string("a")), &[]), patient(2)),
        step("b", act(string("b")), &[]),
        step("c", act(string("c")), &[]),
    ]);
    let stage = Stage::default()
        .with("a", &[(10, End::Transient), (10, End::Ok)])
        .with("b", &[(95, End::Ok)])
        .with("c", &[(50, End::Ok)]);
    stage
        .play(stage.run::<Value>(&plan).concurrency(1))
        .unwrap();
    // `a` could be tried again at 110, when `c` runs.
    assert_eq!(stage.log(), "a@0 b@10 c@105 a@155");
    assert_eq!(stage.most(), 1);
}

fn failing(policy: Policy) -> Vec<Step> {
    vec![
        with(step("a", act(string("a")), &[]), policy),
        step("b", value(of(Source::Step(0), vec![], "a")), &[]),
    ]
}

#[test]
fn null_or_a_fallback_stands_for_a_failure() {
    let stage = || Stage::default().with("a", &[(1, End::Permanent)]);
    let whole = Policy::DEFAULT.optional(Optional::Whole);
    let here = stage();
    let plan1 = plan(failing(whole));
    let (result, report) = here.play(here.run::<Value>(&plan1).with_report());
    assert_eq!(result.unwrap(), Value::Null);
    assert_eq!(statuses(&report), "a recovered: a is gone, b completed");
    assert_eq!(report.totals().recovered, 1);

    let fallback = |fallback| Policy::DEFAULT.fallback(fallback);
    let mut steps = failing(fallback(of(Source::Step(2), vec![], "c")));
    steps.push(step("c", act(string("c")), &[]));
    let mut plan2 = plan(steps);
    plan2.output.value = of(Source::Step(1), vec![], "b");
    assert_eq!(plan2.steps[0].needs(), [2]);
    let here = stage();
    let result = here.play(here.run::<Value>(&plan2));
    assert_eq!(result.unwrap(), json!("c"));
    assert_eq!(here.log(), "c@0 a@10");

    let here = stage();
    plan2.steps[0].policy = fallback(of(
        Source::Step(2),
        vec![Segment::new(Selector::Each)],
        "c[..]",
    ))
    .into();
    let plan3 = plan2;
    let error = here.play(here.run::<Value>(&plan3)).unwrap_err();
    assert!(error.to_string().contains("its fallback: "), "{error}");
}

#[test]
fn null_stands_for_an_element() {
    let policy = patient(2).optional(Optional::Each);
    let keys = list(["a", "b", "c"].map(string).to_vec());
    let plan = plan(vec![with(
        step("all", each(keys, act(local(0))), &[]),
        policy,
    )]);
    let stage = Stage::default()
        .with("b", &[(1, End::Transient)])
        .with("c", &[(1, End::Permanent)]);
    let (result, report) = stage.play(stage.run::<Value>(&plan).with_report());
    assert_eq!(result.unwrap(), json!(["a", null, null]));
    assert_eq!(statuses(&report), "all recovered: b is busy");
    assert_eq!(report.steps()[0].element(), [1], "the first of the list");
}

#[test]
fn stop_makes_no_further_attempt_and_starts_no_further_element() {
    let keys = list(["x", "y", "z"].map(string).to_vec());
    let narrow = Policy::DEFAULT.concurrency(1);
    let plan = plan(vec![
        with(step("a", act(string("a")), &[]), patient(3)),
        step("b", act(string("b")), &[]),
        with(step("all", each(keys, act(local(0))), &[]), narrow),
        with(step("c", act(string("c")), &[]), patient(3)),
    ]);
    let stage = Stage::default()
        .with("a", &[(10, End::Transient)])
        .with("b", &[(15, End::Permanent)])
        .with("c", &[(20, End::Transient)]);
    let (_, report) = stage.play(stage.run::<Value>(&plan).with_report());
    assert_eq!(stage.log(), "a@0 b@0 x@0 c@0 y@10");
    assert_eq!(
        statuses(&report),
        "a failed: a is busy, b failed: b is gone, all cancelled, c failed: c is busy"
    );
    assert_eq!(report.duration(), ms(20));
    assert_eq!(stage.dropped(), 0);

    let stage = Stage::default()
        .with("a", &[(10, End::Transient)])
        .with("b", &[(15, End::Permanent)])
        .with("c", &[(20, End::Transient)]);
    let run = stage.run::<Value>(&plan).on_failure(OnFailure::Cancel);
    let (_, report) = stage.play(run.with_report());
    assert_eq!(
        statuses(&report),
        "a cancelled, b failed: b is gone, all cancelled, c cancelled"
    );
    assert_eq!(report.duration(), ms(15));
    assert_eq!((stage.dropped(), stage.running()), (2, 0));
}

#[test]
fn runs_end_at_their_deadline_and_when_they_are_cancelled() {
    let plan = plan(vec![
        step("a", act(string("a")), &[]),
        step("b", act(of(Source::Step(0), vec![], "a")), &[]),
        with(step("c", act(string("c")), &[]), patient(3)),
    ]);
    let stage = || {
        Stage::default()
            .with("c", &[(5, End::Transient)])
            .with("a", &[(10, End::Ok), (100, End::Ok)])
    };
    let here = stage();
    let run = here.run::<Value>(&plan).deadline(ms(12)).with_report();
    let (result, report) = here.play(run);
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "plan `test` took longer than 12ms");
    assert!(error.kind() == RunErrorKind::Deadline && error.is_transient());
    assert_eq!(statuses(&report), "a completed, b cancelled, c cancelled");
    assert_eq!((here.dropped(), here.running()), (1, 0));

    let here = stage();
    let cancel = here.timer.sleep(ms(7));
    let (result, report) = here.play(here.run::<Value>(&plan).cancel_on(cancel).with_report());
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "plan `test` was cancelled");
    assert!(error.kind() == RunErrorKind::Cancelled && error.is_permanent());
    assert_eq!(statuses(&report), "a cancelled, b not started, c cancelled");
    assert_eq!(report.duration(), ms(7));

    let here = stage();
    let run = here.run::<Value>(&plan).cancel_on(std::future::ready(()));
    here.play(run).unwrap_err();
    assert_eq!(
        here.log(),
        "",
        "a run that is cancelled before it starts does nothing"
    );
}

#[test]
fn dropping_a_run_of_retries_and_timers_at_any_poll_leaves_nothing() {
    let policy = patient(3).timeout(ms(50));
    let keys = list(["x", "y"].map(string).to_vec());
    let plan = plan(vec![
        with(step("a", act(string("a")), &[]), policy.clone()),
        step("b", act(of(Source::Step(0), vec![], "a")), &[]),
        with(step("all", each(keys, act(local(0))), &[1]), policy.clone()),
        with(step("c", act(string("c")), &[]), policy),
        step("d", value(Template::Null), &[2, 3]),
        step("e", act(string("e")), &[4]),
    ]);
    let stage = || {
        Stage::default()
            .with("a", &[(10, End::Transient), (10, End::Ok)])
            .with("x", &[(0, End::Hang), (10, End::Ok)])
            .with("c", &[(10, End::Panic), (0, End::Hang), (10, End::Ok)])
    };
    let mut polls = 0;
    loop {
        let stage = stage();
        let mut driven = Driven::new(stage.run::<Value>(&plan));
        let mut left = polls;
        let mut ended = false;
        while left > 0 && !ended {
            left -= 1;
            ended = driven.poll().is_ready();
            if let (false, Some(next)) = (ended, stage.timer.next()) {
                stage.timer.advance(next);
            }
        }
        drop(driven);
        let log = stage.log();
        stage.timer.advance(Duration::from_secs(60));
        assert_eq!(stage.log(), log, "nothing starts afterwards");
        assert_eq!(stage.running(), 0);
        assert_eq!(stage.timer.next(), None);
        if ended {
            assert!(log.ends_with("e@450") || log.contains("e@"), "{log}");
            break;
        }
        polls += 1;
    }
    assert!(polls > 10, "{polls}");
}
