//! The contexts of calls, and the state that plans inside a run share with it.

use plan_runtime::run::{CallContext, ManualTimer, Observer, OnFailure, StepError, StepRef};
use plan_runtime::{Call, Error, Plan, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The numbers of running calls, and of calls that ran concurrently.
#[derive(Default)]
struct Yard {
    running: AtomicUsize,
    most: AtomicUsize,
    calls: AtomicUsize,
    seen: Mutex<Vec<String>>,
}

impl Yard {
    async fn work(&self) {
        struct Leave<'y>(&'y Yard);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.running.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.most.fetch_max(running, Ordering::SeqCst);
        let _leave = Leave(self);
        for _ in 0..3 {
            smol::future::yield_now().await;
        }
    }
}

/// Works, and records the path of its call.
#[tool]
async fn dig(
    yard: &Yard,
    deep: u64,
    #[context]
    #[allow(unused_variables)]
    at: CallContext,
) -> Result<u64> {
    yard.work().await;
    yard.seen.lock().unwrap().push(at.to_string());
    Ok(deep)
}

/// Works.
#[tool]
async fn rest(yard: &Yard) -> Result<u64> {
    yard.work().await;
    Ok(0)
}

plan! {
    Hole(deep: u64) -> u64 {
        step first = Dig { deep };
        step second = for deep in [deep, first] { Dig { deep } };
        second.iter().sum()
    }
}

plan! {
    Field(holes: Vec<u64>) -> Vec<u64> {
        step rested = Rest {};
        step dug = for deep in holes { Hole { deep } };
        dug
    }
}

#[test]
fn a_path_leads_through_the_plans_around_a_call() {
    let yard = Yard::default();
    let dug = smol::block_on(Field { holes: vec![1, 2] }.run(&yard).concurrency(1)).unwrap();
    assert_eq!(dug, [2, 4]);
    let mut seen = yard.seen.into_inner().unwrap();
    seen.sort();
    assert_eq!(
        seen,
        [
            "dug[0].first",
            "dug[0].second[0]",
            "dug[0].second[1]",
            "dug[1].first",
            "dug[1].second[0]",
            "dug[1].second[1]",
        ]
    );
}

#[test]
fn plans_inside_a_run_share_its_bound_on_calls() {
    for limit in 1..8 {
        let yard = Yard::default();
        let holes = (0..6).collect();
        smol::block_on(Field { holes }.run(&yard).concurrency(limit)).unwrap();
        assert_eq!(yard.calls.load(Ordering::SeqCst), 1 + 6 * 3);
        assert_eq!(yard.most.load(Ordering::SeqCst), limit, "of {limit}");
    }
}

/// Runs plans inside it, to this depth.
#[tool]
async fn grow(yard: &Yard, depth: u32, width: u64, #[context] context: CallContext) -> Result<u64> {
    let inner = plan! {
        step leaf = Dig { deep: 1 };
        leaf
    };
    if depth == 0 {
        return Ok(inner.run(yard).inside(&context).await?);
    }
    let branch = Branches {
        depth: depth - 1,
        widths: (0..width).map(|_| width).collect(),
    };
    // Two beside each other, in one call.
    let one = pin!(branch.clone().run(yard).inside(&context));
    let other = pin!(branch.call_in(yard, context.clone()));
    let (one, other) = smol::future::zip(one, other).await;
    Ok(one? + other?)
}

plan! {
    #[derive(Clone)]
    Branches(depth: u32, widths: Vec<u64>) -> u64 {
        step grown = for width in widths { Grow { depth, width } };
        grown.iter().sum()
    }
}

#[test]
fn a_tool_that_runs_plans_never_waits_for_its_own_permit() {
    for limit in 1..4 {
        for (depth, width) in [(1, 1), (2, 2), (3, 1), (2, 3)] {
            let yard = Yard::default();
            let plan = plan! {
                step all = Grow { depth: 0, width: 1 };
                all
            };
            assert_eq!(
                smol::block_on(plan.run(&yard).concurrency(limit)).unwrap(),
                1
            );
            let all = Branches {
                depth,
                widths: vec![width],
            };
            let leaves = smol::block_on(all.run(&yard).concurrency(limit)).unwrap();
            assert_eq!(leaves, (2 * width).pow(depth));
            assert!(yard.most.load(Ordering::SeqCst) <= limit, "of {limit}");
        }
    }
}

/// A run that is dropped at any poll releases its permits to the outer run, which continues.
#[test]
fn a_plan_that_is_dropped_gives_its_permits_back() {
    #[tool]
    async fn impatient(yard: &Yard, polls: usize, #[context] context: CallContext) -> Result<bool> {
        let holes = vec![1; 5];
        let mut run = pin!(Field { holes }.run(yard).inside(&context));
        let mut left = polls;
        Ok(poll_fn(|cx| match run.as_mut().poll(cx) {
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => {
                left -= 1;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Poll::Ready(result) => Poll::Ready(result.is_ok()),
        })
        .await)
    }
    plan! {
        Tries(polls: usize) -> (Vec<bool>, Vec<u64>) {
            step tried = for polls in [polls, polls] { Impatient { polls } };
            #[after(tried)]
            step then = Field { holes: [7, 7] };
            (tried, then)
        }
    }
    let yard = Yard::default();
    let mut finished = 0;
    for polls in (0..40).chain([10_000]) {
        let tries = Tries { polls };
        let (were_patient, then) = smol::block_on(tries.run(&yard).concurrency(2)).unwrap();
        assert_eq!(then, [14, 14]);
        finished += were_patient.iter().filter(|it| **it).count();
    }
    assert!(finished > 0);
    assert!(yard.most.load(Ordering::SeqCst) <= 2);
}

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn plan_started(&self, plan: &Plan) {
        self.0.lock().unwrap().push(plan.name.clone());
    }

    fn attempt_started(&self, step: &StepRef<'_>, attempt: u32) {
        self.0.lock().unwrap().push(format!("{step} {attempt}"));
    }

    fn retrying(&self, step: &StepRef<'_>, _: u32, wait: Duration) {
        let line = format!("{step} waits {} s", wait.as_secs());
        self.0.lock().unwrap().push(line);
    }
}

/// Fails twice.
#[tool]
async fn stumble(_yard: &Yard, #[context] context: CallContext) -> Result<u32> {
    match context.attempt() {
        3 => Ok(3),
        attempt => Err(Error::msg(format!("attempt {attempt}"))),
    }
}

plan! {
    Walk() -> u32 {
        #[retry(3, backoff = "10s", jitter = false)]
        step walked = Stumble {};
        walked
    }
}

#[test]
fn plans_inside_a_run_have_its_timer_and_its_observers() {
    let (yard, timer, log) = (
        Yard::default(),
        ManualTimer::new(),
        Arc::new(Log::default()),
    );
    let plan = plan! { step there = Walk {}; there };
    let run = plan.run(&yard).timer(timer.clone()).observe(log.clone());
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), 3);
    assert_eq!(timer.elapsed(), Duration::from_secs(30));
    assert_eq!(
        *log.0.lock().unwrap(),
        [
            "plan",
            "there 1",
            "there.walked 1",
            "there.walked waits 10 s",
            "there.walked 2",
            "there.walked waits 20 s",
            "there.walked 3",
        ]
    );
}

#[test]
fn the_seed_of_a_run_is_that_of_the_plans_inside_it() {
    plan! {
        Twice() -> (u32, u32) {
            #[retry(3, backoff = "10s")]
            step walked = Stumble {};
            #[retry(3, backoff = "10s")]
            step again = Stumble {};
            (walked, again)
        }
    }
    let yard = Yard::default();
    let took = |seed| {
        let timer = ManualTimer::new();
        let plan = plan! { step one = Twice {}; step other = Twice {}; (one, other) };
        let run = plan.run(&yard).timer(timer.clone()).seed(seed);
        smol::block_on(timer.skip_waits(run)).unwrap();
        timer.elapsed()
    };
    assert_eq!(took(7), took(7));
    assert_ne!(took(7), took(8));
}

/// Fails if `fail` is true.
#[tool]
async fn maybe(yard: &Yard, fail: bool) -> Result<u64> {
    yard.work().await;
    if fail {
        return Err(Error::permanent("no"));
    }
    Ok(1)
}

plan! {
    Both() -> u64 {
        step bad = Maybe { fail: true };
        step good = Maybe { fail: false };
        step last = for fail in [good == 0] { Maybe { fail } };
        bad + last[0]
    }
}

#[test]
fn what_a_failure_means_is_the_same_in_plans_inside() {
    let calls = |on_failure| {
        let yard = Yard::default();
        let plan = plan! { step both = Both {}; both };
        smol::block_on(plan.run(&yard).on_failure(on_failure)).unwrap_err();
        yard.calls.load(Ordering::SeqCst)
    };
    assert_eq!(calls(OnFailure::Stop), 2);
    assert_eq!(calls(OnFailure::Continue), 3);
}

#[test]
fn the_earliest_time_limit_around_a_call_is_its_deadline() {
    #[derive(Default)]
    struct Clock(Mutex<Vec<Option<Duration>>>);

    #[tool]
    async fn look(clock: &Clock, #[context] context: CallContext) -> Result<()> {
        let left = context
            .deadline()
            .map(|end| end.saturating_duration_since(std::time::Instant::now()));
        clock.0.lock().unwrap().push(left);
        Ok(())
    }

    plan! {
        Looks() -> () {
            step free = Look {};
            #[after(free)]
            #[timeout("5s")]
            step limited = Look {};
            limited
        }
    }

    let seconds = |limit: Option<u64>| {
        let clock = Clock::default();
        let plan = plan! {
            step alone = Look {};
            #[after(alone)]
            step inside = Looks {};
            #[after(inside)]
            #[deadline("20s")]
            step late = Looks {};
            late
        };
        let run = plan.run(&clock);
        let run = match limit {
            Some(limit) => run.deadline(Duration::from_secs(limit)),
            None => run,
        };
        smol::block_on(run).unwrap();
        let seen = clock.0.into_inner().unwrap();
        let rounded =
            |left: Option<Duration>| left.map(|left| (left + Duration::from_millis(999)).as_secs());
        seen.into_iter().map(rounded).collect::<Vec<_>>()
    };
    assert_eq!(seconds(None), [None, None, Some(5), Some(20), Some(5)]);
    assert_eq!(
        seconds(Some(9)),
        [Some(9), Some(9), Some(5), Some(9), Some(5)]
    );
}

#[test]
fn what_a_call_started_elsewhere_learns_that_it_was_dropped() {
    /// Keeps its context, and never ends unless `ends` is true.
    #[tool]
    async fn leave(
        kept: &Mutex<Option<CallContext>>,
        ends: bool,
        #[context] context: CallContext,
    ) -> Result<()> {
        *kept.lock().unwrap() = Some(context);
        if !ends {
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    let kept = Mutex::new(None);
    let plan = plan! { step left = Leave { ends: true }; left };
    smol::block_on(plan.run(&kept)).unwrap();
    let ended = kept.lock().unwrap().take().unwrap();
    assert!(!ended.is_cancelled());

    let plan = plan! { step left = Leave { ends: false }; left };
    let mut run = Box::pin(plan.run(&kept));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    let context = kept.lock().unwrap().take().unwrap();
    assert!(!context.is_cancelled());
    let waiting = context.clone();
    let waiting = std::thread::spawn(move || smol::block_on(waiting.cancelled()));
    drop(run);
    assert!(context.is_cancelled());
    waiting.join().unwrap();
}

#[test]
fn a_run_has_an_id_that_plans_inside_it_share() {
    #[tool]
    async fn name(#[context] context: CallContext) -> Result<String> {
        Ok(context.run_id().to_owned())
    }
    plan! {
        Inner() -> String { step named = Name {}; named }
    }
    let plan = plan! {
        step one = Name {};
        step other = Inner {};
        (one, other)
    };
    let (one, other) = smol::block_on(plan.run(&()).id("order-7")).unwrap();
    assert_eq!([one, other], ["order-7", "order-7"]);
    let (one, other) = smol::block_on(plan.run(&())).unwrap();
    assert_eq!(one, other);
    assert!(one.len() == 32 && one.chars().all(|digit| digit.is_ascii_hexdigit()));
    assert_ne!(one, smol::block_on(plan.run(&())).unwrap().0);
}

#[test]
fn a_tool_can_be_called_outside_of_a_run() {
    let context = CallContext::default();
    assert_eq!(context.to_string(), "");
    assert_eq!(
        (context.run_id(), context.plan(), context.step()),
        ("", "", "")
    );
    assert_eq!((context.attempt(), context.deadline()), (1, None));
    assert!(context.element().is_empty() && context.outer().is_none());
    assert!(!context.is_cancelled());
    let yard = Yard::default();
    assert_eq!(smol::block_on(Dig { deep: 4 }.call(&yard)).unwrap(), 4);
    assert_eq!(smol::block_on(Hole { deep: 4 }.call(&yard)).unwrap(), 8);
    assert_eq!(
        smol::block_on(Hole { deep: 4 }.call_in(&yard, context)).unwrap(),
        8
    );
    assert_eq!(yard.seen.into_inner().unwrap()[..2], ["", "first"]);
}

#[test]
fn a_tool_that_is_a_plan_says_so() {
    assert_eq!(<Hole as Tool>::PLAN.unwrap().name, "hole");
    assert!(Dig::PLAN.is_none());
    const { assert!(!<Rest as Call<Yard>>::USES_CONTEXT) };
    const { assert!(<Dig as Call<Yard>>::USES_CONTEXT) };
}

/// A tool with a hand-written implementation gets a context if the implementation requests it.
#[test]
fn an_implementation_by_hand_gets_the_context() {
    #[derive(Serialize, Deserialize, Shape, Tool)]
    #[tool(output = String)]
    struct Where {}

    impl Call<()> for Where {
        async fn call(self, (): &()) -> Result<String> {
            Ok("nowhere".into())
        }

        async fn call_in(self, (): &(), context: CallContext) -> Result<String> {
            Ok(format!("{}/{context}", context.plan()))
        }
    }

    let plan = plan! {
        step all = for _ in [(), ()] { Where {} };
        all
    };
    assert_eq!(
        smol::block_on(plan.run(&())).unwrap(),
        ["plan/all[0]", "plan/all[1]"]
    );
}

#[test]
fn a_step_that_fails_inside_says_so() {
    let yard = Yard::default();
    let plan = plan! { step both = Both {}; both };
    let error = smol::block_on(plan.run(&yard)).unwrap_err();
    let StepError::Tool(_) = error.failures()[0].error() else {
        panic!("{error}")
    };
    assert_eq!(
        error.to_string(),
        "plan `plan` failed: step `both.bad` (maybe): no"
    );
}
