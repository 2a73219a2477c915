//! The values that were sent into a run, and the steps that wait for one.

use super::super::catch::locked;
use super::super::limits::Limits;
use super::SignalError;
use super::path::{find, similar_path};
use crate::plan::{Await, Plan};
use crate::resolve::{MemoryBudget, Meter, ResolveError, encode_within};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// The values of a run and of the plans inside it.
pub(in crate::run) struct Inbox {
    /// The plan that contains the steps of the paths. `None` if the plan cannot run.
    plan: Option<Arc<Plan>>,
    state: Mutex<InboxState>,
}

struct InboxState {
    /// `true` after the end of the run.
    is_over: bool,
    /// The number of handles that can send.
    senders: usize,
    limits: Limits,
    /// The bytes that the values count.
    bytes: usize,
    /// The values by the paths of their steps. A repeated step gets its value again.
    values: HashMap<String, Arc<Sent>>,
    /// The waiting steps at each path. A path may have several if a tool runs several plans.
    waits: HashMap<String, Vec<Wait>>,
    /// The number of waits so far.
    count: u64,
}

/// A value that was sent.
pub(in crate::run) struct Sent {
    pub(in crate::run) value: Value,
    /// The bytes charged for the value.
    pub(in crate::run) bytes: usize,
}

struct Wait {
    number: u64,
    wait: Await,
    waker: Option<Waker>,
}

impl Inbox {
    /// Sets the limits on the size of the values.
    pub(in crate::run) fn limit(&self, limits: Limits) {
        locked(&self.state).limits = limits;
    }

    pub(super) fn reopen(&self) {
        locked(&self.state).is_over = false;
    }

    pub(super) fn add_sender(&self) {
        locked(&self.state).senders += 1;
    }

    /// Counts one handle less. The last one wakes all waits, since a wait without a time limit has to end.
    pub(super) fn remove_sender(&self) {
        let mut wakers: Vec<Waker> = Vec::new();
        {
            let mut state = locked(&self.state);
            state.senders -= 1;
            if state.senders == 0 {
                let waits = state.waits.values_mut().flatten();
                wakers.extend(waits.filter_map(|wait| wait.waker.take()));
            }
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns `true` if a step waits for a value.
    pub(in crate::run) fn is_awaited(&self) -> bool {
        !locked(&self.state).waits.is_empty()
    }

    /// Returns the number of waits so far.
    pub(super) fn waits(&self) -> u64 {
        locked(&self.state).count
    }

    /// Stores a value for a step.
    pub(super) fn send<T: Serialize>(&self, path: String, value: &T) -> Result<(), SignalError> {
        let (waits, room) = {
            let state = locked(&self.state);
            let waits = state.check(&path)?;
            (waits, state.room())
        };
        // The values are the sender's, so nothing is locked while their code runs.
        let known = self.plan.as_deref().and_then(|plan| find(plan, &path));
        let Some(wait) = known.cloned().or(waits) else {
            return Err(self.unknown(path));
        };
        let refused = |path: &str, error: ResolveError| SignalError::Value {
            path: path.to_owned(),
            error: Arc::new(error),
        };
        let mut value = encode_within(value, Some(&Meter::new(room, None)))
            .map_err(|error| refused(&path, error))?;
        if let Some(received) = wait.receive(&value) {
            value = received.map_err(|message| SignalError::Type {
                path: path.clone(),
                type_name: wait.type_name.to_string(),
                message,
            })?;
        }
        let mut state = locked(&self.state);
        state.check(&path)?;
        let meter = Meter::new(state.room(), None);
        let counted = meter.charge_value(&value);
        counted.map_err(|error| refused(&path, error))?;
        let bytes = meter.spent();
        state.bytes += bytes;
        let waits = state.waits.get_mut(&path).into_iter().flatten();
        let wakers: Vec<Waker> = waits.filter_map(|wait| wait.waker.take()).collect();
        state.values.insert(path, Arc::new(Sent { value, bytes }));
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Stores a value that was sent before a crash.
    pub(in crate::run) fn keep(&self, path: String, sent: &Arc<Sent>) {
        let mut state = locked(&self.state);
        if !state.is_over && !state.values.contains_key(&path) {
            state.bytes += sent.bytes;
            state.values.insert(path, Arc::clone(sent));
        }
    }

    fn unknown(&self, path: String) -> SignalError {
        let plan = self.plan.as_deref();
        let similar = plan.and_then(|plan| similar_path(plan, &path));
        SignalError::Unknown { path, similar }
    }
}

impl InboxState {
    /// Returns the wait at a path without a value.
    fn check(&self, path: &str) -> Result<Option<Await>, SignalError> {
        if self.is_over {
            return Err(SignalError::Ended);
        }
        if self.values.contains_key(path) {
            let path = path.to_owned();
            return Err(SignalError::Second { path });
        }
        let waits = self.waits.get(path).and_then(|waits| waits.first());
        Ok(waits.map(|wait| wait.wait.clone()))
    }

    fn room(&self) -> MemoryBudget {
        let Limits { value, total, .. } = self.limits;
        MemoryBudget {
            value,
            arguments: value,
            total,
            left: total.saturating_sub(self.bytes),
            is_of_many: false,
        }
    }
}

/// The inbox of a run, until the run is dropped.
pub(in crate::run) struct Receiver(Arc<Inbox>);

impl Receiver {
    /// Creates the receiver of a run of this plan. `None` if the plan cannot run.
    pub(in crate::run) fn new(plan: Option<Arc<Plan>>) -> Self {
        Self(Arc::new(Inbox {
            plan,
            state: Mutex::new(InboxState {
                is_over: false,
                senders: 0,
                limits: Limits::DEFAULT,
                bytes: 0,
                values: HashMap::new(),
                waits: HashMap::new(),
                count: 0,
            }),
        }))
    }

    pub(in crate::run) fn inbox(&self) -> Arc<Inbox> {
        Arc::clone(&self.0)
    }
}

impl Drop for Receiver {
    /// Drops the values of an ended run, which have no reader.
    fn drop(&mut self) {
        let mut state = locked(&self.0.state);
        state.is_over = true;
        let values = std::mem::take(&mut state.values);
        drop(state);
        drop(values);
    }
}

/// A step that waits for its value.
pub(in crate::run) struct Waiting {
    inbox: Arc<Inbox>,
    path: String,
    number: u64,
}

impl Waiting {
    pub(in crate::run) fn new(inbox: Arc<Inbox>, path: String, wait: Await) -> Self {
        let mut state = locked(&inbox.state);
        state.count += 1;
        let number = state.count;
        state.waits.entry(path.clone()).or_default().push(Wait {
            number,
            wait,
            waker: None,
        });
        drop(state);
        Self {
            inbox,
            path,
            number,
        }
    }

    /// Returns the value, or `None` if no sender remains and the wait has no limit.
    pub(in crate::run) fn poll(
        &self,
        cx: &Context<'_>,
        has_limit: bool,
    ) -> Poll<Option<Arc<Sent>>> {
        let mut state = locked(&self.inbox.state);
        if let Some(sent) = state.values.get(&self.path) {
            return Poll::Ready(Some(Arc::clone(sent)));
        }
        if state.senders == 0 && !has_limit {
            return Poll::Ready(None);
        }
        let mut waits = state.waits.get_mut(&self.path).into_iter().flatten();
        let before = waits.find(|wait| wait.number == self.number);
        let before = before.and_then(|wait| wait.waker.replace(cx.waker().clone()));
        drop(state);
        // Dropping this value may wake a task that locks the inbox.
        drop(before);
        Poll::Pending
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = locked(&self.inbox.state);
        let mut gone = Vec::new();
        if let Some(waits) = state.waits.get_mut(&self.path) {
            gone.extend(waits.extract_if(.., |wait| wait.number == self.number));
            if waits.is_empty() {
                state.waits.remove(&self.path);
            }
        }
        drop(state);
        drop(gone);
    }
}
