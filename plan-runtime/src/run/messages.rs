//! Messages to a run with a journal.

use super::durable::Durable;
use super::signals::{SignalError, Signals};
use crate::journal::JournalError;
use crate::journal::spi::{Answer, Message};
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

/// The messages from outside the run.
pub(super) struct Messages {
    signals: Signals,
    /// The next messages.
    next: Answer<'static, Vec<(u64, Message)>>,
    /// The number of the last message.
    last: u64,
    /// The values for paths at which no step waits yet. A further value for a path would be a second value.
    early: BTreeMap<String, Value>,
    /// The number of the message before the first value that had no room among the early values.
    unread: Option<u64>,
    /// The number of waits for values when the early values were last sent.
    waits: u64,
}

/// The most values that a run keeps for steps that do not wait yet. The journal keeps other values until the next step waits.
const MOST_EARLY: usize = 256;

impl Messages {
    pub(super) fn new(durable: &Durable, signals: Signals) -> Self {
        Self {
            signals,
            next: durable.first_messages(),
            last: 0,
            early: BTreeMap::new(),
            unread: None,
            waits: 0,
        }
    }

    /// Handles new messages. Returns `true` if a message cancels the run.
    pub(super) fn poll(&mut self, durable: &Durable, cx: &mut Context<'_>) -> bool {
        let mut is_cancelled = false;
        let mut misfit = None;
        let signals = &self.signals;
        let mut is_early = |path: &str, value: &Value| match is_early(path, signals, value) {
            Ok(is_early) => is_early,
            Err(error) => {
                misfit.get_or_insert(error);
                false
            }
        };
        // Early values are sent again only after another step waits.
        let waits = signals.waits();
        if std::mem::replace(&mut self.waits, waits) != waits {
            self.early.retain(|path, value| is_early(path, value));
            if let Some(after) = self.unread.take() {
                self.next = durable.messages(after);
            }
        }
        while let Poll::Ready(messages) = self.next.as_mut().poll(cx) {
            let messages = match messages {
                Ok(messages) => messages,
                Err(error) => {
                    self.next = Box::pin(pending());
                    durable.fail(error);
                    return false;
                }
            };
            for (number, message) in messages {
                self.last = self.last.max(number);
                durable.seen.store(self.last, Ordering::Relaxed);
                match message {
                    Message::Cancel => is_cancelled = true,
                    Message::Signal { path, body } => {
                        // Only another program sends invalid JSON.
                        if !self.early.contains_key(&path)
                            && let Ok(value) = serde_json::from_str::<Value>(&body)
                            && is_early(&path, &value)
                        {
                            if self.early.len() < MOST_EARLY {
                                self.early.insert(path, value);
                            } else {
                                self.unread.get_or_insert(number - 1);
                            }
                        }
                    }
                }
            }
            self.next = durable.messages(self.last);
        }
        // The step of the value would wait forever, unless the run is cancelled anyway.
        if let Some(error) = misfit.filter(|_| !is_cancelled) {
            durable.fail(error);
        }
        is_cancelled
    }
}

/// Sends a value. Returns `true` if the value comes before its step waits, and an error if the step cannot take the value.
fn is_early(path: &str, signals: &Signals, value: &Value) -> Result<bool, JournalError> {
    let why = match signals.send(path, value) {
        Err(SignalError::Unknown { .. }) => return Ok(true),
        Ok(()) | Err(SignalError::Second { .. } | SignalError::Ended | SignalError::Journal(_)) => {
            return Ok(false);
        }
        Err(SignalError::Type { message, .. }) => message,
        Err(error @ SignalError::Value { .. }) => error.to_string(),
    };
    Err(JournalError::Misfit {
        what: format!("the value that was sent to step `{path}`"),
        why,
    })
}
