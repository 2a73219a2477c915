//! Runs whose calls run plans, and plans inside calls.

use super::driver::Driver;
use super::sharing::Sharing;
use super::tasks::Ticket;
use crate::error::Interrupt;
use crate::machine::{Command, Event};
use std::sync::Arc;
use std::task::Context;

impl Driver<'_> {
    /// Returns the next command of a run that shares its permits. The permit of a call is kept until the machine starts the call.
    #[cold]
    #[inline(never)]
    pub(super) fn next_shared(&mut self, cx: &Context<'_>) -> Option<Command> {
        let told = self.scene.machine.next(false);
        if told.is_some() || !self.has_permit(cx) {
            return told;
        }
        self.scene.machine.next(true)
    }

    /// Returns `true` if there is a permit for the next call, or no call is next.
    fn has_permit(&mut self, cx: &Context<'_>) -> bool {
        let Some(sharing) = &mut self.sharing else {
            return true;
        };
        let Some(mut next) = self.scene.machine.first() else {
            sharing.give_back();
            return true;
        };
        if let Some(around) = &self.scene.around {
            next.splice(..0, around.at().iter().copied());
        }
        sharing.may_start(&next, cx.waker())
    }

    /// A call with a context is about to run. The call may run plans, so calls need permits from now on.
    pub(super) fn share(&mut self, ticket: &Ticket) {
        let Some(context) = &ticket.context else {
            return self.count_call();
        };
        let (run, calls) = (&self.scene.run, self.tasks.calls());
        let sharing = self
            .sharing
            .get_or_insert_with(|| Box::new(Sharing::new(Arc::clone(run), calls)));
        if !sharing.has_permit {
            sharing.has_permit = sharing.run.permits.try_take();
        }
        sharing.started(Some(context));
    }

    /// A call without a context is about to run.
    #[inline(always)]
    pub(super) fn count_call(&mut self) {
        if let Some(sharing) = &mut self.sharing {
            sharing.started(None);
        }
    }

    /// The run begins inside this many other plans.
    pub(super) fn enter(&mut self, plans: usize) {
        let Err(error) = self.scene.allowance.enter(plans) else {
            return;
        };
        if let Some(limit) = error.exceeded() {
            let around = self.scene.around.as_ref();
            let place = around.map_or_else(String::new, |around| format!("step `{around}`: "));
            self.scene.exceed_at(limit, &format!("{place}{error}"));
            self.scene.machine.handle(Event::GraceOver);
        }
    }

    /// Ends a plan that a tool runs inside its call, if the plan must not run any more.
    #[cold]
    pub(super) fn look_at_call(&mut self, cx: &Context<'_>) {
        let Some(around) = &self.scene.around else {
            return;
        };
        let beside = self.scene.beside.as_ref();
        let refused = beside.and_then(|beside| around.refuses_inside(Some((beside, cx.waker()))));
        // The time limits of a step that is a plan have records.
        let deadline = around
            .deadline()
            .filter(|_| beside.is_some() || !self.is_recorded);
        let is_late = deadline.is_some_and(|deadline| self.scene.clock.is_past(deadline));
        let interrupt = match refused {
            Some(why) => Interrupt::Outside(why),
            None if is_late => Interrupt::Outer,
            None => return,
        };
        self.scene.stops.interrupt(interrupt);
        self.scene.machine.handle(Event::GraceOver);
    }
}

impl Drop for Driver<'_> {
    /// Drops values of foreign types one by one, since their destructors may panic.
    fn drop(&mut self) {
        self.tasks.clear();
        self.scene.errors.clear();
        self.scene.stops.close();
        match (&self.scene.around, &self.scene.beside) {
            (Some(around), Some(beside)) => around.forget_inside(beside),
            // The call is over with its plan.
            (Some(around), None) => around.close(false),
            (None, _) => {}
        }
    }
}
