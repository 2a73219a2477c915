//! Durable runs with throttles: a call that has had its turn has begun.

use super::rough::Rough;
use super::support::{Act, Driven, Goes, Undo, World, crash, finish, secs};
use plan_runtime::run::{RunErrorKind, Throttle};
use plan_runtime::{Error, plan};

plan! {
    Pair() -> u64 {
        step slow = Act { n: 1 };
        #[undo(slow)]
        step released = Undo { n: slow };
        step other = Act { n: 2 };
        slow + other
    }
}

fn gone() -> Error {
    Error::permanent("gone")
}

#[test]
fn a_call_that_had_its_turn_is_made_again_after_a_failure_beside_it() {
    let (world, journal) = (World::new(), Rough::new());
    let throttle = Throttle::new().concurrency("act", 4);
    let run = || {
        let run = Pair {}.run(&world).throttle(&throttle);
        run.durable(&journal, "r")
    };
    world.on("slow", &[Goes::Hangs]);
    world.on("other", &[Goes::Fails(gone)]);
    crash(run());
    assert_eq!(world.called(), "slow other");
    world.all_well();
    let error = finish(run()).unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["slow"]);
    assert_eq!(world.called(), "slow released");
}

#[test]
fn a_call_that_waits_for_its_turn_does_not_start_after_a_failure_beside_it() {
    let (world, journal) = (World::new(), Rough::new());
    let throttle = Throttle::new().concurrency("act", 1);
    let run = || {
        let run = Pair {}.run(&world).throttle(&throttle);
        run.durable(&journal, "r")
    };
    world.on("slow", &[Goes::FailsLate(gone)]);
    let mut first = Driven::new(run());
    first.pending();
    assert_eq!(world.called(), "slow");
    world.release("slow");
    let error = first.ended().unwrap_err().to_string();
    drop(first);
    assert_eq!(finish(run()).unwrap_err().to_string(), error);
    assert_eq!(world.called(), "");
}

#[test]
fn a_cancelled_run_stays_cancelled() {
    let (world, journal) = (World::new(), Rough::new());
    let throttle = Throttle::new().concurrency("act", 4);
    let run = || {
        let run = Pair {}.run(&world).throttle(&throttle);
        run.timer(world.timer.clone()).durable(&journal, "r")
    };
    world.on("slow", &[Goes::Hangs]);
    world.on("other", &[Goes::Fails(gone)]);
    let timer = world.timer.clone();
    let cancel = async move { timer_of(&timer).await };
    let mut first = Driven::new(run().cancel_on(cancel));
    first.pending();
    world.timer.advance(secs(1));
    let error = first.ended().unwrap_err();
    drop(first);
    assert_eq!(error.kind(), RunErrorKind::Cancelled);
    let again = finish(run()).unwrap_err();
    assert_eq!(again.kind(), RunErrorKind::Cancelled);
    assert_eq!(again.to_string(), error.to_string());
    assert_eq!(world.called(), "slow other");
}

async fn timer_of(timer: &plan_runtime::run::ManualTimer) {
    use plan_runtime::run::Timer;
    timer.sleep(secs(1)).await;
}

/// A throttle limits the calls after a crash as well.
#[test]
fn a_call_takes_another_turn_after_a_crash() {
    let (world, journal) = (World::new(), Rough::new());
    let throttle = Throttle::new().concurrency("act", 2);
    let run = || {
        let run = Pair {}.run(&world).throttle(&throttle);
        run.durable(&journal, "r")
    };
    world.on("slow", &[Goes::Hangs]);
    world.on("other", &[Goes::Hangs]);
    crash(run());
    assert_eq!(world.called(), "slow other");
    let mut beside = Driven::new(Pair {}.run(&world).throttle(&throttle));
    beside.pending();
    assert_eq!(world.called(), "slow other");
    let mut second = Driven::new(run());
    second.pending();
    assert_eq!(world.called(), "");
    drop(beside);
    world.all_well();
    assert_eq!(second.ended().unwrap(), 3);
    assert_eq!(world.called(), "slow other");
}
