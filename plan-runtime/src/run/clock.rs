//! The time of a run.

use super::durable::Durable;
use super::shared::SharedRun;
use super::timer::TimerFuture;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The timer of a run, and when the run started.
pub(super) struct Clock {
    run: Arc<SharedRun>,
    pub(super) started_at: SystemTime,
    pub(super) start: Instant,
    /// The start of a durable run, as the time since the start of the outermost run.
    began: Duration,
}

impl Clock {
    /// Creates the clock of a run that starts now. A plan that a tool runs inside its call starts by the clock of the machine, and not by a
    /// record.
    pub(super) fn start(run: Arc<SharedRun>, is_beside: bool) -> Self {
        let durable = run.durable.as_ref();
        let began = durable.map_or(Duration::ZERO, |durable| {
            if is_beside {
                durable.time()
            } else {
                durable.now()
            }
        });
        // A resumed run keeps the time of its first start.
        let first = match &run.engine {
            Some(engine) => Some(engine.system_time()),
            None => durable.and_then(|durable| durable.clock.began.checked_add(began)),
        };
        Self {
            started_at: first.unwrap_or_else(SystemTime::now),
            start: run.timer.now(),
            began,
            run,
        }
    }

    fn durable(&self) -> Option<&Arc<Durable>> {
        self.run.durable.as_ref()
    }

    /// Returns the time since the run's start, or the recorded time during a replay.
    pub(super) fn now(&self) -> Duration {
        if let Some(durable) = self.durable() {
            return durable.now().saturating_sub(self.began);
        }
        self.run.timer.now().saturating_duration_since(self.start)
    }

    /// Returns the time since the run's start, even during a replay.
    pub(super) fn time(&self) -> Duration {
        match self.durable() {
            Some(durable) => durable.time().saturating_sub(self.began),
            None => self.now(),
        }
    }

    /// Converts a time of the run to the time since the start of the outermost run.
    pub(super) fn in_all(&self, time: Duration) -> Duration {
        self.began.saturating_add(time)
    }

    /// Converts the time since the start of the outermost run to a time of the run.
    pub(super) fn in_here(&self, time: Duration) -> Duration {
        time.saturating_sub(self.began)
    }

    /// Returns the timer's time after this duration of the run.
    pub(super) fn at(&self, elapsed: Duration) -> Option<Instant> {
        match self.durable() {
            Some(durable) => durable.at(self.in_all(elapsed)),
            None => self.start.checked_add(elapsed),
        }
    }

    /// Returns `true` if this time has passed.
    pub(super) fn is_past(&self, time: Instant) -> bool {
        match self.durable() {
            Some(durable) => durable.is_past(time),
            None => self.run.timer.now() >= time,
        }
    }

    /// Returns `true` if the run has reached the time `until`.
    pub(super) fn is_over(&self, until: Option<Duration>) -> bool {
        until.is_some_and(|until| until <= self.now())
    }

    /// Sleeps for this time. The time passes even while no process runs the run.
    pub(super) fn sleep(&self, duration: Duration) -> TimerFuture {
        match self.durable() {
            Some(durable) => durable.sleep_until(self.in_all(self.now().saturating_add(duration))),
            None => self.run.timer.sleep(duration),
        }
    }

    /// Sleeps for this time after the end of the replay.
    pub(super) fn sleep_live(&self, duration: Duration) -> TimerFuture {
        match self.durable() {
            Some(durable) => durable.sleep_live(duration),
            None => self.run.timer.sleep(duration),
        }
    }
}
