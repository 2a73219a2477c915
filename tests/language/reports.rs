//! Reports of steps that are inside others: in blocks, and in plans that are called.

use super::support::Same;
use plan_runtime::run::{CallContext, ManualTimer, OnFailure};
use plan_runtime::{Error, Report, Result, plan, tool};
use serde_json::json;
use std::time::Duration;

/// Waits for as many seconds, by the timer of the tests.
#[tool]
async fn wait(timer: &ManualTimer, seconds: u64) -> Result<u64> {
    use plan_runtime::run::Timer;
    timer.sleep(Duration::from_secs(seconds)).await;
    Ok(seconds)
}

/// Fails for one number.
#[tool]
async fn check(number: u64, bad: u64) -> Result<u64> {
    if number == bad {
        return Err(Error::msg(format!("{number} is bad")));
    }
    Ok(number)
}

/// Works at the second attempt.
#[tool]
async fn again(#[context] context: CallContext) -> Result<u32> {
    match context.attempt() {
        1 => Err(Error::msg("not yet")),
        attempt => Ok(attempt),
    }
}

plan! {
    Checked(number: u64) -> u64 {
        step waited = Wait { seconds: number };
        step checked = Check { number: waited, bad: 2 };
        checked
    }
}

plan! {
    Many(numbers: Vec<u64>) -> Vec<Option<u64>> {
        #[optional(each)]
        step all = for number in numbers {
            step found = Checked { number };
            #[retry(2, backoff = "1s", jitter = false)]
            step tried = Again {};
            #[after(tried)]
            step last = if number > 2 { Same::<u64> { value: found } } else { Same::<u64> { value: number } };
            last
        };
        all
    }
}

fn many() -> (ManualTimer, Report) {
    let timer = ManualTimer::new();
    let run = Many {
        numbers: vec![1, 2, 3],
    };
    let run = run.run(&timer).timer(timer.clone());
    let run = run.on_failure(OnFailure::Continue);
    let run = run.capture_arguments(true).capture_outputs(true);
    let (output, report) = smol::block_on(timer.skip_waits(run.with_report()));
    assert_eq!(output.unwrap(), [Some(1), None, Some(3)]);
    (timer, report)
}

#[test]
fn steps_inside_have_paths() {
    let (_, report) = many();
    assert_eq!(
        report.step("all[2].found").unwrap().output(),
        Some(&json!(3))
    );
    assert_eq!(
        report.step("all[2].last").unwrap().arguments(),
        Some(&json!({ "value": 3 }))
    );
    let failed = report.step("all[1].found.checked").unwrap();
    assert_eq!(failed.status().to_string(), "failed: 2 is bad");
    assert_eq!(failed.arguments(), Some(&json!({ "number": 2, "bad": 2 })));
    let blocked = report.step("all[1].last").unwrap();
    assert_eq!(blocked.status().to_string(), "blocked by `found`");
    let tried = report.step("all[0].tried").unwrap();
    assert_eq!(tried.attempts().len(), 2);
    for unknown in [
        "all.found",
        "all[3].found",
        "all[0]",
        "all[0].",
        "all[0].found.",
        "all[00].found",
        "all[0][0].found",
        "found",
    ] {
        assert!(report.step(unknown).is_none(), "{unknown}");
    }
}

#[test]
fn what_runs_inside_is_collapsed() {
    let (_, report) = many();
    assert_eq!(
        report.to_string(),
        "\
plan `many`: 1 step in 3.00 s: 1 recovered
  all                   recovered                    0 + 3.00 s  ████████████████████  [1]: step `all[1].found.checked` (check): 2 is bad (this blocked `all[1].last`) (3 calls)
    found      checked  2 completed, 1 failed        0 + 3.00 s  ████████████████████  all[1].found: step `found.checked` (check): 2 is bad (3 calls)
      waited   wait     3 completed                  0 + 3.00 s  ████████████████████  (3 calls)
      checked  check    2 completed, 1 failed   1.00 s + 2.00 s         █████████████  all[1].found.checked: 2 is bad (3 calls)
    tried      again    3 completed                  0 + 1.00 s  ███████               (6 calls)
    last       same     2 completed, 1 blocked  1.00 s + 2.00 s         █████████████  (2 calls)"
    );
}

#[test]
fn programs_get_all_of_it() {
    let (_, report) = many();
    let json = serde_json::to_value(&report).unwrap();
    let block = &json["steps"][0]["attempts"][1]["inside"][0];
    assert_eq!(block["plan"], "many");
    assert_eq!(block["totals"]["blocked"], 1);
    let nested = &block["steps"][0]["attempts"][0]["inside"][0];
    assert_eq!(nested["plan"], "checked");
    assert_eq!(nested["steps"][1]["error"], "2 is bad");
    assert_eq!(nested["steps"][1]["started_ms"], 2000.0);
    // The JSON of a step without inner steps omits the member.
    assert!(nested["steps"][0]["attempts"][0].get("inside").is_none());

    let page = report.to_html();
    assert_eq!(page.matches("<summary>3 steps inside: ").count(), 3);
    assert_eq!(page.matches("<summary>2 steps inside: ").count(), 3);
}

#[test]
fn a_report_of_many_elements_is_short() {
    plan! {
        Wide(numbers: Vec<u64>) -> Vec<u64> {
            step all = for number in numbers { step one = Same::<u64> { value: number }; one };
            all
        }
    }
    let run = Wide {
        numbers: (0..10_000).collect(),
    };
    let (_, report) = smol::block_on(run.run(&()).with_report());
    let text = report.to_string();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("10000 completed"), "{text}");
    assert!(report.step("all[9999].one").is_some());
    let page = report.to_html();
    assert!(page.len() < 1 << 20, "{}", page.len());
}

#[test]
fn each_attempt_has_its_own() {
    /// Fails in the first attempt of its block.
    #[tool]
    async fn flaky(#[context] context: CallContext) -> Result<u64> {
        match context.outer().map_or(1, CallContext::attempt) {
            1 => Err(Error::msg("not yet")),
            _ => Ok(5),
        }
    }
    let plan = plan! {
        #[retry(2, backoff = "1ms")]
        step twice = { step first = Same::<u64> { value: 1 }; #[after(first)] step second = Flaky {}; second };
        twice
    };
    let (output, report) = smol::block_on(plan.run(&()).with_report());
    assert_eq!(output.unwrap(), 5);
    let attempts = report.step("twice").unwrap().attempts();
    let totals = attempts
        .iter()
        .map(|it| it.inside()[0].totals().to_string());
    let totals: Vec<String> = totals.collect();
    assert_eq!(totals, ["1 completed, 1 failed", "2 completed"]);
    let second = report.step("twice.second").unwrap();
    assert_eq!(second.status().name(), "completed");
}

#[test]
fn a_tool_may_run_several_plans() {
    /// Runs a plan for each number.
    #[tool]
    async fn both(timer: &ManualTimer, #[context] context: CallContext) -> Result<u64> {
        let first = Checked { number: 1 }.run(timer).inside(&context).await?;
        let second = Checked { number: 2 }.run(timer).inside(&context).await;
        drop(second);
        let third = Checked { number: 3 }.run(timer).inside(&context);
        let (third, own) = third.with_report().await;
        assert_eq!(own.totals().completed, 2);
        Ok(first + third?)
    }
    let timer = ManualTimer::new();
    let plan = plan! { step sum = Both {}; sum };
    let run = plan.run(&timer).timer(timer.clone());
    let (output, report) = smol::block_on(timer.skip_waits(run.with_report()));
    assert_eq!(output.unwrap(), 4);
    let inside = report.step("sum").unwrap().attempts()[0].inside();
    let totals: Vec<String> = inside.iter().map(|it| it.totals().to_string()).collect();
    assert_eq!(
        totals,
        ["2 completed", "1 completed, 1 failed", "2 completed"]
    );
    let text = report.to_string();
    assert!(text.contains("2 completed, 1 failed"), "{text}");
}

#[test]
fn what_was_dropped_is_in_it() {
    plan! {
        Late() -> Option<u64> {
            #[timeout("1s")] #[optional]
            step late = { step first = Wait { seconds: 0 }; #[after(first)] step slow = Checked { number: 9 }; slow };
            late
        }
    }
    let timer = ManualTimer::new();
    let run = Late {}.run(&timer).timer(timer.clone());
    let (output, report) = smol::block_on(timer.skip_waits(run.with_report()));
    assert_eq!(output.unwrap(), None);
    let status = |path| report.step(path).unwrap().status().name();
    assert_eq!(status("late"), "recovered");
    assert_eq!(status("late.first"), "completed");
    assert_eq!(status("late.slow"), "cancelled");
    assert_eq!(status("late.slow.waited"), "cancelled");
    assert_eq!(status("late.slow.checked"), "not started");
}

#[test]
fn undo_steps_that_run_later_are_in_it() {
    let plan = plan! {
        step held = {
            step key = Same::<u64> { value: 7 };
            #[undo(key)]
            step released = Same::<u64> { value: key };
            key
        };
        step paid = Check { number: held, bad: 7 };
        paid
    };
    let (output, report) = smol::block_on(plan.run(&()).with_report());
    let error = output.unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["held.key"]);
    let status = |path| report.step(path).unwrap().status().name();
    assert_eq!(status("held"), "completed");
    assert_eq!(status("held.key"), "completed");
    assert_eq!(status("held.released"), "completed");

    // Without steps to undo, the undo step was not started.
    let plan = plan! {
        step held = {
            step key = Same::<u64> { value: 7 };
            #[undo(key)]
            step released = Same::<u64> { value: key };
            key
        };
        held
    };
    let (output, report) = smol::block_on(plan.run(&()).with_report());
    assert_eq!(output.unwrap(), 7);
    let released = report.step("held.released").unwrap();
    assert_eq!(released.status().name(), "not started");
}

#[test]
fn secrets_stay_hidden_inside() {
    /// Takes a password.
    #[tool]
    async fn log_in(#[shape(secret)] password: String) -> Result<String> {
        Ok(password.len().to_string())
    }
    let plan = plan! {
        step session = {
            step word: String = "hunter2";
            LogIn { password: word }
        };
        session
    };
    let run = plan.run(&()).capture_arguments(true).capture_outputs(true);
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap(), "7");
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.contains("\"inside\""));
    let arguments = report.step("session._").unwrap().arguments().unwrap();
    assert!(!arguments.to_string().contains("hunter2"), "{arguments}");
}
