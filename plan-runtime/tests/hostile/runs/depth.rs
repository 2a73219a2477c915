//! Runs inside of runs.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::RunErrorKind;
use plan_runtime::{Error, Result, RunError, plan, tool};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

plan! {
    Descend(left: u64, base: u64) -> Option<u64> {
        step below = if left > 0 { Step { left: left - 1, base } };
        below
    }
}

/// Runs the plan again, which is how one calls itself.
#[tool(name = "step")]
async fn step(left: u64, base: u64) -> Result<u64> {
    if left < base {
        return Err(Error::permanent("there is no ground"));
    }
    // Boxed, or its type would contain itself.
    Box::pin(async move {
        let below = Descend { left, base }.run(&()).await?;
        Ok(below.unwrap_or(0) + 1)
    })
    .await
}

/// Runs on a thread with the smallest common default stack.
fn on_a_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(run).unwrap().join().unwrap()
}

fn descend(left: u64, base: u64) -> Result<Option<u64>, RunError> {
    on_a_small_stack(move || smol::block_on(Descend { left, base }.run(&())))
}

const DEEPEST: u64 = 64;

#[test]
fn a_plan_may_call_itself_so_deep() {
    assert_eq!(descend(DEEPEST - 1, 0).unwrap(), Some(DEEPEST - 1));
}

#[test]
fn deeper_is_an_error_that_names_the_plan() {
    for depth in [DEEPEST, 700, u64::MAX] {
        let error = descend(depth, 0).unwrap_err();
        assert!(error.is_permanent());
        let text = error.to_string();
        let expected = "plan `descend` is nested too deeply: 64 plans are already inside each other, the maximum; \
            end the recursion earlier, or write a loop in a tool";
        assert!(text.ends_with(expected), "{text}");
        assert!(text.len() < 10_000, "{}", text.len());
        assert!(format!("{error:?}").len() < 10_000);
    }
}

#[test]
fn the_text_of_an_error_is_written_once() {
    // Each error writes itself and its causes, and each of those does.
    let error = descend(DEEPEST - 1, 1).unwrap_err();
    assert!(error.to_string().ends_with("there is no ground"));
    let error = Error::new(error).context("descending");
    assert!(format!("{error:#}").ends_with("there is no ground"));
    assert!(format!("{error:?}").contains("there is no ground"));
}

/// A typical error: its message contains its cause, which is also its source.
#[derive(Debug)]
struct Lost(RunError);

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "lost: {}", self.0)
    }
}

impl std::error::Error for Lost {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

plan! {
    Wander(left: u64) -> u64 {
        step on = Walk { left };
        on
    }
}

#[tool]
async fn walk(left: u64) -> Result<u64> {
    Box::pin(async move { Ok(Wander { left: left + 1 }.run(&()).await.map_err(Lost)?) }).await
}

#[test]
fn errors_that_write_their_causes_do_not_double() {
    let error = on_a_small_stack(|| smol::block_on(Wander { left: 0 }.run(&()))).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("plan `wander` is nested too deep"), "{text}");
    assert!(text.len() < 20_000, "{}", text.len());
}

/// Runs the plan a hundred times, one after the other.
#[tool]
async fn repeat(times: u64) -> Result<u64> {
    for _ in 0..times {
        Box::pin(Descend { left: 1, base: 0 }.run(&())).await?;
    }
    Ok(times)
}

#[tool]
async fn stumble() -> Result<u64> {
    panic!("stumbled")
}

plan! {
    Fall() -> u64 {
        step down = Stumble {};
        down
    }
}

#[tool]
async fn push() -> Result<u64> {
    Ok(Fall {}.run(&()).await?)
}

#[test]
fn runs_beside_each_other_and_runs_that_panicked_do_not_count() {
    on_a_small_stack(|| {
        let many = plan! {
            step times = for n in [100, 100, 100] { Repeat { times: n } };
            times
        };
        assert_eq!(smol::block_on(many.run(&())).unwrap(), [100, 100, 100]);
        let pushed = plan! { step a = Push {}; a };
        for _ in 0..100 {
            smol::block_on(pushed.run(&())).unwrap_err();
        }
        let left = DEEPEST - 1;
        smol::block_on(Descend { left, base: 0 }.run(&())).unwrap();
    });
}

type Boxed = Pin<Box<dyn Future<Output = Result<u64, RunError>> + Send>>;

static ELSEWHERE: Mutex<Option<Boxed>> = Mutex::new(None);

#[tool]
async fn never() -> Result<u64> {
    std::future::pending().await
}

plan! {
    Wait() -> u64 {
        step never = Never {};
        never
    }
}

plan! {
    Carry(left: u64) -> String {
        step inside = Inside { left };
        inside
    }
}

/// Polls, at the bottom, a run that began at the top.
#[tool]
async fn inside(left: u64) -> Result<String> {
    if left > 0 {
        return Ok(Box::pin(async move { Carry { left: left - 1 }.run(&()).await }).await?);
    }
    let mut run = ELSEWHERE.lock().unwrap().take().unwrap();
    let result = poll_fn(move |cx| Poll::Ready(run.as_mut().poll(cx))).await;
    Ok(match result {
        Poll::Ready(result) => result.unwrap_err().to_string(),
        Poll::Pending => "it waits".to_owned(),
    })
}

#[test]
fn a_run_that_began_elsewhere_ends_where_it_is_too_deep() {
    let carry = |left| {
        on_a_small_stack(move || {
            let mut run: Boxed = Box::pin(Wait {}.run(&()));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(run.as_mut().poll(&mut cx).is_pending());
            *ELSEWHERE.lock().unwrap() = Some(run);
            smol::block_on(Carry { left }.run(&())).unwrap()
        })
    };
    assert_eq!(carry(DEEPEST - 2), "it waits");
    let text = carry(DEEPEST - 1);
    assert!(text.starts_with("plan `wait` is nested too deep"), "{text}");
}

plan! {
    Sink(left: u64) -> u64 {
        step below = Below { left };
        below
    }
}

#[tool]
async fn below(left: u64) -> Result<u64> {
    match left {
        0 => std::future::pending().await,
        _ => Box::pin(async move { Ok(Sink { left: left - 1 }.run(&()).await?) }).await,
    }
}

#[test]
fn runs_that_wait_inside_of_each_other_are_dropped() {
    on_a_small_stack(|| {
        let left = DEEPEST - 1;
        let mut run = Box::pin(Sink { left }.run(&()));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(run.as_mut().poll(&mut cx).is_pending());
        drop(run);
    });
}

#[test]
fn a_plan_that_is_read_may_not_call_itself_deeper_either() {
    let plan = super::plan(serde_json::json!([
        {"id": "s", "tool": {"name": "step"}, "arguments": {"object": {"left": 700, "base": 0}}},
    ]));
    let error = on_a_small_stack(move || {
        let tools = Toolbox::<()>::new().with::<Step>();
        smol::block_on(tools.run(&plan, (), &())).unwrap_err()
    });
    assert!(
        error
            .to_string()
            .contains("plan `descend` is nested too deep"),
        "{error}"
    );
}

static FORKS: AtomicUsize = AtomicUsize::new(0);

plan! {
    Fork(left: u64) {
        step one = Forked { left };
        step other = Forked { left };
    }
}

/// Two runs for each run, and neither waits for anything.
#[tool]
async fn forked(left: u64) -> Result<()> {
    FORKS.fetch_add(1, Ordering::Relaxed);
    if left > 0 {
        Box::pin(async move { Fork { left: left - 1 }.run(&()).await }).await?;
    }
    Ok(())
}

/// The outermost run makes 2⁴⁰ calls that never wait within its polls. It still gets turns to notice its end.
#[test]
fn a_recursion_that_branches_ends_with_the_run() {
    let cancel = poll_fn(|_| match FORKS.load(Ordering::Relaxed) {
        ..5_000 => Poll::Pending,
        _ => Poll::Ready(()),
    });
    let run = Fork { left: 40 }.run(&()).cancel_on(cancel);
    assert_eq!(
        smol::block_on(run).unwrap_err().kind(),
        RunErrorKind::Cancelled
    );
    assert!(FORKS.load(Ordering::Relaxed) < 50_000);
}

plan! {
    Count(numbers: Vec<u64>) -> u64 {
        step counted = for number in numbers { Echo { number } };
        counted.len() as u64
    }
}

/// Returns its argument.
#[tool]
async fn echo(number: u64) -> Result<u64> {
    Ok(number)
}

/// Blocks its thread until another run has ended.
#[tool]
async fn block(calls: u64) -> Result<u64> {
    let numbers = (0..calls).collect();
    Ok(smol::block_on(Count { numbers }.run(&()))?)
}

/// The outermost run has no turn before a run in it has ended that its thread waits for.
#[test]
fn a_run_that_is_blocked_on_makes_all_its_calls() {
    let plan = plan! { step counted = Block { calls: 5_000 }; counted };
    assert_eq!(smol::block_on(plan.run(&())).unwrap(), 5_000);
}
