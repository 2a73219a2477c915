//! The time of a run.

use super::super::shared::SharedRun;
use super::super::timer::{Sleep, Timer};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The timer of a run, and when the run started.
pub(super) struct Clock {
    run: Arc<SharedRun>,
    pub(super) started_at: SystemTime,
    start: Instant,
}

impl Clock {
    pub(super) fn start(run: Arc<SharedRun>) -> Self {
        Self {
            started_at: SystemTime::now(),
            start: run.options.timer.now(),
            run,
        }
    }

    /// The time since the run's start.
    pub(super) fn now(&self) -> Duration {
        self.run
            .options
            .timer
            .now()
            .saturating_duration_since(self.start)
    }

    /// The timer's time, after this much of the run.
    pub(super) fn at(&self, elapsed: Duration) -> Option<Instant> {
        self.start.checked_add(elapsed)
    }

    /// Whether this time has come.
    pub(super) fn is_past(&self, time: Instant) -> bool {
        self.run.options.timer.now() >= time
    }

    pub(super) fn sleep(&self, duration: Duration) -> Sleep {
        self.run.options.timer.sleep(duration)
    }
}
