//! Plans on a mock.

use plan_runtime::run::{Decision, Gate, ManualTimer, Mock, PendingCall, Run};
use plan_runtime::{Call, Error, Result, RunError, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

struct Shop;

#[tool]
#[derive(Debug, PartialEq)]
async fn find_price(_: &Shop, item: String) -> Result<u64> {
    Ok(item.len() as u64)
}

#[tool]
#[derive(Debug, PartialEq)]
async fn pay(_: &Shop, cents: u64, #[serde(default)] note: Option<String>) -> Result<String> {
    Ok(format!("{cents} {note:?}"))
}

/// A tool of every application.
#[tool]
async fn double(number: u64) -> Result<u64> {
    Ok(number * 2)
}

#[tool]
#[derive(Debug, PartialEq)]
async fn refund(_: &Shop, receipt: String) -> Result<()> {
    drop(receipt);
    Ok(())
}

plan! {
    Buy(item: String, #[serde(default = "one", rename = "howMany")] count: u64) -> String {
        #[retry(3, backoff = "1s", jitter = false)]
        step price = FindPrice { item };
        step total = Double { number: price };
        step receipt = Pay { cents: total * count, .. };
        receipt
    }
}

fn one() -> u64 {
    1
}

plan! {
    /// Buys several items, each by a plan of its own.
    BuyAll(items: Vec<String>) -> u64 {
        #[catch(each)]
        step receipts = for item in items { Buy { item, .. } };
        #[always]
        step noted = Pay { cents: 0, note: Some("end") };
        step paid: u64 = receipts.iter().filter(|it| it.is_ok()).count() as u64;
        paid
    }
}

fn shop() -> Mock {
    Mock::new()
        .on(|FindPrice { .. }| Ok(40))
        .on(|tool: Double| tool.call(&Shop))
        .on(|Pay { cents, .. }| Ok(format!("paid {cents}")))
}

fn lamp() -> Buy {
    Buy {
        item: "lamp".into(),
        count: 3,
    }
}

fn ended<O: serde::de::DeserializeOwned>(run: Run<'_, Mock, O>) -> Result<O, RunError> {
    smol::block_on(run)
}

fn message<O: serde::de::DeserializeOwned>(run: Run<'_, Mock, O>) -> String {
    let timer = ManualTimer::new();
    let run = run.timer(timer.clone());
    let result = smol::block_on(timer.skip_waits(run));
    result.err().expect("a failure").to_string()
}

#[test]
fn closures_answer_and_calls_are_recorded() {
    let mock = shop();
    assert_eq!(ended(lamp().run(&mock)).unwrap(), "paid 240");
    assert_eq!(mock.order(), ["find_price", "double", "pay"]);
    assert_eq!(
        mock.calls::<FindPrice>(),
        [FindPrice {
            item: "lamp".into()
        }]
    );
    assert_eq!(
        mock.calls::<Pay>(),
        [Pay {
            cents: 240,
            note: None
        }]
    );
    assert!(mock.calls::<Refund>().is_empty());
}

#[test]
fn a_plan_without_a_name_and_one_without_tools_run_on_a_mock() {
    let mock = shop();
    let plan = plan! { step price = FindPrice { item: "lamp" }; price + 1 };
    assert_eq!(ended(plan.run(&mock)).unwrap(), 41);
    assert_eq!(mock.order(), ["find_price"]);

    let plan = plan! { step sum: u64 = 1 + 1; sum };
    assert_eq!(ended(plan.run(&Mock::default())).unwrap(), 2);
}

#[test]
fn a_run_without_answers_names_all_tools_and_does_not_start() {
    let mock = Mock::new().on(|FindPrice { .. }| panic!("nothing runs"));
    let error = ended(lamp().run(&mock)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `buy` cannot start: \
         the mock has no answer for `double`, which step `total` calls: add `.on(|Double { .. }| Ok(…))`; \
         the mock has no answer for `pay`, which step `receipt` calls: add `.on(|Pay { .. }| Ok(…))`"
    );
    assert!(mock.order().is_empty());

    // Plans inside are visited, each once, and calls of one tool are reported together.
    let plan = plan! {
        step all = BuyAll { items: ["lamp"] };
        step again = BuyAll { items: ["lamp"] };
        step paid = if all > again { Pay { cents: 5, .. } } else { Pay { cents: 6, .. } };
        (all, again, paid)
    };
    let error = ended(plan.run(&Mock::new())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `plan` cannot start: \
         the mock has no answer for `find_price`, which step `all.receipts.price` calls: add `.on(|FindPrice { .. }| Ok(…))`; \
         the mock has no answer for `double`, which step `all.receipts.total` calls: add `.on(|Double { .. }| Ok(…))`; \
         the mock has no answer for `pay`, which steps `all.receipts.receipt`, `all.noted` and `paid` call: add `.on(|Pay { .. }| Ok(…))`"
    );
}

#[test]
fn a_failure_is_tried_again_and_each_attempt_is_a_call() {
    let mut answers = vec![Err(Error::msg("busy")), Err(Error::msg("busy")), Ok(40)].into_iter();
    let mock = shop().on(move |FindPrice { .. }| answers.next().unwrap());
    let timer = ManualTimer::new();
    let run = lamp().run(&mock).timer(timer.clone());
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), "paid 240");
    assert_eq!(timer.elapsed(), Duration::from_secs(1 + 2));
    assert_eq!(mock.calls::<FindPrice>().len(), 3);

    let mock = shop().on(|FindPrice { item }| Err(Error::permanent(format!("no {item}"))));
    assert_eq!(
        message(lamp().run(&mock)),
        "plan `buy` failed: step `price` (find_price): no lamp (this blocked `total` and `receipt`)"
    );
    assert_eq!(mock.order(), ["find_price"]);
}

#[test]
fn an_answer_may_take_time_and_more_than_there_is() {
    let plan = plan! {
        #[timeout("10s")]
        #[fallback(7)]
        step slow = FindPrice { item: "lamp" };
        slow
    };
    let timer = ManualTimer::new();
    let sleeper = timer.clone();
    let mock = Mock::new().on(move |FindPrice { .. }| {
        let slept = plan_runtime::run::Timer::sleep(&sleeper, Duration::from_secs(9));
        async move {
            slept.await;
            Ok(40)
        }
    });
    let run = plan.run(&mock).timer(timer.clone());
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), 40);
    assert_eq!(timer.elapsed(), Duration::from_secs(9));

    let timer = ManualTimer::new();
    let mock = Mock::new().on(|FindPrice { .. }| std::future::pending());
    let run = plan.run(&mock).timer(timer.clone());
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), 7);
    assert_eq!(timer.elapsed(), Duration::from_secs(10));
}

#[test]
fn answers_that_wait_are_awaited_concurrently() {
    let barrier = Arc::new(AtomicUsize::new(0));
    let mock = Mock::new().on(move |FindPrice { .. }| {
        let barrier = barrier.clone();
        async move {
            barrier.fetch_add(1, Ordering::SeqCst);
            while barrier.load(Ordering::SeqCst) < 3 {
                smol::future::yield_now().await;
            }
            Ok(1)
        }
    });
    let plan = plan! {
        step prices = for item in ["a", "b", "c"] { FindPrice { item } };
        prices
    };
    assert_eq!(ended(plan.run(&mock)).unwrap(), [1, 1, 1]);
}

#[test]
fn a_panic_of_an_answer_fails_its_step_and_the_mock_remains_usable_until_it_is_dropped() {
    let mut first = true;
    let mock = shop().on(move |Pay { cents, .. }| {
        if std::mem::take(&mut first) {
            assert_eq!(cents, 5, "too dear");
        }
        Ok("paid".into())
    });
    let error = message(lamp().run(&mock));
    assert!(
        error.starts_with("plan `buy` failed: step `receipt` (pay): panicked: assertion `left == right` failed: too dear"),
        "{error}"
    );
    assert_eq!(ended(lamp().run(&mock)).unwrap(), "paid");
    assert!(panic_of(mock).unwrap().contains("too dear"));

    let mock = shop().on(|Pay { .. }| unreachable!("nobody pays"));
    let error = message(lamp().run(&mock));
    assert!(
        error.ends_with("panicked: internal error: entered unreachable code: nobody pays"),
        "{error}"
    );
    assert!(panic_of(mock).unwrap().ends_with("nobody pays"));
}

/// Returns the message of a mock's panic when it is dropped, if it panics.
fn panic_of(mock: Mock) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(mock))).err()?;
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
}

/// No policy keeps a test with an assertion in an answer from failing.
#[test]
fn a_panic_that_the_plan_absorbs_fails_the_test() {
    let plan = plan! {
        #[optional]
        step left = Double { number: 1 };
        #[fallback(7)]
        step other = Double { number: 2 };
        #[retry(2, backoff = "1s")]
        step again = Double { number: 3 };
        #[catch]
        step caught = Double { number: 4 };
        (left, other, again, caught.is_ok())
    };
    for (wrong, expected) in [
        (1, "(None, 4, 6, true)"),
        (2, "(Some(2), 7, 6, true)"),
        (4, "(Some(2), 4, 6, false)"),
    ] {
        let now = Mock::new().on(move |Double { number }| {
            assert_ne!(number, wrong, "now");
            Ok(2 * number)
        });
        let later = Mock::new().on(move |Double { number }| async move {
            smol::future::yield_now().await;
            assert_ne!(number, wrong, "later");
            Ok(2 * number)
        });
        for (mock, word) in [(now, "now"), (later, "later")] {
            assert_eq!(format!("{:?}", ended(plan.run(&mock)).unwrap()), expected);
            let panic = panic_of(mock).unwrap();
            assert!(panic.contains(word), "{panic}");
        }
    }
    // A further attempt succeeds.
    let mut first = true;
    let mock = Mock::new().on(move |Double { number }| {
        assert!(number != 3 || !std::mem::take(&mut first), "the first");
        Ok(2 * number)
    });
    let timer = ManualTimer::new();
    let run = plan.run(&mock).timer(timer.clone());
    let output = smol::block_on(timer.skip_waits(run)).unwrap();
    assert_eq!(output, (Some(2), 4, 6, true));
    assert!(panic_of(mock).unwrap().ends_with("the first"));
}

/// A mock without a panic, and one that is dropped by a panic, do not panic.
#[test]
fn a_mock_panics_only_once_and_only_after_a_panic() {
    let mock = shop();
    assert_eq!(ended(lamp().run(&mock)).unwrap(), "paid 240");
    assert_eq!(panic_of(mock), None);

    let panic = catch_unwind(|| {
        let mock = shop().on(|Pay { .. }| unreachable!("nobody pays"));
        let error = message(lamp().run(&mock));
        panic!("{error}")
    });
    let panic = panic.unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.starts_with("plan `buy` failed"), "{message}");
}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// Another number each time.
fn next() -> u64 {
    NEXT.set(NEXT.get() + 1);
    NEXT.get()
}

#[derive(Debug, PartialEq, Clone, Serialize, Deserialize, Shape)]
struct Label {
    text: String,
    #[serde(default = "next")]
    number: u64,
}

#[tool]
#[derive(Debug, PartialEq, Clone)]
async fn print_label(
    _: &Shop,
    first: Label,
    more: Vec<Label>,
    #[serde(default = "next")] id: u64,
    weight: f32,
) -> Result<u64> {
    let _ = (first, more, weight);
    Ok(id)
}

/// A default is computed once: the recorded argument is the one that the tool received.
#[test]
fn recorded_calls_have_the_defaults_that_the_tool_was_given() {
    let plan = plan! {
        step id = PrintLabel {
            first: Label { text: "a", .. },
            more: [Label { text: "b", .. }, Label { text: "c", .. }],
            weight: 0.1,
            ..
        };
        id
    };
    let got = Rc::new(RefCell::new(Vec::new()));
    let answer = Rc::clone(&got);
    let mock = Mock::new().on(move |tool: PrintLabel| {
        answer.borrow_mut().push(tool.clone());
        Ok(tool.id)
    });
    ended(plan.run(&mock)).unwrap();
    for _ in 0..2 {
        assert_eq!(mock.calls::<PrintLabel>(), *got.borrow());
    }
}

#[test]
fn a_plan_inside_runs_on_the_mock_with_its_defaults_and_policies() {
    let mut prices = vec![Ok(1), Err(Error::permanent("sold out")), Ok(3)].into_iter();
    let mock = shop().on(move |FindPrice { .. }| prices.next().unwrap());
    let items = ["a", "b", "c"].map(String::from).to_vec();
    let run = BuyAll { items }.run(&mock).concurrency(1);
    let (paid, report) = smol::block_on(run.with_report());
    assert_eq!(paid.unwrap(), 2);
    let of_one = ["buy", "find_price", "double", "pay"];
    let expected = [&of_one[..], &["buy", "find_price"], &of_one, &["pay"]].concat();
    assert_eq!(mock.order(), expected);
    let cents = mock
        .calls::<Pay>()
        .iter()
        .map(|pay| pay.cents)
        .collect::<Vec<_>>();
    assert_eq!(cents, [2, 6, 0]);
    // An input that the step omits has the default of the plan's input.
    assert!(mock.calls::<Buy>().iter().all(|buy| buy.count == 1));
    let paths = report.step("receipts").unwrap().attempts().len();
    assert_eq!(paths, 3);
}

#[test]
fn a_plan_with_an_answer_does_not_run() {
    let mut count = 0;
    let mock = Mock::new()
        .on(move |Buy { item, .. }| {
            count += 1;
            if item == "b" {
                Err(Error::msg("sold out"))
            } else {
                Ok(format!("{count}"))
            }
        })
        .on(|Pay { .. }| Ok(String::new()));
    let items = ["a", "b", "c"].map(String::from).to_vec();
    assert_eq!(
        ended(
            BuyAll {
                items: items.clone()
            }
            .run(&mock)
        )
        .unwrap(),
        2
    );
    assert_eq!(mock.order(), ["buy", "buy", "buy", "pay"]);
    assert_eq!(mock.calls::<Buy>()[1].item, "b");

    // The plan that a run is of runs all the same.
    let mock = shop().on(|BuyAll { .. }| panic!());
    assert_eq!(ended(BuyAll { items }.run(&mock)).unwrap(), 3);
}

#[test]
fn the_last_answer_of_a_tool_is_the_one() {
    let mock = shop()
        .on(|FindPrice { .. }| Ok(1))
        .on(|FindPrice { .. }| Ok(2));
    assert_eq!(ended(lamp().run(&mock)).unwrap(), "paid 12");
}

plan! {
    Order(item: String) -> String {
        step receipt = Pay { cents: 5, note: item };
        #[undo(receipt)]
        step refunded = Refund { receipt };
        step price = FindPrice { item: receipt };
        format!("{price}")
    }
}

#[test]
fn undo_steps_and_plans_that_are_undone_are_answered() {
    let plan = plan! {
        step order = Order { item: "lamp" };
        step last = FindPrice { item: order };
        last
    };
    let mock = shop()
        .on(|FindPrice { item }| {
            if item == "40" {
                Err(Error::msg("no"))
            } else {
                Ok(40)
            }
        })
        .on(|Refund { .. }| Ok(()));
    let error = ended(plan.run(&mock)).unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["order.receipt"]);
    assert_eq!(
        mock.calls::<Refund>(),
        [Refund {
            receipt: "paid 5".into()
        }]
    );
}

/// A struct with a part that has no JSON.
#[derive(Serialize, Deserialize, Shape)]
struct Page {
    text: String,
    #[serde(skip)]
    length: usize,
}

impl Page {
    fn length(&self) -> usize {
        self.length
    }
}

#[tool]
async fn load(_: &Shop, url: String) -> Result<Page> {
    let length = url.len();
    Ok(Page { text: url, length })
}

#[test]
fn computed_values_see_what_json_carries() {
    let plan = plan! {
        step page = Load { url: "a" };
        step length: usize = page.length() + page.text.len();
        length
    };
    let mock = Mock::new().on(|Load { url }| {
        Ok(Page {
            text: url,
            length: 40,
        })
    });
    // A step sees the length that a reader of the JSON has, whether or not it is computed.
    assert_eq!(ended(plan.run(&mock)).unwrap(), 1);
}

mod other {
    use plan_runtime::{Result, tool};

    #[tool]
    pub(super) async fn find_price(number: u64) -> Result<u64> {
        Ok(number)
    }
}

#[test]
fn tools_of_one_name_are_told_apart() {
    let plan = plan! {
        step mine = FindPrice { item: "lamp" };
        step other = other::FindPrice { number: mine };
        other
    };
    let mock = shop();
    assert_eq!(
        message(plan.run(&mock)),
        "plan `plan` cannot start: the mock has no answer for the tool `find_price` that step `other` calls, which is the type `runs::mock::other::FindPrice`; \
         its answer is for another tool of this name, the type `runs::mock::FindPrice`: add one for `runs::mock::other::FindPrice`"
    );
    assert!(mock.order().is_empty());
    // Without any answer, both are named, each with its own step.
    let error = message(plan.run(&Mock::new()));
    assert_eq!(
        error
            .matches("the mock has no answer for `find_price`, which step")
            .count(),
        2,
        "{error}"
    );
    let mock = shop().on(|other::FindPrice { number }| Ok(number + 1));
    assert_eq!(ended(plan.run(&mock)).unwrap(), 41);
    assert_eq!(mock.calls::<other::FindPrice>()[0].number, 40);
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = String, name = "auth.log-in")]
struct LogIn {
    user: String,
    #[shape(secret)]
    password: String,
}

#[tool]
async fn send(_: &Shop, header: String) -> Result<()> {
    drop(header);
    Ok(())
}

plan! {
    Enter(#[shape(secret)] password: String) -> () {
        step token = LogIn { user: "sarah", password };
        step sent = Send { header: format!("Basic {password} {token}") };
    }
}

plan! {
    Outer(#[shape(secret)] secret: String) -> () {
        step entered = Enter { password: secret };
    }
}

#[test]
fn secrets_are_not_shown() {
    let mock = Mock::new()
        .on(|LogIn { .. }| Ok("t-1".into()))
        .on(|Send { .. }| Ok(()));
    let secret = || "hunter2".to_owned();
    ended(Enter { password: secret() }.run(&mock)).unwrap();
    let shown = format!("{mock:?}");
    assert_eq!(
        shown,
        r#"Mock [auth.log-in {"password":"(secret)","user":"sarah"}, send {"header":"(secret)"}]"#
    );
    // The test gets its own arguments without masks.
    assert_eq!(mock.calls::<LogIn>()[0].password, "hunter2");

    ended(Outer { secret: secret() }.run(&mock)).unwrap();
    assert!(!format!("{mock:#?}").contains("hunter2"));
    assert_eq!(mock.order().len(), 5);

    // There is no struct that one could guess from the name.
    assert_eq!(
        message(Enter { password: secret() }.run(&Mock::new().on(|Send { .. }| Ok(())))),
        "plan `enter` cannot start: the mock has no answer for `auth.log-in`, which step `token` calls: add one with `on`"
    );
}

#[test]
fn values_from_outside_come_to_plans_inside() {
    plan! {
        Ask(what: String) -> String {
            step told = Pay { cents: 1, note: what };
            #[after(told)]
            step reply: String = await;
            reply
        }
    }
    let plan = plan! { step asked = Ask { what: "yes?" }; asked };
    let mock = shop();
    let run = plan.run(&mock);
    let signals = run.signals();
    signals.send("asked.reply", "yes").unwrap();
    assert_eq!(ended(run).unwrap(), "yes");
    assert_eq!(mock.order(), ["ask", "pay"]);
}

#[test]
fn a_loop_that_polls_is_answered_in_turn() {
    let plan = plan! {
        #[at_most(10, every = "3s")]
        step state = loop { FindPrice { item: "lamp" } } while state == 0;
        state
    };
    let mut states = [0, 0, 7].into_iter();
    let mock = Mock::new().on(move |FindPrice { .. }| Ok(states.next().unwrap()));
    let timer = ManualTimer::new();
    let run = plan.run(&mock).timer(timer.clone());
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), 7);
    assert_eq!(timer.elapsed(), Duration::from_secs(6));
}

#[test]
fn gates_and_reports_see_what_they_see_elsewhere() {
    let mock = shop();
    struct NoMoney;
    impl Gate for NoMoney {
        async fn ask(&self, call: PendingCall) -> Decision {
            match call.tool() {
                "pay" => Decision::Refuse("no money".into()),
                _ => Decision::Allow,
            }
        }
    }
    let plan = plan! { step bought = Buy { item: "lamp", count: 2 }; bought };
    let run = plan.run(&mock).gate(NoMoney).capture_arguments(true);
    let (result, report) = smol::block_on(run.with_report());
    assert!(
        result
            .unwrap_err()
            .to_string()
            .contains("was refused: no money")
    );
    // A call that was refused is not recorded.
    assert_eq!(mock.order(), ["buy", "find_price", "double"]);
    let real = smol::block_on(
        plan.run(&Shop)
            .gate(NoMoney)
            .capture_arguments(true)
            .with_report(),
    )
    .1;
    let arguments = |report: &plan_runtime::Report| {
        let steps = report
            .steps()
            .iter()
            .map(|step| (step.id().to_owned(), step.arguments().cloned()));
        steps.collect::<Vec<_>>()
    };
    assert_eq!(arguments(&report), arguments(&real));
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    /// A type whose serialized form cannot be deserialized.
    #[derive(Serialize, Deserialize)]
    #[serde(into = "u64", try_from = "u64")]
    struct Wrong;
    impl From<Wrong> for u64 {
        fn from(_: Wrong) -> Self {
            2
        }
    }
    impl TryFrom<u64> for Wrong {
        type Error = String;
        fn try_from(number: u64) -> Result<Self, String> {
            Err(format!("{number} is wrong"))
        }
    }
    impl Clone for Wrong {
        fn clone(&self) -> Self {
            Self
        }
    }
    #[tool]
    async fn make(_: &Shop) -> Result<Wrong> {
        Ok(Wrong)
    }
    #[tool]
    async fn take(_: &Shop, small: Wrong) -> Result<()> {
        let Wrong = small;
        Ok(())
    }
    let plan = plan! {
        step price = FindPrice { item: "" };
        step made = Make {};
        #[after(price)]
        step taken = Take { small: made };
        taken
    };
    let mock = shop().on(|Make {}| Ok(Wrong)).on(|Take { .. }| Ok(()));
    let on_mock = message(plan.run(&mock));
    let on_shop = smol::block_on(plan.run(&Shop)).unwrap_err().to_string();
    assert_eq!(on_mock, on_shop);
    assert!(on_mock.contains("`small`"), "{on_mock}");
    assert_eq!(mock.order(), ["find_price", "make"]);
}

#[test]
fn what_answers_share_stays_on_their_thread() {
    let dropped = Rc::new(Cell::new(0));
    let (seen, told) = (Rc::new(RefCell::new(Vec::new())), Rc::clone(&dropped));
    let mock = shop().on({
        let seen = Rc::clone(&seen);
        move |FindPrice { item }| {
            let (seen, told) = (Rc::clone(&seen), CountsDrop(Rc::clone(&told)));
            async move {
                smol::future::yield_now().await;
                seen.borrow_mut().push(item);
                drop(told);
                Ok(40)
            }
        }
    });
    // A plan that a step calls is answered as well, although its calls are `Send`.
    let items = vec!["lamp".to_owned(), "tent".to_owned()];
    assert_eq!(ended(BuyAll { items }.run(&mock)).unwrap(), 2);
    assert_eq!(*seen.borrow(), ["lamp", "tent"]);
    assert_eq!(dropped.get(), 2);

    // A dropped answer leaves no values behind, and a dropped mock leaves none.
    let mock = mock.on({
        let dropped = CountsDrop(Rc::clone(&dropped));
        move |FindPrice { .. }| {
            let dropped = CountsDrop(Rc::clone(&dropped.0));
            async move {
                std::future::pending::<()>().await;
                drop(dropped);
                Ok(1)
            }
        }
    });
    assert_eq!(Rc::strong_count(&seen), 1);
    let mut run = lamp().run(&mock);
    let polled = smol::block_on(smol::future::poll_once(&mut run));
    assert!(polled.is_none());
    drop(run);
    assert_eq!(dropped.get(), 3);
    drop(mock);
    assert_eq!(dropped.get(), 4);
}

/// A value that counts its drops.
struct CountsDrop(Rc<Cell<u32>>);

impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}
