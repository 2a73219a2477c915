//! Polls of a run, from its first poll to its end.

use super::begin::{Start, begin, taken};
use super::catch::catch;
use super::drive::{Driver, Find, RunHost, not_started};
use super::durable::{Begun, Owned};
use super::limits::Limits;
use super::nesting::Nested;
use super::options::Options;
use super::report::Report;
use super::{Cause, Run, RunError, RunErrorKind, Stage};
use crate::error::Interrupt;
use crate::journal::JournalError;
use crate::journal::spi::{End, Written};
use crate::plan::{Action, Executable, Plan};
use crate::resolve::StoredValue;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A run that waits for its journal.
pub(super) struct Beginning<'a> {
    pub(super) executable: Executable<'a>,
    pub(super) options: Box<Options<'a>>,
    begun: Pin<Box<dyn Future<Output = Result<Begun, Cause>> + Send + 'a>>,
}

impl<'a> Beginning<'a> {
    pub(super) fn plan(&self) -> &'a Plan {
        self.executable.plan
    }
}

/// The end of a run that its journal has to write.
pub(super) struct Ending {
    written: Written,
    result: Result<(), RunError>,
    report: Option<Report>,
    plan: String,
}

impl<'a, App: ?Sized, O> Run<'a, App, O> {
    /// Polls the run. Once the run has ended, `report` has the report if the caller wants one.
    pub(super) fn poll_run(
        &mut self,
        cx: &mut Context<'_>,
        report: Option<&mut Option<Report>>,
    ) -> Poll<Result<O, RunError>> {
        // The run counts as polled until the guard is dropped.
        let guard = Nested::enter();
        let nested = guard.as_ref().map(|_| ()).map_err(Clone::clone);
        if let (Err(too_deep), Stage::Running(driver)) = (&nested, &mut self.stage) {
            driver.interrupt(too_deep.clone());
        }
        let plan = match &self.stage {
            Stage::New(executable, ..) => Some(executable.plan),
            Stage::Beginning(beginning) => Some(beginning.plan()),
            _ => None,
        };
        if let Some(plan) = plan
            && let Some(result) = ready!(self.poll_start(nested, cx))
        {
            self.claim = None;
            if let Some(report) = report {
                *report = Some(Report::unstarted(plan));
            }
            return Poll::Ready(result);
        }
        if let Stage::Running(driver) = &mut self.stage {
            let mut host = RunHost {
                app: self.app,
                starter: &self.starter,
                read: self.output.read,
                output: &mut self.made,
            };
            let result = ready!(driver.poll(cx, &mut host));
            let made_report = report.as_ref().and_then(|_| driver.report());
            let Some(durable) = driver.ended_in() else {
                return Poll::Ready(self.ended(result, (made_report, report)));
            };
            let output = result.map(|()| driver.take_json());
            let ending = Ending {
                written: durable.end(end_with(&output)),
                result: output.map(drop),
                report: made_report,
                plan: driver.plan().name.clone(),
            };
            self.stage = Stage::Ending(Box::new(ending));
        }
        let Stage::Ending(ending) = &mut self.stage else {
            panic!("a run was polled after it had ended")
        };
        let written = ready!(ending.written.as_mut().poll(cx));
        let Ending { result, plan, .. } = &mut **ending;
        let result = std::mem::replace(result, Ok(()));
        let result = match (result, written) {
            (Ok(()), Err(error)) => Err(RunError::stopped(plan, error)),
            (result, _) => result,
        };
        let made_report = ending.report.take();
        Poll::Ready(self.ended(result, (made_report, report)))
    }

    /// Starts the run, once its journal has answered. Returns the result of a run that cannot start, or that has ended before.
    pub(super) fn poll_start(
        &mut self,
        nested: Result<(), Interrupt>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<O, RunError>>> {
        if let Stage::New(..) = &self.stage
            && let Some(result) = self.begin(nested)
        {
            return Poll::Ready(Some(result));
        }
        let Stage::Beginning(beginning) = &mut self.stage else {
            return Poll::Ready(None);
        };
        let begun = ready!(beginning.begun.as_mut().poll(cx));
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        let Stage::Beginning(beginning) = stage else {
            return Poll::Ready(None);
        };
        let Beginning {
            executable,
            mut options,
            ..
        } = *beginning;
        let begun = match begun {
            Ok(begun) => begun,
            Err(cause) => return Poll::Ready(Some(Err(not_started(executable.plan, cause)))),
        };
        // A report needs the records of the run.
        if let Some(output) = begun.output.as_ref().filter(|_| !options.keeps.report) {
            let has_secrets = begun.inputs.has_secrets;
            return Poll::Ready(Some(self.output_before(
                executable.plan,
                output,
                has_secrets,
            )));
        }
        let inputs = taken(&executable, begun, &mut options);
        Poll::Ready(self.start(executable, Ok(inputs), options))
    }

    /// Begins the run. Returns the error of a run that cannot start.
    fn begin(&mut self, nested: Result<(), Interrupt>) -> Option<Result<O, RunError>> {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        let Stage::New(executable, inputs, mut options) = stage else {
            return None;
        };
        options.hands_over = self.starter.hands_over();
        let nested = nested.map_err(Cause::Interrupted);
        let begun = nested.and_then(|()| begin(&executable, inputs, &mut options));
        match begun {
            Ok(Start::Runs(inputs)) => self.start(executable, inputs, options),
            Ok(Start::Claims(begun)) => {
                self.stage = Stage::Beginning(Box::new(Beginning {
                    executable,
                    options,
                    begun,
                }));
                None
            }
            Err(cause) => Some(Err(not_started(executable.plan, cause))),
        }
    }

    /// Starts the driver of the run. Returns the error of a run that cannot start.
    fn start(
        &mut self,
        executable: Executable<'a>,
        inputs: Result<Vec<StoredValue>, Cause>,
        mut options: Box<Options<'a>>,
    ) -> Option<Result<O, RunError>> {
        let (plan, limits) = (executable.plan, Limits::of(&executable));
        self.claim = options.durable.clone().map(Owned);
        let starter = &self.starter;
        let finder = options.find.take();
        let finds = finder.is_some() || starter.finds_plans();
        let find = |action: &Action| match &finder {
            Some(find) => find(action),
            None => starter.plan(action).map(Executable::new),
        };
        let find = finds.then_some(&find as Find<'_, 'a>);
        let begun = catch(|| Driver::begin(executable, inputs, limits, *options, find));
        match begun.unwrap_or_else(|panic| Err(Cause::Panicked(panic))) {
            Ok(driver) => {
                self.stage = Stage::Running(Box::new(driver));
                None
            }
            Err(cause) => Some(Err(not_started(plan, cause))),
        }
    }

    /// Reads the output of a run that has ended before.
    fn output_before(&self, plan: &Plan, body: &str, has_secrets: bool) -> Result<O, RunError> {
        let output = serde_json::from_str(body).and_then(self.output.from_json);
        output.map_err(|error| {
            let why = if has_secrets {
                "it has another type; a value in it is secret".to_owned()
            } else {
                error.to_string()
            };
            let error = JournalError::storage(format!(
                "the recorded output of the run does not fit the plan: {why}"
            ));
            RunError::new(plan, Cause::Journal(Arc::new(error)), Vec::new())
        })
    }

    /// Ends the run. Returns its output.
    fn ended(
        &mut self,
        result: Result<(), RunError>,
        (made, report): (Option<Report>, Option<&mut Option<Report>>),
    ) -> Result<O, RunError> {
        // The calls are dropped before another process may claim the run.
        self.stage = Stage::Ended;
        self.claim = None;
        if let Some(report) = report {
            *report = made;
        }
        let output = self.made.take();
        result.map(|()| output.expect("a run that succeeds has its output"))
    }
}

/// Returns the record of the end of a run.
fn end_with(output: &Result<Value, RunError>) -> End {
    match output {
        Ok(output) => End::Done(output.to_string()),
        Err(error) => failed_end(error),
    }
}

/// Returns the record of the end of a run that ended with this error.
pub(super) fn failed_end(error: &RunError) -> End {
    let body = Value::from(error.to_string()).to_string();
    if error.kind() == RunErrorKind::Cancelled {
        End::Cancelled(body)
    } else {
        End::Failed(body)
    }
}
