//! Reports, outputs, signals, and reasons why runs cannot continue.

use super::Server;
use crate::Plan;
use crate::dynamic::check_signal;
use crate::journal::spi::{End, Message, RunInfo, StoredRun};
use crate::journal::{JournalError, RunFilter, RunState, Store};
use crate::run::durable::compare_names;
use crate::run::{Cause, Report, Run, RunError, SignalError};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// Creates the error of a run with this plan, before its start.
pub(super) fn failed(plan: &str, cause: Cause) -> RunError {
    RunError::new(&Plan::new(plan), cause, Vec::new())
}

pub(super) fn journaled(plan: &str, error: JournalError) -> RunError {
    failed(plan, Cause::Journal(Arc::new(error)))
}

pub(super) fn unfit(plan: &str, why: String) -> RunError {
    failed(plan, Cause::Unfit(vec![why]))
}

impl<J: Store + Clone + 'static, App: ?Sized + Send + Sync> Server<J, App> {
    /// Returns the [report](crate::run::Run::with_report) of a run, even before its end. Steps that have not ended are
    /// [running](crate::run::Status::Running) or [waiting](crate::run::Status::Waiting).
    ///
    /// The server replays the records, without calls and without changes.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist, if the toolbox cannot run the run, or if a record no longer fits its step.
    pub async fn report(&self, id: &str) -> Result<Report, RunError> {
        self.report_with(id, |run| run).await
    }

    /// Returns the report of a run with this configuration, such as [arguments](Run::capture_arguments) and [outputs](Run::capture_outputs). The
    /// captured values count toward the run's [limits](Run::limits) on values.
    ///
    /// ```no_run
    /// # use plan_runtime::dynamic::Toolbox;
    /// # use plan_runtime::journal::Memory;
    /// # use plan_runtime::serve::Server;
    /// # async fn report() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::new(&Memory::new(), Toolbox::<()>::new(), ());
    /// let report = server.report_with("order-17", |run| run.capture_outputs(true)).await?;
    /// for step in report.steps() {
    ///     println!("{}: {:?}", step.id(), step.output());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`report`](Self::report), and an error if the report would exceed a limit.
    pub async fn report_with(
        &self,
        id: &str,
        configure: impl for<'r> FnOnce(Run<'r, App, Value>) -> Run<'r, App, Value>,
    ) -> Result<Report, RunError> {
        let known = self.known(id).await;
        let (info, run) = known.map_err(|error| journaled(id, error))?;
        let submitted = self.toolbox.submitted(&info);
        let submitted = submitted.map_err(|why| unfit(&info.plan, why.to_string()))?;
        let run_of = configure(submitted.run(&self.app));
        let journal = Arc::new(self.journal.clone());
        run_of.view(journal, id, run.end.as_ref()).await
    }

    /// Returns a run with its description.
    pub(super) async fn known(&self, id: &str) -> Result<(RunInfo, StoredRun), JournalError> {
        let run = self.journal.look(id).await?;
        let known = run.and_then(|mut run| Some((run.info.take()?, run)));
        known.ok_or_else(|| JournalError::Unknown { id: id.to_owned() })
    }

    /// Returns the end of a run that has ended with this result: success or failure.
    async fn end(&self, id: &str, is_done: bool) -> Result<Option<End>, JournalError> {
        let end = self.known(id).await?.1.end;
        Ok(end.filter(|end| end.is_done() == is_done))
    }

    /// Returns the output of a completed run, as JSON. Returns `None` if the run has not ended or has failed: [`run`](Self::run) returns its state, and
    /// [`error`](Self::error) returns its error.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Unknown`] if the run does not exist, and [`JournalError::Storage`] if the journal cannot
    /// be read.
    pub async fn output(&self, id: &str) -> Result<Option<Value>, JournalError> {
        let end = self.end(id, true).await?;
        let output = end.map(|end| serde_json::from_str(end.body()));
        output.transpose().map_err(JournalError::storage)
    }

    /// Returns the recorded [error](RunError) of a failed or cancelled run. Returns `None` if the run has not ended or has succeeded.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Unknown`] if the run does not exist, and [`JournalError::Storage`] if the journal cannot
    /// be read.
    pub async fn error(&self, id: &str) -> Result<Option<String>, JournalError> {
        let end = self.end(id, false).await?;
        let error = end.map(|end| serde_json::from_str(end.body()));
        error.transpose().map_err(JournalError::storage)
    }

    /// Returns the unfinished runs that could not continue with these tools, with the reasons. Use this method in a test on a copy of
    /// the database, before you deploy a new version.
    ///
    /// If the toolbox has a plan with the name of the run's plan, the method checks if [`Run::durable`] could resume the run with
    /// this plan. Otherwise, the method uses the recorded plan. [`serve`](Self::serve) can run every run that is not in this list. Each run is
    /// replayed as by [`report`](Self::report).
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Storage`] if the journal cannot be read.
    pub async fn check(&self) -> Result<Vec<(String, RunError)>, JournalError> {
        let mut filter = RunFilter::new().state(RunState::Running);
        let mut found = Vec::new();
        loop {
            let page = self.journal.runs(&filter).await?;
            let Some(last) = page.last() else {
                return Ok(found);
            };
            filter = filter.after(last.number);
            for run in page {
                if let Err(error) = self.could_continue(&run.id).await {
                    found.push((run.id, error));
                }
            }
        }
    }

    /// Returns an error if a run could not continue with the plan of the toolbox.
    async fn could_continue(&self, id: &str) -> Result<(), RunError> {
        let info = match self.known(id).await {
            Ok((info, _)) => info,
            // The run may have been deleted since.
            Err(JournalError::Unknown { .. }) => return Ok(()),
            Err(error) => return Err(journaled(id, error)),
        };
        let submitted = self.toolbox.current(&info);
        let submitted = submitted.map_err(|why| unfit(&info.plan, why.to_string()))?;
        let plan = submitted.plan();
        // Before the inputs are read with the plan's types, which would fail with another message.
        compare_names(id, &info, plan)
            .map_err(|cause| failed(&plan.name, cause).before_the_start())?;
        let journal = Arc::new(self.journal.clone());
        let run = submitted.run(&self.app);
        run.view(journal, id, None).await.map(drop)
    }

    /// Sends a value to a step with `await`, even before the step waits. The process of the run takes the value within a second. Without a process, the journal stores the value.
    ///
    /// The path has the format of [`Signals::send`](crate::run::Signals::send). The server checks the value against the type of the step: with the
    /// code of the type if the run's plan is a tool of the toolbox, otherwise by the name of the type. The toolbox may be empty.
    ///
    /// # Errors
    ///
    /// Returns an error, and sends no value, if the run does not exist or has ended, if no step waits for a value at this path, if the step already has a
    /// value, if the value has another type, or if the journal cannot be written.
    pub async fn signal(
        &self,
        id: &str,
        path: &str,
        value: impl Serialize,
    ) -> Result<(), SignalError> {
        let (info, run) = self.known(id).await.map_err(SignalError::Journal)?;
        if run.end.is_some() {
            return Err(SignalError::Ended);
        }
        let submitted = self.toolbox.submitted(&info);
        let submitted = submitted
            .map_err(|why| SignalError::Journal(JournalError::storage(why.to_string())))?;
        let value = check_signal(submitted.plan(), path, value)?;
        let message = Message::Signal {
            path: path.to_owned(),
            body: value.to_string(),
        };
        let sent = self.journal.send(id, &message).await;
        sent.map_err(|error| match error {
            JournalError::Second { path } => SignalError::Second { path },
            error => SignalError::Journal(error),
        })
    }
}
