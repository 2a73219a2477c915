//! Steps that wait for a value from outside.

use super::support::{Nothing, Same, done};
use plan_runtime::dynamic::{Reader, Toolbox};
use plan_runtime::run::{CallContext, ManualTimer, SignalError};
use plan_runtime::{Error, Failure, Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Reply {
    granted: bool,
    #[serde(default, rename = "why")]
    reason: String,
}

/// Pays an amount.
#[tool]
async fn pay(cents: u64, reason: String) -> Result<String> {
    Ok(format!("{cents} for {reason}"))
}

plan! {
    Spend(cents: u64, patience: Duration) -> Option<String> {
        step asked = Nothing {};
        /// The manager's answer.
        #[after(asked)]
        #[timeout(patience)]
        #[fallback(Reply { granted: false, reason: "silence" })]
        step reply: Reply = await;
        step paid = if reply.granted { Pay { cents, reason: reply.reason } };
        paid
    }
}

fn spend() -> Spend {
    Spend {
        cents: 5,
        patience: Duration::from_secs(60),
    }
}

#[test]
fn a_value_is_of_the_type_of_its_step() {
    let run = spend().run(&());
    let signals = run.signals();
    let error = signals.send("reply", json!({ "granted": 1 })).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value for `reply` has the wrong type: at `/granted`: invalid type: integer `1`, expected a boolean"
    );
    assert!(matches!(error, SignalError::Type { .. }));
    // References can read the type's default.
    signals.send("reply", json!({ "granted": true })).unwrap();
    assert_eq!(done(run), Some("5 for ".to_owned()));

    let run = spend().run(&());
    let reply = Reply {
        granted: true,
        reason: "tea".to_owned(),
    };
    run.signals().send("reply", &reply).unwrap();
    assert_eq!(done(run), Some("5 for tea".to_owned()));
}

#[test]
fn a_fallback_replaces_what_does_not_come() {
    let timer = ManualTimer::new();
    let run = spend().run(&()).timer(timer.clone());
    let signals = run.signals();
    let (output, report) = smol::block_on(timer.skip_waits(run.with_report()));
    assert_eq!(output.unwrap(), None);
    let reply = report.step("reply").unwrap().status().to_string();
    assert_eq!(reply, "recovered: took longer than 1m");
    assert!(report.to_html().contains(">waits for a value<"));
    assert_eq!(timer.elapsed(), Duration::from_secs(60));
    drop(signals);
}

#[test]
fn rust_code_gets_the_value() {
    plan! {
        Sum(first: u64) -> u64 {
            step numbers: Vec<u64> = await;
            #[catch]
            step more: Option<u64> = await;
            #[optional] #[timeout("1s")]
            step never: u64 = await;
            step sum: u64 = numbers.iter().sum::<u64>() + more.clone()?.unwrap_or(100) + never.unwrap_or(1000);
            step same = for number in numbers { Same::<u64> { value: number } };
            step count: u64 = same.len().try_into()?;
            sum + first + count
        }
    }
    let timer = ManualTimer::new();
    let run = Sum { first: 10_000 }.run(&()).timer(timer.clone());
    let signals = run.signals();
    signals.send("numbers", [1, 2, 3]).unwrap();
    signals.send("more", None::<u64>).unwrap();
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), 11_109);
}

#[test]
fn a_failure_is_a_value_where_it_is_caught() {
    plan! {
        Caught() -> Result<u64, Failure> {
            #[catch]
            step number: u64 = await;
            number
        }
    }
    let run = Caught {}.run(&());
    drop(run.signals());
    let failure = done(run).unwrap_err();
    assert_eq!(failure.code, "NO_SIGNALS");
    assert_eq!(
        failure.to_string(),
        "step `number` failed: no value can arrive: the program dropped all `Signals` of the run"
    );
}

plan! {
    Order(number: u64) -> u64 {
        step before = Same::<u64> { value: number };
        #[after(before)]
        step reply: u64 = await;
        step flaky = Flaky { number: reply };
        flaky
    }
}

/// Works at the second attempt of the plan that calls it.
#[tool]
async fn flaky(#[context] context: CallContext, number: u64) -> Result<u64> {
    match context.outer().map_or(1, CallContext::attempt) {
        1 => Err(Error::msg("not yet")),
        _ => Ok(number),
    }
}

#[test]
fn plans_inside_wait_at_the_paths_of_their_steps() {
    plan! {
        Orders(numbers: Vec<u64>) -> Vec<u64> {
            #[retry(2, backoff = "1ms")]
            step orders = for number in numbers { Order { number } };
            orders
        }
    }
    let numbers = vec![1, 2, 3];
    let error = smol::block_on(
        Orders {
            numbers: numbers.clone(),
        }
        .run(&()),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `orders` cannot start: step `orders.reply` waits for a value, and nobody can send it: call `Run::signals` before the run starts"
    );

    let run = Orders { numbers }.run(&());
    let signals = run.signals();
    for wrong in [
        "reply",
        "orders.reply",
        "orders[0]",
        "orders[00].reply",
        "orders[0].before",
        "orders[0][0].reply",
        "orders[0].reply.reply",
        "orders[0].flaky.reply",
        "orders[18446744073709551616].reply",
    ] {
        let error = signals.send(wrong, 1).unwrap_err();
        assert!(matches!(error, SignalError::Unknown { .. }), "{wrong}");
    }
    let error = signals.send("orders[2].reply", "x").unwrap_err();
    assert!(matches!(error, SignalError::Type { .. }));
    for number in 0..3 {
        // The value stays for the next attempt.
        signals
            .send(&format!("orders[{number}].reply"), number * 10)
            .unwrap();
    }
    assert_eq!(done(run), [0, 10, 20]);
}

#[test]
fn a_plan_that_a_tool_runs_is_known_once_it_waits() {
    /// Runs a plan that is unknown to the outer plan.
    #[tool]
    async fn choose(#[context] context: CallContext) -> Result<u64> {
        let inner = plan! { step reply: u64 = await; reply };
        let run = inner.run(&()).inside(&context);
        let early = run.signals().send("reply", 1).unwrap_err();
        assert!(matches!(early, SignalError::Unknown { .. }));
        let other = inner.run(&());
        let unread = other.signals();
        drop(other.inside(&context).signals());
        assert!(matches!(unread.send("reply", 1), Err(SignalError::Ended)));
        Ok(run.await?)
    }
    let outer = plan! { step chosen = Choose {}; step own: u64 = await; chosen + own };
    let run = outer.run(&());
    let signals = run.signals();
    signals.send("own", 1).unwrap();
    let sending = std::thread::spawn(move || {
        while let Err(error) = signals.send("chosen.reply", 6) {
            assert!(matches!(error, SignalError::Unknown { .. }), "{error}");
            std::thread::yield_now();
        }
    });
    assert_eq!(done(run), 7);
    sending.join().unwrap();

    // Nothing hides that.
    let alone = plan! { #[fallback(1)] #[retry(3)] step chosen = Choose {}; chosen };
    let error = smol::block_on(alone.run(&())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("step `reply` waits for a value, and nobody can send it"),
        "{error}"
    );
}

#[test]
fn nothing_comes_for_what_runs_after_the_work() {
    plan! {
        Late() -> u64 {
            step reply: u64 = await;
            reply
        }
    }
    plan! {
        Ends() -> u64 {
            step one = Same::<u64> { value: 1 };
            #[always]
            step told = Late {};
            one
        }
    }
    let run = Ends {}.run(&());
    let signals = run.signals();
    assert!(signals.send("told.reply", 1).is_err());
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap(), 1);
    let told = report.step("told").unwrap().status().to_string();
    assert!(told.contains("no value can arrive"), "{told}");
    // The step needs no signals.
    assert_eq!(done(Ends {}.run(&())), 1);
}

#[test]
fn the_step_is_data() {
    let plan: &Plan = Spend::PLAN;
    assert_eq!(
        plan.to_string(),
        "\
plan spend -> Option<String>
  input cents:    u64
  input patience: Duration

  step asked = nothing
    // starts at once

  #[timeout(patience)]
  #[fallback({ granted: false, why: \"silence\" })]
  step reply: Reply = await  // The manager's answer.
    // needs asked
    // after asked

  step paid = if reply.granted {
    pay
      cents:  cents
      reason: reply.reason
  }
    // needs reply

  output paid
"
    );
    let written = serde_json::to_value(plan).unwrap();
    assert_eq!(written["steps"][1]["await"], "Reply");
    let read: Plan = serde_json::from_value(written).unwrap();
    assert_eq!(read, *plan);
    assert!(
        plan.mermaid()
            .to_string()
            .contains("step_reply>\"reply: Reply = await<br/>")
    );
    assert!(plan.dot().to_string().contains("shape=cds"));
    let source = plan_rust::to_rust(plan).unwrap();
    assert!(source.contains("step reply: Reply = await;"), "{source}");
    let unsupported = plan.to_blueprint().unwrap_err();
    let parts: Vec<String> = unsupported.all().iter().map(ToString::to_string).collect();
    let wait = "step `reply`: an `await`".to_owned();
    assert!(parts.contains(&wait), "{parts:?}");
}

#[test]
fn a_plan_from_json_takes_any_value() {
    let toolbox = Toolbox::<()>::new().with::<Same<Value>>();
    let text = r#"{
        "name": "ask",
        "steps": [
            {"id": "reply", "await": "Reply", "policy": {"deadline": "1h"}},
            {"id": "same", "tool": {"name": "same"}, "arguments": {"object": {"value": {"reference": {"step": "reply", "pointer": "/why"}}}}}
        ],
        "output": {"value": {"reference": {"step": "same", "pointer": ""}}}
    }"#;
    let plan = toolbox.read(text).unwrap();
    let run = toolbox.run(&plan, (), &());
    run.signals()
        .send("reply", json!({ "why": [1, 2] }))
        .unwrap();
    assert_eq!(done(run), json!([1, 2]));

    let error = smol::block_on(toolbox.run(&plan, (), &())).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("plan `ask` cannot start: step `reply` waits")
    );
}

#[test]
fn a_plan_from_json_waits_in_the_plans_of_its_toolbox() {
    let toolbox = Toolbox::<()>::new().with::<Order>();
    let text = r#"{
        "name": "orders",
        "steps": [{"id": "all", "for": {"pattern": "number", "list": [1, 2], "body": {
            "tool": {"name": "order"},
            "arguments": {"object": {"number": {"reference": {"local": 0, "pointer": ""}}}}
        }}, "policy": {"fallback": [], "attempts": 2, "backoff": "1ms"}}],
        "output": {"value": {"reference": {"step": "all", "pointer": ""}}}
    }"#;
    let plan = toolbox.read(text).unwrap();
    let error = smol::block_on(toolbox.run(&plan, (), &())).unwrap_err();
    assert!(
        error.to_string().contains("step `all.reply` waits"),
        "{error}"
    );

    let run = toolbox.run(&plan, (), &());
    let signals = run.signals();
    assert!(signals.send("all[0].reply", "x").is_err());
    signals.send("all[0].reply", 5).unwrap();
    signals.send("all[1].reply", 6).unwrap();
    assert_eq!(done(run), json!([5, 6]));
}

#[test]
fn mistakes_in_json_are_found_at_their_places() {
    let found = |step: &str| {
        let text = format!(r#"{{"name": "p", "steps": [{{"id": "a", {step}}}]}}"#);
        let findings = Reader::new().read(&text).unwrap_err();
        findings.to_string()
    };
    let all = [
        found(r#""await": 3"#),
        found(r#""await": "T", "arguments": null"#),
        found(r#""await": "T", "policy": {"attempts": 3}"#),
        found(r#""await": "T", "always": true"#),
        found(r#""if": [{"then": {"await": "T"}}]"#),
        found(r#""await": "T", "value": 3"#),
    ];
    let expected = [
        "`await` is `3`, but must be a string",
        "the step is a `await`, which takes no `arguments`",
        "a wait has no attempts",
        "step `a` waits for a value, but an always step cannot wait for one",
        "unknown member `await` in the `then` of a branch",
        "the step has both",
    ];
    for (found, expected) in all.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
        assert_eq!(found.matches("error[").count(), 1, "{found}");
    }
}
