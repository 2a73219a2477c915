//! Many runs that wait.

use crate::serving::support::{Folder, until};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{RunFilter, RunState, SqliteOptions};
use plan_runtime::plan;
use std::time::Instant;

plan! {
    Ask(number: u32) -> String {
        step reply: String = await;
        format!("{number}: {reply}")
    }
}

/// `SERVING=10000` is a number of runs to try.
#[test]
fn runs_that_wait_are_cheap() {
    let count = std::env::var("SERVING").map_or(500, |count| count.parse().unwrap());
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

    // A new server has nothing to do but one of them.
    let last = format!("{}", count - 1);
    db.signal(&toolbox, &last, "reply", "yes").unwrap();
    let begin = Instant::now();
    let done = RunFilter::new().state(RunState::Done);
    let one_done = until(|| db.runs(&done).count() == 1);
    smol::block_on(db.serve(&toolbox, &()).cancel_on(one_done)).unwrap();
    println!("one has gone on after {:?}", begin.elapsed());
    assert_eq!(resting(), count - 1);
}
