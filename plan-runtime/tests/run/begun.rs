//! The property `has_started` of failed runs.

use plan_runtime::journal::{Journal, Memory};
use plan_runtime::run::{Limits, Mock, RunErrorKind};
use plan_runtime::{Error, Result, RunError, plan, tool};
use serde_json::json;
use std::future::{pending, ready};
use std::time::Duration;

/// Measures something.
#[tool]
async fn measure(of: String, scale: f64) -> Result<f64> {
    match of.as_str() {
        "nothing" => Err(Error::permanent("there is nothing")),
        "ever" => pending().await,
        _ => Ok(scale),
    }
}

plan! {
    Weigh(of: String, scale: f64) -> f64 {
        step trip = {
            step weight = Measure { of, scale };
            weight
        };
        trip
    }
}

plan! {
    Ask(of: String) -> f64 {
        #[after(first)]
        step scale: f64 = await;
        step first = Measure { of, scale: 1.0 };
        step weight = Measure { of: "all", scale };
        weight + first
    }
}

fn weigh(of: &str) -> Weigh {
    let of = of.into();
    Weigh { of, scale: 2.0 }
}

fn failed<T: std::fmt::Debug>(run: impl Future<Output = Result<T, RunError>>) -> RunError {
    smol::block_on(run).unwrap_err()
}

#[test]
fn a_run_that_cannot_start_says_so() {
    let scale = f64::NAN;
    let inputs = failed(
        Weigh {
            of: "a".into(),
            scale,
        }
        .run(&()),
    );
    let tools = failed(weigh("a").run(&Mock::new()));
    let signals = failed(Ask { of: "a".into() }.run(&()));
    let cancelled = failed(weigh("a").run(&()).cancel_on(ready(())));
    let journal = Memory::new();
    let _owned = smol::block_on(journal.claim("run-1")).unwrap();
    let owned = failed(weigh("a").run(&()).durable(&journal, "run-1"));
    for (error, kind) in [
        (inputs, RunErrorKind::Refused),
        (tools, RunErrorKind::Refused),
        (signals, RunErrorKind::Refused),
        (cancelled, RunErrorKind::Cancelled),
        (owned, RunErrorKind::Journal),
    ] {
        assert!(!error.has_started(), "{error}");
        assert!(error.failures().is_empty(), "{error}");
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn a_run_that_has_begun_a_step_has_started() {
    let step = failed(weigh("nothing").run(&()));
    let late = failed(weigh("ever").run(&()).deadline(Duration::from_millis(5)));
    let value = failed(weigh("a").run(&()).limits(Limits::DEFAULT.value(10)));
    for (error, kind) in [
        (step, RunErrorKind::Steps),
        (late, RunErrorKind::Deadline),
        (value, RunErrorKind::Limit),
    ] {
        assert!(error.has_started(), "{error}");
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn an_error_is_an_object_for_programs() {
    let error = failed(weigh("nothing").run(&()));
    let step = error.failures()[0].step();
    let expected = json!({
        "kind": "steps",
        "plan": "weigh",
        "message": error.to_string(),
        "failures": [{
            "step": step,
            "element": [],
            "tool": "measure",
            "code": "FAILED",
            "message": "there is nothing",
            "attempts": 1,
            "blocked": [],
        }],
        "undone": [],
        "not_undone": [],
    });
    assert_eq!(serde_json::to_value(&error).unwrap(), expected);
}

#[test]
#[should_panic(expected = "before its first poll")]
fn an_option_after_the_first_poll_panics() {
    let plan = weigh("ever");
    let mut run = plan.run(&());
    assert!(smol::block_on(smol::future::poll_once(&mut run)).is_none());
    drop(run.deadline(Duration::ZERO));
}

#[test]
fn what_a_tool_returned_is_found_in_blocks() {
    let around = plan! {
        step outer = {
            #[catch]
            step inner = { step weighed = Weigh { of: "a", scale: 1.0 }; weighed };
            step failing = Weigh { of: "nothing", scale: inner? };
            failing
        };
        outer
    };
    let error = failed(around.run(&()));
    let [failure] = error.failures() else {
        panic!("{error}")
    };
    assert_eq!(failure.step(), "outer.failing.trip.weight");
    let tool = failure.error().as_tool().expect("the tool's own error");
    assert_eq!(tool.to_string(), "there is nothing");
}
