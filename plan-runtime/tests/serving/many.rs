//! Many runs that wait.

use crate::serving::support::{Folder, has_ended, until};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{RunFilter, RunState, SqliteOptions};
use plan_runtime::{Result, plan, tool};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

plan! {
    Ask(number: u32) -> String {
        step reply: String = await;
        format!("{number}: {reply}")
    }
}

#[test]
fn runs_that_wait_are_cheap() {
    let count = crate::common::cases(100, 500);
    let folder = Folder::new();
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let toolbox = Toolbox::<()>::new().with::<Ask>();
    let begin = Instant::now();
    for number in 0..count {
        let run = Ask { number }.run(&());
        smol::block_on(run.submit(&db, format!("{number}"))).unwrap();
    }
    println!("submitted {count} in {:?}", begin.elapsed());
    let resting = || -> u32 {
        let database = rusqlite::Connection::open(folder.path()).unwrap();
        let sql =
            "SELECT count(*) FROM runs WHERE rests IS NOT NULL AND owner IS NULL AND ended IS NULL";
        database.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let begin = Instant::now();
    let all_rest = until(|| resting() == count);
    smol::block_on(db.serve(&toolbox, &()).cancel_on(all_rest)).unwrap();
    println!("all wait after {:?}", begin.elapsed());

    // A new server has work for a single run.
    let last = format!("{}", count - 1);
    db.signal(&toolbox, &last, "reply", "yes").unwrap();
    let begin = Instant::now();
    let done = RunFilter::new().state(RunState::Done);
    let one_done = until(|| db.runs(&done).count() == 1);
    smol::block_on(db.serve(&toolbox, &()).cancel_on(one_done)).unwrap();
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

/// If runs hold too much together, the run that asks for more is ended. Its memory is free again.
#[test]
fn runs_hold_no_more_than_a_limit_together() {
    let (folder, hall) = (Folder::new(), Hall::default());
    let toolbox = Toolbox::new().with::<Holds>();
    let db = folder.open();
    let submit = |id: &str| smol::block_on(Holds {}.submit(&db, id)).unwrap();
    let ids = ["a", "b", "c", "d", "e"];
    ids.iter().for_each(|id| submit(id));
    let count = |state| db.runs(&RunFilter::new().state(state)).count();
    let all_done = async {
        until(|| hall.held.load(Ordering::SeqCst) == 2 && count(RunState::Failed) == 3).await;
        hall.is_over.store(true, Ordering::SeqCst);
        until(|| count(RunState::Done) == 2).await;
        submit("later");
        until(|| has_ended(&db, "later")).await;
    };
    let serve = db.serve(&toolbox, &hall).total(1_400 << 10);
    smol::block_on(serve.cancel_on(all_done)).unwrap();
    assert_eq!(db.output("later").unwrap(), Some(1.into()));
    let errors: Vec<String> = ids.iter().filter_map(|id| db.error(id).unwrap()).collect();
    assert_eq!(errors.len(), 3);
    for error in errors {
        assert_eq!(
            error,
            "plan `holds` was ended: step `text` (fill): its output: with this value, the served runs would hold more than 1400 KiB together, their limit; \
             submit it again when fewer runs are served, or raise `Serve::total`"
        );
    }
}
