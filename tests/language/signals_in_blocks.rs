//! Steps of blocks and of loops that wait for a value from outside.

use super::support::{Same, done};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::{CallContext, ManualTimer, SignalError};
use plan_runtime::{Error, Plan, Result, plan, tool};
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;

plan! {
    Approvals(names: Vec<String>, patience: Duration) -> Vec<bool> {
        step answers = for name in names {
            step asked = Same::<String> { value: name };
            #[after(asked)] #[timeout(patience)] #[fallback(false)]
            step reply: bool = await;
            reply
        };
        answers
    }
}

fn approvals() -> Approvals {
    Approvals {
        names: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
        patience: Duration::from_secs(60),
    }
}

#[test]
fn each_element_has_its_own_value() {
    let timer = ManualTimer::new();
    let run = approvals().run(&()).timer(timer.clone());
    let signals = run.signals();
    for wrong in ["reply", "answers.reply", "answers[0]", "answers[0].asked"] {
        let error = signals.send(wrong, true).unwrap_err();
        assert!(matches!(error, SignalError::Unknown { .. }), "{wrong}");
    }
    signals.send("answers[2].reply", true).unwrap();
    assert!(matches!(
        signals.send("answers[2].reply", true),
        Err(SignalError::Second { .. })
    ));
    assert!(matches!(
        signals.send("answers[1].reply", 1),
        Err(SignalError::Type { .. })
    ));
    let answers = smol::block_on(timer.skip_waits(run)).unwrap();
    assert_eq!(answers, [false, false, true]);
    // They wait at the same time.
    assert_eq!(timer.elapsed(), Duration::from_secs(60));

    let error = smol::block_on(approvals().run(&())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `approvals` cannot start: step `answers.reply` waits for a value, and nobody can send it: call `Run::signals` before the run starts"
    );
}

#[test]
fn elements_that_wait_count_and_calls_do_not() {
    plan! {
        TwoAtATime(numbers: Vec<u64>) -> Vec<u64> {
            #[concurrency(2)]
            step all = for number in numbers {
                step begun = Begin { number };
                #[after(begun)]
                step reply: u64 = await;
                Same::<u64> { value: reply }
            };
            all
        }
    }
    /// Notes which element has begun.
    #[tool]
    async fn begin(app: &Mutex<Vec<u64>>, number: u64) -> Result<()> {
        app.lock().unwrap().push(number);
        Ok(())
    }
    let app = Mutex::new(Vec::new());
    let numbers = vec![0, 1, 2, 3];
    let run = TwoAtATime { numbers }.run(&app).concurrency(1);
    let signals = run.signals();
    smol::block_on(async {
        let mut run = std::pin::pin!(run.into_future());
        let begun = || app.lock().unwrap().clone();
        assert!(smol::future::poll_once(run.as_mut()).await.is_none());
        assert_eq!(begun(), [0, 1]);
        signals.send("all[1].reply", 11).unwrap();
        assert!(smol::future::poll_once(run.as_mut()).await.is_none());
        assert_eq!(begun(), [0, 1, 2]);
        for (element, value) in [(0, 10), (2, 12), (3, 13)] {
            let path = format!("all[{element}].reply");
            signals.send(&path, value).unwrap();
        }
        assert_eq!(run.await.unwrap(), [10, 11, 12, 13]);
    });
}

#[test]
fn each_round_has_its_own_value() {
    plan! {
        Sum() -> u64 {
            #[at_most(10)]
            step total = loop |last| {
                step more: Option<u64> = await;
                step next: (u64, bool) = (
                    last.map_or(0, |(sum, _)| sum) + more.unwrap_or(0),
                    more.is_some(),
                );
                next
            } while next.1;
            total.0
        }
    }
    let run = Sum {}.run(&());
    let signals = run.signals();
    assert!(signals.send("total.more", 1).is_err());
    for (round, value) in [Some(1), Some(20), Some(300), None].into_iter().enumerate() {
        let path = format!("total[{round}].more");
        signals.send(&path, value).unwrap();
    }
    assert_eq!(done(run), 321);

    let mut run = std::pin::pin!(Sum {}.run(&()).into_future());
    let error = smol::block_on(run.as_mut()).unwrap_err();
    assert!(
        error.to_string().contains("step `total.more` waits"),
        "{error}"
    );
}

/// Works at the second attempt of the block that calls it.
#[tool]
async fn flaky(#[context] context: CallContext, number: u64) -> Result<u64> {
    match context.outer().map_or(1, CallContext::attempt) {
        1 => Err(Error::msg("not yet")),
        _ => Ok(number),
    }
}

#[test]
fn a_value_stays_for_the_next_attempt_of_its_block() {
    let plan = plan! {
        #[retry(2, backoff = "1ms")]
        step twice = {
            step reply: u64 = await;
            Flaky { number: reply }
        };
        twice
    };
    let run = plan.run(&());
    run.signals().send("twice.reply", 7).unwrap();
    assert_eq!(done(run), 7);
}

#[test]
fn the_end_of_a_block_ends_its_waits() {
    /// Notes what was done.
    #[tool]
    async fn note(app: &Mutex<Vec<String>>, what: Option<String>) -> Result<()> {
        app.lock().unwrap().extend(what);
        Ok(())
    }
    plan! {
        Booked() -> Option<bool> {
            #[timeout("10s")] #[optional]
            step booked = {
                step held = Note { what: "held" };
                #[undo(held)]
                step released = Note { what: "released" };
                #[after(held)]
                step sure: bool = await;
                #[always]
                step told = Note { what: sure.err()?.code };
                sure
            };
            booked
        }
    }
    let timer = ManualTimer::new();
    let app = Mutex::new(Vec::new());
    let run = Booked {}.run(&app).timer(timer.clone());
    let signals = run.signals();
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), None);
    assert_eq!(*app.lock().unwrap(), ["held", "released", "CANCELLED"]);
    assert_eq!(timer.elapsed(), Duration::from_secs(10));
    drop(signals);

    // Nobody can send it any more.
    app.lock().unwrap().clear();
    let run = Booked {}.run(&app);
    drop(run.signals());
    assert_eq!(done(run), None);
    assert_eq!(*app.lock().unwrap(), ["held", "released", "NO_SIGNALS"]);
}

#[test]
fn a_block_of_a_plan_from_json_waits() {
    let toolbox = Toolbox::<()>::new().with::<Same<bool>>();
    let text = r#"{
        "name": "ask",
        "steps": [{"id": "answers", "for": {"pattern": "name", "list": ["a", "b"], "body": {"block": {
            "steps": [{"id": "reply", "await": "bool"}],
            "tail": {"tool": {"name": "same"}, "arguments": {"object": {"value": {"reference": {"step": "reply", "pointer": ""}}}}}
        }}}}],
        "output": {"value": {"reference": {"step": "answers", "pointer": ""}}}
    }"#;
    let plan = toolbox.read(text).unwrap();
    let run = toolbox.run(&plan, (), &());
    let signals = run.signals();
    signals.send("answers[1].reply", false).unwrap();
    signals.send("answers[0].reply", true).unwrap();
    assert_eq!(done(run), json!([true, false]));
}

#[test]
fn the_step_in_a_block_is_data() {
    let plan: &Plan = Approvals::PLAN;
    let text = plan.to_string();
    assert!(text.contains("\n    step reply: bool = await\n"), "{text}");
    let written = serde_json::to_value(plan).unwrap();
    let read: Plan = serde_json::from_value(written).unwrap();
    assert_eq!(read, *plan);
    let source = plan_rust::to_rust(plan).unwrap();
    assert!(source.contains("step reply: bool = await;"), "{source}");
}
