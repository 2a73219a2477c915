//! The time of a run.

use super::super::timer::{Sleep, Timer};
use std::time::{Duration, Instant, SystemTime};

/// The timer of a run, and when the run started.
pub(super) struct Clock<'x> {
    pub(super) timer: Box<dyn Timer + 'x>,
    pub(super) started_at: SystemTime,
    start: Instant,
}

impl<'x> Clock<'x> {
    pub(super) fn start(timer: Box<dyn Timer + 'x>) -> Self {
        Self {
            started_at: SystemTime::now(),
            start: timer.now(),
            timer,
        }
    }

    /// The time since the run's start.
    pub(super) fn now(&self) -> Duration {
        self.timer.now().saturating_duration_since(self.start)
    }

    pub(super) fn sleep(&self, duration: Duration) -> Sleep {
        self.timer.sleep(duration)
    }
}
