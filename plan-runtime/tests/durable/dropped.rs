//! The claim of a run, after the end of the run.

use crate::journal::asking::Asking;
use plan_runtime::journal::Memory;
use plan_runtime::run::{Timer, TimerFuture};
use plan_runtime::{Result, plan, tool};
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

struct Office {
    db: Memory,
    /// `true` if another process could claim the run while the call had its future.
    was_free: AtomicBool,
}

struct Work<'o>(&'o Office);

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let run = self.0.db.run_now("r").unwrap();
        self.0.was_free.store(!run.is_owned, Ordering::SeqCst);
    }
}

#[tool]
async fn hang(office: &Office) -> Result<()> {
    let _work = Work(office);
    pending().await
}

plan! {
    Hangs() -> () {
        step hung = Hang {};
        hung
    }
}

/// A timer whose sleeps panic.
struct Broken;

impl Timer for Broken {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, _: Duration) -> TimerFuture {
        let mut is_polled = false;
        Box::pin(poll_fn(move |cx| {
            assert!(!is_polled, "no sleep");
            is_polled = true;
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
    }
}

#[test]
fn the_calls_of_a_run_are_dropped_before_its_claim() {
    let office = Office {
        db: Memory::new(),
        was_free: AtomicBool::new(false),
    };
    let run = Hangs {}.run(&office).timer(Broken);
    let run = run.deadline(Duration::from_secs(60));
    let error = smol::block_on(run.durable(&office.db, "r")).unwrap_err();
    assert_eq!(error.to_string(), "plan `hangs` panicked: no sleep");
    assert!(!office.was_free.load(Ordering::SeqCst));
    assert!(!office.db.run_now("r").unwrap().is_owned);
}
