//! An attempt of a step that is not plain, and the attempts of one step.

use super::failures::{Failures, Reason};
use super::ids::{AttemptId, BodyId, CallId, ScopeId};
use std::ops::{Index, IndexMut};

/// An attempt of an element or a round, or the wait before the attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) body: BodyId,
    pub(super) element: u32,
    pub(super) number: u32,
    pub(super) job: u32,
    pub(super) activity: Activity,
    pub(super) phase: AttemptPhase,
    /// The time limit that the attempt has reached.
    pub(super) late: Option<Reason>,
    pub(super) timeout: Option<CallId>,
    pub(super) deadline: Option<CallId>,
    /// The timer of a round whose successor has to wait.
    pub(super) every: Option<CallId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    /// The wait for a permit, with the failure of the attempt before.
    Ready(Option<Box<Failures>>),
    /// The wait for the driver, which decides whether the attempt may start, with the failure of the attempt before.
    Asked(CallId, Option<Box<Failures>>),
    Call(CallId),
    Await(CallId),
    Scope(ScopeId),
    /// The wait before the attempt, after this failure of the one before.
    Backoff(CallId, Box<Failures>),
    /// The wait before a round.
    Every,
    Nothing,
    /// The row is free, with the next free row.
    Free(Option<AttemptId>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttemptPhase {
    Runs,
    /// The attempt has succeeded, and may have to be undone.
    Kept,
    IsUndone,
    Over,
}

impl Attempt {
    pub(super) fn new(body: BodyId, element: u32, number: u32) -> Self {
        Self {
            body,
            element,
            number,
            job: 0,
            activity: Activity::Nothing,
            phase: AttemptPhase::Runs,
            late: None,
            timeout: None,
            deadline: None,
            every: None,
        }
    }
}

/// The attempts of a step. The row of an attempt that is over serves another attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Attempts {
    rows: Vec<Attempt>,
    /// The first free row. Each free row leads to the next one.
    free: Option<AttemptId>,
}

impl Attempts {
    pub(super) fn add(&mut self, attempt: Attempt) -> AttemptId {
        let Some(id) = self.free else {
            // Most steps have one attempt at one time.
            if self.rows.is_empty() {
                self.rows.reserve_exact(1);
            }
            self.rows.push(attempt);
            return AttemptId(self.rows.len() as u32 - 1);
        };
        let row = std::mem::replace(&mut self[id], attempt);
        self.free = match row.activity {
            Activity::Free(next) => next,
            _ => None,
        };
        id
    }

    /// Frees the row of an attempt that is over. The rows of rounds stay in order, since only the last of these ends.
    pub(super) fn free(&mut self, id: AttemptId) {
        if id.index() + 1 == self.rows.len() {
            self.rows.pop();
            return;
        }
        self[id].activity = Activity::Free(self.free);
        self.free = Some(id);
    }

    pub(super) fn get(&self, id: AttemptId) -> Option<&Attempt> {
        self.rows.get(id.index())
    }

    pub(super) fn get_mut(&mut self, id: AttemptId) -> Option<&mut Attempt> {
        self.rows.get_mut(id.index())
    }

    pub(super) fn last(&self) -> Option<AttemptId> {
        let last = self.rows.len().checked_sub(1)?;
        Some(AttemptId(last as u32))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Attempt> {
        self.rows.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Attempt> {
        self.rows.iter_mut()
    }

    /// Removes all attempts and keeps the memory.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Attempt> {
        self.free = None;
        self.rows.drain(..)
    }

    pub(super) fn runs(&self, id: AttemptId) -> bool {
        self.get(id)
            .is_some_and(|it| it.phase == AttemptPhase::Runs)
    }

    /// Returns the attempts in the order of their elements. The order of the rows depends on rows that were used before.
    pub(super) fn in_order(&self) -> Vec<AttemptId> {
        let mut ids: Vec<_> = (0..self.rows.len() as u32).map(AttemptId).collect();
        ids.sort_unstable_by_key(|id| (self[*id].element, self[*id].number));
        ids
    }
}

impl Index<AttemptId> for Attempts {
    type Output = Attempt;

    #[inline]
    fn index(&self, id: AttemptId) -> &Attempt {
        &self.rows[id.index()]
    }
}

impl IndexMut<AttemptId> for Attempts {
    #[inline]
    fn index_mut(&mut self, id: AttemptId) -> &mut Attempt {
        &mut self.rows[id.index()]
    }
}
