//! Limits on the calls of tools, shared by all runs.

use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::run::{CallContext, Decision, Gate, ManualTimer, PendingCall, Throttle, Timer};
use plan_runtime::{Error, Result, plan, tool};
use serde_json::{Value, json};
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// A service that records the times of its calls, and the number of concurrent calls.
struct Service {
    timer: ManualTimer,
    starts: Mutex<Vec<Duration>>,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Service {
    fn new() -> Self {
        Self {
            timer: ManualTimer::new(),
            starts: Mutex::default(),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }
    }

    fn starts(&self) -> Vec<Duration> {
        self.starts.lock().unwrap().clone()
    }

    /// No period has more starts.
    fn keeps(&self, calls: usize, period: Duration) -> bool {
        let starts = self.starts();
        starts
            .windows(calls + 1)
            .all(|some| some[calls] >= some[0] + period)
    }
}

/// Is a call that takes this many milliseconds.
#[tool(name = "service.get")]
async fn get(service: &Service, millis: u64) -> Result<u64> {
    struct Running<'s>(&'s Service);
    impl Drop for Running<'_> {
        fn drop(&mut self) {
            self.0.running.fetch_sub(1, Ordering::SeqCst);
        }
    }
    service.starts.lock().unwrap().push(service.timer.elapsed());
    let running = service.running.fetch_add(1, Ordering::SeqCst) + 1;
    service.most.fetch_max(running, Ordering::SeqCst);
    let _running = Running(service);
    service.timer.sleep(Duration::from_millis(millis)).await;
    Ok(millis)
}

/// Is a call that nothing limits.
#[tool]
async fn free() -> Result<u64> {
    Ok(0)
}

/// Is busy until 90 s have passed.
#[tool(name = "service.busy")]
async fn busy(service: &Service) -> Result<u64> {
    service.starts.lock().unwrap().push(service.timer.elapsed());
    match Duration::from_secs(90).checked_sub(service.timer.elapsed()) {
        Some(left) if !left.is_zero() => Err(Error::msg("busy").retry_after(left)),
        _ => Ok(1),
    }
}

plan! {
    Fetch(millis: Vec<u64>) -> u64 {
        step all = for millis in millis { Get { millis } };
        all.iter().sum()
    }
}

plan! {
    FetchAll(pages: Vec<Vec<u64>>) -> u64 {
        step all = for millis in pages { Fetch { millis } };
        all.iter().sum()
    }
}

fn ended<T>(service: &Service, run: impl Future<Output = T>) -> T {
    smol::block_on(service.timer.skip_waits(run))
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn calls_run_concurrently_and_start_as_often_as_they_may() {
    for (concurrency, calls) in [(1, 100), (3, 100), (100, 1), (100, 7), (2, 3)] {
        let service = Service::new();
        let throttle = Throttle::new().concurrency("service.*", concurrency).rate(
            "service.get",
            calls,
            SECOND,
        );
        let fetch = Fetch {
            millis: (0..40).map(|i| i * 37 % 400).collect(),
        };
        let expected: u64 = fetch.millis.iter().sum();
        let run = fetch
            .run(&service)
            .throttle(&throttle)
            .timer(service.timer.clone());
        assert_eq!(ended(&service, run).unwrap(), expected);
        assert_eq!(service.starts().len(), 40);
        assert!(service.most.load(Ordering::SeqCst) <= concurrency);
        assert!(
            service.keeps(calls, SECOND),
            "{calls}: {:?}",
            service.starts()
        );
        if calls == 7 {
            // No slower than it needs to be: 40 calls are five periods and a beginning.
            assert!(service.timer.elapsed() < 6 * SECOND);
        }
    }
}

#[test]
fn runs_share_what_they_were_given() {
    let service = Service::new();
    let throttle = Throttle::new().concurrency("*", 2).rate("*", 5, SECOND);
    let fetch = || {
        Fetch {
            millis: vec![100; 10],
        }
        .run(&service)
        .throttle(&throttle)
        .timer(service.timer.clone())
    };
    let three = smol::future::zip(fetch(), smol::future::zip(fetch(), fetch()));
    let (one, (two, three)) = ended(&service, three);
    assert_eq!(one.unwrap() + two.unwrap() + three.unwrap(), 3000);
    assert_eq!(service.most.load(Ordering::SeqCst), 2);
    assert!(service.keeps(5, SECOND));
}

/// Runs a plan inside the run, with the same throttle once more.
#[tool]
async fn inside(service: &Service, #[context] context: CallContext) -> Result<u64> {
    let again = Throttle::new().concurrency("service.*", 1);
    let run = Fetch { millis: vec![1, 2] }.run(service).inside(&context);
    Ok(run.throttle(&again).throttle(&again).await?)
}

#[test]
fn plans_inside_share_it_and_do_not_wait_for_themselves() {
    let service = Service::new();
    // The plan inside is a named tool as well.
    let throttle = Throttle::new().concurrency("*", 1);
    let all = FetchAll {
        pages: vec![vec![5, 6], vec![7], vec![]],
    };
    let run = all
        .run(&service)
        .throttle(&throttle)
        .timer(service.timer.clone());
    assert_eq!(ended(&service, run).unwrap(), 18);
    assert_eq!(service.most.load(Ordering::SeqCst), 1);

    let plan = plan! { step a = Inside {}; step b = Inside {}; a + b };
    let run = plan
        .run(&service)
        .throttle(&throttle)
        .timer(service.timer.clone());
    assert_eq!(ended(&service, run).unwrap(), 6);
    assert_eq!(service.most.load(Ordering::SeqCst), 1);
}

#[test]
fn other_calls_do_not_wait_for_throttled_ones() {
    let service = Service::new();
    let throttle = Throttle::new().rate("service.get", 1, Duration::from_secs(10));
    let plan = plan! {
        step slow = for millis in 0_u64..200 { Get { millis } };
        step quick = Free {};
        step after = for _ in [quick; 200] { Free {} };
        slow.len() + after.len()
    };
    let mut run = pin!(
        plan.run(&service)
            .throttle(&throttle)
            .timer(service.timer.clone())
            .concurrency(2)
            .with_report()
    );
    for _ in 0..50 {
        assert!(
            run.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
    }
    let (result, report) = ended(&service, run);
    assert_eq!(result.unwrap(), 400);
    let ended = |step: &str| report.step(step).unwrap().ended().unwrap();
    assert!(ended("after") < SECOND, "{:?}", ended("after"));
    assert!(ended("slow") >= 199 * 10 * SECOND);
}

#[test]
fn a_run_that_is_dropped_keeps_no_place() {
    let service = Service::new();
    let throttle = Throttle::new()
        .concurrency("service.get", 2)
        .rate("service.get", 4, SECOND);
    for polls in 0..6 {
        let mut run = Box::pin(
            Fetch {
                millis: vec![1000; 9],
            }
            .run(&service)
            .throttle(&throttle)
            .timer(service.timer.clone()),
        );
        for _ in 0..polls {
            assert!(
                run.as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_pending()
            );
        }
    }
    let before = service.timer.elapsed();
    let run = Fetch {
        millis: vec![10; 3],
    }
    .run(&service)
    .throttle(&throttle)
    .timer(service.timer.clone());
    assert_eq!(ended(&service, run).unwrap(), 30);
    assert!(service.timer.elapsed() < before + 5 * SECOND);
    assert!(service.keeps(4, SECOND));
}

/// Is set when a run is woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A run as a task of its own, which is polled only if somebody wakes it.
struct Task<'s> {
    run: Pin<Box<dyn Future<Output = ()> + 's>>,
    woken: Arc<Woken>,
}

impl<'s> Task<'s> {
    fn new(run: impl Future<Output = ()> + 's) -> Self {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        Self {
            run: Box::pin(run),
            woken,
        }
    }

    /// Polls the run if it is woken, and returns `true` if it was.
    fn poll(&mut self) -> bool {
        let is_woken = self.woken.0.swap(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.woken));
        let run = self.run.as_mut();
        is_woken && run.poll(&mut Context::from_waker(&waker)).is_pending()
    }
}

#[test]
fn a_run_that_is_dropped_hands_its_place_on() {
    const RUNS: usize = 4;
    let settle = |tasks: &mut Vec<Option<Task<'_>>>| {
        while tasks.iter_mut().flatten().any(Task::poll) {}
    };
    // All runs but the last of an order are dropped. Between the drops, the other runs may be polled or not.
    let orders = (0..RUNS.pow(3)).map(|it| [it % RUNS, it / RUNS % RUNS, it / RUNS / RUNS]);
    for (order, is_polled) in orders.flat_map(|order| (0..8).map(move |polls| (order, polls))) {
        let service = Service::new();
        let throttle = Throttle::new().concurrency("service.*", 1);
        let fetch = |_| {
            let fetch = Fetch { millis: vec![1000] };
            let run = fetch.run(&service).throttle(&throttle);
            let run = run.timer(service.timer.clone());
            Some(Task::new(async { drop(run.await) }))
        };
        let mut tasks: Vec<Option<Task<'_>>> = (0..RUNS).map(fetch).collect();
        settle(&mut tasks);
        for (at, dropped) in order.into_iter().enumerate() {
            tasks[dropped] = None;
            if is_polled >> at & 1 == 1 {
                settle(&mut tasks);
            }
        }
        settle(&mut tasks);
        let running = service.running.load(Ordering::SeqCst);
        assert_eq!(running, 1, "{order:?} {is_polled:03b}");
    }
}

#[test]
fn a_call_that_fails_or_is_too_late_gives_its_place_back() {
    /// Never ends.
    #[tool(name = "service.hang")]
    async fn hang() -> Result<u64> {
        pending().await
    }
    /// Panics.
    #[tool(name = "service.panic")]
    async fn burst() -> Result<u64> {
        panic!("burst")
    }
    let service = Service::new();
    let throttle = Throttle::new().concurrency("service.*", 1);
    let plan = plan! {
        #[timeout("1s")]
        #[optional]
        step hung = Hang {};
        #[retry(3, backoff = "1s")]
        #[optional]
        step broken = Burst {};
        step fetched = for millis in [1_u64, 2] { Get { millis } };
        (hung, broken, fetched.len())
    };
    let run = plan
        .run(&service)
        .throttle(&throttle)
        .timer(service.timer.clone());
    assert_eq!(ended(&service, run).unwrap(), (None, None, 2));
}

#[test]
fn what_a_server_says_holds_for_all_calls() {
    let service = Service::new();
    let throttle = Throttle::new().concurrency("service.*", 9);
    let plan = plan! {
        #[retry(2, backoff = "1s")]
        step one = Busy {};
        #[after(one)]
        step other = Get { millis: 1 };
        one + other
    };
    let run = plan
        .run(&service)
        .throttle(&throttle)
        .timer(service.timer.clone());
    assert_eq!(ended(&service, run).unwrap(), 2);
    assert_eq!(service.timer.elapsed().as_secs(), 90);

    // Later calls wait with it while it is closed.
    let service = Service::new();
    let throttle = Throttle::new().rate("service.*", 100, SECOND);
    let plan = plan! {
        #[retry(2, backoff = "1s")]
        step one = Busy {};
        one
    };
    let one = plan
        .run(&service)
        .throttle(&throttle)
        .timer(service.timer.clone());
    let two = async {
        service.timer.sleep(30 * SECOND).await;
        plan.run(&service)
            .throttle(&throttle)
            .timer(service.timer.clone())
            .await
    };
    let (one, two) = ended(&service, smol::future::zip(one, two));
    assert_eq!((one.unwrap(), two.unwrap()), (1, 1));
    let starts: Vec<u64> = service.starts().iter().map(Duration::as_secs).collect();
    assert_eq!(starts, [0, 90, 90]);
}

#[test]
fn a_server_cannot_stop_a_run_for_ever() {
    /// Says that the next life is early enough.
    #[tool]
    async fn later(#[context] context: CallContext) -> Result<u64> {
        match context.attempt() {
            1 => Err(Error::msg("later").retry_after(Duration::MAX)),
            _ => Ok(1),
        }
    }
    let timer = ManualTimer::new();
    let plan = plan! {
        #[retry(2)]
        step one = Later {};
        one
    };
    let throttle = Throttle::new().concurrency("*", 1);
    let run = plan.run(&()).throttle(&throttle).timer(timer.clone());
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), 1);
    assert_eq!(timer.elapsed(), Duration::from_secs(3600));
}

#[test]
fn a_toolbox_has_one_for_all_its_runs() {
    let starts = Arc::new(Mutex::new(Vec::new()));
    let timer = ManualTimer::new();
    let (noted, clock) = (Arc::clone(&starts), timer.clone());
    let tools = Toolbox::<()>::new()
        .with_fn(Contract::new("get"), move |_| {
            noted.lock().unwrap().push(clock.elapsed());
            async { Ok(Value::Null) }
        })
        .throttle(Throttle::new().rate("get", 1, SECOND));
    let plan: plan_runtime::Plan = serde_json::from_value(json!({"name": "p", "steps": [
        {"id": "a", "tool": {"name": "get"}}, {"id": "b", "tool": {"name": "get"}},
    ], "output": {"value": null}}))
    .unwrap();
    for _ in 0..2 {
        let run = tools.run(&plan, (), &()).timer(timer.clone());
        smol::block_on(timer.skip_waits(run)).unwrap();
    }
    let starts: Vec<u64> = starts
        .lock()
        .unwrap()
        .iter()
        .map(Duration::as_secs)
        .collect();
    assert_eq!(starts, [0, 1, 2, 3]);
}

#[test]
fn a_gate_comes_before_the_turn() {
    struct Slow(ManualTimer);
    impl Gate for Slow {
        async fn ask(&self, _: PendingCall) -> Decision {
            self.0.sleep(SECOND).await;
            Decision::Allow
        }
    }
    let service = Service::new();
    let throttle = Throttle::new().concurrency("*", 1).rate("*", 1, SECOND);
    let run = Fetch {
        millis: vec![10; 5],
    }
    .run(&service)
    .throttle(&throttle)
    .timer(service.timer.clone());
    assert_eq!(
        ended(&service, run.gate(Slow(service.timer.clone()))).unwrap(),
        50
    );
    // Gates decide on all calls in the first second; then the calls start one by one.
    let starts: Vec<u64> = service.starts().iter().map(Duration::as_secs).collect();
    assert_eq!(starts, [1, 2, 3, 4, 5]);
}

/// Sleeps in real time.
#[tool(name = "real.sleep")]
async fn sleep(state: &AtomicUsize, micros: u64) -> Result<usize> {
    /// A counter that also handles dropped calls.
    struct Running<'s>(&'s AtomicUsize);
    impl Drop for Running<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let running = state.fetch_add(1, Ordering::SeqCst) + 1;
    let _running = Running(state);
    smol::Timer::after(Duration::from_micros(micros)).await;
    Ok(running)
}

plan! {
    Sleeps(micros: Vec<u64>) -> Option<usize> {
        step all = for micros in micros { Sleep { micros } };
        all.iter().max().copied()
    }
}

#[test]
fn runs_on_many_threads_lose_no_turn() {
    let (state, throttle) = (
        AtomicUsize::new(0),
        Throttle::new().concurrency("real.*", 3),
    );
    std::thread::scope(|scope| {
        for seed in 0..8_u64 {
            let (state, throttle) = (&state, &throttle);
            scope.spawn(move || {
                for round in 0..20 {
                    let micros = (0..20)
                        .map(|i| (seed * 7 + round * 13 + i * 31) % 60)
                        .collect();
                    let run = Sleeps { micros }.run(state).throttle(throttle);
                    // Some are dropped on their way.
                    let limit = smol::Timer::after(Duration::from_millis(if round % 4 == 0 {
                        1
                    } else {
                        60_000
                    }));
                    let ended =
                        smol::block_on(smol::future::or(async { Some(run.await) }, async {
                            limit.await;
                            None
                        }));
                    if let Some(most) = ended {
                        assert!(most.unwrap().unwrap() <= 3);
                    } else {
                        assert_eq!(round % 4, 0, "a turn was lost");
                    }
                }
            });
        }
    });
}
