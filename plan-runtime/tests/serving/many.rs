//! Many runs that wait.

use crate::journal::asking::Asking;
use crate::serving::support::{Place, at, has_ended, in_each_place, until};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{RunFilter, RunState};
use plan_runtime::{Result, plan, tool};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

plan! {
    Ask(number: u32) -> String {
        step reply: String = await;
        format!("{number}: {reply}")
    }
}

fn runs_that_wait_are_cheap<P: Place>() {
    let count: u32 = crate::common::cases(100, 500);
    let folder = P::new();
    let db = folder.open();
    let toolbox = Toolbox::<()>::new().with::<Ask>();
    let server = at(&db, &toolbox, &Arc::new(()));
    let begin = Instant::now();
    for number in 0..count {
        let run = Ask { number }.run(&());
        smol::block_on(run.submit(&db, format!("{number}"))).unwrap();
    }
    println!("submitted {count} in {:?}", begin.elapsed());
    let resting = || {
        let filter = RunFilter::new().state(RunState::Running).is_owned(false);
        let runs = db.runs_now(&filter).into_iter();
        runs.filter(|run| run.waits).map(|_| 1).sum::<u32>()
    };
    let begin = Instant::now();
    server.serve_until(|| resting() == count);
    println!("all wait after {:?}", begin.elapsed());

    // A new server has work for a single run.
    let last = format!("{}", count - 1);
    server.signal(&last, "reply", "yes").unwrap();
    let begin = Instant::now();
    let done = RunFilter::new().state(RunState::Done);
    at(&db, &toolbox, &Arc::new(())).serve_until(|| db.runs_now(&done).len() == 1);
    println!("one has gone on after {:?}", begin.elapsed());
    assert_eq!(resting(), count - 1);
}

/// The number of calls that hold their run, and a signal that ends these calls.
#[derive(Default)]
struct Hall {
    held: AtomicUsize,
    is_over: AtomicBool,
}

#[tool]
async fn fill() -> Result<String> {
    Ok("x".repeat(600_000))
}

#[tool]
async fn empty(text: String) -> Result<()> {
    drop(text);
    Ok(())
}

#[tool]
async fn hold(hall: &Hall) -> Result<u64> {
    hall.held.fetch_add(1, Ordering::SeqCst);
    while !hall.is_over.load(Ordering::SeqCst) {
        smol::Timer::after(Duration::from_millis(5)).await;
    }
    Ok(1)
}

plan! {
    Holds() -> u64 {
        step text = Fill {};
        // Its argument is held until the run ends.
        #[undo(text)]
        step emptied = Empty { text };
        #[after(text)]
        step held = Hold {};
        held
    }
}

/// If runs exceed a limit on memory together, the run that needs more is ended, which frees its memory.
fn runs_hold_no_more_than_a_limit_together<P: Place>() {
    let (folder, hall) = (P::new(), Arc::new(Hall::default()));
    let toolbox = Toolbox::new().with::<Holds>();
    let db = folder.open();
    let submit = |id: &str| smol::block_on(Holds {}.submit(&db, id)).unwrap();
    let ids = ["a", "b", "c", "d", "e"];
    ids.iter().for_each(|id| submit(id));
    let count = |state| db.runs_now(&RunFilter::new().state(state)).len();
    let all_done = async {
        until(|| hall.held.load(Ordering::SeqCst) == 2 && count(RunState::Failed) == 3).await;
        hall.is_over.store(true, Ordering::SeqCst);
        until(|| count(RunState::Done) == 2).await;
        submit("later");
        until(|| has_ended(&db, "later")).await;
    };
    let server = at(&db, &toolbox, &hall).0;
    let serve = server.serve().total(1_400 << 10);
    smol::block_on(serve.cancel_on(all_done)).unwrap();
    assert_eq!(db.output_now("later").unwrap(), Some(1.into()));
    let errors: Vec<String> = ids
        .iter()
        .filter_map(|id| db.error_now(id).unwrap())
        .collect();
    assert_eq!(errors.len(), 3);
    for error in errors {
        assert_eq!(
            error,
            "plan `holds` was ended: step `text` (fill): its output: with this value, the served runs would hold more than 1400 KiB together, their limit; \
             submit the run again when fewer runs are served, or raise `Serve::total`"
        );
    }
}

in_each_place! {
    runs_that_wait_are_cheap
    runs_hold_no_more_than_a_limit_together
}
