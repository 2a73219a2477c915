//! Times as numbers of nanoseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) fn now() -> i64 {
    number(SystemTime::now())
}

pub(super) fn number(time: SystemTime) -> i64 {
    let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(error) => -nanos(error.duration()),
    }
}

pub(super) fn system(number: i64) -> SystemTime {
    let nanos = Duration::from_nanos(number.unsigned_abs());
    let time = if number < 0 {
        UNIX_EPOCH.checked_sub(nanos)
    } else {
        UNIX_EPOCH.checked_add(nanos)
    };
    time.unwrap_or(UNIX_EPOCH)
}
