//! Calls that may not begin yet: no code of their tools runs in a view, before the answer of a gate, or before their turn.

use super::support::at;
use crate::durable::support::{Driven, crash, finish};
use crate::journal::asking::Asking;
use crate::run::support::Silent;
use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::journal::spi::Record;
use plan_runtime::journal::{Journal, Memory};
use plan_runtime::run::{EngineCall, Mock, OnFailure, Throttle};
use plan_runtime::{Call, Error, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Default)]
struct Bank {
    charges: AtomicUsize,
    is_stuck: AtomicBool,
}

impl Bank {
    /// Charges at once. The answer comes later.
    fn charge(&self) -> impl Future<Output = Result<u64>> + Send + use<> {
        self.charges.fetch_add(1, Ordering::SeqCst);
        let is_stuck = self.is_stuck.load(Ordering::SeqCst);
        async move {
            if is_stuck {
                pending::<()>().await;
            }
            Ok(7)
        }
    }

    fn charges(&self) -> usize {
        self.charges.load(Ordering::SeqCst)
    }
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Charge {}

impl Call<Bank> for Charge {
    fn call(self, bank: &Bank) -> impl Future<Output = Result<u64>> + Send {
        bank.charge()
    }
}

/// Has no context.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64, name = "charge")]
struct ChargePlainly {}

impl Call<Bank> for ChargePlainly {
    const USES_CONTEXT: bool = false;

    fn call(self, bank: &Bank) -> impl Future<Output = Result<u64>> + Send {
        bank.charge()
    }
}

#[tool]
async fn fail(bank: &Bank) -> Result<u64> {
    bank.is_stuck.store(true, Ordering::SeqCst);
    Err(Error::permanent("broken"))
}

plan! {
    Buy() -> u64 {
        step paid = Charge {};
        paid
    }
}

plan! {
    FailAndBuy() -> u64 {
        step failed = Fail {};
        step paid = Charge {};
        failed + paid
    }
}

/// Returns a toolbox for each kind of tool.
fn toolboxes(bank: &Arc<Bank>) -> [Toolbox<Bank>; 4] {
    let (contract, own) = (Contract::new("charge"), Arc::clone(bank));
    let number = |charged: Result<u64>| charged.map(Value::from);
    [
        Toolbox::new().with_fn(contract.clone(), move |_| {
            let charged = own.charge();
            async move { number(charged.await) }
        }),
        Toolbox::new().with_app_fn(contract, move |bank: &Bank, _| {
            let charged = bank.charge();
            Box::pin(async move { number(charged.await) })
        }),
        Toolbox::new().with::<Charge>(),
        Toolbox::new().with::<ChargePlainly>(),
    ]
}

#[test]
fn a_view_of_an_open_question_runs_no_code_of_the_tool() {
    let bank = Arc::new(Bank::default());
    for toolbox in toolboxes(&bank) {
        let db = Memory::new();
        let run = toolbox.run(Buy::PLAN, Buy {}, &bank);
        crash(run.gate(Silent).durable(&db, "buy"));
        let server = at(&db, &toolbox, &bank);
        server.report("buy").unwrap();
        assert!(server.check().unwrap().is_empty());
        assert_eq!(bank.charges(), 0);
    }
}

#[test]
fn a_call_of_a_crashed_run_is_made_again_only_by_the_resumed_run() {
    for number in 0..4 {
        let bank = Arc::new(Bank::default());
        let toolbox = &toolboxes(&bank)[number];
        let db = Memory::new();
        bank.is_stuck.store(true, Ordering::SeqCst);
        let run = || toolbox.run(Buy::PLAN, Buy {}, &bank).durable(&db, "buy");
        crash(run());
        let server = at(&db, toolbox, &bank);
        server.report("buy").unwrap();
        assert!(server.check().unwrap().is_empty());
        assert_eq!(bank.charges(), 1);
        bank.is_stuck.store(false, Ordering::SeqCst);
        assert_eq!(finish(run()).unwrap(), 7);
        assert_eq!(bank.charges(), 2);
    }
}

/// The number of evaluations of `weigh`.
static WEIGHED: AtomicUsize = AtomicUsize::new(0);

fn weigh(paid: u64) -> u64 {
    WEIGHED.fetch_add(1, Ordering::SeqCst);
    paid
}

plan! {
    Weigh() -> u64 {
        step paid = Charge {};
        step weight: u64 = weigh(paid);
        step chosen = if weigh(weight) > 5 { Charge {} } else { ChargePlainly {} };
        step each = for n in vec![weigh(chosen)] { step more = Charge {}; step both: u64 = weigh(more + n); both };
        #[at_most(2)]
        step rounds = loop { step round = Charge {}; round } while weigh(round) > each[0];
        #[after(rounds)]
        #[fallback(weigh(1))]
        step lost = Fail {};
        weigh(rounds + lost)
    }
}

#[test]
fn a_view_after_a_crash_at_any_record_runs_no_code_of_the_plan() {
    let bank = Arc::new(Bank::default());
    let toolbox = Toolbox::new().with::<Weigh>();
    let run = |db: &Memory| {
        bank.is_stuck.store(false, Ordering::SeqCst);
        finish(Weigh {}.run(&*bank).durable(db, "weigh")).unwrap()
    };
    let whole = Memory::new();
    let output = run(&whole);
    let info = whole.look_now("weigh").unwrap().unwrap().info.unwrap();
    let records = whole.records_now("weigh").unwrap();
    let mut weighed = 0;
    for kept in 0..=records.len() {
        let db = Memory::new();
        let claim = db.claim_now("weigh").unwrap().claim;
        db.describe_now(&claim, &info).unwrap();
        for Record { key, body, .. } in records[..kept].iter().cloned() {
            smol::block_on(db.append(&claim, key, body)).unwrap();
        }
        db.release(&claim);
        let before = WEIGHED.load(Ordering::SeqCst);
        let server = at(&db, &toolbox, &bank);
        server.report("weigh").unwrap();
        assert!(server.check().unwrap().is_empty());
        let after = WEIGHED.load(Ordering::SeqCst);
        assert_eq!(before, after, "{:?}", &records[..kept]);
        assert_eq!(run(&db), output);
        weighed += WEIGHED.load(Ordering::SeqCst) - after;
    }
    assert!(weighed > records.len(), "{weighed}");
}

#[test]
fn a_mock_answers_only_calls_that_begin() {
    let mock = Mock::new()
        .on(|Fail {}| Err(Error::permanent("broken")))
        .on(|Charge {}| Ok(7));
    let run = FailAndBuy {}.run(&mock).on_failure(OnFailure::Cancel);
    finish(run).unwrap_err();
    assert_eq!(mock.order(), ["fail"]);
    let db = Memory::new();
    let mock = Mock::new().on(|Charge {}| async { pending().await });
    crash(Buy {}.run(&mock).gate(Silent).durable(&db, "buy"));
    assert_eq!(mock.order(), [""; 0]);
}

#[test]
fn a_closure_of_a_call_that_does_not_begin_is_not_called() {
    let bank = Arc::new(Bank::default());
    for toolbox in toolboxes(&bank).into_iter().take(2) {
        let toolbox = toolbox.with::<Fail>();
        let run = toolbox.run(FailAndBuy::PLAN, FailAndBuy {}, &bank);
        let run = run.on_failure(OnFailure::Cancel);
        let (result, report) = finish(Box::pin(run.with_report().into_future()));
        result.unwrap_err();
        let paid = report.step("paid").unwrap();
        assert_eq!(paid.status().name(), "not started");
        assert_eq!(bank.charges(), 0);
    }
}

#[test]
fn a_worker_runs_no_code_of_a_tool_before_its_turn() {
    for number in 0..4 {
        let bank = Arc::new(Bank::default());
        bank.is_stuck.store(true, Ordering::SeqCst);
        let toolbox = toolboxes(&bank)[number].clone();
        let toolbox = toolbox.throttle(Throttle::new().concurrency("charge", 1));
        let call = || -> EngineCall {
            let call = json!({
                "tool": "charge", "arguments": {}, "run": "r", "plan": "buy", "step": "paid",
                "element": [], "path": "paid", "lasting": "paid", "attempt": 1,
            });
            serde_json::from_value(call).unwrap()
        };
        let mut first = Driven::new(toolbox.perform(call(), &bank));
        first.pending();
        let mut second = Driven::new(toolbox.perform(call(), &bank));
        second.pending();
        assert_eq!(bank.charges(), 1);
        drop(first);
        second.pending();
        assert_eq!(bank.charges(), 2);
    }
}
