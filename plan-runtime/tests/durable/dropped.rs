//! The claim of a run, after the end of the run.

use crate::journal::asking::Asking;
use crate::run::support::Broken;
use plan_runtime::journal::Memory;
use plan_runtime::run::ManualTimer;
use plan_runtime::{Result, plan, tool};
use std::future::pending;
use std::sync::OnceLock;
use std::time::Duration;

struct Office {
    db: Memory,
    /// `true` if another process could claim the run while the call had its future.
    was_free: OnceLock<bool>,
}

struct Work<'o>(&'o Office);

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let run = self.0.db.run_now("r").unwrap();
        self.0.was_free.set(!run.is_owned).unwrap();
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

#[test]
fn the_calls_of_a_run_are_dropped_before_its_claim() {
    let office = Office {
        db: Memory::new(),
        was_free: OnceLock::new(),
    };
    let time = Duration::from_secs(60);
    let run = Hangs {}
        .run(&office)
        .timer(Broken(ManualTimer::new(), time));
    let run = run.deadline(time);
    let error = smol::block_on(run.durable(&office.db, "r")).unwrap_err();
    assert_eq!(error.to_string(), "plan `hangs` panicked: no sleep");
    assert_eq!(office.was_free.get(), Some(&false));
    assert!(!office.db.run_now("r").unwrap().is_owned);
}
