//! Reports, signals, and what keeps runs from going on.

use crate::Plan;
use crate::dynamic::{Toolbox, check_signal};
use crate::journal::spi::{End, Message, RunInfo, StoredRun};
use crate::journal::{Journal, JournalError, RunFilter, RunState, Sqlite, blocking};
use crate::run::durable::compare_names;
use crate::run::{Cause, Report, Run, RunError, SignalError};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

impl Sqlite {
    /// What has become of a run so far, whoever runs it: the same report as that of [`Run::with_report`](crate::Run::with_report). Steps that have not ended are
    /// [running](crate::run::Status::Running).
    ///
    /// It is made of the records. No call is made, and nothing is changed. The toolbox and the application are those with which the run is
    /// [served](Self::serve).
    ///
    /// # Errors
    ///
    /// Where there is no such run, where the toolbox cannot run it, and where a record does not fit its step any more.
    pub fn report<App: ?Sized + Sync>(
        &self,
        toolbox: &Toolbox<App>,
        app: &App,
        id: &str,
    ) -> Result<Report, RunError> {
        self.report_with(toolbox, app, id, |run| run)
    }

    /// The same of a run that is configured so: whether the report has [arguments](Run::capture_arguments) and [outputs](Run::capture_outputs). They count toward the run's
    /// [limits](Run::limits) on what it holds.
    ///
    /// ```no_run
    /// # use plan_runtime::dynamic::Toolbox;
    /// # use plan_runtime::journal::Sqlite;
    /// # let db = Sqlite::open("runs.db")?;
    /// # let toolbox = Toolbox::<()>::new();
    /// let report = db.report_with(&toolbox, &(), "order-17", |run| run.capture_outputs(true))?;
    /// for step in report.steps() {
    ///     println!("{}: {:?}", step.id(), step.output());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As those of [`report`](Self::report), and where the report would exceed a limit.
    pub fn report_with<App: ?Sized + Sync>(
        &self,
        toolbox: &Toolbox<App>,
        app: &App,
        id: &str,
        configure: impl for<'r> FnOnce(Run<'r, App, Value>) -> Run<'r, App, Value>,
    ) -> Result<Report, RunError> {
        let failed = |plan: &str, cause| RunError::new(&Plan::new(plan), cause, Vec::new());
        let journaled = |error| failed(id, Cause::Journal(Arc::new(error)));
        let (info, run) = self.known(id).map_err(journaled)?;
        let submitted = toolbox.submitted(&info);
        let submitted =
            submitted.map_err(|why| failed(&info.plan, Cause::Unfit(vec![why.to_string()])))?;
        let run_of = configure(submitted.run(app));
        blocking::block_on(run_of.view(Arc::new(self.clone()), id, run.end.as_ref()))
    }

    /// Sends a message, and blocks the thread until the message is durable.
    fn send_now(&self, id: &str, message: &Message) -> Result<(), JournalError> {
        blocking::block_on(self.send(id, message))
    }

    /// Returns a run with its description.
    pub(super) fn known(&self, id: &str) -> Result<(RunInfo, StoredRun), JournalError> {
        let run = blocking::block_on(self.look(id))?;
        let known = run.and_then(|mut run| Some((run.info.take()?, run)));
        known.ok_or_else(|| JournalError::Unknown { id: id.to_owned() })
    }

    /// The output of a run that has succeeded, as JSON. `None` if it has not ended or has failed: [`runs`](Self::runs) tells which, and
    /// [`report`](Self::report) why.
    ///
    /// # Errors
    ///
    /// [`JournalError::Unknown`] if there is no such run, and [`JournalError::Storage`] if the file cannot be read.
    pub fn output(&self, id: &str) -> Result<Option<Value>, JournalError> {
        let end = self.known(id)?.1.end.filter(End::is_done);
        let output = end.map(|end| serde_json::from_str(end.body()));
        output.transpose().map_err(JournalError::storage)
    }

    /// Returns why a run has failed or was cancelled, as its [error](RunError) was written. `None` if it has not ended or has succeeded.
    ///
    /// # Errors
    ///
    /// [`JournalError::Unknown`] if there is no such run, and [`JournalError::Storage`] if the file cannot be read.
    pub fn error(&self, id: &str) -> Result<Option<String>, JournalError> {
        let end = self.known(id)?.1.end.filter(|end| !end.is_done());
        let error = end.map(|end| serde_json::from_str(end.body()));
        error.transpose().map_err(JournalError::storage)
    }

    /// Lists the runs that have not ended and could not continue with these tools, with the reasons: for a test before you deploy a new version, on a copy of
    /// the database.
    ///
    /// If the toolbox has a plan with the name of the run's plan, the answer is that of [`Run::durable`] with this plan and the recorded inputs. Otherwise the run continues with its recorded plan.
    /// [`serve`](Self::serve) can run every run that is not in this list. Each run is replayed as by [`report`](Self::report).
    ///
    /// # Errors
    ///
    /// [`JournalError::Storage`] if the file cannot be read.
    pub fn check<App: ?Sized + Sync>(
        &self,
        toolbox: &Toolbox<App>,
        app: &App,
    ) -> Result<Vec<(String, RunError)>, JournalError> {
        let mut found = Vec::new();
        for run in self.runs(&RunFilter::new().state(RunState::Running)) {
            let id = run?.id;
            if let Err(error) = self.could_continue((toolbox, app), &id) {
                found.push((id, error));
            }
        }
        Ok(found)
    }

    /// Returns an error if a run could not continue with the plan of the toolbox.
    fn could_continue<App: ?Sized + Sync>(
        &self,
        (toolbox, app): (&Toolbox<App>, &App),
        id: &str,
    ) -> Result<(), RunError> {
        let failed = |plan: &str, cause| RunError::new(&Plan::new(plan), cause, Vec::new());
        let info = match self.known(id) {
            Ok((info, _)) => info,
            // The run may have been deleted meanwhile.
            Err(JournalError::Unknown { .. }) => return Ok(()),
            Err(error) => return Err(failed(id, Cause::Journal(Arc::new(error)))),
        };
        let submitted = toolbox.current(&info);
        let submitted =
            submitted.map_err(|why| failed(&info.plan, Cause::Unfit(vec![why.to_string()])))?;
        let plan = submitted.plan();
        // Before the inputs are read as those of the plan, which fails in other words.
        compare_names(id, &info, plan)
            .map_err(|cause| failed(&plan.name, cause).before_the_start())?;
        let run = submitted.run(app);
        blocking::block_on(run.view(Arc::new(self.clone()), id, None)).map(drop)
    }

    /// Sends a value to a step of a run that waits for one, or will. Whoever runs it takes the value within a second; if nobody does, the value is kept.
    ///
    /// The path is that of [`Signals::send`](crate::run::Signals::send). The value is checked against the type of the step: by its code if the run's plan is a
    /// tool of the toolbox, otherwise as far as the type's name says what it is. The toolbox may have no tools.
    ///
    /// # Errors
    ///
    /// The value is not kept if there is no such run, if the run has ended, if no step waits for a value at this path, if that step has one, if the value is not
    /// of its type, or if the database cannot be written.
    pub fn signal<App: ?Sized>(
        &self,
        toolbox: &Toolbox<App>,
        id: &str,
        path: &str,
        value: impl Serialize,
    ) -> Result<(), SignalError> {
        let (info, run) = self.known(id).map_err(SignalError::Journal)?;
        if run.end.is_some() {
            return Err(SignalError::Ended);
        }
        let submitted = toolbox.submitted(&info);
        let submitted = submitted
            .map_err(|why| SignalError::Journal(JournalError::storage(why.to_string())))?;
        let value = check_signal(submitted.plan(), path, value)?;
        let message = Message::Signal {
            path: path.to_owned(),
            body: value.to_string(),
        };
        self.send_now(id, &message).map_err(|error| match error {
            JournalError::Second { path } => SignalError::Second { path },
            error => SignalError::Journal(error),
        })
    }

    /// Has a run end: what runs is dropped, and undo steps and always steps run. Whoever runs it does so within a second; if nobody does, the next one that runs
    /// it does. A run that has ended is not changed.
    ///
    /// # Errors
    ///
    /// [`JournalError::Unknown`] if there is no such run, and [`JournalError::Storage`] if the database cannot be written.
    pub fn cancel(&self, id: &str) -> Result<(), JournalError> {
        self.send_now(id, &Message::Cancel)
    }
}
