//! The engine of a run. It stores the requests of the run until the driver sends them to Restate.
//!
//! Restate returns the entries of its journal only in their order, so all decisions of one poll are one entry. The first decision of a poll waits for that entry.

use crate::wire::{Decided, Sent, size_of_text, too_large};
use plan_runtime::run::{CallOutcome, Engine, EngineCall, EngineFuture, Timer, TimerFuture};
use serde_json::Value;
use std::collections::VecDeque;
use std::future::{pending, ready};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;

/// The size in bytes up to which a decision is stored even if no space is left for larger decisions. An example is the
/// error that replaces a decision.
const SMALL: usize = 1024;

/// A request of a run.
pub(crate) enum Ask {
    Call(Box<EngineCall>, oneshot::Sender<CallOutcome>),
    Sleep(Duration, oneshot::Sender<()>),
    Receive(String, oneshot::Sender<Value>),
}

/// The decisions of a poll, from this attempt or an earlier one.
pub(crate) enum Decisions {
    /// The run has not requested its decisions.
    Unknown,
    /// The run waits for Restate's entry with its decisions.
    Asked,
    /// The decisions of this attempt.
    Live(Decided),
    /// The decisions of an earlier attempt, before a crash.
    Past(Decided),
}

#[derive(Clone)]
pub(crate) struct Seam(Arc<Inner>);

struct Inner {
    base: Instant,
    began: u64,
    now: AtomicU64,
    seed: u64,
    state: Mutex<State>,
}

struct State {
    asks: VecDeque<Ask>,
    decisions: Decisions,
    /// The size of this poll's decisions in bytes.
    bytes: usize,
    /// The key of a decision that an earlier attempt did not make.
    unexpected: Option<String>,
}

impl Seam {
    pub(crate) fn new(began: u64, seed: u64) -> Self {
        Self(Arc::new(Inner {
            base: Instant::now(),
            began,
            now: AtomicU64::new(began),
            seed,
            state: Mutex::new(State {
                asks: VecDeque::new(),
                decisions: Decisions::Unknown,
                bytes: 0,
                unexpected: None,
            }),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the time to this value, in milliseconds since 1970, unless it is later already.
    pub(crate) fn advance(&self, time: u64) {
        self.0.now.fetch_max(time, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> u64 {
        self.0.now.load(Ordering::Relaxed)
    }

    /// Prepares for a poll of the run.
    pub(crate) fn begin_poll(&self) {
        let mut state = self.state();
        state.decisions = Decisions::Unknown;
        state.bytes = 0;
    }

    /// Returns `true` if the run waits for its decisions of this poll.
    pub(crate) fn is_asked(&self) -> bool {
        matches!(self.state().decisions, Decisions::Asked)
    }

    /// Sets the decisions that the run waits for.
    pub(crate) fn decide(&self, decisions: Decisions) {
        self.state().decisions = decisions;
    }

    /// Returns the decisions of the poll.
    pub(crate) fn decided(&self) -> Decided {
        match &self.state().decisions {
            Decisions::Live(decided) => decided.clone(),
            Decisions::Unknown | Decisions::Asked | Decisions::Past(_) => Decided::new(),
        }
    }

    /// Ends a poll. Returns a reason if the poll has other decisions than the recorded poll.
    pub(crate) fn end_poll(&self) -> Option<String> {
        let mut state = self.state();
        if let Some(key) = state.unexpected.take() {
            return Some(format!("`{key}` is decided, which it was not before"));
        }
        match std::mem::replace(&mut state.decisions, Decisions::Unknown) {
            Decisions::Past(left) => {
                let key = left.into_keys().next()?;
                Some(format!("`{key}` is not decided, which it was before"))
            }
            Decisions::Unknown | Decisions::Asked | Decisions::Live(_) => None,
        }
    }

    /// Takes the requests of the run, in order. Leaves out calls that the run has dropped, which its report lists as calls that have not begun.
    pub(crate) fn asks(&self) -> VecDeque<Ask> {
        let mut asks = std::mem::take(&mut self.state().asks);
        asks.retain(|ask| !matches!(ask, Ask::Call(_, reply) if reply.is_closed()));
        asks
    }

    fn ask<T: Send + 'static>(
        &self,
        make: impl FnOnce(oneshot::Sender<T>) -> Ask,
    ) -> EngineFuture<T> {
        let (reply, answer) = oneshot::channel();
        self.state().asks.push_back(make(reply));
        Box::pin(async move {
            match answer.await {
                Ok(answer) => answer,
                // The driver has dropped the request, and will not poll the run again.
                Err(_) => pending().await,
            }
        })
    }
}

impl Timer for Seam {
    fn now(&self) -> Instant {
        let passed = Duration::from_millis(self.now().saturating_sub(self.0.began));
        self.0.base.checked_add(passed).unwrap_or(self.0.base)
    }

    fn sleep(&self, duration: Duration) -> TimerFuture {
        if duration.is_zero() {
            return Box::pin(ready(()));
        }
        self.ask(|reply| Ask::Sleep(duration, reply))
    }
}

impl Engine for Seam {
    fn seed(&self) -> u64 {
        self.0.seed
    }

    fn system_time(&self) -> SystemTime {
        let now = UNIX_EPOCH.checked_add(Duration::from_millis(self.now()));
        now.unwrap_or(UNIX_EPOCH)
    }

    fn call(&self, call: EngineCall) -> EngineFuture<CallOutcome> {
        self.ask(|reply| Ask::Call(Box::new(call), reply))
    }

    /// Returns `Ready` once Restate has its entry for the poll. The driver then polls the run again.
    fn poll_decisions(&self, _: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if let Decisions::Unknown | Decisions::Asked = state.decisions {
            state.decisions = Decisions::Asked;
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn recall(&self, key: &str) -> Option<String> {
        match &mut self.state().decisions {
            Decisions::Past(decided) => decided.remove(key),
            Decisions::Live(_) | Decisions::Unknown | Decisions::Asked => None,
        }
    }

    fn remember(&self, key: String, decision: String) -> plan_runtime::Result<()> {
        let state = &mut *self.state();
        match &mut state.decisions {
            Decisions::Live(decided) => {
                let bytes = size_of_text(&key) + size_of_text(&decision);
                state.bytes += bytes;
                let what = "what Rust code in the plan has made until the run waits";
                if bytes > SMALL
                    && let Some(error) = too_large(what, state.bytes)
                {
                    state.bytes -= bytes;
                    return Err(plan_runtime::Error::permanent(error));
                }
                decided.insert(key, decision);
            }
            Decisions::Past(_) | Decisions::Unknown | Decisions::Asked => {
                state.unexpected.get_or_insert(key);
            }
        }
        Ok(())
    }

    fn receive(&self, path: &str) -> EngineFuture<Value> {
        self.ask(|reply| Ask::Receive(path.to_owned(), reply))
    }
}

/// Returns a sent value as JSON.
pub(crate) fn value_of(sent: &Sent) -> Value {
    serde_json::from_str(sent.value.get()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Ask, Seam};
    use plan_runtime::run::Engine;
    use serde_json::json;

    #[test]
    fn a_call_that_the_run_has_dropped_is_not_made() {
        let seam = Seam::new(0, 0);
        let call = |step: &str| {
            let call = json!({
                "tool": "charge", "arguments": {}, "run": "r", "plan": "buy", "step": step,
                "element": [], "path": step, "lasting": step, "attempt": 1,
            });
            seam.call(serde_json::from_value(call).unwrap())
        };
        drop(call("dropped"));
        let kept = call("kept");
        let asks = Vec::from(seam.asks());
        assert!(matches!(&*asks, [Ask::Call(call, _)] if call.path() == "kept"));
        drop(kept);
        assert!(seam.asks().is_empty());
    }
}
