//! Gates: which calls a run makes.

use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::run::{
    CallContext, Decision, Gate, Limits, ManualTimer, OnFailure, PendingCall, Run, RunErrorKind,
    Status, StepError,
};
use plan_runtime::{Error, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The calls so far.
#[derive(Default)]
struct App(Mutex<Vec<String>>);

impl App {
    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Finds something.
#[tool(read_only, name = "store.find")]
async fn find(app: &App, item: String) -> Result<u64> {
    app.0.lock().unwrap().push(format!("find {item}"));
    Ok(item.len() as u64)
}

/// Buys something.
#[tool(name = "store.buy")]
async fn buy(app: &App, item: String, price: u64) -> Result<String> {
    app.0
        .lock()
        .unwrap()
        .push(format!("buy {item} for {price}"));
    Ok(item)
}

/// Is busy at first.
#[tool]
async fn retry(app: &App, at: u64, #[context] context: CallContext) -> Result<u64> {
    app.0.lock().unwrap().push(format!("retry {at}"));
    if context.attempt() < 3 {
        return Err(Error::msg("busy"));
    }
    Ok(at)
}

plan! {
    Shop(items: Vec<String>) -> Vec<Option<String>> {
        #[optional(each)]
        step bought = for item in items {
            if item.len() > 1 { Buy { item, price: 7 } } else { Buy { item, price: 1 } }
        };
        bought
    }
}

plan! {
    Week(days: Vec<Vec<String>>) -> usize {
        step all = for items in days { Shop { items } };
        all.iter().flatten().flatten().count()
    }
}

/// A gate that decides, and records the questions.
struct Desk<F> {
    asked: Mutex<Vec<String>>,
    decide: F,
}

impl<F: Fn(&PendingCall) -> Decision + Send + Sync> Desk<F> {
    fn new(decide: F) -> Arc<Self> {
        let asked = Mutex::default();
        Arc::new(Self { asked, decide })
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl<F: Fn(&PendingCall) -> Decision + Send + Sync> Gate for Desk<F> {
    async fn ask(&self, call: PendingCall) -> Decision {
        self.asked.lock().unwrap().push(call.to_string());
        smol::future::yield_now().await;
        (self.decide)(&call)
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn each_call_is_asked_for_with_what_it_is_given() {
    let (app, desk) = (App::default(), Desk::new(|_| Decision::Allow));
    let shop = Shop {
        items: strings(&["a", "bc"]),
    };
    let bought = smol::block_on(shop.run(&app).gate(desk.clone()).concurrency(1)).unwrap();
    assert_eq!(bought, [Some("a".to_owned()), Some("bc".into())]);
    assert_eq!(
        desk.asked(),
        [
            r#"bought[0]: store.buy {"item":"a","price":1}"#,
            r#"bought[1]: store.buy {"item":"bc","price":7}"#
        ]
    );
    assert_eq!(app.calls(), ["buy a for 1", "buy bc for 7"]);
}

#[test]
fn what_is_refused_is_not_called() {
    let app = App::default();
    let desk = Desk::new(|call| match call.arguments()["price"].as_u64() {
        Some(1) => Decision::Allow,
        _ => Decision::Refuse("too\nmuch".into()),
    });
    let shop = Shop {
        items: strings(&["a", "bc", "d"]),
    };
    let run = shop.run(&app).gate(desk.clone()).with_report();
    let (result, report) = smol::block_on(run);
    assert_eq!(
        result.unwrap(),
        [Some("a".to_owned()), None, Some("d".into())]
    );
    let error = report.step("bought").unwrap().error().unwrap();
    assert_eq!(
        (error.code(), error.to_string()),
        ("REFUSED", r"was refused: too\nmuch".into())
    );
    assert!(!error.is_transient());
    assert_eq!(app.calls().len(), 2);

    // Without `optional`, the run fails.
    let plan = plan! { step bought = Buy { item: "x", price: 9 }; bought };
    let error = smol::block_on(plan.run(&app).gate(desk)).unwrap_err();
    assert_eq!(
        error.to_string(),
        r"plan `plan` failed: step `bought` (store.buy): was refused: too\nmuch"
    );
    assert!(matches!(error.failures()[0].error(), StepError::Refused(_)) && error.is_permanent());
    assert_eq!(app.calls(), [""; 0]);
}

#[test]
fn a_call_is_asked_for_once_for_all_its_attempts() {
    let (app, desk) = (App::default(), Desk::new(|_| Decision::Allow));
    let plan = plan! {
        #[retry(3, backoff = "1s")]
        #[timeout("1s")]
        #[deadline("1h")]
        step all = for at in [1_u64, 2] { Retry { at } };
        all
    };
    let timer = ManualTimer::new();
    let run = plan
        .run(&app)
        .gate(desk.clone())
        .timer(timer.clone())
        .capture_arguments(true);
    let (result, report) = smol::block_on(timer.skip_waits(run.with_report()));
    assert_eq!(result.unwrap(), [1, 2]);
    assert_eq!(
        desk.asked(),
        [r#"all[0]: retry {"at":1}"#, r#"all[1]: retry {"at":2}"#]
    );
    assert_eq!(app.calls().len(), 6);
    let attempts: Vec<_> = report
        .step("all")
        .unwrap()
        .attempts()
        .iter()
        .map(|it| it.arguments().cloned())
        .collect();
    assert!(
        attempts
            .iter()
            .all(|it| *it == Some(json!({"at": 1})) || *it == Some(json!({"at": 2})))
    );
    assert_eq!(attempts.len(), 6);
}

#[test]
fn the_same_arguments_are_shown_and_given() {
    static DRAWN: AtomicUsize = AtomicUsize::new(0);
    fn draw() -> u64 {
        DRAWN.fetch_add(1, Ordering::Relaxed) as u64
    }
    let (app, desk) = (App::default(), Desk::new(|_| Decision::Allow));
    let plan = plan! {
        step bought = Buy { item: "x", price: draw() };
        #[retry(3, backoff = "0s")]
        step again = Retry { at: draw() };
        (bought, again)
    };
    let run = plan.run(&app).gate(desk.clone()).concurrency(1);
    let (_, again) = smol::block_on(run).unwrap();
    let price = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    let (asked, calls) = (desk.asked(), app.calls());
    let asked: Vec<String> = asked.iter().map(|it| price(it)).collect();
    let mut called: Vec<String> = calls.iter().map(|it| price(it)).collect();
    called.dedup();
    assert_eq!(asked, called);
    assert_eq!(again.to_string(), asked[1]);
}

#[test]
fn an_answer_may_hold_for_all_elements() {
    let (app, desk) = (App::default(), Desk::new(|_| Decision::AllowStep));
    let items: Vec<String> = (0..200).map(|i| i.to_string()).collect();
    let shop = Shop {
        items: items.clone(),
    };
    let bought = smol::block_on(shop.run(&app).gate(desk.clone())).unwrap();
    assert_eq!(bought.len(), 200);
    assert_eq!(app.calls().len(), 200);
    // The questions that were open at the first answer.
    assert!(desk.asked().len() <= 64);
    // Each tool in the step is another question.
    let plan = plan! {
        step both = for item in ["a", "bb", "c", "dd"] {
            if item.len() > 1 { Buy { item, price: 7 } } else { Buy { item, price: 1 } }
        };
        both
    };
    let cheap = Desk::new(|call| match call.arguments()["price"].as_u64() {
        Some(1) => Decision::AllowStep,
        _ => Decision::Refuse("too much".into()),
    });
    let error = smol::block_on(plan.run(&app).gate(cheap.clone()).concurrency(1)).unwrap_err();
    assert_eq!(error.failures()[0].element(), [1]);
    assert!(app.calls().iter().all(|call| call.ends_with("for 1")));
    assert!(cheap.asked().iter().any(|call| call.contains("bb")));
    // Another step is another question.
    let plan = plan! {
        step a = Find { item: "a" };
        step b = Find { item: "b" };
        a + b
    };
    smol::block_on(plan.run(&app).gate(desk.clone())).unwrap();
    assert_eq!(desk.asked().len(), 2);
}

#[test]
fn calls_of_plans_inside_are_asked_for_and_the_plan_is_not() {
    let (app, desk) = (App::default(), Desk::new(|_| Decision::Allow));
    let week = Week {
        days: vec![strings(&["a"]), strings(&["b", "c"])],
    };
    assert_eq!(
        smol::block_on(week.run(&app).gate(desk.clone()).concurrency(1)).unwrap(),
        3
    );
    let mut asked = desk.asked();
    asked.sort_unstable();
    assert_eq!(
        asked,
        [
            r#"all[0].bought[0]: store.buy {"item":"a","price":1}"#,
            r#"all[1].bought[0]: store.buy {"item":"b","price":1}"#,
            r#"all[1].bought[1]: store.buy {"item":"c","price":1}"#
        ]
    );
}

#[test]
fn other_steps_go_on_while_somebody_decides() {
    struct Never;
    impl Gate for Never {
        async fn ask(&self, call: PendingCall) -> Decision {
            if call.is_read_only() {
                Decision::Allow
            } else {
                pending().await
            }
        }
    }
    let app = App::default();
    let plan = plan! {
        step bought = Buy { item: "x", price: 1 };
        step one = Find { item: "a" };
        step two = Find { item: format!("{one}") };
        (bought, two)
    };
    for concurrency in [1, 64] {
        let mut run = pin!(plan.run(&app).gate(Never).concurrency(concurrency));
        for _ in 0..20 {
            assert!(
                run.as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_pending()
            );
        }
        assert_eq!(app.calls(), ["find a", "find 1"], "{concurrency}");
    }
    // The deadline of the run ends it.
    let timer = ManualTimer::new();
    let run = plan
        .run(&app)
        .gate(Never)
        .timer(timer.clone())
        .deadline(Duration::from_secs(5));
    let (result, report) = smol::block_on(timer.skip_waits(run.with_report()));
    assert_eq!(result.unwrap_err().kind(), RunErrorKind::Deadline);
    assert!(matches!(
        report.step("bought").unwrap().status(),
        Status::Cancelled
    ));
}

#[test]
fn a_question_is_dropped_when_another_step_fails() {
    struct Never;
    impl Gate for Never {
        async fn ask(&self, call: PendingCall) -> Decision {
            match call.arguments()["price"].as_u64() {
                Some(0) => Decision::Refuse("no".into()),
                _ => pending().await,
            }
        }
    }
    let app = App::default();
    let plan = plan! {
        step waits = Buy { item: "x", price: 1 };
        step many = for price in [1_u64, 2] { Buy { item: "y", price } };
        step fails = Buy { item: "z", price: 0 };
        (waits, many, fails)
    };
    for on_failure in [OnFailure::Stop, OnFailure::Cancel] {
        let run = plan.run(&app).gate(Never).on_failure(on_failure);
        let (result, report) = smol::block_on(run.with_report());
        assert_eq!(result.unwrap_err().failures().len(), 1);
        for step in ["waits", "many"] {
            let status = report.step(step).unwrap().status();
            assert!(matches!(status, Status::Cancelled), "{step}: {status:?}");
        }
    }
    // The elements of one step.
    let plan = plan! { step many = for price in [1_u64, 0, 2] { Buy { item: "y", price } }; many };
    let error = smol::block_on(plan.run(&app).gate(Never)).unwrap_err();
    assert_eq!(error.failures()[0].element(), [1]);
    assert_eq!(app.calls(), [""; 0]);
}

#[test]
fn a_gate_that_panics_refuses() {
    struct Broken(bool);
    impl Gate for Broken {
        fn ask(&self, _: PendingCall) -> impl Future<Output = Decision> + Send {
            assert!(self.0, "now");
            async { panic!("later") }
        }
    }
    let app = App::default();
    for later in [false, true] {
        let plan = plan! { step bought = Buy { item: "x", price: 1 }; bought };
        let error = smol::block_on(plan.run(&app).gate(Broken(later))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "plan `plan` failed: step `bought` (store.buy): was refused: the gate panicked"
        );
    }
    assert_eq!(app.calls(), [""; 0]);
}

#[test]
fn two_gates_are_both_asked() {
    /// Runs a plan with a gate of its own inside the run.
    #[tool]
    async fn inner(app: &App, #[context] context: CallContext) -> Result<String> {
        let plan = plan! { step bought = Buy { item: "x", price: 3 }; bought };
        let own = Desk::new(|call| match call.arguments()["price"].as_u64() {
            Some(3) => Decision::Allow,
            _ => Decision::Refuse("not three".into()),
        });
        Ok(plan.run(app).inside(&context).gate(own).await?)
    }
    let app = App::default();
    let plan = plan! { step done = Inner {}; done };
    let outer = Desk::new(|_| Decision::Allow);
    assert_eq!(
        smol::block_on(plan.run(&app).gate(outer.clone())).unwrap(),
        "x"
    );
    assert_eq!(
        outer.asked(),
        [
            "done: inner {}",
            r#"done.bought: store.buy {"item":"x","price":3}"#
        ]
    );
    let outer = Desk::new(|call| match call.tool() {
        "inner" => Decision::Allow,
        _ => Decision::Refuse("outside".into()),
    });
    let error = smol::block_on(plan.run(&app).gate(outer)).unwrap_err();
    assert!(
        error.to_string().contains("was refused: outside"),
        "{error}"
    );
    assert_eq!(app.calls().len(), 1);
}

/// A gate that records the tools' declarations.
struct Note(Arc<Mutex<Vec<(String, String, bool)>>>);
impl Gate for Note {
    async fn ask(&self, call: PendingCall) -> Decision {
        let about = (
            call.tool().into(),
            call.description().into(),
            call.is_read_only(),
        );
        self.0.lock().unwrap().push(about);
        Decision::Allow
    }
}

#[test]
fn a_gate_learns_what_the_tool_says_of_itself() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let app = App::default();
    let tools = Toolbox::new().with::<Find>().with_fn(
        Contract::new("store.sell").description("Sells something."),
        |given| async move { Ok(given) },
    );
    // A plan may contain any description of a tool.
    let plan = serde_json::from_value::<plan_runtime::Plan>(json!({"name": "p", "steps": [
        {"id": "a", "tool": {"name": "store.find", "description": "Harmless."}, "arguments": {"object": {"item": "x"}}},
        {"id": "b", "tool": {"name": "store.sell", "description": "Harmless."}, "arguments": {"object": {"item": "x"}}},
    ], "output": {"value": null}})).unwrap();
    smol::block_on(
        tools
            .run(&plan, (), &app)
            .gate(Note(Arc::clone(&seen)))
            .concurrency(1),
    )
    .unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            ("store.find".into(), "Finds something.".into(), true),
            ("store.sell".into(), "Sells something.".to_owned(), false),
        ]
    );
}

/// All kinds of arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Kinds {
    float: f64,
    big: u64,
    small: i8,
    unit: (),
    letter: char,
    pair: (u8, String),
    keys: BTreeMap<i32, bool>,
    none: Option<u8>,
    some: Option<Vec<u8>>,
    #[serde(default)]
    left_out: Vec<String>,
    #[serde(flatten)]
    rest: Rest,
    variant: Variant,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Rest {
    more: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
enum Variant {
    Unit,
    New(u8),
    Struct { a: f32 },
}

/// Returns its arguments.
#[tool]
async fn echo(
    kinds: Kinds,
    number: f64,
    variant: Variant,
    none: Option<String>,
) -> Result<(Kinds, f64, Variant, Option<String>)> {
    Ok((kinds, number, variant, none))
}

#[test]
fn arguments_of_all_kinds_pass_a_gate_as_they_are() {
    let kinds = Kinds {
        float: 3.0,
        big: u64::MAX,
        small: -128,
        unit: (),
        letter: '\u{202e}',
        pair: (7, "x".into()),
        keys: BTreeMap::from([(-3, true)]),
        none: None,
        some: Some(vec![0, 255]),
        left_out: Vec::new(),
        rest: Rest { more: "m".into() },
        variant: Variant::Struct { a: 0.1 },
    };
    plan! {
        Echoes(kinds: Kinds, whole: f64) -> (Kinds, f64, Variant, Option<String>) {
            step echoed = Echo { kinds, number: 2.5, variant: Variant::New(4), .. };
            step again = Echo { kinds: echoed.0, number: whole, variant: Variant::Unit, none: "n" };
            step last = Echo { kinds: again.0, number: echoed.1, variant: again.2, none: again.3 };
            last
        }
    }
    let run = || {
        Echoes {
            kinds: kinds.clone(),
            whole: 3.0,
        }
        .run(&())
    };
    let free = smol::block_on(run()).unwrap();
    let gated = smol::block_on(run().gate(Desk::new(|_| Decision::Allow))).unwrap();
    assert_eq!(free, gated);
    assert_eq!(free.0, kinds);
}

#[test]
fn what_waits_for_an_answer_counts_toward_the_limits() {
    let tools =
        Toolbox::<()>::new().with_fn(Contract::new("echo"), |given| async move { Ok(given) });
    let list: Vec<u64> = (0..50).collect();
    let plan = serde_json::from_value::<plan_runtime::Plan>(json!({"name": "p", "steps": [
        {"id": "s", "for": {"pattern": "x", "list": list,
            "body": {"tool": {"name": "echo"}, "arguments": {"object": {"text": "x".repeat(10_000)}}}}},
    ], "output": {"value": null}})).unwrap();
    let run = |total: usize| {
        let run: Run<'_, (), Value> = tools.run(&plan, (), &());
        let gate = Desk::new(|_| Decision::Allow);
        smol::block_on(run.gate(gate).limits(Limits::DEFAULT.total(total)))
    };
    assert!(run(4_000_000).is_ok());
    let error = run(600_000).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
}

#[test]
fn nobody_is_asked_about_more_calls_than_may_be_made() {
    let items: Vec<String> = (0..50).map(|it| format!("item {it}")).collect();
    for answer in [
        Decision::Allow,
        Decision::AllowStep,
        Decision::Refuse("no".into()),
    ] {
        let decision = answer.clone();
        let (app, desk) = (App::default(), Desk::new(move |_| decision.clone()));
        let shop = Shop {
            items: items.clone(),
        };
        let run = shop.run(&app).gate(desk.clone());
        let error = smol::block_on(run.limits(Limits::DEFAULT.calls(20))).unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
        let (asked, called) = (desk.asked().len(), app.calls().len());
        assert!(asked <= 20 && called <= 20, "{asked} {called}");

        // A call with a question is one call.
        let shop = Shop {
            items: items.clone(),
        };
        let run = shop.run(&app).gate(desk.clone());
        assert!(smol::block_on(run.limits(Limits::DEFAULT.calls(50))).is_ok());
    }
}

#[test]
fn arguments_that_do_not_fit_are_nobodys_question() {
    let tools = Toolbox::new().with::<Find>();
    let plan = serde_json::from_value::<plan_runtime::Plan>(json!({"name": "p", "steps": [
        {"id": "s", "tool": {"name": "store.find"}, "arguments": {"object": {"item": 5}}},
    ], "output": {"value": null}}))
    .unwrap();
    let desk = Desk::new(|_| Decision::Allow);
    let app = App::default();
    let error = smol::block_on(tools.run(&plan, (), &app).gate(desk.clone())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `p` failed: step `s` (store.find): argument `item`: invalid type: integer `5`, expected a string"
    );
    assert_eq!(desk.asked(), [""; 0]);
}

#[test]
fn a_run_that_is_dropped_drops_its_questions() {
    struct Open(Arc<AtomicUsize>);
    struct Closed(Arc<AtomicUsize>);
    impl Drop for Closed {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    impl Gate for Open {
        async fn ask(&self, _: PendingCall) -> Decision {
            let _closed = Closed(Arc::clone(&self.0));
            pending().await
        }
    }
    let (app, closed) = (App::default(), Arc::new(AtomicUsize::new(0)));
    let shop = Shop {
        items: strings(&["a", "b", "c"]),
    };
    let mut run = Box::pin(shop.run(&app).gate(Open(Arc::clone(&closed))));
    assert!(matches!(
        run.as_mut().poll(&mut Context::from_waker(Waker::noop())),
        Poll::Pending
    ));
    drop(run);
    assert_eq!(closed.load(Ordering::Relaxed), 3);
}
