//! Reports, signals, cancellations, new attempts.

use crate::journal::asking::Asking;
use crate::serving::support::{
    Place, at, has_ended, in_each_place, output, rests, serve, summary, until,
};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{Journal, RunFilter, RunState, RunSummary};
use plan_runtime::run::{
    CallContext, Decision, Gate, Limits, PendingCall, Run, RunErrorKind, SignalError, Throttle,
};
use plan_runtime::{Error, Plan, Report, Result, plan, tool};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The calls, and a switch for failures.
#[derive(Default)]
struct Shop {
    calls: Mutex<Vec<String>>,
    /// The keys of the calls that had an effect. A call with a known key has no effect.
    seen: Mutex<BTreeSet<String>>,
    /// The number of reserved items.
    reserved: AtomicI64,
    is_closed: AtomicBool,
    stamps: AtomicU64,
}

impl Shop {
    fn note(&self, context: &CallContext) {
        let mut calls = self.calls.lock().unwrap();
        calls.push(context.idempotency_key());
    }

    fn reserve(&self, context: &CallContext, items: i64) {
        if self.seen.lock().unwrap().insert(context.idempotency_key()) {
            self.reserved.fetch_add(items, Ordering::Relaxed);
        }
    }

    fn reserved(&self) -> i64 {
        self.reserved.load(Ordering::Relaxed)
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

/// Reserves something.
#[tool]
async fn reserve(shop: &Shop, #[context] context: CallContext, item: String) -> Result<String> {
    shop.note(&context);
    shop.reserve(&context, 1);
    Ok(item)
}

/// Gives it back.
#[tool]
async fn give_back(shop: &Shop, #[context] context: CallContext, item: String) -> Result<()> {
    shop.note(&context);
    if item != "desk" {
        shop.reserve(&context, -1);
    }
    Ok(())
}

/// Pays, if the bank is open.
#[tool]
async fn pay(shop: &Shop, #[context] context: CallContext, cents: u64) -> Result<u64> {
    shop.note(&context);
    if shop.is_closed.load(Ordering::Relaxed) {
        return Err(Error::msg("the bank is closed"));
    }
    Ok(cents)
}

plan! {
    Buy(item: String, cents: u64) -> String {
        step first = Pay { cents: 1 };
        step held = Reserve { item };
        #[undo(held)]
        step released = GiveBack { item: held };
        #[after(held)]
        step sure: bool = await;
        #[after(sure)]
        #[retry(2, backoff = "1ms")]
        step paid = Pay { cents };
        #[always]
        step closed = GiveBack { item: "desk" };
        format!("{first} {held} {paid} {sure}")
    }
}

fn toolbox() -> Toolbox<Shop> {
    Toolbox::new().with::<Buy>()
}

fn buy(db: &impl Journal, shop: &Shop, id: &str) {
    let item = "lamp".to_owned();
    let run = Buy { item, cents: 5 }.run(shop);
    smol::block_on(run.submit(db, id)).unwrap();
}

fn statuses(report: &Report) -> Vec<(&str, &str)> {
    let steps = report.steps().iter();
    steps
        .map(|step| (step.id(), step.status().name()))
        .collect()
}

fn a_report_is_made_of_records<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), toolbox());
    let (db, other) = (folder.open(), folder.open());
    buy(&db, &shop, "a");
    let report = at(&db, &toolbox, &shop).report("a").unwrap();
    assert_eq!(report.totals().completed, 0);
    serve(&db, &toolbox, &shop, || rests(&db, "a"));
    let calls = shop.take();
    assert_eq!(calls.len(), 2, "{calls:?}");
    let expected = [
        ("first", "completed"),
        ("held", "completed"),
        ("released", "not started"),
        ("sure", "waiting"),
        ("paid", "not started"),
        ("closed", "not started"),
    ];
    for db in [&db, &other] {
        let report = at(db, &toolbox, &shop).report("a").unwrap();
        assert_eq!(statuses(&report), expected);
        assert_eq!(report.step("first").unwrap().output(), None);
        let capture = at(db, &toolbox, &shop)
            .report_with("a", |run| run.capture_outputs(true).capture_arguments(true));
        let step = capture.unwrap();
        let step = step.step("first").unwrap();
        assert!(step.output().is_some() && step.arguments().is_some());
        assert_eq!(report.totals().waiting, 1);
        assert!(
            serde_json::to_string(&report)
                .unwrap()
                .contains("\"waiting\"")
        );
    }
    assert!(shop.take().is_empty());
    at(&db, &toolbox, &shop).signal("a", "sure", true).unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    let report = at(&db, &toolbox, &shop).report("a").unwrap();
    assert_eq!(report.totals().completed, 5);
    let item = "lamp".to_owned();
    let run = Buy { item, cents: 5 }.run(&*shop).durable(&db, "a");
    let (output, again) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap(), "1 lamp 5 true");
    assert_eq!(statuses(&report), statuses(&again));
    let error = at(&db, &toolbox, &shop).report("b").unwrap_err();
    assert_eq!(error.to_string(), "there is no run `b`");
}

plan! {
    Keep(item: String) -> String {
        step held = Reserve { item };
        held
    }
}

/// A limit that ended a run is part of its report. Any other limit is an error, even if the output of the run is the message of that error.
fn a_report_exceeds_no_limit_that_did_not_end_the_run<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let (db, toolbox) = (folder.open(), Toolbox::new().with::<Keep>());
    let run = |id: &str, item: String, limits| {
        smol::block_on(Keep { item }.run(&*shop).limits(limits).durable(&db, id))
    };
    let small = Limits::DEFAULT.value(64);
    let report = |id: &str| at(&db, &toolbox, &shop).report_with(id, |run| run.limits(small));
    let text = |error: plan_runtime::RunError| {
        assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
        error.to_string()
    };
    text(run("ended", "lamp".repeat(100), small).unwrap_err());
    assert_eq!(report("ended").unwrap().totals().failed, 1);
    run("done", "lamp".repeat(100), Limits::DEFAULT).unwrap();
    let message = text(report("done").unwrap_err());
    run("same", message.clone(), Limits::DEFAULT).unwrap();
    assert_eq!(text(report("same").unwrap_err()), message);
}

fn a_value_is_checked_before_it_is_sent<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), toolbox());
    let db = folder.open();
    buy(&db, &shop, "a");
    let message = |result: Result<(), SignalError>| result.unwrap_err().to_string();
    assert_eq!(
        message(at(&db, &toolbox, &shop).signal("a", "sur", true)),
        "no step of the run waits for a value at `sur` (`sure` is similar)"
    );
    assert_eq!(
        message(at(&db, &toolbox, &shop).signal("a", "sure", "yes")),
        "the value for `sure` has the wrong type: invalid type: string \"yes\", expected a boolean"
    );
    // By the name of its type alone.
    let none = Toolbox::<()>::new();
    assert_eq!(
        message(at(&db, &none, &Arc::new(())).signal("a", "sure", 5)),
        "the value for `sure` has the wrong type: it is an integer, but must be `true` or `false` (`bool`)"
    );
    assert_eq!(
        message(at(&db, &none, &Arc::new(())).signal("b", "sure", 5)),
        "there is no run `b`"
    );
    at(&db, &none, &Arc::new(()))
        .signal("a", "sure", true)
        .unwrap();
    let second = at(&db, &none, &Arc::new(())).signal("a", "sure", false);
    assert!(matches!(second, Err(SignalError::Second { .. })));
    // It came before the step waited.
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "\"1 lamp 5 true\"");
    let late = at(&db, &none, &Arc::new(())).signal("a", "sure", false);
    assert!(matches!(late, Err(SignalError::Ended)));
}

fn a_value_leads_into_inner_plans<P: Place>() {
    let plan: Plan = serde_json::from_value(json!({
        "name": "outer",
        "steps": [{"id": "bought", "tool": {"name": "buy"}, "arguments": {"object": {"item": "pen", "cents": 2}}}],
        "output": {"value": {"reference": {"step": "bought", "pointer": ""}}},
    }))
    .unwrap();
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), toolbox());
    let db = folder.open();
    smol::block_on(toolbox.run(&plan, (), &shop).submit(&db, "a")).unwrap();
    assert!(
        at(&db, &toolbox, &shop)
            .signal("a", "bought.sure", "yes")
            .is_err()
    );
    assert!(
        at(&db, &toolbox, &shop)
            .signal("a", "bought.paid", true)
            .is_err()
    );
    serve(&db, &toolbox, &shop, || rests(&db, "a"));
    let report = at(&db, &toolbox, &shop).report("a").unwrap();
    assert_eq!(statuses(&report), [("bought", "waiting")]);
    at(&db, &toolbox, &shop)
        .signal("a", "bought.sure", true)
        .unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "\"1 pen 2 true\"");
}

fn a_cancelled_run_undoes_and_can_go_on<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), toolbox());
    let db = folder.open();
    buy(&db, &shop, "a");
    serve(&db, &toolbox, &shop, || rests(&db, "a"));
    shop.take();
    db.cancel_now("a").unwrap();
    assert!(db.cancel_now("b").is_err());
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(summary(&db, "a").state, RunState::Cancelled);
    assert_eq!(shop.take(), ["a/released", "a/closed"]);
    assert_eq!(
        output(&db, "a"),
        "\"plan `buy` was cancelled; undone: `held`\""
    );

    at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    assert_eq!(summary(&db, "a").state, RunState::Running);
    at(&db, &toolbox, &shop).signal("a", "sure", true).unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "\"1 lamp 5 true\"");
    // Undone steps are repeated, and no other steps.
    assert_eq!(shop.take(), ["a/held~1", "a/paid", "a/closed~1"]);
    assert_eq!(shop.reserved(), 1);
    let error = at(&db, &toolbox, &shop).retry_failed("a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `buy` cannot start: run `a` has not failed, so there is nothing to retry"
    );
}

/// Allows each call.
struct Allows;

impl Gate for Allows {
    async fn ask(&self, _: PendingCall) -> Decision {
        Decision::Allow
    }
}

plan! {
    Hold() -> bool {
        step held = Reserve { item: "lamp" };
        #[undo(held)]
        step released = GiveBack { item: held };
        #[after(held)]
        step sure: bool = await;
        sure
    }
}

/// A call with a record waits for no gate and no throttle, so the end of the run does not cut the call.
fn a_cancelled_run_undoes_behind_gates_and_throttles<P: Place>() {
    let throttle = Throttle::new().concurrency("*", 4);
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let (db, toolbox) = (folder.open(), Toolbox::new().with::<Hold>());
    let expected = [
        ("held", "completed"),
        ("released", "completed"),
        ("sure", "cancelled"),
    ];
    for id in ["free", "gated", "throttled", "both"] {
        smol::block_on(Hold {}.run(&*shop).submit(&db, id)).unwrap();
        let serve_until = |is_so: &(dyn Fn() -> bool + Sync)| {
            let server = at(&db, &toolbox, &shop).0;
            let serve = server.serve().cancel_on(until(is_so));
            let throttle = throttle.clone();
            let serve = match id {
                "gated" => serve.configure(|run, _| run.gate(Allows)),
                "throttled" => serve.configure(move |run, _| run.throttle(&throttle)),
                "both" => serve.configure(move |run, _| run.gate(Allows).throttle(&throttle)),
                _ => serve,
            };
            smol::block_on(serve).unwrap();
        };
        serve_until(&|| rests(&db, id));
        db.cancel_now(id).unwrap();
        serve_until(&|| has_ended(&db, id));
        assert_eq!(shop.reserved(), 0, "{id}");
        for captures in [false, true] {
            let report = at(&db, &toolbox, &shop).report_with(id, |run| {
                run.capture_arguments(captures).capture_outputs(captures)
            });
            assert_eq!(statuses(&report.unwrap()), expected, "{id}");
        }
    }
}

/// Answers no question about `give_back` unless the gate allows all calls, and notes the question.
struct Holds {
    has_asked: Arc<AtomicBool>,
    allows: bool,
}

impl Gate for Holds {
    async fn ask(&self, call: PendingCall) -> Decision {
        if call.tool() == "give_back" && !self.allows {
            self.has_asked.store(true, Ordering::Relaxed);
            std::future::pending::<()>().await;
        }
        Decision::Allow
    }
}

/// The message that has canceled a run does not end the time of its undo steps after a crash.
fn a_cancelled_run_undoes_after_a_crash<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let (db, toolbox) = (folder.open(), Toolbox::new().with::<Hold>());
    smol::block_on(Hold {}.run(&*shop).submit(&db, "a")).unwrap();
    let has_asked = Arc::new(AtomicBool::new(false));
    let serve_until = |allows: bool, is_so: &(dyn Fn() -> bool + Sync)| {
        let asked = Arc::clone(&has_asked);
        let server = at(&db, &toolbox, &shop).0;
        let serve = server.serve().cancel_on(until(is_so));
        let serve = serve.configure(move |run, _| {
            let has_asked = Arc::clone(&asked);
            run.gate(Holds { has_asked, allows })
        });
        smol::block_on(serve).unwrap();
    };
    serve_until(false, &|| rests(&db, "a"));
    db.cancel_now("a").unwrap();
    serve_until(false, &|| has_asked.load(Ordering::Relaxed));
    serve_until(true, &|| has_ended(&db, "a"));
    let expected = "\"plan `hold` was cancelled; undone: `held`\"";
    assert_eq!((output(&db, "a").as_str(), shop.reserved()), (expected, 0));
}

fn failed_attempts_are_made_again<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), toolbox());
    let db = folder.open();
    buy(&db, &shop, "a");
    serve(&db, &toolbox, &shop, || rests(&db, "a"));
    shop.take();
    shop.is_closed.store(true, Ordering::Relaxed);
    at(&db, &toolbox, &shop).signal("a", "sure", true).unwrap();
    for n in 0..3 {
        serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
        assert_eq!(summary(&db, "a").state, RunState::Failed);
        let mark = |key: &str| match n {
            0 => key.to_owned(),
            _ => format!("{key}~{n}"),
        };
        let mut expected = vec![mark("a/held"), "a/paid".to_owned(), "a/paid".to_owned()];
        expected.extend([mark("a/released"), mark("a/closed")]);
        // The room was reserved before the value was sent.
        assert_eq!(shop.take(), expected[usize::from(n == 0)..]);
        assert_eq!(shop.reserved(), 0);
        let report = at(&db, &toolbox, &shop).report("a").unwrap();
        let paid = report.step("paid").unwrap();
        assert_eq!((paid.attempts().len(), paid.status().name()), (2, "failed"));
        // Until then, it fails in the same way.
        let item = "lamp".to_owned();
        let run = Buy { item, cents: 5 }.run(&*shop).durable(&db, "a");
        assert!(smol::block_on(run).is_err());
        assert!(shop.take().is_empty());
        at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    }
    shop.is_closed.store(false, Ordering::Relaxed);
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "\"1 lamp 5 true\"");
    assert_eq!(shop.take(), ["a/held~3", "a/paid", "a/closed~3"]);
    assert_eq!(shop.reserved(), 1);
}

plan! {
    Nested(cents: u64) -> u64 {
        step before = Reserve { item: "desk" };
        #[retry(2, backoff = "1ms")]
        #[after(before)]
        step inner = {
            step held = Reserve { item: "pen" };
            #[undo(held)]
            step released = GiveBack { item: held };
            #[after(held)]
            step paid = Pay { cents };
            paid
        };
        inner
    }
}

fn the_last_attempt_of_a_block_goes_on<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let toolbox = Toolbox::new().with::<Nested>();
    let db = folder.open();
    smol::block_on(Nested { cents: 3 }.submit(&db, "a")).unwrap();
    shop.is_closed.store(true, Ordering::Relaxed);
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    let attempt = |n: &str| {
        let (held, paid) = (format!("a/inner.held{n}"), "a/inner.paid".to_owned());
        [held, paid, format!("a/inner.released{n}")]
    };
    let mut expected = vec!["a/before".to_owned()];
    expected.extend(attempt(""));
    expected.extend(attempt("~1"));
    assert_eq!(shop.take(), expected);

    at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(summary(&db, "a").state, RunState::Failed);
    assert_eq!(shop.take(), attempt("~2"));
    // The item before it stays.
    assert_eq!(shop.reserved(), 1);

    shop.is_closed.store(false, Ordering::Relaxed);
    at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "3");
    assert_eq!(shop.take(), attempt("~3")[..2]);
    assert_eq!(shop.reserved(), 2);
}

plan! {
    Held(cents: u64) -> u64 {
        step held = Reserve { item: "pen" };
        #[undo(held)]
        #[retry(2, backoff = "1ms")]
        step back = Pay { cents: 1 };
        #[after(held)]
        step paid = Pay { cents };
        paid
    }
}

fn a_call_whose_undo_failed_is_not_made_again<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let toolbox = Toolbox::new().with::<Held>();
    let db = folder.open();
    smol::block_on(Held { cents: 3 }.submit(&db, "a")).unwrap();
    shop.is_closed.store(true, Ordering::Relaxed);
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(shop.take(), ["a/held", "a/paid", "a/back", "a/back"]);

    shop.is_closed.store(false, Ordering::Relaxed);
    at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "3");
    assert_eq!(shop.take(), ["a/paid"]);
}

plan! {
    Undone(cents: u64) -> u64 {
        step held = Reserve { item: "pen" };
        #[undo(held)]
        step released = GiveBack { item: held };
        #[after(held)]
        step paid = Pay { cents };
        #[always]
        step closed = GiveBack { item: "desk" };
        paid
    }
}

/// Runs a plan that undoes something inside its call.
#[tool]
async fn try_inside(shop: &Shop, #[context] context: CallContext, cents: u64) -> Result<u64> {
    Ok(Undone { cents }.run(shop).inside(&context).await?)
}

plan! {
    UndoneInside(cents: u64) -> u64 {
        #[retry(2, backoff = "1ms")]
        step tried = TryInside { cents };
        tried
    }
}

fn what_was_undone_inside_a_call_has_new_keys<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let toolbox = Toolbox::new().with::<UndoneInside>();
    let db = folder.open();
    smol::block_on(UndoneInside { cents: 3 }.submit(&db, "a")).unwrap();
    shop.is_closed.store(true, Ordering::Relaxed);
    let mut keys = Vec::new();
    for life in 0..3 {
        serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
        assert_eq!(summary(&db, "a").state, RunState::Failed);
        let mut made = shop.take();
        // The call that fails has no effect.
        made.retain(|key| !key.ends_with(".paid"));
        // Both attempts, and then the last one again.
        assert_eq!(made.len(), if life == 0 { 6 } else { 3 });
        keys.append(&mut made);
        assert_eq!(shop.reserved(), 0);
        at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    }
    shop.is_closed.store(false, Ordering::Relaxed);
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "3");
    keys.extend(shop.take());
    assert_eq!(shop.reserved(), 1);
    let all: BTreeSet<&String> = keys.iter().collect();
    assert_eq!(all.len(), keys.len(), "{keys:#?}");
}

plan! {
    Once(cents: u64) -> u64 {
        step paid = Pay { cents };
        paid
    }
}

plan! {
    Deep(item: String, cents: u64) -> u64 {
        step held = Reserve { item };
        #[after(held)]
        step once = Once { cents };
        once
    }
}

/// Runs a plan inside its call.
#[tool]
async fn choose(shop: &Shop, #[context] context: CallContext, cents: u64) -> Result<u64> {
    let item = "pen".to_owned();
    Ok(Deep { item, cents }.run(shop).inside(&context).await?)
}

plan! {
    Chosen(cents: u64) -> u64 {
        step chosen = Choose { cents };
        chosen
    }
}

fn failed_attempts_inside_a_call_are_made_again<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let toolbox = Toolbox::new().with::<Chosen>();
    let db = folder.open();
    smol::block_on(Chosen { cents: 3 }.submit(&db, "a")).unwrap();
    shop.is_closed.store(true, Ordering::Relaxed);
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    let first = shop.take();
    assert!(first[0].ends_with(".held") && first[1].ends_with(".once.paid"));
    for _ in 0..2 {
        at(&db, &toolbox, &shop).retry_failed("a").unwrap();
        serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
        assert_eq!(summary(&db, "a").state, RunState::Failed);
        // Completed calls inside the call are not repeated.
        assert_eq!(shop.take(), first[1..]);
    }
    shop.is_closed.store(false, Ordering::Relaxed);
    at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "3");
    assert_eq!(shop.take(), first[1..]);
}

fn a_run_that_waits_is_left_as_it_is<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), toolbox());
    let db = folder.open();
    buy(&db, &shop, "a");
    serve(&db, &toolbox, &shop, || rests(&db, "a"));
    let error = at(&db, &toolbox, &shop).retry_failed("a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `buy` cannot start: run `a` has not ended"
    );
    assert!(rests(&db, "a"));
}

plan! {
    InABlock(cents: u64) -> u64 {
        step order = { step sure: bool = await; #[after(sure)] step paid = Pay { cents }; paid };
        order
    }
}

fn a_misspelt_path_is_refused<P: Place>() {
    let (folder, toolbox) = (P::new(), Toolbox::<Shop>::new().with::<InABlock>());
    let (db, shop) = (folder.open(), Arc::new(Shop::default()));
    smol::block_on(InABlock { cents: 3 }.submit(&db, "a")).unwrap();
    for path in ["order.suer", "sure"] {
        let error = at(&db, &toolbox, &shop)
            .signal("a", path, true)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("no step of the run waits for a value at `{path}` (`order.sure` is similar)")
        );
    }
    for path in ["order.", "order", "other.sure", "order[0].sure"] {
        assert!(
            at(&db, &toolbox, &shop).signal("a", path, true).is_err(),
            "{path}"
        );
    }
    // The tool may run a plan that waits for one.
    at(&db, &toolbox, &shop)
        .signal("a", "order.paid.sure", true)
        .unwrap();
    assert_eq!(db.output_now("a").unwrap(), None);
    at(&db, &toolbox, &shop)
        .signal("a", "order.sure", true)
        .unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(db.output_now("a").unwrap(), Some(json!(3)));
    assert!(db.output_now("b").is_err());
}

thread_local! {
    // A test serves on its own thread.
    static OPEN: Cell<bool> = const { Cell::new(false) };
}

fn is_open() -> Result<bool, String> {
    if OPEN.get() {
        Ok(true)
    } else {
        Err("not yet".to_owned())
    }
}

fn items() -> Result<Vec<u64>, String> {
    is_open().map(|_| vec![1, 2])
}

plan! {
    FailedList() -> u64 {
        step paid = for cents in items()? { Pay { cents } };
        paid.iter().sum::<u64>()
    }
}

plan! {
    FailedIf() -> u64 {
        step paid = if is_open()? { Pay { cents: 1 } } else { Pay { cents: 2 } };
        paid
    }
}

plan! {
    Gated() -> u64 {
        step paid = Pay { cents: 4 };
        paid
    }
}

/// Allows calls after the shop has opened.
struct WhenOpen;

impl Gate for WhenOpen {
    async fn ask(&self, _: PendingCall) -> Decision {
        smol::Timer::after(Duration::from_millis(300)).await;
        if OPEN.get() {
            Decision::Allow
        } else {
            Decision::Refuse("closed".into())
        }
    }
}

fn decisions_that_failed_are_made_again<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let toolbox = Toolbox::new()
        .with::<FailedList>()
        .with::<FailedIf>()
        .with::<Gated>();
    let db = folder.open();
    smol::block_on(FailedList {}.submit(&db, "list")).unwrap();
    smol::block_on(FailedIf {}.submit(&db, "if")).unwrap();
    smol::block_on(Gated {}.submit(&db, "gate")).unwrap();
    let all = ["list", "if", "gate"];
    let serve_all = || {
        let server = at(&db, &toolbox, &shop).0;
        let serve = server.serve().configure(|run, _| run.gate(WhenOpen));
        let ended = until(|| all.iter().all(|id| has_ended(&db, id)));
        smol::block_on(serve.cancel_on(ended)).unwrap();
    };
    serve_all();
    for id in all {
        assert_eq!(summary(&db, id).state, RunState::Failed, "{id}");
        if id == "gate" {
            // A reader of a run has no gate.
            let report = at(&db, &toolbox, &shop).report(id).unwrap();
            let error = report
                .step("paid")
                .unwrap()
                .error()
                .map(ToString::to_string);
            assert_eq!(error.unwrap(), "was refused: closed");
            let report = report.to_string();
            assert!(report.contains(" of waits: 1 failed"), "{report}");
        }
        at(&db, &toolbox, &shop).retry_failed(id).unwrap();
    }
    OPEN.set(true);
    serve_all();
    for (id, output) in [("list", 3), ("if", 1), ("gate", 4)] {
        assert_eq!(db.output_now(id).unwrap(), Some(json!(output)), "{id}");
    }
    // The retry has removed the wait for the first answer.
    let report = at(&db, &toolbox, &shop).report("gate").unwrap().to_string();
    let waits = " of waits, without calls that a retry repeated: 1 completed";
    assert!(report.contains(waits), "{report}");
}

/// Gives another number each time.
#[tool]
async fn stamp(shop: &Shop) -> Result<u64> {
    Ok(shop.stamps.fetch_add(10, Ordering::Relaxed) + 1)
}

plan! {
    NeedsBlock() -> [u64; 2] {
        step block = {
            step held = Stamp {};
            #[undo(held)]
            step released = GiveBack { item: format!("{held}") };
            held
        };
        step reserved = Reserve { item: format!("{block}") };
        #[after(reserved)]
        step paid = Pay { cents: 1 };
        step number: u64 = reserved.parse::<u64>()?;
        if paid == 1 { [block, number] } else { [0, 0] }
    }
}

/// A step that needs an undone block is repeated as well.
fn what_needs_an_undone_block_is_done_again<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let toolbox = Toolbox::new().with::<NeedsBlock>();
    let db = folder.open();
    smol::block_on(NeedsBlock {}.submit(&db, "a")).unwrap();
    shop.is_closed.store(true, Ordering::Relaxed);
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    shop.is_closed.store(false, Ordering::Relaxed);
    at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(db.output_now("a").unwrap(), Some(json!([11, 11])));
}

/// Does something for half a second, unless that takes longer than a minute.
#[tool]
async fn work_with_limit(#[context] context: CallContext) -> Result<u64> {
    let work = async {
        smol::Timer::after(Duration::from_millis(500)).await;
        Ok(1)
    };
    let limit = async {
        context.sleep(Duration::from_secs(60)).await;
        Err(Error::permanent("too slow"))
    };
    smol::future::or(work, limit).await
}

plan! {
    Limited() -> u64 {
        step worked = WorkWithLimit {};
        worked
    }
}

/// A sleeping call is not abandoned while its tool still works.
fn a_call_that_works_and_sleeps_goes_on<P: Place>() {
    let folder = P::new();
    let toolbox = Toolbox::<()>::new().with::<Limited>();
    let db = folder.open();
    smol::block_on(Limited {}.submit(&db, "a")).unwrap();
    serve(&db, &toolbox, &Arc::new(()), || has_ended(&db, "a"));
    assert_eq!(db.output_now("a").unwrap(), Some(json!(1)));
}

fn late<'r>(run: Run<'r, Shop, Value>, of: &RunSummary) -> Run<'r, Shop, Value> {
    match &*of.id {
        "late" => run.deadline(Duration::from_millis(1)),
        _ => run,
    }
}

/// Each filter lists the runs of its state alone.
fn a_state_lists_its_runs_alone<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), toolbox());
    let db = folder.open();
    for id in ["runs", "cancelled", "failed", "done", "late"] {
        buy(&db, &shop, id);
    }
    let serve_until = |is_so: &(dyn Fn() -> bool + Sync)| {
        let server = at(&db, &toolbox, &shop).0;
        let serve = server.serve().configure(late);
        smol::block_on(serve.cancel_on(until(is_so))).unwrap();
    };
    serve_until(&|| {
        ["runs", "cancelled", "failed", "done"]
            .iter()
            .all(|id| rests(&db, id))
            && has_ended(&db, "late")
    });
    db.cancel_now("cancelled").unwrap();
    at(&db, &toolbox, &shop)
        .signal("done", "sure", true)
        .unwrap();
    serve_until(&|| has_ended(&db, "cancelled") && has_ended(&db, "done"));
    shop.is_closed.store(true, Ordering::Relaxed);
    at(&db, &toolbox, &shop)
        .signal("failed", "sure", true)
        .unwrap();
    serve_until(&|| has_ended(&db, "failed"));
    // Both runs had ended before.
    db.cancel_now("failed").unwrap();
    db.cancel_now("done").unwrap();

    let of = |state| -> Vec<String> {
        let runs = db.runs_now(&RunFilter::new().state(state)).into_iter();
        runs.map(|run| {
            assert_eq!(run.state, state);
            assert_eq!(db.run_now(&run.id).unwrap().state, state);
            run.id
        })
        .collect()
    };
    assert_eq!(of(RunState::Running), ["runs"]);
    assert_eq!(of(RunState::Cancelled), ["cancelled"]);
    assert_eq!(of(RunState::Failed), ["failed", "late"]);
    assert_eq!(of(RunState::Done), ["done"]);
    for (id, words) in [
        ("cancelled", "plan `buy` was cancelled; undone: `held`"),
        ("late", "plan `buy` took longer than 1ms"),
        (
            "failed",
            "plan `buy` failed: step `paid` (pay): the bank is closed",
        ),
    ] {
        let error = db.error_now(id).unwrap().unwrap();
        assert!(error.starts_with(words), "{error}");
    }
    assert_eq!(
        (db.error_now("runs").unwrap(), db.error_now("done").unwrap()),
        (None, None)
    );
    assert!(db.error_now("nobody").is_err());
}

/// The page of a live run draws a waiting step as waiting.
#[cfg(feature = "html")]
fn a_page_shows_what_runs<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), toolbox());
    let db = folder.open();
    buy(&db, &shop, "a");
    serve(&db, &toolbox, &shop, || rests(&db, "a"));
    let page = at(&db, &toolbox, &shop).report("a").unwrap().to_html();
    let section = page
        .split("<section class=\"step waiting\"")
        .nth(1)
        .unwrap();
    let section = section.split("</section>").next().unwrap();
    assert!(
        section.contains("The step waits for a value.") && !section.contains("dropped"),
        "{section}"
    );
    assert!(page.contains("<li class=\"waiting\">"), "{page}");
}

in_each_place! {
    a_report_is_made_of_records
    a_report_exceeds_no_limit_that_did_not_end_the_run
    a_value_is_checked_before_it_is_sent
    a_value_leads_into_inner_plans
    a_cancelled_run_undoes_and_can_go_on
    a_cancelled_run_undoes_behind_gates_and_throttles
    a_cancelled_run_undoes_after_a_crash
    failed_attempts_are_made_again
    the_last_attempt_of_a_block_goes_on
    a_call_whose_undo_failed_is_not_made_again
    what_was_undone_inside_a_call_has_new_keys
    failed_attempts_inside_a_call_are_made_again
    a_run_that_waits_is_left_as_it_is
    a_misspelt_path_is_refused
    decisions_that_failed_are_made_again
    what_needs_an_undone_block_is_done_again
    a_call_that_works_and_sleeps_goes_on
    a_state_lists_its_runs_alone
    a_page_shows_what_runs
}
