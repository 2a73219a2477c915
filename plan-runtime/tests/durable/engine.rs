//! Runs whose calls an engine makes: they begin anew after each crash, ask for the same in the same order, and end as a run does that makes its calls itself.

use super::random::{Case, Maker, World, cases, hash, start, told};
use super::support::Driven;
use fastrand::Rng;

use plan_runtime::Run;
use plan_runtime::plan::Executable;
use plan_runtime::resolve::StoredValue;
use plan_runtime::run::{CallOutcome, Engine, EngineCall, EngineFuture, Sleep, Timer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// An engine in memory. What it keeps survives the runs.
#[derive(Clone)]
struct Kept(Arc<Mutex<State>>);

struct State {
    base: Instant,
    /// What was asked for in the first life, in its order, and how far this life is.
    asked: Vec<String>,
    asks: usize,
    /// What has happened, by the number of what was asked for, and when that was.
    happened: Vec<(usize, Happened, Duration)>,
    /// How much of it this life was told.
    told: usize,
    now: Duration,
    /// What was decided, and in which poll.
    decided: BTreeMap<String, (usize, String)>,
    open: BTreeMap<usize, Open>,
    calls: Vec<String>,
}

#[derive(Clone, Debug)]
enum Happened {
    Outcome(CallOutcome),
    Over,
    Value(Value),
}

struct Open {
    what: Asked,
    slot: Slot,
}

enum Asked {
    Call(EngineCall),
    Sleep(Duration),
    Value(String),
}

type Slot = Arc<Mutex<(Option<Happened>, Option<Waker>)>>;

/// What was asked for, until it has happened. Nobody waits for it any more once it is dropped.
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
            calls: Vec::new(),
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

    /// A crash: the next run begins anew.
    fn crash(&self) {
        let mut state = self.state();
        state.asks = 0;
        state.told = 0;
        state.now = Duration::ZERO;
        assert!(state.open.is_empty(), "the run still waits for something");
    }

    /// Tells the run the next thing that has happened. `make` decides what that is if nothing is left to tell.
    fn go_on(&self, make: &mut dyn FnMut(&BTreeMap<usize, Open>) -> Option<(usize, Happened)>) {
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
        // Nobody may wait for it any more: that is no event for the run.
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

    fn sleep(&self, duration: Duration) -> Sleep {
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

    fn call(&self, call: EngineCall) -> EngineFuture<CallOutcome> {
        let text = format!("call {} {} {}", path(&call), call.tool(), call.arguments());
        let waits = self.ask(text, Asked::Call(call));
        Box::pin(async move {
            match waits.await {
                Happened::Outcome(outcome) => outcome,
                other => panic!("a call gave {other:?}"),
            }
        })
    }

    fn recall(&self, key: &str) -> Option<String> {
        let state = self.state();
        let (poll, decision) = state.decided.get(key)?;
        assert_eq!(*poll, state.told, "{key} is decided in another poll");
        Some(decision.clone())
    }

    fn remember(&self, key: String, decision: String) {
        let mut state = self.state();
        let poll = state.told;
        let before = state.decided.insert(key.clone(), (poll, decision));
        assert!(before.is_none(), "{key} is decided twice");
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

/// Runs to the end, where the run crashes after so many polls and events each time.
fn play<O>(
    kept: &Kept,
    run: impl Fn() -> O,
    crashes: &mut dyn FnMut() -> usize,
    make: &mut dyn FnMut(&BTreeMap<usize, Open>) -> Option<(usize, Happened)>,
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

impl Case<'_> {
    fn run_on(&self, kept: &Kept) -> Run<'_, World<'_>, Value> {
        let inputs = Ok(Vec::<StoredValue>::new());
        Run::<World<'_>, Value>::new(self.plan, inputs, &self.world, start)
            .on_failure(self.on_failure)
            .concurrency(self.concurrency)
            .id("run")
            .on_engine(kept.clone())
    }

    /// The call ends whose turn it is, as it would in this process.
    fn next(&self, kept: &Kept, open: &BTreeMap<usize, Open>) -> Option<(usize, Happened)> {
        let calls = open.iter().filter_map(|(number, open)| match &open.what {
            Asked::Call(call) => Some((*number, call)),
            Asked::Sleep(_) | Asked::Value(_) => None,
        });
        let next = calls.min_by_key(|(_, call)| hash(self.world.seed, &path(call)));
        let (number, call) = next?;
        let _ = kept;
        let outcome = match self.world.outcome(&path(call)) {
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
        failed += usize::from(here.is_err());
        for _ in 0..4 {
            let kept = Kept::new();
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
                &mut |open| case.next(&kept, open),
            );
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
