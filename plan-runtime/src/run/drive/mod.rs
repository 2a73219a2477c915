//! The driver: the loop around the machine, with the values, calls and records of a run.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the driver of a run, from the options to the result |
//! | `convert.rs` | from a plan to the tables of the machine |
//! | `driver.rs` | the loop: commands of the machine, and events for the machine |
//! | `calls.rs`, `ends.rs` | the starts and ends of calls; waits for values, timers, time limits |
//! | `tasks.rs`, `task.rs`, `sharing.rs` | the futures of calls, timers and waits; permits that plans in calls share |
//! | `admission/` | the requests for calls; calls that wait for gates and throttles |
//! | `scene.rs`, `settling.rs` | the state of a run, the contexts of calls, the ends of steps |
//! | `answers.rs`, `scopes.rs` | answers to questions of the machine, values of scopes, decisions of Rust code |
//! | `values.rs` | the values of a run, by slots |
//! | `scope_values.rs` | the values of one scope, with its secrets, and of a step that is not plain |
//! | `stops.rs` | the ends of a run before its time |
//! | `failures.rs` | from the failures of the machine to errors |
//! | `recording/` | the records of runs with a journal |
//! | `watching.rs` | events for observers and the report |

mod admission;
mod answers;
mod calls;
mod convert;
mod driver;
mod ends;
mod failures;
mod recording;
mod scene;
mod scope_values;
mod scopes;
mod settling;
mod sharing;
mod stops;
mod task;
mod tasks;
mod values;
mod watching;
pub(super) use convert::Find;
pub(super) use driver::Driver;
pub(super) use failures::not_started;

use super::begin::hushed_inputs;
use super::catch::catch;
use super::clock::Clock;
use super::context::{CallContext, Held};
use super::durable::Durable;
use super::limits::Limits;
use super::on_failure::OnFailure;
use super::options::{Options, ReadOutput};
use super::shared::SharedRun;
use super::signals::Signals;
use super::start::{MadeOutput, Request, Started, Starter};
use super::watch::{Around, Keeps, Watch, is_heard};
use super::{Cause, Report, RunError};
use crate::Plan;
use crate::error::Interrupt;
use crate::journal::JournalError;
use crate::machine::{Machine, Reaction, ScopeId};
use crate::plan::{Converted, Executable, number};
use crate::resolve::{ResolveError, StoredValue};
use admission::{Admission, allowance, may_run};
use failures::Errors;
use recording::Keys;
use scene::{Host, Scene};
use scope_values::{ScopeValues, secrecy_of};
use serde_json::Value;
use std::sync::Arc;
use std::task::{Context, Poll};
use stops::Stops;
use values::Values;

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
            Ok(polled) => polled.map(|()| {
                self.look_for_untaken();
                self.result()
            }),
            Err(panic) => {
                self.calls.end_unbegun();
                self.calls.scene.tell(|it| it.panicked());
                let scene = &self.calls.scene;
                let error = scene.errors.panicked(scene.machine.view(), panic);
                Poll::Ready(Err(error))
            }
        }
    }

    /// Ends the run as stopped if the run would lose the effect of a recorded call. A plan inside a call may be dropped with its call.
    fn look_for_untaken(&mut self) {
        let scene = &mut self.calls.scene;
        let is_dropped = scene.around.is_some() && scene.stops.reason().is_some();
        if let Some(durable) = scene.run.durable.as_ref().filter(|_| !is_dropped) {
            let prefix = Keys(scene).prefix(ScopeId::ROOT);
            let untaken = durable.history(|it| it.untaken(&prefix)).into_iter();
            let record = untaken
                .filter_map(|(key, has_effect)| has_effect.then_some(key))
                .next();
            if let Some(record) = record.filter(|_| !durable.has_ended()) {
                durable.fail(JournalError::Untaken { record });
            }
            scene.look_at_failure();
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
        let lost = journal.filter(|error| {
            result.is_ok()
                || matches!(
                    error.as_ref(),
                    JournalError::Ended { .. } | JournalError::Untaken { .. }
                )
        });
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

    /// Begins a run with these limits, unless the options override them.
    pub(in crate::run) fn begin(
        executable: Executable<'x>,
        inputs: Result<Vec<StoredValue>, Cause>,
        limits: Limits,
        mut options: Options<'x>,
        find: Option<Find<'_, 'x>>,
    ) -> Result<Self, Cause> {
        let plan = executable.plan;
        let graph = executable.graph.map_err(Cause::Plan)?;
        let around = options.outer.take();
        let secrecy = options.secrecy.take();
        let secrecy = secrecy.or_else(|| secrecy_of(plan, &graph, around.as_ref()));
        let inputs = hushed_inputs(inputs, secrecy.is_some())?;
        let refused = around.as_ref().and_then(|call| call.refuses_inside(None));
        if let Some(why) = refused {
            return Err(Cause::Unfit(vec![why.to_owned()]));
        }
        let allowance = allowance(&mut options, limits, around.as_ref());
        let run = around.as_ref().and_then(CallContext::run).cloned();
        let run = run.unwrap_or_else(|| Arc::new(options.share()));
        may_run(
            (plan, &graph),
            secrecy.is_some(),
            (&run, &allowance),
            around.as_ref(),
        )?;
        let is_viewed = run.durable.as_ref().is_some_and(|it| it.is_viewed());
        let admission = Admission::of(&allowance, is_viewed).map(Box::new);
        let converted = convert::tables(plan, &graph, find, admission.is_some());
        let converted = converted.map_err(|error| Cause::Unfit(vec![error.to_string()]))?;
        let beside = around.as_ref();
        let beside = beside.map(|outer| outer.beside(plan, &inputs, secrecy.as_deref()));
        if let (Some(durable), Some(call)) = (&run.durable, &around) {
            let prefix = call.key_inside(beside.as_deref());
            durable.enter(&prefix, (plan, &graph), secrecy.is_some());
        }
        let clock = Clock::start(Arc::clone(&run), beside.is_some());
        let plans = around.as_ref().map_or(0, CallContext::depth_inside);
        let inside = around.as_ref().and_then(CallContext::inside);
        let keeps = options.keeps.within(inside.map(|it| it.keeps));
        // A report with outputs, an engine and a journal need the JSON of all values.
        let hands_over = options.hands_over && !keeps.outputs && !run.is_kept();
        let root = ScopeValues {
            handing: hands_over.then(|| graph.handing(plan, None)).flatten(),
            plans,
            secrecy,
            ..ScopeValues::root(plan, graph, hands_over, inputs)
        };
        if let Some(around) = &around {
            around.enter_inside();
        }
        let is_shared = around.is_some() || allowance.is_among_many();
        let mut values = Values::new(Held::new(Arc::clone(&allowance), is_shared));
        let surroundings = || Around {
            path: around.as_ref().map(ToString::to_string),
            inside: inside.cloned().map(|it| it as _),
            is_retried: run.times_retried() > 0,
            last_retry: run.last_retry(),
            concurrency: run.concurrency,
        };
        let times = (&run.timer, clock.start);
        let watch = Watch::new(&run.observers, keeps, surroundings, times);
        values.has_layers = watch.is_some() || run.is_kept();
        values.open(ScopeId::ROOT, root);
        let scene = Scene {
            machine: machine(&converted, &run, keeps),
            values,
            errors: Errors::new(plan, &converted.plans),
            stops: Stops::new(options.stop, &clock),
            clock,
            run,
            allowance,
            around,
            beside,
            output: Value::Null,
            watch,
            is_undecided: false,
        };
        let mut driver = Self::new(scene, admission, options.signals);
        driver.calls.scene.enter(plans);
        Ok(driver)
    }
}

/// Returns the machine of a run. The machine reports the ends of scopes if the run has a listener.
fn machine(converted: &Converted, run: &SharedRun, keeps: Keeps) -> Machine {
    let reaction = match run.on_failure {
        OnFailure::Stop => Reaction::Stop,
        OnFailure::Continue => Reaction::Continue,
        OnFailure::Cancel => Reaction::Cancel,
    };
    let bound = number(run.concurrency.min(u32::MAX as usize));
    let machine = Machine::new(&converted.tables, reaction, bound).telling();
    if keeps.report || is_heard(&run.observers) {
        machine.telling_scopes()
    } else {
        machine
    }
}
