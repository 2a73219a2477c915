//! A run in its journal, its running calls, and [`Stop`], which holds back new calls while the run is about to end.

use super::super::catch::catch;
use super::Durable;
use crate::journal::spi::{Claim, End, StoredRun, Written};
use crate::journal::{Journal, JournalError};
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

/// A run that this process has claimed. Its end releases the claim.
pub(in crate::run) struct ClaimedRun {
    pub(super) journal: Arc<dyn Journal>,
    pub(in crate::run) claim: Claim,
    /// `true` if no process has taken the run before, so that the journal has no record of the run.
    pub(super) is_new: bool,
    /// `true` if the process only reads the records of the run.
    pub(super) is_viewed: bool,
    /// The end of the run, if the run had ended before this process took it. Such a run is only replayed.
    pub(super) ended: Option<End>,
    /// `true` if the journal encrypts the run, so that plans inside the run may have secrets.
    pub(in crate::run) is_encrypted: bool,
    is_released: AtomicBool,
}

impl ClaimedRun {
    /// Takes a run. Without a claim, the process only reads the records of the run.
    pub(super) fn new(
        journal: &Arc<dyn Journal>,
        (id, claim): (&str, Option<Claim>),
        run: &StoredRun,
    ) -> Self {
        let is_viewed = claim.is_none();
        Self {
            journal: Arc::clone(journal),
            claim: claim.unwrap_or_else(|| Claim::new(id, 0)),
            is_new: run.info.is_none(),
            is_viewed,
            ended: run.end.clone(),
            is_encrypted: run.is_encrypted,
            is_released: AtomicBool::new(is_viewed),
        }
    }

    /// Returns `true` if nothing may be written: the run is viewed, or had ended before.
    pub(in crate::run) fn is_closed(&self) -> bool {
        self.is_viewed || self.ended.is_some()
    }

    /// Writes the end of the run. If the run had ended before, nothing is written.
    pub(super) fn end(&self, end: End) -> Written {
        match &self.ended {
            Some(before) if before.is_done() != end.is_done() && !self.is_viewed => {
                Box::pin(ready(Err(self.lost_end(before))))
            }
            Some(_) => Box::pin(ready(Ok(()))),
            None if self.is_viewed => Box::pin(ready(Ok(()))),
            None => self.journal.end(&self.claim, end),
        }
    }

    /// Creates the error of an ended run whose records do not lead to that end.
    pub(super) fn lost_end(&self, end: &End) -> JournalError {
        let failure = serde_json::from_str(end.body()).ok();
        JournalError::Ended {
            id: self.claim.id.to_string(),
            failure: failure.filter(|_| !end.is_done()),
        }
    }

    /// Releases the claim, at most once.
    pub(super) fn release(&self) {
        if !self.is_released.swap(true, Ordering::Relaxed) {
            // A panic of the journal has no one to handle it here.
            let _ = catch(|| self.journal.release(&self.claim));
        }
    }
}

/// A claim with a destructor that releases the run.
pub(crate) struct Released<'j>(pub(crate) &'j dyn Journal, pub(crate) Claim);

impl Drop for Released<'_> {
    fn drop(&mut self) {
        self.0.release(&self.1);
    }
}

impl Drop for ClaimedRun {
    fn drop(&mut self) {
        self.release();
    }
}

/// The claim of a run. Its drop releases the run, since a tool may keep the context of a call for longer.
pub(in crate::run) struct Owned(pub(in crate::run) Arc<Durable>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.claimed.release();
    }
}

/// A call that runs.
pub(in crate::run) struct Busy(Arc<Durable>);

impl Busy {
    pub(in crate::run) fn begin(durable: &Arc<Durable>) -> Self {
        durable.state().busy += 1;
        Self(Arc::clone(durable))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.state().busy -= 1;
    }
}

/// A call that only sleeps.
pub(in crate::run) struct Resting<'d>(&'d Durable);

impl<'d> Resting<'d> {
    pub(in crate::run) fn begin(durable: &'d Durable) -> Self {
        durable.state().busy -= 1;
        Self(durable)
    }
}

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        self.0.state().busy += 1;
    }
}

/// A run that is about to end, so that no call starts.
pub(in crate::run) struct Stop(pub(super) Arc<Durable>);

impl Drop for Stop {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.stops -= 1;
        let held = std::mem::take(&mut state.held);
        drop(state);
        held.into_values().for_each(Waker::wake);
    }
}
