//! The parts that the hand-written versions share, in addition to tokio, futures and backon: attempts, and undoing of
//! completed work.

use backon::ExponentialBuilder;
use futures_util::future::{BoxFuture, join_all};
use plan_runtime::{Error, Result};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::timeout;

const GRACE: Duration = Duration::from_secs(30);

/// At most this number of attempts, with waits that double from 100 ms up to 30 s. A part of each wait is random.
pub fn attempts(number: usize) -> ExponentialBuilder {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(30))
        .with_max_times(number - 1)
        .with_jitter()
}

/// The undo actions of the completed work. Actions of one level may run concurrently.
#[derive(Default)]
pub struct Undo<'a>(Mutex<BTreeMap<u32, Vec<Action<'a>>>>);

type Action<'a> = (&'static str, BoxFuture<'a, Result<()>>);

impl<'a> Undo<'a> {
    /// Adds an undo action for completed work. Actions of higher levels run first.
    pub fn push<F>(&self, level: u32, what: &'static str, action: F)
    where
        F: Future<Output = Result<()>> + Send + 'a,
    {
        let mut levels = self.0.lock().expect("no panic inside");
        let level = levels.entry(level).or_default();
        level.push((what, Box::pin(action)));
    }

    /// Runs all actions, and returns the actions that failed.
    async fn run(self) -> Vec<&'static str> {
        let mut failed = Vec::new();
        for level in self
            .0
            .into_inner()
            .expect("no panic inside")
            .into_values()
            .rev()
        {
            let actions = level.into_iter();
            let results =
                join_all(actions.map(async |(what, action)| action.await.map_err(|_| what))).await;
            failed.extend(results.into_iter().filter_map(Result::err));
        }
        failed
    }
}

/// Runs the work, until it is stopped. If the work fails or is stopped, runs its undo actions. Finally, runs the final action in
/// any case.
///
/// After a stop, the time for undo actions and the final action is limited. The error lists the actions that were not
/// undone.
pub async fn all_or_nothing<'a, T>(
    stopped: impl Future<Output = Error>,
    work: impl AsyncFnOnce(&Undo<'a>) -> Result<T>,
    always: impl AsyncFnOnce(&Result<T>),
) -> Result<T> {
    let undo = Undo::default();
    let (result, grace) = tokio::select! {
        biased;
        error = stopped => (Err(error), GRACE),
        result = work(&undo) => (result, Duration::MAX),
    };
    let failed = result.is_err();
    let mut not_undone = Vec::new();
    let ending = async {
        if failed {
            not_undone = undo.run().await;
        }
        always(&result).await;
    };
    let in_time = timeout(grace, ending).await.is_ok();
    result.map_err(|error| match &*not_undone {
        _ if !in_time => Error::permanent(format!("{error}; no time to undo and to end")),
        [] => error,
        what => Error::permanent(format!("{error}; not undone: {}", what.join(", "))),
    })
}

/// The error of a run that is cancelled.
pub fn cancelled() -> Error {
    Error::permanent("the run was cancelled").with_code("CANCELLED")
}
