//! Submitted runs: they run, wait without an owner, and resume.

use crate::journal::asking::Asking;
use crate::serving::support::{
    Folder, Place, at, has_ended, in_each_place, output, rests, serve, summary, until,
};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::spi::Message;
use plan_runtime::journal::{Journal, Memory, RunFilter, RunState, Store};
use plan_runtime::run::Limits;
use plan_runtime::{Plan, Result, Sleep, plan, tool};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The calls so far.
#[derive(Default)]
pub(crate) struct Shop(Mutex<Vec<String>>);

impl Shop {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Charges a card.
#[tool]
async fn charge(shop: &Shop, cents: u64) -> Result<u64> {
    shop.note(format!("charge {cents}"));
    Ok(cents)
}

/// Ships a parcel.
#[tool]
async fn ship(shop: &Shop, paid: u64) -> Result<String> {
    shop.note(format!("ship {paid}"));
    Ok(format!("parcel for {paid}"))
}

plan! {
    Order(cents: u64) -> String {
        step paid = Charge { cents: cents + 1 };
        step parcel = Ship { paid };
        parcel
    }
}

plan! {
    Ask(cents: u64) -> String {
        step paid = Charge { cents };
        #[after(paid)]
        step sure: bool = await;
        step parcel = if sure { Ship { paid } };
        format!("{parcel:?}")
    }
}

plan! {
    Later(cents: u64) -> u64 {
        step pause = Sleep { time: "2s" };
        #[after(pause)]
        step paid = Charge { cents };
        paid
    }
}

plan! {
    AskBriefly(cents: u64) -> u64 {
        #[timeout("1h")]
        step sure: Option<u64> = await;
        step paid = Charge { cents: sure.unwrap_or(cents) };
        paid
    }
}

fn tools() -> Toolbox<Shop> {
    Toolbox::new().with::<Charge>().with::<Ship>()
}

fn plans() -> Toolbox<Shop> {
    Toolbox::new()
        .with::<Order>()
        .with::<Ask>()
        .with::<Later>()
        .with::<AskBriefly>()
}

/// A server with room for one run continues with the other run.
#[test]
fn an_unreadable_run_is_refused() {
    for damage in [
        "DELETE FROM descriptions WHERE run = 1",
        "UPDATE descriptions SET inputs = CAST(x'ff' AS TEXT) WHERE run = 1",
    ] {
        let (folder, shop) = (Folder::new(), Arc::<Shop>::default());
        let db = folder.open();
        for id in ["damaged", "other"] {
            smol::block_on(Order { cents: 5 }.submit(&db, id)).unwrap();
        }
        let database = rusqlite::Connection::open(folder.path()).unwrap();
        database.execute_batch(damage).unwrap();
        let server = at(&db, &plans(), &shop);
        let ends = until(|| has_ended(&db, "other"));
        smol::block_on(server.0.serve().concurrency(1).cancel_on(ends)).unwrap();
        let run = summary(&db, "damaged");
        assert_eq!(run.state, RunState::Running, "{damage}");
        assert!(run.refusal.is_some(), "{damage}");
        // It is unknown if the value has to be encrypted.
        let (path, body) = ("sure".to_owned(), "true".to_owned());
        let signal = Message::Signal { path, body };
        let sent = smol::block_on(db.send("damaged", &signal));
        assert!(sent.is_err(), "{damage}");
        smol::block_on(db.send("damaged", &Message::Cancel)).unwrap();
        assert_eq!(shop.take(), ["charge 6", "ship 6"]);
    }
}

#[test]
fn a_run_is_submitted_once() {
    let (journal, shop) = (Memory::new(), Shop::default());
    smol::block_on(Order { cents: 5 }.submit(&journal, "a")).unwrap();
    smol::block_on(Order { cents: 5 }.submit(&journal, "a")).unwrap();
    let error = smol::block_on(Order { cents: 6 }.submit(&journal, "a")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `order` cannot start: run `a` already exists with different inputs (`cents` was the number 5, and is now the number 6); use a new ID, or the original inputs"
    );
    let error = smol::block_on(Later { cents: 5 }.submit(&journal, "a")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `later` cannot start: run `a` already exists with another plan `order`; use a new ID"
    );
    let claim = journal.claim_now("a").unwrap().claim;
    smol::block_on(Order { cents: 5 }.submit(&journal, "a")).unwrap();
    assert!(smol::block_on(Order { cents: 6 }.submit(&journal, "a")).is_err());
    journal.release(&claim);
    assert!(shop.take().is_empty());
    let parcel = smol::block_on(Order { cents: 5 }.run(&shop).durable(&journal, "a"));
    assert_eq!(parcel.unwrap(), "parcel for 6");
}

fn plans_with_code_and_plans_in_json_are_run<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let db = folder.open();
    smol::block_on(Order { cents: 5 }.submit(&db, "typed")).unwrap();
    let plan: Plan = serde_json::from_value(json!({
        "name": "sell",
        "inputs": [{"name": "cents", "type": "u64"}],
        "steps": [
            {"id": "paid", "tool": {"name": "charge"}, "arguments": {"object": {"cents": {"reference": {"input": "cents", "pointer": ""}}}}},
            {"id": "parcel", "tool": {"name": "ship"}, "arguments": {"object": {"paid": {"reference": {"step": "paid", "pointer": ""}}}}},
        ],
        "output": {"value": {"reference": {"step": "parcel", "pointer": ""}}},
    }))
    .unwrap();
    let tools = tools();
    let run = tools.run(&plan, json!({"cents": 7}), &shop);
    smol::block_on(run.submit(&db, "json")).unwrap();
    // The name of a tool, with another plan.
    let mut other = plan.clone();
    other.name = "order".into();
    let run = tools.run(&other, json!({"cents": 9}), &shop);
    smol::block_on(run.submit(&db, "other")).unwrap();

    let both = tools.with::<Order>();
    serve(&db, &both, &shop, || {
        ["typed", "json", "other"]
            .iter()
            .all(|id| has_ended(&db, id))
    });
    assert_eq!(output(&db, "typed"), "\"parcel for 6\"");
    assert_eq!(output(&db, "json"), "\"parcel for 7\"");
    assert_eq!(output(&db, "other"), "\"parcel for 9\"");
    let mut calls = shop.take();
    calls.sort_unstable();
    assert_eq!(
        calls,
        [
            "charge 6", "charge 7", "charge 9", "ship 6", "ship 7", "ship 9"
        ]
    );
}

fn a_run_that_waits_has_no_owner_and_goes_on<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), plans());
    let db = folder.open();
    smol::block_on(Ask { cents: 5 }.submit(&db, "a")).unwrap();
    serve(&db, &toolbox, &shop, || rests(&db, "a"));
    assert_eq!(shop.take(), ["charge 5"]);
    // A server without anything to do leaves it alone.
    let begin = Instant::now();
    serve(&db, &toolbox, &shop, || {
        begin.elapsed() > Duration::from_millis(600)
    });
    assert!(rests(&db, "a") && shop.take().is_empty());
    // After a restart, with a value that was sent while nobody ran it.
    drop(db);
    let db = folder.open();
    at(&db, &toolbox, &shop).signal("a", "sure", true).unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(shop.take(), ["ship 5"]);
    assert_eq!(output(&db, "a"), "\"Some(\\\"parcel for 5\\\")\"");
}

fn a_value_wakes_a_run_that_is_served<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), plans());
    let (db, other) = (folder.open(), folder.open());
    smol::block_on(Ask { cents: 5 }.submit(&db, "a")).unwrap();
    let mut sent = None;
    serve(&db, &toolbox, &shop, || {
        if sent.is_none() && rests(&db, "a") {
            at(&other, &toolbox, &shop)
                .signal("a", "sure", false)
                .unwrap();
            sent = Some(Instant::now());
        }
        has_ended(&db, "a")
    });
    assert_eq!(output(&db, "a"), "\"None\"");
    assert_eq!(shop.take(), ["charge 5"]);
}

fn a_run_sleeps_over_restarts<P: Place>() {
    let (folder, shop, toolbox) = (P::new(), Arc::new(Shop::default()), plans());
    let db = folder.open();
    let begin = Instant::now();
    smol::block_on(Later { cents: 5 }.submit(&db, "a")).unwrap();
    serve(&db, &toolbox, &shop, || rests(&db, "a"));
    drop(db);
    let db = folder.open();
    assert!(rests(&db, "a"));
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert!(begin.elapsed() >= Duration::from_secs(2));
    assert_eq!(shop.take(), ["charge 5"]);
}

fn what_cannot_be_begun_stays_with_its_reason<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let db = folder.open();
    smol::block_on(Later { cents: 5 }.submit(&db, "a")).unwrap();
    smol::block_on(Order { cents: 5 }.submit(&db, "b")).unwrap();
    let toolbox = Toolbox::new().with::<Order>();
    serve(&db, &toolbox, &shop, || {
        has_ended(&db, "b") && summary(&db, "a").refusal.is_some()
    });
    let known = summary(&db, "a");
    assert_eq!(known.state, RunState::Running);
    assert_eq!(
        known.refusal.unwrap(),
        "plan `later` cannot start: the toolbox has no tool `sleep`, which step `pause` calls; the toolbox has no tool `charge`, which step `paid` calls"
    );
    let found = at(&db, &toolbox, &shop).check().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((&*found[0].0, found[0].1.failures().len()), ("a", 0));
    assert!(at(&db, &plans(), &shop).check().unwrap().is_empty());
    shop.take();
    // A server that has it does not wait.
    serve(&db, &plans(), &shop, || has_ended(&db, "a"));
    assert_eq!(summary(&db, "a").refusal, None);
    assert_eq!(shop.take(), ["charge 5"]);
}

fn a_wait_ends_with_a_refusal<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let db = folder.open();
    smol::block_on(Order { cents: 5 }.submit(&db, "a")).unwrap();
    let server = at(&db, &tools(), &shop).0;
    let limit = crate::serving::support::until(|| false);
    let waited = smol::block_on(smol::future::or(server.wait("a"), async {
        server.serve().cancel_on(limit).await.unwrap();
        unreachable!("the server ends with a panic")
    }));
    let waited = waited.unwrap();
    assert_eq!(waited.state, RunState::Running);
    assert!(waited.refusal.unwrap().contains("no plan"));
    // Nobody serves.
    let again = smol::block_on(server.wait("a")).unwrap();
    assert!(again.refusal.is_some());
    // A server with the plan begins at the same time.
    let server = at(&db, &plans(), &shop).0;
    smol::block_on(server.serve().cancel_on(server.wait("a"))).unwrap();
    assert_eq!(summary(&db, "a").state, RunState::Done);
}

/// A run that only sleeps waits for nobody.
fn a_run_with_a_time_limit_waits_for_its_value<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let db = folder.open();
    smol::block_on(AskBriefly { cents: 5 }.submit(&db, "asks")).unwrap();
    smol::block_on(Later { cents: 6 }.submit(&db, "sleeps")).unwrap();
    let server = at(&db, &plans(), &shop).0;
    let user = async {
        assert!(server.wait("asks").await.unwrap().waits);
        server.signal("asks", "sure", 7).await.unwrap();
        assert_eq!(server.wait("asks").await.unwrap().state, RunState::Done);
        let slept = server.wait("sleeps").await.unwrap();
        assert_eq!((slept.state, slept.waits), (RunState::Done, false));
    };
    smol::block_on(server.serve().cancel_on(user)).unwrap();
    assert_eq!(shop.take(), ["charge 7", "charge 6"]);
}

fn a_panic_is_the_reason_of_its_run_alone<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let db = folder.open();
    smol::block_on(Order { cents: 5 }.submit(&db, "a")).unwrap();
    let toolbox = plans();
    let is_refused = || summary(&db, "a").refusal.is_some();
    let server = at(&db, &toolbox, &shop).0;
    let serving = server
        .serve()
        .configure(|_, _| panic!("no"))
        .cancel_on(crate::serving::support::until(is_refused));
    smol::block_on(serving).unwrap();
    assert_eq!(
        summary(&db, "a").refusal.unwrap(),
        "the run panicked at its start"
    );
}

/// Each report contains the time at which its run began.
fn a_run_begins_when_it_was_submitted<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let (db, other) = (folder.open(), folder.open());
    smol::block_on(Order { cents: 5 }.submit(&db, "a")).unwrap();
    let toolbox = plans();
    std::thread::sleep(Duration::from_millis(30));
    let before = at(&db, &toolbox, &shop).report("a").unwrap();
    serve(&other, &toolbox, &shop, || has_ended(&other, "a"));
    for db in [&db, &other] {
        let report = at(db, &toolbox, &shop).report("a").unwrap();
        assert_eq!(report.started_at(), before.started_at());
        assert_eq!(report.started_at(), summary(db, "a").began);
    }
}

fn each_run_is_configured_by_its_id<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let db = folder.open();
    for id in ["a", "b"] {
        smol::block_on(Order { cents: 5 }.submit(&db, id)).unwrap();
    }
    let toolbox = plans();
    let both = || has_ended(&db, "a") && has_ended(&db, "b");
    let server = at(&db, &toolbox, &shop).0;
    let serving = server
        .serve()
        .configure(|run, of| match &*of.id {
            "b" => run.limits(Limits::DEFAULT.calls(0)),
            _ => run,
        })
        .cancel_on(crate::serving::support::until(both));
    smol::block_on(serving).unwrap();
    assert_eq!(summary(&db, "a").state, RunState::Done);
    assert_eq!(summary(&db, "b").state, RunState::Failed);
}

/// Is slow.
#[tool]
async fn work(shop: &Shop) -> Result<()> {
    shop.note("work");
    smol::Timer::after(Duration::from_millis(150)).await;
    Ok(())
}

plan! {
    Working() -> () { step done = Work {}; done }
}

fn so_many_are_loaded<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let db = folder.open();
    for n in 0..10 {
        smol::block_on(Working {}.submit(&db, n.to_string())).unwrap();
    }
    let toolbox = Toolbox::new().with::<Working>();
    let mut most = 0;
    let owned = RunFilter::new().state(RunState::Running).is_owned(true);
    let running = RunFilter::new().state(RunState::Running);
    let done = crate::serving::support::until(|| {
        // One page, since runs may start and end between two pages.
        most = most.max(smol::block_on(Store::runs(&db, &owned)).unwrap().len());
        db.runs_now(&running).is_empty()
    });
    let server = at(&db, &toolbox, &shop).0;
    let serving = server.serve().concurrency(3).cancel_on(done);
    smol::block_on(serving).unwrap();
    assert_eq!((most, shop.take().len()), (3, 10));
}

fn two_servers_share_the_runs<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let (db, other) = (folder.open(), folder.open());
    for n in 0..20 {
        smol::block_on(Order { cents: n }.submit(&db, n.to_string())).unwrap();
    }
    let toolbox = plans();
    let running = RunFilter::new().state(RunState::Running);
    std::thread::scope(|scope| {
        for db in [&db, &other] {
            scope.spawn(|| serve(db, &toolbox, &shop, || db.runs_now(&running).is_empty()));
        }
    });
    // None of the calls was made twice.
    let mut calls = shop.take();
    calls.sort_unstable();
    let count = calls.len();
    calls.dedup();
    assert_eq!((count, calls.len()), (40, 40));
}

fn a_dropped_server_gives_its_runs_up<P: Place>() {
    let (folder, shop) = (P::new(), Arc::new(Shop::default()));
    let db = folder.open();
    smol::block_on(Working {}.submit(&db, "a")).unwrap();
    let toolbox = Toolbox::new().with::<Working>();
    serve(&db, &toolbox, &shop, || summary(&db, "a").is_owned);
    // The write of the release is queued.
    db.claim_now("b").unwrap();
    assert!(!summary(&db, "a").is_owned);
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(output(&db, "a"), "null");
}

in_each_place! {
    plans_with_code_and_plans_in_json_are_run
    a_run_that_waits_has_no_owner_and_goes_on
    a_value_wakes_a_run_that_is_served
    a_run_sleeps_over_restarts
    what_cannot_be_begun_stays_with_its_reason
    a_wait_ends_with_a_refusal
    a_run_with_a_time_limit_waits_for_its_value
    a_panic_is_the_reason_of_its_run_alone
    a_run_begins_when_it_was_submitted
    each_run_is_configured_by_its_id
    so_many_are_loaded
    two_servers_share_the_runs
    a_dropped_server_gives_its_runs_up
}
