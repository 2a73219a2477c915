//! Messages to a run with a journal.

use super::durable::Durable;
use super::signals::{SignalError, Signals};
use super::timer::Sleep;
use crate::journal::{JournalError, Message};
use serde_json::Value;
use std::sync::atomic::Ordering;
use std::task::Context;

/// The messages from outside the run.
pub(super) struct Messages {
    signals: Signals,
    watch: Sleep,
    /// The number of the last message.
    last: u64,
    /// The values for paths at which no step waits yet.
    early: Vec<(String, Value)>,
}

impl Messages {
    pub(super) fn new(durable: &Durable, signals: Signals) -> Self {
        Self {
            signals,
            watch: durable.claimed.watch(0),
            last: 0,
            early: Vec::new(),
        }
    }

    /// Handles new messages. Returns `true` if a message cancels the run.
    pub(super) fn poll(&mut self, durable: &Durable, cx: &mut Context<'_>) -> bool {
        let mut is_cancelled = false;
        // Early values are sent again, since their steps may wait now.
        let signals = &self.signals;
        self.early
            .retain(|(path, value)| is_early(durable, path, signals.send(path, value)));
        while self.watch.as_mut().poll(cx).is_ready() {
            let messages = match durable.messages(self.last) {
                Ok(messages) => messages,
                Err(()) => return false,
            };
            for (number, message) in messages {
                self.last = self.last.max(number);
                durable.seen.store(self.last, Ordering::Relaxed);
                match message {
                    Message::Cancel => is_cancelled = true,
                    Message::Signal { path, body } => {
                        // Only another program sends invalid JSON.
                        if let Ok(value) = serde_json::from_str::<Value>(&body)
                            && is_early(durable, &path, self.signals.send(&path, &value))
                        {
                            self.early.push((path, value));
                        }
                    }
                }
            }
            self.watch = durable.claimed.watch(self.last);
        }
        is_cancelled
    }
}

/// Returns `true` if a value was sent before its step waits. A value that the step cannot take stops the run, since the step would wait forever.
fn is_early(durable: &Durable, path: &str, sent: Result<(), SignalError>) -> bool {
    let why = match sent {
        Err(SignalError::Unknown { .. }) => return true,
        Ok(()) | Err(SignalError::Second { .. } | SignalError::Ended | SignalError::Journal(_)) => {
            return false;
        }
        Err(SignalError::Type { message, .. }) => message,
        Err(error @ SignalError::Value { .. }) => error.to_string(),
    };
    durable.fail(JournalError::Misfit {
        what: format!("the value that was sent to step `{path}`"),
        why,
    });
    false
}
