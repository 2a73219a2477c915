//! Records of calls.

use super::super::super::StepError;
use super::super::super::catch::catch;
use super::super::super::context::CallContext;
use super::super::super::durable::{self, Recorded};
use super::super::super::recorded::{held_back, unusable};
use super::super::super::start::{Request, Started, StepFuture, StepResult};
use super::super::super::storing::once;
use super::super::driver::Driver;
use super::super::records::{Due, Records};
use super::super::scene::Host;
use super::super::starting::Starting;
use super::super::task::{Of, Ticket};
use crate::error::Elements;
use crate::journal::JournalError;
use crate::machine::{CallId, Event, Part, ScopeId};
use crate::plan::Role;
use crate::resolve::{Meter, StoredValue, drop_quietly, resolve};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

impl<'x> Driver<'x> {
    /// Takes the end of a call from its record. Returns `false` if the call is to be made.
    #[cold]
    pub(in super::super) fn replays(&mut self, it: &Starting<'x>, host: &mut dyn Host<'x>) -> bool {
        let Some(records) = &mut self.scene.records else {
            return false;
        };
        records.due.remove(&it.of.call);
        let durable = Arc::clone(&records.durable);
        let is_computed = it.action.tool.is_none() || it.action.args.has_code();
        if it.action.tool.is_none() && !it.action.args.has_code() {
            return false;
        }
        let key = self.scene.key_of_attempt(&it.of, it.step, it.attempt);
        let found = match durable.find(&key) {
            Ok(Some(found)) => found,
            Ok(None) => return self.makes(it, key, is_computed),
            // The run is over.
            Err(()) => return true,
        };
        let recorded = durable::decode(&found.body)
            .map_err(|error| unusable(&key, error))
            .and_then(|recorded| match self.misfit(it, &recorded, host) {
                None => Ok(recorded),
                Some(why) => Err(self.misfits(it, why)),
            });
        let Recorded {
            started,
            ended,
            result,
            undone,
        } = match recorded {
            Ok(recorded) => recorded,
            Err(error) => {
                durable.fail(error);
                return true;
            }
        };
        // The plans inside the call do not run again.
        self.scene.run.take_undone(undone);
        let started = self.scene.clock.in_here(started);
        self.scene.values.begin_time(&it.of, it.attempt, started);
        if let Err(error) = self.scene.values.charge(it.action, it.attempt == 1) {
            self.call_failed(it.of, error);
            return true;
        }
        let (begun, tool) = ((it.attempt, started), it.action.tool.as_ref());
        let span = match self.scene.watching().begin_at(&it.of, begun, tool) {
            Ok(span) => span,
            Err(error) => {
                self.call_failed(it.of, error);
                return true;
            }
        };
        self.capture_again(it);
        let room = self.scene.values.room().of_one();
        let result =
            result.and_then(|value| StoredValue::made(value, room).map_err(StepError::output));
        let replay = durable.replay(found.number, ended);
        let future: StepFuture<'x> = once(async move {
            replay.await;
            result
        });
        self.tasks.count_call();
        let ticket = Ticket::new(None, None, span);
        self.end_later(&it.of, future, (ticket, true));
        true
    }

    /// Resolves the arguments of a recorded call for the report. A call whose arguments could not be resolved has failed for that reason.
    fn capture_again(&mut self, it: &Starting<'x>) {
        let keeps = self.scene.watch.as_ref().map(|watch| watch.keeps());
        if it.action.tool.is_none() || !keeps.is_some_and(|keeps| keeps.arguments) {
            return;
        }
        let seen = self.before_call(it);
        let arguments = {
            let Of { scope, part, .. } = it.of;
            let at = self.scene.values.scope(scope);
            let meter = Meter::new(self.scene.values.room(), None);
            let inside = part.and_then(|part| {
                let inside = self.scene.values.step(part.slot.index())?;
                Some(inside.locals(part.element))
            });
            let locals = inside.as_deref().unwrap_or_default();
            let is_always = at.plan.steps[it.step].role == Role::Always;
            let values = &self.scene.values;
            let resolving = values.resolving(at, is_always, locals).metered(&meter);
            catch(|| resolve(&it.action.args, &resolving).ok()).ok()
        };
        self.scene.catch_again(seen);
        let mut watching = self.scene.watching();
        watching.called((&it.of, it.number), arguments.flatten(), None);
    }

    /// Returns the reason why a recorded output is not of the type that the action has now.
    fn misfit(
        &mut self,
        it: &Starting<'x>,
        recorded: &Recorded,
        host: &mut dyn Host<'x>,
    ) -> Option<String> {
        let value = recorded.result.as_ref().ok()?;
        let mut own = self.scene.values.take_own(it.of.scope);
        let started = {
            let at = self.scene.values.scope(it.of.scope);
            let scope = self.scene.values.resolving(at, false, &[]);
            let request = Request::new(&scope, it.action).recorded(value);
            match &mut own {
                None => host.start(it.number, request),
                Some((_, own)) => (own.start)(it.number, request),
            }
        };
        self.scene.values.put_own(own);
        match started {
            Started::Ended(Err(error)) => {
                let scope = self.scene.values.scope(it.of.scope);
                Some(match scope.hushed(it.step, error) {
                    StepError::Output(error) => error.to_string(),
                    error => error.to_string(),
                })
            }
            _ => None,
        }
    }

    fn misfits(&self, it: &Starting<'x>, why: String) -> JournalError {
        let outer = self.scene.outer(it.of.scope);
        let prefix = outer.map_or_else(String::new, |outer| outer.path() + ".");
        let id = &self.scene.values.scope(it.of.scope).plan.steps[it.step].id;
        let element = self.scene.element_of(&it.of);
        let element = Elements(&element);
        JournalError::Misfit {
            what: format!("the recorded output of step `{prefix}{id}{element}`"),
            why,
        }
    }

    /// A call without a record is about to be made. Returns `true` if its time is over.
    fn makes(&mut self, it: &Starting<'x>, key: String, is_computed: bool) -> bool {
        let Some(records) = &self.scene.records else {
            return false;
        };
        let has_begun = if records.durable.is_live() {
            false
        } else {
            match records.durable.has_begun(&key) {
                Ok(has_begun) => has_begun,
                // The run is over.
                Err(()) => return true,
            }
        };
        // A call is made now, whenever its step has begun, unless the call goes on.
        let now = if has_begun {
            self.scene.clock.now()
        } else {
            self.scene.clock.time()
        };
        self.scene.values.begin_time(&it.of, it.attempt, now);
        let limit = self.scene.values.limit_of_call(&it.of, now);
        let element = it.of.part.map_or(Part::WHOLE, |part| part.element);
        let is_late = limit.as_ref().is_some_and(|(left, _)| left.is_zero());
        let Some(records) = &mut self.scene.records else {
            return false;
        };
        let failed = records.failed.remove(&(it.of.slot(), element));
        let due = Due {
            key,
            started: now,
            is_computed,
            limit,
            context: None,
        };
        records.due.insert(it.of.call, due);
        // An attempt that would begin too late ends as the attempt before.
        let Some(error) = failed.filter(|_| is_late) else {
            return false;
        };
        self.tasks.count_call();
        self.called(it.of, Err(error));
        true
    }

    /// Holds a call back as long as the run replays, and limits its time.
    pub(in super::super) fn held_back(
        &mut self,
        of: &Of,
        future: StepFuture<'x>,
        context: Option<&CallContext>,
    ) -> StepFuture<'x> {
        match &mut self.scene.records {
            None => future,
            Some(records) => {
                let durable = Arc::clone(&records.durable);
                let mut limit = None;
                if let Some(due) = records.due.get_mut(&of.call) {
                    due.context = context.cloned();
                    limit = due.limit.take();
                }
                match limit {
                    None => once(held_back(durable, future)),
                    Some((limit, error)) => {
                        let sleep = self.scene.clock.sleep_live(limit);
                        once(held_back(durable, limited(future, (sleep, error))))
                    }
                }
            }
        }
    }

    /// A call has ended without a future.
    pub(in super::super) fn ended_at_once(&mut self, of: Of, result: StepResult) {
        if let Some(records) = &mut self.scene.records
            && records
                .due
                .get(&of.call)
                .is_some_and(|due| !due.is_computed)
        {
            // After a crash, the call ends in the same way.
            records.due.remove(&of.call);
        }
        let is_due = |records: &Records| records.due.contains_key(&of.call);
        if self.scene.records.as_deref().is_some_and(is_due) {
            self.tasks.count_call();
        }
        self.called(of, result);
    }

    /// Forgets that a call is to be recorded.
    pub(in super::super) fn forget_due(&mut self, call: CallId) {
        if let Some(records) = &mut self.scene.records {
            records.due.remove(&call);
            records.ending.remove(&call);
            records.limits.remove(&call);
        }
    }

    /// Records the end of a call. The end counts when the record has its turn. Returns the end of a call without a record.
    pub(in super::super) fn records(
        &mut self,
        of: Of,
        result: StepResult,
        ticket: Ticket,
    ) -> Option<(StepResult, Ticket)> {
        let Some(records) = &mut self.scene.records else {
            return Some((result, ticket));
        };
        // What follows from a failure of the journal has not happened.
        if records.durable.failure().is_some() {
            return None;
        }
        let Some(due) = records.due.remove(&of.call) else {
            records.ending.remove(&of.call);
            self.scene.machine.handle(Event::Ending(of.call, false));
            return Some((result, ticket));
        };
        // An error that ends the run has no record, since the run would continue after a crash.
        let exceeds = |error: &StepError| error.exceeded().is_some();
        if result.as_ref().is_err_and(exceeds) {
            return Some((result, ticket));
        }
        let durable = Arc::clone(&records.durable);
        let context = due.context.as_ref();
        let undone = context.map(CallContext::undone_inside).unwrap_or_default();
        let now = self.scene.clock.in_all(self.scene.clock.time());
        let times = (self.scene.clock.in_all(due.started), now);
        let body = match &result {
            Ok(output) => match output.as_json() {
                Ok(json) => {
                    let step = self.scene.values.place_of(of.scope, of.slot());
                    self.scene.note_undo_call(of.scope, step);
                    durable::encode_call(times, Ok(json), &undone)
                }
                // The step fails where the output is read.
                Err(_) => return Some((result, ticket)),
            },
            // The record has the error as the report shows it, so that the error is the same after a crash.
            Err(error) => {
                let step = self.scene.values.place_of(of.scope, of.slot());
                let error = self
                    .scene
                    .values
                    .scope(of.scope)
                    .hushed(step, error.clone());
                durable::encode_call(times, Err(&error), &undone)
            }
        };
        let write = match body {
            Ok(body) => durable.write(due.key, body, now),
            Err(error) => {
                durable.fail(JournalError::storage(error));
                return None;
            }
        };
        let future: StepFuture<'x> = once(async move {
            write.await;
            result
        });
        self.end_later(&of, future, (ticket, false));
        None
    }

    /// The end of a call comes with this future. A run that had ended writes no record, so nothing waits for the turn of a new record.
    fn end_later(&mut self, of: &Of, future: StepFuture<'x>, (ticket, is_found): (Ticket, bool)) {
        self.tasks.push_part(of, future, ticket, 0);
        let Some(records) = &mut self.scene.records else {
            return;
        };
        if !is_found && records.durable.is_closed() {
            return;
        }
        if of.scope == ScopeId::ROOT {
            records.ending.insert(of.call);
        }
        self.scene.machine.handle(Event::Ending(of.call, true));
    }
}

/// Ends a call at its time limit.
async fn limited(
    call: StepFuture<'_>,
    (mut sleep, error): (super::super::super::timer::Sleep, StepError),
) -> StepResult {
    let (mut call, mut error) = (Some(call), Some(error));
    poll_fn(move |cx| {
        if let Some(running) = &mut call
            && let Poll::Ready(result) = running.as_mut().poll(cx)
        {
            call = None;
            return Poll::Ready(result);
        }
        if sleep.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        drop_quietly(call.take());
        Poll::Ready(Err(error.take().unwrap_or(StepError::Unknown)))
    })
    .await
}
