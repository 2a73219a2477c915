//! The times of waits in reports.

use plan_runtime::journal::Memory;
use plan_runtime::run::{Decision, Gate, ManualTimer, PendingCall, Throttle, Timer, WaitReason};
use plan_runtime::{Report, Result, Terminal, plan, tool};
use serde_json::json;
use std::time::Duration;

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Takes one millisecond for each cent.
#[tool]
async fn pay(timer: &ManualTimer, cents: u64) -> Result<u64> {
    timer.sleep(millis(cents)).await;
    Ok(cents)
}

/// A gate that answers after a second.
struct Desk(ManualTimer, Decision);

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        drop(call);
        self.0.sleep(millis(1000)).await;
        self.1.clone()
    }
}

/// Runs a plan whose calls a gate decides about, and returns the report.
macro_rules! with_gate {
    ($decision:expr, $($plan:tt)*) => {{
        let timer = ManualTimer::new();
        let plan = plan! { $($plan)* };
        let run = plan.run(&timer).timer(timer.clone());
        let run = run.gate(Desk(timer.clone(), $decision));
        smol::block_on(timer.skip_waits(run.with_report())).1
    }};
}

fn step(report: &Report, path: &str) -> serde_json::Value {
    serde_json::to_value(report.step(path).unwrap()).unwrap()
}

#[test]
fn the_wait_for_an_answer_is_apart_from_the_call() {
    for decision in [Decision::Allow, Decision::AllowStep] {
        let report = with_gate! { decision,
            step paid = Pay { cents: 20 };
            #[after(paid)]
            step all = for cents in [10, 1000] { Pay { cents } };
            all
        };
        assert_eq!(
            report.to_string(),
            "\
plan `plan`: 2 steps in 3.02 s with 2.00 s of waits: 2 completed
  paid  pay  completed       0 + 1.02 s  ░░░░░░░               [waited 1.00 s for an answer]
  all   pay  completed  1.02 s + 2.00 s         ░░░░░░███████  (2 calls) [waited 1.00 s for an answer]
  █ runs  ░ waits for an answer or a value
  critical path: paid → all, 3.02 s"
        );
        // Long bars leave room for the notes.
        let wide = Terminal::new(120, false).report(&report);
        let ends = wide.lines().map(|line| line.chars().count());
        assert_eq!(
            (ends.clone().count(), ends.max()),
            (report.to_string().lines().count() + 1, Some(120)),
            "{wide}"
        );
        assert_eq!(report.waited(), millis(2000));
        assert_eq!(
            step(&report, "paid"),
            json!({
                "id": "paid", "tool": "pay", "status": "completed", "started_ms": 0.0, "duration_ms": 1020.0,
                "attempts": [{"number": 1, "tool": "pay", "started_ms": 1000.0, "duration_ms": 20.0}],
                "waits": [{"reason": "answer", "started_ms": 0.0, "duration_ms": 1000.0}],
                "waited_ms": {"answer": 1000.0},
            })
        );
        let waits = report.step("all").unwrap().waits();
        let waits = waits.iter().map(|wait| {
            assert_eq!(wait.reason(), WaitReason::Answer);
            (wait.element(), wait.started(), wait.ended())
        });
        let of = |element| (element, millis(1020), Some(millis(2020)));
        assert_eq!(waits.collect::<Vec<_>>(), [of(&[0][..]), of(&[1])]);
    }
}

/// A gate that answers at once.
struct Rule(Decision);

impl Gate for Rule {
    async fn ask(&self, call: PendingCall) -> Decision {
        drop(call);
        std::thread::sleep(millis(2));
        self.0.clone()
    }
}

#[test]
fn no_call_waits_for_a_gate_that_answers_at_once() {
    let refused = Decision::Refuse("no".into());
    for decision in [Decision::Allow, Decision::AllowStep, refused] {
        for is_durable in [false, true] {
            let (timer, journal) = (ManualTimer::new(), Memory::new());
            let plan = plan! {
                step paid = Pay { cents: 0 };
                #[after(paid)]
                step all = for cents in [0, 0] { Pay { cents } };
                all
            };
            let run = plan.run(&timer).gate(Rule(decision.clone()));
            let run = if is_durable {
                run.durable(&journal, "r")
            } else {
                run
            };
            let (_, report) = smol::block_on(run.with_report());
            for step in report.steps() {
                assert!(step.waits().is_empty(), "{decision:?}: {:?}", step.waits());
            }
        }
    }
}

#[test]
fn a_refused_call_was_never_made() {
    let report = with_gate! { Decision::Refuse("no".into()), step paid = Pay { cents: 20 }; paid };
    let paid = report.step("paid").unwrap();
    assert!(paid.attempts().is_empty());
    assert_eq!(paid.waited(), millis(1000));
    assert_eq!(
        report.to_string(),
        "\
plan `plan`: 1 step in 1.00 s with 1.00 s of waits: 1 failed
  paid  pay  failed  0 + 1.00 s  ░░░░░░░░░░░░░░░░░░░░  was refused: no [waited 1.00 s for an answer]
  ░ waits for an answer or a value"
    );
}

#[test]
fn a_block_waits_with_its_steps() {
    let report = with_gate! { Decision::Allow,
        step both = {
            step first = Pay { cents: 1000 };
            Pay { cents: first }
        };
        both
    };
    assert_eq!(report.step("both").unwrap().waited(), millis(2000));
    assert!(step(&report, "both")["waits"].is_null());
    assert_eq!(
        report.to_string(),
        "\
plan `plan`: 1 step in 4.00 s with 2.00 s of waits: 1 completed
  both     pay  completed       0 + 4.00 s  ░░░░░█████░░░░░█████  [waited 2.00 s for an answer]
    first  pay  completed       0 + 2.00 s  ░░░░░█████            [waited 1.00 s for an answer]
    _      pay  completed  2.00 s + 2.00 s            ░░░░░█████  [waited 1.00 s for an answer]
  █ runs  ░ waits for an answer or a value"
    );
}

#[test]
fn the_wait_for_a_value_is_no_call() {
    let timer = ManualTimer::new();
    let plan = plan! {
        step cents: u64 = await;
        step paid = Pay { cents };
        paid
    };
    let run = plan.run(&timer).timer(timer.clone());
    let signals = run.signals();
    let both = async {
        let send = async {
            timer.sleep(millis(3000)).await;
            signals.send("cents", 1000).unwrap();
        };
        smol::future::zip(run.with_report(), send).await.0
    };
    let (_, report) = smol::block_on(timer.skip_waits(both));
    assert_eq!(
        report.to_string(),
        "\
plan `plan`: 2 steps in 4.00 s with 3.00 s of waits: 2 completed
  cents       completed       0 + 3.00 s  ░░░░░░░░░░░░░░░       [waited 3.00 s for a value]
  paid   pay  completed  3.00 s + 1.00 s                 █████
  █ runs  ░ waits for an answer or a value
  critical path: cents → paid, 4.00 s"
    );
    assert_eq!(
        step(&report, "cents")["waited_ms"],
        json!({"value": 3000.0})
    );
}

#[test]
fn a_turn_is_no_wait_for_a_person() {
    let timer = ManualTimer::new();
    let plan = plan! { step all = for cents in [10, 20] { Pay { cents } }; all };
    let throttle = Throttle::new().rate("*", 1, millis(1000));
    let run = plan.run(&timer).timer(timer.clone()).throttle(&throttle);
    let (_, report) = smol::block_on(timer.skip_waits(run.with_report()));
    assert_eq!(report.waited(), Duration::ZERO);
    assert_eq!(
        step(&report, "all")["waits"],
        json!([{"element": [1], "reason": "turn", "started_ms": 0.0, "duration_ms": 1000.0}])
    );
    assert!(
        report
            .to_string()
            .ends_with("(2 calls) [waited 0.99 s for its turn]"),
        "{report}"
    );
}

/// A label that has no room beside its bar is below the bar if the bar contains waits.
#[cfg(feature = "html")]
#[test]
fn labels_do_not_cross_waits() {
    let report = with_gate! { Decision::Allow,
        step first = Pay { cents: 20 };
        #[after(first)]
        step second = Pay { cents: 20 };
        #[after(second)]
        step third = Pay { cents: 20 };
        third
    };
    let html = report.to_html();
    let (_, timeline) = html.split_once("<ol class=\"rows\">").unwrap();
    let (timeline, _) = timeline.split_once("</ol>").unwrap();
    let mut labels: Vec<&str> = timeline
        .split(">1.02 s, waited 1.00 s for an answer<")
        .collect();
    labels.pop();
    let classes = labels.into_iter().map(|before| {
        let (_, class) = before.rsplit_once("class=\"").unwrap();
        class.split_once('"').unwrap().0
    });
    let classes: Vec<&str> = classes.collect();
    assert_eq!(classes, ["took", "note more", "took before"]);
}

/// A wait is drawn and counted, and a refused call is no bar of a tool.
#[cfg(feature = "html")]
#[test]
fn a_page_draws_waits_apart() {
    let bars = |report: &Report| -> Vec<String> {
        let html = report.to_html();
        let (_, timeline) = html.split_once("<ol class=\"rows\">").unwrap();
        let (timeline, _) = timeline.split_once("</ol>").unwrap();
        let all = timeline.split("<rect class=\"").skip(1);
        let all = all.map(|bar| bar.split('"').step_by(2).next().unwrap().to_owned());
        all.filter(|class| class != "frame" && class != "bar")
            .collect()
    };
    let allowed = with_gate! { Decision::Allow, step paid = Pay { cents: 20 }; paid };
    assert_eq!(bars(&allowed), ["waits", "good"]);
    let page = allowed.to_html();
    assert!(page.contains("<strong>1.02 s</strong> with 1.00 s of waits"));
    assert!(page.contains("<dt>Of that</dt><dd>waited 1.00 s for an answer</dd>"));
    let refused = with_gate! { Decision::Refuse("no".into()), step paid = Pay { cents: 20 }; paid };
    assert_eq!(bars(&refused), ["waits"]);
    let block =
        with_gate! { Decision::Allow, step both = { step first = Pay { cents: 9 }; first }; both };
    assert_eq!(bars(&block), ["good", "waits"]);
    let style = Report::HTML_STYLE;
    assert_eq!(style.matches("--waiting: #").count(), 2);
}
