//! Plans that tools run inside their calls from elsewhere: from threads, from other executors, and after the call is over. No case waits forever, and no call is made that no report shows.

use super::rough::Rough;
use plan_runtime::journal::Memory;
use plan_runtime::run::{CallContext, Decision, Gate, PendingCall, RunErrorKind};
use plan_runtime::{Error, Result, RunError, plan, tool};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The call by which a tool runs a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Awaits the plan, which is right.
    Awaits,
    /// Two of them side by side, with wakers of their own.
    AwaitsMany,
    /// `block_on` on the thread of the run.
    Blocks,
    /// `block_on` after an earlier poll of the call has polled the plan.
    BlocksLater,
    /// Uses `block_on` on another thread, for which the tool waits.
    BlocksThread,
    /// A task of another executor, which the tool awaits.
    Spawns,
    /// `block_on` of a task of another executor.
    SpawnsAndBlocks,
}

const ALL: [How; 7] = [
    How::Awaits,
    How::AwaitsMany,
    How::Blocks,
    How::BlocksLater,
    How::BlocksThread,
    How::Spawns,
    How::SpawnsAndBlocks,
];

#[derive(Clone, Default)]
struct World(Arc<Inner>);

#[derive(Default)]
struct Inner {
    how: Mutex<Option<How>>,
    /// The contexts that the tools have kept.
    kept: Mutex<Vec<CallContext>>,
    /// The calls of plans inside.
    calls: AtomicUsize,
    hangs: Mutex<bool>,
}

impl World {
    fn new(how: How) -> Self {
        let world = Self::default();
        *world.0.how.lock().unwrap() = Some(how);
        world
    }

    fn calls(&self) -> usize {
        self.0.calls.swap(0, Ordering::SeqCst)
    }

    fn hang(&self, hangs: bool) {
        *self.0.hangs.lock().unwrap() = hangs;
    }
}

/// Counts.
#[tool]
async fn count(world: &World, n: u64) -> Result<u64> {
    smol::future::yield_now().await;
    world.0.calls.fetch_add(1, Ordering::SeqCst);
    if n == 2 && *world.0.hangs.lock().unwrap() {
        std::future::pending::<()>().await;
    }
    Ok(n)
}

plan! {
    Counted(n: u64) -> u64 {
        step one = Count { n };
        #[after(one)]
        step two = Count { n: 2 };
        one + two
    }
}

async fn run_inside(world: World, context: CallContext, n: u64) -> Result<u64> {
    Ok(Counted { n }.run(&world).inside(&context).await?)
}

/// Runs a plan inside its call.
#[tool]
async fn wrap(world: &World, #[context] context: CallContext) -> Result<u64> {
    world.0.kept.lock().unwrap().push(context.clone());
    let how = world.0.how.lock().unwrap().unwrap();
    let inside = |n| run_inside(world.clone(), context.clone(), n);
    match how {
        How::Awaits => inside(1).await,
        How::AwaitsMany => {
            let many: futures_util::stream::FuturesUnordered<_> = (1..4).map(inside).collect();
            let many: Vec<Result<u64>> = futures_util::StreamExt::collect(many).await;
            many.into_iter().sum()
        }
        How::Blocks => smol::block_on(inside(1)),
        How::BlocksLater => {
            let mut inside = std::pin::pin!(inside(1));
            if let Some(early) = smol::future::poll_once(inside.as_mut()).await {
                return early;
            }
            smol::future::yield_now().await;
            smol::block_on(inside)
        }
        How::BlocksThread => {
            let inside = inside(1);
            thread::spawn(move || smol::block_on(inside))
                .join()
                .unwrap()
        }
        How::Spawns => smol::spawn(inside(1)).await,
        How::SpawnsAndBlocks => smol::block_on(smol::spawn(inside(1))),
    }
}

plan! {
    Top() -> u64 {
        step before = Count { n: 5 };
        #[after(before)]
        step wrapped = Wrap {};
        wrapped + before
    }
}

/// The result of a run with a journal, maybe after a crash in the second call of the plan inside.
fn ended(world: &World, has_crashed: bool) -> Result<u64, RunError> {
    let journal = Memory::new();
    let run = || Top {}.run(world).durable(&journal, "r");
    if has_crashed {
        // The crash is that of a run that works.
        let how = world.0.how.lock().unwrap().replace(How::Awaits);
        world.hang(true);
        super::support::crash(run());
        world.hang(false);
        *world.0.how.lock().unwrap() = how;
        world.calls();
    }
    smol::block_on(run())
}

#[test]
fn with_a_journal_only_the_call_polls_a_plan_inside() {
    for how in ALL {
        for has_crashed in [false, true] {
            let world = World::new(how);
            let result = ended(&world, has_crashed);
            let what = format!("{how:?}, {has_crashed}: {result:?}");
            let calls = world.calls();
            let expected = match how {
                How::Awaits => {
                    assert_eq!(result.unwrap(), 8, "{what}");
                    assert_eq!(calls, if has_crashed { 1 } else { 3 }, "{what}");
                    continue;
                }
                How::AwaitsMany => {
                    assert_eq!(result.unwrap(), 3 + 4 + 5 + 5, "{what}");
                    continue;
                }
                How::Blocks | How::BlocksLater => "the tool blocks the thread",
                _ => "only the enclosing call can poll the plan",
            };
            let error = result.unwrap_err().to_string();
            assert!(error.contains(expected), "{what}");
            assert!(error.contains("await the plan in the tool"), "{what}");
            // The plan inside makes no call, unless its beginning was written before the tool blocks.
            let most = 1 + usize::from(how == How::BlocksLater);
            assert!(calls <= most, "{what}: {calls}");
        }
    }
}

#[test]
fn without_a_journal_any_thread_may_run_a_plan_inside() {
    for how in ALL {
        let world = World::new(how);
        let output = smol::block_on(Top {}.run(&world)).unwrap();
        let expected = if how == How::AwaitsMany { 17 } else { 8 };
        assert_eq!(output, expected, "{how:?}");
    }
}

/// Polls a plan inside its call some times, and awaits another plan before the tool comes back to the first.
#[tool]
async fn defer(world: &World, polls: u64, #[context] context: CallContext) -> Result<u64> {
    let mut first = Box::pin(run_inside(world.clone(), context.clone(), 1));
    let mut early = None;
    for _ in 0..polls {
        early = smol::future::poll_once(first.as_mut()).await;
        if early.is_some() {
            break;
        }
        smol::future::yield_now().await;
    }
    let second = run_inside(world.clone(), context, 4).await?;
    let first = match early {
        Some(first) => first?,
        None => first.await?,
    };
    Ok(first + second)
}

plan! {
    Deferred(polls: u64) -> u64 {
        step deferred = Defer { polls };
        #[after(deferred)]
        step three = Count { n: 3 };
        deferred + three
    }
}

/// A record whose plan is not polled does not keep later records from their turns, wherever the plan stands.
#[test]
fn a_plan_that_waits_for_its_tool_holds_nothing_up() {
    for polls in 0..16 {
        let (world, journal) = (World::default(), Memory::new());
        let run = Deferred { polls }.run(&world).durable(&journal, "r");
        let late = async {
            smol::Timer::after(Duration::from_secs(20)).await;
            panic!("the run stands after {polls} polls of the first plan");
        };
        let output = smol::block_on(smol::future::or(run, late)).unwrap();
        assert_eq!(output, 3 + 6 + 3, "{polls}");
        assert_eq!(world.calls(), 5, "{polls}");
    }
}

/// The end of a run that a context outlives.
#[derive(Clone, Copy, Debug)]
enum End {
    Finishes,
    Fails,
    IsCancelled,
    IsDropped,
}

/// Keeps the context of its call.
#[tool]
async fn keep(world: &World, end: u32, #[context] context: CallContext) -> Result<u64> {
    world.0.kept.lock().unwrap().push(context);
    match end {
        0 => Ok(1),
        1 => Err(Error::permanent("no")),
        _ => std::future::pending().await,
    }
}

plan! {
    Kept(end: u32) -> u64 {
        step kept = Keep { end };
        kept
    }
}

fn run_to(end: End, world: &World, is_durable: bool, journal: &Rough) {
    let number = match end {
        End::Finishes => 0,
        End::Fails => 1,
        End::IsCancelled | End::IsDropped => 2,
    };
    let run = Kept { end: number }.run(world);
    let run = if is_durable {
        run.durable(journal, "r")
    } else {
        run
    };
    match end {
        End::Finishes => assert_eq!(smol::block_on(run).unwrap(), 1),
        End::Fails => drop(smol::block_on(run).unwrap_err()),
        End::IsDropped => super::support::crash(run),
        End::IsCancelled => {
            let called = async {
                while world.0.kept.lock().unwrap().is_empty() {
                    smol::future::yield_now().await;
                }
            };
            let error = smol::block_on(run.cancel_on(called)).unwrap_err();
            assert_eq!(error.kind(), RunErrorKind::Cancelled);
        }
    }
}

#[test]
fn a_context_that_outlives_its_run_makes_no_call() {
    for end in [End::Finishes, End::Fails, End::IsCancelled, End::IsDropped] {
        for is_durable in [false, true] {
            for is_elsewhere in [false, true] {
                let (world, journal) = (World::default(), Rough::new());
                run_to(end, &world, is_durable, &journal);
                let context = world.0.kept.lock().unwrap().pop().unwrap();
                let inside = run_inside(world.clone(), context.clone(), 1);
                let result = if is_elsewhere {
                    thread::spawn(|| smol::block_on(inside)).join().unwrap()
                } else {
                    smol::block_on(inside)
                };
                let what = format!("{end:?}, {is_durable}, {is_elsewhere}");
                assert_eq!(
                    result.unwrap_err().to_string(),
                    "plan `counted` cannot start: the enclosing call is over; await the plan in the tool, before the tool returns",
                    "{what}"
                );
                assert_eq!(world.calls(), 0, "{what}");
                // The context keeps no claim: the run can be begun again.
                if is_durable && !matches!(end, End::IsCancelled) {
                    run_to(end, &world, true, &journal);
                }
                drop(context);
            }
        }
    }
}

/// Has a task run a plan inside its call, and does not wait for it.
#[tool]
async fn leave(world: &World, #[context] context: CallContext) -> Result<u64> {
    let (send, done) = smol::channel::bounded(1);
    let world = world.clone();
    let calls = Arc::clone(&world.0);
    smol::spawn(async move {
        let result = run_inside(world.clone(), context, 1).await;
        let _ = LEFT.lock().unwrap().insert(result.unwrap_err().to_string());
        let _ = send.send(()).await;
    })
    .detach();
    // The plan is at its second call, which hangs.
    while calls.calls.load(Ordering::SeqCst) < 2 {
        smol::Timer::after(Duration::from_millis(1)).await;
    }
    *DONE.lock().unwrap() = Some(done);
    Ok(1)
}

static LEFT: Mutex<Option<String>> = Mutex::new(None);
static DONE: Mutex<Option<smol::channel::Receiver<()>>> = Mutex::new(None);

plan! {
    Leaves() -> u64 {
        step left = Leave {};
        #[after(left)]
        step two = Count { n: 3 };
        two
    }
}

#[test]
fn a_plan_that_the_tool_leaves_behind_ends_with_the_call() {
    let world = World::default();
    world.hang(true);
    smol::block_on(async {
        assert_eq!(Leaves {}.run(&world).await.unwrap(), 3);
        let done = DONE.lock().unwrap().take().unwrap();
        done.recv().await.unwrap();
    });
    assert_eq!(
        LEFT.lock().unwrap().take().unwrap(),
        "plan `counted` was ended: the enclosing call is over; await the plan in the tool, before the tool returns"
    );
}

/// Runs a plan before it allows a call.
struct Clerk(World, Mutex<Vec<CallContext>>);

impl Gate for Clerk {
    async fn ask(&self, call: PendingCall) -> Decision {
        self.1.lock().unwrap().push(call.context().clone());
        if call.tool() == "keep" {
            // The gate decides about the calls of this plan as well.
            let inside = run_inside(self.0.clone(), call.context().clone(), 1);
            if let Err(error) = inside.await {
                return Decision::Refuse(error.to_string());
            }
        }
        Decision::Allow
    }
}

#[test]
fn a_gate_may_run_a_plan_inside_the_call_until_it_has_decided() {
    for is_durable in [false, true] {
        let (world, journal) = (World::default(), Memory::new());
        let clerk = Arc::new(Clerk(world.clone(), Mutex::default()));
        let run = Kept { end: 0 }.run(&world).gate(Arc::clone(&clerk));
        let run = if is_durable {
            run.durable(&journal, "r")
        } else {
            run
        };
        assert_eq!(smol::block_on(run).unwrap(), 1);
        assert_eq!(world.calls(), 2);
        let context = clerk.1.lock().unwrap()[0].clone();
        let after = smol::block_on(run_inside(world.clone(), context, 1));
        assert!(after.unwrap_err().to_string().contains("is over"));
        assert_eq!(world.calls(), 0);
    }
}
