//! The runs of this owner.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The right to write to a run, by the numbers in its row.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) id: Arc<str>,
    pub(crate) run: i64,
    pub(crate) epoch: i64,
}

/// A run that this owner has.
pub(crate) struct Own {
    pub(crate) held: Held,
    /// The number of the last record.
    pub(crate) last: i64,
    /// The failure after which the journal writes no more records of the run. Otherwise it would lack a record in the
    /// middle.
    pub(crate) broken: Option<String>,
}

/// The runs that this owner has, by their ids.
#[derive(Default)]
pub(crate) struct Owned {
    pub(crate) runs: HashMap<Arc<str>, Own>,
    /// Runs whose claim or release is on its way.
    pub(crate) busy: HashSet<Arc<str>>,
    /// Runs that the database may still assign to this owner after a failed claim or a failed release.
    pub(crate) doubtful: HashSet<Arc<str>>,
}

impl Owned {
    pub(crate) fn has(&self, id: &str) -> bool {
        self.runs.contains_key(id) || self.busy.contains(id)
    }

    /// Returns a run under a claim that is the last known one.
    pub(crate) fn get(&mut self, held: &Held) -> Option<&mut Own> {
        let own = self.runs.get_mut(&held.id)?;
        (own.held.epoch == held.epoch && own.held.run == held.run).then_some(own)
    }

    /// Forgets a run that was released, or is to be released later.
    pub(crate) fn forget(&mut self, held: &Held, is_released: bool) {
        if self.get(held).is_some() {
            self.runs.remove(&held.id);
            if !is_released {
                self.doubtful.insert(Arc::clone(&held.id));
            }
        }
    }

    /// Takes the doubtful runs without a claim, and marks them as busy: no claim is to come between.
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
