//! Policies whose numbers and times are constants or come from inputs.

use crate::support::done;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::ManualTimer;
use plan_runtime::{Error, Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const ATTEMPTS: u32 = 3;
const LIMIT: usize = 2;

mod config {
    use std::time::Duration;

    pub(super) const WAIT: Duration = Duration::from_secs(4);
}

/// Counts calls.
#[derive(Default)]
pub struct Desk {
    calls: AtomicUsize,
    open: AtomicUsize,
    most: AtomicUsize,
}

/// Never works.
#[tool]
pub async fn fail(desk: &Desk) -> Result<u64> {
    desk.calls.fetch_add(1, Ordering::Relaxed);
    Err(Error::msg("out of order"))
}

/// Never ends.
#[tool]
pub async fn hang(desk: &Desk) -> Result<u64> {
    desk.calls.fetch_add(1, Ordering::Relaxed);
    std::future::pending().await
}

/// Notes how many run concurrently.
#[tool]
pub async fn pass(desk: &Desk, number: u64) -> Result<u64> {
    let open = desk.open.fetch_add(1, Ordering::Relaxed) + 1;
    desk.most.fetch_max(open, Ordering::Relaxed);
    smol::future::yield_now().await;
    desk.open.fetch_sub(1, Ordering::Relaxed);
    Ok(number)
}

#[derive(Clone, Serialize, Deserialize, Shape)]
pub struct Patience {
    pub attempts: u32,
    pub each: Duration,
}

plan! {
    pub Patiently(patience: Patience, attempts: u32) -> (Option<u64>, Option<u64>, Option<u64>) {
        #[retry(ATTEMPTS, backoff = config::WAIT, jitter = false)] #[optional]
        step constant = Fail {};
        #[retry(patience.attempts, backoff = patience.each, max = patience.each * 2, jitter = false)]
        #[optional] #[after(constant)]
        step input = Fail {};
        #[retry(attempts + 1, backoff = "1s", jitter = false)] #[timeout(patience.each)] #[deadline(patience.each * 10)]
        #[optional] #[after(input)]
        step computed = Hang {};
        (constant, input, computed)
    }
}

plan! {
    pub Parallel(list: Vec<u64>, parallel: usize) -> (Vec<u64>, Vec<u64>) {
        #[concurrency(LIMIT)]
        step first = for number in list { Pass { number } };
        #[concurrency(parallel)]
        step second = for number in first { Pass { number } };
        (first, second)
    }
}

/// Returns the number of calls of a run, and its duration in seconds.
fn patiently(attempts: u32, each: u64) -> (usize, u64) {
    let (desk, timer) = (Desk::default(), ManualTimer::new());
    let each = Duration::from_secs(each);
    let patience = Patience { attempts, each };
    let run = Patiently { patience, attempts }
        .run(&desk)
        .timer(timer.clone());
    smol::block_on(timer.skip_waits(run)).unwrap();
    (desk.calls.into_inner(), timer.elapsed().as_secs())
}

#[test]
fn numbers_and_times_are_those_of_constants_and_inputs() {
    // The constants cause three calls, after 0, 4 and 12 seconds. The inputs cause two calls with a wait of 3 seconds. Then follow three
    // calls of 3 seconds with waits of 1 and 2.
    assert_eq!(patiently(2, 3), (3 + 2 + 3, 12 + 3 + 3 + 1 + 3 + 2 + 3));
    // The waits are 5, 10, 10; then five calls of 5 seconds with waits of 1, 2, 4, 8.
    assert_eq!(patiently(4, 5).0, 3 + 4 + 5);
    assert_eq!(
        patiently(4, 5).1,
        12 + 25 + 5 + 1 + 5 + 2 + 5 + 4 + 5 + 8 + 5
    );
}

#[test]
fn elements_run_concurrently_up_to_the_amount() {
    let most = |list: &[u64], parallel| {
        let desk = Desk::default();
        let list = list.to_vec();
        let (first, second) = done(
            Parallel {
                list: list.clone(),
                parallel,
            }
            .run(&desk),
        );
        assert_eq!((&first, &second), (&list, &list));
        desk.most.into_inner()
    };
    assert_eq!(most(&[1, 2, 3, 4, 5], 1), 2);
    assert_eq!(most(&[1, 2, 3, 4, 5], 4), 4);
}

#[test]
fn what_means_nothing_fails_the_step() {
    let failed = |parallel| {
        let desk = Desk::default();
        let run = Parallel {
            list: vec![1],
            parallel,
        }
        .run(&desk);
        smol::block_on(run).unwrap_err()
    };
    let error = failed(0);
    assert_eq!(
        error.to_string(),
        "plan `parallel` failed: step `second` (pass): its concurrency: it is 0, but at least one element must run at a time"
    );
    assert_eq!(error.failures()[0].error().code(), "ARGUMENTS");
    assert!(error.is_permanent());
}

#[test]
fn printed_plans_have_the_names_and_the_values() {
    let text = Patiently::PLAN.to_string();
    assert!(
        text.contains(
            "#[retry(3 /* ATTEMPTS */, backoff = \"4s\" /* config::WAIT */, jitter = false)]"
        ),
        "{text}"
    );
    assert!(
        text.contains("#[timeout(patience.each)]\n  #[deadline(patience.each * 10)]"),
        "{text}"
    );
    let json = serde_json::to_value(&**Patiently::PLAN).unwrap();
    assert_eq!(json["steps"][0]["policy"]["attempts"], 3);
    assert_eq!(
        json["steps"][1]["policy"]["backoff"]["reference"],
        json!({"input": "patience", "pointer": "/each"})
    );
    let read: Plan = serde_json::from_value(json).unwrap();
    assert_eq!(read, **Patiently::PLAN);
}

/// In JSON, a time may also be a string.
#[test]
fn plans_from_json_take_amounts_from_inputs() {
    let plan: Plan = serde_json::from_value(json!({
        "name": "p",
        "inputs": [{"name": "tries", "type": "u32"}, {"name": "wait", "type": "String"}],
        "steps": [{"id": "a", "tool": {"name": "fail"}, "arguments": {"object": {}}, "policy": {
            "attempts": {"reference": {"input": "tries", "pointer": ""}},
            "backoff": {"reference": {"input": "wait", "pointer": ""}},
            "jitter": false,
        }}],
    }))
    .unwrap();
    let tools = Toolbox::<Desk>::new().with::<Fail>();
    let run = |tries: u32, wait: &str| {
        let (desk, timer) = (Desk::default(), ManualTimer::new());
        let run = tools.run(&plan, json!({"tries": tries, "wait": wait}), &desk);
        let error = smol::block_on(timer.skip_waits(run.timer(timer.clone()))).unwrap_err();
        (
            desk.calls.into_inner(),
            timer.elapsed().as_secs(),
            error.to_string(),
        )
    };
    assert_eq!(
        run(3, "1m"),
        (
            3,
            60,
            "plan `p` failed: step `a` (fail): out of order".to_owned()
        )
    );
    let (calls, _, error) = run(3, "soon");
    assert_eq!(calls, 0);
    assert!(
        error.contains("its first wait (`backoff`): it is"),
        "{error}"
    );
    let (calls, _, error) = run(0, "1s");
    assert_eq!(calls, 0);
    assert!(error.contains("its number of attempts: it is 0"), "{error}");
}

const NO_TIME: Duration = Duration::ZERO;

plan! {
    Hurried() -> u64 {
        #[timeout(NO_TIME)]
        step a = Fail {};
        a
    }
}

plan! {
    Doomed() -> u64 {
        #[deadline(NO_TIME)]
        step a = Fail {};
        a
    }
}

/// No call ends in no time, so a constant of 0 is an error in the plan, like a literal.
#[test]
fn a_constant_time_is_not_0() {
    let desk = Desk::default();
    let errors = [
        smol::block_on(Hurried {}.run(&desk)).unwrap_err(),
        smol::block_on(Doomed {}.run(&desk)).unwrap_err(),
    ];
    for (error, name) in errors.iter().zip(["timeout", "deadline"]) {
        let error = error.to_string();
        let expected = format!("has a `{name}` of 0 (`NO_TIME`), but no call ends in no time");
        assert!(error.contains(&expected), "{error}");
    }
    assert_eq!(desk.calls.into_inner(), 0);
}

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_secs(2);

plan! {
    Overlong() -> u64 {
        #[timeout(LONG)] #[deadline("5s")]
        step a = Fail {};
        a
    }
}

plan! {
    Backwards() -> u64 {
        #[retry(3, backoff = LONG, max = SHORT)]
        step a = Fail {};
        a
    }
}

plan! {
    Limited(each: Duration, all: Duration) -> u64 {
        #[timeout(each)] #[deadline(all)]
        step a = Fail {};
        a
    }
}

plan! {
    Spaced(first: Duration, longest: Duration) -> u64 {
        #[retry(2, backoff = first, max = longest, jitter = false)]
        step a = Fail {};
        a
    }
}

/// Literals that contradict each other do not compile. For constants, a run returns the error before its first step.
#[test]
fn constant_times_go_together() {
    let desk = Desk::default();
    let errors = [
        smol::block_on(Overlong {}.run(&desk)).unwrap_err(),
        smol::block_on(Backwards {}.run(&desk)).unwrap_err(),
    ];
    let expected = [
        "step `a` has a `timeout` of 1m, but no call can take this long: the `deadline` of all attempts is 5s",
        "step `a` has a `max` of 2s, which is shorter than the first wait, `backoff`: 1m",
    ];
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert_eq!(desk.calls.into_inner(), 0);
}

/// For inputs, the step returns the error at its start.
#[test]
fn given_times_go_together() {
    let desk = Desk::default();
    let errors = [
        smol::block_on(
            Limited {
                each: LONG,
                all: SHORT,
            }
            .run(&desk),
        )
        .unwrap_err(),
        smol::block_on(
            Spaced {
                first: LONG,
                longest: SHORT,
            }
            .run(&desk),
        )
        .unwrap_err(),
    ];
    let expected = [
        "its timeout: it is 1m, but no call can take this long: the `deadline` of all attempts is 2s",
        "its longest wait (`max`): it is 2s, which is shorter than the first wait, `backoff`: 1m",
    ];
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert_eq!(desk.calls.load(Ordering::Relaxed), 0);
    let limited = Limited {
        each: SHORT,
        all: SHORT,
    }
    .run(&desk);
    assert!(
        smol::block_on(limited)
            .unwrap_err()
            .to_string()
            .contains("out of order")
    );
    assert_eq!(desk.calls.into_inner(), 1);
}

plan! {
    Patient() -> u64 {
        #[retry(2, backoff = LONG, jitter = false)]
        step a = Fail {};
        a
    }
}

/// A constant may be a longer first wait than the longest one by default, as a literal may.
#[test]
fn a_long_first_wait_is_waited() {
    let desk = Desk::default();
    let timer = ManualTimer::new();
    let run = Patient {}.run(&desk).timer(timer.clone());
    smol::block_on(timer.skip_waits(run)).unwrap_err();
    assert_eq!(timer.elapsed(), LONG);
}

const MOMENT: Duration = Duration::from_millis(1);

plan! {
    Quick() -> u64 {
        #[retry(5, backoff = MOMENT, jitter = false)] #[deadline("1s")]
        step a = Fail {};
        a
    }
}

/// The macro does not have the value of a constant, so the attempts may fit into the deadline.
#[test]
fn attempts_with_a_constant_wait_fit_into_a_deadline() {
    let desk = Desk::default();
    let timer = ManualTimer::new();
    let run = Quick {}.run(&desk).timer(timer.clone());
    smol::block_on(timer.skip_waits(run)).unwrap_err();
    assert_eq!(desk.calls.into_inner(), 5);
    assert_eq!(timer.elapsed(), MOMENT * 15);
}

/// A report contains the resolved amounts of a step, which its plan lacks.
#[test]
fn a_report_has_the_amounts() {
    let desk = Desk::default();
    let run = Limited {
        each: SHORT,
        all: LONG,
    }
    .run(&desk);
    let (result, report) = smol::block_on(run.with_report());
    result.unwrap_err();
    let policy = report.step("a").unwrap().policy().unwrap();
    assert_eq!((policy.timeout, policy.deadline), (Some(SHORT), Some(LONG)));
    assert!(
        report
            .to_string()
            .contains("out of order [timeout: 2s, deadline: 1m]"),
        "{report}"
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(
        json["steps"][0]["amounts"],
        json!({ "timeout": "2s", "deadline": "1m" })
    );
    let run = Backwards {}.run(&desk);
    let (_, report) = smol::block_on(run.with_report());
    assert!(report.step("a").unwrap().policy().is_none());
}
