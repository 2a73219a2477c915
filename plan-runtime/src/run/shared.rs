//! The state that a run shares with the plans inside it.

use super::admission::{Permits, Throttle};
use super::catch::locked;
use super::durable::{Durable, RETRIED, RUN, Undone, of_element, secrets_in_journal};
use super::engine::{Engine, secrets_on_engine};
use super::on_failure::OnFailure;
use super::signals::Inbox;
use super::timer::{ThreadTimer, Timer};
use super::watch::Observers;
use crate::error::Cause;
use crate::resolve::drop_quietly;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// The state that a run shares with the plans inside it, however deep.
pub(super) struct SharedRun {
    pub(super) id: OnceLock<String>,
    pub(super) timer: Arc<dyn Timer>,
    pub(super) seed: Option<u64>,
    pub(super) on_failure: OnFailure,
    /// The maximum number of concurrent calls.
    pub(super) concurrency: usize,
    pub(super) observers: Observers,
    /// The values for the steps, if a handle can send values.
    pub(super) inbox: Option<Arc<Inbox>>,
    pub(super) permits: Permits,
    /// The turns of the questions to gates, which bound the number of open questions.
    pub(super) questions: Throttle,
    /// The journal of the run, if the run has a journal.
    pub(super) durable: Option<Arc<Durable>>,
    /// The engine that makes the calls, unless the process makes the calls.
    pub(super) engine: Option<Arc<dyn Engine>>,
    /// The counts of undone steps from before the last retry of the run, and the number of retries. The retry has removed the records of these undo
    /// steps.
    pub(super) before: Undone,
    pub(super) undone: Mutex<Undone>,
}

impl SharedRun {
    /// Returns the ID of the run: the ID that the host set, or a random ID.
    pub(super) fn id(&self) -> &str {
        self.id.get_or_init(|| {
            let bits = fastrand::u128(..);
            format!("{bits:032x}")
        })
    }

    /// Returns `true` if the run has a journal.
    pub(super) fn is_durable(self: &Arc<Self>) -> bool {
        self.durable.is_some()
    }

    /// Returns `true` if the run can resume after a crash, so that decisions of Rust code must be recorded.
    pub(super) fn is_kept(&self) -> bool {
        self.durable.is_some() || self.engine.is_some()
    }

    /// Returns an error if the run would store the secrets of a plan inside it in plain text.
    pub(super) fn may_have_secrets(&self) -> Result<(), Cause> {
        match (&self.durable, &self.engine) {
            (Some(durable), _) if !durable.claimed.is_encrypted => Err(secrets_in_journal()),
            (None, Some(_)) => Err(secrets_on_engine()),
            _ => Ok(()),
        }
    }

    /// Returns the count of a step whose lasting path begins with this prefix.
    pub(super) fn times_undone(&self, prefix: impl FnOnce() -> String, step: &str) -> u32 {
        let undone = locked(&self.undone);
        if undone.is_empty() && self.before.is_empty() {
            return 0;
        }
        let path = of_element(&prefix(), step, &[]);
        let times = |counts: &Undone| counts.get(&path).copied().unwrap_or_default();
        times(&undone).saturating_add(times(&self.before))
    }

    /// Returns the number of retries of the run after a failure.
    pub(super) fn times_retried(&self) -> u32 {
        self.before.get(RUN).copied().unwrap_or_default()
    }

    /// Returns the age of a retried run at its last retry.
    pub(super) fn last_retry(&self) -> Option<Duration> {
        let age = self.before.get(RETRIED)?;
        Some(Duration::from_millis(u64::from(*age)))
    }

    /// Returns the age of a retried run when this process took the run, and zero for any other run. Earlier time is no wait of a
    /// repeated call, because the run had ended.
    pub(super) fn retried_at(&self) -> Duration {
        let durable = self.durable.as_ref().filter(|_| self.times_retried() > 0);
        durable.map_or(Duration::ZERO, |durable| durable.clock.before())
    }

    /// Counts that a step was undone. Returns the lasting path of the step, which begins with this prefix.
    pub(super) fn undo(&self, prefix: &str, step: &str) -> String {
        let path = of_element(prefix, step, &[]);
        let mut undone = locked(&self.undone);
        let times: &mut u32 = undone.entry(path.clone()).or_default();
        *times = times.saturating_add(1);
        path
    }

    /// Returns the counts of undone steps in the plans that a tool has run inside its call.
    pub(super) fn undone_inside(&self, call: impl FnOnce() -> String) -> Undone {
        let undone = locked(&self.undone);
        if undone.is_empty() {
            return Undone::new();
        }
        let prefix = call() + "#";
        let inside = undone.range(prefix.clone()..);
        let inside = inside.take_while(|(path, _)| path.starts_with(&prefix));
        inside.map(|(path, times)| (path.clone(), *times)).collect()
    }

    /// Adds the counts of a call that another machine makes, or that has a record.
    pub(super) fn take_undone(&self, undone: Undone) {
        if !undone.is_empty() {
            locked(&self.undone).extend(undone);
        }
    }
}

impl Drop for SharedRun {
    /// Drops the timer separately, so that a panic in its destructor does not skip another destructor.
    fn drop(&mut self) {
        let timer: Arc<dyn Timer> = Arc::new(ThreadTimer);
        drop_quietly(std::mem::replace(&mut self.timer, timer));
    }
}
