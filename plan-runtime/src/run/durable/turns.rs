//! The sequence of the records that a run acts on.

use super::Durable;
use super::writes::Write;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The position of a record in the order of records. The records of earlier processes have their numbers, and come before the records of this
/// process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RecordPlace {
    Found(u64),
    Written(u64),
}

/// A record that the run is to act upon.
struct DueRecord {
    time: Duration,
    is_durable: bool,
    /// The waker of the future that waits for the turn.
    waker: Option<Waker>,
    /// `true` if the future has not taken its turn: a tool keeps the plan of the future inside its call, and polls another future.
    is_passed: bool,
}

/// The number of polls of the outermost plan after which a record that has not taken its turn is passed over.
const PATIENCE: u64 = 4;

/// The turns of the records.
#[derive(Default)]
pub(super) struct Turns {
    /// The records that the run is to act upon.
    due: BTreeMap<RecordPlace, DueRecord>,
    /// The record whose turn it is, and the number of the poll that gave the turn.
    turn: Option<(RecordPlace, u64)>,
    /// The number of polls of the outermost plan.
    pub(super) polls: u64,
    /// The records that are not durable yet.
    pub(super) writing: Vec<(RecordPlace, Write)>,
    /// The number of records that this process has written.
    written: u64,
}

impl Turns {
    /// Adds a record of this process.
    pub(super) fn add(&mut self, time: Duration) -> RecordPlace {
        self.written += 1;
        let place = RecordPlace::Written(self.written);
        let due = DueRecord {
            time,
            is_durable: false,
            waker: None,
            is_passed: false,
        };
        self.due.insert(place, due);
        place
    }

    pub(super) fn has_written(&mut self, place: RecordPlace) {
        if let Some(due) = self.due.get_mut(&place) {
            due.is_durable = true;
        }
    }

    /// Returns the record that has the next turn, with the waker of its future. An error means that a record before it is not durable yet.
    pub(super) fn next(&mut self) -> Result<Option<(RecordPlace, Duration, Waker)>, ()> {
        if let Some((place, poll)) = self.turn
            && self.polls >= poll + PATIENCE
            && let Some(due) = self.due.get_mut(&place)
        {
            due.is_passed = true;
            self.turn = None;
        }
        for (place, due) in &self.due {
            if !due.is_durable {
                return Err(());
            }
            if let Some(waker) = due.waker.as_ref().filter(|_| !due.is_passed) {
                return Ok(Some((*place, due.time, waker.clone())));
            }
        }
        Ok(None)
    }

    pub(super) fn has_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// Gives a record its turn. Returns `false` if the record has its turn already.
    pub(super) fn give(&mut self, place: RecordPlace) -> bool {
        let is_new = self.turn.is_none_or(|(turn, _)| turn != place);
        if is_new {
            self.turn = Some((place, self.polls));
        }
        is_new
    }

    fn take(&mut self, place: RecordPlace) -> bool {
        self.turn.take_if(|(turn, _)| *turn == place).is_some()
    }

    /// Returns `true` if a record of an earlier process waits for its turn.
    pub(super) fn replays(&self) -> bool {
        let first = self.due.first_key_value();
        first.is_some_and(|(place, _)| matches!(place, RecordPlace::Found(_)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty() && self.writing.is_empty()
    }
}

/// A record that waits for its turn.
pub(super) struct Turn {
    durable: Arc<Durable>,
    place: RecordPlace,
    time: Duration,
    /// `true` if the entry among the due records belongs to this future. Another future may wait for the record as well.
    is_due: bool,
}

impl Turn {
    pub(super) fn new(durable: &Arc<Durable>, place: RecordPlace, time: Duration) -> Self {
        Self {
            durable: Arc::clone(durable),
            place,
            time,
            is_due: matches!(place, RecordPlace::Written(_)),
        }
    }
}

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.durable.state();
        if state.turns.take(this.place) {
            state.turns.due.remove(&this.place);
            if let RecordPlace::Found(number) = this.place {
                state.history.forget(number);
            }
            drop(state);
            this.is_due = false;
            return Poll::Ready(());
        }
        this.is_due = true;
        let due = state.turns.due.entry(this.place).or_insert(DueRecord {
            time: this.time,
            is_durable: true,
            waker: None,
            is_passed: false,
        });
        due.is_passed = false;
        let before = due.waker.replace(cx.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.is_due {
            return;
        }
        let mut state = self.durable.state();
        let gone = state.turns.due.remove(&self.place);
        state.turns.take(self.place);
        // The next record may have its turn now. A tool may drop a plan inside its call outside any poll of the run, so the drop has to wake the
        // outermost plan.
        drop(state);
        drop(gone);
        self.durable.root.waker.wake();
    }
}
