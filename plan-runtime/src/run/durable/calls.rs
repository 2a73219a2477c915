//! The calls that a durable run waits for, and the ends that hold calls back.

use super::Durable;
use std::sync::Arc;
use std::task::Waker;

/// The claim of a run, which is given up when this is dropped: a tool may keep the context of a call for longer.
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
        held.into_iter().for_each(Waker::wake);
    }
}
