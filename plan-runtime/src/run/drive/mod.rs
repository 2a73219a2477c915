//! The driver: the loop around the machine, with the values, calls and records of a run.
//!
//! | file | contents |
//! |---|---|
//! | `convert.rs` | from a plan to the tables of the machine |
//! | `begin.rs` | from the options of a run to its driver |
//! | `driver.rs` | the loop: commands of the machine, and events for the machine |
//! | `calls.rs`, `ends.rs`, `waits.rs` | the starts and ends of calls; waits for values, timers, time limits |
//! | `starting.rs` | the request for a call |
//! | `tasks.rs`, `task.rs`, `sharing.rs` | the futures of calls, timers and waits; permits that plans in calls share |
//! | `admission.rs`, `admitting.rs` | calls that wait for gates and throttles |
//! | `undoing.rs` | the undo steps of calls that gates decide about |
//! | `scene.rs`, `contexts.rs`, `settling.rs` | the state of a run, the contexts of calls, the ends of steps |
//! | `answers.rs`, `scopes.rs`, `decisions.rs` | answers to questions of the machine, values of scopes, decisions of Rust code |
//! | `values.rs` | the values of a run, by slots |
//! | `scope_values.rs` | the values of one scope, with its secrets |
//! | `cold.rs` | the values inside a step that is not plain |
//! | `stops.rs`, `deadline.rs` | the ends of a run before its time; the wait for the deadline of the run |
//! | `failures.rs` | from the failures of the machine to errors |
//! | `recording/` | the records of runs with a journal |
//! | `watching.rs`, `closing.rs` | events for observers and the report |

mod admission;
mod admitting;
mod answers;
mod begin;
mod calls;
mod closing;
mod cold;
mod contexts;
mod convert;
mod deadline;
mod decisions;
mod driver;
mod ends;
mod failures;
mod recording;
mod scene;
mod scope_values;
mod scopes;
mod settling;
mod sharing;
mod starting;
mod stops;
mod task;
mod tasks;
mod undoing;
mod values;
mod waits;
mod watching;

use super::catch::catch;
use super::durable::Durable;
use super::options::{FindPlan, ReadOutput};
use super::signals::Signals;
use super::start::{MadeOutput, Request, Started, Starter};
use super::{Cause, Report, Run, RunError};
use crate::Plan;
use crate::error::Interrupt;
use crate::journal::JournalError;
use crate::resolve::ResolveError;
pub(super) use convert::Find;
pub(super) use driver::Driver;
use scene::Host;
use serde_json::Value;
use std::sync::Arc;
use std::task::{Context, Poll};

impl<'a, App: ?Sized, O> Run<'a, App, O> {
    /// Sets the function that finds called plans, for plans without generated code.
    #[doc(hidden)]
    pub fn find_plans(self, find: FindPlan<'a>) -> Self {
        self.configure(|options| options.find = Some(find))
    }
}

/// The host of a run.
pub(super) struct RunHost<'r, 'a, App: ?Sized, O> {
    pub(super) app: &'a App,
    pub(super) starter: &'r Starter<'a, App>,
    /// Reads the output of the plan.
    pub(super) read: ReadOutput<O>,
    pub(super) output: &'r mut Option<O>,
}

impl<'a, App: ?Sized, O> Host<'a> for RunHost<'_, 'a, App, O> {
    #[inline]
    fn start(&mut self, number: usize, request: Request<'_>) -> Started<'a> {
        self.starter.start(number, request, self.app)
    }

    fn output(&mut self, output: MadeOutput<'_>) -> Result<(), ResolveError> {
        let output = match self.starter {
            Starter::Called(own) => {
                let value: Value = output.read()?;
                own.fits(&value).map_err(serde::de::Error::custom)?;
                MadeOutput::Json(value)
            }
            Starter::Plan(_) | Starter::Found(_) => output,
        };
        *self.output = Some((self.read)(output)?);
        Ok(())
    }
}

impl<'x> Driver<'x> {
    /// Polls the run. Is ready when the run has ended.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        host: &mut dyn Host<'x>,
    ) -> Poll<Result<(), RunError>> {
        // A timer or the future that cancels the run may panic.
        let polled = loop {
            match catch(|| self.poll_commands(cx, host)) {
                Ok(Poll::Pending) if self.waits_in_vain(cx) => {}
                polled => break polled,
            }
        };
        match polled {
            Ok(polled) => polled.map(|()| self.result()),
            Err(panic) => {
                self.calls.end_unbegun();
                self.calls.scene.tell(|it| it.panicked());
                let scene = &self.calls.scene;
                let error = scene.errors.panicked(scene.machine.view(), panic);
                Poll::Ready(Err(error))
            }
        }
    }

    /// Returns the report, unless the run keeps no report.
    pub(super) fn report(&mut self) -> Option<Report> {
        self.calls.scene.tell(|it| it.report()).flatten()
    }

    /// Returns the error of a run whose journal has failed.
    pub(super) fn journal_failure(&self) -> Option<RunError> {
        let error = self.calls.scene.run.durable.as_ref()?.failure()?;
        let cause = Cause::Interrupted(Interrupt::Journal(error));
        Some(RunError::new(self.plan(), cause, Vec::new()))
    }

    /// Returns the sender of values to steps that wait.
    pub(super) fn signals(&self) -> Signals {
        match (&self.calls.scene.around, &self.calls.scene.run.inbox) {
            (Some(around), _) => around.signals(),
            (None, Some(inbox)) => Signals::new(Arc::clone(inbox), None),
            (None, None) => Signals::to_nobody(false),
        }
    }

    /// Returns the plan of the run.
    pub(super) fn plan(&self) -> &'x Plan {
        self.calls.scene.errors.plan()
    }

    /// Returns the result of a run that has ended.
    fn result(&self) -> Result<(), RunError> {
        let scene = &self.calls.scene;
        let view = scene.machine.view();
        let result = view.result();
        let journal = scene.stops.journal.as_ref().map(|(error, _)| error);
        // The journal has not kept the rest of the run, or the replay did not reach the recorded end.
        let lost = journal
            .filter(|error| result.is_ok() || matches!(error.as_ref(), JournalError::Ended { .. }));
        if let Some(error) = lost {
            let cause = Cause::Interrupted(Interrupt::Journal(Arc::clone(error)));
            return Err(RunError::new(self.plan(), cause, Vec::new()));
        }
        result.map_err(|failures| {
            let (errors, reason) = (&scene.errors, scene.stops.reason());
            errors.run_error(view, &failures, reason, self.has_begun)
        })
    }

    /// Returns the journal of a run that has come to an end, unless the run is inside another run. A run with a failed journal comes to no end.
    pub(super) fn ended_in(&self) -> Option<Arc<Durable>> {
        let is_whole = self.calls.scene.around.is_none() && self.calls.scene.machine.is_over();
        let durable = self.calls.scene.run.durable.clone()?;
        (is_whole && self.calls.scene.stops.journal.is_none()).then_some(durable)
    }

    /// Returns the output of a run with a journal, as JSON.
    pub(super) fn take_json(&mut self) -> Value {
        std::mem::take(&mut self.calls.scene.output)
    }
}
