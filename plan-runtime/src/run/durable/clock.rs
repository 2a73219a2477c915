//! The time of a durable run: the clock of the system, and the times of records during a replay.

use super::super::timer::{Timer, TimerFuture, yield_now};
use super::Durable;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// A clock that continues while no process runs the run.
pub(in crate::run) struct LastingClock {
    timer: Arc<dyn Timer>,
    /// The time at which this process took the run.
    start: Instant,
    /// The start of the run in the journal.
    pub(in crate::run) began: SystemTime,
    /// The age of the run when this process took it.
    before: Duration,
}

impl LastingClock {
    pub(super) fn start(timer: Arc<dyn Timer>, began: SystemTime, before: Duration) -> Self {
        Self {
            start: timer.now(),
            timer,
            began,
            before,
        }
    }

    /// Returns the age of the run when this process took the run.
    pub(in crate::run) fn before(&self) -> Duration {
        self.before
    }

    /// Returns the time since the start of the run, with the precision of a record.
    pub(super) fn now(&self) -> Duration {
        let here = self.timer.now().saturating_duration_since(self.start);
        let micros = self.before.saturating_add(here).as_micros();
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

/// The time of the records.
#[derive(Default)]
pub(super) struct RecordedTime {
    /// The time of the record that had its turn last.
    last: Duration,
    /// `true` while the run acts on a record, so that the time is the record's.
    pub(super) has_turn: bool,
    /// The lead of the records over the clock, which was set back.
    ahead: Duration,
}

impl RecordedTime {
    /// Advances the time of the run to at least this time, even if the clock shows an earlier time.
    pub(super) fn pass(&mut self, time: Duration, by_clock: Duration) {
        self.last = self.last.max(time);
        let ahead = self.last.saturating_sub(by_clock);
        self.ahead = self.ahead.max(ahead);
    }
}

/// The ends of all sleeps, by the numbers of the sleeps.
#[derive(Default)]
pub(super) struct Alarms {
    pub(super) set: BTreeSet<(Duration, u64)>,
    /// The number of alarms so far.
    begun: u64,
}

impl Durable {
    /// Returns the time since the start of the run, or the recorded time while the run replays or acts on a record.
    pub(in crate::run) fn now(&self) -> Duration {
        let by_clock = self.clock.now();
        let state = self.state();
        if state.is_live && !state.time.has_turn {
            by_clock.saturating_add(state.time.ahead)
        } else {
            state.time.last
        }
    }

    /// Returns the time since the start of the run.
    pub(in crate::run) fn time(&self) -> Duration {
        let by_clock = self.clock.now();
        by_clock.saturating_add(self.state().time.ahead)
    }

    /// Returns the timer's time after this duration of the run.
    pub(in crate::run) fn at(&self, time: Duration) -> Option<Instant> {
        let before = self.clock.before.saturating_add(self.state().time.ahead);
        match time.checked_sub(before) {
            Some(here) => self.clock.start.checked_add(here),
            // The time may be before the start of the machine.
            None => Some(self.clock.start),
        }
    }

    /// Returns `true` if this time has passed. While the run replays, no time passes.
    pub(in crate::run) fn is_past(&self, time: Instant) -> bool {
        self.is_live() && self.clock.timer.now() >= time
    }

    /// Sleeps until this time of the run. The sleep never ends before the run is live.
    pub(in crate::run) fn sleep_until(self: &Arc<Self>, time: Duration) -> TimerFuture {
        let this = Arc::clone(self);
        Box::pin(async move {
            this.live().await;
            let alarm = ClockAlarm::set(&this, time);
            let left = time.saturating_sub(this.time());
            this.clock.timer.sleep(left).await;
            drop(alarm);
        })
    }

    /// Returns the end of a sleep. The sleep of a repeated call began at the time `from`, before this process took the run. Any other sleep begins now.
    pub(in crate::run) async fn end_of_sleep(&self, from: Duration, time: Duration) -> Duration {
        self.live().await;
        let taken = self.clock.before.saturating_add(self.state().time.ahead);
        let is_repeated = from < taken;
        let from = if is_repeated { from } else { self.time() };
        let until = from.saturating_add(time);
        if is_repeated && until < self.time() {
            // Other sleeps of the call, which began at the same time, begin before this sleep ends.
            yield_now().await;
        }
        until
    }

    /// Sleeps for this duration, which starts when the run is live.
    pub(in crate::run) fn sleep_live(self: &Arc<Self>, duration: Duration) -> TimerFuture {
        // A sleep of zero ends immediately, even during a replay.
        if duration.is_zero() {
            return self.clock.timer.sleep(duration);
        }
        let this = Arc::clone(self);
        Box::pin(async move {
            this.live().await;
            let alarm = ClockAlarm::set(&this, this.time().saturating_add(duration));
            this.clock.timer.sleep(duration).await;
            drop(alarm);
        })
    }
}

/// The end of a sleep.
struct ClockAlarm(Arc<Durable>, (Duration, u64));

impl ClockAlarm {
    fn set(durable: &Arc<Durable>, time: Duration) -> Self {
        let alarms = &mut durable.state().alarms;
        alarms.begun += 1;
        let alarm = (time, alarms.begun);
        alarms.set.insert(alarm);
        Self(Arc::clone(durable), alarm)
    }
}

impl Drop for ClockAlarm {
    fn drop(&mut self) {
        self.0.state().alarms.set.remove(&self.1);
    }
}
