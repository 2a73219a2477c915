//! The permits of a run that other runs share.

use super::super::admission::Applicant;
use super::super::context::CallContext;
use super::super::shared::SharedRun;
use super::scene::Scene;
use crate::machine::Command;
use std::sync::Arc;
use std::task::Waker;

/// The share of a plan in the permits of a run. Each running call has a permit, unless a plan runs inside the call.
pub(super) struct Sharing {
    pub(super) run: Arc<SharedRun>,
    pub(super) applicant: Applicant,
    /// `true` if there is a permit for the next call.
    pub(super) has_permit: bool,
    /// The calls that run without contexts. A call with a context has its permit there.
    calls: usize,
}

impl Sharing {
    /// Creates the share of a plan. `calls` is the number of its running calls.
    pub(super) fn new(run: Arc<SharedRun>, calls: usize) -> Self {
        run.permits.count(calls);
        Self {
            run,
            applicant: Applicant::default(),
            has_permit: false,
            calls,
        }
    }

    /// Returns the next command of a run that shares its permits. The permit of a call is kept until the machine starts the call.
    #[cold]
    #[inline(never)]
    pub(super) fn next(&mut self, scene: &mut Scene<'_>, waker: &Waker) -> Option<Command> {
        let told = scene.machine.next(false);
        if told.is_some() || !self.may_go_on(scene, waker) {
            return told;
        }
        scene.machine.next(true)
    }

    /// Returns `true` if there is a permit for the next call, or no call is next.
    fn may_go_on(&mut self, scene: &mut Scene<'_>, waker: &Waker) -> bool {
        let Some(mut next) = scene.machine.first() else {
            self.give_back();
            return true;
        };
        if let Some(around) = &scene.around {
            next.splice(..0, around.at().iter().copied());
        }
        self.may_start(&next, waker)
    }

    /// Takes a permit for a call at this position of the plan. Without a free permit, the next free permit wakes the
    /// waker.
    fn may_start(&mut self, next: &[usize], waker: &Waker) -> bool {
        let permits = &self.run.permits;
        if self.has_permit {
            if permits.is_next(|| next.to_vec()) {
                return true;
            }
            permits.give_back(1);
        }
        self.has_permit = permits.take(&mut self.applicant, || next.to_vec(), waker);
        self.has_permit
    }

    /// Counts a started call.
    #[cold]
    #[inline(never)]
    pub(super) fn started(&mut self, context: Option<&CallContext>) {
        match context {
            None => self.calls += 1,
            // The calls of a plan count, and not the call that is the plan.
            Some(context) if !context.count() => return,
            Some(_) => {}
        }
        self.has_permit = false;
    }

    /// Counts an ended call. Its permit goes to the next call here.
    #[cold]
    #[inline(never)]
    pub(super) fn ended(&mut self, context: Option<&CallContext>) {
        match context {
            None => self.calls -= 1,
            Some(context) if !context.has_counted() => return,
            Some(_) => {}
        }
        self.run.permits.leave(&mut self.applicant);
        if std::mem::replace(&mut self.has_permit, true) {
            self.run.permits.give_back(1);
        }
    }

    /// Counts a dropped call without a context.
    #[cold]
    #[inline(never)]
    pub(super) fn dropped(&mut self) {
        self.calls -= 1;
        self.run.permits.give_back(1);
    }

    /// Returns the permit, because no call starts for now.
    fn give_back(&mut self) {
        self.run.permits.leave(&mut self.applicant);
        if std::mem::take(&mut self.has_permit) {
            self.run.permits.give_back(1);
        }
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        self.give_back();
        self.run.permits.give_back(self.calls);
    }
}
