//! The runs of this owner.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A claim of a run, with the number and the epoch in the run's row.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) id: Arc<str>,
    pub(crate) run: i64,
    pub(crate) epoch: i64,
}

/// A run of this owner.
pub(crate) struct Own {
    pub(crate) held: Held,
    /// The number of the last record.
    pub(crate) last: i64,
    /// The first failure of a write. The journal then writes no further records of the run, so that no record is
    /// missing in the middle.
    pub(crate) broken: Option<String>,
}

/// The runs of this owner, by their IDs.
#[derive(Default)]
pub(crate) struct Owned {
    pub(crate) runs: HashMap<Arc<str>, Own>,
    /// Runs with a claim or a release in progress.
    pub(crate) busy: HashSet<Arc<str>>,
    /// Runs that the database may still assign to this owner after a failed claim or a failed release.
    pub(crate) doubtful: HashSet<Arc<str>>,
}

impl Owned {
    pub(crate) fn has(&self, id: &str) -> bool {
        self.runs.contains_key(id) || self.busy.contains(id)
    }

    /// Returns the run if this claim is its last one.
    pub(crate) fn get(&mut self, held: &Held) -> Option<&mut Own> {
        let own = self.runs.get_mut(&held.id)?;
        (own.held.epoch == held.epoch && own.held.run == held.run).then_some(own)
    }

    /// Removes a run. An unreleased run becomes doubtful, and is released later.
    pub(crate) fn forget(&mut self, held: &Held, is_released: bool) {
        if self.get(held).is_some() {
            self.runs.remove(&held.id);
            if !is_released {
                self.doubtful.insert(Arc::clone(&held.id));
            }
        }
    }

    /// Takes the doubtful runs that have no newer claim, and marks them as busy, so that no claim begins before their
    /// release.
    pub(crate) fn take_doubtful(&mut self) -> Vec<Arc<str>> {
        let mut doubtful: Vec<Arc<str>> = self.doubtful.drain().collect();
        doubtful.retain(|id| !self.has(id));
        self.busy.extend(doubtful.iter().cloned());
        doubtful
    }

    /// Forbids all later writes of a run.
    pub(crate) fn fail(&mut self, held: &Held, failure: &dyn std::fmt::Display) {
        if let Some(own) = self.get(held) {
            let why = format!("an earlier write of the run has failed: {failure}");
            own.broken.get_or_insert(why);
        }
    }
}
