//! The journal on a real Postgres, which each test starts and ends. Processes of the tests are this binary, started again.
//!
//! Variables set the number of disturbances in a test: `POSTGRES_KILLS` of processes, `POSTGRES_STOPS` of processes that sleep, `POSTGRES_RESTARTS` of servers, `POSTGRES_CUTS` of connections.

mod calls;
mod cut;
mod deleting;
mod locks;
mod lost;
mod process;
mod rules;
mod runs;
mod serve;
mod server;
mod sessions;
mod store;
#[cfg(feature = "rustls")]
mod tls;
mod transactions;

use plan_postgres::{Postgres, PostgresOptions};
use plan_runtime::journal::spi::{Claim, Claimed, Record};
use plan_runtime::journal::{Journal, JournalError};
use std::time::{Duration, Instant};

/// The lease of the tests' journals.
pub(crate) const LEASE: Duration = Duration::from_secs(1);

fn times(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |it| it.parse().unwrap())
}

pub(crate) fn kills() -> usize {
    times("POSTGRES_KILLS", 3)
}

pub(crate) fn stops() -> usize {
    times("POSTGRES_STOPS", 1)
}

pub(crate) fn restarts() -> usize {
    times("POSTGRES_RESTARTS", 3)
}

pub(crate) fn cuts() -> usize {
    times("POSTGRES_CUTS", 15)
}

pub(crate) fn open(url: &str) -> Postgres {
    let options = PostgresOptions::new().lease(LEASE);
    smol::block_on(options.connect(url)).unwrap()
}

/// Claims a run, once its last owner's lease has ended.
pub(crate) fn claim(db: &Postgres, id: &str) -> Claimed {
    let begin = Instant::now();
    loop {
        match smol::block_on(db.claim(id)) {
            Err(JournalError::Owned { .. }) if begin.elapsed() < Duration::from_secs(30) => {
                std::thread::sleep(Duration::from_millis(20));
            }
            claimed => return claimed.unwrap(),
        }
    }
}

pub(crate) fn append(
    db: &Postgres,
    claim: &Claim,
    n: usize,
) -> plan_runtime::journal::spi::Written {
    db.append(claim, format!("{n}"), format!("{n}"))
}

pub(crate) fn records(db: &Postgres, id: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    loop {
        let after = records.last().map_or(0, |last| last.number);
        let page = smol::block_on(db.read(id, after)).unwrap();
        if page.is_empty() {
            return records;
        }
        records.extend(page);
    }
}

/// Asserts that a run has the records from 0 to some number, which is returned.
pub(crate) fn count(db: &Postgres, id: &str) -> usize {
    let keys: Vec<String> = records(db, id).into_iter().map(|it| it.key).collect();
    let prefix: Vec<String> = (0..keys.len()).map(|n| format!("{n}")).collect();
    assert_eq!(
        keys, prefix,
        "a record is missing in the middle, or is out of order"
    );
    keys.len()
}
