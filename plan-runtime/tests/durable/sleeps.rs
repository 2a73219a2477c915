//! Sleeps of tools in durable runs.

use super::rough::Rough;
use super::support::{Act, World, crash, secs};
use plan_runtime::run::{CallContext, Timer};
use plan_runtime::{Call, Error, Result, Shape, Sleep, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Sleeps three times.
#[tool]
async fn poll(#[context] context: CallContext) -> Result<()> {
    for _ in 0..3 {
        context.sleep(secs(5)).await;
    }
    Ok(())
}

plan! {
    Polls() -> u64 {
        step polled = Poll {};
        #[after(polled)]
        step end = Act { n: 3 };
        end
    }
}

#[test]
fn each_sleep_of_a_call_takes_its_own_time() {
    let (world, journal) = (World::new(), Rough::new());
    let run = Polls {}.run(&world).timer(world.timer.clone());
    let run = world.timer.skip_waits(run.durable(&journal, "r"));
    assert_eq!(smol::block_on(run).unwrap(), 3);
    assert_eq!(world.timer.elapsed(), secs(15));
}

#[test]
fn a_repeated_call_sleeps_for_the_rest_of_its_time() {
    // The age of the run when it resumes, and the remaining time.
    for (age, left) in [(0, 15), (4, 11), (5, 10), (12, 3), (15, 0), (90, 0)] {
        let (world, journal) = (World::new(), Rough::new());
        let run = || {
            let run = Polls {}.run(&world).timer(world.timer.clone());
            run.durable(&journal, "r")
        };
        crash(run());
        journal.set_age(secs(age));
        let start = world.timer.elapsed();
        assert_eq!(smol::block_on(world.timer.skip_waits(run())).unwrap(), 3);
        let slept = world.timer.elapsed() - start;
        // The clock of the system passes as well.
        let error = secs(left).abs_diff(slept);
        assert!(error < Duration::from_millis(900), "{age}: {slept:?}");
    }
}

/// Sleeps after an hour of work.
#[tool]
async fn work(world: &World, #[context] context: CallContext) -> Result<()> {
    world.timer.sleep(secs(3600)).await;
    context.sleep(secs(5)).await;
    Ok(())
}

plan! {
    Works() -> u64 {
        step worked = Work {};
        #[after(worked)]
        step end = Act { n: 3 };
        end
    }
}

#[test]
fn a_sleep_begins_after_the_work_before_it() {
    let (world, journal) = (World::new(), Rough::new());
    let run = Works {}.run(&world).timer(world.timer.clone());
    let run = world.timer.skip_waits(run.durable(&journal, "r"));
    assert_eq!(smol::block_on(run).unwrap(), 3);
    assert_eq!(world.timer.elapsed(), secs(3605));
}

/// Calls the tool that sleeps, twice at the same time.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = ())]
struct Naps {}

impl Call<World> for Naps {
    async fn call(self, _: &World) -> Result<()> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<()> {
        let nap = |time: &str| Sleep { time: time.into() }.call_in(world, context.clone());
        let (one, other) = smol::future::zip(nap("1s"), nap("2s")).await;
        one.and(other)
    }
}

plan! {
    Napping() -> u64 {
        step napped = Naps {};
        step end = Act { n: 3 };
        #[after(napped)]
        step last = Act { n: end };
        last
    }
}

#[test]
fn a_tool_may_call_the_tool_that_sleeps() {
    let (world, journal) = (World::new(), Rough::new());
    let run = Napping {}.run(&world).timer(world.timer.clone());
    let run = world.timer.skip_waits(run.durable(&journal, "r"));
    assert_eq!(smol::block_on(run).unwrap(), 3);
    assert_eq!(world.timer.elapsed(), secs(2));
}
