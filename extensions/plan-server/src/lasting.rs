//! The due runs and the times of ended runs, which the list of runs reads often.

use crate::limits;
use crate::run_json::report;
use crate::state::{State, now};
use plan_runtime::Report;
use plan_runtime::journal::{RunSummary, Store};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The age of a list of due runs after which the server reads the list again.
const FRESH: Duration = Duration::from_millis(50);

/// The known due runs and times of ended runs.
#[derive(Default)]
pub(crate) struct Lasting {
    /// The due runs, with the time of their reading.
    due: Mutex<Option<(Instant, HashSet<String>)>>,
    /// The ends and the times of ended runs.
    took: Mutex<HashMap<String, (SystemTime, Duration)>>,
}

impl State {
    /// Returns `true` if the server starts or continues a run as soon as it has room.
    pub(crate) fn is_due(&self, run: &RunSummary) -> bool {
        let mut due = self
            .lasting
            .due
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |at: &Instant| at.elapsed() < FRESH;
        if !due.as_ref().is_some_and(|(at, _)| is_fresh(at)) {
            let read = now(self.server.journal().due(limits::LOADED_RUNS));
            let ids = read.unwrap_or_default().into_iter().map(|run| run.id);
            *due = Some((Instant::now(), ids.collect()));
        }
        // A new run may have begun after the reading, and further runs follow a full list.
        run.began.elapsed().is_ok_and(|age| age < FRESH)
            || due
                .as_ref()
                .is_some_and(|(_, ids)| ids.contains(&run.id) || ids.len() >= limits::LOADED_RUNS)
    }

    /// Reads the due runs again for the next question, after a run has become due.
    pub(crate) fn forget_due(&self) {
        *self
            .lasting
            .due
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the time of a run until now or its end, with the time between an end and a retry.
    pub(crate) fn took(&self, run: &RunSummary, report: &Report) -> Duration {
        // The report of a retry that failed at once ends where the report before the retry ended.
        let retried = self.decisions.earlier(&run.id);
        let ended = run
            .ended
            .filter(|_| retried.iter().any(|it| it.idle_ms.is_some()));
        ended
            .and_then(|ended| ended.duration_since(run.began).ok())
            .unwrap_or_else(|| report.duration())
    }

    /// Returns the time of an ended run. A list that already took long gets the approximate times of further runs.
    pub(crate) fn took_of(&self, run: &RunSummary, spent: Duration) -> Option<Duration> {
        let ended = run.ended?;
        let took = || {
            self.lasting
                .took
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((_, known)) = took().get(&run.id).filter(|(of, _)| *of == ended) {
            return Some(*known);
        }
        let made = (spent < limits::LIST_TIME).then(|| report(self, &run.id, false));
        let Some(Ok(made)) = made else {
            return ended.duration_since(run.began).ok();
        };
        let lasted = self.took(run, &made);
        let mut all = took();
        if all.len() >= limits::LISTS {
            all.clear();
        }
        all.insert(run.id.clone(), (ended, lasted));
        Some(lasted)
    }
}
