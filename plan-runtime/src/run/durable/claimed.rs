//! A run in its journal.

use super::super::catch::catch;
use super::super::timer::Sleep;
use crate::journal::{Claim, Claimed, End, Journal, JournalError, Written};
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run that this process has claimed. The claim is given up at the end.
pub(in crate::run) struct ClaimedRun {
    pub(super) journal: Arc<dyn Journal>,
    pub(in crate::run) claim: Claim,
    /// `true` if no process has taken the run before, so that the journal has no record of the run.
    pub(super) is_new: bool,
    /// `true` if the process only looks at the records of the run.
    pub(super) is_viewed: bool,
    /// The end of the run, if the run had ended before this process took it. Such a run is only replayed.
    pub(super) ended: Option<End>,
    is_released: AtomicBool,
}

impl ClaimedRun {
    pub(super) fn new(journal: &Arc<dyn Journal>, claimed: &Claimed, is_viewed: bool) -> Self {
        Self {
            journal: Arc::clone(journal),
            claim: claimed.claim.clone(),
            is_new: claimed.run.is_none(),
            is_viewed,
            ended: claimed.end.clone(),
            is_released: AtomicBool::new(false),
        }
    }

    /// Returns `true` if the journal encrypts the run, so that plans inside the run may have secrets.
    pub(in crate::run) fn encrypts(&self) -> bool {
        let encrypts = self.journal.encrypts(&self.claim.id);
        encrypts.unwrap_or_default()
    }

    /// Returns `true` if nothing may be written: the run is viewed, or had ended before.
    pub(super) fn is_closed(&self) -> bool {
        self.is_viewed || self.ended.is_some()
    }

    /// A future that is ready once there may be messages with greater numbers.
    pub(in crate::run) fn watch(&self, after: u64) -> Sleep {
        self.journal.watch(&self.claim, after)
    }

    /// Writes the end of the run. If the run had ended before, nothing is written.
    pub(super) fn end(&self, end: End) -> Written {
        match &self.ended {
            Some(before) if before.failed != end.failed && !self.is_viewed => {
                Box::pin(ready(Err(self.lost_end(before))))
            }
            Some(_) => Box::pin(ready(Ok(()))),
            None => self.journal.end(&self.claim, end),
        }
    }

    /// The error of a run that had ended, and whose records do not lead to that end.
    pub(super) fn lost_end(&self, end: &End) -> JournalError {
        let failure = serde_json::from_str(&end.body).ok();
        JournalError::Ended {
            id: self.claim.id.to_string(),
            failure: failure.filter(|_| end.failed),
        }
    }

    /// Gives up the claim, at most once.
    pub(super) fn release(&self) {
        if !self.is_released.swap(true, Ordering::Relaxed) {
            // If the journal panics, nobody can be told.
            let _ = catch(|| self.journal.release(&self.claim));
        }
    }
}

impl Drop for ClaimedRun {
    fn drop(&mut self) {
        self.release();
    }
}
