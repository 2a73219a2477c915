//! Panics in code that a run calls, as errors.

use super::StepError;
use crate::resolve::{PlacedPanic, drop_quietly};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The message of a panic whose payload is not a string.
pub(super) const NO_TEXT: &str = "(the panic's payload is not text)";

/// Calls a function. Returns a panic as a step's error.
#[inline]
pub(super) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, StepError> {
    // The state that a panicking `run` leaves behind belongs to a step that ends here, or to its author, who shared the
    // state.
    catch_unwind(AssertUnwindSafe(run)).map_err(panicked)
}

/// Creates the error of a step that panicked.
#[cold]
pub(super) fn panicked(payload: Box<dyn Any + Send>) -> StepError {
    StepError::Panic(message(payload))
}

fn message(payload: Box<dyn Any + Send>) -> Arc<str> {
    match payload.downcast::<PlacedPanic>() {
        Ok(placed) => {
            let PlacedPanic { payload, place } = *placed;
            format!("{} (in the value at {place})", text(payload)).into()
        }
        Err(payload) => text(payload).into(),
    }
}

fn text(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => {
            let message = match payload.downcast_ref::<&str>() {
                Some(message) => (*message).to_owned(),
                None => NO_TEXT.to_owned(),
            };
            drop_quietly(payload);
            message
        }
    }
}

/// Locks a mutex, even if a thread has panicked with the lock.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
