//! Numbers and times in the types of Postgres.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest rest, lease and patience, and the greatest age: more than 3,000 years. The last date of Postgres is in the year 294276.
pub(crate) const LONGEST: Duration = Duration::from_secs(100_000_000_000);

/// Returns milliseconds that can be added to a date.
pub(crate) fn millis(time: Duration) -> f64 {
    time.min(LONGEST).as_secs_f64() * 1000.0
}

/// Returns the number of a record, a message or a run.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the nanoseconds since 1970.
pub(crate) fn nanos(time: SystemTime) -> i64 {
    let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(error) => -nanos(error.duration()),
    }
}

/// Returns the time of these nanoseconds since 1970.
pub(crate) fn time(nanos: i64) -> SystemTime {
    let since = Duration::from_nanos(nanos.unsigned_abs());
    let time = if nanos < 0 {
        UNIX_EPOCH.checked_sub(since)
    } else {
        UNIX_EPOCH.checked_add(since)
    };
    time.unwrap_or(UNIX_EPOCH)
}
