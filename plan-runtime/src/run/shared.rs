//! What a run has in common with the plans inside it.

use super::catch::catch;
use super::durable::{Durable, of_element, secrets_in_journal};
use super::engine::{Engine, secrets_on_engine};
use super::lasting::{RUN, Undone};
use super::observe::Observer;
use super::on_failure::OnFailure;
use super::permits::Permits;
use super::signals::Inbox;
use super::timer::{ThreadTimer, Timer};
use crate::error::Cause;
use crate::resolve::drop_quietly;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What an outermost run was told that concerns the plans inside it.
pub(super) struct SharedOptions {
    pub(super) id: Option<String>,
    pub(super) timer: Arc<dyn Timer>,
    pub(super) seed: Option<u64>,
    pub(super) on_failure: OnFailure,
    /// How many calls run at one time.
    pub(super) concurrency: usize,
    pub(super) observers: Vec<Arc<dyn Observer>>,
    /// What is sent to its steps, if somebody can send something.
    pub(super) inbox: Option<Arc<Inbox>>,
    pub(super) durable: Option<Arc<Durable>>,
    pub(super) engine: Option<Arc<dyn Engine>>,
    /// The counts of undone steps at the start.
    pub(super) undone: Undone,
}

/// What a run has in common with the plans inside it, however deep.
pub(super) struct SharedRun {
    id: OnceLock<String>,
    pub(super) options: SharedOptions,
    pub(super) permits: Permits,
    /// Its journal, if it has one.
    pub(super) durable: Option<Arc<Durable>>,
    /// What makes its calls, if the process does not.
    pub(super) engine: Option<Arc<dyn Engine>>,
    /// Which observers have panicked: they are not notified again.
    panicked: Vec<AtomicBool>,
    /// The counts before the run was retried, and the count of the run. The records of these undo steps are gone.
    before: Undone,
    undone: Mutex<Undone>,
}

impl SharedRun {
    pub(super) fn new(mut options: SharedOptions) -> Self {
        let before = options.durable.as_ref().and_then(|it| it.undone_before());
        Self {
            before: before.unwrap_or_default(),
            id: options.id.take().map_or_else(OnceLock::new, OnceLock::from),
            permits: Permits::new(options.concurrency),
            durable: options.durable.take(),
            engine: options.engine.take(),
            panicked: options
                .observers
                .iter()
                .map(|_| AtomicBool::new(false))
                .collect(),
            undone: Mutex::new(std::mem::take(&mut options.undone)),
            options,
        }
    }

    /// The run's id: the host's, or a random one.
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

    /// Whether it goes on after a crash, so that what Rust code decides is kept.
    pub(super) fn is_kept(&self) -> bool {
        self.durable.is_some() || self.engine.is_some()
    }

    /// Returns an error if the secrets of a plan inside the run would be kept in plain text.
    pub(super) fn may_have_secrets(&self) -> Result<(), Cause> {
        match (&self.durable, &self.engine) {
            (Some(durable), _) if !durable.claimed.is_encrypted => Err(secrets_in_journal()),
            (None, Some(_)) => Err(secrets_on_engine()),
            _ => Ok(()),
        }
    }

    /// Returns the count of a step whose lasting path begins with this prefix.
    pub(super) fn times_undone(&self, prefix: impl FnOnce() -> String, step: &str) -> u32 {
        let undone = self.undone();
        if undone.is_empty() && self.before.is_empty() {
            return 0;
        }
        let path = of_element(&prefix(), step, &[]);
        let times = |counts: &Undone| counts.get(&path).copied().unwrap_or_default();
        times(&undone).saturating_add(times(&self.before))
    }

    /// Returns how often the run was retried after a failure.
    pub(super) fn times_retried(&self) -> u32 {
        self.before.get(RUN).copied().unwrap_or_default()
    }

    /// Counts that a step was undone. Returns the lasting path of the step, which begins with this prefix.
    pub(super) fn undo(&self, prefix: &str, step: &str) -> String {
        let path = of_element(prefix, step, &[]);
        let mut undone = self.undone();
        let times: &mut u32 = undone.entry(path.clone()).or_default();
        *times = times.saturating_add(1);
        path
    }

    /// Returns the counts of undone steps in the plans that a tool has run inside its call.
    pub(super) fn undone_inside(&self, call: impl FnOnce() -> String) -> Undone {
        let undone = self.undone();
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
            self.undone().extend(undone);
        }
    }

    fn undone(&self) -> MutexGuard<'_, Undone> {
        self.undone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anyone is to be told.
    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        let has_panicked = |one: &AtomicBool| one.load(Ordering::Relaxed);
        !self.panicked.iter().all(has_panicked)
    }

    /// Tells all observers.
    #[inline]
    pub(super) fn tell(&self, tell: impl Fn(&dyn Observer)) {
        for (observer, panicked) in self.options.observers.iter().zip(&self.panicked) {
            if !panicked.load(Ordering::Relaxed) && catch(|| tell(&**observer)).is_err() {
                panicked.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for SharedRun {
    /// What is not this crate's is dropped by itself: one destructor that panics keeps no other from running.
    fn drop(&mut self) {
        let timer: Arc<dyn Timer> = Arc::new(ThreadTimer);
        drop_quietly(std::mem::replace(&mut self.options.timer, timer));
        self.options.observers.drain(..).for_each(drop_quietly);
    }
}
