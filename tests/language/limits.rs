//! Limits of a run that apply to the plans inside it.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::{CallContext, Limits, RunErrorKind};
use plan_runtime::{Error, Plan, Result, RunError, plan, tool};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of calls.
#[derive(Default)]
struct App(AtomicUsize);

impl App {
    fn calls(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts.
#[tool]
async fn count(app: &App) -> Result<u64> {
    app.0.fetch_add(1, Ordering::Relaxed);
    Ok(1)
}

/// Fails.
#[tool]
async fn fail(app: &App) -> Result<u64> {
    app.0.fetch_add(1, Ordering::Relaxed);
    Err(Error::msg("busy"))
}

/// Returns a long text after some turns.
#[tool]
async fn write(length: usize, turns: u32) -> Result<String> {
    for _ in 0..turns {
        smol::future::yield_now().await;
    }
    Ok("x".repeat(length))
}

plan! {
    Some3() -> u64 {
        step all = for _ in [1, 2, 3] { Count {} };
        all.len() as u64
    }
}

plan! {
    Some9() -> Vec<u64> {
        #[optional(each)]
        step all = for _ in [1, 2, 3] { Some3 {} };
        all.iter().flatten().copied().collect()
    }
}

plan! {
    Stubborn() -> u64 {
        #[retry(1000, backoff = "0s")]
        step failed = Fail {};
        failed
    }
}

plan! {
    Hopeful() -> u64 {
        #[fallback(0)]
        step never = Stubborn {};
        never
    }
}

plan! {
    Texts(length: usize) -> usize {
        step a = Write { length, turns: 1 };
        step b = Write { length, turns: 9 };
        a.len() + b.len()
    }
}

plan! {
    ManyTexts(lengths: Vec<usize>) -> Vec<usize> {
        step all = for length in lengths { Texts { length } };
        all
    }
}

plan! {
    Endless() -> usize {
        step all = for _ in 0u64.. { Count {} };
        all.len()
    }
}

plan! {
    EndlessInABlock() -> usize {
        step all = {
            step one = Count {};
            #[after(one)]
            step inner = for n in std::iter::repeat(7_usize) { Write { length: n, turns: 1 } };
            inner
        };
        all.len()
    }
}

plan! {
    EndlessInALoop() -> Option<usize> {
        #[at_most(2)]
        step counted = loop {
            #[optional]
            step all = for n in [1_usize, 2].into_iter().cycle() { Write { length: n, turns: 1 } };
            step length: Option<usize> = all.map(|all| all.len());
            length
        } while counted.is_some();
        counted
    }
}

plan! {
    Huge(to: u64) -> Option<usize> {
        #[optional]
        step all = for _ in 0..to { Count {} };
        all.map(|all| all.len())
    }
}

plan! {
    Down(deep: u64) -> u64 {
        step below = Descend { deep };
        below
    }
}

/// Runs the calling plan again, up to a depth.
#[tool]
async fn descend(deep: u64, #[context] context: CallContext) -> Result<u64> {
    match deep.checked_sub(1) {
        None => Ok(0),
        Some(deep) => Ok(Box::pin(Down { deep }.run(&()).inside(&context)).await?),
    }
}

/// A plan that was read, which makes `calls` calls.
fn read(calls: usize) -> Plan {
    let list: Vec<usize> = (0..calls).collect();
    serde_json::from_value(json!({
        "name": "read",
        "steps": [{"id": "s", "for": {"pattern": "x", "list": list, "body": {"tool": {"name": "count"}}}}],
        "output": {"value": 1},
    }))
    .unwrap()
}

/// Runs a plan that was read, as part of the run.
#[tool]
async fn read_and_run(
    app: &App,
    calls: usize,
    limit: Option<usize>,
    #[context] context: CallContext,
) -> Result<u64> {
    let tools = Toolbox::new().with::<Count>();
    let plan = read(calls);
    let mut run = tools.run(&plan, (), app).inside(&context);
    if let Some(limit) = limit {
        run = run.limits(Limits::DEFAULT.calls(limit));
    }
    Ok(run.await?.as_u64().unwrap_or(0))
}

plan! {
    Reads(calls: usize, limit: Option<usize>) -> Option<u64> {
        #[optional]
        step done = ReadAndRun { calls, limit };
        done
    }
}

/// Hides what went wrong.
#[tool]
async fn hide(app: &App, #[context] context: CallContext) -> Result<u64> {
    Ok(Some3 {}.run(app).inside(&context).await.unwrap_or(7))
}

fn ended(error: &RunError) -> String {
    assert!(error.kind() == RunErrorKind::Limit && !error.is_transient());
    error.to_string()
}

#[test]
fn all_plans_inside_count_together() {
    // 9 calls of `count`, and 3 of `Some3`.
    for calls in 0..=12 {
        let app = App::default();
        let run = Some9 {}.run(&app).concurrency(1);
        let result = smol::block_on(run.limits(Limits::DEFAULT.calls(calls)));
        if calls == 12 {
            assert_eq!(result.unwrap().len(), 3);
        } else {
            let text = ended(&result.unwrap_err());
            assert!(
                text.starts_with("plan `some9` was ended: step `all"),
                "{text}"
            );
            assert!(text.contains(&format!("has made {calls} call")), "{text}");
        }
        // A call to a plan comes before its own.
        assert!(app.calls() <= calls, "{} of {calls}", app.calls());
    }
    let app = App::default();
    let run = Some9 {}
        .run(&app)
        .concurrency(1)
        .limits(Limits::DEFAULT.calls(3));
    assert_eq!(
        ended(&smol::block_on(run).unwrap_err()),
        "plan `some9` was ended: step `all[0].all[2]` (count): the run has made 3 calls, its limit; iterate over less, or \
         raise `run::Limits::calls`"
    );
}

#[test]
fn a_fallback_outside_does_not_make_up_for_a_limit_inside() {
    let app = App::default();
    assert_eq!(smol::block_on(Hopeful {}.run(&app)).unwrap(), 0);
    assert_eq!(app.calls(), 1000);
    let app = App::default();
    let run = Hopeful {}.run(&app).limits(Limits::DEFAULT.attempts(500));
    assert_eq!(
        ended(&smol::block_on(run).unwrap_err()),
        "plan `hopeful` was ended: step `never.failed` (fail): the run has made 500 attempts, its limit; retry less, or raise \
         `run::Limits::attempts`"
    );
    assert_eq!(app.calls(), 499);
}

#[test]
fn a_tool_that_hides_the_error_does_not_hide_the_limit() {
    let app = App::default();
    let plan = plan! { step hidden = Hide {}; hidden };
    assert_eq!(smol::block_on(plan.run(&app)).unwrap(), 3);
    let run = plan.run(&app).limits(Limits::DEFAULT.calls(2));
    assert_eq!(
        ended(&smol::block_on(run).unwrap_err()),
        "plan `plan` was ended: step `hidden.all[1]` (count): the run has made 2 calls, its limit; iterate over less, or raise \
         `run::Limits::calls`"
    );
}

#[test]
fn what_plans_hold_counts_together() {
    let run = |lengths: Vec<usize>, total: usize| {
        let plan = ManyTexts { lengths };
        smol::block_on(plan.run(&()).limits(Limits::DEFAULT.total(total)))
    };
    assert!(run(vec![10_000], 40_000).is_ok());
    // Four of them are held concurrently.
    let text = ended(&run(vec![10_000; 4], 40_000).unwrap_err());
    assert!(text.contains("would hold more than 40000 bytes"), "{text}");
    // Ended plans free their memory.
    let plan = ManyTexts {
        lengths: vec![10_000; 40],
    };
    let run = plan.run(&()).limits(Limits::DEFAULT.total(60_000));
    assert_eq!(smol::block_on(run.concurrency(1)).unwrap().len(), 40);
}

#[test]
fn plans_go_no_deeper_than_the_limit() {
    let app = App::default();
    let run = |deep, limits: Limits| smol::block_on(Down { deep }.run(&app).limits(limits));
    let down = |deep| run(deep, Limits::DEFAULT.depth(5));
    assert_eq!(down(5).unwrap(), 0);
    assert_eq!(
        ended(&down(6).unwrap_err()),
        "plan `down` was ended: step `below.below.below.below.below.below`: more than 5 plans would run inside each other, the \
         run's limit; end the recursion earlier, or raise `run::Limits::depth`"
    );
    assert_eq!(run(0, Limits::DEFAULT.depth(0)).unwrap(), 0);
}

#[test]
fn a_plan_that_was_read_has_limits_inside_another() {
    let run = |calls: usize, limit: Option<usize>, outer: Limits| {
        let app = App::default();
        let result = smol::block_on(
            Reads { calls, limit }
                .run(&app)
                .limits(outer)
                .concurrency(1),
        );
        (result, app.calls())
    };
    let (result, calls) = run(30, None, Limits::DEFAULT);
    assert_eq!((result.unwrap(), calls), (Some(1), 30));
    // A limit of the inner plan is its own failure, which the outer plan may absorb.
    let (result, calls) = run(10_001, None, Limits::DEFAULT);
    assert_eq!((result.unwrap(), calls), (None, 10_000));
    let (result, calls) = run(30, Some(29), Limits::DEFAULT);
    assert_eq!((result.unwrap(), calls), (None, 29));
    // A limit of the outer run is not, regardless of the inner plan's limits.
    for limit in [None, Some(10_000), Some(usize::MAX)] {
        let (result, calls) = run(30, limit, Limits::DEFAULT.calls(20));
        let text = ended(&result.unwrap_err());
        assert!(
            text.starts_with(
                "plan `reads` was ended: step `done.s[19]` (count): the run has made 20 calls"
            ),
            "{text}"
        );
        assert_eq!(calls, 19);
    }
}

/// The elements of an iterator count toward the limits one by one, because an iterator may have no end.
#[test]
fn an_endless_iterator_exceeds_a_limit() {
    let limits = Limits::DEFAULT.value(1 << 16);
    let app = App::default();
    let endings = [
        smol::block_on(Endless {}.run(&app).limits(limits)).map(|_| ()),
        smol::block_on(EndlessInABlock {}.run(&app).limits(limits)).map(|_| ()),
        smol::block_on(EndlessInALoop {}.run(&app).limits(limits)).map(|_| ()),
        smol::block_on(Huge { to: u64::MAX }.run(&app).limits(limits)).map(|_| ()),
    ];
    for ending in endings {
        let error = ended(&ending.unwrap_err());
        assert!(error.contains("`run::Limits::value`"), "{error}");
    }
    assert_eq!(app.calls(), 1);
}
