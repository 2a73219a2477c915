//! Combinations: one test for each pair of a construct and a situation.

mod always;
mod awaits;
mod lists;
mod loops;
mod recovery;
mod retries;
mod undo;

use plan_runtime::run::{CallContext, ManualTimer, Run, RunErrorKind};
use plan_runtime::{Error, Result, RunError, tool};
use serde::de::DeserializeOwned;
use std::sync::Mutex;
use std::time::Duration;

/// The operations, in order.
#[derive(Default)]
pub struct Log(Mutex<Vec<String>>);

impl Log {
    fn taken(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap()).join(", ")
    }
}

/// Does something: what begins with `no` fails, `busy` fails in the first attempt of the block or the plan around, and `slow` never ends.
#[tool]
pub async fn act(log: &Log, #[context] context: CallContext, what: String) -> Result<String> {
    log.0.lock().unwrap().push(what.clone());
    smol::future::yield_now().await;
    match what.split(' ').next() {
        Some("no") => Err(Error::permanent(format!("there is {what}"))),
        Some("busy")
            if context
                .outer()
                .map_or(context.attempt(), CallContext::attempt)
                == 1 =>
        {
            Err(Error::msg(format!("{what} now")))
        }
        Some("slow") => {
            std::future::pending::<()>().await;
            Ok(what)
        }
        _ => Ok(what),
    }
}

/// Runs to the end, where waits take no time.
fn ended<O: DeserializeOwned>(run: Run<'_, Log, O>) -> Result<O, RunError> {
    let timer = ManualTimer::new();
    smol::block_on(timer.skip_waits(run.timer(timer.clone())))
}

/// Runs a plan that never ends, with a deadline.
fn late<O: DeserializeOwned>(run: Run<'_, Log, O>) -> RunError {
    let error = ended(run.deadline(Duration::from_secs(60))).err().unwrap();
    assert_eq!(error.kind(), RunErrorKind::Deadline, "{error}");
    error
}
