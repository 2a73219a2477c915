//! Records of plans and of their ends: their keys and their contents.

use super::durable::{self, BEGUN, Busy, Durable, Recorded};
use super::timer::TimerFuture;
use crate::error::Interrupt;
use crate::journal::JournalError;
use crate::plan::{Block, Body};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Display;
use std::future::{Future, pending, ready};
use std::sync::Arc;
use std::time::Duration;

/// Returns the recorded interrupt with this key.
pub(super) fn interrupt(durable: &Arc<Durable>, key: &str) -> Option<(TimerFuture, Interrupt)> {
    let (number, recorded) = found(durable, key).ok()??;
    let unreadable = |error: serde_json::Error| {
        durable.fail(unusable(key, error));
    };
    let interrupt = match recorded.result {
        Ok(value) if value.is_null() => Interrupt::Cancelled,
        Ok(Value::String(place)) => Interrupt::Recorded(place.into()),
        Ok(value) => Interrupt::Deadline(serde_json::from_value(value).map_err(unreadable).ok()?),
        Err(_) => return None,
    };
    Some((durable.replay(number, recorded.ended), interrupt))
}

/// Returns the record of the early end of a plan. The body is the time limit after a deadline, the message after too many recorded bytes, and null
/// after a cancellation.
pub(super) fn interrupt_body(
    interrupt: &Interrupt,
    now: Duration,
) -> Result<String, serde_json::Error> {
    let limit = match interrupt {
        Interrupt::Deadline(limit) => serde_json::to_value(limit)?,
        Interrupt::Recorded(place) => Value::from(&**place),
        _ => Value::Null,
    };
    durable::encode((now, now), Ok(&limit))
}

/// Returns the error of a record that cannot be read or written.
pub(super) fn unusable(key: &str, error: impl Display) -> JournalError {
    JournalError::storage(format!("the record `{key}`: {error}"))
}

/// Returns the record with this key, and its number. `Err` means that the run has ended.
pub(super) fn found(durable: &Durable, key: &str) -> Result<Option<(u64, Recorded)>, ()> {
    let Some(found) = durable.find(key)? else {
        return Ok(None);
    };
    match durable::decode(&found.body) {
        Ok(recorded) => Ok(Some((found.number, recorded))),
        Err(error) => {
            durable.fail(unusable(key, error));
            Err(())
        }
    }
}

/// Writes a record. The future is ready when the record has its turn.
pub(super) fn write(
    durable: &Arc<Durable>,
    key: String,
    body: Result<String, serde_json::Error>,
    now: Duration,
) -> TimerFuture {
    match body {
        Ok(body) => durable.write(key, body, now),
        Err(error) => {
            durable.fail(unusable(&key, error));
            Box::pin(pending())
        }
    }
}

/// Returns a sleep whose end has a record. The run writes the record before it uses the end, so that a replay has the order of the run.
pub(super) fn time(
    durable: &Arc<Durable>,
    (key, found): (String, Result<Option<(u64, Recorded)>, ()>),
    sleep: impl FnOnce() -> TimerFuture,
) -> TimerFuture {
    match found {
        Err(()) => Box::pin(pending()),
        Ok(Some((number, recorded))) => durable.replay(number, recorded.ended),
        Ok(None) => {
            let (durable, sleep) = (Arc::clone(durable), sleep());
            Box::pin(async move {
                sleep.await;
                let now = durable.time();
                let body = durable::encode((now, now), Ok(&Value::Null));
                write(&durable, key, body, now).await;
            })
        }
    }
}

/// Returns the wait before an attempt. The wait is over if the attempt had begun before a crash.
///
/// Records the end of the wait. Without this record, a concurrent failure would come first after a crash, and a started call would not be repeated.
pub(super) fn wait_before(
    durable: &Arc<Durable>,
    attempt: &str,
    sleep: impl FnOnce() -> TimerFuture,
) -> TimerFuture {
    let key = format!("{attempt}{BEGUN}");
    let found = found(durable, &key);
    if let Ok(None) = found
        && !durable.is_live()
        && durable.history(|it| it.has_begun(attempt))
    {
        // The attempt had not waited.
        return Box::pin(ready(()));
    }
    time(durable, (key, found), sleep)
}

/// Holds a call back as long as the run replays.
pub(super) async fn held_back<T>(durable: Arc<Durable>, future: impl Future<Output = T>) -> T {
    durable.live().await;
    let _busy = Busy::begin(&durable);
    future.await
}

/// Returns the number of a block among the blocks of a step, if the names of its steps do not identify the block that has run.
pub(super) fn branch(body: &Body, block: &Block) -> Option<usize> {
    let blocks = body.blocks();
    let mut names = HashSet::new();
    let share_names = blocks.iter().any(|block| {
        let steps = block.plan.steps.iter().map(|step| &*step.id);
        let own: HashSet<&str> = steps.collect();
        let is_shared = own.iter().any(|name| names.contains(name));
        names.extend(own);
        is_shared
    });
    let mut places = blocks.iter();
    let place = places.position(|it| std::ptr::eq(*it, block));
    place.filter(|_| share_names)
}
