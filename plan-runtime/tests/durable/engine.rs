//! Runs whose calls an engine makes: after each crash they start again, send equal requests in the same order, and end like runs that make their
//! calls themselves.

use super::random::{Case, Maker, World, cases, hash, told};
use super::support::Driven;
use fastrand::Rng;

use plan_runtime::dynamic::Toolbox;
use plan_runtime::plan::Executable;
use plan_runtime::run::{
    CallContext, CallOutcome, Engine, EngineCall, EngineFuture, Run, RunErrorKind, Timer,
    TimerFuture,
};
use plan_runtime::{Error, Result, RunError, Sleep, plan, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An engine in memory, whose state survives the runs.
#[derive(Clone)]
struct Kept(Arc<Mutex<State>>);

struct State {
    base: Instant,
    /// The requests of the first run in order, and the position of the current one.
    asked: Vec<String>,
    asks: usize,
    /// The events, by the number of the request, with their times.
    happened: Vec<(usize, Happened, Duration)>,
    /// The number of events that the current run has received.
    told: usize,
    now: Duration,
    /// The decisions, with the poll that made them.
    decided: BTreeMap<String, (usize, String)>,
    open: BTreeMap<usize, Open>,
    /// The idempotency keys of the attempts.
    keys: BTreeMap<String, BTreeSet<String>>,
    /// `true` once the run may decide something in this poll.
    may_decide: bool,
}

#[derive(Clone, Debug)]
enum Happened {
    Outcome(CallOutcome),
    Over,
    Value(Value),
}

/// Decides which of the requests is answered next.
type Make<'m> = dyn FnMut(&BTreeMap<usize, Open>) -> Option<(usize, Happened)> + 'm;

struct Open {
    what: Asked,
    slot: Slot,
}

#[expect(clippy::large_enum_variant, reason = "a test keeps a few of them")]
enum Asked {
    Call(EngineCall),
    Sleep(Duration),
    Value(String),
}

type Slot = Arc<Mutex<(Option<Happened>, Option<Waker>)>>;

/// A request, until its event. After its drop, the run no longer waits for it.
struct Waits(Slot, Kept, usize);

impl Future for Waits {
    type Output = Happened;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Happened> {
        let mut slot = self.0.lock().unwrap();
        match slot.0.take() {
            Some(happened) => Poll::Ready(happened),
            None => {
                slot.1 = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.1.state().open.remove(&self.2);
    }
}

impl Kept {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            base: Instant::now(),
            asked: Vec::new(),
            asks: 0,
            happened: Vec::new(),
            told: 0,
            now: Duration::ZERO,
            decided: BTreeMap::new(),
            open: BTreeMap::new(),
            keys: BTreeMap::new(),
            may_decide: false,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn ask(&self, text: String, what: Asked) -> Waits {
        let mut state = self.state();
        let number = state.asks;
        state.asks += 1;
        match state.asked.get(number) {
            Some(before) => assert_eq!(*before, text, "what is asked for as number {number}"),
            None => state.asked.push(text),
        }
        let slot = Slot::default();
        state.open.insert(
            number,
            Open {
                what,
                slot: Arc::clone(&slot),
            },
        );
        drop(state);
        Waits(slot, self.clone(), number)
    }

    /// A crash: the next run begins again.
    fn crash(&self) {
        let mut state = self.state();
        state.asks = 0;
        state.told = 0;
        state.now = Duration::ZERO;
        state.may_decide = false;
        assert!(state.open.is_empty(), "the run still waits for something");
    }

    /// Tells the run the next thing that has happened. `make` decides what that is if nothing is left to tell.
    fn go_on(&self, make: &mut Make<'_>) {
        let mut state = self.state();
        if state.told == state.happened.len() {
            let (number, happened) = make(&state.open).expect("nothing can happen any more");
            let time = match &state.open[&number].what {
                Asked::Sleep(until) => (*until).max(state.now),
                _ => state.now + Duration::from_millis(1),
            };
            state.happened.push((number, happened, time));
        }
        let (number, happened, time) = state.happened[state.told].clone();
        state.told += 1;
        state.now = time;
        state.may_decide = false;
        // Nobody may wait for it any more: that is not an event for the run.
        let Some(open) = state.open.get(&number) else {
            return;
        };
        let slot = Arc::clone(&open.slot);
        drop(state);
        let waker = {
            let mut slot = slot.lock().unwrap();
            slot.0 = Some(happened);
            slot.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Timer for Kept {
    fn now(&self) -> Instant {
        let state = self.state();
        state.base + state.now
    }

    fn sleep(&self, duration: Duration) -> TimerFuture {
        if duration.is_zero() {
            return Box::pin(ready(()));
        }
        let until = self.state().now + duration;
        let waits = self.ask(format!("sleep until {until:?}"), Asked::Sleep(until));
        Box::pin(async move { drop(waits.await) })
    }
}

impl Engine for Kept {
    fn seed(&self) -> u64 {
        5
    }

    fn system_time(&self) -> SystemTime {
        UNIX_EPOCH + self.state().now
    }

    fn call(&self, call: EngineCall) -> EngineFuture<CallOutcome> {
        let text = format!("call {} {} {}", path(&call), call.tool(), call.arguments());
        let mut state = self.state();
        let keys = state.keys.entry(path(&call)).or_default();
        keys.insert(call.idempotency_key());
        drop(state);
        let waits = self.ask(text, Asked::Call(call));
        Box::pin(async move {
            match waits.await {
                Happened::Outcome(outcome) => outcome,
                other => panic!("a call gave {other:?}"),
            }
        })
    }

    fn poll_decisions(&self, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.state().may_decide, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn recall(&self, key: &str) -> Option<String> {
        let state = self.state();
        assert!(state.may_decide, "{key} is decided too early");
        let (poll, decision) = state.decided.get(key)?;
        assert_eq!(*poll, state.told, "{key} is decided in another poll");
        Some(decision.clone())
    }

    fn remember(&self, key: String, decision: String) -> Result<()> {
        if decision.len() > 1000 {
            return Err(Error::permanent("it is too large to be kept"));
        }
        let mut state = self.state();
        let poll = state.told;
        let before = state.decided.insert(key.clone(), (poll, decision));
        assert!(before.is_none(), "{key} is decided twice");
        Ok(())
    }

    fn receive(&self, path: &str) -> EngineFuture<Value> {
        let waits = self.ask(format!("await {path}"), Asked::Value(path.to_owned()));
        Box::pin(async move {
            match waits.await {
                Happened::Value(value) => value,
                other => panic!("an await gave {other:?}"),
            }
        })
    }
}

fn path(call: &EngineCall) -> String {
    format!("{}@{}", call.path(), call.attempt())
}

/// Runs to the end, where the run crashes after a number of polls and events each time.
fn play<O>(
    kept: &Kept,
    run: impl Fn() -> O,
    crashes: &mut dyn FnMut() -> usize,
    make: &mut Make<'_>,
) -> O::Output
where
    O: Future + Unpin,
{
    loop {
        let mut left = crashes();
        let mut run = Driven::new(run());
        loop {
            if left == 0 {
                break;
            }
            left -= 1;
            if run.is_woken() {
                if let Poll::Ready(result) = run.poll() {
                    return result;
                }
            } else {
                kept.go_on(make);
            }
        }
        drop(run);
        kept.crash();
    }
}

impl<'p> Case<'p> {
    fn run_on(&self, kept: &Kept) -> Run<'_, World<'p>, Value> {
        self.begin().id("run").engine(kept.clone())
    }

    /// The call ends whose turn it is, as it would in this process.
    fn next(&self, open: &BTreeMap<usize, Open>) -> Option<(usize, Happened)> {
        let calls = open.iter().filter_map(|(number, open)| match &open.what {
            Asked::Call(call) => Some((*number, call)),
            Asked::Sleep(_) | Asked::Value(_) => None,
        });
        let next = calls.min_by_key(|(_, call)| hash(self.world.seed, &path(call)));
        let (number, call) = next?;
        let outcome = match self.world.outcome(&path(call), &call.idempotency_key()) {
            Ok(value) => value,
            Err(error) => return Some((number, Happened::Outcome(CallOutcome::failed(error)))),
        };
        let outcome = serde_json::json!({"at": [0, 0], "value": outcome});
        let outcome = serde_json::from_value(outcome).unwrap();
        Some((number, Happened::Outcome(outcome)))
    }
}

#[test]
fn random_plans_on_an_engine_ask_for_the_same_in_the_same_order_and_end_as_in_one_process() {
    let (mut crashed, mut failed) = (0, 0);
    for seed in 0..cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(4..=14);
        let mut maker = Maker::new(&mut random);
        let plan = maker.plan(size, 0);
        let plans = maker.into_plans();
        let called: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
        let plan = Executable::new(&plan);
        let case = Case::of_paths(&plan, &called, seed);
        let here = case.play_here();
        let keys = case.world.keys();
        failed += usize::from(here.is_err());
        for _ in 0..4 {
            let kept = Kept::new();
            case.world.forget();
            let most = random.usize(2..60);
            let mut times = random.usize(1..=10);
            let result = play(
                &kept,
                || case.run_on(&kept),
                &mut || {
                    if times == 0 {
                        return usize::MAX;
                    }
                    times -= 1;
                    crashed += 1;
                    random.usize(..most)
                },
                &mut |open| case.next(open),
            );
            let asked = kept.state().keys.clone();
            for (call, keys) in &keys {
                assert_eq!(asked.get(call), Some(keys), "seed {seed}: {call}");
            }
            assert_eq!(
                told(result),
                here,
                "seed {seed}: {}",
                super::random::plan_text(&plan)
            );
        }
    }
    println!("{} plans, {crashed} crashes, {failed} failed", cases());
    assert!(failed as u64 > cases() / 20 && crashed > cases());
}

/// The application of these plans.
#[derive(Default)]
struct Desk {
    /// The number of calls.
    calls: AtomicU64,
    /// The notes, by idempotency key. A call with a known key adds no note.
    noted: Mutex<BTreeMap<String, u64>>,
}

/// Gives `n` back, with where it was called.
#[tool]
async fn note(desk: &Desk, #[context] context: CallContext, n: u64) -> Result<(u64, String)> {
    desk.calls.fetch_add(1, Ordering::SeqCst);
    let key = context.idempotency_key();
    assert_eq!(context.run_id(), "run");
    assert!(key.starts_with("run/"), "{key}");
    let n = *desk.noted.lock().unwrap().entry(key.clone()).or_insert(n);
    Ok((n, key))
}

/// Fails until an attempt.
#[tool]
async fn flaky(#[context] context: CallContext, attempts: u32) -> Result<u32> {
    if context.attempt() < attempts {
        let error = Error::msg(format!("attempt {}", context.attempt()));
        return Err(error.with_code("BUSY"));
    }
    Ok(context.attempt())
}

/// Falls over.
#[tool]
async fn fall() -> Result<u64> {
    panic!("it fell over")
}

/// Does not end.
#[tool]
async fn hang() -> Result<u64> {
    std::future::pending().await
}

/// The value of an impure expression, which changes each time.
static COUNTER: AtomicU64 = AtomicU64::new(1);

fn count() -> u64 {
    COUNTER.fetch_add(1, Ordering::SeqCst)
}

fn unsure() -> u64 {
    let count = count();
    assert!(count.is_multiple_of(2), "it is {count}");
    count
}

plan! {
    Inner(from: u64) -> Vec<u64> {
        step first = Note { n: from };
        step each = for k in vec![1; (count() % 3 + 1) as usize] { Note { n: k + first.0 } };
        each.iter().map(|one| one.0).chain([first.0]).collect()
    }
}

plan! {
    Impure() -> (bool, Vec<u64>, u64, Option<u64>, u64) {
        step stamp: u64 = count();
        step a = Note { n: stamp };
        step b = Note { n: count() };
        step same = if count() % 2 == 0 { Note { n: 0 } } else if stamp == a.0 { Note { n: 1 } } else { Note { n: 2 } };
        step all = for n in (0..count() % 4).collect::<Vec<_>>() { Note { n } };
        #[fallback(count())]
        step fell = Fall {};
        #[optional]
        step sure: u64 = unsure();
        #[optional]
        step asked = Note { n: unsure() };
        step inner = Inner { from: count() };
        #[at_most(9)]
        step rounds = loop |last| {
            step seen = Note { n: last.unwrap_or(0) + 1 };
            step value: u64 = seen.0;
            value
        } while count() % 3 != 0;
        (
            stamp == a.0 && b.0 > 0 && same.0 < 2 && all.len() < 4 && fell > 0 && asked.as_ref().is_none_or(|it| it.0 % 2 == 0),
            inner,
            count(),
            sure,
            rounds,
        )
    }
}

fn toolbox() -> Toolbox<Desk> {
    Toolbox::new()
        .with::<Numbers>()
        .with::<Length>()
        .with::<Measure>()
        .with::<OfSet>()
        .with::<Note>()
        .with::<Flaky>()
        .with::<Fall>()
        .with::<Hang>()
        .with::<Hold>()
}

/// Makes the first of the calls that can be made, or lets time pass.
fn perform(
    desk: &Desk,
    values: &[(&str, Value)],
    open: &BTreeMap<usize, Open>,
) -> Option<(usize, Happened)> {
    let mut sleeps = Vec::new();
    for (number, open) in open {
        match &open.what {
            Asked::Call(call) if call.tool() == "hang" => assert!(call.time_left().is_some()),
            Asked::Call(call) => {
                // The call goes through JSON, like a call to another machine.
                let call = serde_json::to_string(call).unwrap();
                let call = serde_json::from_str(&call).unwrap();
                let outcome = smol::block_on(toolbox().perform(call, desk));
                let outcome = serde_json::to_string(&outcome).unwrap();
                let outcome = serde_json::from_str(&outcome).unwrap();
                return Some((*number, Happened::Outcome(outcome)));
            }
            Asked::Value(path) => {
                let value = values.iter().find(|(known, _)| known == path);
                if let Some((_, value)) = value {
                    return Some((*number, Happened::Value(value.clone())));
                }
            }
            Asked::Sleep(until) => sleeps.push((*until, *number)),
        }
    }
    let (_, number) = sleeps.into_iter().min()?;
    Some((number, Happened::Over))
}

/// Runs a plan that crashes once, after each number of polls and events that there is, and gives what came of it each time.
fn crashed<O: serde::Serialize + serde::de::DeserializeOwned + Send + 'static>(
    begin: impl for<'d> Fn(&'d Desk) -> Run<'d, Desk, O>,
    values: &[(&str, Value)],
) -> Vec<Result<O, RunError>> {
    let mut came = Vec::new();
    for crash in 0.. {
        let (kept, desk) = (Kept::new(), Desk::default());
        let mut lives = 0;
        let result = play(
            &kept,
            || begin(&desk).id("run").engine(kept.clone()),
            &mut || {
                lives += 1;
                if lives == 1 { crash } else { usize::MAX }
            },
            &mut |open| perform(&desk, values, open),
        );
        // No event is repeated.
        let state = kept.state();
        let notes = state.asked.iter().filter(|it| it.contains(" note "));
        assert_eq!(notes.count() as u64, desk.calls.load(Ordering::SeqCst));
        // No scope of these plans is tried again.
        let noted = desk.noted.lock().unwrap().len() as u64;
        assert_eq!(noted, desk.calls.load(Ordering::SeqCst));
        came.push(result);
        if lives == 1 {
            return came;
        }
    }
    unreachable!()
}

#[test]
fn what_rust_code_decides_stays_so() {
    for _ in 0..crate::common::amount(6, 20) {
        for came in crashed(|desk| Impure {}.run(desk), &[]) {
            assert!(came.unwrap().0);
        }
    }
}

#[test]
fn a_run_with_a_report_leaves_its_calls_to_the_engine() {
    plan! {
        Noted() -> u64 {
            step noted = Note { n: 1 };
            noted.0
        }
    }
    let (kept, desk) = (Kept::new(), Desk::default());
    let (result, report) = play(
        &kept,
        || {
            let run = Noted {}.run(&desk).id("run");
            run.engine(kept.clone()).with_report()
        },
        &mut || usize::MAX,
        &mut |open| perform(&desk, &[], open),
    );
    assert_eq!((result.unwrap(), report.totals().completed), (1, 1));
    let state = kept.state();
    let mut asked = state.asked.iter();
    assert!(
        asked.any(|it| it.contains(" note ")),
        "the process made the call"
    );
}

#[test]
fn code_that_was_remembered_does_not_run_again() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    plan! {
        Once() -> u64 {
            step made: u64 = RUNS.fetch_add(1, Ordering::SeqCst);
            step noted = Note { n: made };
            step last = Note { n: noted.0 };
            last.0
        }
    }
    for (number, came) in crashed(|desk| Once {}.run(desk), &[])
        .into_iter()
        .enumerate()
    {
        // The decision is made in the first poll, so only a crash before it has no effect.
        assert_eq!(came.unwrap(), number as u64);
    }
}

plan! {
    Timed(time: String) -> (u32, Option<u32>, Option<u64>, u64, Option<String>) {
        #[retry(5, backoff = "20ms")]
        step tried = Flaky { attempts: 3 };
        #[optional]
        #[retry(2, backoff = "1ms")]
        step never = Flaky { attempts: 99 };
        #[optional]
        #[timeout("100ms")]
        step hung = Hang {};
        step pause = Sleep { time };
        #[after(pause)]
        step reply: u64 = await;
        #[optional]
        #[timeout("5s")]
        step unanswered: String = await;
        (tried, never, hung, reply, unanswered)
    }
}

type TimedOutput = (u32, Option<u32>, Option<u64>, u64, Option<String>);

fn timed(time: &str) -> impl for<'d> Fn(&'d Desk) -> Run<'d, Desk, TimedOutput> {
    move |desk| {
        Timed {
            time: time.to_owned(),
        }
        .run(desk)
    }
}

#[test]
fn attempts_limits_sleeps_and_values_are_the_engines() {
    let values = [("reply", Value::from(17))];
    let run = timed("3d");
    for came in crashed(run, &values) {
        assert_eq!(came.unwrap(), (3, None, None, 17, None));
    }
    let run = timed("3 fortnights");
    for came in crashed(run, &values) {
        let error = came.unwrap_err().to_string();
        assert!(
            error.contains("step `pause` (sleep): `3 fortnights`"),
            "{error}"
        );
    }
    // A received value has the type of the step.
    let values = [("reply", Value::from("17"))];
    let run = timed("1s");
    for came in crashed(run, &values) {
        let error = came.unwrap_err().to_string();
        assert!(
            error.contains("`reply`") && error.contains("u64"),
            "{error}"
        );
    }
}

plan! {
    Saga() -> u64 {
        step a = Note { n: 1 };
        #[undo(a)]
        step ua = Note { n: a.0 + 10 };
        step trip = { step b = Note { n: 2 }; #[undo(b)] step ub = Note { n: 12 }; b };
        step called = Inner { from: 3 };
        #[after(trip, called)]
        #[retry(2, backoff = "1s")]
        step c = Fall {};
        #[undo(c)]
        step uc = Note { n: 13 };
        #[always]
        step told = Note { n: 20 };
        a.0
    }
}

#[test]
fn a_failure_is_undone_once_and_says_the_same_as_here() {
    let here = smol::block_on(Saga {}.run(&Desk::default()).id("run")).unwrap_err();
    for came in crashed(|desk| Saga {}.run(desk), &[]) {
        let error = came.unwrap_err();
        assert_eq!(error.to_string(), here.to_string());
        assert_eq!(
            error.undone().collect::<Vec<_>>(),
            here.undone().collect::<Vec<_>>()
        );
    }
}

plan! {
    Held() -> u64 {
        step held = Note { n: 1 };
        #[undo(held)]
        step freed = Note { n: held.0 };
        #[after(held)]
        step paid = Flaky { attempts: 99 };
        #[always]
        step told = Note { n: 2 };
        paid as u64
    }
}

/// Runs a plan inside its call.
#[tool]
async fn hold(desk: &Desk, #[context] context: CallContext) -> Result<u64> {
    Ok(Held {}.run(desk).inside(&context).await?)
}

plan! {
    HeldAgain() -> u64 {
        #[retry(2, backoff = "0s")]
        step block = {
            #[retry(2, backoff = "0s")]
            step held = Hold {};
            #[always]
            step told = Note { n: 3 };
            held
        };
        block
    }
}

/// A worker makes each attempt of a call separately. The call contains the counts of the attempts before.
#[test]
fn what_was_undone_inside_a_call_has_new_keys() {
    for crash in 0.. {
        let (kept, desk) = (Kept::new(), Desk::default());
        let mut lives = 0;
        let result = play(
            &kept,
            || HeldAgain {}.run(&desk).id("run").engine(kept.clone()),
            &mut || {
                lives += 1;
                if lives == 1 { crash } else { usize::MAX }
            },
            &mut |open| perform(&desk, &[], open),
        );
        assert!(result.is_err());
        let noted = desk.noted.lock().unwrap();
        assert_eq!(desk.calls.load(Ordering::SeqCst), 14);
        assert_eq!(noted.len(), 14, "{noted:#?}");
        if lives == 1 {
            break;
        }
    }
}

/// A report without its times.
fn timeless(report: impl serde::Serialize) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(members) => {
                let times = [
                    "started_at",
                    "started_ms",
                    "duration_ms",
                    "critical_path",
                    "critical_path_ms",
                ];
                times.iter().for_each(|name| drop(members.remove(*name)));
                members.values_mut().for_each(walk);
            }
            Value::Array(elements) => elements.iter_mut().for_each(walk),
            _ => {}
        }
    }
    let mut report = serde_json::to_value(report).unwrap();
    walk(&mut report);
    report
}

plan! {
    Calm() -> Vec<u64> {
        step first = Note { n: 3 };
        step each = for n in [first.0, 4] { if n == 4 { Note { n } } };
        step computed = Note { n: first.0.pow(2) };
        #[retry(4, backoff = "1ms")]
        step tried = Flaky { attempts: 3 };
        #[catch]
        step fell = Fall {};
        step sum: u64 = each.iter().flatten().map(|it| it.0).sum();
        [first.0, tried as u64, sum, fell.is_err() as u64, computed.0]
    }
}

#[test]
fn a_report_is_that_of_a_run_here_but_for_its_times() {
    fn told<O>(run: Run<'_, Desk, O>) -> plan_runtime::run::WithReport<'_, Desk, O> {
        run.id("run")
            .capture_arguments(true)
            .capture_outputs(true)
            .with_report()
    }
    let desk = Desk::default();
    let (output, here) = smol::block_on(told(Calm {}.run(&desk)));
    for crash in [0, 3, 8, usize::MAX] {
        let kept = Kept::new();
        let mut crashes = vec![usize::MAX, crash];
        let (same, there) = play(
            &kept,
            || told(Calm {}.run(&desk).engine(kept.clone())),
            &mut || crashes.pop().unwrap(),
            &mut |open| perform(&desk, &[], open),
        );
        assert_eq!(same.unwrap(), *output.as_ref().unwrap());
        // The engine keeps the report, which a crash after that makes once more.
        kept.crash();
        let (_, again) = play(
            &kept,
            || told(Calm {}.run(&desk).engine(kept.clone())),
            &mut || usize::MAX,
            &mut |_| panic!("something is asked for again"),
        );
        let text = |report| serde_json::to_string(report).unwrap();
        assert_eq!(there.started_at(), UNIX_EPOCH);
        assert_eq!(text(&again), text(&there));
        assert_eq!(timeless(there), timeless(&here));
    }
}

#[test]
fn what_an_engine_does_not_know_is_refused() {
    let (desk, kept) = (Desk::default(), Kept::new());
    let throttle = plan_runtime::run::Throttle::new().concurrency("*", 1);
    let run = Saga {}
        .run(&desk)
        .durable(&plan_runtime::journal::Memory::new(), "r")
        .throttle(&throttle)
        .engine(kept);
    let error = smol::block_on(run).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `saga` cannot start: it is durable, but the engine already stores its state; it has a throttle, which counts only the calls of one process; limit the concurrency of the run, or give the workers a throttle"
    );
}

#[test]
fn what_a_worker_cannot_do_is_an_outcome() {
    let call = |tool: &str, arguments: Value| {
        let call = serde_json::json!({"tool": tool, "arguments": arguments, "run": "r", "plan": "p", "step": "s", "path": "s", "lasting": "s", "attempt": 1});
        let call = serde_json::from_value(call).unwrap();
        let outcome = smol::block_on(toolbox().perform(call, &Desk::default()));
        serde_json::to_value(&outcome).unwrap()["error"]["texts"][0].clone()
    };
    assert_eq!(
        call("nothing", Value::Null),
        "this worker has no tool `nothing`: add it to its toolbox"
    );
    assert_eq!(call("fall", serde_json::json!({})), "it fell over");
    let error = call("note", serde_json::json!({"m": 1}));
    assert!(
        error.as_str().unwrap().contains("missing field `n`"),
        "{error}"
    );
}

plan! {
    Wide(items: Vec<u64>) -> u64 {
        step a = Note { n: 1 };
        step trip = { step b = Note { n: a.0 }; #[undo(b)] step ub = Note { n: 12 }; step c = Note { n: 2 }; b };
        #[concurrency(2)]
        step each = for n in items { if n > 1 { Note { n } } };
        #[retry(3, backoff = "1s")]
        #[timeout("3s")]
        step tried = Flaky { attempts: 2 };
        #[at_most(3)]
        step rounds = loop |last| { step seen = Note { n: last.unwrap_or(0) + 1 }; step sum: u64 = seen.0; sum } while sum < 2;
        step reply: u64 = await;
        #[after(trip, each, tried, rounds, reply)]
        step fell = Fall {};
        #[always]
        step told = Note { n: 20 };
        fell
    }
}

/// A run of an engine resumes only if it sends equal requests in the same order. A change of this test needs a change of `ENGINE_VERSION`.
#[test]
fn what_is_asked_for_is_the_same_as_in_the_last_version() {
    let (desk, kept) = (Desk::default(), Kept::new());
    let run = || {
        Wide {
            items: vec![1, 2, 3, 4],
        }
        .run(&desk)
        .id("run")
        .engine(kept.clone())
    };
    let values = [("reply", Value::from(5))];
    let result = play(&kept, run, &mut || usize::MAX, &mut |open| {
        perform(&desk, &values, open)
    });
    assert!(result.is_err());
    let asked = kept.state().asked.join("\n");
    let expected = include_str!("engine_asks.txt");
    assert_eq!(asked, expected.trim_end());
    assert_eq!(plan_runtime::run::ENGINE_VERSION, 3);
}

plan! {
    Late() -> u64 {
        step a = Note { n: 1 };
        #[undo(a)]
        step ua = Note { n: a.0 + 10 };
        step late = Hang {};
        #[always]
        step told = Note { n: 20 };
        late + a.0
    }
}

#[test]
fn a_deadline_and_its_grace_are_the_engines() {
    for came in crashed(
        |desk| Late {}.run(desk).deadline(Duration::from_secs(5)),
        &[],
    ) {
        let error = came.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Deadline, "{error}");
        assert_eq!(error.undone().collect::<Vec<_>>(), ["a"]);
    }
}

/// Gives numbers, in some order.
#[tool]
async fn numbers(from: u64) -> Result<HashSet<u64>> {
    Ok((from..from + 30).collect())
}

/// Counts numbers.
#[tool]
async fn measure(numbers: HashSet<u64>) -> Result<u64> {
    Ok(numbers.len() as u64)
}

/// Measures a text.
#[tool]
async fn length(text: String) -> Result<u64> {
    Ok(text.len() as u64)
}

plan! {
    OfSet(numbers: HashSet<u64>) -> HashSet<u64> {
        step size = Measure { numbers };
        step each = for n in numbers { Note { n } };
        #[after(size, each)]
        step made = Numbers { from: 100 };
        made
    }
}

plan! {
    WithSets(numbers: HashSet<u64>) -> u64 {
        step copied: HashSet<u64> = numbers;
        step size = Measure { numbers: copied };
        step inner = OfSet { numbers };
        step inner_size = Measure { numbers: inner };
        step code = OfSet { numbers: numbers.iter().copied().collect() };
        step code_size = Measure { numbers: code };
        step sent: HashSet<u64> = await;
        step sent_size = Measure { numbers: sent };
        size + inner_size + code_size + sent_size
    }
}

/// A set has another order whenever it is made, and a run is to ask for the same.
#[test]
fn sets_have_the_order_that_they_had() {
    let info = {
        let journal = plan_runtime::journal::Memory::new();
        let numbers = (0..30).collect();
        smol::block_on(WithSets { numbers }.submit(&journal, "run")).unwrap();
        let run = smol::block_on(plan_runtime::journal::Journal::look(&journal, "run"));
        run.unwrap().unwrap().info.unwrap()
    };
    let toolbox: &'static Toolbox<Desk> = Box::leak(Box::new(toolbox().with::<WithSets>()));
    let submitted = &*Box::leak(Box::new(toolbox.submitted(&info).unwrap()));
    let values = [("sent", serde_json::json!((0..30).collect::<Vec<u64>>()))];
    for came in crashed(|desk| submitted.run(desk), &values) {
        assert_eq!(came.unwrap(), 120);
    }
}

plan! {
    Oversized() -> (Option<String>, Option<u64>, u64, Option<u64>) {
        step held = Note { n: 1 };
        #[undo(held)]
        step back = Note { n: 2 };
        #[after(held)]
        #[optional]
        step text: String = "x".repeat(2000 + count() as usize % 2);
        #[after(held)]
        #[optional]
        step size = Length { text: "y".repeat(2000) };
        #[fallback("z".repeat(2000).len() as u64)]
        step fell = Fall {};
        #[optional]
        step some = for n in vec![1u64; 2000] { Note { n } };
        (text, size, fell, some.map(|some| some.len() as u64))
    }
}

plan! {
    OversizedOutput() -> String {
        step held = Note { n: 1 };
        #[undo(held)]
        step back = Note { n: 2 };
        "x".repeat(2000 + held.0 as usize)
    }
}

#[test]
fn a_decision_that_is_not_kept_is_an_error_of_its_step() {
    for came in crashed(|desk| Oversized {}.run(desk), &[]) {
        assert_eq!(came.unwrap(), (None, None, 2000, None));
    }
    for came in crashed(|desk| OversizedOutput {}.run(desk), &[]) {
        let error = came.unwrap_err();
        assert!(
            error.to_string().contains("it is too large to be kept"),
            "{error}"
        );
        assert_eq!(error.undone().collect::<Vec<_>>(), ["held"]);
    }
}
