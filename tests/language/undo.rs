//! Steps that undo others, and steps that always run: `#[undo(paid)]` and `#[always]`.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::{
    CallContext, FailedStep, ManualTimer, OnFailure, Run, RunErrorKind, Status, Timer,
};
use plan_runtime::{Error, Failure, Plan, Result, RunError, Shape, plan, tool};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;

/// A shop that records its operations, and fails the operations that a test selects.
#[derive(Default)]
pub struct Shop {
    log: Mutex<Vec<String>>,
    cannot: &'static str,
    timer: ManualTimer,
}

impl Shop {
    fn new(cannot: &'static str) -> Self {
        Self {
            cannot,
            ..Self::default()
        }
    }

    fn log(&self) -> String {
        self.log.lock().unwrap().join(", ")
    }

    /// Does it, if it can.
    async fn does(&self, what: String) -> Result<()> {
        let name = what.split(' ').next().unwrap_or_default().to_owned();
        self.log.lock().unwrap().push(what);
        let cannot = |sign: &str| {
            self.cannot
                .split(' ')
                .any(|it| it == format!("{name}{sign}"))
        };
        if cannot("?") {
            self.timer.sleep(Duration::from_secs(100)).await;
        }
        if cannot("~") {
            return Err(Error::msg(format!("cannot {name} now")));
        }
        if cannot("") {
            return Err(Error::permanent(format!("cannot {name}")).with_code("NO"));
        }
        Ok(())
    }

    /// Runs, and lets the time pass.
    fn plays<O: DeserializeOwned>(
        &self,
        run: Run<'_, Self, O>,
    ) -> (Result<O, RunError>, plan_runtime::Report) {
        let run = run.timer(self.timer.clone()).with_report();
        smol::block_on(self.timer.skip_waits(run))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Hold {
    pub id: u64,
    pub cents: u64,
}

/// Reserves items.
#[tool]
pub async fn reserve(shop: &Shop, items: Vec<String>) -> Result<Hold> {
    shop.does(format!("reserve {}", items.join("+"))).await?;
    Ok(Hold { id: 7, cents: 50 })
}

/// Gives items back.
#[tool]
pub async fn release(shop: &Shop, hold: u64) -> Result<()> {
    shop.does(format!("release {hold}")).await
}

/// Takes money.
#[tool]
pub async fn charge(shop: &Shop, card: String, cents: u64) -> Result<u64> {
    shop.does(format!("charge {card} {cents}")).await?;
    Ok(9)
}

/// Gives money back.
#[tool]
pub async fn refund(shop: &Shop, payment: u64) -> Result<()> {
    shop.does(format!("refund {payment}")).await
}

/// Sends items.
#[tool]
pub async fn ship(shop: &Shop, hold: u64, payment: u64) -> Result<String> {
    shop.does(format!("ship {hold} {payment}")).await?;
    Ok("T1".to_owned())
}

/// Tells the customer.
#[tool]
pub async fn notify(shop: &Shop, ok: bool, why: Option<String>) -> Result<()> {
    shop.does(format!("notify {ok} {}", why.unwrap_or_default()))
        .await
}

plan! {
    pub PlaceOrder(items: Vec<String>, card: String) -> (u64, String) {
        step held = Reserve { items };
        #[undo(held)] #[retry(5, jitter = false)]
        step released = Release { hold: held.id };
        step paid = Charge { card, cents: held.cents };
        #[undo(paid)]
        step refunded = Refund { payment: paid };
        step shipped = Ship { hold: held.id, payment: paid };
        #[always]
        step told = Notify { ok: shipped.is_ok(), why: shipped.err()?.message };
        (paid, shipped)
    }
}

fn order() -> PlaceOrder {
    PlaceOrder {
        items: vec!["a".into(), "b".into()],
        card: "c".into(),
    }
}

/// Returns the operations of the shop, and the end of the run.
fn ordered(cannot: &'static str) -> (String, String) {
    let shop = Shop::new(cannot);
    let (result, _) = shop.plays(order().run(&shop));
    let result = match result {
        Ok(output) => format!("{output:?}"),
        Err(error) => error.to_string(),
    };
    (shop.log(), result)
}

#[test]
fn what_completed_is_undone_in_the_reverse_order() {
    for (cannot, log, result) in [
        (
            "",
            "reserve a+b, charge c 50, ship 7 9, notify true ",
            r#"(9, "T1")"#,
        ),
        (
            "ship",
            "reserve a+b, charge c 50, ship 7 9, refund 9, release 7, notify false cannot ship",
            "plan `place_order` failed: step `shipped` (ship): cannot ship; undone: `paid` and `held`",
        ),
        (
            "charge",
            "reserve a+b, charge c 50, release 7, notify false cannot charge",
            "plan `place_order` failed: step `paid` (charge): cannot charge (this blocked `shipped`); undone: `held`",
        ),
        (
            "reserve",
            "reserve a+b, notify false cannot reserve",
            "plan `place_order` failed: step `held` (reserve): cannot reserve (this blocked `paid` and `shipped`)",
        ),
        (
            "ship refund",
            "reserve a+b, charge c 50, ship 7 9, refund 9, release 7, notify false cannot ship",
            "plan `place_order` failed: step `shipped` (ship): cannot ship; step `refunded` (refund): cannot refund; undone: `held`; not undone: `paid`",
        ),
        (
            "notify",
            "reserve a+b, charge c 50, ship 7 9, notify true ",
            r#"(9, "T1")"#,
        ),
        (
            "ship notify",
            "reserve a+b, charge c 50, ship 7 9, refund 9, release 7, notify false cannot ship",
            "plan `place_order` failed: step `shipped` (ship): cannot ship; step `told` (notify): cannot notify; undone: `paid` and `held`",
        ),
    ] {
        assert_eq!(
            ordered(cannot),
            (log.to_owned(), result.to_owned()),
            "{cannot}"
        );
    }
}

#[test]
fn undo_steps_have_attempts() {
    let (log, result) = ordered("ship release~");
    assert_eq!(log.matches("release 7").count(), 5);
    assert!(
        result.ends_with("undone: `paid`; not undone: `held`"),
        "{result}"
    );
    let shop = Shop::new("ship release~");
    let (result, report) = shop.plays(order().run(&shop));
    // A person must resolve the remaining effects, so that another attempt does not help.
    assert!(result.unwrap_err().is_permanent());
    assert_eq!(report.step("released").unwrap().attempts().len(), 5);
}

#[test]
fn the_critical_path_of_a_failed_run_leads_through_its_undo_steps() {
    let shop = Shop::new("reserve? charge? ship? ship refund? release? notify?");
    let (_, report) = shop.plays(order().run(&shop));
    let path: Vec<&str> = report
        .critical_path()
        .map(plan_runtime::run::StepReport::id)
        .collect();
    assert_eq!(
        path,
        ["held", "paid", "shipped", "refunded", "released", "told"]
    );
    let steps = report.critical_path();
    let took = steps.filter_map(plan_runtime::run::StepReport::duration);
    assert_eq!(took.sum::<std::time::Duration>(), report.duration());

    // Without times, the critical path contains no step twice.
    let shop = Shop::new("ship");
    let (_, report) = shop.plays(order().run(&shop));
    assert!(report.critical_path().len() <= 6);
}

#[test]
fn a_failure_of_an_always_step_leaves_the_error_as_transient_as_it_was() {
    let shop = Shop::new("ship~ notify");
    let (result, report) = shop.plays(order().run(&shop));
    assert!(result.unwrap_err().is_transient());
    assert!(matches!(
        report.step("told").unwrap().status(),
        Status::Failed(_)
    ));
}

#[test]
fn a_cancelled_run_undoes_in_its_grace() {
    for (cannot, grace, log, undone) in [
        // The call that runs is dropped.
        (
            "ship?",
            5,
            "ship 7 9, refund 9, release 7, notify false the run was cancelled",
            "paid held",
        ),
        // A call that takes too long is dropped as well.
        ("ship? refund?", 5, "ship 7 9, refund 9", ""),
        ("ship? release?", 5, "ship 7 9, refund 9, release 7", "paid"),
        (
            "ship? refund?",
            500,
            "ship 7 9, refund 9, release 7, notify false the run was cancelled",
            "paid held",
        ),
    ] {
        for is_deadline in [false, true] {
            let shop = Shop::new(cannot);
            let (limit, grace) = (Duration::from_secs(1), Duration::from_secs(grace));
            let run = order().run(&shop).grace_period(grace);
            let run = if is_deadline {
                run.deadline(limit)
            } else {
                run.cancel_on(shop.timer.sleep(limit))
            };
            let (result, report) = shop.plays(run);
            let error = result.unwrap_err();
            assert_eq!(
                (
                    error.kind() == RunErrorKind::Deadline,
                    error.kind() == RunErrorKind::Cancelled
                ),
                (is_deadline, !is_deadline)
            );
            let log = format!("reserve a+b, charge c 50, {log}");
            let log = if is_deadline {
                log.replace("was cancelled", "took longer than 1s")
            } else {
                log
            };
            assert_eq!(shop.log(), log, "{cannot}");
            assert_eq!(
                error.undone().collect::<Vec<_>>().join(" "),
                undone,
                "{cannot}"
            );
            assert_eq!(error.undone().len() + error.not_undone().len(), 2);
            assert_eq!(
                *report.step("shipped").unwrap().status().name(),
                *"cancelled"
            );
        }
    }
}

#[test]
fn a_cancellation_after_the_work_changes_no_result() {
    let shop = Shop::new("notify?");
    let run = order()
        .run(&shop)
        .cancel_on(shop.timer.sleep(Duration::from_secs(3)));
    let (result, report) = shop.plays(run.grace_period(Duration::from_secs(5)));
    assert_eq!(result.unwrap(), (9, "T1".to_owned()));
    assert_eq!(report.step("told").unwrap().status().name(), "cancelled");
    assert_eq!(shop.timer.elapsed(), Duration::from_secs(8));
}

plan! {
    /// Read skipped and failed steps in undo steps and always steps.
    pub Views(card: Option<String>) -> Result<String, Failure> {
        #[catch]
        step held = Reserve { items: vec![] };
        #[undo(held)]
        step released = Release { hold: held.id };
        #[optional]
        step paid = if let Some(card) = card { Charge { card, cents: held?.cents } };
        #[undo(paid)]
        step refunded = Refund { payment: paid + held.as_ref().map_or(0, |held| held.id) };
        #[catch]
        step shipped = Ship { hold: held?.id, payment: 1 };
        step checked = Ship { hold: 1, payment: shipped.as_ref().map_or(0, |it| it.len() as u64) };
        #[always]
        step told = Notify { ok: paid.as_ref().is_ok_and(|paid| paid.is_none()), why: shipped.err()?.message };
        #[always]
        step again = Notify { ok: told.is_ok(), why: checked.err()?.code };
        shipped
    }
}

#[test]
fn each_step_sees_what_it_can_rely_on() {
    let viewed = |card: Option<&str>, cannot| {
        let shop = Shop::new(cannot);
        let card = card.map(Into::into);
        let (result, _) = shop.plays(Views { card }.run(&shop));
        (
            shop.log(),
            result.map_err(|error| error.undone().collect::<Vec<_>>().join(" ")),
        )
    };
    let (log, result) = viewed(Some("c"), "");
    assert_eq!(
        log,
        "reserve , charge c 50, ship 7 1, ship 1 2, notify false , notify true "
    );
    assert_eq!(result, Ok(Ok("T1".to_owned())));
    let (log, result) = viewed(None, "reserve");
    assert_eq!(
        log,
        "reserve , ship 1 0, notify true cannot reserve, notify true "
    );
    assert!(result.unwrap().is_err());
    // A caught failure leaves no work to undo, and an optional step leaves none.
    let (log, result) = viewed(Some("c"), "ship charge");
    assert!(
        log.ends_with("ship 1 0, release 7, notify true cannot ship, notify true NO"),
        "{log}"
    );
    assert_eq!(result, Err("held".to_owned()));
    let (log, result) = viewed(Some("c"), "ship");
    assert!(
        log.ends_with("ship 1 0, refund 16, release 7, notify false cannot ship, notify true NO"),
        "{log}"
    );
    assert_eq!(result, Err("paid held".to_owned()));
}

plan! {
    /// The output fails.
    pub BadOutput(items: Vec<String>) -> Hold {
        step held = Reserve { items };
        #[undo(held)]
        step released = Release { hold: held.id };
        #[always]
        step told = Notify { ok: held.is_ok(), why: None };
        Hold { id: held.id, cents: items.len() as u64 - 1 }
    }
}

#[test]
fn an_output_that_fails_is_undone() {
    let shop = Shop::default();
    let (result, _) = shop.plays(BadOutput { items: vec![] }.run(&shop));
    assert_eq!(shop.log(), "reserve , release 7, notify true ");
    let error = result.unwrap_err().to_string();
    assert!(error.ends_with("undone: `held`"), "{error}");
}

plan! {
    /// Undo steps of steps that are independent of each other, in branches and lists of their own.
    pub Parts(urgent: bool) -> u64 {
        step a = Reserve { items: vec!["a".to_owned()] };
        #[undo(a)]
        step a_undone = if urgent { Refund { payment: a.id } } else { Release { hold: a.id } };
        step b = Charge { card: "b", cents: 1 };
        #[undo(b)]
        step b_undone = for part in 0..b { Refund { payment: part } };
        #[after(a, b)]
        step c = Ship { hold: 0, payment: 0 };
        #[always]
        step told = for one in a.iter().map(|hold| hold.id) { Release { hold: one } };
        c.len() as u64
    }
}

#[test]
fn undo_steps_may_have_branches_and_lists() {
    for on_failure in [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel] {
        let shop = Shop::new("ship");
        let (result, _) = shop.plays(Parts { urgent: true }.run(&shop).on_failure(on_failure));
        assert!(result.is_err());
        let refunds = (0..9).map(|part| format!("refund {part}"));
        let refunds: Vec<String> = refunds.collect();
        assert_eq!(
            shop.log(),
            format!(
                "reserve a, charge b 1, ship 0 0, refund 7, {}, release 7",
                refunds.join(", ")
            ),
        );
    }
}

#[test]
fn a_run_that_is_dropped_undoes_nothing() {
    let shop = Shop::new("ship?");
    let run = order().run(&shop).timer(shop.timer.clone());
    smol::block_on(async {
        let mut run = Box::pin(run);
        assert!(smol::future::poll_once(&mut run).await.is_none());
    });
    assert_eq!(shop.log(), "reserve a+b, charge c 50, ship 7 9");
}

#[test]
fn a_limit_ends_the_run_and_says_what_is_left() {
    let shop = Shop::default();
    let limits = plan_runtime::run::Limits::DEFAULT.calls(2);
    let (result, _) = shop.plays(order().run(&shop).limits(limits));
    let error = result.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit);
    assert_eq!(error.not_undone().collect::<Vec<_>>(), ["held", "paid"]);
    assert_eq!(shop.log(), "reserve a+b, charge c 50");
}

/// An equivalent plan, from JSON.
#[test]
fn plans_from_json_are_undone_too() {
    let json = json!({
        "name": "order",
        "steps": [
            {"id": "held", "tool": {"name": "reserve"}, "arguments": {"object": {"items": ["a"]}}, "policy": {"catch": true}},
            {"id": "released", "undo": "held", "tool": {"name": "release"},
                "arguments": {"object": {"hold": {"reference": {"step": "held", "pointer": "/id"}}}}},
            {"id": "shipped", "tool": {"name": "ship"}, "arguments": {"object": {"hold": 1, "payment": 2}}, "after": ["held"]},
            {"id": "told", "always": true, "tool": {"name": "notify"}, "arguments": {"object": {
                "ok": false,
                "why": {"reference": {"step": "shipped", "path": [{"token": "Err", "absent": "null", "optional": true}, "message"]}},
            }}},
        ],
    });
    let plan: Plan = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&plan).unwrap()["steps"], json["steps"]);
    let tools = Toolbox::<Shop>::new()
        .with::<Reserve>()
        .with::<Release>()
        .with::<Ship>()
        .with::<Notify>();
    let shop = Shop::new("ship");
    let run = tools.run(&plan, json!({}), &shop);
    let error = smol::block_on(run).unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["held"]);
    assert_eq!(
        shop.log(),
        "reserve a, ship 1 2, release 7, notify false cannot ship"
    );
}

#[test]
fn a_plan_with_undo_steps_stays_the_same() {
    for plan in [PlaceOrder::PLAN, Views::PLAN, Parts::PLAN] {
        let json = serde_json::to_string(plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), **plan);
    }
    let text = PlaceOrder::PLAN.to_string();
    assert!(
        text.contains("  #[undo(paid)]\n  step refunded = refund"),
        "{text}"
    );
    assert!(text.contains("  #[always]\n  step told = notify"), "{text}");
}

plan! {
    /// A plan that fails inside others.
    pub Inner(items: Vec<String>) -> String {
        step held = Reserve { items };
        #[undo(held)]
        step released = Release { hold: held.id };
        step shipped = Ship { hold: held.id, payment: 1 };
        shipped
    }
}

plan! {
    pub Outer(items: Vec<String>) -> (Option<String>, String, Result<String, Failure>, Vec<Option<String>>) {
        #[optional]
        step optional = Inner { items };
        #[fallback("none")]
        step replaced = Inner { items };
        #[catch]
        step caught = Inner { items };
        #[optional(each)]
        step each = for item in items { Inner { items: [item] } };
        (optional, replaced, caught, each)
    }
}

/// A plan that left work undone has no replacement, but its failure can be caught.
#[test]
fn what_a_plan_inside_leaves_undone_is_not_absorbed() {
    let outer = |cannot| {
        let shop = Shop::new(cannot);
        let items = vec!["a".to_owned()];
        let run = Outer { items }.run(&shop).on_failure(OnFailure::Continue);
        shop.plays(run).0
    };
    let (optional, replaced, caught, each) = outer("ship").unwrap();
    assert_eq!(
        (optional, replaced.as_str(), each),
        (None, "none", vec![None])
    );
    assert_eq!(caught.unwrap_err().step, "caught.shipped");
    let error = outer("ship release").unwrap_err();
    let failed: Vec<&str> = error.failures().iter().map(FailedStep::step).collect();
    assert_eq!(
        failed,
        [
            "optional.shipped",
            "replaced.shipped",
            "each[0].shipped",
            "optional.released",
            "replaced.released",
            "each[0].released",
            "caught.released",
        ]
    );
    let not_undone: Vec<&str> = error.not_undone().collect();
    assert_eq!(
        not_undone,
        [
            "optional.held",
            "replaced.held",
            "each[0].held",
            "caught.held"
        ]
    );
    let shop = Shop::new("ship~ release");
    let plan = plan! {
        #[catch]
        step caught = Inner { items: ["a"] };
        caught
    };
    let failure = shop.plays(plan.run(&shop)).0.unwrap().unwrap_err();
    assert_eq!(
        failure.message,
        "cannot ship now; not undone: `caught.held`"
    );
    assert!(!failure.transient);
}

/// Runs a plan inside its call.
#[tool]
pub async fn order_inside(
    shop: &Shop,
    #[context] context: CallContext,
    item: String,
) -> Result<String> {
    let items = vec![item];
    Ok(Inner { items }.run(shop).inside(&context).await?)
}

plan! {
    pub EachInner(items: Vec<String>) -> Vec<String> {
        #[retry(3, jitter = false)]
        #[fallback(Vec::<String>::new())]
        step each = for item in items {
            if item == "none" { Ship { hold: 1, payment: 1 } } else { Inner { items: [item] } }
        };
        each
    }
}

plan! {
    pub EachInside(items: Vec<String>) -> Option<Vec<String>> {
        #[retry(3, jitter = false)]
        #[optional]
        step each = for item in items {
            if item == "none" { Ship { hold: 1, payment: 1 } } else { OrderInside { item } }
        };
        each
    }
}

/// An element that has failed before another in the list does not hide what that one left.
#[test]
fn what_any_element_leaves_undone_is_not_absorbed() {
    let items = || ["none", "a"].map(str::to_owned).to_vec();
    for on_failure in [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel] {
        for is_inside in [false, true] {
            let shop = Shop::new("ship~ release");
            let error = if is_inside {
                let run = EachInside { items: items() }.run(&shop);
                shop.plays(run.on_failure(on_failure)).0.unwrap_err()
            } else {
                let run = EachInner { items: items() }.run(&shop);
                shop.plays(run.on_failure(on_failure)).0.unwrap_err()
            };
            let not_undone: Vec<&str> = error.not_undone().collect();
            assert_eq!(not_undone, ["each[1].held"], "{on_failure:?}: {error}");
            assert!(!error.is_transient(), "{error}");
            let reserved = shop.log().matches("reserve").count();
            assert_eq!(reserved, 1, "{}", shop.log());
        }
    }
}
