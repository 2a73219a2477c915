//! Polls of a run, from its first poll to its end.

use super::begin::{Start, begin};
use super::catch::catch;
use super::drive::{Driver, PlanOf, RunHost};
use super::durable::Owned;
use super::limits::Limits;
use super::nesting::Nested;
use super::report::Report;
use super::{Cause, Run, RunError, Stage};
use crate::error::Interrupt;
use crate::journal::{End, JournalError, Written};
use crate::plan::{Action, Plan};
use serde_json::Value;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The end of a run that its journal has to write.
pub(super) struct Ending {
    written: Written,
    /// The output, as JSON that has its type.
    result: Result<Value, RunError>,
    report: Option<Report>,
    plan: String,
}

impl<App: ?Sized, O> Run<'_, App, O> {
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
        if let Stage::New(executable, ..) = &self.stage {
            let plan = executable.plan;
            if let Some(result) = self.start(nested) {
                self.claim = None;
                if let Some(report) = report {
                    *report = Some(Report::unstarted(plan));
                }
                return Poll::Ready(result);
            }
        }
        if let Stage::Running(driver) = &mut self.stage {
            let mut host = RunHost {
                app: self.app,
                starter: &mut self.starter,
                read: self.output.read,
                output: &mut self.made,
            };
            let result = ready!(driver.poll(cx, &mut host));
            let made_report = report.as_ref().and_then(|_| driver.report());
            let Some(durable) = driver.ended_in() else {
                return Poll::Ready(self.ended(result, (made_report, report)));
            };
            let result = result.map(|()| driver.take_json());
            let ending = Ending {
                written: durable.end(end_with(&result)),
                result,
                report: made_report,
                plan: driver.plan().name.clone(),
            };
            self.made = None;
            self.stage = Stage::Ending(Box::new(ending));
        }
        let Stage::Ending(ending) = &mut self.stage else {
            panic!("a run was polled after it had ended")
        };
        let written = ready!(ending.written.as_mut().poll(cx));
        let Ending { result, plan, .. } = &mut **ending;
        let result = std::mem::replace(result, Ok(Value::Null));
        let result = match (result, written) {
            (Ok(_), Err(error)) => Err(RunError::stopped(plan, error)),
            (Ok(output), Ok(())) => (self.output.from_json)(output)
                .map(|output| self.made = Some(output))
                .map_err(|error| RunError::stopped(plan, JournalError::storage(error))),
            (Err(error), _) => Err(error),
        };
        let made_report = ending.report.take();
        Poll::Ready(self.ended(result, (made_report, report)))
    }

    /// Begins the run. Returns the result of a run that cannot start, or that has ended before.
    fn start(&mut self, nested: Result<(), Interrupt>) -> Option<Result<O, RunError>> {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        let Stage::New(executable, inputs, mut options) = stage else {
            return None;
        };
        options.hands_over = self.starter.hands_over();
        let (plan, limits) = (executable.plan, Limits::of(&executable));
        let nested = nested.map_err(Cause::Interrupted);
        let begun = nested.and_then(|()| begin(&executable, inputs, &mut options));
        let begun = match begun {
            Ok(Start::Ended(body, has_secrets)) => {
                return Some(self.output_before(plan, &body, has_secrets));
            }
            Ok(Start::Runs(inputs)) => {
                self.claim = options.durable.clone().map(Owned);
                let starter = &self.starter;
                let plan_of = |action: &Action| starter.plan(action);
                let plan_of = starter.finds_plans().then_some(&plan_of as PlanOf<'_>);
                let of = (limits, false);
                catch(|| Driver::begin(executable, inputs, of, *options, plan_of))
                    .unwrap_or_else(|panic| Err(Cause::Panicked(panic)))
            }
            Err(cause) => Err(cause),
        };
        match begun {
            Ok(driver) => {
                self.stage = Stage::Running(Box::new(driver));
                None
            }
            Err(cause) => {
                let error = RunError::new(plan, cause, Vec::new());
                Some(Err(error.before_the_start()))
            }
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
            let error = JournalError::storage(format!("its recorded output does not fit: {why}"));
            RunError::new(plan, Cause::Journal(Arc::new(error)), Vec::new())
        })
    }

    /// Ends the run. Returns its output.
    fn ended(
        &mut self,
        result: Result<(), RunError>,
        (made, report): (Option<Report>, Option<&mut Option<Report>>),
    ) -> Result<O, RunError> {
        self.claim = None;
        self.stage = Stage::Ended;
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
        Ok(output) => End {
            failed: false,
            body: output.to_string(),
        },
        Err(error) => failed_end(error),
    }
}

/// Returns the record of a run that ended with this error.
pub(super) fn failed_end(error: &RunError) -> End {
    End {
        failed: true,
        body: Value::from(error.to_string()).to_string(),
    }
}
